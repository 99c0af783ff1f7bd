/*
 * What the parts of the store share: the folder, checked once and opened anew
 * when somebody removed it, and who waits for an answer.
 */
#ifndef MCPSPLICE_STORE_STATE_H
#define MCPSPLICE_STORE_STATE_H

#include "store/store.h"

/* A name with what stands before and behind it. */
#define STORE_FILE_BYTES (STORE_NAME_BYTES + 16)

struct store {
	struct loop *loop;
	char *home;
	char *path;    /* of the folder, for people */
	int dir;       /* the folder; -1: not there any more */
	char **helper; /* its words, or NULL */
	size_t helper_words;
	const char *const *unset;
	struct store_op *ops; /* under way */
};

/* The folder, opened again if need be, and made where something is to be
 * written; -1 with errno. */
int store_folder(struct store *s, bool make);
/* before NAME behind, as a file's name. */
void store_file(char file[STORE_FILE_BYTES], const char *before,
    const char *name, const char *behind);

#endif
