/* The cookie jar is counted, and thinned when it holds too much. */
#include "config.h"

#include "io/cookies.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "io/http_todo.h"

enum {
	HTTP_COOKIES = 64, /* limits of the jar; libcurl itself has none */
	HTTP_COOKIE_BYTES = 32 * 1024
};

bool
cookies_are_too_many(const struct http *h)
{
	return h->cookies > HTTP_COOKIES || h->cookie_bytes > HTTP_COOKIE_BYTES;
}

/* libcurl has put the cookie of this line into the jar. Counting lines is
 * cheap; the jar itself is only counted when it may hold too many cookies. */
void
cookies_count(struct http *h, const char *line, size_t n)
{
	static const char name[] = "Set-Cookie:";

	if (h->config.no_cookies || n < sizeof name ||
	    strncasecmp(line, name, sizeof name - 1) != 0)
		return;
	h->cookies++;
	h->cookie_bytes += n;
	if (cookies_are_too_many(h))
		http_todo_wake(h);
}

/* Returns how many of the n lines at line, going in the direction of step, fit
 * into a quarter of the jar. Adds their bytes to *bytes. */
static size_t
jar_fit(char *const *line, size_t n, int step, size_t *bytes)
{
	size_t i, size, room = HTTP_COOKIE_BYTES / 4;

	for (i = 0; i < n && i < HTTP_COOKIES / 4; i++, line += step) {
		size = strlen(*line);
		if (size > room)
			break;
		room -= size;
		*bytes += size;
	}
	return i;
}

/* Empties the jar except for its oldest and newest cookies. A load balancer
 * sets the cookie that finds its replica with the first answer, or with each
 * answer, or again as soon as it is missing. So the cookie is kept or comes
 * back. */
static void
jar_thin(struct http *h, CURL *jar, char *const *lines, size_t n)
{
	size_t i, oldest, newest;

	h->cookie_bytes = 0;
	oldest = jar_fit(lines, n, 1, &h->cookie_bytes);
	newest = jar_fit(lines + n - 1, n - oldest, -1, &h->cookie_bytes);
	h->cookies = oldest + newest;
	curl_easy_setopt(jar, CURLOPT_COOKIELIST, "ALL");
	for (i = 0; i < n; i++)
		if (i < oldest || i >= n - newest)
			curl_easy_setopt(jar, CURLOPT_COOKIELIST, lines[i]);
	if (!h->cookies_told)
		log_warn("the server sets more cookies than the %d, or the %d "
			 "KiB, that are kept: only the oldest and the newest "
			 "of them go back to it",
		    HTTP_COOKIES, HTTP_COOKIE_BYTES / 1024);
	h->cookies_told = true;
}

/* Counts the cookies in the jar, and removes some if there are too many. */
void
cookies_trim(struct http *h)
{
	CURL *jar = curl_easy_init();
	struct curl_slist *all = NULL, *at;
	char **lines;
	size_t n;

	if (jar == NULL)
		return;
	curl_easy_setopt(jar, CURLOPT_SHARE, h->share);
	curl_easy_getinfo(jar, CURLINFO_COOKIELIST, &all);
	n = h->cookie_bytes = 0;
	for (at = all; at != NULL; at = at->next, n++)
		h->cookie_bytes += strlen(at->data);
	h->cookies = n;
	if (cookies_are_too_many(h)) {
		lines = xcalloc(n, sizeof *lines);
		for (n = 0, at = all; at != NULL; at = at->next, n++)
			lines[n] = at->data;
		jar_thin(h, jar, lines, n);
		free(lines);
	}
	curl_slist_free_all(all);
	curl_easy_cleanup(jar);
}
