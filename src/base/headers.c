/*
 * Header lists. No name or value that could end a header line early is taken,
 * so the rooms above may print them unchecked.
 *
 * Lines of the user are checked as they are put into a list. No error ever
 * quotes a value, which may be half of a secret.
 */
#include "config.h"

#include "base/headers.h"

#include <stdlib.h>
#include <strings.h>

#define BLANKS " \t\r\n"

void
headers_init(struct headers *h)
{
	memset(h, 0, sizeof *h);
}

bool
headers_is_token(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') ||
	    (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool
is_token(struct span s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!headers_is_token((unsigned char)s.p[i]))
			return false;
	return s.n != 0;
}

static bool
is_value(struct span s)
{
	unsigned char c;
	size_t i;

	for (i = 0; i < s.n; i++) {
		c = (unsigned char)s.p[i];
		if ((c < 0x20 && c != '\t') || c == 0x7F)
			return false;
	}
	return true;
}

/* Makes a header of copies of both, in one block of memory that begins with the
 * name. */
static struct header
header_new(struct span name, struct span value, bool secret)
{
	struct header one = { .secret = secret };

	one.name = xmalloc(name.n + value.n + 2);
	memcpy(one.name, name.p, name.n);
	one.name[name.n] = '\0';
	one.value = one.name + name.n + 1;
	if (value.n > 0)
		memcpy(one.value, value.p, value.n);
	one.value[value.n] = '\0';
	return one;
}

static void
wipe_one(struct header *one)
{
	mem_wipe(one->value, strlen(one->value));
	free(one->name);
}

static void
push(struct headers *h, struct header one)
{
	if (h->n == h->cap) {
		h->cap = h->cap == 0 ? 8 : h->cap * 2;
		h->list = xrealloc(h->list, h->cap * sizeof *h->list);
	}
	h->list[h->n++] = one;
}

/* Checks and copies one header. The copies come before any change to the list,
 * because the spans may point into the list itself. */
static int
make(struct header *one, struct span name, struct span value, bool secret)
{
	value = span_trim(value, " \t");
	if (!is_token(name) || !is_value(value))
		return -1;
	*one = header_new(name, value, secret);
	return 0;
}

static void
drop(struct headers *h, const char *name)
{
	size_t i, kept = 0;

	for (i = 0; i < h->n; i++) {
		if (strcasecmp(h->list[i].name, name) == 0)
			wipe_one(&h->list[i]);
		else
			h->list[kept++] = h->list[i];
	}
	h->n = kept;
}

int
headers_add(struct headers *h, struct span name, struct span value, bool secret)
{
	struct header one;

	if (make(&one, name, value, secret) != 0)
		return -1;
	push(h, one);
	return 0;
}

int
headers_set(struct headers *h, struct span name, struct span value, bool secret)
{
	struct header one;

	if (make(&one, name, value, secret) != 0)
		return -1;
	drop(h, one.name);
	push(h, one);
	return 0;
}

const char *
headers_get(const struct headers *h, const char *name)
{
	size_t i;

	/* most names begin with another letter, whatever its case */
	for (i = 0; i < h->n; i++) {
		if (((h->list[i].name[0] ^ name[0]) & ~0x20) == 0 &&
		    strcasecmp(h->list[i].name, name) == 0)
			return h->list[i].value;
	}
	return NULL;
}

void
headers_append(struct headers *h, const struct headers *from)
{
	size_t i, n = from->n;

	for (i = 0; i < n; i++) {
		const struct header *one = &from->list[i];

		push(h,
		    header_new(span_of(one->name), span_of(one->value),
			one->secret));
	}
}

bool
headers_same(const struct headers *a, const struct headers *b)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (strcasecmp(a->list[i].name, b->list[i].name) != 0 ||
		    strcmp(a->list[i].value, b->list[i].value) != 0)
			return false;
	return true;
}

void
headers_free(struct headers *h)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		wipe_one(&h->list[i]);
	free(h->list);
	headers_init(h);
}

/* --- text of the user --- */

/* Is this a header that the transport sets itself? */
static bool
reserved(struct span name)
{
	static const char *const ours[] = { "Accept", "Content-Type",
		"Content-Length", "Host", "Connection", "Transfer-Encoding",
		"Last-Event-ID" };
	size_t i;

	for (i = 0; i < sizeof ours / sizeof ours[0]; i++)
		if (span_is_nocase(name, ours[i]))
			return true;
	return name.n >= 4 && strncasecmp(name.p, "mcp-", 4) == 0;
}

int
headers_add_aws(struct headers *key, struct headers *to, const char *id,
    const char *secret, const char *token, char **why)
{
	if (id == NULL || secret == NULL || *secret == '\0' ||
	    headers_add(key, span_of(id), span_of(secret), true) < 0)
		*why = xstrdup("the access key (its id and its secret) is "
			       "missing or malformed");
	else if (token != NULL && *token != '\0' &&
	    headers_add(to, span_of("X-Amz-Security-Token"), span_of(token),
		true) < 0)
		*why = xstrdup("the session token is malformed");
	else
		return 0;
	return -1;
}

int
headers_add_line(struct headers *to, struct span line,
    const struct variables *env, char **why)
{
	struct span name = span_trim(span_take(&line, ':'), BLANKS);
	struct buf text;
	int rc;

	if (line.p == NULL) {
		*why = xstrdup("no colon; write \"Name: value\"");
		return -1;
	}
	/* "'" and "`" would be a part of the name */
	if (name.n > 0 && strchr("\"'`\xe2", *name.p) != NULL) {
		*why = xstrdup("the header has quotes around it; remove them");
		return -1;
	}
	if (reserved(name)) {
		*why = xasprintf("mcpsplice sets the header %.*s itself; "
				 "remove it",
		    (int)name.n, name.p);
		return -1;
	}
	buf_init(&text, 0);
	rc = variables_expand(line, env, &text, why);
	if (rc == 0 && headers_add(to, name, buf_span(&text), true) < 0) {
		*why = xasprintf("the header \"%.*s\" contains bytes that "
				 "cannot be sent",
		    name.n > 60 ? 60 : (int)name.n, name.p);
		rc = -1;
	}
	buf_wipe(&text);
	return rc;
}

int
headers_add_lines(struct headers *to, struct span text,
    const struct variables *env, char **why)
{
	struct span line;
	char *what;
	unsigned number = 0;

	while (text.n > 0) {
		number++;
		line = span_trim(span_take(&text, '\n'), BLANKS);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		if (headers_add_line(to, line, env, &what) < 0) {
			*why = xasprintf("line %u: %s", number, what);
			free(what);
			return -1;
		}
	}
	return 0;
}

/* Is this NAME=VALUE? A token has "=" only at its end (RFC 6750 2.1). */
static bool
is_assignment(struct span text)
{
	struct span name = span_take(&text, '=');

	return text.n > 0 && *text.p != '=' && is_token(name);
}

int
headers_add_bearer(struct headers *to, struct span token, char **why)
{
	struct buf value;

	token = span_trim(token, BLANKS);
	if (token.n == 0) {
		*why = xstrdup("it contains no token");
		return -1;
	}
	if (*token.p == '{' || *token.p == '[')
		return fail_why(why, "it holds JSON, not just a token");
	if (is_assignment(token))
		return fail_why(why, "it holds NAME=VALUE, not just a token");
	if (!span_is_printable(token, '!') || strchr("\"'", *token.p) ||
	    span_find(token, "${") != NULL) {
		*why = xstrdup("it holds more than a token: quotes, ${...}, "
			       "a space or a non-ASCII byte");
		return -1;
	}
	buf_init(&value, 0);
	buf_adds(&value, "Bearer ");
	buf_addspan(&value, token);
	headers_set(to, span_of("Authorization"), buf_span(&value), true);
	buf_wipe(&value);
	return 0;
}
