/* The edits of one file, and how they are shown. */
#include "config.h"

#include "tools/wrap_plan.h"

#include <stdlib.h>

#include "base/codec.h"
#include "options/set.h"
#include "options/table.h"

/* Shorter texts, such as "true", are no secrets, and would be found in other
 * words. */
#define SECRET_MIN 6

void
wrap_plan_edit(struct wrap_plan *p, size_t from, size_t to, char *text)
{
	p->edits = xrealloc(p->edits, (p->n_edits + 1) * sizeof *p->edits);
	p->edits[p->n_edits++] = (struct wrap_edit){ from, to, text };
}

static char *
visible(struct span name)
{
	struct buf b;

	buf_init(&b, 0);
	codec_visible(&b, name, 200);
	return buf_take(&b);
}

void
wrap_plan_place(struct wrap_plan *p, struct span name, size_t from, size_t to)
{
	p->places = xrealloc(p->places, (p->n_places + 1) * sizeof *p->places);
	p->places[p->n_places++] = (struct wrap_place){ visible(name), from,
		to };
}

void
wrap_plan_leave(struct wrap_plan *p, struct span name, char *why)
{
	char *shown = visible(name);

	strings_add(&p->notes,
	    xasprintf("\"%s\" is left alone: %s", shown, why));
	free(shown);
	free(why);
}

/* --- secrets --- */

void
wrap_plan_hide(struct wrap_plan *p, struct span secret)
{
	secret = span_trim(secret, " \t");
	if (secret.n >= SECRET_MIN && span_find(secret, "${") == NULL)
		strings_add(&p->secrets, xstrndup(secret.p, secret.n));
}

/* Returns the option that a word is, without its value; NULL: none. */
static const struct option_row *
option_of(struct span word)
{
	bool off;

	if (span_is(word, "-H") || span_is(word, "--headers"))
		return option_table_named("header");
	if (word.n < 3 || memcmp(word.p, "--", 2) != 0)
		return NULL;
	word = (struct span){ word.p + 2, word.n - 2 };
	return option_table_find(span_take(&word, '='), &off);
}

void
wrap_plan_hide_word(struct wrap_plan *p, struct span before, struct span word)
{
	const struct option_row *row = option_of(word);
	struct span value = word;

	if (row != NULL)
		(void)span_take(&value, '=');
	else
		row = option_of(before);
	if (row == NULL || row->kind == OPTION_HEADER) {
		(void)span_take(&value, row == NULL ? '?' : ':');
		wrap_plan_hide(p, value);
	} else if ((row->flags & OPTION_SECRET) != 0) {
		wrap_plan_hide(p, value);
	}
}

/* Is it "-H NAME", which mcp-proxy follows with the value? */
static bool
names_header(struct span option, struct span name)
{
	return (span_is(option, "-H") || span_is(option, "--headers")) &&
	    span_find(name, ":") == NULL;
}

void
wrap_plan_hide_words(struct wrap_plan *p, const struct span *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		wrap_plan_hide_word(p, i > 0 ? words[i - 1] : no_span,
		    words[i]);
		if (i > 1 && names_header(words[i - 2], words[i - 1]))
			wrap_plan_hide(p, words[i]);
	}
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
		at = p->edits[i].to;
	}
	buf_add(out, text.p + at, text.n - at);
}

/* Returns where a place of the old text, which no edit covers, is in the new
 * one. */
static size_t
moved(const struct wrap_plan *p, size_t at)
{
	size_t i, to = at;

	for (i = 0; i < p->n_edits && p->edits[i].to <= at; i++)
		to = to - (p->edits[i].to - p->edits[i].from) +
		    strlen(p->edits[i].text);
	return to;
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

/* Appends text without the secrets. */
static void
add_masked(const struct wrap_plan *p, struct span text, struct buf *out)
{
	const struct strings *s = &p->secrets;
	size_t at, i, n, best;

	for (at = 0; at < text.n; at += (best > 0) ? best : 1) {
		best = 0;
		for (i = 0; i < s->n; i++) {
			n = strlen(s->list[i]);
			if (n > best && n <= text.n - at &&
			    memcmp(text.p + at, s->list[i], n) == 0)
				best = n;
		}
		if (best > 0)
			buf_adds(out, "(set)");
		else
			buf_addc(out, text.p[at]);
	}
}

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

void
wrap_plan_diff(const struct wrap_plan *p, const char *path, struct span text,
    struct span changed, struct buf *out)
{
	size_t i, from, line, column, begin;
	struct buf old, new;

	buf_init(&old, 0);
	buf_init(&new, 0);
	buf_addf(out, "--- %s\n+++ %s\n", path, path);
	for (i = 0; i < p->n_places; i++) {
		from = line_start(text, p->places[i].from);
		wrap_plan_line(text, from, &line, &column);
		buf_addf(out, "@@ line %zu: %s @@\n", line, p->places[i].name);
		buf_reset(&old);
		buf_reset(&new);
		add_masked(p,
		    (struct span){ text.p + from, p->places[i].to - from },
		    &old);
		begin = moved(p, from);
		add_masked(p,
		    (struct span){
			changed.p + begin, moved(p, p->places[i].to) - begin },
		    &new);
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
	strings_free(&p->secrets);
	*p = (struct wrap_plan){ 0 };
}
