/*
 * What copies that wait for the same user tell each other. The one with the
 * login lock writes where the user has to go, or that a login came to nothing;
 * the others show it.
 */
#include "config.h"

#include "signin/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "os/error.h"
#include "os/place.h"

enum { LOOK_MS = 1000 };

/* "mcpsplice logout" takes the URL away and notes a later failure. */
static bool
login_was_ended(struct login *g)
{
	struct pending p;
	bool ended;

	if (g->store == NULL)
		return false;
	store_pending(g->store, g->name, &p);
	ended = p.url == NULL && p.failed_at > g->pending.failed_at;
	pending_free(&p);
	return ended;
}

static bool
write_pending(struct login *g)
{
	return g->store == NULL ||
	    store_set_pending(g->store, g->name, &g->pending) == 0;
}

/* Writes g->pending, for the copies that wait, unless the login was ended: that
 * is seen at the next look. false with errno: it cannot be written. */
static bool
login_save_pending(struct login *g)
{
	return login_was_ended(g) || write_pending(g);
}

static void
forget_url(struct pending *p)
{
	string_wipe(&p->url);
	string_wipe(&p->user_code);
}

/* Was it told last? It counts as told from now on. */
static bool
is_shown(struct login *g, const char *url, const char *code)
{
	if (code == NULL)
		code = "";
	if (string_eq(g->shown, url) && strcmp(g->shown_code, code) == 0)
		return true;
	string_set(&g->shown, url);
	string_set(&g->shown_code, code);
	return false;
}

/* Tells where to go, here and to the copies that wait. code NULL: by the
 * browser. */
static void
login_show(struct login *g, const char *url, const char *code)
{
	struct pending *p = &g->pending;

	forget_url(p);
	p->url = xstrdup(url);
	p->user_code = string_copy(code);
	free(p->server);
	p->server = xstrdup(g->config.server->text);
	p->asked_at = g->config.browser != NULL ? login_now() : 0;
	login_save_pending(g);
	if (g->store != NULL)
		loop_timer_set(g->look, LOOK_MS);
	if (g->config.notify && !g->notified)
		notification_send(g->loop, g->config.server->host,
		    &g->config.desktop);
	g->notified = true;
	if (!is_shown(g, url, code))
		g->where(url, code, g->arg);
}

void
login_look_for_end(struct login *g)
{
	if (g->pending.url == NULL)
		return;
	if (login_was_ended(g))
		login_report(g, CAME_CANCELLED);
	else
		loop_timer_set(g->look, LOOK_MS);
}

void
login_watch(struct login *g)
{
	struct login_input in = { .came = CAME_LOOKED, .again_ms = -1 };
	struct pending p;

	in.helper = store_has_helper(g->store);
	in.stamp = store_stamp(g->store, g->name);
	store_pending(g->store, g->name, &p);
	if (p.url != NULL && !is_shown(g, p.url, p.user_code)) {
		g->where(p.url, p.user_code, g->arg);
		in.shown = p.user_code == NULL;
		in.tab_at = p.asked_at > p.opened[0] ? p.asked_at : p.opened[0];
	}
	pending_free(&p);
	login_report_all(g, &in);
}

/* What the copy before us showed is over. */
void
login_clear(struct login *g)
{
	char *why;

	forget_url(&g->pending);
	if (login_save_pending(g)) {
		login_report(g, CAME_DONE);
		return;
	}
	why = xasprintf("cannot write the token store %s: %s",
	    os_place_shown(STORE_BELOW), os_error_text(errno));
	login_report_why(g, CAME_BROKEN, why);
	free(why);
}

void
login_note_success(struct login *g)
{
	forget_url(&g->pending);
	g->pending.failed_at = 0;
	write_pending(g);
}

/* The copies that wait do not ask the user again. */
void
login_note_failure(struct login *g)
{
	forget_url(&g->pending);
	g->pending.failed_at = login_now();
	write_pending(g);
}

enum { WORDS_MAX = 200 };

/* --- what comes back --- */

static struct callback_expected
expected(const struct login *g)
{
	const struct server_metadata *m = &g->found.server;
	const char *named = g->config.issuer;
	/* A server that publishes no issuer must not gain by that: it is its
	 * own. */
	const char *own = m->issuer != NULL ? m->issuer :
					      g->config.server->origin;
	/* The listed one's own document is used only for redirects of that of
	 * --issuer. */
	bool other = named != NULL && !metadata_same_issuer(own, named);

	return (struct callback_expected){
		.port = g->listener == NULL ? 0 : listener_port(g->listener),
		.path = g->config.callback_path,
		.state = g->state,
		.issuer = other ? named : own,
		.iss = other || m->iss,
	};
}

static void
report_denied(struct login *g, const struct callback *c)
{
	const char *error = c->error != NULL ? c->error : "unknown error";
	struct buf words = { 0 };
	char *why;

	codec_visible(&words, span_of(c->description), WORDS_MAX);
	why = xasprintf("the authorization server refused the sign-in: "
			"%s%s%s%s%s",
	    error, words.n > 0 ? ", it says \"" : "", buf_str(&words),
	    words.n > 0 ? "\"" : "",
	    client_advice(error, c->description, false));
	buf_free(&words);
	login_report_why(g, CAME_DENIED, why);
	free(why);
}

/* Are these scopes refused that nobody named? mcp gives a client none that it did
 * not register, and yet lists them. They are forgotten. */
static bool
forget_scopes(struct login *g, const struct callback *c)
{
	char *named = login_named_scope(g);
	bool refused = named == NULL && g->scope != NULL &&
	    string_eq(c->error, "invalid_scope");

	free(named);
	if (refused) {
		string_set(&g->record.client.scope, NULL);
		string_set(&g->found.server.scopes, NULL);
	}
	return refused;
}

/* Returns false when it is not what is waited for; c is taken. The order goes on
 * when the page was handed over, since it waits first. */
static bool
take_redirect(struct login *g, enum callback_result result, struct callback *c)
{
	if (!g->awaits_redirect || result == CALLBACK_OTHER ||
	    result == CALLBACK_MORE) {
		callback_free(c);
		return false;
	}
	callback_free(&g->arrived);
	g->arrived = *c;
	if (result == CALLBACK_CODE)
		login_report(g, CAME_CODE);
	else if (result == CALLBACK_ISSUER)
		login_report(g, CAME_FOREIGN);
	else if (forget_scopes(g, &g->arrived))
		login_report(g, CAME_BAD_SCOPE);
	else
		report_denied(g, &g->arrived);
	return true;
}

/* What comes to the redirect's port: listener_cb. */
static bool
login_callback(struct span so_far, struct buf *reply, void *arg)
{
	struct login *g = arg;
	struct callback_expected e = expected(g);
	struct callback c = { 0 };
	enum callback_result result = callback_read(so_far, &e, &c, reply);

	if (result == CALLBACK_MORE)
		return false;
	take_redirect(g, result, &c);
	return true;
}

bool
login_paste(struct login *g, const char *url)
{
	struct callback_expected e = expected(g);
	struct callback c = { 0 };

	return g->listener != NULL &&
	    take_redirect(g, callback_url(url, &e, &c), &c);
}

void
login_close_listener(struct login *g)
{
	listener_free(g->listener, true);
	g->listener = NULL;
}

/* --- the browser --- */

void
login_close_browser(struct login *g)
{
	browser_free(g->browser);
	g->browser = NULL;
}

static void
on_browser(bool ok, void *arg)
{
	struct login *g = arg;

	browser_free(g->browser);
	g->browser = NULL;
	if (!ok)
		login_report_browser(g);
}

void
login_open(struct login *g)
{
	int64_t *opened = g->pending.opened;

	if (login_was_ended(g)) {
		login_report(g, CAME_CANCELLED);
		return;
	}
	opened[2] = opened[1];
	opened[1] = opened[0];
	opened[0] = login_now();
	login_save_pending(g);
	browser_free(g->browser); /* of a client that was dead */
	g->browser = browser_open(g->loop, g->config.browser, g->url,
	    &g->config.desktop, on_browser, g);
	login_report(g, CAME_DONE);
}

/* The URL that was shown last is another copy's. When no tab is open, it is
 * ours to open one. */
void
login_open_for_other(struct login *g)
{
	char *safe, *why;

	if (g->browser != NULL)
		return;
	safe = browser_url(g->shown, g->config.policy.allow_http, &why);
	login_unlock(&g->tab_lock);
	g->tab_lock = store_lock(g->store, STORE_TAB, NULL);
	if (g->tab_lock >= 0 && safe != NULL)
		g->browser = browser_open(g->loop, g->config.browser, safe,
		    &g->config.desktop, on_browser, g);
	free(safe);
	free(why);
}

/* --- the request --- */

void
login_authorize(struct login *g)
{
	char challenge[PKCE_BYTES], *url = NULL, *why = NULL;

	free(g->scope);
	g->scope = login_wanted_scope(g);
	free(g->url);
	g->url = NULL;
	if (pkce_random(g->verifier) == 0 && pkce_random(g->state) == 0 &&
	    pkce_challenge(challenge, g->verifier) == 0)
		url = client_authorize_url(&g->found.server, &g->record,
		    g->scope, g->state, challenge, g->config.params);
	/* A user pastes it into a shell, perhaps: what is shown is as safe as
	 * what is opened. */
	if (url != NULL)
		g->url = browser_url(url, g->config.policy.allow_http, &why);
	free(url);
	if (g->url == NULL) {
		login_report_why(g, CAME_UNABLE,
		    why != NULL ? why : "cannot build the sign-in URL");
		free(why);
		return;
	}
	login_show(g, g->url, NULL);
	login_report(g, CAME_DONE);
}

/* Only a page that a user may be sent to, as it may be shown; owned by the
 * caller. */
static char *
page_of(const struct login *g, struct json_object *doc)
{
	static const char *const names[] = { "verification_uri_complete",
		"verification_uri", "verification_url" };
	char *safe = NULL, *why;
	const char *page;
	size_t i;

	for (i = 0; i < 3 && safe == NULL; i++) {
		page = document_text(doc, names[i]);
		why = NULL;
		if (page != NULL)
			safe = browser_url(page, g->config.policy.allow_http,
			    &why);
		free(why);
	}
	return safe;
}

static void
report_refused(struct login *g, const struct fetch_answer *a)
{
	char *why = NULL;

	if (a->json != NULL && document_has(a->json, "error"))
		client_token(&g->record, a->status, a->json, NULL, login_now(),
		    &why);
	login_report_why(g, CAME_REFUSED,
	    why != NULL        ? why :
		a->why != NULL ? a->why :
				 "the authorization server gave no usable "
				 "device code");
	free(why);
}

static void
take_device(struct login *g, const struct fetch_answer *a)
{
	struct login_input in = { .came = CAME_CODE_SHOWN, .again_ms = -1 };
	struct json_object *doc = a->json;
	const char *code, *user;
	char *page;

	if (login_is_unready(g, a))
		return;
	code = doc == NULL ? NULL : document_text(doc, "device_code");
	user = doc == NULL ? NULL : client_user_code(doc);
	page = doc == NULL ? NULL : page_of(g, doc);
	if (a->status >= 300 || code == NULL || user == NULL || page == NULL) {
		free(page);
		report_refused(g, a);
		return;
	}
	in.life_s = document_number(doc, "expires_in");
	in.interval_s = document_number(doc, "interval");
	string_set(&g->device_code, code);
	login_show(g, page, user);
	free(page);
	login_report_all(g, &in);
}

void
login_device(struct login *g)
{
	struct client_request r = { 0 };
	struct fetch_answer a;

	free(g->scope);
	g->scope = login_wanted_scope(g);
	client_device(&r, g->scope);
	if (!login_post(g, g->found.server.device_authorization_endpoint, &r,
		&a))
		return;
	take_device(g, &a);
	fetch_answer_free(&a);
}

void
login_poll(struct login *g)
{
	struct client_request r = { 0 };

	client_device_poll(&r, g->device_code);
	login_ask_anew(g, &r);
}

/*
 * Who we are at the authorization server: a client that is given, a document,
 * one that was registered before, or one that is registered now; and the port
 * of its redirect, which is bound before anything names it.
 */

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
