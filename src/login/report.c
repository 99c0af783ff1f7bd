/* Time, lines for people, and the way back to the reducer. */
#include "config.h"

#include "login/report.h"

#include <string.h>
#include <time.h>

#include "base/log.h"
#include "login/id_token.h"

int64_t
login_now(void)
{
	return (int64_t)time(NULL);
}

static enum login_client
client_of(const struct record *r)
{
	static const enum login_client clients[] = {
		[CLIENT_GIVEN] = LOGIN_CLIENT_GIVEN,
		[CLIENT_DOCUMENT] = LOGIN_CLIENT_DOCUMENT,
		[CLIENT_REGISTERED] = LOGIN_CLIENT_REGISTERED,
		[CLIENT_IMPORTED] = LOGIN_CLIENT_IMPORTED,
	};

	return r->client.id == NULL ? LOGIN_CLIENT_NONE :
				      clients[r->client.source];
}

static bool
same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static void
fill_record(const struct login *g, struct login_facts *x)
{
	const struct record *r = &g->record;
	const struct challenge *c = g->config.challenge;

	x->usable = g->config.identity != NULL ?
	    id_token_usable(r, login_now()) :
	    record_usable(r, login_now());
	x->has_scopes = c == NULL || c->scope == NULL ||
	    record_has_scopes(r, c->scope);
	x->refresh = r->token.refresh != NULL;
	x->endpoint = r->token_endpoint != NULL;
	x->issuer = r->issuer;
	x->client = client_of(r);
	x->client_as_given = same(r->client.id, g->config.client_id);
	x->client_expires = r->client.secret_expires_at;
	x->client_failures = r->client_failures;
	x->client_redirect = g->redirect_uri == NULL ||
	    same(g->redirect_uri, r->client.redirect_uri);
}

static void
fill_found(const struct login *g, struct login_facts *x)
{
	const struct server_metadata *m = &g->found.server;

	x->found = g->discovered;
	x->found_issuer = m->issuer;
	x->guessed = g->found.legacy && m->issuer == NULL;
	x->registers = m->registration_endpoint != NULL;
	x->documents = m->client_document;
	x->devices = m->device_authorization_endpoint != NULL;
}

void
login_report_all(struct login *g, struct login_input *in)
{
	struct login_facts facts = { 0 };
	char proof[PROOF_BYTES];
	const char *token = g->config.identity != NULL ?
	    g->record.token.id_token :
	    g->record.token.access;

	fill_record(g, &facts);
	fill_found(g, &facts);
	if (token != NULL && proof_challenge(proof, token) == 0)
		facts.token = proof;
	facts.failed_at = g->pending.failed_at;
	facts.third_tab = g->pending.opened[2];
	in->facts = &facts;
	in->now = loop_now(g->loop);
	in->wall = login_now();
	login_flow_step(g->flow, in);
	in->facts = NULL;
	if (!g->at_work)
		g->work(g);
}

void
login_report_why(struct login *g, enum login_outcome came, const char *why)
{
	struct login_input in = { .came = came, .why = why, .again_ms = -1 };

	login_report_all(g, &in);
}

void
login_report(struct login *g, enum login_outcome came)
{
	login_report_why(g, came, NULL);
}

void
login_do_wait(struct login *g)
{
	loop_timer_set(g->timer, g->action.ms);
}

void
login_do_timeout(struct login *g)
{
	loop_timer_set(g->timeout, g->action.ms);
}

void
login_do_timeout_off(struct login *g)
{
	loop_timer_set(g->timeout, -1);
}

void
login_do_log(struct login *g)
{
	(void)g;
	log_put(g->action.level, "%s", g->action.text);
}
