/*
 * Keeps the queue of actions: a step adds to it, client_next takes from it.
 */
#include "config.h"

#include "core/client/act.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/exchange/fault.h"

static void
action_clear(struct action *a)
{
	frame_unref(a->frame);
	free(a->text);
	memset(a, 0, sizeof *a);
}

static struct action *
action_add(struct client *e, enum client_action_kind kind)
{
	struct action *a;

	if (e->next_action == e->n_actions)
		e->next_action = e->n_actions = 0;
	if (e->n_actions == e->cap_actions) {
		e->cap_actions = e->cap_actions * 2 + 16;
		e->actions = xrealloc(e->actions,
		    e->cap_actions * sizeof *e->actions);
	}
	a = &e->actions[e->n_actions++];
	memset(a, 0, sizeof *a);
	a->kind = kind;
	return a;
}

void
client_send(struct client *e, struct frame *f)
{
	action_add(e, CLIENT_SEND)->frame = f;
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
	action_add(e, CLIENT_WRITE)->frame = f;
}

void
client_probe(struct client *e, struct frame *f)
{
	action_add(e, CLIENT_PROBE)->frame = f;
}

void
client_log(struct client *e, enum log_level level, const char *fmt, ...)
{
	struct action *a = action_add(e, CLIENT_NOTE);
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	a->level = level;
	a->text = xstrdup(text);
}

bool
client_next(struct client *e, struct client_action *out)
{
	action_clear(&e->current);
	if (e->next_action == e->n_actions)
		return false;
	e->current = e->actions[e->next_action++];
	out->kind = e->current.kind;
	out->frame = e->current.frame;
	out->level = e->current.level;
	out->text = e->current.text;
	return true;
}

void
client_actions_free(struct client *e)
{
	while (e->next_action < e->n_actions)
		action_clear(&e->actions[e->next_action++]);
	action_clear(&e->current);
	free(e->actions);
}
