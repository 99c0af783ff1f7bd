/* What the options pass instead of a sign-in, and the identity provider of --auth
 * enterprise. */
#include "config.h"

#include "app/account.h"

#include <stdlib.h>
#include <string.h>

#include "app/secret.h"
#include "io/child.h"

/* --- a token that is passed --- */

static char *
read_given(void *arg, char **why)
{
	const struct account_token *t = arg;

	return t->file != NULL ?
	    secret_platform_file(t->source.option, t->file, why) :
	    secret_env(t->source.option, t->variable, why);
}

int
account_token(struct account_token *t, const char *const name[3],
    const char *file, const char *variable, const char *command,
    const char *const *unset, char **why)
{
	char *fault;

	t->file = file;
	t->variable = variable;
	t->source = (struct token_source){
		.option = file != NULL ? name[0] :
		    variable != NULL   ? name[1] :
					 name[2],
		.read = read_given,
		.arg = t,
		.unset = unset,
	};
	if (command == NULL)
		return 0;
	t->command = child_words(command, &fault);
	if (t->command == NULL) {
		*why = xasprintf("%s: %s", t->source.option, fault);
		free(fault);
		return -1;
	}
	t->source.command = t->command;
	return 0;
}

/* --- the provider --- */

/* The user names the provider, and not the MCP server: it may be anywhere but
 * at an address that is never used. */
static bool
allow(const struct sockaddr *sa, void *arg)
{
	struct account_provider *p = arg;

	return fetcher_allows(sa, p->config.fetcher);
}

static int
read_secrets(struct account_provider *p, const struct options *o, char **why)
{
	char *pem;

	if (o->idp_client_secret_file != NULL &&
	    (p->secret = secret_file("--idp-client-secret-file",
		 o->idp_client_secret_file, why)) == NULL)
		return -1;
	if (o->idp_key == NULL)
		return 0;
	pem = secret_file("--idp-key", o->idp_key, why);
	if (pem == NULL)
		return -1;
	p->key = assertion_key(span_of(pem), why);
	secret_free(pem);
	return p->key == NULL ? -1 : 0;
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
	p->config.id_token = &p->id_token.source;
	return account_token(&p->id_token, names, o->idp_token_file,
	    o->idp_token_env, o->idp_token_command, a->login.unset, why);
}

/* The login at the provider: that of a client which the user has registered,
 * for no resource. */
static void
fill_login(struct account_provider *p, const struct account *a)
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
	c->policy = of_server->policy;
	c->callback_port = of_server->callback_port;
	c->callback_host = of_server->callback_host;
	c->callback_path = of_server->callback_path;
	c->browser = of_server->browser;
	c->device_first = of_server->browser == NULL;
	c->unset = of_server->unset;
	c->timeout_ms = of_server->timeout_ms;
}

int
account_find_provider(struct account *a, char **why)
{
	const struct options *o = a->options;
	struct account_provider *p = &a->provider;
	struct login_provider *c = &p->config;

	if (o->idp == NULL)
		return 0;
	if (url_parse(&p->url, o->idp) != URL_OK) {
		*why = xasprintf("--idp: \"%s\" is no URL", o->idp);
		return -1;
	}
	if (read_secrets(p, o, why) != 0 || find_id_token(p, a, why) != 0)
		return -1;
	p->http = network_auth(&a->network, a->loop, o, allow, p, why);
	if (p->http == NULL)
		return -1;
	c->fetcher = fetcher_new(a->loop, p->http, ADDRESS_PUBLIC, true);
	c->issuer = o->idp;
	c->client_id = o->idp_client_id;
	c->client_secret = p->secret;
	c->client_key = p->key;
	c->policy = a->login.policy;
	managed_name(c->name, o->idp, o->idp_client_id, o->profile);
	fill_login(p, a);
	a->login.provider = c;
	a->signs_in = c->id_token == NULL ? &p->login : NULL;
	return 0;
}

void
account_free_provider(struct account *a)
{
	struct account_provider *p = &a->provider;

	fetcher_free(p->config.fetcher);
	if (p->http != NULL)
		http_free(p->http);
	child_words_free(p->id_token.command);
	assertion_key_free(p->key);
	secret_free(p->secret);
	url_free(&p->url);
}
