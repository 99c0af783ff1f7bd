/*
 * stdin and stdout of any type: pipe, socket, terminal, regular file,
 * /dev/null. Bytes come in, frames go out.
 */
#ifndef MCPSPLICE_IO_PIPES_H
#define MCPSPLICE_IO_PIPES_H

#include "base/frame.h"
#include "io/loop.h"

struct pipes;

struct pipes_ops {
	void (*chunk)(const char *p, size_t n, void *arg); /* bytes of stdin */
	void (*eof)(void *arg);  /* called once; a read error counts as the
				  * end */
	void (*high)(void *arg); /* stdout's queue is above high */
	/* The queue is at or below low again. Also called, more than once,
	 * while stdin is paused, because the caller may have paused it for the
	 * queue within a turn. */
	void (*low)(void *arg);
	/* Called once: stdout has no reader any more (error is EPIPE), or
	 * cannot be written for another reason. */
	void (*broken)(int error, void *arg);
};

/* Starts reading at once. The descriptors are borrowed. Neither is left
 * non-blocking for others who share it. high and low are in bytes of
 * pipes_memory. */
struct pipes *pipes_new(struct loop *l, int in, int out, size_t high,
    size_t low, const struct pipes_ops *ops, void *arg);
/* Queues the frame and its LF, and takes its own reference. The queue is
 * written at the end of the turn, many frames in one system call. Does nothing
 * once stdout is broken. */
void pipes_write(struct pipes *p, struct frame *f);
/* Stops reading stdin, or continues. */
void pipes_pause(struct pipes *p, bool paused);
/* Returns the bytes that wait in stdout's queue. */
size_t pipes_queued(const struct pipes *p);
/* Returns about how much memory the queue takes: many small frames take more
 * than their bytes. */
size_t pipes_memory(const struct pipes *p);
/* Calls done once the queue is empty, stdout is broken, or ms have passed in
 * which nothing was read of it. */
void pipes_flush(struct pipes *p, int64_t ms, loop_cb *done, void *arg);
/* Is stdout a regular file or a terminal, so that a user reads it and not a
 * host? */
bool pipes_out_is_for_user(const struct pipes *p);
/* Frees p and its queue without a callback. Restores the flags of stdout if
 * they were changed. NULL is allowed. */
void pipes_free(struct pipes *p);

#endif
