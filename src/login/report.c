/* Time, lines for people, and what came, for the order to take. */
#include "config.h"

#include "login/report.h"

#include <stdlib.h>
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

	x->helper = g->store != NULL && store_has_helper(g->store);
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

static void
fill_facts(struct login *g)
{
	struct login_facts *x = &g->facts;
	const char *token = g->config.identity != NULL ?
	    g->record.token.id_token :
	    g->record.token.access;

	memset(x, 0, sizeof *x);
	fill_record(g, x);
	fill_found(g, x);
	if (token != NULL && proof_challenge(g->proof, token) == 0)
		x->token = g->proof;
	x->failed_at = g->pending.failed_at;
	x->third_tab = g->pending.opened[2];
}

/* Lets whoever waits see it. */
static void
wake(struct login *g)
{
	if (g->waits || g->acts)
		loop_stop(g->loop, 0);
}

void
login_report_all(struct login *g, struct login_input *in)
{
	free(g->why);
	g->why = string_copy(in->why);
	g->in = *in;
	g->came = true;
	wake(g);
}

void
login_report_browser(struct login *g)
{
	g->browser_failed = true;
	if (g->waits)
		wake(g);
}

void
login_set_done(struct login *g)
{
	g->done = true;
	wake(g);
}

bool
login_await(struct login *g)
{
	g->acts = true;
	while (!g->done && !g->came && !g->stopped) {
		loop_run(g->loop);
		g->stopped = !g->done && !g->came;
	}
	g->acts = false;
	return g->done;
}

bool
login_fetch(struct login *g, struct fetcher *f, const struct fetch_request *r,
    struct fetch_answer *a)
{
	bool whole;

	g->acts = true;
	whole = fetch_wait(f, r, &g->came, a);
	g->acts = false;
	g->stopped = !whole && !g->came;
	return whole;
}

bool
login_find(struct login *g, struct fetcher *f, const struct discovery_config *c,
    struct discovered *d)
{
	char *why;
	bool found, transient;

	g->acts = true;
	found = discovery_run(f, c, &g->came, d, &why, &transient);
	g->acts = false;
	if (why != NULL)
		login_report_why(g, transient ? CAME_NOT_NOW : CAME_BROKEN,
		    why);
	g->stopped = !found && !g->came;
	free(why);
	return found;
}

void
login_wait(struct login *g)
{
	g->waits = true;
	while (!g->came && !g->browser_failed && !g->stopped) {
		loop_run(g->loop);
		g->stopped = !g->came && !g->browser_failed;
	}
	g->waits = false;
	if (g->came) {
		g->in.why = g->why;
	} else {
		g->in = (struct login_input){ .again_ms = -1 };
		g->in.came = g->browser_failed ? CAME_BROWSER_FAILED :
						 CAME_STOPPED;
		g->browser_failed = false;
	}
	/* What a wait or a part had to be done in is over with it. */
	if (g->came)
		loop_timer_set(g->timer, -1);
	g->came = false;
	g->in.now = loop_now(g->loop);
	g->in.wall = login_now();
	fill_facts(g);
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
login_set_timer(struct login *g, int64_t ms)
{
	loop_timer_set(g->timer, ms);
}

void
login_set_timeout(struct login *g, int64_t ms)
{
	loop_timer_set(g->timeout, ms);
}

void
login_say(struct login *g, enum log_level level, const char *fmt, ...)
{
	va_list ap;
	char *text;

	(void)g;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	log_put(level, "%s", text);
	free(text);
}
