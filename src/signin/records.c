/*
 * The record of a login. It is read from the store and written to it as a
 * whole; between the two it is g->record. Without a store it is only that.
 */
#include "config.h"

#include "signin/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "signin/id_token.h"
#include "signin/report.h"

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
login_prove_token(const struct login *g, char proof[PROOF_BYTES])
{
	const char *token = g->config.identity != NULL ?
	    g->record.token.id_token :
	    g->record.token.access;

	return token != NULL && proof_challenge(proof, token) == 0;
}
