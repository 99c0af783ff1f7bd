/* What all programs make of the options before they begin. */
#include "config.h"

#include "options/setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/address.h"
#include "options/network.h"
#include "options/secret.h"
#include "options/table.h"

struct loop *
setup_loop(char **why)
{
	struct loop *l = loop_new();

	if (l == NULL)
		*why = xstrdup("the system gives no event loop");
	return l;
}

void
setup_log(const struct options *o, enum log_level usual)
{
	struct log_config log = { .level = usual };

	if (o->quiet)
		log.level = LEVEL_ERROR;
	else if (o->verbose > 0)
		log.level = o->verbose > 1 ? LEVEL_DEBUG : LEVEL_INFO;
	log_open(&log);
}

void
setup_warn(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->warnings.n; i++)
		log_warn("%s", o->warnings.list[i]);
}

const char *
setup_variable(const char *name, void *arg)
{
	(void)arg;
	return getenv(name);
}

struct given_config
setup_given(const struct options *o)
{
	return (struct given_config){
		.headers = (const char *const *)o->headers.list,
		.bearer_file = o->bearer_file,
		.bearer_env = o->bearer_env,
		.env = setup_variable,
	};
}

/* Adds each ${NAME} of a text that the user passes, or of the file that it
 * names by @FILE. */
static void
add_names_in(struct strings *list, const char *text)
{
	const char *at = text, *end;
	struct buf content;

	buf_init(&content, 0);
	if (text != NULL && *text == '@') {
		secret_peek(text + 1, &content);
		at = buf_str(&content);
	}
	while (at != NULL && (at = strstr(at, "${")) != NULL &&
	    (end = strchr(at, '}')) != NULL) {
		strings_add(list, xstrndup(at + 2, (size_t)(end - at) - 2));
		at = end;
	}
	buf_wipe(&content);
}

char **
setup_unset(const struct options *o)
{
	struct strings list = { 0 };
	size_t i;

	strings_add(&list, NULL);
	if (o->bearer_env != NULL)
		strings_add(&list, xstrdup(o->bearer_env));
	if (o->client_secret_env != NULL)
		strings_add(&list, xstrdup(o->client_secret_env));
	if (o->assertion_env != NULL)
		strings_add(&list, xstrdup(o->assertion_env));
	if (o->idp_token_env != NULL)
		strings_add(&list, xstrdup(o->idp_token_env));
	if (o->aws_sigv4 != NULL && o->auth_command == NULL) {
		strings_add(&list, xstrdup("AWS_SECRET_ACCESS_KEY"));
		strings_add(&list, xstrdup("AWS_SESSION_TOKEN"));
	}
	for (i = 0; i < o->headers.n; i++)
		add_names_in(&list, o->headers.list[i]);
	add_names_in(&list, o->client_info);
	add_names_in(&list, o->client_metadata);
	for (i = 0; i < option_table_rows; i++)
		if ((option_table[i].flags & OPTION_SECRET) != 0 ||
		    option_table[i].kind == OPTION_HEADER)
			strings_add(&list,
			    option_table_variable(&option_table[i]));
	return list.list;
}

struct store *
setup_store(struct loop *l, const struct options *o, const char *const *unset,
    bool make, char **why)
{
	struct store_config c = {
		.make = make,
		.home = getenv("HOME"),
		.helper = options_store_helper(o),
		.unset = unset,
	};

	return store_new(l, &c, why);
}

void
setup_import(struct import_config *c, const struct options *o,
    const struct url *url, char **folder)
{
	const char *given = getenv("MCP_REMOTE_CONFIG_DIR");
	const char *home = getenv("HOME");

	memset(c, 0, sizeof *c);
	*folder = NULL;
	if (given != NULL && *given != '\0')
		*folder = xstrdup(given);
	else if (home != NULL && *home != '\0')
		*folder = xasprintf("%s/.mcp-auth", home);
	c->folder = *folder;
	c->url = o->url;
	c->normal = url->text;
	c->resource = o->resource;
	c->params = (const char *const *)o->authorize_params.list;
	c->headers = (const char *const *)o->headers.list;
	c->client_document = o->client_metadata_url;
	c->token_endpoint = o->token_endpoint;
}

bool
setup_needs_peer(const struct options *o, const struct url *url)
{
	enum address_class class;

	return !url_is_loopback(url) && o->unix_socket == NULL &&
	    address_literal(url->host, &class) != 0 &&
	    !network_has_proxy(o, url->text);
}

char *
setup_program(const struct options *o)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path);

	if (n > 0 && (size_t)n < sizeof path &&
	    access("/proc/self/exe", X_OK) == 0)
		return xstrdup("/proc/self/exe");
	return xstrdup(o->argv[0]);
}
