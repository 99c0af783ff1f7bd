/* What was for one issuer is kept from another: the refresh token, the client,
 * and the secrets of the user. */
#include "config.h"

#include "signin/state.h"

#include "base/bounds.h"

/* Must the issuer that was found not see what the record has? An issuer that
 * was never noted counts as another one, but at the endpoint that was noted, and
 * so does the same one with other endpoints, if these are only the word of
 * another. Only the refresh token and the client are kept from it: an access
 * token alone goes to no authorization server but to be revoked. */
static bool
is_for_another(const struct login *g)
{
	const struct record *r = &g->record;
	const struct server_metadata *m = &g->found.server;

	if (r->issuer == NULL &&
	    (r->token_endpoint == NULL ||
		(g->config.token_endpoint == NULL &&
		    !string_eq(r->token_endpoint, m->token_endpoint))))
		return r->token.refresh != NULL || r->client.id != NULL;
	if (g->found.listed &&
	    ((g->config.token_endpoint == NULL &&
		 !string_eq(r->token_endpoint, m->token_endpoint)) ||
		!string_eq(r->revocation_endpoint, m->revocation_endpoint)))
		return true;
	return !string_eq(r->issuer, m->issuer);
}

/* Is something of the record's a secret of the user's? */
static bool
is_given(const struct login *g)
{
	return g->config.assertion != NULL ||
	    (step_has_client(g, CLIENT_GIVEN) &&
		string_eq(g->record.client.id, g->config.client_id));
}

/* Is a secret of the user's for this issuer? The one of --issuer, else one at
 * the server's own origin, where also those are that have no name. */
static bool
is_meant(const struct login *g, const char *issuer)
{
	const struct login_config *c = &g->config;

	if (c->issuer != NULL)
		return issuer != NULL &&
		    metadata_same_issuer(issuer, c->issuer);
	return !c->elsewhere &&
	    (issuer == NULL || metadata_is_at(issuer, c->server->origin));
}

bool
step_is_settled(const struct login *g)
{
	const struct login_config *c = &g->config;
	const struct record *r = &g->record;
	const char *at = c->issuer != NULL ? c->issuer : c->server->origin;

	return !c->gives_secret ||
	    (is_meant(g, r->issuer) && r->token_endpoint != NULL &&
		metadata_is_at(r->token_endpoint, at) &&
		(r->revocation_endpoint == NULL ||
		    metadata_is_at(r->revocation_endpoint, at)));
}

bool
step_adopt(struct login *g)
{
	const struct login_config *c = &g->config;
	const char *was = g->record.issuer, *is = g->found.server.issuer;
	bool moved = is_for_another(g);

	if ((moved && c->issuer == NULL && is_given(g)) ||
	    (c->gives_secret && !is_meant(g, is))) {
		step_explain(g,
		    xasprintf("its authorization server is %s%s%s: your "
			      "secret or client is sent there only if you "
			      "name it: add --issuer %s",
			is != NULL ? is : "(none)",
			moved && was != NULL ? " now; it was " : "",
			moved && was != NULL ? was : "", browser_word(is)));
		return step_end_why(g, LOGIN_FAILED);
	}
	if (moved)
		log_put(LEVEL_INFO,
		    "%s now has a different authorization server",
		    c->server->host);
	login_adopt(g, moved ? FORGET_CLIENT : FORGET_NOTHING);
	return step_outcome(g) == CAME_DONE || step_fail(g);
}

bool
step_find_place(struct login *g, bool interactive)
{
	do {
		login_discover(g, BOUND_DISCOVERY_MS, interactive);
		step_outcome(g);
	} while (step_wait_out(g));
	switch (g->in.came) {
	case CAME_FOUND:
		return step_adopt(g);
	case CAME_TIME:
		return step_end(g, LOGIN_LATER,
		    "finding out where to sign in took too long");
	default:
		return step_fail(g);
	}
}
