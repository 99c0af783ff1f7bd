/* Method, URL, body and headers of a request, as libcurl wants them. */
#include "config.h"

#include "io/http_request.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/http_proxy.h"
#include "io/http_setup.h"
#include "io/http_two.h"

/* libcurl parses CURLOPT_URL again for each request, which takes a tenth of the
 * time of a small call. A parsed URL is borrowed instead. Libraries before 8.12
 * keep the text of the URL before, and would send a second leg there. */
static void
set_parsed_url(struct transfer *x)
{
	curl_url_cleanup(x->parsed_url);
	x->parsed_url = curl_url();
	if (curl_url_set(x->parsed_url, CURLUPART_URL, x->url,
		CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
		x->refused = CURLE_URL_MALFORMAT;
	SET(x, CURLOPT_URL, NULL);
	SET(x, CURLOPT_CURLU, x->parsed_url);
}

static void
set_url(struct transfer *x, const char *text)
{
	if (x->url != NULL && strcmp(x->url, text) == 0)
		return;
	free(x->url);
	x->url = xstrdup(text);
	set_parsed_url(x);
	http_proxy_choose(x, text);
	http_setup_trust(x, text);
}

/* A new libcurl overlooks what is wrong in a file that is optional, and fails if
 * one that is required is missing, which is no fault here. */
static void
set_netrc(struct transfer *x)
{
	const char *file = x->h->config.netrc_file;

	if (file != NULL)
		SET(x, CURLOPT_NETRC,
		    (long)(access(file, F_OK) == 0 ? CURL_NETRC_REQUIRED :
						     CURL_NETRC_OPTIONAL));
}

static void
set_method(struct transfer *x, const char *method, struct span body)
{
	bool post = strcmp(method, "POST") == 0;
	bool is_other = !post && strcmp(method, "GET") != 0;
	bool is_large = body.n > HTTP_SMALL_BODY_BYTES;

	if (post) {
		SET(x, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
		SET(x, CURLOPT_POSTFIELDS, body.n > 0 ? body.p : "");
	} else {
		SET(x, CURLOPT_HTTPGET, 1L);
	}
	if (is_large != (x->body_bytes > HTTP_SMALL_BODY_BYTES)) {
		SET(x, CURLOPT_NOPROGRESS, is_large ? 0L : 1L);
		SET(x, CURLOPT_UPLOAD_BUFFERSIZE,
		    (long)(is_large ? HTTP_LARGE_BUFFER_BYTES :
				      HTTP_SMALL_BUFFER_BYTES));
	}
	x->body_bytes = body.n;
	if (is_other || x->is_other)
		SET(x, CURLOPT_CUSTOMREQUEST, is_other ? method : NULL);
	x->is_other = is_other;
}

/* Returns how many bytes the lines of these headers have, each with a NUL. */
static size_t
measure(const struct headers *h)
{
	size_t bytes = 0, i;

	for (i = 0; i < h->n; i++)
		bytes += strlen(h->list[i].name) + strlen(h->list[i].value) + 3;
	return bytes;
}

/* Writes the lines of these headers at text, and an entry for each from *line
 * on, which is moved past the last one. libcurl wants "Name;" for an empty
 * value. Returns the byte after the last line. */
static char *
put_lines(struct curl_slist **line, char *text, const struct headers *h)
{
	size_t i;

	for (i = 0; i < h->n; i++) {
		(*line)++->data = text;
		text = stpcpy(text, h->list[i].name);
		if (h->list[i].value[0] == '\0')
			text = stpcpy(text, ";") + 1;
		else
			text = stpcpy(stpcpy(text, ": "), h->list[i].value) + 1;
	}
	return text;
}

/* Makes the list that libcurl borrows for the transfer, in memory that stays
 * with x: the entries, and then their text. User-Agent and Accept-Encoding are
 * among them, because libcurl formats its own ones twice for each request. With
 * a large body some servers let libcurl wait a second for their 100; an empty
 * Expect avoids that. */
static void
set_headers(struct transfer *x, const struct headers *first,
    const struct headers *more)
{
	static char expect[] = "Expect:";
	size_t entries = first->n + more->n + 3;
	size_t bytes = entries * sizeof *x->lines + measure(first) +
	    measure(more);
	struct curl_slist *line, *at;
	char *text;

	if (bytes > x->lines_bytes) {
		x->lines = xrealloc(x->lines, bytes);
		x->lines_bytes = bytes;
	}
	line = x->lines;
	text = (char *)(x->lines + entries);
	if (x->h->agent != NULL && headers_get(first, "User-Agent") == NULL)
		line++->data = x->h->agent->data;
	if (x->h->codings != NULL &&
	    headers_get(first, "Accept-Encoding") == NULL)
		line++->data = x->h->codings;
	text = put_lines(&line, text, first);
	put_lines(&line, text, more);
	if (x->body_bytes > HTTP_SMALL_BODY_BYTES)
		line++->data = expect;
	for (at = x->lines; at < line; at++)
		at->next = at + 1 < line ? at + 1 : NULL;
	SET(x, CURLOPT_HTTPHEADER, line > x->lines ? x->lines : NULL);
}

/* Sets the options of one request. */
void
http_request_set(struct transfer *x, const struct http_request *r)
{
	static const struct headers none;
	bool fresh;

	set_url(x, r->url);
	set_netrc(x);
	http_two_choose(x);
	set_method(x, r->method, r->body);
	set_headers(x, r->headers != NULL ? r->headers : &none,
	    r->more_headers != NULL ? r->more_headers : &none);
	if (x->h->raw)
		SET(x, CURLOPT_HTTP_CONTENT_DECODING, 0L);
	x->max_idle_ms = r->max_idle_conn_ms;
	x->proof = r->proof;
	x->wary = r->wary;
	x->opens = r->opens;
	x->cookies_set = x->h->cookies.set;
	if (r->fresh)
		x->h->doubted_at = loop_now(x->h->l);
	fresh = r->fresh && !http_two_shared(x);
	if (fresh != x->fresh)
		SET(x, CURLOPT_FRESH_CONNECT, (long)fresh);
	x->fresh = fresh;
}
