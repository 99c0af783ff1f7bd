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

/* Writes "Name: value" at p; libcurl wants "Name;" for an empty value. Returns
 * the byte after its NUL. */
static char *
put_line(char *p, const struct header *header)
{
	p = stpcpy(p, header->name);
	if (header->value[0] == '\0')
		return stpcpy(p, ";") + 1;
	return stpcpy(stpcpy(p, ": "), header->value) + 1;
}

/* Makes the list that libcurl borrows for the transfer, in memory that stays
 * with x. With a large body some servers let libcurl wait a second for their
 * 100; an empty Expect avoids that. */
static void
set_headers(struct transfer *x, const struct headers *headers)
{
	static const char expect[] = "Expect:";
	size_t bytes, i, n;
	char *p;

	n = headers == NULL ? 0 : headers->n;
	bytes = (n + 1) * sizeof *x->lines + sizeof expect;
	for (i = 0; i < n; i++)
		bytes += strlen(headers->list[i].name) +
		    strlen(headers->list[i].value) + 3;
	if (bytes > x->lines_bytes) {
		x->lines = xrealloc(x->lines, bytes);
		x->lines_bytes = bytes;
	}
	p = (char *)(x->lines + n + 1);
	for (i = 0; i < n; i++) {
		x->lines[i].data = p;
		x->lines[i].next = &x->lines[i + 1];
		p = put_line(p, &headers->list[i]);
	}
	if (x->body_bytes > HTTP_SMALL_BODY_BYTES)
		x->lines[n++].data = memcpy(p, expect, sizeof expect);
	if (n > 0)
		x->lines[n - 1].next = NULL;
	SET(x, CURLOPT_HTTPHEADER, n > 0 ? x->lines : NULL);
}

/* Sets the options of one request. */
void
http_request_set(struct transfer *x, const struct http_request *r)
{
	bool fresh;

	set_url(x, r->url);
	set_netrc(x);
	http_two_choose(x);
	set_method(x, r->method, r->body);
	set_headers(x, r->headers);
	x->max_idle_ms = r->max_idle_conn_ms;
	x->proof = r->proof;
	x->wary = r->wary;
	fresh = r->fresh && !http_two_shared(x);
	if (fresh != x->fresh)
		SET(x, CURLOPT_FRESH_CONNECT, (long)fresh);
	x->fresh = fresh;
}
