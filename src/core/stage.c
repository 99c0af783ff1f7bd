/*
 * The queue of a reducer. What an event points to is kept beside it, so that
 * whoever added it may forget it.
 */
#include "config.h"

#include "core/stage.h"

#include <stdio.h>
#include <stdlib.h>

struct kept_event {
	struct event event;
	struct kept_facts *facts; /* NULL: it has none */
	char *text;
	struct buf bytes; /* what the spans point to */
};

/* Copies what the spans of an event point to. */
static void
keep_spans(struct kept_event *k)
{
	struct span *const spans[] = { &k->event.session, &k->event.version,
		&k->event.result, &k->event.tools };
	size_t i, at;

	buf_init(&k->bytes, 0);
	for (i = 0; i < sizeof spans / sizeof *spans; i++)
		buf_addspan(&k->bytes, *spans[i]);
	for (i = at = 0; i < sizeof spans / sizeof *spans; at += spans[i++]->n)
		if (spans[i]->n > 0)
			spans[i]->p = k->bytes.p + at;
}

void
events_add(struct events *q, const struct event *e)
{
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
	k->facts = e->facts == NULL ? NULL : facts_keep(e->facts);
	keep_spans(k);
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
	facts_free(k->facts);
	free(k->text);
	buf_free(&k->bytes);
}

bool
events_next(struct events *q, struct event *out)
{
	struct kept_event *k;

	if (q->lent)
		drop(&q->list[q->next++]);
	q->lent = q->next < q->n;
	if (!q->lent)
		return false;
	k = &q->list[q->next];
	*out = k->event;
	out->text = k->text;
	if (k->facts != NULL)
		out->facts = &k->facts->facts;
	return true;
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
