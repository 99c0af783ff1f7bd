/*
 * JSON documents, with json-c.
 *
 * core/wire/json alone decides whether a text is JSON, because versions of
 * json-c differ in what they refuse, even in strict mode. json-c then builds
 * the tree of a text that is known to be valid, so its flags are not needed.
 * Two things that core/wire/json allows and json-c would hide are refused here:
 * a name that occurs twice, of which json-c keeps the last, and a NUL in a
 * name, at which json-c ends the name.
 */
#include "config.h"

#include "store/document.h"

#include <stdlib.h>

#include <json-c/json_visit.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "core/wire/json.h"

#define MAX_NUMBER (INT64_C(1) << 53) /* exact in a double too */
#define REPLACEMENT "\xEF\xBF\xBD"    /* U+FFFD */

/* Returns how many members all objects of a checked text have: each has one
 * colon outside strings. Sets *nul if a name contains a NUL. */
static size_t
count_members(struct span text, bool *nul)
{
	const char *p = text.p, *end = text.p + text.n;
	bool has_nul = false;
	size_t n = 0;

	*nul = false;
	for (; p < end; p++) {
		if (*p == ':') {
			n++;
			*nul = *nul || has_nul;
		}
		if (*p != '"')
			continue;
		has_nul = false;
		for (p++; *p != '"'; p++) {
			if (*p != '\\')
				continue;
			p++;
			if (*p == 'u' && memcmp(p + 1, "0000", 4) == 0)
				has_nul = true;
		}
	}
	return n;
}

static int
add_members(struct json_object *o, int flags, struct json_object *parent,
    const char *key, size_t *index, void *arg)
{
	size_t *n = arg;

	(void)parent;
	(void)key;
	(void)index;
	if (json_object_is_type(o, json_type_object) &&
	    (flags & JSON_C_VISIT_SECOND) == 0)
		*n += (size_t)json_object_object_length(o);
	return JSON_C_VISIT_RETURN_CONTINUE;
}

/* Is text one JSON object? If not, *why is set. */
static bool
is_object(struct span text, const char **why)
{
	size_t start = 0;

	switch (json_check(text, BOUND_DOCUMENT_DEPTH, NULL, NULL, NULL)) {
	case JSON_OK:
		break;
	case JSON_SYNTAX:
		*why = "it is not JSON";
		return false;
	case JSON_DEPTH:
		*why = "it is nested too deeply";
		return false;
	case JSON_UTF8:
		*why = "it is not UTF-8";
		return false;
	}
	while (strchr(" \t\r\n", text.p[start]) != NULL)
		start++;
	if (text.p[start] == '{')
		return true;
	*why = "it is JSON, but not an object";
	return false;
}

/* Builds the tree of a checked text. */
static struct json_object *
build(struct span text)
{
	struct json_tokener *tok;
	struct json_object *o;

	/* json-c counts scalars as a level, and stops before its limit. */
	tok = json_tokener_new_ex(BOUND_DOCUMENT_DEPTH + 2);
	if (tok == NULL)
		return NULL;
	o = json_tokener_parse_ex(tok, text.p, (int)text.n);
	if (json_tokener_get_error(tok) != json_tokener_success) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(tok);
	return o;
}

struct json_object *
document_parse(struct span text, const char **why)
{
	struct json_object *o;
	size_t names, kept = 0;
	bool nul;

	*why = NULL;
	if (text.n > BOUND_PART_BYTES)
		*why = "it is too large";
	else if (text.n == 0)
		*why = "it is empty";
	if (*why != NULL || !is_object(text, why))
		return NULL;
	names = count_members(text, &nul);
	if (nul) {
		*why = "a name in it contains a NUL";
		return NULL;
	}
	o = build(text);
	if (o == NULL) {
		*why = "it cannot be read";
		return NULL;
	}
	json_c_visit(o, 0, add_members, &kept);
	if (kept == names)
		return o;
	*why = "it contains a name twice";
	json_object_put(o);
	return NULL;
}

/* Returns the text of a string that contains no NUL, else NULL. */
static const char *
plain(struct json_object *o)
{
	const char *text;

	if (!json_object_is_type(o, json_type_string))
		return NULL;
	text = json_object_get_string(o);
	if (strlen(text) != (size_t)json_object_get_string_len(o))
		return NULL;
	return text;
}

static struct json_object *
member(struct json_object *o, const char *name)
{
	struct json_object *found;

	if (!json_object_is_type(o, json_type_object) ||
	    !json_object_object_get_ex(o, name, &found))
		return NULL;
	return found;
}

const char *
document_text(struct json_object *o, const char *name)
{
	return plain(member(o, name));
}

bool
document_true(struct json_object *o, const char *name)
{
	struct json_object *found = member(o, name);

	return json_object_is_type(found, json_type_boolean) &&
	    json_object_get_boolean(found);
}

/* null counts as absent. */
bool
document_has(struct json_object *o, const char *name)
{
	return member(o, name) != NULL;
}

int64_t
document_number(struct json_object *o, const char *name)
{
	struct json_object *found = member(o, name);
	const char *text = plain(found);
	int64_t n = -1;
	double d;

	if (json_object_is_type(found, json_type_int)) {
		n = json_object_get_int64(found);
	} else if (json_object_is_type(found, json_type_double)) {
		/* 3600.0 and 3.6e3 are whole numbers too. */
		d = json_object_get_double(found);
		if (d >= 0 && d < (double)MAX_NUMBER &&
		    !((double)(int64_t)d < d))
			n = (int64_t)d;
	} else if (text != NULL) {
		n = span_number(span_of(text));
	}
	return n < 0 || n > MAX_NUMBER ? -1 : n;
}

/* Elements of other types are removed from the document in one pass, so that a
 * walk over the array meets strings only. */
struct json_object *
document_list(struct json_object *o, const char *name)
{
	struct json_object *list = member(o, name), *item;
	size_t i, kept = 0, n;

	if (!json_object_is_type(list, json_type_array))
		return NULL;
	n = json_object_array_length(list);
	for (i = 0; i < n; i++) {
		item = json_object_array_get_idx(list, i);
		if (plain(item) == NULL)
			continue;
		if (kept != i)
			json_object_array_put_idx(list, kept,
			    json_object_get(item));
		kept++;
	}
	if (kept != n)
		json_object_array_del_idx(list, kept, n - kept);
	return list;
}

bool
document_listed(struct json_object *list, const char *text)
{
	const char *item;
	size_t i, n;

	n = list == NULL ? 0 : json_object_array_length(list);
	for (i = 0; i < n; i++) {
		item = plain(json_object_array_get_idx(list, i));
		if (item != NULL && strcmp(item, text) == 0)
			return true;
	}
	return false;
}

char *
document_joined(struct json_object *list)
{
	struct buf out = { 0 };
	const char *item;
	size_t i, n;

	n = list == NULL ? 0 : json_object_array_length(list);
	for (i = 0; i < n; i++) {
		item = plain(json_object_array_get_idx(list, i));
		if (item == NULL || *item == '\0')
			continue;
		if (out.n > 0)
			buf_addc(&out, ' ');
		buf_adds(&out, item);
	}
	return out.n == 0 ? NULL : buf_take(&out);
}

static struct json_object *
made(struct json_object *o)
{
	if (o == NULL)
		out_of_memory();
	return o;
}

struct json_object *
document_new(void)
{
	return made(json_object_new_object());
}

struct json_object *
document_new_list(void)
{
	return made(json_object_new_array());
}

void
document_put(struct json_object *o, const char *name, struct json_object *value)
{
	if (json_object_object_add(o, name, made(value)) != 0)
		out_of_memory();
}

/* Makes a JSON string. json-c would print bytes that are not UTF-8 as they are,
 * and the document could not be read again. */
static struct json_object *
new_string(const char *text)
{
	struct json_object *string;
	size_t i = 0, len, n = strlen(text);
	struct buf b = { 0 };

	while (i < n && (len = codec_utf8(text + i, n - i)) > 0)
		i += len;
	if (i == n)
		return json_object_new_string(text);
	buf_add(&b, text, i);
	for (; i < n; i += len == 0 ? 1 : len) {
		len = codec_utf8(text + i, n - i);
		if (len == 0)
			buf_adds(&b, REPLACEMENT);
		else
			buf_add(&b, text + i, len);
	}
	string = json_object_new_string(buf_str(&b));
	buf_wipe(&b);
	return string;
}

void
document_set(struct json_object *o, const char *name, const char *text)
{
	if (text == NULL)
		json_object_object_del(o, name);
	else
		document_put(o, name, new_string(text));
}

void
document_append(struct json_object *list, const char *text)
{
	if (json_object_array_add(list, made(new_string(text))) != 0)
		out_of_memory();
}

void
document_set_number(struct json_object *o, const char *name, int64_t n)
{
	document_put(o, name, json_object_new_int64(n));
}

void
document_print(struct json_object *o, struct buf *out)
{
	const char *text;
	size_t n;

	text = json_object_to_json_string_length(o,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
	if (text == NULL)
		out_of_memory();
	buf_add(out, text, n);
}
