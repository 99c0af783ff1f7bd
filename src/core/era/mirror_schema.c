/*
 * Walks through an inputSchema. Every place is visited where JSON Schema has a
 * schema, so that an annotation is also found if no chain of "properties" leads
 * to it. Other text is data: a property named x-mcp-header, and the values of
 * const, enum, default, examples and unknown keywords. References are not
 * followed.
 *
 * The schemas wait in a queue, so that depth costs no stack and the children of
 * a node are numbered in a row. Each level is read once more, which the budget
 * bounds. As in JSON.parse, the last member of a name counts. A tool that
 * passes a limit is neither valid nor invalid: it is passed on and not
 * mirrored.
 */
#include "config.h"

#include "core/era/parts.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/headers.h"
#include "core/wire/json.h"

enum { KEYWORD_BYTES = 32 };

#define ANNOTATION "x-mcp-header"
#define PREFIX "Mcp-Param-"
#define NOWHERE SIZE_MAX

/* The keywords that hold schemas or annotations. A map has a schema in each
 * member. */
enum { KEY_ANNOTATION, KEY_TYPE, KEY_PROPERTIES, KEY_OTHERS };

#define KEYWORD(text, is_map)                                                  \
	{                                                                      \
		.name = { text, sizeof text - 1 }, .map = is_map               \
	}

static const struct {
	struct span name;
	bool map;
} keywords[] = {
	[KEY_ANNOTATION] = KEYWORD(ANNOTATION, false),
	[KEY_TYPE] = KEYWORD("type", false),
	[KEY_PROPERTIES] = KEYWORD("properties", true),
	[KEY_OTHERS] = KEYWORD("$defs", true),
	KEYWORD("definitions", true),
	KEYWORD("dependencies", true),
	KEYWORD("dependentSchemas", true),
	KEYWORD("patternProperties", true),
	KEYWORD("additionalItems", false),
	KEYWORD("additionalProperties", false),
	KEYWORD("allOf", false),
	KEYWORD("anyOf", false),
	KEYWORD("contains", false),
	KEYWORD("contentSchema", false),
	KEYWORD("else", false),
	KEYWORD("if", false),
	KEYWORD("items", false),
	KEYWORD("not", false),
	KEYWORD("oneOf", false),
	KEYWORD("prefixItems", false),
	KEYWORD("propertyNames", false),
	KEYWORD("then", false),
	KEYWORD("unevaluatedItems", false),
	KEYWORD("unevaluatedProperties", false),
};

enum { KEYWORDS = sizeof keywords / sizeof *keywords };

/* A schema in the queue. */
struct task {
	struct span value;
	struct span key; /* raw name of its property */
	size_t parent;   /* step of the parent property, or NOWHERE */
};

/* A property that has an annotation, or has properties that may have one. */
struct step {
	struct span key;
	size_t parent;
	char *header;
	bool used;
	size_t node;
};

struct walk {
	struct task *tasks;
	size_t n, room;
	struct step *steps;
	size_t n_steps, steps_room;
	struct headers seen; /* the header tokens so far, as names */
	size_t *budget;
	bool too_much;
	const char *why;
};

struct member {
	struct span key, value;
	size_t at;
};

/* Can the schema contain an annotation? Only \u can hide the word. For most
 * tools this is all the work. */
static bool
may_have_annotation(struct span schema)
{
	return json_kind(schema) == '{' &&
	    (span_find(schema, ANNOTATION) != NULL ||
		span_find(schema, "\\u") != NULL);
}

static void
push(struct walk *w, struct task task)
{
	if (!may_have_annotation(task.value))
		return;
	if (w->n == BOUND_MANY || task.value.n > *w->budget) {
		w->too_much = true;
		return;
	}
	if (w->n == w->room) {
		w->room = w->room == 0 ? 64 : w->room * 2;
		w->tasks = xrealloc(w->tasks, w->room * sizeof *w->tasks);
	}
	*w->budget -= task.value.n;
	w->tasks[w->n++] = task;
}

static size_t
add_step(struct walk *w, const struct task *task)
{
	if (w->n_steps == w->steps_room) {
		w->steps_room = w->steps_room == 0 ? 16 : w->steps_room * 2;
		w->steps = xrealloc(w->steps, w->steps_room * sizeof *w->steps);
	}
	w->steps[w->n_steps] = (struct step){ .key = task->key,
		.parent = task->parent };
	return w->n_steps++;
}

bool
mirror_key(struct span *key, struct buf *out)
{
	size_t before = out->n;

	if (key->n == 0 || memchr(key->p, '\\', key->n) == NULL)
		return true;
	if (json_string((struct span){ key->p - 1, key->n + 2 }, out) != 0)
		return false;
	*key = (struct span){ out->p + before, out->n - before };
	return true;
}

static void
read_keywords(struct span schema, struct span found[KEYWORDS])
{
	struct span key, value;
	struct buf text;
	size_t at = 0, i;

	memset(found, 0, KEYWORDS * sizeof *found);
	buf_init(&text, KEYWORD_BYTES);
	while (json_next(schema, &at, &key, &value)) {
		buf_reset(&text);
		if (!mirror_key(&key, &text))
			continue;
		for (i = 0; i < KEYWORDS; i++)
			if (span_eq(key, keywords[i].name))
				found[i] = value;
	}
	buf_free(&text);
}

/* Sorts by name, and puts the last one of a name first. */
static int
compare(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	int order = 0;

	if (a->key.n != b->key.n)
		return a->key.n < b->key.n ? -1 : 1;
	if (a->key.n != 0)
		order = memcmp(a->key.p, b->key.p, a->key.n);
	if (order != 0)
		return order;
	return a->at > b->at ? -1 : a->at < b->at;
}

/* Reads all members of a map in their order. Returns their number, or
 * BOUND_MANY + 1 for too many. The caller frees *list. */
static size_t
read_members(struct span map, struct member **list)
{
	struct member one;
	size_t n = 0, room = 0, at = 0;

	*list = NULL;
	while (json_next(map, &at, &one.key, &one.value)) {
		one.at = n;
		if (n == BOUND_MANY)
			return n + 1;
		if (n == room) {
			room = room == 0 ? 16 : room * 2;
			*list = xrealloc(*list, room * sizeof **list);
		}
		(*list)[n++] = one;
	}
	return n;
}

/* Queues the schema of each name in the map. */
static void
push_map(struct walk *w, struct span map, size_t parent)
{
	struct member *list;
	struct span *raw, key;
	struct buf text;
	size_t i, n;

	n = read_members(map, &list);
	if (n > BOUND_MANY) {
		w->too_much = true;
		free(list);
		return;
	}
	/* Decoding never makes a string longer, so text never moves. */
	buf_init(&text, map.n);
	buf_reserve(&text, map.n);
	raw = xcalloc(n + 1, sizeof *raw);
	for (i = 0; i < n; i++) {
		raw[i] = list[i].key;
		mirror_key(&list[i].key, &text);
	}
	if (n > 1)
		qsort(list, n, sizeof *list, compare);
	for (i = 0; i < n; i++) {
		key = raw[list[i].at];
		if (i == 0 || !span_eq(list[i].key, list[i - 1].key))
			push(w, (struct task){ list[i].value, key, parent });
	}
	free(raw);
	free(list);
	buf_free(&text);
}

/* Queues the schema or the schemas of a keyword. */
static void
push_keyword(struct walk *w, struct span value, size_t keyword)
{
	struct task task = { value, { NULL, 0 }, NOWHERE };
	struct span key;
	size_t at = 0;

	if (json_kind(value) == '{' && keywords[keyword].map) {
		push_map(w, value, NOWHERE);
	} else if (json_kind(value) == '[' && !keywords[keyword].map) {
		while (!w->too_much && json_next(value, &at, &key, &task.value))
			push(w, task);
	} else {
		push(w, task);
	}
}

static bool
is_mirrored_type(struct span type)
{
	return json_string_is(type, "string") ||
	    json_string_is(type, "integer") || json_string_is(type, "boolean");
}

/* Is the type a mirrored one, or a list of one such type and null? */
static bool
has_mirrored_type(struct span type)
{
	struct span key, one;
	size_t at = 0, n = 0;

	if (json_kind(type) != '[')
		return is_mirrored_type(type);
	while (json_next(type, &at, &key, &one)) {
		if (is_mirrored_type(one))
			n++;
		else if (!json_string_is(one, "null"))
			return false;
	}
	return n == 1;
}

/* Checks an annotation's token, also against the earlier ones. Returns NULL, or
 * why it is invalid. */
static const char *
check_token(struct walk *w, struct span value, struct buf *token)
{
	static const struct span none = { "", 0 };

	if (json_kind(value) != '"')
		return "its " ANNOTATION " is not a string";
	if (json_string(value, token) != 0 || w->seen.n == BOUND_FEW) {
		w->too_much = true;
		return NULL;
	}
	if (token->n == 0)
		return "its " ANNOTATION " is empty";
	if (headers_get(&w->seen, buf_str(token)) != NULL)
		return "two of its " ANNOTATION " annotations are the same";
	if (headers_add(&w->seen, buf_span(token), none, false) != 0)
		return "its " ANNOTATION " is not a valid header name";
	return NULL;
}

/* Sets the header of a property. Returns NULL, or why there can be none. */
static const char *
annotate(struct walk *w, const struct span found[KEYWORDS], size_t step)
{
	const char *why;
	struct buf token;

	/* The first step is the root. */
	if (step == NOWHERE || step == 0)
		return "its " ANNOTATION " is not on a plain property";
	buf_init(&token, BOUND_HEADER_NAME_BYTES);
	why = check_token(w, found[KEY_ANNOTATION], &token);
	if (why == NULL && !has_mirrored_type(found[KEY_TYPE]))
		why = "its " ANNOTATION
		      " is not on a string, an integer or a boolean";
	if (why == NULL && !w->too_much)
		w->steps[step].header = xasprintf(PREFIX "%s", buf_str(&token));
	buf_free(&token);
	return why;
}

static void
visit(struct walk *w, struct task task)
{
	struct span found[KEYWORDS];
	size_t step = NOWHERE, i;

	read_keywords(task.value, found);
	if (w->n_steps == 0 ||
	    (task.parent != NOWHERE &&
		(found[KEY_ANNOTATION].p != NULL ||
		    json_kind(found[KEY_PROPERTIES]) == '{')))
		step = add_step(w, &task);
	if (found[KEY_ANNOTATION].p != NULL)
		w->why = annotate(w, found, step);
	if (json_kind(found[KEY_PROPERTIES]) == '{')
		push_map(w, found[KEY_PROPERTIES], step);
	for (i = KEY_OTHERS; i < KEYWORDS; i++)
		if (found[i].p != NULL)
			push_keyword(w, found[i], i);
}

/* Marks and numbers the steps that lead to a header. Returns their number. */
static size_t
number_steps(struct walk *w)
{
	size_t i, n = 0;

	for (i = w->n_steps; i-- > 0;) {
		struct step *s = &w->steps[i];

		if (s->header != NULL)
			s->used = true;
		if (s->used && i != 0)
			w->steps[s->parent].used = true;
	}
	for (i = 0; i < w->n_steps; i++)
		if (w->steps[i].used)
			w->steps[i].node = n++;
	return n;
}

/* Copies a step to its node. Returns 0, or -1 if its key is too long. */
static int
place(struct mirror_plan *plan, struct walk *w, struct step *s)
{
	struct mirror_node *node = &plan->nodes[s->node], *parent;

	buf_init(&node->key, BOUND_NAME_BYTES);
	node->header = s->header;
	s->header = NULL;
	plan->size += sizeof *node + s->key.n + BOUND_HEADER_NAME_BYTES;
	if (s->node == 0)
		return 0;
	parent = &plan->nodes[w->steps[s->parent].node];
	if (parent->count++ == 0)
		parent->first = s->node;
	return json_string((struct span){ s->key.p - 1, s->key.n + 2 },
	    &node->key);
}

/* Makes the plan; NULL if there is nothing to mirror or too much. */
static struct mirror_plan *
make_plan(struct walk *w)
{
	struct mirror_plan *plan;
	bool fits = true;
	size_t i, n;

	n = number_steps(w);
	if (n == 0 || n > BOUND_SOME)
		return NULL;
	plan = xcalloc(1, sizeof *plan + n * sizeof *plan->nodes);
	plan->n = n;
	plan->size = sizeof *plan;
	for (i = 0; i < w->n_steps; i++)
		if (w->steps[i].used && place(plan, w, &w->steps[i]) != 0)
			fits = false;
	if (fits)
		return plan;
	mirror_plan_free(plan);
	return NULL;
}

void
mirror_plan_free(struct mirror_plan *plan)
{
	size_t i;

	if (plan == NULL)
		return;
	for (i = 0; i < plan->n; i++) {
		buf_free(&plan->nodes[i].key);
		free(plan->nodes[i].header);
	}
	free(plan);
}

const char *
mirror_schema_read(struct span schema, size_t *budget,
    struct mirror_plan **plan)
{
	struct walk w = { .budget = budget };
	size_t i;

	*plan = NULL;
	headers_init(&w.seen);
	push(&w, (struct task){ schema, { NULL, 0 }, NOWHERE });
	for (i = 0; i < w.n && !w.too_much && w.why == NULL; i++)
		visit(&w, w.tasks[i]);
	if (!w.too_much && w.why == NULL)
		*plan = make_plan(&w);
	for (i = 0; i < w.n_steps; i++)
		free(w.steps[i].header);
	free(w.steps);
	free(w.tasks);
	headers_free(&w.seen);
	return w.why;
}
