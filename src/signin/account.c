/* Makes everything that a sign-in needs from the options. */
#include "config.h"

#include "signin/account.h"

#include <stdlib.h>

#include "auth/assertion.h"
#include "io/ancestor_environment.h"
#include "options/table.h"
#include "os/desktop.h"
#include "os/file.h"
#include "os/process.h"

/* --- the client --- */

/* Reads --static-oauth-client-info or -metadata of mcp-remote: JSON, or
 * @FILE. */
static struct json_object *
client_document(const char *option, const char *text, char **why)
{
	const struct variables env = { setup_variable, NULL };
	struct json_object *o = NULL;
	char *content = NULL;
	const char *fault = NULL;
	struct buf full = { 0 };

	if (*text == '@' &&
	    (content = secret_file(option, text + 1, why)) == NULL)
		return NULL;
	if (variables_expand(span_of(content != NULL ? content : text), &env,
		&full, why) == 0)
		o = document_parse(buf_span(&full), &fault);
	buf_wipe(&full);
	secret_free(content);
	if (o == NULL && fault != NULL)
		*why = xasprintf("%s: %s", option, fault);
	return o;
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
		a->client_id = string_copy(document_text(doc, "client_id"));
		a->client_secret = string_copy(document_text(doc,
		    "client_secret"));
		json_object_put(doc);
		if (a->client_id == NULL)
			return fail_why(why,
			    "--static-oauth-client-info has no client_id");
	}
	if (o->client_metadata != NULL) {
		doc = client_document("--static-oauth-client-metadata",
		    o->client_metadata, why);
		if (doc == NULL)
			return -1;
		a->client_scope = string_copy(document_text(doc, "scope"));
		a->client_metadata = doc;
	}
	return 0;
}

/* path NULL: there is none. */
static int
read_key(struct assertion_key **key, const char *option, const char *path,
    char **why)
{
	char *pem;

	if (path == NULL)
		return 0;
	pem = secret_file(option, path, why);
	if (pem == NULL)
		return -1;
	*key = assertion_key(span_of(pem), why);
	secret_free(pem);
	return *key == NULL ? -1 : 0;
}

static int
read_client(struct account *a, char **why)
{
	const struct options *o = a->options;

	if (read_documents(a, why) != 0)
		return -1;
	if (o->client_id != NULL) {
		string_set(&a->client_id, o->client_id);
	}
	if (o->client_secret_file != NULL &&
	    (a->client_secret = secret_file("--client-secret-file",
		 o->client_secret_file, why)) == NULL)
		return -1;
	if (o->client_secret_env != NULL &&
	    (a->client_secret = secret_env("--client-secret-env",
		 o->client_secret_env, why)) == NULL)
		return -1;
	return read_key(&a->client_key, "--client-key", o->client_key, why);
}

/* --- a token that is passed --- */

static int
token_of(struct token_source *t, const char *const name[3], const char *file,
    const char *variable, const char *command, const char *const *unset,
    char **why)
{
	char *fault;

	*t = (struct token_source){
		.option = file != NULL ? name[0] :
		    variable != NULL   ? name[1] :
					 name[2],
		.file = file,
		.variable = variable,
		.unset = unset,
	};
	if (command == NULL)
		return 0;
	t->command = child_words(command, &fault);
	if (t->command != NULL)
		return 0;
	*why = xasprintf("%s: %s", t->option, fault);
	free(fault);
	return -1;
}

/* --- the provider --- */

static bool
allow(const struct sockaddr *sa, void *arg)
{
	struct fetcher *const *f = arg;

	return fetcher_allows(sa, *f);
}

static int
read_secrets(struct account_provider *p, const struct options *o, char **why)
{
	if (o->idp_client_secret_file != NULL &&
	    (p->secret = secret_file("--idp-client-secret-file",
		 o->idp_client_secret_file, why)) == NULL)
		return -1;
	return read_key(&p->key, "--idp-key", o->idp_key, why);
}

static int
find_id_token(struct account_provider *p, const struct account *a, char **why)
{
	static const char *const names[] = { "--idp-token-file",
		"--idp-token-env", "--idp-token-command" };
	const struct options *o = a->options;

	if (o->idp_token_file == NULL && o->idp_token_env == NULL &&
	    o->idp_token_command == NULL)
		return 0;
	p->config.id_token = &p->id_token;
	return token_of(&p->id_token, names, o->idp_token_file,
	    o->idp_token_env, o->idp_token_command, a->login.desktop.unset,
	    why);
}

/* The login at the provider: that of a client which the user has registered,
 * for no resource. */
static void
fill_provider(struct account_provider *p, const struct account *a)
{
	const struct login_config *of_server = &a->login;
	const struct options *o = a->options;
	struct login_config *c = &p->login;

	c->server = &p->url;
	c->profile = o->profile;
	c->mode = LOGIN_BROWSER;
	c->identity = p->config.name;
	c->client_id = o->idp_client_id;
	c->client_secret = p->secret;
	c->client_key = p->key;
	c->issuer = o->idp;
	c->scope = "openid";
	c->no_resource = true;
	c->params = of_server->params;
	c->policy = p->config.policy;
	c->callback_port = of_server->callback_port;
	c->callback_host = of_server->callback_host;
	c->callback_path = of_server->callback_path;
	c->browser = of_server->browser;
	c->device_first = of_server->browser == NULL;
	c->desktop = of_server->desktop;
	c->timeout_ms = of_server->timeout_ms;
}

static int
find_provider(struct account *a, char **why)
{
	const struct options *o = a->options;
	struct account_provider *p = &a->provider;
	struct login_provider *c = &p->config;

	if (o->idp == NULL)
		return 0;
	if (url_parse(&p->url, o->idp) != URL_OK)
		return fail_why(why, "--idp: \"%s\" is not a URL", o->idp);
	if (read_secrets(p, o, why) != 0 || find_id_token(p, a, why) != 0)
		return -1;
	p->http = network_auth(&a->network, a->loop, o, allow, &c->fetcher,
	    why);
	if (p->http == NULL)
		return -1;
	/* The user names the provider, and not the MCP server: it may be
	 * anywhere but at an address that is never used. */
	c->fetcher = fetcher_new(a->loop, p->http, ADDRESS_PUBLIC, true);
	c->issuer = o->idp;
	c->client_id = o->idp_client_id;
	c->client_secret = p->secret;
	c->client_key = p->key;
	c->policy = a->login.policy;
	c->policy.is_provider = true;
	two_logins_name(c->name, o->idp, o->idp_client_id, o->profile);
	fill_provider(p, a);
	a->login.provider = c;
	a->signs_in = c->id_token == NULL ? &p->login : NULL;
	return 0;
}

static void
free_provider(struct account *a)
{
	struct account_provider *p = &a->provider;

	fetcher_free(p->config.fetcher);
	http_free(p->http);
	string_list_free(p->id_token.command);
	assertion_key_free(p->key);
	secret_free(p->secret);
	url_free(&p->url);
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
	a->login.assertion = &a->assertion;
	return token_of(&a->assertion, names, o->assertion_file,
	    o->assertion_env, o->assertion_command, a->login.desktop.unset,
	    why);
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
	if (peer != NULL && setup_needs_peer(a->options, &a->url) &&
	    address_literal(peer, &class) == 0)
		return class;
	return ADDRESS_PUBLIC;
}

void
account_set_peer(struct account *a, const char *peer)
{
	fetcher_allow(a->fetcher, class_of(a, peer));
}

/* Looks where the user's desktop is. Hosts pass on HOME, PATH and little else;
 * what they have is taken for the browser and the notification alone. */
static void
find_desktop(struct account *a)
{
	static const char *const names[] = { "DISPLAY", "WAYLAND_DISPLAY",
		"XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
		NULL };

	a->desktop = ancestors_variables("/proc", os_parent_id(), names);
	a->login.desktop.set = (const char *const *)a->desktop;
}

/* Is this variable set, to a value, here or in the environment of the host? */
static bool
is_set(const struct account *a, const char *name)
{
	const char *value = getenv(name);
	size_t n = strlen(name);
	char **v;

	for (v = a->desktop; value == NULL && v != NULL && *v != NULL; v++)
		if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
			value = *v + n + 1;
	return value != NULL && *value != '\0';
}

bool
account_has_display(const struct account *a)
{
	return os_desktop_is_sure || is_set(a, "DISPLAY") ||
	    is_set(a, "WAYLAND_DISPLAY");
}

static int
find_browser(struct account *a, char **why)
{
	const char *command = a->options->browser;

	if (a->options->no_browser)
		return 0;
	if (command == NULL)
		command = os_host_browser();
	/* a browser that the user names may need no display */
	a->browser = browser_command(command,
	    command != NULL || account_has_display(a), why);
	return *why != NULL ? -1 : 0;
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
	c->gives_secret = a->client_secret != NULL ||
	    document_has(a->client_metadata, "software_statement") ||
	    document_has(a->client_metadata, "client_secret");
	c->elsewhere = o->unix_socket != NULL;
	c->issuer = o->issuer;
	c->scope = o->scope != NULL ? o->scope : a->client_scope;
	c->resource = o->resource;
	c->token_endpoint = o->token_endpoint;
	c->no_resource = o->no_resource;
	c->params = (const char *const *)o->authorize_params.list;
	c->knows_place = peer != NULL && setup_needs_peer(o, &a->url);
	c->is_public = class_of(a, peer) == ADDRESS_PUBLIC;
	c->policy.allow_http = o->allow_http;
	c->policy.cross_origin_prm = o->allow_cross_origin_prm;
	c->policy.assume_pkce = o->assume_pkce;
	c->callback_port = o->callback_port;
	c->callback_host = o->callback_host;
	c->callback_path = o->callback_path;
	c->browser = a->browser;
	c->timeout_ms = o->login_timeout_ms;
	c->retry_ms = o->retry_window_ms;
}

int
account_init(struct account *a, struct loop *l, const struct options *o,
    const char *peer, char **why)
{
	memset(a, 0, sizeof *a);
	a->options = o;
	a->loop = l;
	a->unset = setup_unset(o);
	a->login.desktop.unset = (const char *const *)a->unset;
	find_desktop(a);
	if (url_parse(&a->url, o->url) != URL_OK)
		return fail_why(why, "\"%s\" is not a URL", o->url);
	if (read_client(a, why) != 0 || find_assertion(a, why) != 0 ||
	    find_browser(a, why) != 0)
		return -1;
	a->http = network_auth(&a->network, l, o, allow, &a->fetcher, why);
	if (a->http == NULL)
		return -1;
	a->fetcher = fetcher_new(l, a->http, class_of(a, peer),
	    o->allow_private_auth);
	a->store = setup_store(l, o, a->login.desktop.unset,
	    o->command != COMMAND_CHECK, &a->store_why);
	fill_login(a, peer);
	if (find_provider(a, why) != 0)
		return -1;
	setup_import(&a->import, o, &a->url, &a->import_folder);
	if (a->import.folder != NULL && o->profile == NULL)
		a->login.import = &a->import;
	return 0;
}

void
account_free(struct account *a)
{
	store_free(a->store);
	fetcher_free(a->fetcher);
	http_free(a->http);
	free_provider(a);
	network_free(&a->network);
	assertion_key_free(a->client_key);
	string_list_free(a->assertion.command);
	string_list_free(a->browser);
	challenge_free(&a->challenge);
	free(a->client_id);
	secret_free(a->client_secret);
	free(a->client_scope);
	json_object_put(a->client_metadata);
	string_list_free(a->unset);
	string_list_free(a->desktop);
	free(a->import_folder);
	free(a->store_why);
	url_free(&a->url);
}
