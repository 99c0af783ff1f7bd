/*
 * The one request that a login waits for. Anybody on this machine can connect
 * and any web page can send a browser here, so all that is not exactly the
 * redirect we asked for is turned away and changes nothing; what tells them
 * apart is the state.
 *
 * Invariants: state is looked at before anything else of the query, iss before
 * code and error; what one read makes of a head, the next one makes of it,
 * too, whatever comes behind it; a reply is one of four constants.
 */
#include "config.h"

#include "signin/callback.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/bounds.h"
#include "io/url.h"

enum param {
	PARAM_STATE,
	PARAM_ISS,
	PARAM_CODE,
	PARAM_ERROR,
	PARAM_DESCRIPTION,
	PARAM_COUNT
};

static const char *const param_names[PARAM_COUNT] = { "state", "iss", "code",
	"error", "error_description" };

/* Decoded; NULL: not there. */
struct params {
	char *values[PARAM_COUNT];
};

struct page {
	const char *status;
	const char *text;
};

static const struct page page_done = { "200 OK",
	"You are signed in. You can close this window and go back to your "
	"app." };
static const struct page page_failed = { "200 OK",
	"Sign-in failed. You can close this window; the program that opened "
	"it says why." };
static const struct page page_bad = { "400 Bad Request",
	"This does not belong to the sign-in that mcpsplice is waiting for. "
	"If you opened its page twice, continue in the newer one." };
static const struct page page_missing = { "404 Not Found",
	"There is nothing here." };

#define STYLE                                                                  \
	":root{color-scheme:light dark;font:1.25rem/1.5 sans-serif}"           \
	"body{margin:20vh auto;max-width:32rem;padding:0 1rem;"                \
	"text-align:center}"
/* the base64 of the SHA-256 of STYLE */
#define STYLE_HASH "tLqW6ZY4Z2igs+vNKel32Q8o/9rVUzu7Qyfg2t84Etw="

#define PAGE_TOP                                                               \
	"<!DOCTYPE html>\n"                                                    \
	"<html lang=\"en\">\n"                                                 \
	"<head>\n"                                                             \
	"<meta charset=\"utf-8\">\n"                                           \
	"<meta name=\"viewport\" content=\"width=device-width\">\n"            \
	"<title>mcpsplice</title>\n"                                           \
	"<style>" STYLE "</style>\n"                                           \
	"</head>\n"                                                            \
	"<body><p>"
#define PAGE_END                                                               \
	"</p></body>\n"                                                        \
	"</html>\n"

static void
answer(struct buf *reply, const struct page *page)
{
	size_t n = strlen(PAGE_TOP) + strlen(page->text) + strlen(PAGE_END);

	buf_addf(reply,
	    "HTTP/1.1 %s\r\n"
	    "Content-Type: text/html; charset=utf-8\r\n"
	    "Content-Length: %zu\r\n"
	    "Connection: close\r\n"
	    "Cache-Control: no-store\r\n"
	    "Referrer-Policy: no-referrer\r\n"
	    "X-Content-Type-Options: nosniff\r\n"
	    "Content-Security-Policy: default-src 'none'; "
	    "style-src 'sha256-" STYLE_HASH "'; base-uri 'none'; "
	    "form-action 'none'; frame-ancestors 'none'\r\n\r\n",
	    page->status, n);
	buf_adds(reply, PAGE_TOP);
	buf_adds(reply, page->text);
	buf_adds(reply, PAGE_END);
}

void
callback_free(struct callback *c)
{
	string_wipe(&c->code);
	string_wipe(&c->error);
	string_wipe(&c->description);
	string_wipe(&c->iss);
}

static void
params_free(struct params *p)
{
	size_t i;

	for (i = 0; i < PARAM_COUNT; i++)
		string_wipe(&p->values[i]);
}

/* The part of *rest before the first c, which is dropped; all, if there is
 * none. Returns whether there was one. */
static bool
cut(struct span *rest, char c, struct span *part)
{
	*part = span_take(rest, c);
	return rest->p != NULL;
}

/* Keeps one parameter if it is one of ours. Returns -1 when it cannot be
 * decoded or is there already (RFC 6749 3.1). */
static int
params_take(struct params *p, struct span name, struct span value)
{
	char *key = url_unescape(name), *text = url_unescape(value);
	size_t i = PARAM_COUNT;
	int rc = -1;

	if (key != NULL && text != NULL) {
		rc = 0;
		i = string_index(key, param_names, PARAM_COUNT);
	}
	if (i < PARAM_COUNT && p->values[i] != NULL) {
		rc = -1;
	} else if (i < PARAM_COUNT) {
		p->values[i] = text;
		text = NULL;
	}
	free(key);
	string_wipe(&text);
	return rc;
}

static int
params_read(struct params *p, struct span query)
{
	struct span part, name;

	memset(p, 0, sizeof *p);
	while (query.n > 0) {
		cut(&query, '&', &part);
		cut(&part, '=', &name);
		if (params_take(p, name, part) != 0)
			return -1;
	}
	return 0;
}

/* One without a value counts as left out (RFC 6749 3.1). */
static const char *
given(const struct params *p, enum param which)
{
	const char *s = p->values[which];

	return s == NULL || *s == '\0' ? NULL : s;
}

static bool
state_is(const char *state, const char *expected)
{
	size_t n;

	if (state == NULL || expected == NULL)
		return false;
	n = strlen(expected);
	return strlen(state) == n && CRYPTO_memcmp(state, expected, n) == 0;
}

/* RFC 9207 2.4: compared as it is. */
static bool
iss_is_right(const char *iss, const struct callback_expected *expected)
{
	return iss == NULL ? !expected->iss :
			     strcmp(iss, expected->issuer) == 0;
}

static bool
is_visible(const char *s)
{
	return span_is_printable(span_of(s), ' ');
}

/* What the parameters mean, in the order that matters. */
static enum callback_result
judge(const struct params *p, const struct callback_expected *expected,
    struct callback *out)
{
	const char *code = given(p, PARAM_CODE);
	const char *error = given(p, PARAM_ERROR);

	if (!state_is(given(p, PARAM_STATE), expected->state))
		return CALLBACK_OTHER;
	if (!iss_is_right(given(p, PARAM_ISS), expected)) {
		out->iss = string_copy(given(p, PARAM_ISS));
		return CALLBACK_ISSUER;
	}
	if (error != NULL) {
		if (is_visible(error) && strpbrk(error, "\"\\") == NULL)
			out->error = xstrdup(error);
		out->description = string_copy(given(p, PARAM_DESCRIPTION));
		return CALLBACK_ERROR;
	}
	if (code == NULL || !is_visible(code))
		return CALLBACK_OTHER;
	out->code = xstrdup(code);
	return CALLBACK_CODE;
}

static enum callback_result
read_query(struct span query, const struct callback_expected *expected,
    struct callback *out)
{
	enum callback_result result = CALLBACK_OTHER;
	struct params p;

	if (params_read(&p, query) == 0)
		result = judge(&p, expected, out);
	params_free(&p);
	return result;
}

static bool
is_head_byte(char c)
{
	if ((unsigned char)c >= ' ')
		return c != 0x7f;
	return c == '\t' || c == '\r' || c == '\n';
}

/* Length of the head with the empty line; 0 when it is not complete. *bad: it
 * never will be: too long, or not the bytes of HTTP. */
static size_t
head_length(struct span in, bool *bad)
{
	size_t i, empty = 0;
	char c, last = '\0';

	*bad = false;
	for (i = 0; i < in.n && i < BOUND_HEADER_BYTES; i++) {
		c = in.p[i];
		if (!is_head_byte(c) || (last == '\r') != (c == '\n'))
			break;
		last = c;
		if (c == '\n' && i + 1 - empty == 2)
			return i + 1;
		if (c == '\n')
			empty = i + 1;
	}
	*bad = i < in.n || i == BOUND_HEADER_BYTES;
	return 0;
}

/* The next line of a head, without its end. */
static struct span
next_line(struct span *head)
{
	struct span line;

	cut(head, '\n', &line);
	line.n--; /* the CR */
	return line;
}

static bool
is_graphic(struct span s)
{
	return s.n > 0 && span_is_printable(s, '!');
}

/* Splits "GET target HTTP/1.x". Returns -1 when it is something else. */
static int
request_line(struct span line, struct span *target)
{
	struct span method;

	if (!cut(&line, ' ', &method) || !span_is(method, "GET") ||
	    !cut(&line, ' ', target) || !is_graphic(*target) ||
	    (!span_is(line, "HTTP/1.1") && !span_is(line, "HTTP/1.0")))
		return -1;
	return 0;
}

/* Is it the name that the redirect went to? Another one is a page that made
 * its own name lead here. */
static bool
host_is_ours(struct span value, unsigned port)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char suffix[16];
	size_t i, n;

	snprintf(suffix, sizeof suffix, ":%u", port);
	for (i = 0; i < sizeof names / sizeof *names; i++) {
		n = strlen(names[i]);
		if (value.n < n || strncasecmp(value.p, names[i], n) != 0)
			continue;
		if (value.n == n && port == 80)
			return true;
		return span_is((struct span){ value.p + n, value.n - n },
		    suffix);
	}
	return false;
}

/* Are the lines header fields, exactly one of them Host, and that ours? */
static bool
fields_ok(struct span head, unsigned port)
{
	struct span line, name;
	size_t hosts = 0;

	for (;;) {
		line = next_line(&head);
		if (line.n == 0)
			return hosts == 1;
		if (!cut(&line, ':', &name) || !is_graphic(name))
			return false;
		if (!span_is_nocase(name, "Host"))
			continue;
		if (!host_is_ours(span_trim(line, " \t"), port))
			return false;
		hosts++;
	}
}

/* A whole head. */
static enum callback_result
read_head(struct span head, const struct callback_expected *expected,
    struct callback *out, const struct page **page)
{
	enum callback_result result;
	struct span target, path;

	*page = &page_bad;
	if (request_line(next_line(&head), &target) != 0 ||
	    !fields_ok(head, expected->port))
		return CALLBACK_OTHER;
	cut(&target, '?', &path);
	if (!span_is(path, expected->path)) {
		*page = &page_missing;
		return CALLBACK_OTHER;
	}
	result = read_query(target, expected, out);
	if (result == CALLBACK_CODE)
		*page = &page_done;
	else if (result != CALLBACK_OTHER)
		*page = &page_failed;
	return result;
}

enum callback_result
callback_read(struct span so_far, const struct callback_expected *expected,
    struct callback *out, struct buf *reply)
{
	enum callback_result result = CALLBACK_OTHER;
	const struct page *page = &page_bad;
	size_t n;
	bool bad;

	memset(out, 0, sizeof *out);
	n = head_length(so_far, &bad);
	if (n == 0 && !bad)
		return CALLBACK_MORE;
	if (n > 0)
		result = read_head((struct span){ so_far.p, n }, expected, out,
		    &page);
	answer(reply, page);
	return result;
}

/* Does the URL lead to our listener? Then *query is what it brings. */
static bool
url_is_ours(const struct url *u, const struct callback_expected *expected,
    struct span *query)
{
	struct span path;
	char port[16];

	snprintf(port, sizeof port, "%u", expected->port);
	if (strcmp(u->scheme, "http") != 0 || strcmp(u->port, port) != 0 ||
	    (strcmp(u->host, "127.0.0.1") != 0 &&
		strcmp(u->host, "localhost") != 0))
		return false;
	*query = span_of(u->text + strlen(u->origin));
	cut(query, '?', &path);
	return span_is(path, expected->path);
}

enum callback_result
callback_url(const char *url, const struct callback_expected *expected,
    struct callback *out)
{
	enum callback_result result = CALLBACK_OTHER;
	struct span query;
	struct url u;

	memset(out, 0, sizeof *out);
	if (strlen(url) > BOUND_HEADER_BYTES || url_parse(&u, url) != URL_OK)
		return CALLBACK_OTHER;
	if (url_is_ours(&u, expected, &query))
		result = read_query(query, expected, out);
	mem_wipe(u.text, strlen(u.text));
	url_free(&u);
	return result;
}
