
#include "config.h"

#include "tools/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/mem.h"
#include "core/wire/json.h"

enum { DEPTH = 512, SHOWN = 60 /* bytes of a wrong value */ };

/* --- words --- */

/* The schema of one member; absent: it is not known. */
static struct span
member_schema(struct span schema, struct span name)
{
	struct span fields = json_get(schema, "properties"), key, field;
	size_t at = 0;

	while (json_kind(fields) == '{' && json_next(fields, &at, &key, &field))
		if (span_eq(key, name))
			return field;
	return no_span;
}

static bool
is_type(struct span schema, const char *type)
{
	struct span types = json_get(schema, "type"), key, one;
	size_t at = 0;

	if (json_kind(types) != '[')
		return json_string_is(types, type);
	while (json_next(types, &at, &key, &one))
		if (json_string_is(one, type))
			return true;
	return false;
}

static bool
is_number(struct span text)
{
	return text.n > 0 && strchr("-0123456789", text.p[0]) != NULL &&
	    json_check(text, 1, NULL, NULL, NULL) == JSON_OK;
}

/* Appends key=value. */
static void
add_text(struct buf *out, struct span value, struct span schema)
{
	bool plain = (is_type(schema, "number") || is_type(schema, "integer")) ?
	    is_number(value) :
	    is_type(schema, "boolean") &&
		(span_is(value, "true") || span_is(value, "false"));

	if (plain)
		buf_addspan(out, value);
	else
		codec_json_string(out, value);
}

/* Finds key in key=value and key:=json; n 0: the word is neither. */
static struct span
name_of(const char *word)
{
	const char *equals = strchr(word, '=');
	struct span name = { word,
		equals == NULL ? 0 : (size_t)(equals - word) };

	name.n -= name.n > 0 && word[name.n - 1] == ':';
	return name;
}

/* Is this the value of the only argument that there is, without its name? It is
 * if it cannot be a name itself. */
static bool
is_bare(const char *word, struct span schema, struct span *key)
{
	struct span fields = json_get(schema, "properties"), more, field;
	struct span name = name_of(word);
	size_t at = 0;

	return json_kind(fields) == '{' && strcmp(word, "-") != 0 &&
	    (name.n == 0 || name.n != strcspn(word, " /=:")) &&
	    json_next(fields, &at, key, &field) &&
	    !json_next(fields, &at, &more, &field);
}

static int
add_word(const char *word, struct span schema, struct buf *out, char **why)
{
	struct span name = name_of(word), value;
	const char *equals = strchr(word, '=');
	bool json = name.n > 0 && word[name.n] == ':';

	if (name.n == 0) {
		*why = xasprintf("\"%.60s\" is not an argument: write "
				 "key=value, key:=JSON, or all as a JSON "
				 "object",
		    word);
		return -1;
	}
	value = span_of(equals + 1);
	if (json && json_check(value, DEPTH, NULL, NULL, NULL) != JSON_OK) {
		*why = xasprintf("%.*s: this is not JSON; for a text write "
				 "%.*s=...",
		    (int)name.n, name.p, (int)name.n, name.p);
		return -1;
	}
	if (out->p[out->n - 1] != '{')
		buf_addc(out, ',');
	codec_json_string(out, name);
	buf_addc(out, ':');
	if (json)
		buf_addspan(out, value);
	else
		add_text(out, value, member_schema(schema, name));
	return 0;
}

/* Refuses the word at i if one before it has the same name: JSON leaves open
 * which of the two would count. */
static int
check_once(char *const *words, size_t i, char **why)
{
	struct span name = name_of(words[i]);
	size_t j;

	for (j = 0; j < i; j++)
		if (span_eq(name_of(words[j]), name)) {
			*why = xasprintf("%.*s is given twice", (int)name.n,
			    name.p);
			return -1;
		}
	return 0;
}

/* A message is one line: line breaks, which can only stand between tokens,
 * become blanks. */
static void
join_lines(struct buf *b, size_t from)
{
	for (; from < b->n; from++)
		if (b->p[from] == '\n' || b->p[from] == '\r')
			b->p[from] = ' ';
}

int
arguments_read(char *const *words, size_t n, struct span text,
    struct span schema, struct buf *out, char **why)
{
	bool from_stdin = n == 1 && strcmp(words[0], "-") == 0;
	size_t i, from = out->n;
	struct span key;

	if (n == 1 && !from_stdin)
		text = span_of(words[0]);
	text = span_trim(text, " \t\r\n");
	if (from_stdin || (n == 1 && json_kind(text) == '{')) {
		buf_addspan(out, text);
		join_lines(out, from);
		if (json_kind(text) == '{' &&
		    json_check(text, DEPTH, NULL, NULL, NULL) == JSON_OK)
			return 0;
		*why = xstrdup("there is no JSON object with the arguments");
		return -1;
	}
	buf_addc(out, '{');
	if (n == 1 && is_bare(words[0], schema, &key)) {
		buf_addf(out, "\"%.*s\":", (int)key.n, key.p);
		add_text(out, span_of(words[0]), member_schema(schema, key));
		n = 0;
	}
	for (i = 0; i < n; i++)
		if (check_once(words, i, why) != 0 ||
		    add_word(words[i], schema, out, why) != 0)
			return -1;
	buf_addc(out, '}');
	join_lines(out, from);
	return 0;
}

/* --- the check --- */

/* Appends the names of the schema's members, "a, b and c" without the "and". */
static void
add_names(struct buf *out, struct span schema)
{
	struct span fields = json_get(schema, "properties"), key, field;
	size_t at = 0;
	bool first = true;

	while (json_kind(fields) == '{' &&
	    json_next(fields, &at, &key, &field)) {
		buf_addf(out, "%s%.*s", first ? "" : ", ", (int)key.n, key.p);
		first = false;
	}
	if (first)
		buf_adds(out, "none");
}

/* JSON Schema calls 1.0 and 1e2 integers too: only a fraction that is not zero
 * is refused here. */
static bool
may_be_integer(struct span number)
{
	const char *dot = memchr(number.p, '.', number.n);
	size_t at;

	if (dot == NULL || memchr(number.p, 'e', number.n) != NULL ||
	    memchr(number.p, 'E', number.n) != NULL)
		return true;
	for (at = (size_t)(dot - number.p) + 1; at < number.n; at++)
		if (number.p[at] != '0')
			return false;
	return true;
}

static bool
fits_type(struct span value, struct span schema)
{
	switch (json_kind(value)) {
	case '"':
		return is_type(schema, "string");
	case '{':
		return is_type(schema, "object");
	case '[':
		return is_type(schema, "array");
	case 't':
	case 'f':
		return is_type(schema, "boolean");
	case 'n':
		return is_type(schema, "null");
	default:
		return is_type(schema, "number") ||
		    (is_type(schema, "integer") && may_be_integer(value));
	}
}

static bool
is_listed(struct span list, struct span value)
{
	struct span key, one;
	struct buf a, b;
	size_t at = 0;
	bool same = false;

	buf_init(&a, 0);
	buf_init(&b, 0);
	if (json_kind(value) == '"')
		json_string(value, &a);
	while (!same && json_next(list, &at, &key, &one)) {
		buf_reset(&b);
		if (json_kind(value) == '"' && json_kind(one) == '"')
			same = json_string(one, &b) == 0 &&
			    span_eq(buf_span(&a), buf_span(&b));
		else
			same = span_eq(one, value);
	}
	buf_free(&a);
	buf_free(&b);
	return same;
}

/* May an object have members of which the schema says nothing? JSON Schema says
 * yes if it says nothing, but then such a name is mostly a typing error. */
static bool
takes_any(struct span schema)
{
	struct span more = json_get(schema, "additionalProperties");

	return json_get(schema, "properties").p == NULL ||
	    span_is(more, "true") || json_kind(more) == '{';
}

/* The first type that the schema names. */
static struct span
type_of(struct span schema)
{
	struct span type = json_get(schema, "type"), key, one;
	size_t at = 0;

	if (json_kind(type) == '[' && json_next(type, &at, &key, &one))
		type = one;
	return json_kind(type) == '"' ?
	    (struct span){ type.p + 1, type.n - 2 } :
	    span_of("JSON");
}

void
arguments_show(struct span schema, struct span name, struct buf *out)
{
	struct span field = member_schema(schema, name), key, one;
	struct span list = json_get(field, "enum");
	struct span required = json_get(schema, "required");
	/* raw, with its quotes */
	bool must = json_kind(required) == '[' &&
	    is_listed(required, (struct span){ name.p - 1, name.n + 2 });
	size_t at = 0, start;

	buf_addf(out, "%s%.*s%s=", must ? "" : "[", (int)name.n, name.p,
	    is_type(field, "array") || is_type(field, "object") ? ":" : "");
	start = out->n;
	while (json_kind(list) == '[' && json_next(list, &at, &key, &one)) {
		buf_adds(out, out->n > start ? "|" : "");
		if (json_string(one, out) != 0)
			buf_addspan(out, one);
	}
	if (out->n == start)
		buf_addspan(out, type_of(field));
	buf_adds(out, must ? "" : "]");
}

static int
check_member(struct span name, struct span value, struct span schema,
    char **why)
{
	struct span field = member_schema(schema, name);
	struct span list = json_get(field, "enum"), type = type_of(field);
	struct buf names;

	if (field.p == NULL) {
		if (takes_any(schema))
			return 0;
		buf_init(&names, 0);
		add_names(&names, schema);
		*why = xasprintf("the tool has no argument \"%.*s\"; it has: "
				 "%s",
		    (int)name.n, name.p, buf_str(&names));
		buf_free(&names);
		return -1;
	}
	if (json_get(field, "type").p != NULL && !fits_type(value, field)) {
		*why = xasprintf("%.*s must be a%s %.*s, and %.*s%s is not "
				 "one%s",
		    (int)name.n, name.p, strchr("aio", *type.p) ? "n" : "",
		    (int)type.n, type.p, value.n > SHOWN ? SHOWN : (int)value.n,
		    value.p, value.n > SHOWN ? "..." : "",
		    strchr("ao", *type.p) != NULL ? "; write NAME:=JSON" : "");
		return -1;
	}
	if (json_kind(list) == '[' && !is_listed(list, value)) {
		*why = xasprintf("%.*s has to be one of %.*s", (int)name.n,
		    name.p, (int)list.n, list.p);
		return -1;
	}
	return 0;
}

static int
check_required(struct span arguments, struct span schema, char **why)
{
	struct span list = json_get(schema, "required"), key, one;
	struct buf name, missing;
	size_t at = 0;

	buf_init(&name, 0);
	buf_init(&missing, 0);
	while (json_kind(list) == '[' && json_next(list, &at, &key, &one)) {
		buf_reset(&name);
		if (json_string(one, &name) != 0 ||
		    json_get(arguments, buf_str(&name)).p != NULL)
			continue;
		buf_addf(&missing, " \"%s\"", buf_str(&name));
	}
	if (missing.n > 0)
		*why = xasprintf("missing arguments:%s", buf_str(&missing));
	buf_free(&name);
	buf_free(&missing);
	return *why == NULL ? 0 : -1;
}

int
arguments_check(struct span arguments, struct span schema, char **why)
{
	struct span name, value;
	size_t at = 0;

	while (json_next(arguments, &at, &name, &value))
		if (check_member(name, value, schema, why) != 0)
			return -1;
	return check_required(arguments, schema, why);
}
