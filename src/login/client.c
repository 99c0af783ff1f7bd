/*
 * Who we are at the authorization server: a client that is given, a document,
 * one that was registered before, or one that is registered now; and the port
 * of its redirect, which is bound before anything names it.
 */
#include "config.h"

#include "login/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "login/device.h"
#include "login/redirect.h"
#include "login/steps.h"
#include "login/waiting.h"

enum {
	PORT_POLL_MS = 200,
	PORT_MS = 3 * 1000, /* for a port that is given, to become free */
	CALLBACK_CONNS = 16,
	CALLBACK_MS = 10 * 1000
};

static login_dead_cb dead_client;

static void
client_saved(struct login *g)
{
	login_unlock(&g->token_lock);
	if (g->config.mode == LOGIN_DEVICE)
		login_device(g);
	else
		login_authorize(g, dead_client);
}

static void
save_client(struct login *g)
{
	login_save(g, client_saved);
}

static void on_registered(const struct fetch_answer *, void *);

static void
make_redirect_uri(struct login *g)
{
	if (g->listener == NULL)
		return;
	free(g->redirect_uri);
	g->redirect_uri = xasprintf("http://%s:%u%s", g->redirect_host,
	    listener_port(g->listener), g->config.callback_path);
}

static void
register_client(struct login *g)
{
	struct fetch_request f = {
		.url = g->found.server.registration_endpoint,
		.content_type = "application/json",
	};
	char *scope = login_wanted_scope(g);
	struct buf body;

	buf_init(&body, 0);
	client_register(&body, &g->found.server, g->redirect_uri, scope);
	f.body = buf_span(&body);
	g->fetch = fetch_start(g->fetcher, &f, on_registered, g);
	buf_free(&body);
	free(scope);
}

/* Some servers know loopback by its name only. */
static bool
is_redirect_refused(const struct login *g, const struct fetch_answer *a)
{
	const char *error = a->json == NULL ? NULL :
					      document_text(a->json, "error");

	return error != NULL && strcmp(error, "invalid_redirect_uri") == 0 &&
	    g->listener != NULL && strcmp(g->redirect_host, "127.0.0.1") == 0;
}

static void
on_registered(const struct fetch_answer *a, void *arg)
{
	struct login *g = arg;
	char *why = NULL, *full;

	g->fetch = NULL;
	if (a->status == 0 || a->transient) {
		login_unready(g, a);
		return;
	}
	if (is_redirect_refused(g, a)) {
		g->redirect_host = "localhost";
		make_redirect_uri(g);
		register_client(g);
		return;
	}
	record_drop_client(&g->record);
	if (a->json != NULL &&
	    client_registered(&g->record, a->json, g->redirect_uri, &why) ==
		0) {
		login_lock_token(g, save_client);
		return;
	}
	/* Guessed paths (2025-03-26) that are not there: it was no OAuth. */
	if (g->found.legacy && g->found.server.issuer == NULL &&
	    a->json == NULL) {
		login_end(g, LOGIN_FAILED,
		    "it wants credentials, and shows no way to sign in. Pass a "
		    "token with --bearer-env NAME or --bearer-file FILE, or a "
		    "header with -H");
		return;
	}
	full = xasprintf("the authorization server did not register a client: "
			 "%s. Register one by hand and pass --client-id",
	    why != NULL        ? why :
		a->why != NULL ? a->why :
				 "no JSON");
	login_failed(g, LOGIN_FAILED, full);
	free(full);
	free(why);
}

/* Binds the port that the browser comes back to. false: the login is over, or
 * it is tried again. */
static bool
listen_for_browser(struct login *g, unsigned port)
{
	struct listener_config c = {
		.port = port,
		.max_conns = CALLBACK_CONNS,
		.max_request = CALLBACK_MAX_BYTES,
		.conn_ms = CALLBACK_MS,
	};
	bool given = g->config.callback_port != 0;
	int64_t now = loop_now(g->loop);

	g->listener = listener_new(g->loop, &c, login_callback, g);
	if (g->listener == NULL && port != 0 && !given) {
		c.port = 0; /* somebody else has the one of the last time */
		g->listener = listener_new(g->loop, &c, login_callback, g);
	}
	if (g->listener != NULL) {
		make_redirect_uri(g);
		return true;
	}
	/* The login of a moment ago still says good-bye there. */
	if (g->port_until == 0)
		g->port_until = now + PORT_MS;
	if (errno == EADDRINUSE && now < g->port_until) {
		login_later(g, PORT_POLL_MS, login_find_client);
		return false;
	}
	login_end(g, LOGIN_FAILED, "port %u of 127.0.0.1 cannot be had: %s%s",
	    port, strerror(errno),
	    given ? ". Choose another with --callback-port" : "");
	return false;
}

/* The port of a redirect URI of ours, 0: it is none. host is set to its. */
static unsigned
port_of(const char *uri, const char **host)
{
	static const char *const hosts[] = { "127.0.0.1", "localhost" };
	unsigned long port;
	size_t i, n;

	for (i = 0; uri != NULL && i < 2; i++) {
		n = strlen(hosts[i]);
		if (strncmp(uri, "http://", 7) != 0 ||
		    strncmp(uri + 7, hosts[i], n) != 0 || uri[7 + n] != ':')
			continue;
		port = strtoul(uri + 8 + n, NULL, 10);
		*host = hosts[i];
		return port > 65535 ? 0 : (unsigned)port;
	}
	return 0;
}

/* A client that was registered before, at this issuer, and seems alive. */
static bool
has_client(const struct login *g)
{
	const struct record *r = &g->record;

	return r->client.id != NULL && r->client_failures == 0 &&
	    r->client.source == CLIENT_REGISTERED &&
	    (r->client.secret_expires_at == 0 ||
		r->client.secret_expires_at > login_now());
}

/* Replaces the client of the record by one that is known without asking. */
static void
take_client(struct login *g, enum client_source source, const char *id)
{
	struct record *r = &g->record;

	if (r->client.id == NULL || strcmp(r->client.id, id) != 0)
		record_drop_client(r);
	r->client.source = source;
	free(r->client.id);
	r->client.id = xstrdup(id);
	string_wipe(&r->client.secret);
	r->client.method = CLIENT_NONE;
	if (source == CLIENT_GIVEN && g->config.client_secret != NULL)
		r->client.secret = xstrdup(g->config.client_secret);
	if (source == CLIENT_GIVEN)
		r->client.method = client_method(&g->found.server,
		    r->client.secret != NULL, false);
	free(r->client.redirect_uri);
	r->client.redirect_uri = g->redirect_uri == NULL ?
	    NULL :
	    xstrdup(g->redirect_uri);
}

void
login_find_client(struct login *g)
{
	const struct login_config *c = &g->config;
	const struct server_metadata *m = &g->found.server;
	struct record *r = &g->record;
	unsigned port = c->callback_port;
	const char *host = c->callback_host;

	if (!login_take_found(g))
		return;
	if (port == 0 && has_client(g))
		port = port_of(r->client.redirect_uri, &host);
	g->redirect_host = host;
	if (c->mode != LOGIN_DEVICE && g->listener == NULL &&
	    !listen_for_browser(g, port))
		return;
	if (c->client_id != NULL) {
		take_client(g, CLIENT_GIVEN, c->client_id);
		client_saved(g);
	} else if (m->client_document && c->client_document != NULL) {
		take_client(g, CLIENT_DOCUMENT, c->client_document);
		client_saved(g);
	} else if (has_client(g) &&
	    (g->redirect_uri == NULL ||
		(r->client.redirect_uri != NULL &&
		    strcmp(g->redirect_uri, r->client.redirect_uri) == 0))) {
		client_saved(g);
	} else if (m->registration_endpoint != NULL) {
		register_client(g);
	} else {
		login_end(g, LOGIN_FAILED,
		    "its authorization server registers no clients by itself. "
		    "Register one there and pass --client-id (and "
		    "--client-secret-file)");
	}
}

/* The client is dead at the server: forgotten, and another try where that can
 * help. */
static void
dead_client(struct login *g, const char *why)
{
	bool ours = g->record.client.source == CLIENT_REGISTERED ||
	    g->record.client.source == CLIENT_IMPORTED;

	if (!ours || g->registered_anew ||
	    g->found.server.registration_endpoint == NULL) {
		login_failed(g, LOGIN_FAILED, why);
		return;
	}
	log_info("the client is not known any more: registered anew");
	g->registered_anew = true;
	g->on_redirect = false;
	record_drop_client(&g->record);
	login_expect_person(g, true);
	login_find_client(g);
}
