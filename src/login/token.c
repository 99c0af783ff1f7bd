/* Tokens without a person: a refresh, client credentials. */
#include "config.h"

#include "login/token.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "login/interactive.h"
#include "login/steps.h"
#include "login/waiting.h"

/* --- refresh --- */

static void
person_next(struct login *g)
{
	login_unlock(&g->token_lock);
	login_person(g);
}

static void
on_refreshed(const struct fetch_answer *a, void *arg)
{
	struct login *g = arg;
	char *why = NULL, *scope = NULL;
	enum token_verdict verdict;

	g->fetch = NULL;
	/* A web page or a redirect is somebody else's, of a network that wants
	 * a sign-in of its own: it says nothing of our token. */
	if (a->status == 0 || a->transient || a->json == NULL) {
		login_unready(g, a);
		return;
	}
	if (g->record.token.scope_requested != NULL)
		scope = xstrdup(g->record.token.scope_requested);
	verdict = client_token(&g->record, a->status, a->json, scope,
	    login_now(), &why);
	free(scope);
	switch (verdict) {
	case TOKEN_OK:
		login_have_token(g);
		break;
	case TOKEN_TRANSIENT:
		login_end(g, LOGIN_LATER, "%s", why);
		break;
	case TOKEN_CLIENT:
		log_info("the refresh was refused: %s", why);
		if (g->record.client.source == CLIENT_REGISTERED ||
		    g->record.client.source == CLIENT_IMPORTED)
			record_drop_client(&g->record);
		record_drop_token(&g->record);
		login_save(g, person_next);
		break;
	case TOKEN_GRANT:
		/* Under the lock nobody else can have spent it: it is dead. */
		log_info("the refresh was refused: %s", why);
		record_drop_token(&g->record);
		login_save(g, person_next);
		break;
	default:
		log_warn("the refresh was refused: %s", why);
		person_next(g);
		break;
	}
	free(why);
}

/* A given client is as it is given now: its secret may be another, and
 * mcp-remote keeps none of it. */
static void
take_given(struct login *g)
{
	const struct login_config *c = &g->config;
	struct record *r = &g->record;

	if (c->client_id == NULL ||
	    (r->client.id != NULL &&
		(r->client.source != CLIENT_GIVEN ||
		    strcmp(r->client.id, c->client_id) != 0)))
		return;
	r->client.source = CLIENT_GIVEN;
	free(r->client.id);
	r->client.id = xstrdup(c->client_id);
	string_wipe(&r->client.secret);
	r->client.secret = c->client_secret == NULL ? NULL :
						      xstrdup(c->client_secret);
	if (g->discovered)
		r->client.method = client_method(&g->found.server,
		    r->client.secret != NULL, false);
}

void
login_refresh(struct login *g)
{
	struct client_request r = { 0 };
	char *assertion;

	if (g->record.token.refresh == NULL ||
	    g->record.token_endpoint == NULL) {
		person_next(g);
		return;
	}
	take_given(g);
	if (!login_assertion(g, &assertion))
		return;
	client_refresh(&r, &g->record, assertion);
	free(assertion);
	login_post(g, g->record.token_endpoint, &r, on_refreshed);
}

/* --- client credentials --- */

static void
on_credentials(const struct fetch_answer *a, void *arg)
{
	struct login *g = arg;
	char *why = NULL;

	g->fetch = NULL;
	if (a->status == 0 || a->transient) {
		login_unready(g, a);
		return;
	}
	switch (client_token(&g->record, a->status, a->json, g->scope,
	    login_now(), &why)) {
	case TOKEN_OK:
		login_have_token(g);
		break;
	case TOKEN_TRANSIENT:
		login_end(g, LOGIN_LATER, "%s", why);
		break;
	default:
		login_end(g, LOGIN_FAILED, "%s", a->why != NULL ? a->why : why);
		break;
	}
	free(why);
}

void
login_credentials(struct login *g)
{
	struct record *r = &g->record;
	struct client_request form = { 0 };
	char *assertion;

	free(g->scope);
	g->scope = login_wanted_scope(g); /* widens that of the token now */
	record_drop_client(r);
	r->client.source = CLIENT_GIVEN;
	r->client.id = xstrdup(g->config.client_id);
	if (g->config.client_secret != NULL)
		r->client.secret = xstrdup(g->config.client_secret);
	r->client.method = client_method(&g->found.server,
	    g->config.client_secret != NULL, g->config.client_key != NULL);
	if (!login_assertion(g, &assertion))
		return;
	client_credentials(&form, r, g->scope, assertion);
	free(assertion);
	login_post(g, r->token_endpoint, &form, on_credentials);
}
