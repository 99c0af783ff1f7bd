/*
 * Rules for texts that have a form, found by the field they are for, so that an
 * option and its other names have the same rule. A URL that may contain a
 * password is not quoted.
 */
#include "config.h"

#include "options/value.h"

#include <stdlib.h>

#include "io/url.h"
#include "options/options.h"
#include "options/parse.h"

#define AT(field) offsetof(struct options, field)
#define PROFILE_MAX_BYTES 64
#define PATH_MAX_BYTES 255
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static char *
wrong_regex(const char *value)
{
	char *what = option_parse_regex(value), *wrong;

	if (what == NULL)
		return NULL;
	wrong = xasprintf(": \"%s\" %s", value, what);
	free(what);
	return wrong;
}

static char *
wrong_profile(const char *value)
{
	size_t n = strlen(value);

	if (n <= PROFILE_MAX_BYTES && strspn(value, LETTERS "._-") == n)
		return NULL;
	return xasprintf(": \"%.80s\" is not a name of at most %d letters, "
			 "digits, dots, \"_\" and \"-\"",
	    value, PROFILE_MAX_BYTES);
}

static char *
wrong_callback_host(const char *value)
{
	if (option_parse_choice("127.0.0.1|localhost|0.0.0.0", value) >= 0)
		return NULL;
	return xasprintf(": \"%.80s\" is none of 127.0.0.1, localhost and "
			 "0.0.0.0: the browser has to come back to this "
			 "machine",
	    value);
}

/* The path may have no characters that a browser would write in another way. */
static char *
wrong_callback_path(const char *value)
{
	size_t n = strlen(value);

	if (value[0] == '/' && n <= PATH_MAX_BYTES &&
	    strspn(value, LETTERS "._~-/") == n &&
	    strstr(value, "/.") == NULL && strstr(value, "//") == NULL)
		return NULL;
	return xasprintf(": \"%.80s\" is not a plain path, like /callback",
	    value);
}

static char *
wrong_store(const char *value)
{
	const char *command = value + strlen("helper:");

	if (strcmp(value, "file") == 0)
		return NULL;
	if (strncmp(value, "helper:", strlen("helper:")) == 0 &&
	    command[strspn(command, " \t")] != '\0')
		return NULL;
	return xasprintf(": \"%.80s\" is neither \"file\" nor \"helper:CMD\"",
	    value);
}

static char *
wrong_url(const char *value)
{
	struct url url;

	if (url_parse(&url, value) != URL_OK)
		return xstrdup(": this is not a URL like "
			       "https://auth.example.com/");
	url_free(&url);
	return NULL;
}

/* The URL of the document is the client's id, so its path must not be empty. */
static char *
wrong_document(const char *value)
{
	const char *path;
	struct url url;
	bool ok = false;

	if (url_parse(&url, value) == URL_OK) {
		path = strstr(url.text, "://") + 3;
		path += strcspn(path, "/?#");
		ok = strcmp(url.scheme, "https") == 0 && path[0] == '/' &&
		    path[1] != '\0' && path[1] != '?';
		url_free(&url);
	}
	return ok ? NULL :
		    xstrdup(": this is not an https URL with a path, like "
			    "https://example.com/client.json");
}

static char *
wrong_resource(const char *value)
{
	if (span_is_printable(span_of(value), '!') &&
	    strchr(value, '#') == NULL)
		return NULL;
	return xstrdup(": this is not a URI without blanks and \"#\"");
}

/* RFC 6749 3.3 */
static char *
wrong_scope(const char *value)
{
	if (span_is_printable(span_of(value), ' ') &&
	    strpbrk(value, "\"\\") == NULL)
		return NULL;
	return xstrdup(": these are not scopes with blanks between them");
}

/* RFC 6749 appendix A.1 */
static char *
wrong_client_id(const char *value)
{
	if (span_is_printable(span_of(value), ' '))
		return NULL;
	return xstrdup(": it has bytes that are not printable ASCII");
}

static char *
wrong_param(const char *value)
{
	if (value[0] != '=' && strchr(value, '=') != NULL)
		return NULL;
	return xstrdup(": write NAME=VALUE");
}

char *
option_value_wrong(const struct option_row *row, const char *value)
{
	static const struct {
		size_t offset;
		char *(*wrong)(const char *value);
	} rules[] = {
		{ AT(session_lost_patterns), wrong_regex },
		{ AT(profile), wrong_profile },
		{ AT(callback_host), wrong_callback_host },
		{ AT(callback_path), wrong_callback_path },
		{ AT(auth_store), wrong_store },
		{ AT(issuer), wrong_url },
		{ AT(idp), wrong_url },
		{ AT(token_endpoint), wrong_url },
		{ AT(client_metadata_url), wrong_document },
		{ AT(resource), wrong_resource },
		{ AT(scope), wrong_scope },
		{ AT(client_id), wrong_client_id },
		{ AT(authorize_params), wrong_param },
	};
	size_t i;

	for (i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (row->offset == rules[i].offset)
			return rules[i].wrong(value);
	return NULL;
}
