#include "config.h"

#include "command/ask.h"

#include <stdio.h>
#include <string.h>

#include "base/codec.h"
#include "core/wire/json.h"

enum { ANSWER_MAX = 4096 };

/* Prints a text of the server, made safe for a terminal. */
static void
print_text(const char *before, struct span value, const char *after)
{
	struct buf text, shown;

	buf_init(&text, 0);
	buf_init(&shown, 0);
	if (json_string(value, &text) == 0)
		codec_visible(&shown, buf_span(&text), 1000);
	fprintf(stderr, "%s%s%s", before, buf_str(&shown), after);
	buf_free(&text);
	buf_free(&shown);
}

static bool
is_required(struct span schema, struct span name)
{
	struct span list = json_get(schema, "required"), key, one;
	size_t at = 0;

	while (json_kind(list) == '[' && json_next(list, &at, &key, &one))
		if (one.n >= 2 &&
		    span_eq((struct span){ one.p + 1, one.n - 2 }, name))
			return true;
	return false;
}

/* Appends what the user typed as a value of the field's type. */
static void
add_value(struct buf *out, struct span field, struct span typed)
{
	struct span type = json_get(field, "type");

	if (json_string_is(type, "boolean"))
		buf_adds(out,
		    typed.n > 0 && strchr("yYtT1", typed.p[0]) != NULL ?
			"true" :
			"false");
	else if ((json_string_is(type, "number") ||
		     json_string_is(type, "integer")) &&
	    json_check(typed, 1, NULL, NULL, NULL) == JSON_OK)
		buf_addspan(out, typed);
	else
		codec_json_string(out, typed);
}

/* Asks for one field. Returns false at the end of the input. */
static bool
ask_field(struct span name, struct span field, bool required, struct buf *out)
{
	char line[ANSWER_MAX];
	/* the name with its quotes, a JSON string */
	struct span key = { name.p - 1, name.n + 2 };
	struct span title = json_get(field, "title");

	print_text("", json_get(field, "description"), "\n");
	print_text("", json_kind(title) == '"' ? title : key,
	    required ? ": " : " (may be empty): ");
	fflush(stderr);
	if (fgets(line, sizeof line, stdin) == NULL)
		return false;
	line[strcspn(line, "\r\n")] = '\0';
	if (line[0] == '\0')
		return !required;
	if (out->p[out->n - 1] != '{')
		buf_addc(out, ',');
	buf_addf(out, "\"%.*s\":", (int)name.n, name.p);
	add_value(out, field, span_of(line));
	return true;
}

int
ask_user(struct span params, struct buf *result)
{
	struct span schema = json_get(params, "requestedSchema");
	struct span fields = json_get(schema, "properties"), name, field;
	bool all = true;
	size_t at = 0, from = result->n;

	if (json_kind(fields) != '{')
		return -1;
	print_text("\n", json_get(params, "message"), "\n");
	buf_adds(result, "{\"action\":\"accept\",\"content\":{");
	while (all && json_next(fields, &at, &name, &field))
		all = ask_field(name, field, is_required(schema, name), result);
	buf_adds(result, "}}");
	if (!all) {
		result->n = from;
		buf_adds(result, "{\"action\":\"decline\"}");
	}
	return 0;
}
