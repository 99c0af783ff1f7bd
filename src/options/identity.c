/*
 * The identity is a list of values in a fixed order, each with its length in
 * front, so that different lists never give the same bytes.
 */
#include "config.h"

#include "options/options.h"

#include <stdlib.h>
#include <string.h>

#include "io/url.h"

/* Adds one value; NULL differs from "". */
static void
add_value(struct buf *b, const char *value)
{
	if (value == NULL)
		buf_adds(b, "-,");
	else
		buf_addf(b, "%zu:%s,", strlen(value), value);
}

static void
add_list(struct buf *b, const struct strings *list)
{
	size_t i;

	buf_addf(b, "%zu,", list->n);
	for (i = 0; i < list->n; i++)
		add_value(b, list->list[i]);
}

/* Adds the value of a variable: another value is another identity. The content
 * of a file is not added, because it is a token that gets renewed. */
static void
add_variable(struct buf *b, const char *name, size_t n)
{
	char *copy = xstrndup(name, n);

	add_value(b, getenv(copy));
	free(copy);
}

/* Adds the variable of each ${NAME} in text. */
static void
add_variables(struct buf *b, const char *text)
{
	const char *at, *end;

	for (at = strstr(text, "${"); at != NULL; at = strstr(end, "${")) {
		end = strchr(at, '}');
		if (end == NULL)
			return;
		add_variable(b, at + 2, (size_t)(end - at) - 2);
	}
}

/* Adds the value of an option that came later: only where it is set, so that
 * the identity of all others stays as it was. */
static void
add_later(struct buf *b, const char *name, const char *value)
{
	if (value == NULL)
		return;
	add_value(b, name);
	add_value(b, value);
}

int
options_identity(const struct options *o, struct buf *identity, char **host)
{
	struct buf *b = identity;
	struct url url;
	size_t i;

	if (o->url == NULL || url_parse(&url, o->url) != URL_OK)
		return -1;
	add_value(b, url.text);
	add_list(b, &o->headers);
	for (i = 0; i < o->headers.n; i++)
		add_variables(b, o->headers.list[i]);
	add_value(b, o->profile);
	add_value(b, o->client_id);
	add_value(b, o->auth_command);
	add_value(b, o->netrc_file);
	add_value(b, o->bearer_file);
	add_value(b, o->bearer_env);
	if (o->bearer_env != NULL)
		add_variable(b, o->bearer_env, strlen(o->bearer_env));
	add_value(b, o->cert);
	add_value(b, o->unix_socket);
	add_list(b, &o->resolve);
	add_later(b, "assertion-file", o->assertion_file);
	add_later(b, "assertion-env", o->assertion_env);
	add_later(b, "assertion-command", o->assertion_command);
	if (o->negotiate)
		add_value(b, "negotiate");
	add_later(b, "idp", o->idp);
	add_later(b, "idp-client-id", o->idp_client_id);
	add_later(b, "idp-token-file", o->idp_token_file);
	add_later(b, "idp-token-env", o->idp_token_env);
	add_later(b, "idp-token-command", o->idp_token_command);
	add_later(b, "aws-sigv4", o->aws_sigv4);
	if (o->aws_sigv4 != NULL && o->auth_command == NULL)
		add_value(b, getenv("AWS_ACCESS_KEY_ID"));
	*host = xstrdup(url.host);
	url_free(&url);
	return 0;
}
