#include "config.h"

#include "tools/list.h"

#include "base/bounds.h"
#include "core/wire/json.h"

/* Appends the items of one page. Returns the cursor of the next page, raw JSON;
 * n 0: it was the last. */
static struct span
take_page(struct span result, const char *member, struct buf *out)
{
	struct span items = json_get(result, member), key, item;
	struct span cursor = json_get(result, "nextCursor");
	size_t at = 0;

	while (json_kind(items) == '[' && json_next(items, &at, &key, &item)) {
		if (out->p[out->n - 1] != '[')
			buf_addc(out, ',');
		buf_addspan(out, item);
	}
	return json_kind(cursor) == '"' ? cursor : no_span;
}

int
list_all(struct peer *p, const char *method, const char *member,
    struct buf *out, char **why)
{
	struct buf params;
	struct frame *f;
	struct span cursor = no_span;
	unsigned pages = 0;
	int rc = 0;

	buf_init(&params, 0);
	buf_addc(out, '[');
	do {
		f = peer_ask(p, method, buf_span(&params), why);
		if (f != NULL && f->kind == FRAME_RESULT) {
			cursor = take_page(f->result, member, out);
			buf_reset(&params);
			if (cursor.n > 0) {
				buf_adds(&params, "{\"cursor\":");
				buf_addspan(&params, cursor);
				buf_addc(&params, '}');
			}
		} else {
			rc = -1;
			if (f != NULL)
				peer_explain(f, why);
		}
		frame_unref(f);
	} while (rc == 0 && params.n > 0 && ++pages < BOUND_TOOL_PAGES);
	buf_addc(out, ']');
	buf_free(&params);
	return rc;
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
