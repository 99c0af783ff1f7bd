/*
 * Strict RFC 8259 without a tree: a check in one pass, and a cursor over
 * checked text. Iterative, depth-bounded, linear.
 */
#ifndef MCPSPLICE_CORE_WIRE_JSON_H
#define MCPSPLICE_CORE_WIRE_JSON_H

#include "base/mem.h"

enum json_status {
	JSON_OK,
	JSON_SYNTAX,
	JSON_DEPTH, /* nested deeper than max_depth */
	JSON_UTF8   /* the only error is a broken UTF-8 byte inside a string */
};

/* Called for each member of the outermost object, in order, during the check.
 * key is the raw text between the quotes, value is raw JSON. */
typedef void json_member_cb(struct span key, struct span value, void *arg);

/* Checks that text is exactly one JSON value (white space around it is
 * allowed). member and at may be NULL. *at gets the offset of the first error,
 * for JSON_UTF8 that of the first broken byte, and for JSON_OK that of the first
 * character for which there is codec_line_end, else that of the first CR or LF,
 * or the length if there is none. */
enum json_status json_check(struct span text, unsigned max_depth,
    json_member_cb *member, void *arg, size_t *at);

/* Steps through a checked object or array; start with *at = 0. key is the raw
 * text between the quotes (empty in an array). Returns false at the end, or if
 * container is neither. */
bool json_next(struct span container, size_t *at, struct span *key,
    struct span *value);
/* Returns the value of the last member named key (as JSON.parse would), p NULL
 * if there is none or object is not an object. Escaped keys are compared
 * decoded. */
struct span json_get(struct span object, const char *key);
/* Finds the values of n members in one pass, for a large object: found[i] is
 * what json_get returns for names[i]. */
void json_get_some(struct span object, const char *const *names,
    struct span *found, size_t n);
/* Returns a raw key (from json_check or json_next) with its quotes, as a
 * string. */
static inline struct span
json_quoted(struct span key)
{
	return (struct span){ key.p - 1, key.n + 2 };
}
/* Is this raw key (from json_check or json_next) that name, when decoded? The
 * other function is for json_key_is alone: for a key longer than the name. */
bool json_escaped_key_is(struct span key, const char *name);
static inline bool
json_key_is(struct span key, const char *name)
{
	if (key.n > 0 && key.p[0] != name[0] && key.p[0] != '\\')
		return false;
	if (key.n <= strlen(name))
		return span_is(key, name);
	return json_escaped_key_is(key, name);
}
/* Is this checked value a string with exactly this text, when decoded? */
bool json_string_is(struct span value, const char *text);
/* Appends the decoded text of a checked JSON string (value includes the
 * quotes). Returns 0, or -1 if value is not a string or out is full. A lone
 * surrogate becomes U+FFFD. */
int json_string(struct span value, struct buf *out);
/* Appends the same, safe on a terminal and at most max bytes, as codec_visible
 * does; nothing of what is not a string. */
void json_shown(struct span value, struct buf *out, size_t max);
/* Return the end of the string at p, which points to its opening quote, before
 * end, and that of the value at p, in checked text that ends at end. */
const char *json_pass_string(const char *p, const char *end);
const char *json_pass_value(const char *p, const char *end);
/* Returns the first byte, which tells the type of a checked value. */
static inline char
json_kind(struct span value)
{
	return value.n == 0 ? '\0' : value.p[0];
}

#endif
