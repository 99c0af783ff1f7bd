/*
 * The program's own files, in its own folders: a folder is opened and checked
 * once, and files are named relative to it. No link that somebody puts there is
 * followed, and no file that other users could have written is read. No
 * function here waits for another process, ends this one, or leaves half a file
 * behind.
 *
 * A name is one path component, never "." or "..". All descriptors are
 * close-on-exec and owned by the caller (file_close). Functions that can fail
 * return -1 with errno set.
 */
#ifndef MCPSPLICE_IO_PRIVATE_FILE_H
#define MCPSPLICE_IO_PRIVATE_FILE_H

#include "base/mem.h"
#include "os/file.h"

/* Opens the folder below in base. It must be a directory, not a link, that
 * belongs to this user and that nobody else can write to. The folders between
 * it and base, and links among them, must be this user's or root's; those of
 * the user must not be open to all, unless they are sticky. root uses nothing
 * in the home of another user. With make, the missing parts of below are made
 * with mode 0700, but never base itself. On failure *why is a message for
 * users, owned by the caller. base may be NULL, empty or relative, as HOME may
 * be: that is a failure. */
int file_dir(const char *base, const char *below, bool make, char **why);

/* Opens a regular file of this user that no one else can read or write and that
 * has no second name. Errors: ELOOP (a link), EINVAL (not a regular file),
 * EPERM. */
int file_open(int dir, const char *name, bool write);
/* Appends the whole content to out. EFBIG, with out unchanged, if it is longer
 * than max bytes. out has no cap of its own. */
int file_get(int fd, size_t max, struct buf *out);
/* Appends what can be read of fd, which may be a pipe, up to its end. EFBIG if
 * that is more than the cap of out. */
int file_get_all(int fd, struct buf *out);
/* Reads at most max bytes of its beginning; returns how many, 0 after a
 * failure. */
size_t file_head(int fd, char *to, size_t max);
/* Replaces the content in place; after a failure part of text may be in the
 * file. */
int file_put(int fd, struct span text);
void file_close(int fd); /* keeps errno; -1 is fine */
/* Takes one line from the front of text; line does not include its end. Returns
 * false if text has no line end. */
bool file_line(struct span *text, struct span *line);

/* Like file_get and file_put, but by name. file_write is atomic: a reader sees
 * the old content or the new one, and a failure leaves the old one. With sync
 * the new content is on the disk when file_write returns, which can take
 * long. */
int file_read(int dir, const char *name, size_t max, struct buf *out);
int file_write(int dir, const char *name, struct span text, bool sync);

/* Makes an empty file, open for writing, that is locked before it gets its
 * name. It replaces a file of that name, so make names of random bytes. */
int file_new_locked(int dir, const char *name);
/* Does the file still have a name, or was it removed? */
bool file_linked(int fd);
/* Returns the seconds since the last change; negative if the clock was set
 * back. */
int64_t file_age(int fd);

/* Removes temporary files of file_write and file_new_locked that killed
 * processes left behind more than an hour ago. */
void file_sweep(int dir);
/* Returns a number that changes when the file does; 0: there is none, or name is
 * NULL. With OS_HERE it is a file of the user's, anywhere, and links
 * are followed. */
uint64_t file_stamp(int dir, const char *name);
/* Keeps the youngest files of a folder, so many and with so many bytes in all,
 * none of them older than old_s seconds, and removes all others, whoever wrote
 * them. Folders in it stay. For folders of which any file can be lost. */
void file_trim(int dir, size_t files, uint64_t bytes, int64_t old_s);

/* Warns if other users can read or write this file, which holds a credential of
 * the user. f is of the file; only a regular file is checked. */
void file_warn_if_open(const char *path, const struct os_file *f);

#endif
