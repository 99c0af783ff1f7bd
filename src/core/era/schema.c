/*
 * A tool's outputSchema that is no object's, wrapped for a legacy client,
 * whose protocol allows only objects (protocol of 2025-06-18 on).
 *
 * The schema moves from the root to /properties/result, so references to the
 * root follow it. A $ref is one only where a schema stands: not a property of
 * that name, not in data. One pass over checked JSON, which keeps its own
 * stack of bounded depth; a schema that is nested deeper, or would change its
 * meaning, is not wrapped.
 */
#include "config.h"

#include "base/codec.h"
#include "core/era/parts.h"
#include "core/wire/json.h"

enum { SCHEMA_DEPTH = 64 };

/* What an object or array in a schema holds. */
enum place {
	SCHEMAS, /* it is a schema, or an array of them */
	NAMED,   /* its members are schemas under names of the author */
	DATA
};

struct level {
	bool object;
	enum place place;
};

struct walk {
	const char *p, *end;
	struct level levels[SCHEMA_DEPTH];
	size_t depth;
	size_t data;      /* open containers that hold only data */
	bool named;       /* a key was read, its value comes next */
	struct span key;  /* that key */
	const char *done; /* up to here it was copied */
	struct buf *out;  /* NULL: only look */
};

struct keyword {
	const char *name;
	enum place place;
};

/* Those whose value is not just a schema or an array of them. */
static const struct keyword keywords[] = {
	{ "$defs", NAMED },
	{ "const", DATA },
	{ "default", DATA },
	{ "definitions", NAMED },
	{ "dependencies", NAMED },
	{ "dependentSchemas", NAMED },
	{ "enum", DATA },
	{ "example", DATA },
	{ "examples", DATA },
	{ "patternProperties", NAMED },
	{ "properties", NAMED },
};

static enum place
place_of(struct span key)
{
	size_t i;

	for (i = 0; i < ERA_EDITS(keywords); i++) {
		if (json_key_is(key, keywords[i].name))
			return keywords[i].place;
	}
	return SCHEMAS;
}

/* Copies up to value, and text instead of it. */
static void
replace(struct walk *w, struct span value, struct span text)
{
	if (w->out == NULL)
		return;
	buf_add(w->out, w->done, (size_t)(value.p - w->done));
	codec_json_string(w->out, text);
	w->done = value.p + value.n;
}

/* A reference to the root, or down from it by a path, gets the new place. One
 * to an anchor or to another document means the same wherever it stands. */
static void
move_reference(struct walk *w, struct span value)
{
	struct buf text, moved;

	buf_init(&text, 0);
	buf_init(&moved, 0);
	if (json_string(value, &text) == 0 && text.n > 0 && text.p[0] == '#' &&
	    (text.n == 1 || text.p[1] == '/')) {
		buf_adds(&moved, "#/properties/result");
		buf_add(&moved, text.p + 1, text.n - 1);
		replace(w, value, buf_span(&moved));
	}
	buf_free(&text);
	buf_free(&moved);
}

/* Is it an id, from which references start? One that is only a fragment is
 * how older drafts write an anchor. */
static bool
is_base(struct span id)
{
	return json_kind(id) == '"' && id.p[1] != '#';
}

/* Does this keyword make references mean something that is not known here? An
 * id of the root did not come to the walk, or it is empty. */
static bool
is_strange(struct span key, struct span value)
{
	return json_key_is(key, "$recursiveRef") ||
	    (json_key_is(key, "$id") && is_base(value));
}

/* Steps over the string at p; returns it with its quotes. */
static struct span
read_string(struct walk *w)
{
	const char *start = w->p++;

	while (w->p < w->end && *w->p != '"')
		w->p += *w->p == '\\' ? 2 : 1;
	w->p = w->p < w->end ? w->p + 1 : w->end;
	return (struct span){ start, (size_t)(w->p - start) };
}

/* Is the innermost container a schema? */
static bool
in_schema(const struct walk *w)
{
	const struct level *top;

	if (w->depth == 0 || w->data > 0)
		return false;
	top = &w->levels[w->depth - 1];
	return top->object && top->place == SCHEMAS;
}

/* A container begins. Returns false when it is too deep. */
static bool
enter(struct walk *w)
{
	enum place place = in_schema(w) ? place_of(w->key) : SCHEMAS;

	if (w->data > 0 || place == DATA) {
		w->data++;
	} else if (w->depth == SCHEMA_DEPTH) {
		return false;
	} else {
		w->levels[w->depth].object = *w->p == '{';
		w->levels[w->depth++].place = place;
	}
	w->named = false;
	w->p++;
	return true;
}

static void
leave(struct walk *w)
{
	if (w->data > 0)
		w->data--;
	else if (w->depth > 0)
		w->depth--;
	w->p++;
}

/* A key, or a string as a value. Returns false when the schema cannot be
 * wrapped because of it. */
static bool
visit_string(struct walk *w)
{
	struct span value = read_string(w);

	if (w->depth == 0 || w->data > 0)
		return true;
	if (w->levels[w->depth - 1].object && !w->named) {
		w->key = (struct span){ value.p + 1, value.n - 2 };
		w->named = true;
		return true;
	}
	if (!in_schema(w))
		return true;
	if (is_strange(w->key, value))
		return false;
	if (json_key_is(w->key, "$ref") || json_key_is(w->key, "$dynamicRef"))
		move_reference(w, value);
	return true;
}

/* Up to the next token that means something. */
static bool
step(struct walk *w)
{
	switch (*w->p) {
	case '"':
		return visit_string(w);
	case '{':
	case '[':
		return enter(w);
	case '}':
	case ']':
		leave(w);
		return true;
	case ',':
		w->named = false;
		break;
	default:
		break;
	}
	w->p++;
	return true;
}

/* Appends the schema (unless out is NULL) with its references moved. */
static bool
move_references(struct buf *out, struct span schema)
{
	struct walk w = { .p = schema.p,
		.end = schema.p + schema.n,
		.done = schema.p,
		.out = out };

	while (w.p < w.end) {
		if (!step(&w))
			return false;
	}
	if (out != NULL)
		buf_add(out, w.done, (size_t)(w.end - w.done));
	return true;
}

/* Is it a schema at all, and none of an object? */
static bool
is_foreign(struct span schema)
{
	if (json_kind(schema) == '{')
		return !json_string_is(json_get(schema, "type"), "object");
	return json_kind(schema) == 't' || json_kind(schema) == 'f';
}

/* With an id of its own the root is where references start, wherever it
 * stands. */
static bool
has_id(struct span schema)
{
	struct span id = json_get(schema, "$id");

	return is_base(id) && id.n > 2;
}

bool
era_wraps(struct span output_schema)
{
	return is_foreign(output_schema) &&
	    (has_id(output_schema) || move_references(NULL, output_schema));
}

/* Appends what stands under "result". */
static bool
add_attempt(struct buf *out, struct span schema)
{
	static const struct edit edit = { "$schema", { NULL, 0 } };
	struct buf plain;
	bool done;

	buf_init(&plain, 0);
	edit_object(&plain, schema, &edit, 1);
	if (has_id(schema)) {
		buf_addspan(out, buf_span(&plain));
		done = true;
	} else {
		done = move_references(out, buf_span(&plain));
	}
	buf_free(&plain);
	return done;
}

bool
era_wrap_schema(struct buf *out, struct span schema)
{
	struct span dialect = json_get(schema, "$schema");

	if (!is_foreign(schema))
		return false;
	buf_addc(out, '{');
	if (dialect.p != NULL) {
		buf_adds(out, "\"$schema\":");
		buf_addspan(out, dialect);
		buf_addc(out, ',');
	}
	buf_adds(out, "\"type\":\"object\",\"properties\":{\"result\":");
	if (!add_attempt(out, schema))
		return false;
	buf_adds(out, "},\"required\":[\"result\"]}");
	return true;
}
