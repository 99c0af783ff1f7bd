/*
 * A file of the user that other programs also read and write. It keeps its
 * place behind links, its mode and its group, and nothing that was written to
 * it meanwhile is lost. Each function that can fail returns -1 with *why, a
 * message that the caller owns and that does not name the file.
 */
#ifndef MCPSPLICE_IO_USER_FILE_H
#define MCPSPLICE_IO_USER_FILE_H

#include "base/mem.h"
#include "os/file.h"

struct user_file {
	char *path;   /* as it was given */
	char *target; /* where the links end */
	struct os_file is;
	struct buf text; /* its content; may be a secret */
};

/* Reads a regular file of at most max bytes, whose name is as codec_visible shows
 * it. Free f in both cases. */
int user_file_read(struct user_file *f, const char *path, size_t max,
    char **why);
/* Replaces the content, in one step, unless the file has changed since it was
 * read. */
int user_file_write(const struct user_file *f, struct span text, char **why);
void user_file_free(struct user_file *f);

/* Makes a file of this user's at path, where there is none yet. */
int user_file_new(const char *path, struct span text, char **why);

/* Returns the path of the newest backup, owned by the caller; NULL: there is
 * none. */
char *user_file_backup(const char *path);
/* Keeps the content in a backup beside path, with the mode of the file, unless
 * the newest backup has the same content. A backup is a file with one name, of
 * this user; whatever else has the name of one stays as it is, and the next
 * number is taken. Returns its path, owned by the caller, or NULL with *why. */
char *user_file_keep(const struct user_file *f, char **why);
/* Could this text be the content of the file at path, which has now in its place
 * (no_span: it has this text)? Returns 0, or -1 or 1 with *why. 1: the text of an
 * older backup could. */
typedef int user_file_check(const char *path, struct span text, struct span now,
    void *arg, char **why);
/* Exchanges the contents of the file and of its newest backup that check takes,
 * if check allows, behind a link, what the file has. Nothing changes after a
 * failure, but that one more backup is there if another program has changed the
 * file. No content is ever in memory only. */
int user_file_restore(const char *path, size_t max, user_file_check *check,
    void *arg, char **why);

#endif
