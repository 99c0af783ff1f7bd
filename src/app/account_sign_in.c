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
	struct loop_timer *timer;
	struct store_op *get;
	struct discovery *discovery;
	bool asks; /* the server offers something */
};

static void
finish(struct looking *g)
{
	loop_stop(g->account.loop, 0);
}

/* --- the offers --- */

static void
on_discovered(struct discovered *d, const char *why, bool transient, void *arg)
{
	struct looking *g = arg;
	struct sign_in *s = g->out;

	(void)transient;
	g->discovery = NULL;
	if (d == NULL) {
		s->why = xstrdup(why);
	} else {
		s->guessed = d->legacy && d->server.issuer == NULL;
		s->browser = d->server.authorization_endpoint != NULL;
		s->device = d->server.device_authorization_endpoint != NULL;
		s->registers = d->server.registration_endpoint != NULL;
		s->client_document = d->server.client_document;
		s->issuer = string_copy(d->server.issuer);
		s->scopes = string_copy(d->scopes != NULL ? d->scopes :
							    d->server.scopes);
	}
	finish(g);
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

	if (g->asks)
		g->discovery = discovery_start(g->account.fetcher, &config,
		    on_discovered, g);
	else
		finish(g);
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

	g->get = NULL;
	if (why != NULL)
		g->out->store_why = xstrdup(why);
	if (r != NULL)
		record_copy(&g->out->record, r);
	else if (why == NULL)
		import(g);
	discover(g);
}

static void
on_late(void *arg)
{
	struct looking *g = arg;

	if (g->get != NULL)
		g->out->store_why = xstrdup("the store did not answer in time");
	else
		g->out->why = xstrdup("the sign-in server did not answer in "
				      "time");
	finish(g);
}

static void
begin(struct looking *g)
{
	struct account *a = &g->account;
	char name[STORE_NAME_BYTES];

	if (a->store == NULL) {
		g->out->store_why = xasprintf("%s; " STORE_LACKS, a->store_why);
		import(g);
		discover(g);
		return;
	}
	store_name(name, a->url.text, a->options->profile);
	g->get = store_get(a->store, name, on_record, g);
}

int
sign_in_look(struct sign_in *s, struct loop *l, const struct options *o,
    const struct probe *p, int64_t limit_ms, char **why)
{
	struct looking g = { .out = s, .asks = p->status == 401 };
	int rc;

	memset(s, 0, sizeof *s);
	record_init(&s->record);
	rc = account_init(&g.account, l, o, p->peer, why);
	if (rc == 0) {
		challenge_parse(&g.account.challenge, buf_span(&p->challenge));
		s->ticket = challenge_wants_ticket(&g.account.challenge);
		g.asks = g.asks && !s->ticket;
		g.timer = loop_timer_new(l, on_late, &g);
		loop_timer_set(g.timer, limit_ms);
		begin(&g);
		loop_run(l);
		loop_timer_free(g.timer);
		store_cancel(g.get);
		discovery_cancel(g.discovery);
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
