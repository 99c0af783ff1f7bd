/*
 * JSON documents that are ours to read: metadata, tokens, the store. json-c,
 * with its holes closed: strict, UTF-8, no NaN, no single quotes, no raw
 * control bytes, no name twice, depth 32, 256 KiB.
 */
#ifndef MCPSPLICE_STORE_DOCUMENT_H
#define MCPSPLICE_STORE_DOCUMENT_H

#include <json-c/json.h>

#include "base/mem.h"

#define DOCUMENT_MAX_BYTES ((size_t)256 * 1024)

/* An object, owned by the caller (json_object_put); NULL when the text is
 * none, *why is then a message for people that has nothing of the text in it:
 * static. */
struct json_object *document_parse(struct span text, const char **why);

/* Members of an object; what has another type than asked for is absent.
 * Returned strings are borrowed, without NUL inside. */
const char *document_text(struct json_object *o, const char *name);
/* Is it there, and is it true? */
bool document_true(struct json_object *o, const char *name);
bool document_has(struct json_object *o, const char *name);
/* A whole number, or a number in a string, as some servers send expires_in;
 * absent, negative or over 2^53: -1. */
int64_t document_number(struct json_object *o, const char *name);
/* An array of strings (others are left out): NULL when there is no array. */
struct json_object *document_list(struct json_object *o, const char *name);
bool document_listed(struct json_object *list, const char *text);
/* The strings of it with a blank between; NULL: no list, or an empty one.
 * Owned by the caller. */
char *document_joined(struct json_object *list);
/* Sets a member to a string; NULL removes it. Each byte that is not UTF-8
 * becomes U+FFFD. */
void document_set(struct json_object *o, const char *name, const char *text);
void document_set_number(struct json_object *o, const char *name, int64_t n);
/* Appends it as text, without needless escapes. */
void document_print(struct json_object *o, struct buf *out);

#endif
