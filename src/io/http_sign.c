/*
 * Requests that libcurl signs for AWS (Signature Version 4). It signs the method,
 * the URL, the body of CURLOPT_POSTFIELDS and each header that it is given.
 *
 * Before 8.14 it signs the path as it is sent, but AWS expects each byte of
 * that path to be encoded once more; before 8.4 it does the same with the
 * query, which must be sorted and encoded in one way. Such a library gets the
 * URL in the form to be signed and, separately, the one to be sent.
 */
#include "config.h"

#include "io/http_state.h"

#include <stdlib.h>

#include "io/url.h"

enum { SIGN_ENCODES = 0x080e00 }; /* 8.14 */

/* An old libcurl signs the empty Expect that keeps a large body from waiting for
 * a 100, although it is not sent: a short wait is set instead. What proxies may
 * change, like User-Agent, is left out of the signature. */
void
http_sign_set(struct transfer *x)
{
	const struct http_config *c = &x->h->config;

	if (c->sigv4 == NULL)
		return;
	SET(x, CURLOPT_AWS_SIGV4, c->sigv4);
	SET(x, CURLOPT_USERAGENT, c->user_agent);
	SET(x, CURLOPT_EXPECT_100_TIMEOUT_MS, 1L);
}

/* --- the URL --- */

/* Appends a name or a value of the query in its one form. */
static void
add_word(struct buf *to, const char *p, size_t n)
{
	char *plain = url_unescape((struct span){ p, n });

	url_escape(to, plain == NULL ? (struct span){ p, n } : span_of(plain));
	free(plain);
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends the query in the order of names and values. While they are sorted, a
 * blank is between the two: it comes before all that a name may have. */
static void
add_query(struct buf *to, const char *query)
{
	struct strings parts = { 0 };
	struct buf one;
	size_t n, name, i;

	for (; *query != '\0'; query += n + (query[n] == '&')) {
		n = strcspn(query, "&");
		name = strcspn(query, "=&");
		buf_init(&one, 0);
		add_word(&one, query, name);
		buf_addc(&one, ' ');
		if (name < n)
			add_word(&one, query + name + 1, n - name - 1);
		if (n > 0)
			strings_add(&parts, buf_take(&one));
		buf_free(&one);
	}
	if (parts.n > 0)
		qsort(parts.list, parts.n, sizeof *parts.list, compare);
	for (i = 0; i < parts.n; i++) {
		buf_addc(to, i == 0 ? '?' : '&');
		*strchr(parts.list[i], ' ') = '=';
		buf_adds(to, parts.list[i]);
	}
	strings_free(&parts);
}

char *
http_sign_url(struct transfer *x)
{
	const char *path, *at;
	struct buf to = { 0 };

	if (x->h->config.sigv4 == NULL ||
	    curl_version_info(CURLVERSION_NOW)->version_num >= SIGN_ENCODES)
		return NULL;
	path = strstr(x->url, "://") + 3;
	path += strcspn(path, "/");
	/* a proxy that sees the request gets the whole URL */
	SET(x, CURLOPT_REQUEST_TARGET,
	    x->proxied && strncmp(x->url, "http:", 5) == 0 ? x->url : path);
	buf_add(&to, x->url, (size_t)(path - x->url));
	for (at = path; *at != '\0' && *at != '?'; at++)
		if (*at == '/')
			buf_addc(&to, '/');
		else
			url_escape(&to, (struct span){ at, 1 });
	if (*at == '?')
		add_query(&to, at + 1);
	return buf_take(&to);
}

/* --- one request --- */

/* An old libcurl signs headers of one name, and empty ones, in a wrong form. */
static void
join(const struct headers *from, struct headers *to)
{
	const struct header *h;
	const char *before;
	char *both;
	size_t i;

	for (i = 0; i < from->n; i++) {
		h = &from->list[i];
		before = headers_get(to, h->name);
		both = xasprintf("%s%s%s", before == NULL ? "" : before,
		    before == NULL ? "" : ",", h->value);
		if (h->value[0] != '\0')
			headers_set(to, span_of(h->name), span_of(both), true);
		string_wipe(&both);
	}
}

void
http_sign(struct transfer *x, const struct header *key,
    const struct headers *first, const struct headers *more, struct headers *to)
{
	SET(x, CURLOPT_USERNAME, key == NULL ? NULL : key->name);
	SET(x, CURLOPT_PASSWORD, key == NULL ? NULL : key->value);
	join(first, to);
	join(more, to);
}
