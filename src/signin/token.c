/* Requests for a token: what is sent, and what the answer says. */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>

#include "auth/assertion.h"
#include "auth/dpop.h"
#include "base/bounds.h"

/* What mcp-remote has is as good as a record of ours: above all its refresh
 * token. */
static void
import(struct login *g)
{
	char *from = NULL, *why = NULL;

	if (g->config.import != NULL &&
	    import_tokens(&g->record, g->config.import, &from, &why))
		log_debug("read the tokens of mcp-remote from %s", from);
	free(from);
	free(why);
}

static void
on_record(const struct record *r, const char *why, void *arg)
{
	struct login *g = arg;

	g->op = NULL;
	if (why != NULL) {
		login_report_why(g, CAME_BROKEN, why);
		return;
	}
	record_free(&g->record);
	if (r != NULL)
		record_copy(&g->record, r);
	else
		import(g);
	login_report(g, CAME_LOADED);
}

void
login_load(struct login *g)
{
	if (g->store == NULL)
		login_report(g, CAME_LOADED);
	else
		g->op = store_get(g->store, g->name, on_record, g);
}

static void
forget(struct login *g, enum login_forget what)
{
	if (what == FORGET_CLIENT)
		record_drop_client(&g->record);
	else if (what == FORGET_TOKEN)
		record_drop_token(&g->record);
}

void
login_forget(struct login *g, enum login_forget what)
{
	forget(g, what);
	login_report(g, CAME_DONE);
}

void
login_adopt(struct login *g, enum login_forget what)
{
	const struct login_config *c = &g->config;
	const struct server_metadata *m = &g->found.server;
	struct record *r = &g->record;

	forget(g, what);
	/* By the key one issuer would know us as the client of another. */
	if (!string_eq(r->issuer, m->issuer))
		string_wipe(&r->dpop_key);
	string_set(&r->issuer, m->issuer);
	string_set(&r->token_endpoint,
	    c->token_endpoint != NULL ? c->token_endpoint : m->token_endpoint);
	string_set(&r->revocation_endpoint, m->revocation_endpoint);
	string_set(&r->resource,
	    c->no_resource          ? NULL :
		c->resource != NULL ? c->resource :
				      g->found.resource);
	login_report(g, CAME_DONE);
}

void
login_count_failure(struct login *g)
{
	g->record.client_failures++;
	login_report(g, CAME_DONE);
}

static void
on_saved(const char *why, void *arg)
{
	struct login *g = arg;

	g->op = NULL;
	if (why != NULL)
		log_warn("%s", why);
	login_report_why(g, why == NULL ? CAME_SAVED : CAME_UNKEPT, why);
}

void
login_save(struct login *g, enum login_forget what)
{
	struct record *r = &g->record;

	forget(g, what);
	string_set(&r->url, g->config.server->text);
	string_set(&r->profile, g->config.profile);
	if (g->store == NULL)
		login_report(g, CAME_SAVED);
	else
		g->op = store_put(g->store, g->name, r, on_saved, g);
}

bool
login_is_usable(const struct login *g)
{
	return g->config.identity != NULL ?
	    id_token_usable(&g->record, login_now()) :
	    record_usable(&g->record, login_now());
}

bool
login_has_scopes(const struct login *g)
{
	const struct challenge *c = g->config.challenge;

	return c == NULL || c->scope == NULL ||
	    record_has_scopes(&g->record, c->scope);
}

bool
login_prove_token(const struct login *g, char proof[PKCE_BYTES])
{
	const char *token = g->config.identity != NULL ?
	    g->record.token.id_token :
	    g->record.token.access;

	return token != NULL && pkce_challenge(proof, token) == 0;
}

/* Makes the signed proof of this client, or NULL where it has none; the caller
 * owns it. Returns false if it cannot be made, which is reported. */
static bool
prove(struct login *g, char **assertion)
{
	const struct record *r = &g->record;
	char *why = NULL;

	*assertion = NULL;
	if (r->client.method != CLIENT_JWT)
		return true;
	if (g->config.client_key != NULL)
		*assertion = assertion_make(g->config.client_key, r->client.id,
		    r->issuer != NULL ? r->issuer : r->token_endpoint,
		    g->discovered ? g->found.server.jwt_algs : NULL,
		    login_now(), &why);
	if (*assertion != NULL)
		return true;
	login_report_why(g, CAME_UNABLE,
	    why != NULL ? why : "this client needs --client-key");
	free(why);
	return false;
}

/* --- the proof for a token that is bound to a key (DPoP) --- */

/* Does the server want such tokens, or offer to take them? What the issuer can
 * do says nothing of the server: one that asks for Bearer and nothing else may
 * not know the other scheme. */
static bool
wants_bound(const struct login *g)
{
	const struct challenge *c = g->config.challenge;

	if (g->found.dpop || g->found.bound ||
	    (c != NULL && challenge_offers_dpop(c)))
		return true;
	return g->found.server.dpop && (c == NULL || !c->bearer);
}

/* Does it take no others? */
static bool
needs_bound(const struct login *g)
{
	const struct challenge *c = g->config.challenge;

	return g->found.bound || (c != NULL && c->dpop && !c->bearer);
}

/* Adds the proof to a request to the token endpoint, and makes the key when it
 * is wanted for the first time. Once there is one it goes with each request:
 * the refresh token is bound to it, too (RFC 9449 5). */
static void
bind(struct login *g, struct headers *to)
{
	struct record *r = &g->record;

	if (!dpop_set_key(g->dpop, r->dpop_key) && wants_bound(g)) {
		string_wipe(&r->dpop_key);
		r->dpop_key = assertion_make_key();
		dpop_set_key(g->dpop, r->dpop_key);
	}
	dpop_prove(g->dpop, "POST", r->token_endpoint, NULL, login_now(), to);
}

static bool
has_error(const struct fetch_answer *a, const char *name)
{
	const char *error = document_text(a->json, "error");

	return a->status >= 400 && string_eq(error, name);
}

/* Why the proof is refused, if another one would be, too: for people, owned by
 * the caller; else NULL. */
static char *
proof_fault(const struct login *g, const struct fetch_answer *a)
{
	struct url u;
	char *why;

	if (has_error(a, "use_dpop_nonce"))
		return xstrdup(dpop_has_nonce(g->dpop) ?
			"the authorization server rejects every nonce (DPoP) "
			"that it gives; its operator has to fix that" :
			"the authorization server requires a nonce (DPoP) "
			"but gives no usable one; its operator has to fix "
			"that");
	if (!has_error(a, "invalid_dpop_proof") ||
	    url_parse(&u, g->record.token_endpoint) != URL_OK)
		return NULL;
	why = dpop_clock(a->clock_ahead_s, u.host);
	url_free(&u);
	return why;
}

/* --- the request --- */

/* Sends it once. Who asks is proved anew each time. named: Basic, with the
 * client in the form, too. */
static bool
post(struct login *g, const char *url, const struct client_request *of,
    bool named, struct fetch_answer *a)
{
	const char *endpoint = g->record.token_endpoint;
	bool token = endpoint != NULL && strcmp(url, endpoint) == 0, whole;
	struct client_request r = { 0 };
	struct fetch_request f = {
		.url = url,
		.content_type = "application/x-www-form-urlencoded",
		.headers = &r.headers,
	};
	char *assertion;

	if (!prove(g, &assertion))
		return false;
	buf_addspan(&r.form, buf_span(&of->form));
	client_finish(&r, &g->record, assertion, named);
	free(assertion);
	if (token && g->config.identity == NULL)
		f.option = "--token-endpoint";
	if (token)
		bind(g, &r.headers);
	f.body = buf_span(&r.form);
	whole = login_fetch(g, g->fetcher, &f, a);
	client_request_free(&r);
	return whole;
}

/* Is the client to be proved in another way? Whoever did not find it, or refused
 * the proof, has not looked at the code. A client that is given was registered
 * for one of two ways, and neither the user nor the server's list says which. */
static bool
prove_otherwise(struct login *g, const struct fetch_answer *a, bool *named)
{
	struct record *r = &g->record;
	bool basic = r->client.method == CLIENT_BASIC;

	if (basic && client_id_is_missed(a->status, a->json)) {
		*named = true;
		return true;
	}
	if (!has_error(a, "invalid_client") || r->client.secret == NULL ||
	    r->client.source != CLIENT_GIVEN ||
	    (!basic && r->client.method != CLIENT_POST))
		return false;
	r->client.method = basic ? CLIENT_POST : CLIENT_BASIC;
	return true;
}

/* A nonce may change at any moment: a refusal for want of the new one is no
 * answer yet (RFC 9449 8). */
bool
login_post(struct login *g, const char *url, struct client_request *r,
    struct fetch_answer *a)
{
	bool named = false, otherwise = false, whole;
	unsigned nonces = 0;

	while ((whole = post(g, url, r, named, a))) {
		dpop_hear(g->dpop, a->nonce);
		if (has_error(a, "use_dpop_nonce") && dpop_has_nonce(g->dpop) &&
		    nonces < BOUND_TRIES)
			nonces++;
		else if (!otherwise && prove_otherwise(g, a, &named))
			otherwise = true;
		else
			break;
		fetch_answer_free(a);
	}
	client_request_free(r);
	return whole;
}

/* --- answers --- */

const char *
login_whom(const struct login *g)
{
	return g->config.identity != NULL ? CLIENT_PROVIDER : CLIENT_SERVER;
}

/* What we refuse ourselves does not change by waiting. */
static void
report_unready(struct login *g, const struct fetch_answer *a,
    enum login_outcome came)
{
	bool refused = a->status == 0 && !a->transient;
	struct login_input in = {
		.came = refused ? CAME_IMPOSSIBLE : came,
		.why = a->why,
		.again_ms = a->retry_after_ms,
		.soon = a->soon,
	};
	char *why = NULL;

	if (in.why == NULL && refused)
		in.why = "cannot send the request";
	else if (in.why == NULL)
		in.why = why =
		    xasprintf("the authorization server is not ready (%d)",
			a->status);
	login_report_all(g, &in);
	free(why);
}

bool
login_is_unready(struct login *g, const struct fetch_answer *a)
{
	if (a->status != 0 && !a->transient)
		return false;
	report_unready(g, a, CAME_UNREADY);
	return true;
}

/* scope: what was asked for. */
static void
take_answer(struct login *g, const struct fetch_answer *a, const char *scope)
{
	enum login_outcome came;
	char *why = proof_fault(g, a);

	if (why != NULL) {
		login_report_why(g, CAME_IMPOSSIBLE, why);
		free(why);
		return;
	}
	came = client_token(&g->record, a->status, a->json, scope, login_now(),
	    login_whom(g), &why);
	if (came == CAME_TOKEN && g->config.identity != NULL &&
	    (why = id_token_fault(&g->record, a->json)) != NULL) {
		record_drop_token(&g->record);
		came = CAME_REFUSED;
	}
	if (came == CAME_TOKEN && needs_bound(g) &&
	    !dpop_is_bound(&g->record)) {
		record_drop_token(&g->record);
		came = CAME_REFUSED;
		why = xasprintf("%s only accepts tokens bound to a key "
				"(DPoP), but its authorization server issued "
				"one that is not; its operator has to fix "
				"that",
		    g->config.server->host);
	} else if (came == CAME_TOKEN) {
		g->record.client_failures = 0;
		if (g->config.knows_place)
			g->record.server_public = g->config.is_public;
	}
	login_report_why(g, came,
	    came == CAME_REFUSED && a->why != NULL ? a->why : why);
	free(why);
}

void
login_ask_anew(struct login *g, struct client_request *r)
{
	struct fetch_answer a;

	if (!login_post(g, g->record.token_endpoint, r, &a))
		return;
	if (!login_is_unready(g, &a)) {
		/* Nothing of the login before is kept: this one is another. */
		record_drop_token(&g->record);
		take_answer(g, &a, g->scope);
	}
	fetch_answer_free(&a);
}

/* --- refresh --- */

/* Was there nobody, or a gateway with nobody behind it, who does not say when
 * to come back? An authorization server that is busy says so in JSON. */
static bool
is_unreached(const struct fetch_answer *a)
{
	return a->unsent ||
	    (a->status >= 502 && a->status <= 504 && a->json == NULL &&
		a->retry_after_ms < 0);
}

static void
take_refreshed(struct login *g, const struct fetch_answer *a)
{
	bool refused = a->status >= 400 && a->status != 407 && a->status != 408;
	const struct record *r = &g->record;
	char *why = NULL;

	if (a->lost || is_unreached(a)) {
		report_unready(g, a, a->lost ? CAME_LOST : CAME_UNREACHED);
	} else if (login_is_unready(g, a)) {
		return;
	} else if (has_error(a, "invalid_client") && r->client.secret != NULL &&
	    r->client.source == CLIENT_GIVEN) {
		/* To sign in would come to the same. */
		client_error(r, a->json, login_whom(g), &why);
		login_report_why(g, CAME_UNABLE, why);
		free(why);
	} else if (a->json != NULL) {
		take_answer(g, a, g->record.token.scope_requested);
	} else if (refused) {
		/* It may be a gateway's, in a bad moment; or the server's own,
		 * for good. */
		why = xasprintf("it answered %d without giving a reason (not "
				"JSON)",
		    a->status);
		login_report_why(g, CAME_NO_DOCUMENT, why);
		free(why);
	} else {
		/* A web page or a redirect is somebody else's, of a network
		 * that wants a sign-in of its own: it says nothing of our
		 * token. */
		report_unready(g, a, CAME_UNREADY);
	}
}

void
login_set_client(struct login *g, enum client_source source)
{
	const struct login_config *c = &g->config;
	struct record *r = &g->record;
	const char *id = source == CLIENT_GIVEN ? c->client_id :
						  c->client_document;
	bool known = r->client.source == source &&
	    string_eq(r->client.id, id) &&
	    (r->client.method == CLIENT_BASIC ||
		r->client.method == CLIENT_POST);

	if (r->client.id != NULL && !string_eq(r->client.id, id))
		record_drop_client(r);
	r->client.source = source;
	string_set(&r->client.id, id);
	string_set(&r->client.secret, c->client_secret);
	if (!known || c->client_secret == NULL || c->client_key != NULL)
		r->client.method = client_method(&g->found.server,
		    c->client_secret != NULL, c->client_key != NULL);
}

void
login_refresh(struct login *g)
{
	const struct record *was = &g->record;
	struct client_request r = { 0 };
	struct fetch_answer a;
	bool scope = g->config.scope != NULL && g->config.identity == NULL;

	/* A given client is as it is given now: its secret may be another, and
	 * mcp-remote keeps none of it. */
	if (g->config.client_id != NULL &&
	    (was->client.id == NULL ||
		(was->client.source == CLIENT_GIVEN &&
		    strcmp(was->client.id, g->config.client_id) == 0)))
		login_set_client(g, CLIENT_GIVEN);
	client_refresh(&r, &g->record, scope);
	if (!login_post(g, g->record.token_endpoint, &r, &a))
		return;
	/* The user may have granted less. */
	if (scope && has_error(&a, "invalid_scope")) {
		fetch_answer_free(&a);
		client_refresh(&r, &g->record, false);
		if (!login_post(g, g->record.token_endpoint, &r, &a))
			return;
	}
	take_refreshed(g, &a);
	fetch_answer_free(&a);
}

/* --- client credentials --- */

void
login_ask_credentials(struct login *g, struct client_request *r)
{
	struct fetch_answer a;

	if (!login_post(g, g->record.token_endpoint, r, &a))
		return;
	if (!login_is_unready(g, &a))
		take_answer(g, &a, g->scope);
	fetch_answer_free(&a);
}

/* A document is a client where nobody has given another one. */
static bool
is_document(const struct login *g)
{
	return g->config.provider != NULL && g->config.client_id == NULL &&
	    g->found.server.client_document;
}

void
login_take_client(struct login *g)
{
	free(g->scope);
	g->scope = login_wanted_scope(g); /* widens that of the token now */
	record_drop_token(&g->record);
	login_set_client(g, is_document(g) ? CLIENT_DOCUMENT : CLIENT_GIVEN);
}

void
login_credentials(struct login *g)
{
	struct client_request form = { 0 };

	login_take_client(g);
	string_set(&g->record.token.account, "client");
	client_credentials(&form, g->scope);
	login_ask_credentials(g, &form);
}

/* --- the code of a redirect --- */

void
login_exchange(struct login *g)
{
	struct client_request r = { 0 };

	client_code(&r, &g->record, g->arrived.code, g->verifier);
	login_ask_anew(g, &r);
}
