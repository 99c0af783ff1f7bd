#include "config.h"

#include "tools/list.h"

#include "base/bounds.h"
#include "core/wire/json.h"

/* Appends the items of one page. *cursor gets that of the next page, raw JSON; n
 * 0: it was the last. Returns false if it is no page of such a list. */
static bool
take_page(struct span result, const char *member, struct buf *out,
    struct span *cursor)
{
	struct span items = json_get(result, member), key, item;
	size_t at = 0;

	*cursor = json_get(result, "nextCursor");
	if (span_is(*cursor, "null"))
		*cursor = no_span;
	/* A server may leave an empty list out. */
	if (json_kind(result) != '{' ||
	    (items.n > 0 && json_kind(items) != '[') ||
	    (cursor->n > 0 && json_kind(*cursor) != '"'))
		return false;
	while (json_next(items, &at, &key, &item)) {
		if (json_kind(item) != '{')
			return false;
		if (out->p[out->n - 1] != '[')
			buf_addc(out, ',');
		buf_addspan(out, item);
	}
	return true;
}

int
list_all(struct peer *p, const char *method, const char *member,
    struct buf *out, char **why)
{
	struct buf params;
	struct frame *f;
	struct span cursor;
	unsigned pages = 0;

	buf_init(&params, 0);
	buf_addc(out, '[');
	do {
		cursor = no_span;
		f = peer_ask(p, method, buf_span(&params), why);
		if (f != NULL && f->kind != FRAME_RESULT)
			peer_explain(f, why);
		else if (f != NULL &&
		    !take_page(f->result, member, out, &cursor))
			*why = xasprintf("the answer to %s is no list of %s",
			    method, member);
		else if (cursor.n > 0 && ++pages == BOUND_TOOL_PAGES)
			*why = xasprintf("the list of %s is cut: it has more "
					 "than %u pages",
			    member, pages);
		buf_reset(&params);
		if (cursor.n > 0) {
			buf_adds(&params, "{\"cursor\":");
			buf_addspan(&params, cursor);
			buf_addc(&params, '}');
		}
		frame_unref(f);
	} while (*why == NULL && params.n > 0);
	buf_addc(out, ']');
	buf_free(&params);
	return *why == NULL ? 0 : -1;
}

int
list_tools(struct peer *p, struct buf *out, char **why)
{
	return list_all(p, "tools/list", "tools", out, why);
}

struct span
list_find(struct span tools, const char *name)
{
	struct span key, tool;
	size_t at = 0;

	while (json_next(tools, &at, &key, &tool))
		if (json_string_is(json_get(tool, "name"), name))
			return tool;
	return no_span;
}
