/*
 * The queue of events of a reducer. What an event points to is kept beside it,
 * so that whoever added it may forget it.
 */
#include "config.h"

#include "core/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kept_event {
	struct event event;
	struct kept_facts *facts; /* NULL: it has none */
	char *text;
	char *bytes; /* what the spans point to; NULL: nothing */
};

/* Copies what the spans of the event point to. */
static void
keep_spans(struct kept_event *k, size_t n)
{
	struct span *const spans[] = { &k->event.session, &k->event.version,
		&k->event.result, &k->event.tools, &k->event.capabilities };
	char *at = k->bytes = xmalloc(n);
	size_t i;

	for (i = 0; i < sizeof spans / sizeof *spans; i++) {
		if (spans[i]->n == 0)
			continue;
		memcpy(at, spans[i]->p, spans[i]->n);
		spans[i]->p = at;
		at += spans[i]->n;
	}
}

void
events_add(struct events *q, const struct event *e)
{
	size_t n = e->session.n + e->version.n + e->result.n + e->tools.n +
	    e->capabilities.n;
	struct kept_event *k;

	if (q->next == q->n)
		q->next = q->n = 0;
	if (q->n == q->cap) {
		q->cap = q->cap * 2 + 16;
		q->list = xrealloc(q->list, q->cap * sizeof *q->list);
	}
	k = &q->list[q->n++];
	k->event = *e;
	if (e->frame != NULL)
		frame_ref(e->frame);
	if (e->related != NULL)
		frame_ref(e->related);
	k->text = e->text == NULL ? NULL : xstrdup(e->text);
	k->event.text = k->text;
	k->facts = e->facts == NULL ? NULL : facts_keep(e->facts);
	if (k->facts != NULL)
		k->event.facts = &k->facts->facts;
	k->bytes = NULL;
	if (n > 0)
		keep_spans(k, n);
}

void
events_log(struct events *q, enum log_level level, const char *fmt, va_list ap)
{
	struct event e = { .kind = ACTION_LOG, .level = level };
	char text[512];

	vsnprintf(text, sizeof text, fmt, ap);
	e.text = text;
	events_add(q, &e);
}

static void
drop(struct kept_event *k)
{
	frame_unref(k->event.frame);
	frame_unref(k->event.related);
	if (k->facts != NULL)
		facts_free(k->facts);
	free(k->text);
	free(k->bytes);
}

bool
events_next(struct events *q, struct event *out)
{
	if (q->lent)
		drop(&q->list[q->next++]);
	q->lent = q->next < q->n;
	if (!q->lent)
		return false;
	*out = q->list[q->next].event;
	return true;
}

struct event *
events_last(struct events *q)
{
	return q->n > q->next + (q->lent ? 1 : 0) ? &q->list[q->n - 1].event :
						    NULL;
}

const struct event *
events_peek(const struct events *q, size_t at)
{
	at += q->next + (q->lent ? 1 : 0);
	return at < q->n ? &q->list[at].event : NULL;
}

void
events_free(struct events *q)
{
	for (; q->next < q->n; q->next++)
		drop(&q->list[q->next]);
	free(q->list);
}
