/*
 * Two logins, one after the other: that at the MCP server says that there is no
 * ID token that does, that at the provider gets one, and the first begins
 * again.
 */
#include "config.h"

#include "login/managed.h"

#include <stdlib.h>
#include <time.h>

#include "login/id_token.h"

struct managed {
	struct loop *loop;
	struct fetcher *fetcher;
	struct store *store;
	struct login_config server, provider;
	struct login_provider at; /* of server, with the record that was had */
	struct login_ops ops;
	void *arg;
	struct login *login; /* the one that runs */
	bool has_provider, orphaned;
	/* a login at the provider was begun: because there was no ID token that
	 * is good by its own time; because the provider had refused it */
	bool asked, asked_again;
	struct record identity; /* of the login at the provider */
	char rejected[PROOF_BYTES];
};

static void on_server_done(enum login_end end, const char *why,
    int64_t again_ms, const struct record *record, void *arg);
static void on_provider_done(enum login_end end, const char *why,
    int64_t again_ms, const struct record *record, void *arg);

void
managed_name(char name[STORE_NAME_BYTES], const char *issuer,
    const char *client, const char *profile)
{
	char *text = xasprintf("%s %s", issuer, client); /* a blank: no URL */

	store_name(name, text, profile);
	free(text);
}

/* Tells how it ended, with m gone before. */
static void
finish(struct managed *m, enum login_end end, const char *why, int64_t again_ms,
    const struct record *record)
{
	struct login_ops ops = m->ops;
	void *arg = m->arg;

	managed_free(m);
	ops.done(end, why, again_ms, record, arg);
}

static void
on_where(const char *url, const char *user_code, void *arg)
{
	struct managed *m = arg;

	m->ops.where(url, user_code, m->arg);
}

static void
begin_server(struct managed *m)
{
	static const struct login_ops ops = { on_where, on_server_done };

	m->login = login_start(m->loop, m->fetcher, m->store, &m->server, &ops,
	    m);
}

static bool
is_usable(const struct record *identity)
{
	return id_token_usable(identity, (int64_t)time(NULL));
}

/* identity is what the login at the server had. */
static void
begin_provider(struct managed *m, const struct record *identity)
{
	static const struct login_ops ops = { on_where, on_provider_done };
	struct login_config *c = &m->provider;
	const char *token = identity->token.id_token;

	c->reason = token == NULL ? LOGIN_NONE :
	    is_usable(identity)   ? LOGIN_REJECTED :
				    LOGIN_EXPIRED;
	c->rejected = token != NULL &&
		proof_challenge(m->rejected, token) == 0 ?
	    m->rejected :
	    NULL;
	/* What can be renewed needs no user. */
	c->force = m->server.force && identity->token.refresh == NULL;
	c->record = m->store == NULL ? &m->identity : NULL;
	m->login = login_start(m->loop, m->at.fetcher, m->store, c, &ops, m);
}

/* May a login at the provider help? Each of the two reasons for one counts
 * once. */
static bool
may_ask(struct managed *m, const struct record *identity)
{
	bool *asked = is_usable(identity) ? &m->asked_again : &m->asked;

	if (!m->has_provider || m->orphaned || *asked)
		return false;
	*asked = true;
	return true;
}

static void
on_server_done(enum login_end end, const char *why, int64_t again_ms,
    const struct record *record, void *arg)
{
	struct managed *m = arg;

	m->login = NULL;
	if (end == LOGIN_IDENTITY && may_ask(m, record))
		begin_provider(m, record);
	else if (end == LOGIN_IDENTITY)
		finish(m, LOGIN_FAILED, why, again_ms, NULL);
	else
		finish(m, end, why, again_ms, record);
}

static void
on_provider_done(enum login_end end, const char *why, int64_t again_ms,
    const struct record *record, void *arg)
{
	struct managed *m = arg;

	m->login = NULL;
	if (end != LOGIN_DONE) {
		finish(m, end, why, again_ms, NULL);
		return;
	}
	record_free(&m->identity);
	record_copy(&m->identity, record);
	m->at.record = &m->identity;
	begin_server(m);
}

struct managed *
managed_start(struct loop *l, struct fetcher *f, struct store *store,
    const struct login_config *server, const struct login_config *provider,
    const struct login_ops *ops, void *arg)
{
	struct managed *m = xcalloc(1, sizeof *m);

	m->loop = l;
	m->fetcher = f;
	m->store = store;
	m->server = *server;
	m->ops = *ops;
	m->arg = arg;
	record_init(&m->identity);
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
	begin_server(m);
	return m;
}

bool
managed_paste(struct managed *m, const char *url)
{
	return m->login != NULL && login_paste(m->login, url);
}

bool
managed_orphan(struct managed *m)
{
	m->orphaned = true;
	return m->login != NULL && login_orphan(m->login);
}

void
managed_free(struct managed *m)
{
	if (m == NULL)
		return;
	login_free(m->login);
	record_free(&m->identity);
	free(m);
}
