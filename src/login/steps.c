/*
 * What each part of a login can start: the store, the token lock, finding out
 * where to sign in, a request, the end. Nothing here calls another part.
 */
#include "config.h"

#include "login/steps.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>

#include "base/codec.h"
#include "base/log.h"

enum {
	DISCOVERY_MS = 90 * 1000 /* all its documents */
};

/* --- time --- */

int64_t
login_now(void)
{
	return (int64_t)time(NULL);
}

void
login_later(struct login *g, int64_t ms, login_step *step)
{
	g->step = step;
	loop_timer_set(g->timer, ms);
}

/* --- the store --- */

/* What mcp-remote has is as good as a record of ours: above all its refresh
 * token. */
static void
import(struct login *g)
{
	char *from = NULL, *why = NULL;

	if (g->config.import != NULL &&
	    import_tokens(&g->record, g->config.import, &from, &why))
		log_debug("taken from %s", from);
	free(from);
	free(why);
}

static void
on_record(const struct record *r, const char *why, void *arg)
{
	struct login *g = arg;

	g->op = NULL;
	if (why != NULL) {
		login_end(g, LOGIN_FAILED, "%s", why);
		return;
	}
	record_free(&g->record);
	if (r != NULL)
		record_copy(&g->record, r);
	else
		import(g);
	g->then(g);
}

void
login_read(struct login *g, login_step *then)
{
	g->then = then;
	if (g->store == NULL)
		login_later(g, 0, then);
	else
		g->op = store_get(g->store, g->name, on_record, g);
}

static void
on_saved(const char *why, void *arg)
{
	struct login *g = arg;

	g->op = NULL;
	if (why != NULL)
		log_warn("%s", why);
	free(g->unkept);
	g->unkept = why == NULL ? NULL : xstrdup(why);
	g->then(g);
}

void
login_save(struct login *g, login_step *then)
{
	struct record *r = &g->record;

	free(r->url);
	r->url = xstrdup(g->config.server->text);
	free(r->profile);
	r->profile = g->config.profile == NULL ? NULL :
						 xstrdup(g->config.profile);
	g->then = then;
	if (g->store == NULL)
		login_later(g, 0, then);
	else
		g->op = store_put(g->store, g->name, r, on_saved, g);
}

void
login_unlock(int *fd)
{
	if (*fd >= 0)
		store_unlock(*fd);
	*fd = -1;
}

bool
login_lock_is_busy(struct login *g)
{
	if (errno == EWOULDBLOCK)
		return true;
	login_end(g, LOGIN_FAILED,
	    "the token store ~/" STORE_BELOW " cannot be used: %s",
	    strerror(errno));
	return false;
}

static void
try_lock(struct login *g)
{
	unsigned char jitter = 0;

	g->token_lock = store_lock(g->store, STORE_TOKEN, g->name);
	if (g->token_lock >= 0) {
		g->then(g);
		return;
	}
	if (!login_lock_is_busy(g))
		return;
	if (loop_now(g->loop) >= g->lock_until) {
		login_end(g, LOGIN_LATER,
		    "another mcpsplice has been asking for a token for too "
		    "long");
		return;
	}
	if (loop_random(&jitter, 1) != 0)
		jitter = 0;
	login_later(g, STORE_POLL_MS + jitter % 64, try_lock);
}

void
login_lock_token(struct login *g, login_step *then)
{
	g->then = then;
	if (g->store == NULL) {
		login_later(g, 0, then);
		return;
	}
	g->lock_until = loop_now(g->loop) + STORE_PATIENCE_MS;
	try_lock(g);
}

/* --- what there is --- */

bool
login_is_good(const struct login *g)
{
	const struct record *r = &g->record;
	const struct challenge *c = g->config.challenge;
	char hash[PROOF_BYTES];

	if (r->token.access == NULL || !record_usable(r, login_now()))
		return false;
	if (g->hash[0] != '\0' &&
	    (proof_challenge(hash, r->token.access) != 0 ||
		strcmp(hash, g->hash) == 0))
		return false;
	return g->config.reason != LOGIN_SCOPE || c == NULL ||
	    c->scope == NULL || record_has_scopes(r, c->scope);
}

/* --- where to sign in --- */

static void
too_slow(struct login *g)
{
	login_end(g, LOGIN_LATER,
	    "to find out where to sign in took more than %d s",
	    DISCOVERY_MS / 1000);
}

static void
undiscovered(struct login *g)
{
	login_end(g, g->failure_end, "%s", g->failure);
}

static void
on_discovered(struct discovered *d, const char *why, bool transient, void *arg)
{
	struct login *g = arg;

	g->discovery = NULL;
	if (d == NULL) {
		/* It may come from inside discovery_start. */
		g->failure = xstrdup(why);
		g->failure_end = transient ? LOGIN_LATER : LOGIN_FAILED;
		login_later(g, 0, undiscovered);
		return;
	}
	loop_timer_set(g->timer, -1);
	if (g->discovered)
		discovered_free(&g->found);
	g->found = *d;
	memset(d, 0, sizeof *d);
	g->discovered = true;
	g->then(g);
}

void
login_discover(struct login *g, bool interactive, login_step *then)
{
	const struct login_config *c = &g->config;
	struct discovery_config d = {
		.server = c->server,
		.resource_metadata = c->challenge == NULL ?
		    NULL :
		    c->challenge->resource_metadata,
		.issuer = c->issuer,
		.bound = g->record.issuer,
		.policy = c->policy,
		.interactive = interactive,
	};

	g->then = then;
	login_later(g, DISCOVERY_MS, too_slow);
	g->discovery = discovery_start(g->fetcher, &d, on_discovered, g);
}

static void
set(char **to, const char *value)
{
	char *copy = value == NULL ? NULL : xstrdup(value);

	free(*to);
	*to = copy;
}

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Must this issuer not see what the record has? An issuer that was never noted
 * counts as another one. Only the refresh token and the client are kept from
 * it: an access token alone goes to no authorization server but to be
 * revoked. */
static bool
is_for_another(const struct record *r, const char *issuer)
{
	if (r->issuer == NULL && r->token_endpoint == NULL)
		return r->token.refresh != NULL || r->client.id != NULL;
	return !same(r->issuer, issuer);
}

bool
login_take_found(struct login *g)
{
	const struct login_config *c = &g->config;
	struct record *r = &g->record;

	if (is_for_another(r, g->found.server.issuer)) {
		/* A secret of the user's is for the one it was given for. */
		if (r->client.source == CLIENT_GIVEN && r->client.id != NULL &&
		    same(r->client.id, c->client_id) && c->issuer == NULL) {
			login_end(g, LOGIN_FAILED,
			    "its authorization server was %s and is %s now. If "
			    "--client-id is for the new one, say so with "
			    "--issuer",
			    r->issuer != NULL ? r->issuer : "(none)",
			    g->found.server.issuer != NULL ?
				g->found.server.issuer :
				"(none)");
			return false;
		}
		log_info("%s has another authorization server now",
		    c->server->host);
		record_drop_client(r);
	}
	set(&r->issuer, g->found.server.issuer);
	set(&r->token_endpoint,
	    c->token_endpoint != NULL ? c->token_endpoint :
					g->found.server.token_endpoint);
	set(&r->revocation_endpoint, g->found.server.revocation_endpoint);
	set(&r->resource,
	    c->no_resource          ? NULL :
		c->resource != NULL ? c->resource :
				      g->found.resource);
	return true;
}

/* --- requests --- */

bool
login_assertion(struct login *g, char **assertion)
{
	const struct record *r = &g->record;
	char *why = NULL;

	*assertion = NULL;
	if (r->client.method != CLIENT_JWT)
		return true;
	if (g->config.client_key != NULL)
		*assertion = assertion_make(g->config.client_key, r->client.id,
		    r->issuer != NULL ? r->issuer : r->token_endpoint,
		    g->discovered ? g->found.server.jwt_algs : NULL,
		    login_now(), &why);
	if (*assertion != NULL)
		return true;
	login_end(g, LOGIN_FAILED, "%s",
	    why != NULL ? why : "this client needs --client-key");
	free(why);
	return false;
}

void
login_post(struct login *g, const char *url, struct client_request *r,
    fetch_cb *cb)
{
	struct fetch_request f = {
		.url = url,
		.body = buf_span(&r->form),
		.content_type = "application/x-www-form-urlencoded",
		.headers = &r->headers,
	};

	g->fetch = fetch_start(g->fetcher, &f, cb, g);
	client_request_free(r);
}

/* --- the end --- */

void
login_end(struct login *g, enum login_end end, const char *fmt, ...)
{
	struct login_ops ops = g->ops;
	struct record record = g->record;
	int64_t again_ms = g->again_ms;
	void *arg = g->arg;
	char text[1024] = "";
	struct buf why; /* names of others may be in it */
	va_list ap;

	if (fmt != NULL) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof text, fmt, ap);
		va_end(ap);
	}
	buf_init(&why, 0);
	codec_visible(&why, span_of(text), sizeof text);
	record_init(&g->record); /* ours until it was told */
	login_free(g);
	ops.done(end, fmt == NULL ? NULL : buf_str(&why), again_ms, &record,
	    arg);
	record_free(&record);
	buf_free(&why);
}

void
login_unready(struct login *g, const struct fetch_answer *a)
{
	g->again_ms = a->retry_after_ms;
	/* What we refuse ourselves does not change by waiting. */
	if (a->status == 0 && !a->transient)
		login_end(g, LOGIN_FAILED, "%s",
		    a->why != NULL ? a->why : "no request was possible");
	else if (a->why != NULL)
		login_end(g, LOGIN_LATER, "%s", a->why);
	else
		login_end(g, LOGIN_LATER,
		    "the authorization server is not ready (%d)", a->status);
}

void
login_done(struct login *g)
{
	if (g->unkept == NULL)
		login_end(g, LOGIN_DONE, NULL);
	else
		login_end(g, LOGIN_DONE, "%s", g->unkept);
}

static void
save_token(struct login *g)
{
	login_save(g, login_done);
}

void
login_expect_person(struct login *g, bool expect)
{
	if (g->config.timeout_ms > 0)
		loop_timer_set(g->timeout, expect ? g->config.timeout_ms : -1);
}

void
login_have_token(struct login *g)
{
	struct pending *p = &g->pending;

	login_expect_person(g, false);
	if (g->login_lock >= 0) {
		free(p->url);
		free(p->user_code);
		p->url = p->user_code = NULL;
		p->failed_at = 0;
		store_set_pending(g->store, g->name, p);
	}
	g->record.client_failures = 0;
	if (g->config.knows_place)
		g->record.server_public = g->config.is_public;
	if (g->token_lock >= 0)
		save_token(g);
	else
		login_lock_token(g, save_token);
}

void
login_free(struct login *g)
{
	if (g == NULL)
		return;
	store_cancel(g->op);
	fetch_cancel(g->fetch);
	discovery_cancel(g->discovery);
	listener_free(g->listener, true);
	browser_free(g->browser);
	loop_timer_free(g->timer);
	loop_timer_free(g->timeout);
	login_unlock(&g->tab_lock);
	login_unlock(&g->token_lock);
	login_unlock(&g->login_lock);
	if (g->discovered)
		discovered_free(&g->found);
	record_free(&g->record);
	pending_free(&g->pending);
	callback_free(&g->arrived);
	free(g->unkept);
	free(g->shown);
	free(g->shown_code);
	free(g->redirect_uri);
	free(g->scope);
	free(g->url);
	free(g->device_code);
	free(g->failure);
	OPENSSL_cleanse(g->verifier, sizeof g->verifier);
	OPENSSL_cleanse(g->state, sizeof g->state);
	free(g);
}
