/* What is known of the sign-in at a server: what the store has, and what the
 * server offers. The user is not asked. */
#include "config.h"

#include "app/account.h"

#include <stdlib.h>
#include <string.h>

#include "login/discovery.h"

struct looking {
	struct sign_in *out;
	struct account account;
	bool late, had;
};

static void
on_late(void *arg)
{
	struct looking *g = arg;

	g->late = true;
	loop_stop(g->account.loop, 0);
}

/* --- the offers --- */

static void
take_offers(struct sign_in *s, const struct discovered *d)
{
	s->guessed = d->legacy && d->server.issuer == NULL;
	s->browser = d->server.authorization_endpoint != NULL;
	s->device = d->server.device_authorization_endpoint != NULL;
	s->registers = d->server.registration_endpoint != NULL;
	s->client_document = d->server.client_document;
	s->issuer = string_copy(d->server.issuer);
	s->scopes = string_copy(d->scopes != NULL ? d->scopes :
						    d->server.scopes);
}

static void
discover(struct looking *g)
{
	const struct login_config *c = &g->account.login;
	const struct discovery_config config = {
		.server = c->server,
		.resource_metadata = g->account.challenge.resource_metadata,
		.issuer = c->issuer,
		.bound = g->out->record.issuer,
		.policy = c->policy,
		.interactive = c->mode == LOGIN_BROWSER,
	};
	struct discovered d;
	bool transient;

	if (discovery_run(g->account.fetcher, &config, &g->late, &d,
		&g->out->why, &transient)) {
		take_offers(g->out, &d);
		discovered_free(&d);
	} else if (g->out->why == NULL) {
		g->out->why = xstrdup("the sign-in server did not answer in "
				      "time");
	}
}

/* --- the store --- */

static void
import(struct looking *g)
{
	struct sign_in *s = g->out;
	char *why = NULL;

	if (g->account.login.import != NULL)
		import_tokens(&s->record, g->account.login.import, &s->imported,
		    &why);
	free(why);
}

static void
on_record(const struct record *r, const char *why, void *arg)
{
	struct looking *g = arg;

	g->had = true;
	if (why != NULL)
		g->out->store_why = xstrdup(why);
	if (r != NULL)
		record_copy(&g->out->record, r);
	else if (why == NULL)
		import(g);
	loop_stop(g->account.loop, 0);
}

/* Returns whether it was read in time, or cannot be. */
static bool
look_into_store(struct looking *g)
{
	struct account *a = &g->account;
	char name[STORE_NAME_BYTES];
	struct store_op *get;

	if (a->store == NULL) {
		g->out->store_why = xasprintf("%s; " STORE_LACKS, a->store_why);
		import(g);
		return true;
	}
	store_name(name, a->url.text, a->options->profile);
	get = store_get(a->store, name, on_record, g);
	loop_run(a->loop);
	if (g->had)
		return true;
	store_cancel(get);
	g->out->store_why = xstrdup("the store did not answer in time");
	return false;
}

int
sign_in_look(struct sign_in *s, struct loop *l, const struct options *o,
    const struct probe *p, int64_t limit_ms, char **why)
{
	struct looking g = { .out = s };
	struct loop_timer *timer;
	int rc;

	memset(s, 0, sizeof *s);
	record_init(&s->record);
	rc = account_init(&g.account, l, o, p->peer, why);
	if (rc == 0) {
		challenge_parse(&g.account.challenge, buf_span(&p->challenge));
		s->ticket = challenge_wants_ticket(&g.account.challenge);
		timer = loop_timer_new(l, on_late, &g);
		loop_timer_set(timer, limit_ms);
		if (look_into_store(&g) && p->status == 401 && !s->ticket)
			discover(&g);
		loop_timer_free(timer);
	}
	account_free(&g.account);
	return rc;
}

void
sign_in_free(struct sign_in *s)
{
	record_free(&s->record);
	free(s->imported);
	free(s->store_why);
	free(s->issuer);
	free(s->scopes);
	free(s->why);
}
