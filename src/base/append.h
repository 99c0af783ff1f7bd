/*
 * A file that lines are appended to: the log's and the trace's. When it is full
 * it is renamed to PATH.1, and a new one is begun. Several processes may append
 * to one file, because a line is one write(2).
 */
#ifndef MCPSPLICE_BASE_APPEND_H
#define MCPSPLICE_BASE_APPEND_H

#include "base/mem.h"

struct append {
	int fd; /* -1: closed */
	char *path, *old_path;
	int64_t max; /* bytes of a full file */
	bool own;    /* see append_open */
};

/* Opens the file, or makes it with mode 0600. own: it has to be a regular file
 * of this user with this one name, no link is followed, and it is made
 * private. Otherwise it may be anything that can be written. a is closed with
 * append_close in any case. Returns 0, or -1 with errno set: ELOOP (a link),
 * EPERM (another user's), EINVAL (no regular file). */
int append_open(struct append *a, const char *path, int64_t max, bool own);
/* Appends the line and an LF, after it has renamed a full file. line is as
 * before after it. Returns 0, or -1 with errno set if not all was written. */
int append_line(struct append *a, struct buf *line);
/* Closes the file. a is not open after, and may be so before. */
void append_close(struct append *a);

#endif
