/*
 * A file of the user that other programs read and write, too: it keeps its
 * place behind links, its mode and its group, and what was written to it
 * meanwhile is not lost. Each function that can fail returns -1 with *why, a
 * message that the caller owns and that does not name the file.
 */
#ifndef MCPSPLICE_IO_USER_FILE_H
#define MCPSPLICE_IO_USER_FILE_H

#include <sys/stat.h>

#include "base/mem.h"

struct user_file {
	char *path;   /* as it was given */
	char *target; /* where the links end */
	struct stat stat;
	struct buf text; /* its content; may be a secret */
};

/* Reads a regular file of at most max bytes. Free f in both cases. */
int user_file_read(struct user_file *f, const char *path, size_t max,
    char **why);
/* Replaces the content, in one step, unless the file has changed since it was
 * read. */
int user_file_write(const struct user_file *f, struct span text, char **why);
void user_file_free(struct user_file *f);

/* Returns the path of the newest backup, owned by the caller; NULL: there is
 * none. */
char *user_file_backup(const char *path);
/* Keeps the content in a backup beside path, with the mode of the file, unless
 * the newest backup has the same content. Returns its path, owned by the
 * caller, or NULL with *why. */
char *user_file_keep(const struct user_file *f, char **why);
/* Exchanges the contents of the file and of its newest backup. */
int user_file_restore(const char *path, size_t max, char **why);

#endif
