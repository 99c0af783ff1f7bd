/* Words for a URL that cannot be used. */
#include "config.h"

#include "options/bad_url.h"

#include <stdlib.h>
#include <string.h>

static bool
is_good(const char *text)
{
	struct url url;
	bool good = url_parse(&url, text) == URL_OK;

	if (good)
		url_free(&url);
	return good;
}

/* Returns "https://host" for "https//host", "https:/host" and the like; NULL
 * for another text. The caller owns it. */
static char *
with_marks(const char *text)
{
	size_t scheme = strncmp(text, "https", 5) == 0 ? 5 : 4;
	size_t marks;
	char *guess;

	if (strncmp(text, "http", 4) != 0)
		return NULL;
	marks = strspn(text + scheme, ":/");
	if (marks == 0)
		return NULL;
	guess = xasprintf("%.*s://%s", (int)scheme, text,
	    text + scheme + marks);
	if (strcmp(guess, text) != 0 && is_good(guess))
		return guess;
	free(guess);
	return NULL;
}

static char *
no_scheme(const char *text)
{
	char *guess = xasprintf("http://%s", text);
	struct url url;
	bool plain = false;

	if (url_parse(&url, guess) == URL_OK) {
		plain = url_is_loopback(&url);
		url_free(&url);
	}
	free(guess);
	return xasprintf("\"%s\" has no scheme; did you mean http%s://%s?",
	    text, plain ? "" : "s", text);
}

static char *
wrong_scheme(const char *text)
{
	const char *rest = strstr(text, "://");
	size_t n = strcspn(text, ":");
	bool plain = n < 5 && memchr(text, 's', n) == NULL;

	if (rest == NULL)
		return no_scheme(text);
	return xasprintf("\"%s\" has an unknown scheme; did you "
			 "mean http%s%s?",
	    text, plain ? "" : "s", rest);
}

/* Is the port all that is wrong? An IPv6 address without brackets has colons of
 * its own. */
static bool
has_bad_port(const char *text)
{
	const char *host = strstr(text, "://"), *port = NULL, *at;
	size_t colons = 0;
	char *without;
	bool bad;

	if (host == NULL)
		return false;
	for (at = host + 3; *at != '\0' && strchr("/?#", *at) == NULL; at++)
		if (*at == ':') {
			port = at;
			colons++;
		} else if (*at == ']') {
			port = NULL;
			colons = 0;
		}
	if (port == NULL || colons > 1)
		return false;
	without = xasprintf("%.*s%s", (int)(port - text), text, at);
	bad = is_good(without);
	free(without);
	return bad;
}

/* May there be a password in front of an "@"? A path like /@scope has none. */
static bool
may_hide_password(const char *text)
{
	const char *at = strchr(text, '@');

	while (at != NULL && at > text && at[-1] == '/' && at - text > 1 &&
	    at[-2] != '/' && at[-2] != ':')
		at = strchr(at + 1, '@');
	return at != NULL;
}

/* text has no password. */
static char *
explain(enum url_status status, const char *text, enum command command)
{
	char *guess, *why;

	guess = with_marks(text);
	if (guess != NULL) {
		why = xasprintf("\"%s\" is not a URL; did you mean %s?", text,
		    guess);
		free(guess);
		return why;
	}
	if (status == URL_NO_SCHEME && command == COMMAND_CALL &&
	    strpbrk(text, ".:/") == NULL)
		return xasprintf("\"%s\" is not a URL; write the URL before the "
				 "tool: mcpsplice call URL TOOL [ARGUMENT...]",
		    text);
	if (status == URL_NO_SCHEME)
		return no_scheme(text);
	if (status == URL_SCHEME)
		return wrong_scheme(text);
	if (has_bad_port(text))
		return xasprintf("\"%s\": the port is a number from 1 to 65535",
		    text);
	return xasprintf("\"%s\" is not a URL; it should be like "
			 "https://mcp.example.com/mcp",
	    text);
}

char *
option_bad_url(enum url_status status, const char *text, enum command command)
{
	char *shown, *why;

	if (status == URL_USERINFO)
		return xstrdup("a user name or password in the URL is "
			       "refused; use -H 'Authorization: Basic ${VAR}'");
	if (may_hide_password(text))
		return xstrdup("the URL cannot be understood; it should be like "
			       "https://mcp.example.com/mcp");
	/* a query may have a token */
	shown = xasprintf("%.*s%s", (int)strcspn(text, "?"), text,
	    strchr(text, '?') == NULL ? "" : "?...");
	why = explain(status, shown, command);
	free(shown);
	return why;
}
