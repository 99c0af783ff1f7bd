/* The edits of one file, and how they are shown. */
#include "config.h"

#include "tools/wrap.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"

void
wrap_plan_edit(struct wrap_plan *p, size_t from, size_t to, char *text)
{
	p->edits = xgrow(p->edits, p->n_edits, sizeof *p->edits);
	p->edits[p->n_edits++] = (struct wrap_edit){ from, to, 0, text };
}

static char *
visible(struct span name, size_t max)
{
	struct buf b;

	buf_init(&b, 0);
	codec_visible(&b, name, max);
	return buf_take(&b);
}

void
wrap_plan_place(struct wrap_plan *p, struct span name, size_t from, size_t to,
    unsigned known)
{
	p->places = xgrow(p->places, p->n_places, sizeof *p->places);
	p->places[p->n_places++] = (struct wrap_place){ visible(name, 200),
		from, to, known };
}

int
wrap_plan_count(const struct wrap_plan *p, char **why)
{
	if (p->entries <= BOUND_WRAP_ENTRIES)
		return 0;
	*why = xasprintf("it has more than %d servers", BOUND_WRAP_ENTRIES);
	return -1;
}

void
wrap_plan_leave(struct wrap_plan *p, struct span name, char *why)
{
	char *shown = visible(name, 200);
	char *reason = visible(span_of(why), 500);

	strings_add(&p->notes,
	    xasprintf("\"%s\" is left alone: %s", shown, reason));
	free(shown);
	free(reason);
	free(why);
}

/* --- the new text --- */

static int
by_place(const void *a, const void *b)
{
	const struct wrap_edit *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

void
wrap_plan_apply(struct wrap_plan *p, struct span text, struct buf *out)
{
	size_t i, at = 0;

	if (p->n_edits > 0)
		qsort(p->edits, p->n_edits, sizeof *p->edits, by_place);
	for (i = 0; i < p->n_edits; i++) {
		buf_add(out, text.p + at, p->edits[i].from - at);
		buf_adds(out, p->edits[i].text);
		p->edits[i].end = out->n;
		at = p->edits[i].to;
	}
	buf_add(out, text.p + at, text.n - at);
}

size_t
wrap_plan_moved(const struct wrap_plan *p, size_t at)
{
	size_t low = 0, high = p->n_edits, middle;

	while (low < high) { /* the edits before low are before the place */
		middle = low + (high - low) / 2;
		if (p->edits[middle].to <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? at :
			  p->edits[low - 1].end + at - p->edits[low - 1].to;
}

void
wrap_plan_line(struct span text, size_t at, size_t *line, size_t *column)
{
	size_t i;

	*line = *column = 1;
	for (i = 0; i < at && i < text.n; i++) {
		++*column;
		if (text.p[i] == '\n') {
			++*line;
			*column = 1;
		}
	}
}

/* --- the diff --- */

/* Appends text that is safe on a terminal; a tab stays a tab. */
static void
add_visible(struct buf *out, struct span line)
{
	size_t i, from = 0;

	for (i = 0; i <= line.n; i++) {
		if (i < line.n && line.p[i] != '\t')
			continue;
		codec_visible(out, (struct span){ line.p + from, i - from },
		    SIZE_MAX);
		if (i < line.n)
			buf_addc(out, '\t');
		from = i + 1;
	}
}

static void
add_lines(struct buf *out, char mark, struct span text)
{
	struct span line;

	while (text.n > 0) {
		line = span_trim(span_take(&text, '\n'), "\r");
		buf_addc(out, mark);
		add_visible(out, line);
		buf_addc(out, '\n');
	}
}

/* Returns how many bytes of whole lines both texts begin with. */
static size_t
same_start(struct span a, struct span b)
{
	size_t i, n = 0;

	for (i = 0; i < a.n && i < b.n && a.p[i] == b.p[i]; i++)
		if (a.p[i] == '\n')
			n = i + 1;
	return n;
}

/* The same for the ends. */
static size_t
same_end(struct span a, struct span b)
{
	size_t i, n = 0;

	for (i = 1; i <= a.n && i <= b.n && a.p[a.n - i] == b.p[b.n - i]; i++)
		if ((i < a.n && a.p[a.n - i - 1] == '\n') &&
		    (i < b.n && b.p[b.n - i - 1] == '\n'))
			n = i;
	return n;
}

static void
add_difference(struct buf *out, struct span a, struct span b)
{
	size_t start = same_start(a, b), end;
	struct span tail;

	add_lines(out, ' ', (struct span){ a.p, start });
	a = (struct span){ a.p + start, a.n - start };
	b = (struct span){ b.p + start, b.n - start };
	end = same_end(a, b);
	tail = (struct span){ a.p + a.n - end, end };
	add_lines(out, '-', (struct span){ a.p, a.n - end });
	add_lines(out, '+', (struct span){ b.p, b.n - end });
	add_lines(out, ' ', tail);
}

/* Moves from back to the begin of its line, if only blanks stand between. */
static size_t
line_start(struct span text, size_t from)
{
	size_t at = from;

	while (at > 0 && (text.p[at - 1] == ' ' || text.p[at - 1] == '\t'))
		at--;
	return at == 0 || text.p[at - 1] == '\n' ? at : from;
}

static int
by_begin(const void *a, const void *b)
{
	const struct wrap_place *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

void
wrap_plan_diff(struct wrap_plan *p, const char *path, struct span text,
    struct span changed, struct buf *out)
{
	size_t i, from, begin, line = 1, counted = 0;
	const struct wrap_place *place;
	struct buf old, new;

	buf_init(&old, 0);
	buf_init(&new, 0);
	buf_addf(out, "--- %s\n+++ %s\n", path, path);
	if (p->n_places > 0)
		qsort(p->places, p->n_places, sizeof *p->places, by_begin);
	for (i = 0; i < p->n_places; i++) {
		place = &p->places[i];
		from = line_start(text, place->from);
		for (; counted < from; counted++)
			line += text.p[counted] == '\n';
		buf_addf(out, "@@ line %zu: %s @@\n", line, place->name);
		buf_reset(&old);
		buf_reset(&new);
		wrap_mask(&old,
		    (struct span){ text.p + from, place->to - from }, p->toml,
		    place->known);
		begin = wrap_plan_moved(p, from);
		wrap_mask(&new,
		    (struct span){ changed.p + begin,
			wrap_plan_moved(p, place->to) - begin },
		    p->toml, place->known);
		add_difference(out, buf_span(&old), buf_span(&new));
	}
	buf_wipe(&old);
	buf_wipe(&new);
}

void
wrap_plan_free(struct wrap_plan *p)
{
	size_t i;

	for (i = 0; i < p->n_edits; i++)
		string_wipe(&p->edits[i].text);
	for (i = 0; i < p->n_places; i++)
		free(p->places[i].name);
	free(p->edits);
	free(p->places);
	strings_free(&p->notes);
	*p = (struct wrap_plan){ 0 };
}
