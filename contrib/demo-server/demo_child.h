/* The programs that demo_talk starts, and the lines they say. */
#ifndef MCPSPLICE_DEMO_CHILD_H
#define MCPSPLICE_DEMO_CHILD_H

#include <sys/types.h>

#include "base/mem.h"

/* Lines from a descriptor that may have none yet. */
struct reader {
	int fd;
	struct buf held;
	bool ended;
};

/* Starts argv with its ends at the descriptors given; -1 keeps ours. Returns
 * -1 when it cannot fork. */
pid_t child_start(char *const *argv, int in, int out, int err);
/* A pipe that children have only by child_start. Returns 0 or -1. */
int child_pipe(int fd[2]);

void reader_init(struct reader *r, int fd);
/* Takes what is there. Returns false when nothing came within ms. */
bool reader_fill(struct reader *r, int64_t ms);
/* The next line, without its end and owned by the caller, or NULL. */
char *reader_line(struct reader *r);

#endif
