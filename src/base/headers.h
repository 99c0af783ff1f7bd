/* An ordered list of HTTP headers. Values can be marked secret. Lines of the user
 * become headers, with ${VAR}, and so do bearer tokens. */
#ifndef MCPSPLICE_BASE_HEADERS_H
#define MCPSPLICE_BASE_HEADERS_H

#include "base/mem.h"
#include "base/variables.h"

struct header {
	char *name;
	char *value; /* in the memory of name, never freed alone */
	bool secret;
};

struct headers {
	struct header *list;
	size_t n;
	size_t cap;
};

/* May the byte stand in a token (RFC 9110 section 5.6.2)? */
bool headers_is_token(unsigned char c);
/* Makes h an empty list. */
void headers_init(struct headers *h);
/* Adds a copy of one header. Returns -1 if the name is not a token (RFC 9110
 * section 5.6.2) or the value holds CR, LF, NUL or another control byte except
 * TAB. Leading and trailing blanks of the value are dropped. */
int headers_add(struct headers *h, struct span name, struct span value,
    bool secret);
/* Like headers_add, but replaces all headers of that name (names ignore
 * case). */
int headers_set(struct headers *h, struct span name, struct span value,
    bool secret);
/* Returns the value of the first header of that name, or NULL. h owns it. */
const char *headers_get(const struct headers *h, const char *name);
/* Appends copies of all headers of from. */
void headers_append(struct headers *h, const struct headers *from);
/* Do both have the same names, ignoring case, with the same values in the same
 * order? */
bool headers_same(const struct headers *a, const struct headers *b);
/* Wipes the values and frees the list. h is empty and usable after. */
void headers_free(struct headers *h);

/* Text of the user becomes headers. Each of these functions returns 0, or -1
 * with *why, which the caller owns and which never contains a value. */

/* Adds one "Name: value" line, with the variables of its value expanded. Headers
 * that the transport sets itself are refused. */
int headers_add_line(struct headers *to, struct span line,
    const struct variables *env, char **why);
/* Adds all lines of a file, which may contain blank lines and # comments. */
int headers_add_lines(struct headers *to, struct span text,
    const struct variables *env, char **why);
/* Adds "Authorization: Bearer TOKEN". Blanks around the token are removed; the
 * rest has to be visible ASCII without blanks. */
int headers_add_bearer(struct headers *to, struct span token, char **why);
/* Takes what requests to AWS are signed with, each of which may be NULL: the key
 * becomes one entry of key, by its id and its secret; the session token, if
 * there is one, a header in to. Returns -1 with *why for users. */
int headers_add_aws(struct headers *key, struct headers *to, const char *id,
    const char *secret, const char *token, char **why);

#endif
