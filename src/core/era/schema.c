/*
 * Wraps a tool's outputSchema that is not an object's for a legacy client: the
 * legacy protocol allows only objects (from 2025-06-18 on).
 *
 * The schema moves from the root to /properties/result, so references to the
 * root have to move too. A $ref is a reference only inside a schema, not as the
 * name of a property and not in data. The walk is one pass over checked JSON
 * with a stack of bounded depth. A schema that is nested deeper, or would
 * change its meaning, is not wrapped.
 */
#include "config.h"

#include "base/bounds.h"
#include "base/codec.h"
#include "core/era/parts.h"
#include "core/wire/json.h"

/* The contents of an object or array in a schema. */
enum place {
	SCHEMAS, /* a schema, or an array of schemas */
	NAMED,   /* members that are schemas under names of the author */
	DATA
};

struct level {
	bool object;
	enum place place;
};

struct walk {
	const char *p, *end;
	struct level levels[BOUND_FEW];
	size_t depth;
	size_t data;      /* number of open containers that hold only data */
	bool named;       /* a key was read, and its value is next */
	struct span key;  /* that key */
	const char *done; /* everything before this was copied */
	struct buf *out;  /* NULL: only check */
};

struct keyword {
	const char *name;
	enum place place;
};

/* The keywords with another value than a schema or an array of schemas. */
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

/* Copies the text before value, and then text in place of value. */
static void
replace(struct walk *w, struct span value, struct span text)
{
	if (w->out == NULL)
		return;
	buf_add(w->out, w->done, (size_t)(value.p - w->done));
	codec_json_string(w->out, text);
	w->done = value.p + value.n;
}

/* Moves a reference to the root, or by a path from the root. A reference to an
 * anchor or to another document means the same at any place. */
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

/* Is it an id that changes the base of references? One that is only a fragment
 * is the anchor of older drafts. */
static bool
is_base(struct span id)
{
	return json_kind(id) == '"' && id.p[1] != '#';
}

/* Does this keyword change the meaning of references in an unknown way? The id
 * of the root is not part of the walk, or it is empty. */
static bool
is_strange(struct span key, struct span value)
{
	return json_key_is(key, "$recursiveRef") ||
	    (json_key_is(key, "$id") && is_base(value));
}

/* Steps over the string at p and returns it with its quotes. */
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

/* Enters a container. Returns false if it is too deep. */
static bool
enter(struct walk *w)
{
	enum place place = in_schema(w) ? place_of(w->key) : SCHEMAS;

	if (w->data > 0 || place == DATA) {
		w->data++;
	} else if (w->depth == BOUND_FEW) {
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

/* Takes a key, or a string as a value. Returns false if it keeps the schema
 * from being wrapped. */
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

/* Takes one token. Returns false if the schema cannot be wrapped. */
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

/* Appends the schema (unless out is NULL) with its references moved. Returns
 * false if it cannot be wrapped. */
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

/* Is it a schema, but not one of an object? */
static bool
is_foreign(struct span schema)
{
	if (json_kind(schema) == '{')
		return !json_string_is(json_get(schema, "type"), "object");
	return json_kind(schema) == 't' || json_kind(schema) == 'f';
}

/* Does the root have an id? References then start from that id at any place. */
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

/* Appends the schema for "result". Returns false if it cannot be wrapped. */
static bool
add_inner(struct buf *out, struct span schema)
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
	if (!add_inner(out, schema))
		return false;
	buf_adds(out, "},\"required\":[\"result\"]}");
	return true;
}
