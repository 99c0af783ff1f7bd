/*
 * JSON documents that mcpsplice reads whole: metadata, tokens, the store. Uses
 * json-c, and closes its holes: strict, UTF-8, no NaN, no single quotes, no raw
 * control bytes, no name twice, depth 32, 256 KiB.
 */
#ifndef MCPSPLICE_STORE_DOCUMENT_H
#define MCPSPLICE_STORE_DOCUMENT_H

#include <json-c/json.h>

#include "base/mem.h"

/* Parses an object, which the caller owns (json_object_put). Returns NULL if
 * text is not one; *why is then a static message for users without any part of
 * the text. */
struct json_object *document_parse(struct span text, const char **why);

/* Read members of an object; a member of another type counts as absent.
 * Returned strings are borrowed and contain no NUL. */
const char *document_text(struct json_object *o, const char *name);
/* Is the member there, and true? */
bool document_true(struct json_object *o, const char *name);
/* Is the member there, and not null? */
bool document_has(struct json_object *o, const char *name);
/* Returns a whole number, also from a string, as some servers send expires_in;
 * -1 if it is absent, negative or over 2^53. */
int64_t document_number(struct json_object *o, const char *name);
/* Returns an array of strings, without its other elements; NULL if there is no
 * array. Borrowed. */
struct json_object *document_list(struct json_object *o, const char *name);
/* Is text one of the strings in list? */
bool document_listed(struct json_object *list, const char *text);
/* Joins the strings of list with blanks; NULL: no list, or an empty one. The
 * caller owns the text. */
char *document_joined(struct json_object *list);
/* The functions below end the process when there is no memory: a member that is
 * lost without notice would be worse. */

/* Makes an empty object, or an empty list, which the caller owns. */
struct json_object *document_new(void);
struct json_object *document_new_list(void);
/* Sets a member to a value, which the object then owns. */
void document_put(struct json_object *o, const char *name,
    struct json_object *value);
/* Appends a string, as document_set would set it. */
void document_append(struct json_object *list, const char *text);
/* Sets a member to a string; NULL removes the member. Each byte that is not
 * UTF-8 becomes U+FFFD. */
void document_set(struct json_object *o, const char *name, const char *text);
/* Sets a member to a number. */
void document_set_number(struct json_object *o, const char *name, int64_t n);
/* Appends the document as text, without needless escapes. */
void document_print(struct json_object *o, struct buf *out);

#endif
