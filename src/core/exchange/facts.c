/* Copies of facts, and messages that are kept. */
#include "config.h"

#include "core/exchange/facts.h"

#include <stdlib.h>
#include <string.h>

struct kept_facts *
facts_keep(const struct facts *f)
{
	struct kept_facts *k = xcalloc(1, sizeof *k);
	struct span *const spans[] = { &k->facts.type, &k->facts.coding,
		&k->facts.session, &k->facts.body, &k->facts.last_event_id,
		&k->facts.location, &k->facts.why, &k->facts.remedy,
		&k->facts.challenge, &k->facts.denial };
	size_t i, at = 0;

	k->facts = *f;
	buf_init(&k->bytes, 0);
	for (i = 0; i < sizeof spans / sizeof *spans; i++)
		if (spans[i]->n > 0)
			buf_addspan(&k->bytes, *spans[i]);
	for (i = 0; i < sizeof spans / sizeof *spans; i++) {
		if (spans[i]->n > 0)
			spans[i]->p = k->bytes.p + at;
		at += spans[i]->n;
	}
	return k;
}

void
facts_free(struct kept_facts *k)
{
	if (k == NULL)
		return;
	buf_free(&k->bytes);
	free(k);
}

/* --- messages that are kept --- */

bool
kept_add(struct kept *k, struct frame *m, size_t max, size_t max_bytes)
{
	size_t size = frame_size(m) + sizeof *k->list;

	if ((max > 0 && k->n == max) || k->bytes + size > max_bytes)
		return false;
	k->list = xrealloc(k->list, (k->n + 1) * sizeof *k->list);
	k->list[k->n++] = frame_ref(m);
	k->bytes += size;
	return true;
}

void
kept_clear(struct kept *k)
{
	while (k->n > 0)
		frame_unref(k->list[--k->n]);
	free(k->list);
	memset(k, 0, sizeof *k);
}
