/*
 * stdin and stdout, whatever they are: pipe, socket, terminal, regular file,
 * /dev/null. Bytes in, frames out.
 */
#ifndef MCPSPLICE_IO_PIPES_H
#define MCPSPLICE_IO_PIPES_H

#include "base/frame.h"
#include "io/loop.h"

struct pipes;

struct pipes_ops {
	void (*chunk)(const char *p, size_t n, void *arg); /* bytes of stdin */
	void (*eof)(void *arg);  /* once; a read error counts as the end */
	void (*high)(void *arg); /* stdout's queue passed the high water */
	/* and is below the low water again; also told, more than once, while
	 * stdin is paused, for who paused it over the queue within a turn */
	void (*low)(void *arg);
	void (*broken)(void *arg); /* once: nobody reads stdout any more */
};

/* Reading starts at once. Descriptors are borrowed. Neither is left
 * non-blocking for others who share it. high and low are in bytes of
 * pipes_memory. */
struct pipes *pipes_new(struct loop *l, int in, int out, size_t high,
    size_t low, const struct pipes_ops *ops, void *arg);
/* Queues the frame and its LF (takes its own reference); written at the end
 * of the turn, many in one system call. A no-op once stdout is broken. */
void pipes_write(struct pipes *p, struct frame *f);
/* Stops and goes on reading stdin. */
void pipes_pause(struct pipes *p, bool paused);
/* Bytes waiting in stdout's queue. */
size_t pipes_queued(const struct pipes *p);
/* About what they take: many small frames take more than their bytes. */
size_t pipes_memory(const struct pipes *p);
/* Calls done once the queue is empty, stdout broken, or ms are over. */
void pipes_flush(struct pipes *p, int64_t ms, loop_cb *done, void *arg);
/* Is stdout a regular file or a terminal: a person, not a host? */
bool pipes_out_is_person(const struct pipes *p);
void pipes_free(struct pipes *p);

#endif
