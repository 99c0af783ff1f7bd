/*
 * Two logins, one after the other: that at the MCP server says that there is no
 * ID token that does, that at the provider gets one, and the first begins
 * again.
 */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>
#include <time.h>

#include "auth/dpop.h"
#include "base/codec.h"

/* The life of a login. */

#define WHY_MAX_BYTES ((size_t)1023)

static void
on_timer(void *arg)
{
	login_report(arg, CAME_TIME);
}

static void
on_timeout(void *arg)
{
	login_report(arg, CAME_TIMEOUT);
}

static void
on_look(void *arg)
{
	login_look_for_end(arg);
}

/* store NULL: nothing is kept, nothing is shared. */
static struct login *
login_new(struct loop *l, struct fetcher *f, struct store *store,
    const struct login_config *config, login_where_cb *where, void *arg)
{
	struct login *g = xcalloc(1, sizeof *g);

	g->loop = l;
	g->fetcher = f;
	g->store = store;
	g->config = *config;
	g->where = where;
	g->arg = arg;
	g->token_lock = g->login_lock = g->tab_lock = -1;
	if (config->identity != NULL)
		memcpy(g->name, config->identity, strlen(config->identity) + 1);
	else
		store_name(g->name, config->server->text, config->profile);
	g->dpop = dpop_new();
	if (config->record != NULL)
		record_copy(&g->record, config->record);
	g->timer = loop_timer_new(l, on_timer, g);
	g->timeout = loop_timer_new(l, on_timeout, g);
	g->look = loop_timer_new(l, on_look, g);
	return g;
}

/* Does all of it, and runs the loop meanwhile; once. If somebody else stops the
 * loop, it is LOGIN_STOPPED at once. Free d with login_done_free. */
static void
login_run(struct login *g, struct login_done *d)
{
	struct login_result r = login_flow(g);
	struct record *record = r.end == LOGIN_IDENTITY ? &g->identity :
							  &g->record;
	struct span text = span_of(r.why);
	struct buf why = { 0 }; /* names of others may be in it */

	if (text.n > WHY_MAX_BYTES)
		text.n = WHY_MAX_BYTES;
	/* It would seem to be a reason of the MCP server's. */
	if (g->config.identity != NULL && r.end != LOGIN_DONE)
		buf_adds(&why, "no sign-in at " CLIENT_PROVIDER " (--idp): ");
	codec_visible(&why, text, WHY_MAX_BYTES + 1);
	d->end = r.end;
	d->why = r.why == NULL ? NULL : xstrdup(buf_str(&why));
	d->again_ms = r.again_ms;
	d->record = *record;
	d->has_record = true;
	record_init(record);
	buf_free(&why);
}

void
login_done_free(struct login_done *d)
{
	free(d->why);
	record_free(&d->record);
}

/* NULL is fine */
static void
login_free(struct login *g)
{
	if (g == NULL)
		return;
	store_cancel(g->op);
	listener_free(g->listener, true);
	login_close_browser(g);
	loop_timer_free(g->timer);
	loop_timer_free(g->timeout);
	loop_timer_free(g->look);
	login_unlock(&g->tab_lock);
	login_unlock(&g->token_lock);
	login_unlock(&g->login_lock);
	if (g->discovered)
		discovered_free(&g->found);
	record_free(&g->record);
	record_free(&g->identity);
	pending_free(&g->pending);
	callback_free(&g->arrived);
	free(g->why);
	free(g->told);
	free(g->shown);
	free(g->shown_code);
	free(g->redirect_uri);
	free(g->scope);
	free(g->url);
	free(g->device_code);
	string_wipe(&g->assertion);
	dpop_free(g->dpop);
	mem_wipe(g->verifier, sizeof g->verifier);
	mem_wipe(g->state, sizeof g->state);
	free(g);
}

struct two_logins {
	struct loop *loop;
	struct fetcher *fetcher;
	struct store *store;
	struct login_config server, provider;
	struct login_provider at; /* of server, with the record that was had */
	login_where_cb *where;
	void *arg;
	struct login *login; /* the one that runs */
	bool has_provider, orphaned;
	/* a login at the provider was begun: because there was no ID token that
	 * is good by its own time; because the provider had refused it */
	bool asked, asked_again;
	struct record identity; /* of the login at the provider */
	char rejected[PKCE_BYTES];
};

void
two_logins_name(char name[STORE_NAME_BYTES], const char *issuer,
    const char *client, const char *profile)
{
	char *text = xasprintf("%s %s", issuer, client); /* a blank: no URL */

	store_name(name, text, profile);
	free(text);
}

static bool
is_usable(const struct record *identity)
{
	return id_token_usable(identity, (int64_t)time(NULL));
}

static void
run(struct two_logins *m, struct fetcher *f, const struct login_config *c,
    struct login_done *d)
{
	m->login = login_new(m->loop, f, m->store, c, m->where, m->arg);
	login_run(m->login, d);
	login_free(m->login);
	m->login = NULL;
}

/* identity is what the login at the server had. */
static void
run_provider(struct two_logins *m, const struct record *identity,
    struct login_done *d)
{
	struct login_config *c = &m->provider;
	const char *token = identity->token.id_token;

	c->reason = token == NULL ? LOGIN_NONE :
	    is_usable(identity)   ? LOGIN_REJECTED :
				    LOGIN_EXPIRED;
	c->rejected = token != NULL && pkce_challenge(m->rejected, token) == 0 ?
	    m->rejected :
	    NULL;
	/* What can be renewed needs no user. */
	c->force = m->server.force && identity->token.refresh == NULL;
	c->record = m->store == NULL ? &m->identity : NULL;
	run(m, m->at.fetcher, c, d);
}

/* May a login at the provider help? Each of the two reasons for one counts
 * once. */
static bool
may_ask(struct two_logins *m, const struct record *identity)
{
	bool *asked = is_usable(identity) ? &m->asked_again : &m->asked;

	if (!m->has_provider || m->orphaned || *asked)
		return false;
	*asked = true;
	return true;
}

void
two_logins_run(struct two_logins *m, struct login_done *d)
{
	struct login_done had;

	for (;;) {
		run(m, m->fetcher, &m->server, d);
		if (d->end != LOGIN_IDENTITY)
			return;
		d->has_record = false;
		if (!may_ask(m, &d->record)) {
			if (m->asked && !is_usable(&d->record))
				string_set(&d->why,
				    "the ID token that was just issued is over, "
				    "or has no exp; check this machine's clock");
			d->end = LOGIN_FAILED;
			return;
		}
		had = *d;
		run_provider(m, &had.record, d);
		login_done_free(&had);
		d->has_record = false;
		if (d->end != LOGIN_DONE)
			return;
		record_free(&m->identity);
		m->identity = d->record;
		record_init(&d->record);
		login_done_free(d);
		m->at.record = &m->identity;
	}
}

struct two_logins *
two_logins_new(struct loop *l, struct fetcher *f, struct store *store,
    const struct login_config *server, const struct login_config *provider,
    login_where_cb *where, void *arg)
{
	struct two_logins *m = xcalloc(1, sizeof *m);

	m->loop = l;
	m->fetcher = f;
	m->store = store;
	m->server = *server;
	m->where = where;
	m->arg = arg;
	if (server->provider != NULL) {
		m->at = *server->provider;
		m->server.provider = &m->at;
	}
	if (provider != NULL) {
		m->has_provider = true;
		m->provider = *provider;
		m->provider.interactive = server->interactive;
		m->provider.notify = server->notify;
	}
	return m;
}

bool
two_logins_paste(struct two_logins *m, const char *url)
{
	return m->login != NULL && login_paste(m->login, url);
}

bool
two_logins_orphan(struct two_logins *m)
{
	m->orphaned = true;
	return m->login != NULL && login_orphan(m->login);
}

void
two_logins_free(struct two_logins *m)
{
	if (m == NULL)
		return;
	login_free(m->login);
	record_free(&m->identity);
	free(m);
}
