/*
 * State that the parts of the store share: the folder, which is checked once
 * and opened again if somebody removed it, and the operations that wait.
 */
#ifndef MCPSPLICE_STORE_STATE_H
#define MCPSPLICE_STORE_STATE_H

#include "store/store.h"

#define PENDING_FILE "pending-"

/* Room for a NAME with a prefix and a suffix. */
#define STORE_FILE_BYTES (STORE_NAME_BYTES + 16)

struct store {
	struct loop *loop;
	char *home;
	char *path;    /* of the folder, for users */
	int dir;       /* the folder; -1: it does not exist */
	char **helper; /* words of its command line, or NULL */
	size_t helper_words;
	bool newer; /* see store_found_newer */
	const char *const *unset;
	struct store_op *ops; /* operations under way */
};

/* Returns the folder, opened again if necessary. make: it is made if it is
 * missing. Returns -1 with errno on failure. */
int store_folder(struct store *s, bool make);
/* Removes what is left of old sign-ins without a record. Not for a store with a
 * helper, whose records cannot be seen; and this process must hold no lock. */
void store_forget_old(struct store *s);
/* Makes the file name: before, NAME, behind. */
void store_file(char file[STORE_FILE_BYTES], const char *before,
    const char *name, const char *behind);

#endif
