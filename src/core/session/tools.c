/*
 * What tools/list said. The names of safe tools are kept in one array, sorted
 * by length and then by bytes: a server cannot choose names that make the
 * search slow, as it could with a hash table. While a page is read an entry may
 * turn unsafe; such entries are dropped at the end of the page.
 *
 * Invariant: outside tools_learn every entry is safe, so a tool is safe if its
 * name is in the array, for the sessions that the entry counts for. A name that
 * is odd or exceeds the limit is not in it.
 */
#include "config.h"

#include "core/session/tools.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/wire/edit.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

enum { FIRST_ROOM = 64 };

struct hint {
	bool safe, read_only;
	uint64_t session; /* in which it was read */
	size_t n;
	char name[];
};

struct tools {
	struct hint **hints;
	size_t n, room;
	struct buf list; /* the latest result that has all of them, without
			  * its other members; empty: none */
};

struct tools *
tools_new(void)
{
	struct tools *t = xcalloc(1, sizeof *t);

	buf_init(&t->list, BOUND_TOOLS_BYTES);
	return t;
}

static void
forget_hints(struct tools *t)
{
	while (t->n > 0)
		free(t->hints[--t->n]);
	free(t->hints);
	t->hints = NULL;
	t->room = 0;
}

void
tools_free(struct tools *t)
{
	if (t == NULL)
		return;
	forget_hints(t);
	buf_free(&t->list);
	free(t);
}

bool
tools_name(struct span value, struct buf *name)
{
	const char *s;

	buf_reset(name);
	if (json_string(value, name) != 0)
		return false;
	s = buf_str(name);
	return strlen(s) == name->n && strstr(s, "\xEF\xBF\xBD") == NULL;
}

static int
compare(const struct hint *h, struct span name)
{
	if (h->n != name.n)
		return h->n < name.n ? -1 : 1;
	return memcmp(h->name, name.p, name.n);
}

/* The index of the name, or the index at which it belongs. */
static size_t
find(const struct tools *t, struct span name, bool *known)
{
	size_t low = 0, high = t->n, middle;
	int order;

	*known = false;
	while (low < high && !*known) {
		middle = low + (high - low) / 2;
		order = compare(t->hints[middle], name);
		*known = order == 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return high;
}

/* Returns NULL if there is no room. */
static struct hint *
insert(struct tools *t, size_t at, struct span name)
{
	struct hint *h;

	if (t->n == BOUND_MANY)
		return NULL;
	if (t->n == t->room) {
		t->room = t->room == 0 ? FIRST_ROOM : t->room * 2;
		t->hints = xrealloc(t->hints, t->room * sizeof *t->hints);
	}
	h = xmalloc(sizeof *h + name.n);
	h->n = name.n;
	memcpy(h->name, name.p, name.n);
	memmove(t->hints + at + 1, t->hints + at,
	    (t->n - at) * sizeof *t->hints);
	t->hints[at] = h;
	t->n++;
	return h;
}

static void
drop_unsafe(struct tools *t)
{
	size_t i, kept = 0;

	for (i = 0; i < t->n; i++) {
		if (t->hints[i]->safe)
			t->hints[kept++] = t->hints[i];
		else
			free(t->hints[i]);
	}
	t->n = kept;
}

static void
learn_hint(struct tools *t, struct span tool, uint64_t session,
    struct buf *name)
{
	static const char *const parts[] = { "name", "annotations" };
	static const char *const hints[] = { "readOnlyHint", "idempotentHint" };
	struct span part[2], hint[2];
	struct hint *h = NULL;
	bool safe, known;
	size_t at;

	json_get_some(tool, parts, part, 2);
	if (!tools_name(part[0], name))
		return;
	json_get_some(part[1], hints, hint, 2);
	safe = span_is(hint[0], "true") || span_is(hint[1], "true");
	at = find(t, buf_span(name), &known);
	if (known)
		h = t->hints[at];
	else if (safe)
		h = insert(t, at, buf_span(name));
	if (h == NULL)
		return;
	h->safe = safe;
	h->session = session;
	h->read_only = span_is(hint[0], "true");
}

void
tools_learn(struct tools *t, uint64_t session, const struct frame *request,
    const struct frame *result)
{
	static const char *const parts[] = { "tools", "nextCursor" };
	bool begins = request == NULL || list_begins(request);
	struct span part[2], key, tool;
	struct buf name;
	size_t at = 0;

	json_get_some(result->result, parts, part, 2);
	if (begins) {
		forget_hints(t);
		buf_free(&t->list);
	}
	if (begins && json_kind(part[0]) == '[' && !list_goes_on(part[1]) &&
	    (buf_adds(&t->list, "{\"tools\":") != 0 ||
		buf_addspan(&t->list, part[0]) != 0 ||
		buf_addc(&t->list, '}') != 0))
		buf_free(&t->list);
	buf_init(&name, BOUND_NAME_BYTES);
	while (json_kind(part[0]) == '[' &&
	    json_next(part[0], &at, &key, &tool))
		if (json_kind(tool) == '{')
			learn_hint(t, tool, session, &name);
	buf_free(&name);
	drop_unsafe(t);
}

void
tools_changed(struct tools *t)
{
	forget_hints(t);
}

/* Returns what is known of the tool of this tools/call, or NULL; NULL also if
 * the server may take it for a call of another tool. */
static const struct hint *
hint_of(const struct tools *t, const struct frame *call)
{
	struct buf name;
	bool known = false;
	size_t at = 0;

	if (call->ambiguous)
		return NULL;
	buf_init(&name, BOUND_NAME_BYTES);
	if (tools_name(json_get(call->params, "name"), &name))
		at = find(t, buf_span(&name), &known);
	buf_free(&name);
	return known ? t->hints[at] : NULL;
}

bool
tools_safe(const struct tools *t, uint64_t session, const struct frame *call)
{
	const struct hint *h = hint_of(t, call);

	return h != NULL && h->session >= session;
}

/* Did the last list declare the tool of this tools/call readOnlyHint, and is
 * the call not ambiguous? */
static bool
is_read_only_call(const struct tools *t, const struct frame *call)
{
	const struct hint *h = hint_of(t, call);

	return h != NULL && h->read_only;
}

struct span
tools_list(const struct tools *t)
{
	return buf_span(&t->list);
}

/* --- which tools the client gets --- */

bool
tool_filter_is_on(const struct tool_filter *f)
{
	return f->n_ignore > 0 || f->n_only > 0 || f->read_only;
}

/* As in mcp-remote, letters match in either case. */
static bool
matches_one(const char *const *patterns, size_t n, struct span name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (span_glob(span_of(patterns[i]), name,
			GLOB_NOCASE | GLOB_ONE))
			return true;
	return false;
}

/* Returns the option that forbids a tool of this name (raw JSON), whatever its
 * hints are, or NULL. A name that cannot be read is forbidden by each. */
static const char *
forbidden_name(const struct tool_filter *f, struct span value)
{
	const char *option = NULL;
	struct buf name;
	bool known;

	buf_init(&name, BOUND_NAME_BYTES);
	known = tools_name(value, &name);
	if (f->n_only > 0 &&
	    (!known || !matches_one(f->only, f->n_only, buf_span(&name))))
		option = "--only-tool";
	else if (f->n_ignore > 0 &&
	    (!known || matches_one(f->ignore, f->n_ignore, buf_span(&name))))
		option = "--ignore-tool";
	buf_free(&name);
	return option;
}

const char *
tool_filter_forbids(const struct tool_filter *f, const struct tools *shown,
    const struct frame *call)
{
	const char *option;

	if (!tool_filter_is_on(f) || !json_key_is(call->method, "tools/call"))
		return NULL;
	option = forbidden_name(f, json_get(call->params, "name"));
	if (option == NULL && f->read_only && !is_read_only_call(shown, call))
		option = "--read-only";
	return option;
}

static bool
is_read_only(struct span tool)
{
	return span_is(json_get(json_get(tool, "annotations"), "readOnlyHint"),
	    "true");
}

char *
tool_filter_unmatched(const struct tool_filter *f, struct span result)
{
	struct span list = json_get(result, "tools"), key, tool;
	struct tool_filter one = { .n_ignore = 1 };
	size_t i, at;
	const char *hit;
	bool only;

	if (json_kind(list) != '[' || json_get(result, "nextCursor").p != NULL)
		return NULL;
	for (i = 0; i < f->n_only + f->n_ignore; i++) {
		only = i < f->n_only;
		one.ignore = only ? &f->only[i] : &f->ignore[i - f->n_only];
		hit = only ? NULL : strpbrk(*one.ignore, "*?");
		for (at = 0; hit == NULL && json_next(list, &at, &key, &tool);)
			hit = forbidden_name(&one, json_get(tool, "name"));
		if (hit == NULL)
			return xasprintf(
			    "no tool matches --%s-tool \"%.100s\"%s",
			    only ? "only" : "ignore", *one.ignore,
			    strpbrk(*one.ignore, ", |") != NULL ?
				"; give the option once for each name" :
				"");
	}
	return NULL;
}

struct frame *
tool_filter_list(const struct tool_filter *f, struct frame *answer)
{
	struct span list = json_get(answer->result, "tools"), key, tool;
	struct edit edit = { "tools", no_span };
	struct frame *made;
	struct buf kept;
	size_t at = 0;

	if (!tool_filter_is_on(f) || json_kind(list) != '[')
		return frame_ref(answer);
	buf_init(&kept, 0);
	buf_addc(&kept, '[');
	while (json_next(list, &at, &key, &tool)) {
		if (forbidden_name(f, json_get(tool, "name")) != NULL ||
		    (f->read_only && !is_read_only(tool)))
			continue;
		if (kept.n > 1)
			buf_addc(&kept, ',');
		buf_addspan(&kept, tool);
	}
	buf_addc(&kept, ']');
	edit.value = buf_span(&kept);
	made = edit_part(answer, "result", answer->result, &edit, 1);
	buf_free(&kept);
	return made;
}
