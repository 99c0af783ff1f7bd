/* Makes everything that a sign-in needs from the options. */
#include "config.h"

#include "app/account.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/secret.h"
#include "base/log.h"
#include "io/child.h"
#include "login/browser.h"
#include "login/client_messages.h"
#include "options/table.h"
#include "store/credential.h"

/* --- the client --- */

static const char *
variable(const char *name, void *arg)
{
	(void)arg;
	return getenv(name);
}

struct given_config
account_given(const struct options *o)
{
	return (struct given_config){
		.headers = (const char *const *)o->headers.list,
		.bearer_file = o->bearer_file,
		.bearer_env = o->bearer_env,
		.env = variable,
	};
}

/* Reads --static-oauth-client-info or -metadata of mcp-remote: JSON, or
 * @FILE. */
static struct json_object *
client_document(const char *option, const char *text, char **why)
{
	const struct credential_env env = { variable, NULL };
	struct json_object *o = NULL;
	char *content = NULL;
	const char *fault = NULL;
	struct buf full;

	if (*text == '@' &&
	    (content = secret_file(option, text + 1, why)) == NULL)
		return NULL;
	buf_init(&full, 0);
	if (credential_expand(span_of(content != NULL ? content : text), &env,
		&full, why) == 0)
		o = document_parse(buf_span(&full), &fault);
	buf_wipe(&full);
	secret_free(content);
	if (o == NULL && fault != NULL)
		*why = xasprintf("%s: %s", option, fault);
	return o;
}

static char *
copy_of(struct json_object *o, const char *name)
{
	const char *text = document_text(o, name);

	return text == NULL ? NULL : xstrdup(text);
}

static int
read_documents(struct account *a, char **why)
{
	const struct options *o = a->options;
	struct json_object *doc;

	if (o->client_info != NULL) {
		doc = client_document("--static-oauth-client-info",
		    o->client_info, why);
		if (doc == NULL)
			return -1;
		a->client_id = copy_of(doc, "client_id");
		a->client_secret = copy_of(doc, "client_secret");
		json_object_put(doc);
		if (a->client_id == NULL) {
			*why = xstrdup("--static-oauth-client-info has no "
				       "client_id");
			return -1;
		}
	}
	if (o->client_metadata != NULL) {
		doc = client_document("--static-oauth-client-metadata",
		    o->client_metadata, why);
		if (doc == NULL)
			return -1;
		a->client_scope = copy_of(doc, "scope");
		a->client_metadata = doc;
	}
	return 0;
}

static int
read_key(struct account *a, char **why)
{
	char *pem = secret_file("--client-key", a->options->client_key, why);

	if (pem == NULL)
		return -1;
	a->client_key = assertion_key(span_of(pem), why);
	secret_free(pem);
	return a->client_key == NULL ? -1 : 0;
}

static int
read_client(struct account *a, char **why)
{
	const struct options *o = a->options;

	if (read_documents(a, why) != 0)
		return -1;
	if (o->client_id != NULL) {
		free(a->client_id);
		a->client_id = xstrdup(o->client_id);
	}
	if (o->client_secret_file != NULL &&
	    (a->client_secret = secret_file("--client-secret-file",
		 o->client_secret_file, why)) == NULL)
		return -1;
	if (o->client_secret_env != NULL &&
	    (a->client_secret = secret_env("--client-secret-env",
		 o->client_secret_env, why)) == NULL)
		return -1;
	return o->client_key == NULL ? 0 : read_key(a, why);
}

/* --- a token of the platform --- */

static int
find_assertion(struct account *a, char **why)
{
	static const char *const names[] = { "--assertion-file",
		"--assertion-env", "--assertion-command" };
	const struct options *o = a->options;

	if (o->auth != AUTH_WORKLOAD)
		return 0;
	a->login.assertion = &a->assertion.source;
	return account_token(&a->assertion, names, o->assertion_file,
	    o->assertion_env, o->assertion_command, a->login.unset, why);
}

/* --- address of the server, and environment --- */

/* Behind an HTTP proxy, or if nothing is known, the server counts as one on the
 * internet, unless its URL says otherwise. */
static enum address_class
class_of(const struct account *a, const char *peer)
{
	enum address_class class;

	if (url_is_loopback(&a->url) || a->options->unix_socket != NULL)
		return ADDRESS_LOOPBACK;
	if (address_literal(a->url.host, &class) == 0)
		return class;
	if (peer != NULL && account_needs_peer(a->options, &a->url) &&
	    address_literal(peer, &class) == 0)
		return class;
	return ADDRESS_PUBLIC;
}

bool
account_needs_peer(const struct options *o, const struct url *url)
{
	enum address_class class;

	return !url_is_loopback(url) && o->unix_socket == NULL &&
	    address_literal(url->host, &class) != 0 &&
	    !network_has_proxy(o, url->text);
}

void
account_set_peer(struct account *a, const char *peer)
{
	fetcher_allow(a->fetcher, class_of(a, peer));
}

static bool
allow(const struct sockaddr *sa, void *arg)
{
	struct account *a = arg;

	return fetcher_allows(sa, a->fetcher);
}

struct loop *
account_loop(char **why)
{
	struct loop *l = loop_new();

	if (l == NULL)
		*why = xstrdup("the system gives no event loop");
	return l;
}

void
account_log(const struct options *o, enum log_level usual)
{
	struct log_config log = { .level = usual };

	if (o->quiet)
		log.level = LEVEL_ERROR;
	else if (o->verbose > 0)
		log.level = o->verbose > 1 ? LEVEL_DEBUG : LEVEL_INFO;
	log_open(&log);
}

void
account_warn(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->warnings.n; i++)
		log_warn("%s", o->warnings.list[i]);
}

static void
add_name(char ***list, size_t *n, char *name)
{
	*list = xrealloc(*list, (*n + 2) * sizeof **list);
	(*list)[(*n)++] = name;
	(*list)[*n] = NULL;
}

/* Adds each ${NAME} of a text that the user passes, or of the file that it
 * names by @FILE. */
static void
add_names_in(char ***list, size_t *n, const char *text)
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
		add_name(list, n, xstrndup(at + 2, (size_t)(end - at) - 2));
		at = end;
	}
	buf_wipe(&content);
}

char **
account_unset(const struct options *o)
{
	char **list = xcalloc(1, sizeof *list);
	size_t n = 0, i;

	if (o->bearer_env != NULL)
		add_name(&list, &n, xstrdup(o->bearer_env));
	if (o->client_secret_env != NULL)
		add_name(&list, &n, xstrdup(o->client_secret_env));
	if (o->assertion_env != NULL)
		add_name(&list, &n, xstrdup(o->assertion_env));
	if (o->idp_token_env != NULL)
		add_name(&list, &n, xstrdup(o->idp_token_env));
	for (i = 0; i < o->headers.n; i++)
		add_names_in(&list, &n, o->headers.list[i]);
	add_names_in(&list, &n, o->client_info);
	add_names_in(&list, &n, o->client_metadata);
	for (i = 0; i < option_table_rows; i++)
		if ((option_table[i].flags & OPTION_SECRET) != 0 ||
		    option_table[i].kind == OPTION_HEADER)
			add_name(&list, &n,
			    option_table_variable(&option_table[i]));
	return list;
}

void
account_unset_free(char **list)
{
	size_t i;

	for (i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free(list);
}

bool
account_has_display(void)
{
#ifdef __APPLE__
	return true;
#else
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x != NULL && *x != '\0') ||
	    (wayland != NULL && *wayland != '\0');
#endif
}

/* Windows' browser, for Linux on Windows; NULL: there is none. */
static const char *
wsl_browser(void)
{
	static const char program[] = "/usr/bin/wslview";

	return getenv("WSL_DISTRO_NAME") != NULL && access(program, X_OK) == 0 ?
	    program :
	    NULL;
}

static int
find_browser(struct account *a, char **why)
{
	const char *command = a->options->browser;

	if (a->options->no_browser)
		return 0;
	if (command == NULL)
		command = wsl_browser();
	/* a browser that the user names may need no display */
	a->browser = browser_command(command,
	    command != NULL || account_has_display(), why);
	return *why != NULL ? -1 : 0;
}

struct store *
account_store(struct loop *l, const struct options *o, const char *const *unset,
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
account_import(struct import_config *c, const struct options *o,
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

/* --- the whole account --- */

static enum login_mode
mode_of(const struct options *o)
{
	switch (o->auth) {
	case AUTH_DEVICE:
		return LOGIN_DEVICE;
	case AUTH_CLIENT_CREDENTIALS:
	case AUTH_WORKLOAD:
	case AUTH_ENTERPRISE:
		return LOGIN_CREDENTIALS;
	default:
		return LOGIN_BROWSER;
	}
}

static void
fill_login(struct account *a, const char *peer)
{
	const struct options *o = a->options;
	struct login_config *c = &a->login;

	c->server = &a->url;
	c->profile = o->profile;
	c->mode = mode_of(o);
	c->challenge = &a->challenge;
	c->client_id = a->client_id;
	c->client_secret = a->client_secret;
	c->client_key = a->client_key;
	c->client_document = o->client_metadata_url;
	c->client_metadata = a->client_metadata;
	c->issuer = o->issuer;
	c->scope = o->scope != NULL ? o->scope : a->client_scope;
	c->resource = o->resource;
	c->token_endpoint = o->token_endpoint;
	c->no_resource = o->no_resource;
	c->params = (const char *const *)o->authorize_params.list;
	c->knows_place = peer != NULL && account_needs_peer(o, &a->url);
	c->is_public = class_of(a, peer) == ADDRESS_PUBLIC;
	c->policy.allow_http = o->allow_http;
	c->policy.cross_origin_prm = o->allow_cross_origin_prm;
	c->policy.assume_pkce = o->assume_pkce;
	c->callback_port = o->callback_port;
	c->callback_host = o->callback_host;
	c->callback_path = o->callback_path;
	c->browser = a->browser;
	c->timeout_ms = o->login_timeout_ms;
}

static int
check_params(const struct options *o, char **why)
{
	size_t i;

	for (i = 0; i < o->authorize_params.n; i++)
		if (!client_param_ok(o->authorize_params.list[i], why))
			return -1;
	return 0;
}

int
account_init(struct account *a, struct loop *l, const struct options *o,
    const char *peer, char **why)
{
	memset(a, 0, sizeof *a);
	a->options = o;
	a->loop = l;
	a->unset = account_unset(o);
	a->login.unset = (const char *const *)a->unset;
	if (url_parse(&a->url, o->url) != URL_OK) {
		*why = xasprintf("\"%s\" is no URL", o->url);
		return -1;
	}
	if (check_params(o, why) != 0 || read_client(a, why) != 0 ||
	    find_assertion(a, why) != 0 || find_browser(a, why) != 0)
		return -1;
	a->http = network_auth(&a->network, l, o, allow, a, why);
	if (a->http == NULL)
		return -1;
	a->fetcher = fetcher_new(l, a->http, class_of(a, peer),
	    o->allow_private_auth);
	a->store = account_store(l, o, a->login.unset,
	    o->command != COMMAND_CHECK, &a->store_why);
	fill_login(a, peer);
	if (account_find_provider(a, why) != 0)
		return -1;
	account_import(&a->import, o, &a->url, &a->import_folder);
	if (a->import.folder != NULL && o->profile == NULL)
		a->login.import = &a->import;
	return 0;
}

void
account_free(struct account *a)
{
	store_free(a->store);
	fetcher_free(a->fetcher);
	if (a->http != NULL)
		http_free(a->http);
	account_free_provider(a);
	network_free(&a->network);
	assertion_key_free(a->client_key);
	child_words_free(a->assertion.command);
	child_words_free(a->browser);
	challenge_free(&a->challenge);
	free(a->client_id);
	secret_free(a->client_secret);
	free(a->client_scope);
	json_object_put(a->client_metadata);
	account_unset_free(a->unset);
	free(a->import_folder);
	free(a->store_why);
	url_free(&a->url);
}
