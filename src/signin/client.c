/*
 * Who we are at the authorization server: a client that is given, a document,
 * one that was registered before, or one that is registered now; and the port
 * of its redirect, which is bound before anything names it.
 */
#include "config.h"

#include "signin/state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "os/error.h"

/* --- the port --- */

static void
make_redirect_uri(struct login *g)
{
	if (g->listener == NULL)
		return;
	free(g->redirect_uri);
	g->redirect_uri = xasprintf("http://%s:%u%s", g->redirect_host,
	    listener_port(g->listener), g->config.callback_path);
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

struct listener *
login_open_port(struct loop *l, unsigned port, const char *host,
    listener_cb *cb, void *arg)
{
	bool everywhere = strcmp(host, "0.0.0.0") == 0;
	struct listener_config c = {
		.port = port,
		.named = everywhere || strcmp(host, "localhost") == 0,
		.everywhere = everywhere,
		.max_conns = BOUND_CONNECTIONS,
		.max_request = BOUND_HEADER_BYTES,
		.conn_ms = BOUND_STEP_MS,
	};

	return listener_new(l, &c, cb, arg);
}

/* Binds the port, or another one where it is only the one of the last time. */
static struct listener *
listen_at(struct login *g, unsigned port, const char *host)
{
	struct listener *l = login_open_port(g->loop, port, host,
	    login_callback, g);

	if (l != NULL || port == 0 || g->config.callback_port != 0)
		return l;
	/* somebody else has it */
	return login_open_port(g->loop, 0, host, login_callback, g);
}

void
login_listen(struct login *g, bool again)
{
	unsigned port = g->config.callback_port;
	const char *host = g->config.callback_host;
	enum login_outcome came;
	char *why;

	if (port == 0 && again)
		port = port_of(g->record.client.redirect_uri, &host);
	/* In a container all addresses are listened at, and the browser on the
	 * machine around it comes to the port that leads inside. */
	g->redirect_host = strcmp(host, "0.0.0.0") == 0 ? "localhost" : host;
	g->listener = listen_at(g, port, host);
	if (g->listener != NULL) {
		make_redirect_uri(g);
		login_report(g, CAME_DONE);
		return;
	}
	came = errno == EADDRINUSE ? CAME_BUSY : CAME_BROKEN;
	why = xasprintf("port %u of %s cannot be used: %s%s", port, host,
	    os_error_text(errno),
	    g->config.callback_port != 0 ?
		". Choose another: --callback-port PORT" :
		"");
	login_report_why(g, came, why);
	free(why);
}

/* --- clients that are known --- */

static void
take_client(struct login *g, enum client_source source)
{
	login_set_client(g, source);
	string_set(&g->record.client.redirect_uri, g->redirect_uri);
	login_report(g, CAME_DONE);
}

void
login_take_given(struct login *g)
{
	take_client(g, CLIENT_GIVEN);
}

void
login_take_document(struct login *g)
{
	take_client(g, CLIENT_DOCUMENT);
}

/* --- registration --- */

/* Some servers know loopback by its name only, and say so under any error's name.
 * Where another program has our port at [::1], that name could lead a browser
 * there. */
static bool
is_redirect_refused(const struct login *g, const struct fetch_answer *a)
{
	const char *error = document_text(a->json, "error");
	const char *text = document_text(a->json, "error_description");

	return error != NULL &&
	    (strcmp(error, "invalid_redirect_uri") == 0 ||
		(text != NULL && strcasestr(text, "localhost") != NULL)) &&
	    g->listener != NULL && strcmp(g->redirect_host, "127.0.0.1") == 0 &&
	    listener_is_named(g->listener);
}

static void
take_registered(struct login *g, const struct fetch_answer *a)
{
	char *why = NULL;

	if (login_is_unready(g, a))
		return;
	if (is_redirect_refused(g, a)) {
		login_report(g, CAME_BAD_REDIRECT);
		return;
	}
	record_drop_client(&g->record);
	if (a->json == NULL)
		login_report_why(g, CAME_NO_DOCUMENT,
		    a->why != NULL ? a->why : "not JSON");
	else if (client_registered(&g->record, a->json, &g->found.server,
		     g->redirect_uri, &why) == 0)
		login_report(g, CAME_REGISTERED);
	else
		login_report_why(g, CAME_REFUSED, why);
	free(why);
}

void
login_register(struct login *g)
{
	struct fetch_request f = {
		.url = g->found.server.registration_endpoint,
		.content_type = "application/json",
	};
	char *scope = login_named_scope(g);
	struct fetch_answer a;
	struct buf body = { 0 };

	client_register(&body, &g->found.server, g->redirect_uri, scope,
	    g->config.client_metadata);
	f.body = buf_span(&body);
	if (login_fetch(g, g->fetcher, &f, &a)) {
		take_registered(g, &a);
		fetch_answer_free(&a);
	}
	buf_free(&body);
	free(scope);
}

void
login_register_by_name(struct login *g)
{
	g->redirect_host = "localhost";
	make_redirect_uri(g);
	login_register(g);
}
