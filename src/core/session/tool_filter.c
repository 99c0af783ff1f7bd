#include "config.h"

#include "core/session/tool_filter.h"

#include "base/bounds.h"
#include "core/wire/edit.h"
#include "core/wire/json.h"

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

	buf_init(&name, BOUND_TOOL_NAME_BYTES);
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
	if (option == NULL && f->read_only && !tools_read_only(shown, call))
		option = "--read-only";
	return option;
}

static bool
is_read_only(struct span tool)
{
	return span_is(json_get(json_get(tool, "annotations"), "readOnlyHint"),
	    "true");
}

struct frame *
tool_filter_list(const struct tool_filter *f, struct frame *answer)
{
	struct span list = json_get(answer->result, "tools"), key, tool;
	struct edit edit = { "tools", no_span };
	struct frame *made;
	struct buf kept;
	size_t at = 0;

	if (json_kind(list) != '[')
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
