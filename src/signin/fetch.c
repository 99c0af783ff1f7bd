/*
 * One JSON document over HTTP.
 *
 * Invariants:
 *  - the host of a URL is judged before anything is sent when it is an
 *    address, and the address it has when it is connected to; by way of a
 *    proxy only the former is known to us;
 *  - no message has a byte of an answer in it: it would show what stands on
 *    servers that only we can reach, or let a server speak to the user;
 *  - a fetch that was given up lives on, without its caller, until its
 *    exchange is over, which borrows the body. So fetcher_free goes with
 *    http_free, in the same turn, unless nothing is under way.
 */
#include "config.h"

#include "signin/fetch.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "base/queue.h"
#include "io/url.h"
#include "signin/browser.h"

enum {
	/* A request on a connection that the server closes meanwhile is
	 * lost, and with it what may be used only once. */
	FETCH_IDLE_CONN_MS = 5000,
	FETCH_HOST_MAX = 255
};

struct fetcher {
	struct loop *l;
	struct http *h;
	enum address_class allowed;
	bool any_private;
	struct fetch *first, *last;
};

struct fetch {
	struct fetcher *f;
	struct fetch *next, *prev;
	bool waits, done, given_up;
	struct url url;
	struct headers headers;
	const char *option; /* static; NULL: none */
	char *body;         /* NULL: GET */
	size_t body_n;
	struct transfer *x;
	int64_t deadline;
	int redirects;
	/* The answer so far */
	struct buf text;
	bool too_large;
	struct fetch_answer answer;
};

/* Which addresses */

static bool
allows(const struct fetcher *f, enum address_class class)
{
	switch (class) {
	case ADDRESS_PUBLIC:
		return true;
	case ADDRESS_PRIVATE:
	case ADDRESS_LOOPBACK:
		return f->any_private || f->allowed == class;
	case ADDRESS_FORBIDDEN:
		break;
	}
	return false;
}

bool
fetcher_allows(const struct sockaddr *sa, void *arg)
{
	return allows(arg, address_class(sa));
}

/* Words */

/* Says what is wrong, with the host in front; a second time adds nothing. */
static void __attribute__((format(printf, 2, 3)))
complain(struct fetch *t, const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;
	char *words;

	if (t->answer.why != NULL)
		return;
	codec_visible(&b, span_of(t->url.host), FETCH_HOST_MAX);
	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	buf_adds(&b, words);
	free(words);
	t->answer.why = buf_take(&b);
}

static void
refuse(struct fetch *t, bool never)
{
	t->answer.refused = true;
	if (never)
		complain(t, " is a reserved address, which is never used");
	else
		complain(t,
		    " has a private or reserved address "
		    "(--allow-private-auth allows private addresses "
		    "and loopback)");
}

/* The media type, if it is one of those that servers send by mistake: others
 * would be the server's words. */
static const char *
media_type(struct fetch *t)
{
	static const char *const known[] = { "text/html",
		"application/xhtml+xml", "text/plain", "text/xml",
		"application/xml", "application/json", "application/jwt",
		"application/octet-stream", "text/event-stream",
		"application/x-www-form-urlencoded" };
	const char *value = http_header(t->x, "Content-Type", 0);
	struct span type = { value, 0 };
	size_t i;

	if (value != NULL)
		type.n = strcspn(value, "; \t\r");
	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (span_is_nocase(type, known[i]))
			return known[i];
	return NULL;
}

static bool
is_page(const struct fetch *t, const char *type)
{
	if (type != NULL)
		return strstr(type, "html") != NULL;
	return t->text.n > 0 && t->text.p[0] == '<';
}

/* It should be JSON, and is not. */
static void
complain_of_body(struct fetch *t, const char *why)
{
	const char *type = media_type(t);
	char *facts;

	facts = xasprintf("(%d%s%s)", t->answer.status,
	    type == NULL ? "" : ", ", type == NULL ? "" : type);
	if (is_page(t, type))
		complain(t, " answered with a web page instead of JSON %s",
		    facts);
	else
		complain(t, " did not answer with a JSON object: %s %s", why,
		    facts);
	free(facts);
}

static void
complain_of_end(struct fetch *t, const struct http_answer *a)
{
	struct buf words = { 0 };

	codec_visible(&words, span_of(a->why), BOUND_WORDS_BYTES);
	switch (a->end) {
	case HTTP_REFUSED:
		refuse(t, false);
		break;
	case HTTP_IDLE:
		complain(t, " did not answer within %d s",
		    BOUND_LONG_MS / 1000);
		break;
	case HTTP_RESOLVE:
	case HTTP_CONNECT:
	case HTTP_TLS:
	case HTTP_PROXY:
	case HTTP_CONFIG:
		complain(t, " cannot be reached: %s%s%s", buf_str(&words),
		    a->remedy[0] == '\0' ? "" : ". ", a->remedy);
		break;
	default:
		/* What libcurl says here may be about the answer. */
		complain(t, " cut off its answer");
		break;
	}
	buf_free(&words);
}

/* Life */

static void
fetch_free(struct fetch *t)
{
	QUEUE_REMOVE(t->f, t);
	mem_wipe(t->body, t->body_n);
	free(t->body);
	buf_wipe(&t->text);
	headers_free(&t->headers);
	url_free(&t->url);
	fetch_answer_free(&t->answer);
	free(t);
}

/* The answer is whole. */
static void
finish(struct fetch *t)
{
	t->done = true;
	if (t->waits)
		loop_stop(t->f->l, 0);
}

/* The answer */

static void
fetch_on_head(struct transfer *x, int status, void *arg)
{
	struct fetch *t = arg;

	(void)x;
	t->answer.status = status;
}

static bool
fetch_on_data(struct transfer *x, const char *p, size_t n, void *arg)
{
	struct fetch *t = arg;

	(void)x;
	if (buf_add(&t->text, p, n) == 0)
		return true;
	t->too_large = true;
	return false;
}

static void fetch_begin(struct fetch *t);

static bool
is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 ||
	    status == 307 || status == 308;
}

/* Goes on at another URL of the same origin, if it may. */
static bool
follow(struct fetch *t)
{
	const char *to = http_header(t->x, "Location", 0);
	struct url target;

	if (to == NULL || *to == '\0' ||
	    url_resolve(&target, &t->url, to) != URL_OK) {
		complain(t, " redirects to nowhere (%d)", t->answer.status);
		return false;
	}
	if (t->option != NULL)
		complain(t,
		    " redirects (%d) a request that must not be redirected; "
		    "if the new address is right, add %s %s",
		    t->answer.status, t->option, browser_word(target.text));
	else if (t->body != NULL)
		complain(t,
		    " redirects (%d) a request that must not be redirected",
		    t->answer.status);
	else if (t->redirects == BOUND_TRIES)
		complain(t, " redirects too often (%d)", t->answer.status);
	else if (!url_same_origin(&target, &t->url))
		complain(t,
		    " redirects to another origin (%d), which is not followed",
		    t->answer.status);
	if (t->answer.why != NULL) {
		url_free(&target);
		return false;
	}
	url_free(&t->url);
	t->url = target;
	t->redirects++;
	buf_wipe(&t->text);
	t->answer.status = 0;
	fetch_begin(t);
	return true;
}

/* The body: the words of an error are JSON, too. */
static void
read_body(struct fetch *t)
{
	struct fetch_answer *a = &t->answer;
	const char *why = "it is too large";

	if (!t->too_large)
		a->json = document_parse(buf_span(&t->text), &why);
	if (a->json == NULL && a->status < 300)
		complain_of_body(t, why);
}

static void
fetch_on_done(struct transfer *x, const struct http_answer *a, void *arg)
{
	struct fetch *t = arg;
	struct fetch_answer *out = &t->answer;
	bool whole = a->end == HTTP_DONE || t->too_large;

	if (t->given_up) {
		fetch_free(t);
		return;
	}
	if (!whole) {
		out->status = 0;
		out->transient = a->end != HTTP_REFUSED &&
		    a->end != HTTP_CONFIG;
		out->soon = a->end == HTTP_CONNECT ||
		    (a->end == HTTP_CUT && !a->too_large_head);
		out->unsent = out->transient && !a->sent;
		out->nobody = a->end == HTTP_RESOLVE || a->conn_refused;
		out->lost = a->end == HTTP_CUT && a->sent;
		complain_of_end(t, a);
		finish(t);
		return;
	}
	out->retry_after_ms = http_retry_after(x, BOUND_DAY_MS);
	out->nonce = string_copy(http_header(x, "DPoP-Nonce", 0));
	out->clock_ahead_s = http_clock_ahead(x);
	out->transient = out->status == 429 || out->status >= 500;
	out->soon = out->status == 429 || out->status > 501;
	if (!is_redirect(out->status))
		read_body(t);
	else if (follow(t))
		return;
	finish(t);
}

/* The request */

/* Is the host an address, and one that is not allowed? */
static bool
is_refused(struct fetch *t)
{
	enum address_class class;

	if (address_literal(t->url.host, &class) != 0 || allows(t->f, class))
		return false;
	refuse(t, class == ADDRESS_FORBIDDEN);
	return true;
}

/* To the URL that it has now. */
static void
fetch_begin(struct fetch *t)
{
	static const struct http_ops ops = { fetch_on_head, fetch_on_data,
		fetch_on_done };
	struct http_request r = { .method = t->body == NULL ? "GET" : "POST",
		.url = t->url.text,
		.body = { t->body, t->body_n },
		.headers = &t->headers,
		.max_idle_conn_ms = FETCH_IDLE_CONN_MS };
	int64_t left = t->deadline - loop_now(t->f->l);

	if (t->answer.why != NULL || is_refused(t)) {
		finish(t);
		return;
	}
	t->x = http_send(t->f->h, &r, &ops, t);
	http_expire(t->x, left < 0 ? 0 : left);
}

static void
set_headers(struct fetch *t, const struct fetch_request *r)
{
	headers_add(&t->headers, span_of("Accept"), span_of("application/json"),
	    false);
	if (r->content_type != NULL)
		headers_add(&t->headers, span_of("Content-Type"),
		    span_of(r->content_type), false);
	if (r->version != NULL)
		headers_add(&t->headers, span_of("MCP-Protocol-Version"),
		    span_of(r->version), false);
	if (r->headers != NULL)
		headers_append(&t->headers, r->headers);
}

static struct fetch *
fetch_new(struct fetcher *f, const struct fetch_request *r)
{
	struct fetch *t = xcalloc(1, sizeof *t);

	t->f = f;
	QUEUE_ADD_FIRST(f, t);
	t->deadline = loop_now(f->l) + BOUND_LONG_MS;
	t->answer.retry_after_ms = -1;
	t->option = r->option;
	buf_init(&t->text, BOUND_PART_BYTES);
	set_headers(t, r);
	if (r->body.p != NULL) {
		t->body = xstrndup(r->body.p, r->body.n);
		t->body_n = r->body.n;
	}
	if (url_parse(&t->url, r->url) != URL_OK)
		t->answer.why = xstrdup("the sign-in address is not a URL");
	return t;
}

bool
fetch_wait(struct fetcher *f, const struct fetch_request *r, const bool *over,
    struct fetch_answer *a)
{
	struct fetch *t = fetch_new(f, r);
	bool stopped = over != NULL && *over;

	fetch_begin(t);
	t->waits = true;
	while (!t->done && !stopped) {
		loop_run(f->l);
		stopped = !t->done;
	}
	t->waits = false;
	if (!t->done) {
		t->given_up = true;
		http_abort(t->x);
		return false;
	}
	*a = t->answer;
	memset(&t->answer, 0, sizeof t->answer);
	fetch_free(t);
	return true;
}

void
fetch_answer_free(struct fetch_answer *a)
{
	json_object_put(a->json);
	free(a->why);
	free(a->nonce);
	memset(a, 0, sizeof *a);
}

struct fetcher *
fetcher_new(struct loop *l, struct http *h, enum address_class allowed,
    bool any_private)
{
	struct fetcher *f = xcalloc(1, sizeof *f);

	f->l = l;
	f->h = h;
	f->allowed = allowed;
	f->any_private = any_private;
	return f;
}

void
fetcher_allow(struct fetcher *f, enum address_class allowed)
{
	f->allowed = allowed;
}

void
fetcher_free(struct fetcher *f)
{
	if (f == NULL)
		return;
	while (f->first != NULL)
		fetch_free(f->first);
	free(f);
}
