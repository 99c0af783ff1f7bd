/*
 * The mirrored headers of modern requests.
 *
 * Only tools that have a value to mirror, or that have their results wrapped,
 * are kept, in one array sorted by length, then bytes (as in
 * core/session/tools, no names that a server chooses can make it slow). For a
 * tool that is not in it, a call only costs the search for its name.
 */
#include "config.h"

#include "core/era/mirror.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "core/era/era.h"
#include "core/era/parts.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

enum { SHOWN_BYTES = 128 }; /* shown of a name */

struct learned {
	bool wraps;
	struct mirror_plan *plan; /* NULL: nothing to mirror */
	size_t size;
	size_t n;
	char name[];
};

struct mirror {
	struct learned **tools;
	size_t n, room;
	size_t size;
};

/* A page of tools while it is read. The copy starts with the first tool that is
 * dropped. */
struct page {
	const struct frame *frame;
	struct span tools;
	struct buf copy;
	size_t kept;
	const char *kept_end; /* end of the last kept tool in the frame */
	bool dropping;
};

/* --- the tools --- */

struct mirror *
mirror_new(void)
{
	return xcalloc(1, sizeof(struct mirror));
}

static void
free_tool(struct mirror *m, struct learned *tool)
{
	m->size -= tool->size;
	mirror_plan_free(tool->plan);
	free(tool);
}

void
mirror_clear(struct mirror *m)
{
	while (m->n > 0)
		free_tool(m, m->tools[--m->n]);
	free(m->tools);
	m->tools = NULL;
	m->room = 0;
}

void
mirror_free(struct mirror *m)
{
	if (m == NULL)
		return;
	mirror_clear(m);
	free(m);
}

static int
compare(const struct learned *tool, struct span name)
{
	if (tool->n != name.n)
		return tool->n < name.n ? -1 : 1;
	return name.n == 0 ? 0 : memcmp(tool->name, name.p, name.n);
}

/* Returns the index of the name, or the one where it belongs. */
static size_t
find(const struct mirror *m, struct span name, bool *known)
{
	size_t low = 0, high = m->n, middle;
	int order;

	*known = false;
	while (low < high && !*known) {
		middle = low + (high - low) / 2;
		order = compare(m->tools[middle], name);
		*known = order == 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return high;
}

/* Returns the tool with this name (raw JSON), or NULL. */
static const struct learned *
look_up(const struct mirror *m, struct span raw)
{
	struct buf name;
	bool known = false;
	size_t at = 0;

	if (m->n == 0)
		return NULL;
	buf_init(&name, BOUND_NAME_BYTES);
	if (json_string(raw, &name) == 0)
		at = find(m, buf_span(&name), &known);
	buf_free(&name);
	return known ? m->tools[at] : NULL;
}

static void
forget(struct mirror *m, size_t at)
{
	free_tool(m, m->tools[at]);
	m->n--;
	memmove(m->tools + at, m->tools + at + 1,
	    (m->n - at) * sizeof *m->tools);
}

/* Inserts a tool and takes over its plan, which is freed if there is no
 * room. */
static void
insert(struct mirror *m, size_t at, struct span name, bool wraps,
    struct mirror_plan *plan)
{
	struct learned *tool;
	size_t size = sizeof *tool + name.n;

	if (plan != NULL)
		size += plan->size;
	if (m->n == BOUND_MANY || size > BOUND_TOOLS_BYTES - m->size) {
		mirror_plan_free(plan);
		return;
	}
	if (m->n == m->room) {
		m->room = m->room == 0 ? 16 : m->room * 2;
		m->tools = xrealloc(m->tools, m->room * sizeof *m->tools);
	}
	tool = xmalloc(sizeof *tool + name.n);
	*tool = (struct learned){ wraps, plan, size, name.n };
	if (name.n != 0)
		memcpy(tool->name, name.p, name.n);
	memmove(m->tools + at + 1, m->tools + at,
	    (m->n - at) * sizeof *m->tools);
	m->tools[at] = tool;
	m->n++;
	m->size += size;
}

/* Notes what the server says of this name now, in place of earlier
 * statements. */
static void
learn(struct mirror *m, struct span raw, bool wraps, struct mirror_plan *plan)
{
	struct buf name;
	bool known;
	size_t at;

	buf_init(&name, BOUND_NAME_BYTES);
	if (json_string(raw, &name) != 0) {
		mirror_plan_free(plan);
	} else {
		at = find(m, buf_span(&name), &known);
		if (known)
			forget(m, at);
		if (wraps || plan != NULL)
			insert(m, at, buf_span(&name), wraps, plan);
	}
	buf_free(&name);
}

/* --- tools/list --- */

static void
tell(struct span raw, const char *why, mirror_dropped_cb *dropped, void *arg)
{
	struct buf name, shown;

	if (dropped == NULL)
		return;
	buf_init(&name, 0);
	buf_init(&shown, 0);
	if (json_string(raw, &name) == 0)
		codec_visible(&shown, buf_span(&name), SHOWN_BYTES);
	else
		buf_adds(&shown, "(without a usable name)");
	dropped(buf_str(&shown), why, arg);
	buf_free(&name);
	buf_free(&shown);
}

static void
keep(struct page *page, struct span tool)
{
	if (page->dropping) {
		if (page->kept > 0)
			buf_addc(&page->copy, ',');
		buf_addspan(&page->copy, tool);
	}
	page->kept++;
	page->kept_end = tool.p + tool.n;
}

static void
leave_out(struct page *page)
{
	const char *start = page->frame->text.p;

	if (page->dropping)
		return;
	page->dropping = true;
	buf_add(&page->copy, start, (size_t)(page->kept_end - start));
}

/* Makes the page without the dropped tools. */
static struct frame *
finish(struct page *page)
{
	struct span text = page->frame->text;
	const char *rest = page->tools.p + page->tools.n - 1;
	struct frame *made;

	buf_add(&page->copy, rest, (size_t)(text.p + text.n - rest));
	made = frame_take(&page->copy);
	buf_free(&page->copy);
	/* The text was checked before the tools were dropped. */
	msg_parse(made, UINT_MAX);
	return made;
}

struct frame *
mirror_learn(struct mirror *m, struct frame *result, mirror_dropped_cb *dropped,
    void *arg)
{
	static const char *const parts[] = { "name", "inputSchema",
		"outputSchema" };
	struct span tools = json_get(result->result, "tools");
	struct page page = { .frame = result, .tools = tools };
	struct span key, tool, part[3];
	struct mirror_plan *plan;
	size_t at = 0, budget = BOUND_FILE_BYTES;
	const char *why;

	if (json_kind(tools) != '[')
		return frame_ref(result);
	page.kept_end = tools.p + 1;
	while (json_next(tools, &at, &key, &tool)) {
		json_get_some(tool, parts, part, 3);
		why = mirror_schema_read(part[1], &budget, &plan);
		learn(m, part[0], why == NULL && era_wraps(part[2]), plan);
		if (why == NULL) {
			keep(&page, tool);
		} else {
			leave_out(&page);
			tell(part[0], why, dropped, arg);
		}
	}
	return page.dropping ? finish(&page) : frame_ref(result);
}

bool
mirror_knows(const struct mirror *m, const struct frame *call)
{
	const struct learned *tool = look_up(m, json_get(call->params, "name"));

	return tool != NULL && tool->plan != NULL;
}

bool
mirror_wraps(const struct mirror *m, const struct frame *call)
{
	const struct learned *tool;

	if (m->n == 0)
		return false;
	tool = look_up(m, json_get(call->params, "name"));
	return tool != NULL && tool->wraps;
}

/* --- headers --- */

/* Gets the headers, the name of the first one that is too long, and that of the
 * first argument that has none; each may be NULL. */
struct sink {
	struct headers *headers;
	struct buf *left_out, *unfit;
	bool raw_name, two_names;
};

/* Returns false for a value of a type that no header can carry. */
static bool
add_value(const struct sink *to, const char *header, struct span raw)
{
	char kind = json_kind(raw);
	struct buf text;
	bool fits;

	buf_init(&text, 0);
	fits = mirror_value(&text, raw) == 0;
	if (fits && to->headers != NULL)
		headers_set(to->headers, span_of(header), buf_span(&text),
		    false);
	/* A string always has a value: only its length can be the reason. */
	if (!fits && kind == '"' && to->left_out != NULL &&
	    to->left_out->n == 0)
		buf_adds(to->left_out, header);
	buf_free(&text);
	return fits || kind == '"' || kind == 'n' || kind == '\0';
}

/* Finds the values of one node's children in one pass. */
static void
find_children(const struct mirror_plan *plan, size_t parent, struct span *found)
{
	const struct mirror_node *node = &plan->nodes[parent];
	size_t at = 0, i, end = node->first + node->count;
	struct span key, value;
	struct buf text;

	/* Elements of an array have no name, so they are skipped. */
	if (node->count == 0 || json_kind(found[parent]) != '{')
		return;
	buf_init(&text, BOUND_NAME_BYTES);
	while (json_next(found[parent], &at, &key, &value)) {
		buf_reset(&text);
		if (!mirror_key(&key, &text))
			continue;
		for (i = node->first; i < end; i++)
			if (span_eq(key, buf_span(&plan->nodes[i].key)))
				found[i] = value;
	}
	buf_free(&text);
}

/* Adds Mcp-Name, wrapped where it must be. */
static void
add_name(struct sink *to, struct span raw)
{
	const char *name = "Mcp-Name", *value;
	struct buf text;

	add_value(to, name, raw);
	value = to->headers != NULL ? headers_get(to->headers, name) : NULL;
	buf_init(&text, BOUND_HEADER_BYTES);
	to->two_names = value != NULL && json_string(raw, &text) == 0 &&
	    !span_is(buf_span(&text), value);
	if (to->two_names && to->raw_name)
		headers_set(to->headers, span_of(name), buf_span(&text), false);
	buf_free(&text);
}

/* Adds the names on the way to a node, which comes after its parent. */
static void
add_path(struct buf *out, const struct mirror_plan *plan, size_t node)
{
	const struct mirror_node *parent = plan->nodes;

	while (node < parent->first || node >= parent->first + parent->count)
		parent++;
	if (parent != plan->nodes) {
		add_path(out, plan, (size_t)(parent - plan->nodes));
		buf_addc(out, '.');
	}
	buf_addspan(out, buf_span(&plan->nodes[node].key));
}

static void
add_params(const struct mirror_plan *plan, struct span arguments,
    const struct sink *to)
{
	struct span *found = xcalloc(plan->n, sizeof *found);
	size_t i;

	found[0] = arguments;
	for (i = 0; i < plan->n; i++) {
		find_children(plan, i, found);
		if (plan->nodes[i].header != NULL &&
		    !add_value(to, plan->nodes[i].header, found[i]) &&
		    to->unfit != NULL && to->unfit->n == 0)
			add_path(to->unfit, plan, i);
	}
	free(found);
}

/* Returns the member of params that Mcp-Name mirrors, or NULL. */
static const char *
name_member(struct span method)
{
	static const char *const sources[][2] = {
		{ "tools/call", "name" },
		{ "prompts/get", "name" },
		{ "resources/read", "uri" },
		{ "tasks/get", "taskId" },
		{ "tasks/update", "taskId" },
		{ "tasks/cancel", "taskId" },
	};
	size_t i;

	for (i = 0; i < sizeof sources / sizeof *sources; i++)
		if (span_is(method, sources[i][0]))
			return sources[i][1];
	return NULL;
}

/* Adds Mcp-Method. It has no wrapped form, so a method that is not plain is
 * left out. */
static void
add_method(const struct sink *to, struct span method)
{
	if (to->headers != NULL && mirror_is_plain(method))
		headers_set(to->headers, span_of("Mcp-Method"), method, false);
}

static void
add_all(const struct mirror *m, const struct frame *message, struct sink *to)
{
	const char *members[] = { NULL, "arguments" };
	const struct learned *tool;
	struct span part[2], quoted;
	struct buf method;

	if (message->method.p == NULL)
		return;
	quoted = (struct span){ message->method.p - 1, message->method.n + 2 };
	buf_init(&method, BOUND_HEADER_BYTES);
	if (json_string(quoted, &method) != 0)
		goto done;
	add_method(to, buf_span(&method));
	members[0] = name_member(buf_span(&method));
	if (members[0] == NULL)
		goto done;
	json_get_some(message->params, members, part, 2);
	if (json_kind(part[0]) == '"')
		add_name(to, part[0]);
	if (span_is(buf_span(&method), "tools/call")) {
		tool = look_up(m, part[0]);
		if (tool != NULL && tool->plan != NULL)
			add_params(tool->plan, part[1], to);
	}
done:
	buf_free(&method);
}

bool
mirror_headers(const struct mirror *m, const struct frame *message,
    bool raw_name, struct headers *out)
{
	struct sink to = { .headers = out, .raw_name = raw_name };

	add_all(m, message, &to);
	return to.two_names;
}

bool
mirror_unfit(const struct mirror *m, const struct frame *call, struct buf *name)
{
	struct sink to = { .unfit = name };

	if (m->n > 0)
		add_all(m, call, &to);
	return name->n > 0;
}

bool
mirror_left_out(const struct mirror *m, const struct frame *message,
    struct buf *name)
{
	struct sink to = { .left_out = name };
	size_t before = name->n;

	add_all(m, message, &to);
	return name->n > before;
}

/* --- the value of a header --- */

/*
 * The values of mirrored headers. A value consists of 0x20 to 0x7E without
 * blanks around it, whatever the message says: other strings are wrapped, and
 * numbers and words have no other bytes. Numbers are read by their digits,
 * never as doubles.
 */

#define WRAP_BEGIN "=?base64?"
#define WRAP_END "?="
#define SAFE_MAX ((UINT64_C(1) << 53) - 1)
#define SAFE_DIGITS 16 /* number of digits in SAFE_MAX */
/* More digits than a message can have. */
#define EXPONENT_MAX INT64_C(1000000000000)

/* Some HTTP stacks drop empty headers, and all drop the blanks around a
 * value. */
bool
mirror_is_plain(struct span s)
{
	return s.n > 0 && s.p[0] != ' ' && s.p[s.n - 1] != ' ' &&
	    span_is_printable(s, ' ');
}

/* Would a server take the string for a wrapped one? */
static bool
looks_wrapped(struct span s)
{
	static const struct span begin = { WRAP_BEGIN, sizeof WRAP_BEGIN - 1 };
	static const struct span end = { WRAP_END, sizeof WRAP_END - 1 };

	return s.n >= begin.n && memcmp(s.p, begin.p, begin.n) == 0 &&
	    memcmp(s.p + s.n - end.n, end.p, end.n) == 0;
}

/* Each write_ function appends a value for a header, or returns -1 if there is
 * none. */
static int
write_string(struct buf *out, struct span raw)
{
	struct buf text;
	int status;

	buf_init(&text, BOUND_HEADER_BYTES);
	status = json_string(raw, &text);
	if (status != 0) {
		buf_free(&text);
		return -1;
	}
	if (mirror_is_plain(buf_span(&text)) &&
	    !looks_wrapped(buf_span(&text))) {
		buf_addspan(out, buf_span(&text));
	} else {
		buf_adds(out, WRAP_BEGIN);
		codec_base64(out, buf_span(&text));
		buf_adds(out, WRAP_END);
	}
	buf_free(&text);
	return 0;
}

/* Reads the exponent of a number, from the byte after the e. */
static int64_t
read_exponent(const char *p, const char *end)
{
	bool minus = p < end && *p == '-';
	int64_t value = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end; p++)
		if (value < EXPONENT_MAX)
			value = value * 10 + (*p - '0');
	return minus ? -value : value;
}

/* A JSON number as digits: those from the first to the last one that is not 0
 * (as far as they fit), how many these are, and how many digits there are
 * before the point, counted from the same first one. */
struct decimal {
	uint64_t digits;
	int64_t n, whole;
};

static struct decimal
read_decimal(struct span raw)
{
	const char *p = raw.p, *end = raw.p + raw.n;
	struct decimal d = { 0, 0, 0 };
	bool point = false;
	int64_t zeros = 0; /* zeros since the last other digit */

	for (; p < end && *p != 'e' && *p != 'E'; p++) {
		if (*p == '.')
			point = true;
		if (*p < '0' || *p > '9')
			continue;
		/* Leading zeros count only after the point. */
		if (*p != '0' || d.n != 0)
			d.whole += !point;
		else
			d.whole -= point;
		if (*p == '0') {
			zeros++;
			continue;
		}
		d.n += d.n == 0 ? 1 : zeros + 1;
		for (; zeros > 0 && d.n <= SAFE_DIGITS; zeros--)
			d.digits *= 10;
		zeros = 0;
		if (d.n <= SAFE_DIGITS)
			d.digits = d.digits * 10 + (uint64_t)(*p - '0');
	}
	if (p < end)
		d.whole += read_exponent(p + 1, end);
	return d;
}

/* Writes integers in decimal: 1.0 and 1e3 are integers too, and -0 is 0. An
 * integer that a double cannot tell from its neighbours has no value, nor has
 * any other number. */
static int
write_number(struct buf *out, struct span raw)
{
	struct decimal d = read_decimal(raw);

	if (d.n == 0)
		return buf_addc(out, '0');
	if (d.n > d.whole || d.whole > SAFE_DIGITS)
		return -1;
	for (; d.n < d.whole; d.n++)
		d.digits *= 10;
	if (d.digits > SAFE_MAX)
		return -1;
	return buf_addf(out, "%s%" PRIu64, raw.p[0] == '-' ? "-" : "",
	    d.digits);
}

static int
write_any(struct buf *out, struct span raw)
{
	switch (json_kind(raw)) {
	case '"':
		return write_string(out, raw);
	case 't':
	case 'f':
		return buf_addspan(out, raw);
	case '\0':
	case 'n':
	case '{':
	case '[':
		return -1;
	default:
		return write_number(out, raw);
	}
}

int
mirror_value(struct buf *out, struct span raw)
{
	size_t before = out->n;

	if (write_any(out, raw) == 0 && out->n - before <= BOUND_HEADER_BYTES)
		return 0;
	out->n = before;
	return -1;
}
