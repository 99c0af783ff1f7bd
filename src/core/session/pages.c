/*
 * Pages of a list, joined. The items are copied as they are; all other members
 * of the result are those of the first page.
 */
#include "config.h"

#include "core/session/pages.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/hash.h"
#include "core/wire/edit.h"
#include "core/wire/json.h"

const struct list_kind list_kinds[LIST_KINDS] = {
	{ "tools/list", "tools", "{\"tools\":[]}", 0 },
	{ "prompts/list", "prompts", "{\"prompts\":[]}", 1 },
	{ "resources/list", "resources", "{\"resources\":[]}", 2 },
	{ "resources/templates/list", "resourceTemplates",
	    "{\"resourceTemplates\":[]}", 2 },
};

const struct list_kind *
list_kind_of(const struct frame *request)
{
	size_t i;

	for (i = 0; i < LIST_KINDS; i++)
		if (json_key_is(request->method, list_kinds[i].method))
			return &list_kinds[i];
	return NULL;
}

bool
list_begins(const struct frame *request)
{
	struct span cursor = json_get(request->params, "cursor");

	return cursor.p == NULL || span_is(cursor, "null");
}

uint64_t
list_sum(const struct list_kind *kind, struct span result)
{
	struct span items = json_get(result, kind->items), key, item;
	uint64_t sum = 0;
	size_t at = 0;

	while (json_next(items, &at, &key, &item))
		sum += hash_bytes(HASH_START, item.p, item.n);
	return sum;
}

void
pages_free(struct pages **at)
{
	struct pages *p = *at;

	*at = NULL;
	if (p == NULL)
		return;
	frame_unref(p->first);
	buf_free(&p->items);
	buf_free(&p->cursor);
	free(p);
}

/* Notes a page or a cursor. Returns false if it came before. */
static bool
note(struct pages *p, struct span text)
{
	uint64_t hash = hash_bytes(HASH_START, text.p, text.n);
	size_t i;

	for (i = 0; i < p->n_seen; i++)
		if (p->seen[i] == hash)
			return false;
	p->seen[p->n_seen++] = hash;
	return true;
}

bool
list_goes_on(struct span value)
{
	return json_kind(value) == '"' && value.n > 2;
}

/* Takes a page. Returns true if there is one more to be asked for. What the first
 * page has beside its items takes room, too. */
static bool
add_page(struct pages *p, struct frame *result)
{
	enum { ID_BYTES = 64 }; /* another id may be longer */
	const char *const names[] = { p->kind->items, "nextCursor" };
	struct span part[2], items;
	size_t size;

	json_get_some(result->result, names, part, 2);
	if (json_kind(part[0]) != '[')
		return false;
	items = span_trim((struct span){ part[0].p + 1, part[0].n - 2 },
	    " \t\r\n");
	size = part[1].n + 1 +
	    (p->first == NULL ? result->text.n + ID_BYTES : items.n);
	if (size > p->room)
		return false;
	buf_reset(&p->cursor);
	if (items.n > 0 && !note(p, items))
		return false;
	p->room -= size;
	if (p->first == NULL)
		p->first = frame_ref(result);
	if (items.n > 0 && p->items.n > 1)
		buf_addc(&p->items, ',');
	buf_addspan(&p->items, items);
	if (!list_goes_on(part[1]) || !note(p, part[1]))
		return false;
	buf_addspan(&p->cursor, part[1]);
	return ++p->n < BOUND_TOOL_PAGES && part[1].n <= BOUND_TEXT_BYTES;
}

struct frame *
pages_end(struct pages **at)
{
	struct pages *p = *at;
	struct edit edits[] = { { p->kind->items, no_span },
		{ "nextCursor",
		    p->cursor.n > 0 ? buf_span(&p->cursor) : no_span } };
	struct frame *list;

	buf_addc(&p->items, ']');
	edits[0].value = buf_span(&p->items);
	list = edit_part(p->first, "result", p->first->result, edits, 2);
	pages_free(at);
	return list;
}

struct frame *
pages_take(struct pages **at, const struct list_kind *kind, size_t max,
    struct frame *result)
{
	struct pages *p = *at;

	if (p == NULL && !list_goes_on(json_get(result->result, "nextCursor")))
		return frame_ref(result);
	if (p == NULL) {
		*at = p = xcalloc(1, sizeof *p);
		p->kind = kind;
		p->room = max > 0 && max < BOUND_TOOLS_BYTES ?
		    max :
		    BOUND_TOOLS_BYTES;
		buf_addc(&p->items, '[');
	}
	if (add_page(p, result))
		return NULL;
	if (p->first != NULL)
		return pages_end(at);
	pages_free(at);
	return frame_ref(result);
}
