/*
 * URLs, with libcurl's URL API, so that a comparison sees what libcurl will
 * connect to. This file is stricter than libcurl, which guesses: a scheme is
 * required, and blanks, control bytes and user info are refused.
 *
 * Invariant: each handle parses one absolute URL or resolves one reference; a
 * used handle would take any input as relative.
 */
#include "config.h"

#include "io/url.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#include <curl/curl.h>

#include "base/bounds.h"
#include "os/network.h"

/* May stand anywhere in the name of a file. */
#define FILE_BYTES "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Returns the length of "scheme" if text starts with "scheme:", else 0. */
static size_t
scheme_length(const char *text)
{
	size_t n;

	n = strspn(text, ALNUM "+-.");
	if (n == 0 || text[n] != ':' || strchr("0123456789+-.", text[0]))
		return 0;
	return n;
}

/* Blanks and control bytes are not allowed in a URL; versions of libcurl differ
 * in which of them they refuse. */
static bool
is_clean(const char *text)
{
	const unsigned char *p;

	for (p = (const unsigned char *)text; *p != '\0'; p++)
		if (*p <= ' ' || *p == 0x7f)
			return false;
	return p != (const unsigned char *)text &&
	    (size_t)(p - (const unsigned char *)text) <= BOUND_TEXT_BYTES;
}

static void
lower(char *s)
{
	for (; *s != '\0'; s++)
		if (*s >= 'A' && *s <= 'Z')
			*s = (char)(*s - 'A' + 'a');
}

/* Without memory a URL is not wrong. */
static CURLUcode
checked(CURLUcode rc)
{
	if (rc == CURLUE_OUT_OF_MEMORY)
		out_of_memory();
	return rc;
}

static CURLUcode
set(CURLU *c, CURLUPart what, const char *value, unsigned flags)
{
	return checked(curl_url_set(c, what, value, flags));
}

/* Returns one part as a string that the caller owns, or NULL. */
static char *
part(CURLU *c, CURLUPart what, unsigned flags)
{
	char *s, *copy;

	s = NULL;
	if (checked(curl_url_get(c, what, &s, flags)) != CURLUE_OK || s == NULL)
		return NULL;
	copy = xstrdup(s);
	curl_free(s);
	return copy;
}

/* Makes the host lower case and removes the fragment. Returns 0 or -1. Setting
 * the host drops the zone of a link-local address, so the zone is set again. */
static int
normalise(CURLU *c)
{
	char *host, *zone;
	int bad;

	host = part(c, CURLUPART_HOST, 0);
	/* libcurl would encode such a host again whenever a part is read. */
	if (host == NULL || strchr(host, '%') != NULL) {
		free(host);
		return -1;
	}
	zone = part(c, CURLUPART_ZONEID, 0);
	lower(host);
	bad = set(c, CURLUPART_HOST, host, 0) != CURLUE_OK ||
	    set(c, CURLUPART_ZONEID, zone, 0) != CURLUE_OK ||
	    set(c, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK;
	free(host);
	free(zone);
	return bad ? -1 : 0;
}

/* Returns scheme://host[:port], which is the URL without path and query. This
 * keeps the zone of a link-local address, which is not in CURLUPART_HOST. */
static char *
origin_of(CURLU *c)
{
	char *s;

	if (set(c, CURLUPART_PATH, "/", 0) != CURLUE_OK ||
	    set(c, CURLUPART_QUERY, NULL, 0) != CURLUE_OK)
		return NULL;
	s = part(c, CURLUPART_URL, CURLU_NO_DEFAULT_PORT);
	if (s != NULL && s[0] != '\0')
		s[strlen(s) - 1] = '\0';
	return s;
}

/* Fills u from c; c is changed and cannot be used again. */
static enum url_status
fill(struct url *u, CURLU *c)
{
	u->scheme = part(c, CURLUPART_SCHEME, 0);
	if (u->scheme == NULL)
		return URL_BAD;
	lower(u->scheme);
	if (strcmp(u->scheme, "http") != 0 && strcmp(u->scheme, "https") != 0)
		return URL_SCHEME;
	if (normalise(c) != 0)
		return URL_BAD;
	u->host = part(c, CURLUPART_HOST, 0);
	u->port = part(c, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	u->text = part(c, CURLUPART_URL, CURLU_NO_DEFAULT_PORT);
	u->origin = origin_of(c);
	if (u->host == NULL || u->port == NULL || u->text == NULL ||
	    u->origin == NULL || strcmp(u->port, "0") == 0)
		return URL_BAD;
	return URL_OK;
}

/* Returns a copy of an absolute URL with an escape for each byte behind the
 * authority that is not ASCII. libcurl would do so with CURLU_URLENCODE; but
 * since 8.15 it writes these escapes in capitals, and since 8.21 also those that
 * are there already. Names of files come from the text, so it has to stay as
 * older versions write it. */
static char *
escape_rest(const char *text)
{
	const char *rest = strstr(text, "://") + 3;
	struct buf b = { 0 };

	rest += strcspn(rest, "/?#");
	buf_add(&b, text, (size_t)(rest - text));
	for (; *rest != '\0'; rest++)
		if ((unsigned char)*rest >= 0x80)
			buf_addf(&b, "%%%02x", (unsigned char)*rest);
		else
			buf_addc(&b, *rest);
	return buf_take(&b);
}

/* Parses text. base NULL: text is absolute and contains "://". */
static enum url_status
parse(struct url *u, const char *base, const char *text)
{
	const unsigned flags = CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME;
	enum url_status status;
	char *escaped = NULL;
	CURLUcode rc;
	CURLU *c;

	c = curl_url();
	if (c == NULL)
		out_of_memory();
	rc = CURLUE_OK;
	if (base != NULL)
		rc = set(c, CURLUPART_URL, base, flags);
	else
		text = escaped = escape_rest(text);
	if (rc == CURLUE_OK)
		rc = set(c, CURLUPART_URL, text, flags);
	if (rc == CURLUE_USER_NOT_ALLOWED)
		status = URL_USERINFO;
	else if (rc != CURLUE_OK)
		status = URL_BAD;
	else
		status = fill(u, c);
	/* libcurl reads "http:///host" as if it had one slash less. */
	if (status == URL_OK && base == NULL && strstr(text, "://")[3] == '/')
		status = URL_BAD;
	free(escaped);
	curl_url_cleanup(c);
	if (status != URL_OK)
		url_free(u);
	return status;
}

/* Would text be a URL with a scheme in front? "localhost:8000/mcp" would, but
 * libcurl would take "localhost" for the scheme. */
static enum url_status
without_scheme(struct url *u, const char *text)
{
	enum url_status status;
	char *guess;

	if (strncasecmp(text, "http:", 5) == 0 ||
	    strncasecmp(text, "https:", 6) == 0)
		return URL_BAD;
	guess = xasprintf("http://%s", text);
	status = parse(u, NULL, guess);
	free(guess);
	if (status == URL_OK) {
		url_free(u);
		return URL_NO_SCHEME;
	}
	return status;
}

enum url_status
url_parse(struct url *u, const char *text)
{
	size_t n;

	memset(u, 0, sizeof *u);
	if (!is_clean(text))
		return URL_BAD;
	n = scheme_length(text);
	if (n == 0 || strncmp(text + n, "://", 3) != 0)
		return without_scheme(u, text);
	return parse(u, NULL, text);
}

enum url_status
url_resolve(struct url *u, const struct url *base, const char *reference)
{
	size_t n;

	memset(u, 0, sizeof *u);
	if (reference[0] == '\0' || reference[0] == '#')
		return url_parse(u, base->text);
	if (!is_clean(reference))
		return URL_BAD;
	n = scheme_length(reference);
	if (n == 0)
		return parse(u, base->text, reference);
	if (strncmp(reference + n, "://", 3) == 0)
		return parse(u, NULL, reference);
	/* "http:path" is obsolete, "mailto:x" is another scheme. */
	if ((n == 4 && strncasecmp(reference, "http", 4) == 0) ||
	    (n == 5 && strncasecmp(reference, "https", 5) == 0))
		return URL_BAD;
	return URL_SCHEME;
}

bool
url_same_origin(const struct url *a, const struct url *b)
{
	return a->origin != NULL && b->origin != NULL &&
	    strcmp(a->origin, b->origin) == 0;
}

/* Is host a dotted quad in 127.0.0.0/8? libcurl has expanded the shorter forms;
 * "127.example.com" is a name. */
static bool
is_loopback4(const char *host)
{
	struct os_address a = os_address_read(host);

	return a.n == 4 && a.bytes[0] == 127;
}

bool
url_is_loopback(const struct url *u)
{
	static const char suffix[] = ".localhost";
	size_t n;

	if (u->host == NULL)
		return false;
	n = strlen(u->host);
	return is_loopback4(u->host) || strcmp(u->host, "[::1]") == 0 ||
	    strcmp(u->host, "localhost") == 0 ||
	    (n >= sizeof suffix &&
		strcmp(u->host + n - (sizeof suffix - 1), suffix) == 0);
}

const char *
url_authority(const struct url *u)
{
	return strstr(u->origin, "://") + 3;
}

void
url_free(struct url *u)
{
	free(u->text);
	free(u->scheme);
	free(u->host);
	free(u->port);
	free(u->origin);
	memset(u, 0, sizeof *u);
}

/* Overwrites and frees a string of libcurl: values may be secrets. */
static void
give_back(char *s)
{
	if (s != NULL)
		mem_wipe(s, strlen(s));
	curl_free(s);
}

void
url_escape(struct buf *out, struct span in)
{
	char *s;

	if (in.n == 0)
		return; /* for length 0 libcurl would call strlen */
	s = in.n > INT_MAX ? NULL : curl_easy_escape(NULL, in.p, (int)in.n);
	if (s == NULL)
		out_of_memory();
	buf_adds(out, s);
	give_back(s);
}

/* Finds a broken escape; libcurl would leave it as it is. */
static bool
has_broken_escape(struct span in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		if (in.p[i] == '%' &&
		    (in.n - i < 3 || !isxdigit((unsigned char)in.p[i + 1]) ||
			!isxdigit((unsigned char)in.p[i + 2])))
			return true;
	return false;
}

char *
url_unescape(struct span in)
{
	char *copy, *s, *out = NULL;
	size_t i;
	int n = 0;

	if (in.n == 0)
		return xstrdup("");
	if (in.n > BOUND_TEXT_BYTES || has_broken_escape(in))
		return NULL;
	copy = xstrndup(in.p, in.n);
	for (i = 0; i < in.n; i++)
		if (copy[i] == '+')
			copy[i] = ' ';
	s = curl_easy_unescape(NULL, copy, (int)in.n, &n);
	if (s != NULL && strlen(s) == (size_t)n)
		out = xstrdup(s);
	mem_wipe(copy, in.n);
	free(copy);
	give_back(s);
	return out;
}

size_t
url_host_name(char *name, size_t size, const char *host)
{
	size_t i;

	for (i = 0; i < size - 1 && host[i] != '\0'; i++) {
		name[i] = host[i];
		if (strchr(i > 0 ? FILE_BYTES "-." : FILE_BYTES, host[i]) ==
		    NULL)
			name[i] = '_';
	}
	name[i] = '\0';
	return i;
}
