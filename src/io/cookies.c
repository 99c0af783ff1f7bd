/* The cookie jar is counted, and thinned when it holds too much. */
#include "config.h"

#include "io/cookies.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/log.h"
#include "base/mem.h"

/* Counting lines is cheap; the jar itself is only counted when it may hold too
 * many cookies. */
void
cookies_count(struct cookies *c, const char *line, size_t n)
{
	static const char name[] = "Set-Cookie:";

	if (n < sizeof name || strncasecmp(line, name, sizeof name - 1) != 0)
		return;
	c->n++;
	c->bytes += n;
}

/* Returns how many of the n lines at line, going in the direction of step, fit
 * into a quarter of the jar. Adds their bytes to *bytes. */
static size_t
jar_fit(char *const *line, size_t n, int step, size_t *bytes)
{
	size_t i, size, room = BOUND_COOKIES_BYTES / 4;

	for (i = 0; i < n && i < BOUND_COOKIES / 4; i++, line += step) {
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
jar_thin(struct cookies *c, CURL *jar, char *const *lines, size_t n)
{
	size_t i, oldest, newest;

	c->bytes = 0;
	oldest = jar_fit(lines, n, 1, &c->bytes);
	newest = jar_fit(lines + n - 1, n - oldest, -1, &c->bytes);
	c->n = oldest + newest;
	curl_easy_setopt(jar, CURLOPT_COOKIELIST, "ALL");
	for (i = 0; i < n; i++)
		if (i < oldest || i >= n - newest)
			curl_easy_setopt(jar, CURLOPT_COOKIELIST, lines[i]);
	if (!c->told)
		log_warn(
		    "the server sets more cookies than mcpsplice keeps (%d, or "
		    "%d KiB): only the oldest and the newest are sent back",
		    BOUND_COOKIES, BOUND_COOKIES_BYTES / 1024);
	c->told = true;
}

void
cookies_trim(struct cookies *c, CURLSH *share)
{
	CURL *jar = curl_easy_init();
	struct curl_slist *all = NULL, *at;
	char **lines;
	size_t n;

	if (jar == NULL)
		return;
	curl_easy_setopt(jar, CURLOPT_SHARE, share);
	curl_easy_getinfo(jar, CURLINFO_COOKIELIST, &all);
	c->n = c->bytes = 0;
	for (at = all; at != NULL; at = at->next, c->n++)
		c->bytes += strlen(at->data);
	if (cookies_overflow(c)) {
		lines = xcalloc(c->n, sizeof *lines);
		for (n = 0, at = all; at != NULL; at = at->next, n++)
			lines[n] = at->data;
		jar_thin(c, jar, lines, n);
		free(lines);
	}
	curl_slist_free_all(all);
	curl_easy_cleanup(jar);
}
