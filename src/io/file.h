/*
 * Files of our own, in folders of our own. A folder is opened and checked
 * once, then files are named inside it: no link that somebody puts there is
 * followed, and nothing that others could have written is read. Nothing here
 * waits for another process, ends ours, or leaves half a file behind.
 *
 * A name is one component, never "." or "..". All descriptors are
 * close-on-exec and owned by the caller (file_close). What can fail returns
 * -1 with errno set.
 */
#ifndef MCPSPLICE_IO_FILE_H
#define MCPSPLICE_IO_FILE_H

#include "base/mem.h"

/* Opens the folder below in base. It must be a directory, no link, that is ours
 * and that nobody else can write in. With make, what is missing of below is
 * made, and it is 0700 then; base itself never is made, and root makes nothing
 * in the home of another user. On failure *why is a message for people, owned
 * by the caller. base may be NULL or empty, as HOME may: refused, as is a
 * relative one. */
int file_dir(const char *base, const char *below, bool make, char **why);

/* Opens a regular file of ours that no one else can read or write and that
 * has no second name: else ELOOP (a link), EINVAL (no regular file), EPERM. */
int file_open(int dir, const char *name, bool write);
/* Appends the whole content. EFBIG, and out as it was, when it is longer
 * than max bytes. out has no cap of its own. */
int file_get(int fd, size_t max, struct buf *out);
/* Makes text the content, in place; a failure can leave part of it. */
int file_put(int fd, struct span text);
void file_close(int fd); /* keeps errno */
/* Takes a line off the front of what was read; its end is not in line. false
 * when text has no line end. */
bool file_line(struct span *text, struct span *line);

/* The same by name. file_write is atomic: whoever reads sees the old content
 * or the new one, and a failure leaves the old one. With sync the new content
 * is on the disk when it returns; that can take long. */
int file_read(int dir, const char *name, size_t max, struct buf *out);
int file_write(int dir, const char *name, struct span text, bool sync);
int file_remove(int dir, const char *name);

/* An exclusive lock on a file that was opened to write, held until fd is
 * closed or the process ends, however it ends. EWOULDBLOCK when another
 * process has it. A process locks a file through one descriptor only, and
 * opens it no second time meanwhile. */
int file_lock(int fd);
/* A new empty file, open to write, that is locked before it can be seen by
 * that name. A file of that name is replaced: make names of random bytes. */
int file_new_locked(int dir, const char *name);
/* Has it a name still, or did somebody remove it? */
bool file_linked(int fd);
/* Seconds since the last change; negative after the clock was set back. */
int64_t file_age(int fd);

/* Calls each for the name of each entry, at most max, until it returns
 * false. each may remove what it is called for. */
typedef bool file_list_cb(const char *name, void *arg);
int file_list(int dir, size_t max, file_list_cb *each, void *arg);
/* Removes what file_write and file_new_locked of processes that were killed
 * have left, an hour after. */
void file_sweep(int dir);

#endif
