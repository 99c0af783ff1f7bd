/*
 * stdin is read once per readiness. Frames for stdout wait in a queue.
 *
 * Invariants: no callback runs inside a function of pipes.h, all come from the
 * loop or from deferred work; the queue holds a reference to each frame that is
 * not wholly written; once stdout is broken the queue stays empty.
 */
#include "config.h"

#include "io/pipes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "os/error.h"
#include "os/stream.h"

#define IN_CHUNK 65536
/* After this many bytes the other descriptors are served. */
#define OUT_TURN 1048576
/* The memory of a frame in the queue without its text: the struct, two slots of
 * the ring, and the allocator's overhead. */
#define FRAME_BYTES                                                            \
	(sizeof(struct frame) + 2 * sizeof(struct frame *) + MEM_OVERHEAD)
/* An emptied queue keeps this many slots. */
#define RING_KEPT 4096
/* How often a descriptor is polled that the event backend refuses to watch. */
#define RETRY_MS 20

struct pipes {
	struct loop *l;
	struct pipes_ops ops;
	void *arg;

	struct os_input *in;
	bool paused;
	bool ended;
	struct loop_fd *in_watch; /* NULL: in_timer looks, because the backend
				   * cannot watch it */
	struct loop_timer *in_timer;

	struct os_output *out;
	struct os_part *parts; /* for one write */
	bool broken;
	bool above;   /* high was called, low was not yet */
	bool put_off; /* pipes_on_turn_end is deferred */
	bool waiting; /* stdout takes no more for now */
	struct loop_fd *out_watch;
	struct loop_fd *gone_watch;
	struct loop_timer *out_timer;

	struct frame **ring; /* cap is a power of two */
	size_t head, n, cap;
	size_t written; /* bytes written of the first frame */
	size_t queued;  /* bytes still to write */
	size_t high, low;

	struct loop_timer *flush_timer;
	bool flushing;
	int64_t flush_ms;
	loop_cb *flush_done;
	void *flush_arg;

	char chunk[IN_CHUNK];
};

/*
 * stdin
 */

static void
in_unwatch(struct pipes *p)
{
	loop_fd_free(p->in_watch);
	p->in_watch = NULL;
	loop_timer_set(p->in_timer, -1);
}

static void
in_read(struct pipes *p)
{
	int64_t got = os_input_read(p->in, p->chunk, sizeof p->chunk);

	if (got > 0) {
		p->ops.chunk(p->chunk, (size_t)got, p->arg);
		return;
	}
	if (got == -1 && errno == EAGAIN)
		return;
	if (got == -1)
		log_warn("cannot read stdin: %s", os_error_text(errno));
	p->ended = true;
	in_unwatch(p);
	p->ops.eof(p->arg);
}

static void
pipes_on_in(int fd, int what, void *arg)
{
	(void)fd;
	(void)what;
	in_read(arg);
}

static void
pipes_on_in_turn(void *arg)
{
	struct pipes *p = arg;

	if (!os_input_ready(p->in)) {
		loop_timer_set(p->in_timer, RETRY_MS);
		return;
	}
	/* Set before reading: the callbacks may pause or end it. */
	loop_timer_set(p->in_timer, 0);
	in_read(p);
}

static void
in_start(struct pipes *p)
{
	p->in_watch = loop_fd_new(p->l, os_input_stream(p->in), LOOP_READ,
	    pipes_on_in, p);
	if (p->in_watch == NULL)
		loop_timer_set(p->in_timer, 0);
}

void
pipes_pause(struct pipes *p, bool paused)
{
	if (p->ended || p->paused == paused)
		return;
	p->paused = paused;
	if (paused)
		in_unwatch(p);
	else
		in_start(p);
}

/*
 * The queue
 */

static void
queue_push(struct pipes *p, struct frame *f)
{
	struct frame **ring;
	size_t cap, i;

	if (p->n == p->cap) {
		cap = p->cap == 0 ? 64 : p->cap * 2;
		ring = xcalloc(cap, sizeof *ring);
		for (i = 0; i < p->n; i++)
			ring[i] = p->ring[(p->head + i) & (p->cap - 1)];
		free(p->ring);
		p->ring = ring;
		p->head = 0;
		p->cap = cap;
	}
	p->ring[(p->head + p->n) & (p->cap - 1)] = frame_ref(f);
	p->n++;
	p->queued += f->text.n + 1;
}

static void
queue_pop(struct pipes *p)
{
	frame_unref(p->ring[p->head]);
	p->head = (p->head + 1) & (p->cap - 1);
	p->n--;
}

/* Frees the slots of a long queue that is empty now. */
static void
queue_shrink(struct pipes *p)
{
	if (p->cap <= RING_KEPT)
		return;
	free(p->ring);
	p->ring = NULL;
	p->head = p->cap = 0;
}

/* Removes n written bytes from the queue. */
static void
queue_written(struct pipes *p, size_t n)
{
	size_t size;

	p->queued -= n;
	n += p->written;
	while (p->n > 0 && n >= (size = p->ring[p->head]->text.n + 1)) {
		n -= size;
		queue_pop(p);
	}
	p->written = n;
}

static void
queue_drop(struct pipes *p)
{
	while (p->n > 0)
		queue_pop(p);
	p->written = 0;
	p->queued = 0;
}

/* Collects the next bytes of the queue, at most limit. A frame and its LF lie
 * side by side. */
static size_t
queue_gather(const struct pipes *p, size_t limit)
{
	const struct frame *f;
	size_t i, skip = p->written, part;

	for (i = 0; i < p->n && i < os_output_parts && limit > 0; i++) {
		f = p->ring[(p->head + i) & (p->cap - 1)];
		part = f->text.n + 1 - skip;
		if (part > limit)
			part = limit;
		p->parts[i] = (struct os_part){ f->text.p + skip, part };
		limit -= part;
		skip = 0;
	}
	return i;
}

/*
 * stdout
 */

/* Writes until the queue is empty, stdout takes no more, or this turn's share
 * is used up. What nothing can watch has no share. Returns -1 with errno if
 * stdout is broken. */
static int
out_write(struct pipes *p)
{
	size_t share = OUT_TURN;
	int64_t n;

	while (p->n > 0 && share > 0) {
		n = os_output_write(p->out, p->parts, queue_gather(p, share));
		if (n == -1)
			return -1;
		if (n == 0)
			break;
		queue_written(p, (size_t)n);
		if (os_output_stream(p->out) != -1)
			share -= (size_t)n;
	}
	return 0;
}

static void
out_unwait(struct pipes *p)
{
	loop_fd_free(p->out_watch);
	p->out_watch = NULL;
	loop_timer_set(p->out_timer, -1);
	p->waiting = false;
}

static void
pipes_on_flushed(void *arg)
{
	struct pipes *p = arg;

	p->flush_done(p->flush_arg);
}

/* Calls the done of pipes_flush at the end of the turn. */
static void
flush_end(struct pipes *p)
{
	if (!p->flushing)
		return;
	p->flushing = false;
	loop_timer_set(p->flush_timer, -1);
	loop_defer(p->l, pipes_on_flushed, p);
}

static void
out_break(struct pipes *p, int error)
{
	p->broken = true;
	if (error == EPIPE)
		log_debug("the client closed stdout");
	else
		log_error("cannot write to stdout: %s", os_error_text(error));
	queue_drop(p);
	out_unwait(p);
	loop_fd_free(p->gone_watch);
	p->gone_watch = NULL;
	flush_end(p);
	p->ops.broken(error, p->arg);
}

/* Compares the queue with high and low when a turn is over, so that frames
 * written in the same turn do not count. */
static void
out_marks(struct pipes *p)
{
	if (p->n == 0) {
		queue_shrink(p);
		flush_end(p);
	}
	if (!p->above && pipes_memory(p) > p->high) {
		p->above = true;
		p->ops.high(p->arg);
	} else if ((p->above || p->paused) && pipes_memory(p) <= p->low) {
		p->above = false;
		p->ops.low(p->arg);
	}
}

static void out_pump(struct pipes *p);

static void
pipes_on_out(int fd, int what, void *arg)
{
	(void)fd;
	(void)what;
	out_pump(arg);
}

static void
pipes_on_out_retry(void *arg)
{
	struct pipes *p = arg;

	p->waiting = false;
	out_pump(p);
}

/* Has out_pump called again when stdout takes more. */
static void
out_wait(struct pipes *p)
{
	if (p->waiting)
		return;
	p->waiting = true;
	p->out_watch = loop_fd_new(p->l, os_output_stream(p->out),
	    os_output_event, pipes_on_out, p);
	if (p->out_watch == NULL)
		loop_timer_set(p->out_timer, RETRY_MS);
}

/* Writes as much as possible, and waits for stdout if frames are left. */
static void
out_pump(struct pipes *p)
{
	size_t before = p->queued;

	if (out_write(p) == -1) {
		out_break(p, errno);
		return;
	}
	if (p->flushing && p->queued < before)
		loop_timer_set(p->flush_timer, p->flush_ms);
	if (p->n > 0)
		out_wait(p);
	else
		out_unwait(p);
	out_marks(p);
}

static void
pipes_on_turn_end(void *arg)
{
	struct pipes *p = arg;

	p->put_off = false;
	if (p->broken)
		return;
	if (p->waiting)
		out_marks(p);
	else
		out_pump(p);
}

void
pipes_write(struct pipes *p, struct frame *f)
{
	if (p->broken)
		return;
	queue_push(p, f);
	if (p->put_off)
		return;
	p->put_off = true;
	loop_defer(p->l, pipes_on_turn_end, p);
}

size_t
pipes_queued(const struct pipes *p)
{
	return p->queued;
}

size_t
pipes_memory(const struct pipes *p)
{
	return p->queued + p->n * FRAME_BYTES;
}

static void
pipes_on_flush_timer(void *arg)
{
	flush_end(arg);
}

/* A second call replaces the first, whose done is not called. */
void
pipes_flush(struct pipes *p, int64_t ms, loop_cb *done, void *arg)
{
	loop_undefer(p->l, pipes_on_flushed, p);
	p->flushing = true;
	p->flush_done = done;
	p->flush_arg = arg;
	p->flush_ms = ms < 0 ? 0 : ms;
	if (p->n == 0)
		flush_end(p);
	else
		loop_timer_set(p->flush_timer, p->flush_ms);
}

/* An event of another kind removes the watch, so that it cannot spin. */
static void
pipes_on_gone(int fd, int what, void *arg)
{
	struct pipes *p = arg;

	(void)fd;
	(void)what;
	if (os_output_has_no_reader(p->out)) {
		out_break(p, EPIPE);
		return;
	}
	loop_fd_free(p->gone_watch);
	p->gone_watch = NULL;
}

struct pipes *
pipes_new(struct loop *l, int in, int out, size_t high, size_t low,
    const struct pipes_ops *ops, void *arg)
{
	struct pipes *p;

	p = xcalloc(1, sizeof *p);
	p->l = l;
	p->ops = *ops;
	p->arg = arg;
	p->high = high;
	p->low = low;
	p->in = os_input_open(in);
	p->out = os_output_open(out, in);
	p->parts = xcalloc(os_output_parts, sizeof *p->parts);
	p->in_timer = loop_timer_new(l, pipes_on_in_turn, p);
	p->out_timer = loop_timer_new(l, pipes_on_out_retry, p);
	p->flush_timer = loop_timer_new(l, pipes_on_flush_timer, p);
	p->gone_watch = loop_fd_new(l, os_output_end_stream(p->out), LOOP_READ,
	    pipes_on_gone, p);
	in_start(p);
	return p;
}

bool
pipes_out_is_for_user(const struct pipes *p)
{
	return os_output_is_for_user(p->out);
}

void
pipes_free(struct pipes *p)
{
	if (p == NULL)
		return;
	loop_undefer(p->l, pipes_on_turn_end, p);
	loop_undefer(p->l, pipes_on_flushed, p);
	loop_fd_free(p->in_watch);
	loop_fd_free(p->out_watch);
	loop_fd_free(p->gone_watch);
	loop_timer_free(p->in_timer);
	loop_timer_free(p->out_timer);
	loop_timer_free(p->flush_timer);
	queue_drop(p);
	free(p->ring);
	os_input_close(p->in);
	os_output_close(p->out);
	free(p->parts);
	free(p);
}
