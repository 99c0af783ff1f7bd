/* One answer to the host, where no proxy starts. */
#include "config.h"

#include "core/exchange/fault.h"
#include "core/wire/lines.h"
#include "core/wire/msg.h"
#include "io/pipes.h"
#include "os/process.h"
#include "os/terminal.h"
#include "proxy/proxy.h"

enum { WAIT_MS = 2000, LINE_MAX_BYTES = 1 << 20, DEPTH = 512 };

struct refusal {
	const char *why;
	struct loop *loop;
	struct pipes *pipes;
	struct lines *lines;
	bool answered;
};

static void
end(void *arg)
{
	struct refusal *r = arg;

	loop_stop(r->loop, 0);
}

static void
on_broken(int error, void *arg)
{
	(void)error;
	end(arg);
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
		pipes_flush(r->pipes, WAIT_MS, end, r);
	}
	frame_unref(f);
}

static void
on_too_long(uint64_t size, struct span id, bool request, void *arg)
{
	(void)size;
	(void)id;
	(void)request;
	end(arg);
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
		end(r);
}

void
proxy_refuse(const char *why)
{
	static const struct lines_ops lines_ops = { on_line, on_too_long };
	/* one short line never fills the queue */
	static const struct pipes_ops pipes_ops = {
		.chunk = on_chunk, .eof = on_eof, .broken = on_broken
	};
	struct refusal r = { .why = why };
	struct loop_timer *timer;

	log_error("%s", why);
	if (os_is_terminal(OS_STDIN) || (r.loop = loop_new()) == NULL)
		return;
	timer = loop_timer_new(r.loop, end, &r);
	loop_timer_set(timer, WAIT_MS);
	r.lines = lines_new(LINE_MAX_BYTES, &lines_ops, &r);
	r.pipes = pipes_new(r.loop, OS_STDIN, OS_STDOUT, 1 << 20, 1 << 18,
	    &pipes_ops, &r);
	loop_run(r.loop);
	pipes_free(r.pipes);
	lines_free(r.lines);
	loop_timer_free(timer);
	loop_free(r.loop);
}
