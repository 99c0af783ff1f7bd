/*
 * A file of a random name that a process has for itself, locked for as long as
 * the process lives: the system drops the lock in any case when it ends. So
 * whoever can lock such a file knows that its process has ended. A failure is
 * one debug line.
 */
#ifndef MCPSPLICE_PROXY_CACHE_OWN_FILE_H
#define MCPSPLICE_PROXY_CACHE_OWN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWN_FILE_NAME_BYTES 33 /* 32 hexadecimal digits and a NUL */

struct own_file {
	const char *home;   /* borrowed */
	const char *folder; /* below it */
	const char *lack;   /* what there is not without the file, for the
			     * debug line */
	size_t max_bytes;   /* of a file */
	int64_t old_s;      /* files that are older are removed */
	char name[OWN_FILE_NAME_BYTES]; /* of the latest one; "": none yet */
	int fd;                         /* locked; -1: none */
};

/* Opens the folder, to be closed with file_close. Returns -1 without it, or
 * without make if it is not there. */
int own_file_folder(const struct own_file *f, bool make);
/* Opens our file, again if somebody has removed it. Returns 0, or -1. */
int own_file_hold(struct own_file *f);
/* Closes it; with remove, it is removed before. */
void own_file_end(struct own_file *f, bool remove);
/* Is this the name of such a file? */
bool own_file_is_name(const char *name);

#endif
