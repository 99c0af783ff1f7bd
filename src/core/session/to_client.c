/*
 * Frames for the client. A list_changed of the server waits for a moment, as
 * others like it may follow.
 */
#include "config.h"

#include "core/session/parts.h"

static void
write_out(struct session *s, struct frame *f, struct frame *related)
{
	if (!s->ending.broken)
		events_add(&s->events,
		    &(struct event){
			.kind = ACTION_WRITE, .frame = f, .related = related });
}

void
session_learn_families(struct session *s, const struct frame *m)
{
	struct span caps = json_get(m->result, "capabilities"), family;
	size_t i;

	for (i = 0; i < ERA_FAMILIES; i++) {
		family = json_get(caps, era_families[i].name);
		s->changes.families[i] = span_is(json_get(family,
						     "listChanged"),
		    "true");
	}
}

void
session_end_burst(struct session *s)
{
	struct change *c = s->changes.burst;

	alarm_set(&s->alarms, ALARM_BURST, ALARM_NEVER);
	for (; s->changes.n_burst > 0; s->changes.n_burst--, c++) {
		write_out(s, c->frame, c->related);
		frame_unref(c->frame);
		frame_unref(c->related);
	}
}

/* Keeps a list_changed for a moment, because some servers send one for each of
 * their tools, and hosts list again for each. Whatever else is written ends the
 * burst, so that the order stays. */
static void
keep_change(struct session *s, struct frame *f, struct frame *related)
{
	enum { GAP_MS = 100, LONGEST_MS = 1000 };
	struct change *c = s->changes.burst, *end = c + s->changes.n_burst;

	while (c < end &&
	    (c->related != related || !span_eq(c->frame->method, f->method) ||
		!span_eq(c->frame->params, f->params)))
		c++;
	if (c == s->changes.burst + ERA_FAMILIES) {
		session_end_burst(s);
		c = end = s->changes.burst;
	}
	if (s->changes.n_burst == 0)
		s->changes.burst_at = s->now;
	if (c == end) {
		c->frame = frame_ref(f);
		c->related = related != NULL ? frame_ref(related) : NULL;
		s->changes.n_burst++;
	}
	alarm_set(&s->alarms, ALARM_BURST,
	    alarm_sooner(s->now + GAP_MS, s->changes.burst_at + LONGEST_MS));
}

void
session_write(struct session *s, struct frame *f)
{
	session_end_burst(s);
	write_out(s, f, NULL);
}

void
session_tell(struct session *s, const char *method, struct span params)
{
	struct frame *f = msg_call(no_span, method, params);

	session_write(s, f);
	frame_unref(f);
}

void
session_pass(struct session *s, struct frame *f, const struct attempt *a)
{
	struct frame *related = a->call != NULL ? a->call->frame : NULL;

	if (f->kind == FRAME_NOTIFICATION &&
	    era_family(f->method) < ERA_FAMILIES) {
		keep_change(s, f, related);
		return;
	}
	session_end_burst(s);
	write_out(s, f, related);
}
