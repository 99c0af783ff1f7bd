/*
 * "mcpsplice tools" and "mcpsplice call": the arguments of a call are read from
 * the command line and checked against the schema of the tool.
 */
#include "config.h"

#include "tools/command.h"

#include <errno.h>
#include <stdio.h>

#include "base/codec.h"
#include "core/wire/json.h"
#include "io/private_file.h"
#include "os/terminal.h"
#include "proxy/proxy.h"

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

/* How a value of this schema is written behind its name. */
static const char *
example(struct span schema)
{
	return is_type(schema, "array") ? ":='[\"x\"]'" :
	    is_type(schema, "object")   ? ":='{\"key\": \"x\"}'" :
					  "=... for text";
}

static int
add_word(const char *word, struct span schema, struct buf *out, char **why)
{
	struct span name = name_of(word), value;
	const char *equals = strchr(word, '=');
	bool json = name.n > 0 && word[name.n] == ':';

	if (name.n == 0)
		return fail_why(why,
		    "\"%.60s\" is not an argument: write key=value, key:=JSON, "
		    "or all as a JSON object in single quotes",
		    word);
	value = span_of(equals + 1);
	if (json && json_check(value, DEPTH, NULL, NULL, NULL) != JSON_OK)
		return fail_why(why, "%.60s is not valid JSON; write %.*s%s",
		    word, (int)name.n, name.p,
		    example(member_schema(schema, name)));
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

/* Refuses an object with a name twice: JSON leaves open which of the two would
 * count. */
static int
check_once(struct span object, char **why)
{
	struct span key, value;
	struct buf name = { 0 };
	size_t at = 0;
	int rc = 0;

	while (rc == 0 && json_next(object, &at, &key, &value)) {
		buf_reset(&name);
		json_string(json_quoted(key), &name);
		if (json_get(object, buf_str(&name)).p != value.p)
			rc = fail_why(why, "%s is given twice", buf_str(&name));
	}
	buf_free(&name);
	return rc;
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
	text = span_trim(span_unmarked(text), " \t\r\n");
	if (from_stdin && text.n == 0)
		return fail_why(why, "standard input was empty");
	if (from_stdin || (n == 1 && json_kind(text) == '{')) {
		buf_addspan(out, text);
		join_lines(out, from);
		if (json_kind(text) == '{' &&
		    json_check(text, DEPTH, NULL, NULL, NULL) == JSON_OK)
			return check_once(text, why);
		return fail_why(why,
		    "the arguments are not a JSON object such as "
		    "'{\"key\": \"value\"}'");
	}
	buf_addc(out, '{');
	if (n == 1 && is_bare(words[0], schema, &key)) {
		buf_addf(out, "\"%.*s\":", (int)key.n, key.p);
		add_text(out, span_of(words[0]), member_schema(schema, key));
		n = 0;
	}
	for (i = 0; i < n; i++)
		if (add_word(words[i], schema, out, why) != 0)
			return -1;
	buf_addc(out, '}');
	join_lines(out, from);
	return check_once((struct span){ out->p + from, out->n - from }, why);
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
	struct span rest = number;

	span_take(&rest, '.'); /* what is left is the fraction */
	for (; rest.n > 0 && *rest.p == '0'; rest.n--)
		rest.p++;
	return memchr(number.p, 'e', number.n) != NULL ||
	    memchr(number.p, 'E', number.n) != NULL || rest.n == 0;
}

static bool
fits_type(struct span value, struct span schema)
{
	static const char kinds[] = "\"{[tfn";
	static const char *const types[] = { "string", "object", "array",
		"boolean", "boolean", "null" };
	const char *kind = memchr(kinds, json_kind(value), sizeof kinds - 1);

	if (kind != NULL)
		return is_type(schema, types[kind - kinds]);
	return is_type(schema, "number") ||
	    (is_type(schema, "integer") && may_be_integer(value));
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

/* Appends an argument (by its raw name) for people: NAME=TYPE, or a|b for the
 * type; in brackets if it may be left out. It may have control characters. */
static void
arguments_show(struct span schema, struct span name, struct buf *out)
{
	struct span field = member_schema(schema, name), key, one;
	struct span list = json_get(field, "enum");
	struct span required = json_get(schema, "required");
	bool must = list_has(required, json_quoted(name));
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
	bool nested = strchr("ao", *type.p) != NULL;
	struct buf names = { 0 };

	if (field.p == NULL) {
		if (takes_any(schema))
			return 0;
		add_names(&names, schema);
		*why = xasprintf("the tool has no argument \"%.*s\"; it has: "
				 "%s",
		    (int)name.n, name.p, buf_str(&names));
		buf_free(&names);
		return -1;
	}
	if (json_get(field, "type").p != NULL && !fits_type(value, field))
		return fail_why(why, "%.*s must be %s%.*s, not %.*s%s%s%.*s%s",
		    (int)name.n, name.p,
		    span_is(type, "boolean")   ? "true or false" :
			strchr("aio", *type.p) ? "an " :
						 "a ",
		    span_is(type, "boolean") ? 0 : (int)type.n, type.p,
		    value.n > SHOWN ? SHOWN : (int)value.n, value.p,
		    value.n > SHOWN ? "..." : "", nested ? "; write " : "",
		    nested ? (int)name.n : 0, name.p,
		    nested ? example(field) : "");
	if (json_kind(list) == '[' && !list_has(list, value))
		return fail_why(why, "%.*s must be one of %.*s", (int)name.n,
		    name.p, (int)list.n, list.p);
	return 0;
}

static int
check_required(struct span arguments, struct span schema, char **why)
{
	struct span list = json_get(schema, "required"), key, one;
	struct buf name = { 0 }, missing = { 0 };
	size_t at = 0, n = 0;

	while (json_kind(list) == '[' && json_next(list, &at, &key, &one)) {
		buf_reset(&name);
		if (json_string(one, &name) != 0 ||
		    json_get(arguments, buf_str(&name)).p != NULL)
			continue;
		buf_addf(&missing, "%s%s", n++ > 0 ? ", " : "", buf_str(&name));
	}
	if (missing.n > 0)
		*why = xasprintf("missing argument%s: %s", n > 1 ? "s" : "",
		    buf_str(&missing));
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

/* --- the result --- */

/* Prints a text for a terminal: its line ends stay, other control characters
 * are made visible. */
static void
command_print_text(struct span text)
{
	struct buf line = { 0 };

	while (text.n > 0) {
		buf_reset(&line);
		codec_visible(&line, span_take(&text, '\n'), SIZE_MAX);
		printf("%s\n", buf_str(&line));
	}
	buf_free(&line);
}

static void
print_content(struct span part)
{
	struct span type = json_get(part, "type");
	struct buf text = { 0 };

	if (json_string_is(type, "text") &&
	    json_string(json_get(part, "text"), &text) == 0) {
		command_print_text(buf_span(&text));
	} else {
		json_shown(type, &text, 60);
		printf("[%s, %zu bytes; printed as JSON in a pipe]\n",
		    buf_str(&text), part.n);
	}
	buf_free(&text);
}

static void
print_result(struct span result)
{
	struct span content = json_get(result, "content"), key, part;
	struct span data = json_get(result, "structuredContent");
	size_t at = 0, n = 0;

	if (!os_is_terminal(OS_STDOUT)) {
		printf("%.*s\n", (int)result.n, result.p);
		return;
	}
	while (json_kind(content) == '[' &&
	    json_next(content, &at, &key, &part)) {
		print_content(part);
		n++;
	}
	if (n == 0 && data.n > 0)
		command_print_text(data);
}

/* --- the call --- */

/* Says which tools there are when o->operands name one that there is not; *why
 * is owned by the caller. */
static void
command_unknown_tool(const struct options *o, struct span tools, char **why)
{
	const char *name = o->operands.list[0];
	bool hides = o->ignore_tools.n > 0 || o->only_tools.n > 0 ||
	    o->read_only;
	struct span key, tool;
	struct buf names = { 0 };
	size_t at = 0;

	while (json_next(tools, &at, &key, &tool)) {
		buf_adds(&names, names.n > 0 ? ", " : "");
		json_shown(json_get(tool, "name"), &names, 100);
	}
	*why = xasprintf("the server has no tool \"%.100s\"%s; it has: %s",
	    name,
	    strchr(name, '=') != NULL ? "; write the tool before its "
					"arguments" :
		hides ? ", or an option (--ignore-tool, --only-tool, "
			"--read-only) hides it" :
			"",
	    names.n > 0 ? buf_str(&names) : "none");
	buf_free(&names);
}

/* Appends the params of tools/call. Returns 0, or -1 with *why. */
static int
make_params(const struct options *o, struct span tool, struct span text,
    struct buf *out, char **why)
{
	struct span schema = json_get(tool, "inputSchema");
	struct buf arguments = { 0 };
	int rc;

	rc = arguments_read(o->operands.list + 1, o->operands.n - 1, text,
	    schema, &arguments, why);
	if (rc == 0)
		rc = arguments_check(buf_span(&arguments), schema, why);
	buf_adds(out, "{\"name\":");
	codec_json_string(out, span_of(o->operands.list[0]));
	buf_adds(out, ",\"arguments\":");
	buf_addspan(out, buf_span(&arguments));
	buf_adds(out, ",\"_meta\":{\"progressToken\":1}}");
	buf_free(&arguments);
	return rc;
}

static int
call(struct proxy_child *p, const struct options *o, struct span text,
    char **why)
{
	struct buf tools = { 0 }, params = { 0 };
	struct span tool;
	struct frame *f = NULL;
	int status = 1, rc;

	rc = list_all(p, "tools/list", "tools", &tools, why);
	tool = list_find(buf_span(&tools), o->operands.list[0]);
	if (tool.p != NULL)
		string_set(why, NULL); /* also if the list was cut behind it */
	else if (rc == 0)
		command_unknown_tool(o, buf_span(&tools), why);
	if (tool.p != NULL && make_params(o, tool, text, &params, why) == 0)
		f = proxy_child_ask(p, "tools/call", buf_span(&params), why);
	if (f != NULL && f->kind == FRAME_ERROR)
		proxy_child_explain(f, why);
	else if (f != NULL && json_kind(f->result) != '{')
		*why = xasprintf("the server's result is not a tool result: "
				 "it is not an object");
	else if (f != NULL) {
		print_result(f->result);
		status = span_is(json_get(f->result, "isError"), "true");
	}
	frame_unref(f);
	buf_free(&tools);
	buf_free(&params);
	return status;
}

int
command_call(const struct options *o, char **why)
{
	int status = proxy_check(o, why);
	struct buf text = { 0 };
	struct proxy_child *p;

	if (status != 0)
		return status;
	status = 1;
	if (o->operands.n == 2 && strcmp(o->operands.list[1], "-") == 0 &&
	    file_get_all(OS_STDIN, &text) != 0) {
		*why = xasprintf("cannot read stdin: %s", strerror(errno));
	} else if ((p = proxy_child_start(o, 0, why)) != NULL) {
		status = call(p, o, buf_span(&text), why);
		proxy_child_end(p);
	}
	buf_free(&text);
	return status;
}

enum { NAME_MAX_COLUMNS = 30, LINE_COLUMNS = 79 };

/* The first sentence or line of a description is what fits in a list. */
static size_t
first_part(const char *text)
{
	const char *stop = strstr(text, ". ");
	size_t line = strcspn(text, "\n");

	return stop != NULL && (size_t)(stop - text) < line ?
	    (size_t)(stop - text) + 1 :
	    line;
}

static void
print_tool(struct span tool, size_t column)
{
	struct buf name = { 0 }, text = { 0 }, shown = { 0 };

	json_shown(json_get(tool, "name"), &name, 200);
	json_string(json_get(tool, "description"), &text);
	codec_visible(&shown,
	    (struct span){ buf_str(&text), first_part(buf_str(&text)) },
	    LINE_COLUMNS - column);
	if (shown.n == 0)
		printf("%s\n", buf_str(&name));
	else if (name.n >= column)
		printf("%s\n%*s%s\n", buf_str(&name), (int)column, "",
		    buf_str(&shown));
	else
		printf("%-*s%s\n", (int)column, buf_str(&name),
		    buf_str(&shown));
	buf_free(&name);
	buf_free(&text);
	buf_free(&shown);
}

/* Prints the arguments of a tool: as many as fit on a line, or the whole tool. */
static void
print_arguments(struct span tool, bool whole)
{
	struct span schema = json_get(tool, "inputSchema"), key, field, preset;
	struct span fields = json_get(schema, "properties");
	struct buf text = { 0 }, line = { 0 };
	size_t at = 0;

	if (whole)
		json_string(json_get(tool, "description"), &text);
	while (json_kind(fields) == '{' &&
	    json_next(fields, &at, &key, &field)) {
		buf_adds(&text, whole ? "\n  " : " ");
		arguments_show(schema, key, &text);
		if (!whole)
			continue;
		preset = json_get(field, "default");
		buf_addf(&text, preset.n > 0 ? " (%.*s)  " : "%.*s  ",
		    (int)preset.n, preset.p);
		json_string(json_get(field, "description"), &text);
	}
	codec_visible(&line, buf_span(&text), LINE_COLUMNS - 7);
	if (whole)
		command_print_text(buf_span(&text));
	else if (line.n > 0)
		printf("   %s\n", buf_str(&line));
	buf_free(&text);
	buf_free(&line);
}

static size_t
widest_name(struct span tools)
{
	struct span key, tool;
	size_t at = 0, widest = 0, n;

	while (json_next(tools, &at, &key, &tool)) {
		n = json_get(tool, "name").n;
		if (n <= NAME_MAX_COLUMNS && n > widest)
			widest = n;
	}
	return widest;
}

static void
print_tools(struct span tools)
{
	struct span key, tool;
	size_t at = 0, column = widest_name(tools) + 1;

	while (json_next(tools, &at, &key, &tool)) {
		print_tool(tool, column);
		print_arguments(tool, false);
	}
}

int
command_tools(const struct options *o, char **why)
{
	int status = proxy_check(o, why), rc;
	bool one = o->operands.n > 0;
	struct span shown;
	struct buf list = { 0 };
	struct proxy_child *p;

	if (status != 0)
		return status;
	if ((p = proxy_child_start(o, 0, why)) == NULL)
		return 1;
	rc = list_all(p, "tools/list", "tools", &list, why);
	shown = one ? list_find(buf_span(&list), *o->operands.list) :
		      buf_span(&list);
	if (rc == 0 && shown.p == NULL)
		command_unknown_tool(o, buf_span(&list), why);
	else if (shown.p == NULL || (rc != 0 && shown.n == strlen("[]")))
		;
	else if (!os_is_terminal(OS_STDOUT))
		printf(one ? "%.*s\n" : "{\"tools\":%.*s}\n", (int)shown.n,
		    shown.p);
	else if (one)
		print_arguments(shown, true);
	else
		print_tools(shown);
	buf_free(&list);
	proxy_child_end(p);
	return rc != 0 || shown.p == NULL;
}
