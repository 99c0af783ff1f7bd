/*
 * Splices in an object. A first pass finds the members to edit, a second one
 * copies: the text between two commas is copied as it is, with its white space,
 * or left out. If the first pass finds that nothing changes, there is no second
 * one.
 */
#include "config.h"

#include "core/wire/edit.h"

#include <limits.h>
#include <stdlib.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"

/* Returns the index of the edit for this member, or n. */
static size_t
find(struct span key, const struct edit *edits, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (json_key_is(key, edits[i].key))
			break;
	}
	return i;
}

/* Finds the value that counts for each edit: the last of its name, or NULL if
 * there is none. Returns whether the edits change anything. */
static bool
survey(struct span object, const struct edit *edits, size_t n,
    const char **last)
{
	struct span key, value;
	bool changed = false;
	size_t at = 0, i;

	while (json_next(object, &at, &key, &value)) {
		i = find(key, edits, n);
		if (i == n)
			continue;
		changed |= last[i] != NULL || !span_eq(value, edits[i].value);
		last[i] = value.p;
	}
	for (i = 0; i < n; i++)
		changed |= edits[i].value.p != NULL && last[i] == NULL;
	return changed;
}

static void
add_range(struct buf *out, const char *from, const char *to)
{
	buf_add(out, from, (size_t)(to - from));
}

/* Adds a comma, but not before the first member. */
static void
separate(struct buf *out, size_t *members)
{
	if ((*members)++ > 0)
		buf_addc(out, ',');
}

/* Copies the members that stay, with their new values, each together with the
 * text between the commas around it. Returns their number. */
static size_t
rewrite(struct buf *out, struct span object, const struct edit *edits, size_t n,
    const char *const *last)
{
	const char *from = object.p + 1, *to, *end = object.p + object.n;
	struct span key, value;
	size_t at = 0, i, members = 0;

	while (json_next(object, &at, &key, &value)) {
		to = object.p + at;
		while (to < end && *to != ',' && *to != '}')
			to++;
		i = find(key, edits, n);
		if (i == n) {
			separate(out, &members);
			add_range(out, from, to);
		} else if (edits[i].value.p != NULL && last[i] == value.p) {
			separate(out, &members);
			add_range(out, from, value.p);
			buf_addspan(out, edits[i].value);
			add_range(out, value.p + value.n, to);
		}
		from = to < end ? to + 1 : end;
	}
	return members;
}

static void
put(struct buf *out, struct span object, const struct edit *edits, size_t n,
    const char *const *last)
{
	size_t i, members;

	buf_addc(out, '{');
	members = rewrite(out, object, edits, n, last);
	for (i = 0; i < n; i++) {
		if (edits[i].value.p == NULL || last[i] != NULL)
			continue;
		separate(out, &members);
		buf_addf(out, "\"%s\":", edits[i].key);
		buf_addspan(out, edits[i].value);
	}
	buf_addc(out, '}');
}

void
edit_object(struct buf *out, struct span object, const struct edit *edits,
    size_t n)
{
	const char **last = xcalloc(n + 1, sizeof *last);

	if (object.p == NULL)
		object = span_of("{}");
	if (!survey(object, edits, n, last)) {
		buf_addspan(out, object);
	} else {
		if (json_kind(object) != '{')
			object = span_of("{}");
		put(out, object, edits, n, last);
	}
	free(last);
}

/* Returns the text without the white space around it. */
static struct span
outermost(struct span text)
{
	while (text.n > 0 && text.p[0] != '{') {
		text.p++;
		text.n--;
	}
	while (text.n > 0 && text.p[text.n - 1] != '}')
		text.n--;
	return text;
}

struct frame *
edit_frame(struct frame *f, const struct edit *edits, size_t n)
{
	const char **last = xcalloc(n + 1, sizeof *last);
	struct span object = outermost(f->text);
	struct frame *made;
	struct buf b;

	if (object.n == 0 || !survey(object, edits, n, last)) {
		free(last);
		return frame_ref(f);
	}
	buf_init(&b, 0);
	buf_reserve(&b, f->text.n);
	add_range(&b, f->text.p, object.p);
	put(&b, object, edits, n, last);
	add_range(&b, object.p + object.n, f->text.p + f->text.n);
	made = frame_take(&b);
	buf_free(&b);
	msg_parse(made, UINT_MAX);
	free(last);
	return made;
}

struct frame *
edit_part(struct frame *f, const char *key, struct span object,
    const struct edit *edits, size_t n)
{
	struct edit part = { key, { NULL, 0 } };
	struct frame *made;
	struct buf b;

	buf_init(&b, 0);
	edit_object(&b, object, edits, n);
	part.value = buf_span(&b);
	made = edit_frame(f, &part, 1);
	buf_free(&b);
	return made;
}

struct frame *
edit_arguments(struct frame *f)
{
	const struct edit none = { "arguments", span_of("{}") };
	struct frame *made;

	if (!f->has_null ||
	    (!json_key_is(f->method, "tools/call") &&
		!json_key_is(f->method, "prompts/get")) ||
	    !span_is(json_get(f->params, none.key), "null"))
		return f;
	made = edit_part(f, "params", f->params, &none, 1);
	frame_unref(f);
	return made;
}

bool
edit_is_empty(struct span object)
{
	struct span key, value;
	size_t at = 0;

	return json_kind(object) != '{' ||
	    !json_next(object, &at, &key, &value);
}
