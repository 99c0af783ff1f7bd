/* Counts the cookie jar, and drops the oldest cookies when it is too large. */
#include "config.h"

#include "io/http_state.h"

#include <stdlib.h>
#include <strings.h>

#include "base/log.h"

/* Is it the name of one of the first? */
static bool
is_first(const struct cookies *c, struct span name)
{
	size_t i;

	for (i = 0; i < c->n_first; i++)
		if (span_is(name, c->first[i]))
			return true;
	return false;
}

/* Notes the name of the cookie if it is one of the first. */
static void
note_name(struct cookies *c, struct span name)
{
	if (c->n_first == COOKIES_KEPT || name.n >= COOKIES_NAME_BYTES ||
	    is_first(c, name))
		return;
	memcpy(c->first[c->n_first], name.p, name.n);
	c->first[c->n_first++][name.n] = '\0';
}

/* Counting lines is cheap; the jar itself is only counted when it may hold too
 * many cookies. */
bool
cookies_count(struct cookies *c, const char *line, size_t n)
{
	static const char name[] = "Set-Cookie:";
	const char *p = line + sizeof name - 1, *end = line + n, *at;

	if (n < sizeof name || strncasecmp(line, name, sizeof name - 1) != 0)
		return false;
	c->set++;
	c->n++;
	c->bytes += n;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	at = memchr(p, '=', (size_t)(end - p));
	if (at != NULL)
		note_name(c, (struct span){ p, (size_t)(at - p) });
	return true;
}

void
cookies_drop(struct cookies *c, CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_COOKIELIST, "ALL");
	c->n = c->bytes = c->n_first = 0;
}

/* Returns the name of the cookie of this line of the jar, the sixth of seven
 * fields. */
static struct span
name_of(const char *line)
{
	struct span rest = span_of(line);
	int i;

	for (i = 0; i < 5; i++)
		span_take(&rest, '\t');
	return span_take(&rest, '\t');
}

/* Marks those of the n lines that stay, from the first or from the last one on:
 * either the first cookies or whatever is not marked. They fit into a quarter of
 * the jar. */
static void
jar_mark(struct cookies *c, char *const *lines, size_t n, bool *stays,
    bool first)
{
	size_t i, at, size, kept = 0, room = BOUND_COOKIES_BYTES / 4;

	for (i = 0; i < n && kept < COOKIES_KEPT; i++) {
		at = first ? i : n - 1 - i;
		if (stays[at] || (first && !is_first(c, name_of(lines[at]))))
			continue;
		size = strlen(lines[at]);
		if (size > room)
			break;
		room -= size;
		stays[at] = true;
		kept++;
		c->n++;
		c->bytes += size;
	}
}

/* Empties the jar except for its oldest and newest cookies. A load balancer
 * sets the cookie that finds its replica with the first answer, or with each
 * answer, or again as soon as it is missing. So the cookie is kept or comes
 * back. */
static void
jar_thin(struct cookies *c, CURL *jar, char *const *lines, size_t n)
{
	bool *stays = xcalloc(n, sizeof *stays);
	size_t i;

	c->n = c->bytes = 0;
	jar_mark(c, lines, n, stays, true);
	jar_mark(c, lines, n, stays, false);
	curl_easy_setopt(jar, CURLOPT_COOKIELIST, "ALL");
	for (i = 0; i < n; i++)
		if (stays[i])
			curl_easy_setopt(jar, CURLOPT_COOKIELIST, lines[i]);
	free(stays);
	if (!c->told)
		log_warn(
		    "the server sets more cookies than mcpsplice keeps (%d, or "
		    "%d KiB): sending back only the oldest and the newest",
		    BOUND_FEW, BOUND_COOKIES_BYTES / 1024);
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
