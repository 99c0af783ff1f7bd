/*
 * Keeps the queue of actions: a step adds to it, client_next takes from it.
 */
#include "config.h"

#include "core/modern_client/parts.h"

bool
client_is_legacy(const struct client *c)
{
	return c->legacy && c->strays == 0;
}

static void
post(struct client *c, enum event_kind kind, struct frame *f)
{
	events_add(&c->events,
	    &(struct event){ .kind = kind,
		.frame = f,
		.probe = kind == INPUT_CLIENT && !client_is_legacy(c) });
	frame_unref(f);
}

void
client_send(struct client *c, struct frame *f)
{
	post(c, INPUT_CLIENT, f);
}

struct frame *
client_fault(const struct client *c, const struct frame *f, enum fault_id id)
{
	return fault_make(id,
	    &(struct fault_args){ .request = f,
		.host = c->config.host,
		.name = f->method,
		.size = c->held_bytes });
}

void
client_fail(struct client *c, const struct frame *f, enum fault_id id)
{
	client_write(c, client_fault(c, f, id));
}

/* A translated answer may be larger than the server's, and too large for the
 * client. */
static struct frame *
too_large(const struct client *c, const struct frame *f)
{
	return fault_make(FAULT_TRANSLATED_HUGE,
	    &(struct fault_args){ .request = f,
		.host = c->config.host,
		.size = f->text.n,
		.limit = c->config.max_result });
}

void
client_write(struct client *c, struct frame *f)
{
	struct frame *error;

	if (c->config.max_result > 0 && f->text.n > c->config.max_result &&
	    f->kind == FRAME_RESULT) {
		error = too_large(c, f);
		frame_unref(f);
		f = error;
	}
	post(c, ACTION_WRITE, f);
}

void
client_probe(struct client *c, struct frame *f)
{
	post(c, EVENT_PROBE, f);
}

void
client_log(struct client *c, enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	events_log(&c->events, level, fmt, ap);
	va_end(ap);
}

bool
client_next(struct client *c, struct event *out)
{
	return events_next(&c->events, out);
}
