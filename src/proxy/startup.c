/* What a start needs before all else, and what it says when it cannot go on. */
#include "config.h"

#include "proxy/startup.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "core/exchange/fault.h"
#include "core/wire/lines.h"
#include "core/wire/msg.h"
#include "io/loop.h"
#include "io/pipes.h"

/* --- the memory of libcrypto --- */

static void *
take(size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return n == 0 ? NULL : xmalloc(n);
}

/* CRYPTO_realloc: 0 bytes free it. */
static void *
change(void *p, size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	if (n > 0)
		return xrealloc(p, n);
	free(p);
	return NULL;
}

static void
give(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	free(p);
}

void
memory_of_crypto(void)
{
	(void)CRYPTO_set_mem_functions(take, change, give);
}

/* --- one answer --- */

enum { WAIT_MS = 2000, LINE_MAX_BYTES = 1 << 20, DEPTH = 512 };

struct refusal {
	const char *why;
	struct loop *loop;
	struct pipes *pipes;
	struct lines *lines;
	bool answered;
};

static void
on_end(void *arg)
{
	struct refusal *r = arg;

	loop_stop(r->loop, 0);
}

static void
on_broken(int error, void *arg)
{
	(void)error;
	on_end(arg);
}

static void
on_line(struct frame *f, void *arg)
{
	struct refusal *r = arg;
	struct frame *answer;

	if (!r->answered && msg_parse(f, DEPTH) == MSG_OK &&
	    f->kind == FRAME_REQUEST) {
		r->answered = true;
		answer = fault_make(FAULT_START,
		    &(struct fault_args){
			.request = f, .why = span_of(r->why) });
		pipes_write(r->pipes, answer);
		frame_unref(answer);
		pipes_flush(r->pipes, WAIT_MS, on_end, r);
	}
	frame_unref(f);
}

static void
on_too_long(uint64_t size, struct span id, bool request, void *arg)
{
	(void)size;
	(void)id;
	(void)request;
	on_end(arg);
}

static void
on_chunk(const char *p, size_t n, void *arg)
{
	struct refusal *r = arg;

	lines_feed(r->lines, p, n);
}

static void
on_eof(void *arg)
{
	struct refusal *r = arg;

	lines_end(r->lines);
	if (!r->answered)
		on_end(r);
}

static void
on_water(void *arg)
{
	(void)arg; /* one short line never fills the queue */
}

void
refuse(const char *why)
{
	static const struct lines_ops lines_ops = { on_line, on_too_long };
	static const struct pipes_ops pipes_ops = { on_chunk, on_eof, on_water,
		on_water, on_broken };
	struct refusal r = { .why = why };
	struct loop_timer *timer;

	log_error("%s", why);
	if (isatty(STDIN_FILENO) || (r.loop = loop_new()) == NULL)
		return;
	timer = loop_timer_new(r.loop, on_end, &r);
	loop_timer_set(timer, WAIT_MS);
	r.lines = lines_new(LINE_MAX_BYTES, &lines_ops, &r);
	r.pipes = pipes_new(r.loop, STDIN_FILENO, STDOUT_FILENO, 1 << 20,
	    1 << 18, &pipes_ops, &r);
	loop_run(r.loop);
	pipes_free(r.pipes);
	lines_free(r.lines);
	loop_timer_free(timer);
	loop_free(r.loop);
}
