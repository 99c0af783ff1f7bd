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

/* Opens our file, again if somebody has removed it. Returns 0, or -1. */
int own_file_hold(struct own_file *f);
/* Closes it; with remove, it is removed before. */
void own_file_end(struct own_file *f, bool remove);
/* Calls each with each other such file in the folder, open to be written, until
 * it returns false. It may lock the file, and remove it. */
typedef bool own_file_cb(int dir, const char *name, int fd, void *arg);
void own_files_each(const struct own_file *f, own_file_cb *each, void *arg);

#endif
