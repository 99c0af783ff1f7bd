/*
 * Keeps the queue of actions: a step adds to it, client_next takes from it.
 */
#include "config.h"

#include "core/client/parts.h"

bool
client_is_legacy(const struct client *e)
{
	return e->legacy && e->strays == 0;
}

static void
post(struct client *e, enum event_kind kind, struct frame *f)
{
	events_add(&e->events,
	    &(struct event){ .kind = kind,
		.frame = f,
		.probe = kind == INPUT_CLIENT && !client_is_legacy(e) });
	frame_unref(f);
}

void
client_send(struct client *e, struct frame *f)
{
	post(e, INPUT_CLIENT, f);
}

struct frame *
client_fault(const struct client *e, const struct frame *f, enum fault_id id)
{
	return fault_make(id,
	    &(struct fault_args){ .request = f,
		.host = e->config.host,
		.name = f->method,
		.size = e->held_bytes });
}

void
client_fail(struct client *e, const struct frame *f, enum fault_id id)
{
	client_write(e, client_fault(e, f, id));
}

/* A translated answer may be larger than the server's, and too large for the
 * client. */
static struct frame *
too_large(const struct client *e, const struct frame *f)
{
	return fault_make(FAULT_TRANSLATED_HUGE,
	    &(struct fault_args){ .request = f,
		.host = e->config.host,
		.size = f->text.n,
		.limit = e->config.max_result });
}

void
client_write(struct client *e, struct frame *f)
{
	struct frame *error;

	if (e->config.max_result > 0 && f->text.n > e->config.max_result &&
	    f->kind == FRAME_RESULT) {
		error = too_large(e, f);
		frame_unref(f);
		f = error;
	}
	post(e, ACTION_WRITE, f);
}

void
client_probe(struct client *e, struct frame *f)
{
	post(e, EVENT_PROBE, f);
}

void
client_log(struct client *e, enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	events_log(&e->events, level, fmt, ap);
	va_end(ap);
}

bool
client_next(struct client *e, struct event *out)
{
	return events_next(&e->events, out);
}
