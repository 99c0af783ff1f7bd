/* "mcpsplice logout": tokens are revoked, and forgotten. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "auth/assertion.h"
#include "base/bounds.h"
#include "os/place.h"
#include "proxy/cache/startup_cache.h"
#include "signin/account.h"
#include "signin/client_messages.h"
#include "tools/command.h"

enum { END_MS = 5000 }; /* for a sign-in to end */

struct leaving {
	struct account account;
	char name[STORE_NAME_BYTES];
	bool provider; /* it is an identity provider that is left */
	struct record record;
	int lock, login_lock;
	bool asked, cannot_ask; /* a sign-in to end */
	bool was_there;
	bool imports; /* mcp-remote has tokens too */
	char *why;
};

static void
on_time(void *arg)
{
	loop_stop(arg, 0);
}

static void
wait_ms(struct loop *l, int64_t ms)
{
	struct loop_timer *timer = loop_timer_new(l, on_time, l);

	loop_timer_set(timer, ms);
	loop_run(l);
	loop_timer_free(timer);
}

/* Erases the record. If mcp-remote has tokens, a record without token and
 * client remains, because an empty store would take over those tokens again. */
static void
erase(struct leaving *v)
{
	struct account *a = &v->account;
	struct stored answer = { .loop = a->loop };

	if (!v->imports) {
		store_erase(a->store, v->name, stored_done, &answer);
	} else {
		record_free(&v->record);
		record_init(&v->record);
		v->record.url = xstrdup(a->url.text);
		store_put(a->store, v->name, &v->record, stored_done, &answer);
	}
	loop_run(a->loop);
	v->why = answer.why;
}

/* Notes whether mcp-remote has tokens; they are left in its folder. */
static void
look_at_import(struct leaving *v)
{
	char *from = NULL, *why = NULL;
	struct record r = { 0 };

	if (v->account.login.import != NULL &&
	    import_tokens(&r, v->account.login.import, &from, &why)) {
		v->imports = true;
		log_warn(
		    "mcp-remote's tokens stay in %s, but mcpsplice no longer "
		    "uses them",
		    from);
	}
	record_free(&r);
	free(from);
	free(why);
}

/* Makes the proof of our client, if it has one. Returns false if it cannot be
 * made, which is told. */
static bool
prove(const struct leaving *v, char **assertion)
{
	const struct record *r = &v->record;
	const struct assertion_key *key = v->provider ?
	    v->account.provider.key :
	    v->account.client_key;
	char *why = NULL;

	*assertion = NULL;
	if (r->client.method != CLIENT_JWT)
		return true;
	if (key != NULL)
		*assertion = assertion_make(key, r->client.id,
		    r->issuer != NULL ? r->issuer : r->token_endpoint, NULL,
		    (int64_t)time(NULL), &why);
	if (*assertion != NULL)
		return true;
	fprintf(stderr,
	    "mcpsplice: the token was only removed here, not revoked: %s\n",
	    why != NULL     ? why :
		v->provider ? "revoking it needs --idp-key" :
			      "revoking it needs --client-key");
	free(why);
	return false;
}

/* Revokes one token at the authorization server. */
static bool
revoke(struct leaving *v, const char *token, bool is_refresh)
{
	struct client_request form = { 0 };
	struct fetch_request f = {
		.url = v->record.revocation_endpoint,
		.content_type = "application/x-www-form-urlencoded",
		.headers = &form.headers,
	};
	struct fetch_answer a;
	char *assertion;

	if (token == NULL)
		return true;
	if (!prove(v, &assertion))
		return false;
	client_revoke(&form, &v->record, token, is_refresh, assertion);
	free(assertion);
	f.body = buf_span(&form.form);
	if (fetch_wait(v->account.fetcher, &f, NULL, &a)) {
		if (a.status < 200 || a.status >= 300)
			fprintf(stderr,
			    "mcpsplice: the authorization server did not "
			    "revoke the token (%s); it was only removed here\n",
			    a.why != NULL ? a.why : "it refused");
		fetch_answer_free(&a);
	}
	client_request_free(&form);
	return true;
}

/* The refresh token first, because it lives longer. */
static void
revoke_both(struct leaving *v)
{
	const struct record *r = &v->record;

	if (r->revocation_endpoint != NULL && r->client.id != NULL &&
	    revoke(v, r->token.refresh, true))
		revoke(v, r->token.access, false);
}

/* Has the token lock. */
static void
leave(struct leaving *v)
{
	struct account *a = &v->account;
	struct stored answer;

	stored_read(&answer, a->loop, a->store, v->name);
	if (store_found_newer(a->store)) {
		v->why = string_copy(answer.why);
		stored_free(&answer);
		return;
	}
	look_at_import(v);
	/* A broken record would block the next sign-in, so it is erased. */
	if (answer.why != NULL)
		fprintf(stderr,
		    "mcpsplice: %s: the record was removed, but no token was "
		    "revoked\n",
		    answer.why);
	if (answer.there)
		record_copy(&v->record, &answer.record);
	v->was_there = answer.why != NULL ||
	    (answer.there ? v->record.token.access != NULL ||
			v->record.client.id != NULL :
			    v->imports);
	if (answer.why == NULL)
		revoke_both(v);
	stored_free(&answer);
	erase(v);
}

/* Asks the sign-in to end, and once more if its process has written its URL
 * after that: it did not look before. Returns false if that has failed. */
static bool
ask_for_end(struct leaving *v)
{
	struct store *s = v->account.store;
	struct pending p;

	if (v->cannot_ask)
		return false;
	store_pending(s, v->name, &p);
	if (!v->asked || p.url != NULL)
		v->cannot_ask = store_end_pending(s, v->name) != 0;
	v->asked = true;
	pending_free(&p);
	return true;
}

/* Waits for a lock, in ms at most. The process that holds the one of a sign-in
 * looks for its end each second. Returns 0, or the error. */
static int
wait_for_lock(struct leaving *v, enum store_lock what, int *lock, int64_t ms)
{
	struct account *a = &v->account;
	int64_t until = loop_now(a->loop) + ms;
	int error;

	for (;;) {
		*lock = store_lock(a->store, what, v->name);
		error = *lock < 0 ? errno : 0;
		if (error != EWOULDBLOCK || loop_now(a->loop) >= until ||
		    (what == STORE_LOGIN && !ask_for_end(v)))
			return error;
		wait_ms(a->loop, STORE_POLL_MS);
	}
}

/* Ends the sign-in that waits for its user, if there is one: if it were
 * finished later, it would sign in again. The lock is kept, so that no other
 * sign-in begins. */
static void
end_sign_in(struct leaving *v)
{
	if (wait_for_lock(v, STORE_LOGIN, &v->login_lock, END_MS) ==
	    EWOULDBLOCK)
		fprintf(stderr,
		    "mcpsplice: a sign-in is still under way and could not "
		    "be stopped; if you finish it, you are signed in again\n");
	else if (v->asked)
		printf("The sign-in that was waiting for you was cancelled.\n");
}

/* Waits for the token lock: a refresh of another copy would bring the token
 * back afterwards. Returns whether it is had. */
static bool
lock_token(struct leaving *v)
{
	int error = wait_for_lock(v, STORE_TOKEN, &v->lock,
	    BOUND_TOKEN_LOCK_MS);

	if (error == EWOULDBLOCK)
		v->why = xstrdup("another mcpsplice is taking too long to "
				 "get a token");
	else if (error != 0)
		v->why = xasprintf("cannot use the token store %s: %s",
		    os_place_shown(STORE_BELOW), strerror(error));
	return error == 0;
}

/* Asks the MCP server for its address, which can decide whether the
 * authorization server may be asked. A server that cannot be reached counts as
 * one on the internet. */
static void
find_peer(struct leaving *v)
{
	struct account *a = &v->account;
	struct probe p = { 0 };
	char *why = NULL;

	if (v->provider || !setup_needs_peer(a->options, &a->url) ||
	    (!store_has_helper(a->store) &&
		store_stamp(a->store, v->name) == 0))
		return;
	if (probe_send(&p, a->loop, a->options, &why) == 0)
		account_set_peer(a, p.peer);
	else
		log_info("%s", why);
	probe_free(&p);
	free(why);
}

/* What the user calls by its URL may be an identity provider. */
static void
find_provider(struct leaving *v)
{
	struct account *a = &v->account;

	v->provider = stored_find_provider(a->loop, a->store, a->url.text,
	    a->options->profile, v->name);
	if (!v->provider)
		return;
	/* The user named it, wherever it is. */
	fetcher_free(a->fetcher);
	a->fetcher = fetcher_new(a->loop, a->http, ADDRESS_PUBLIC, true);
}

int
command_logout(const struct options *o, char **why)
{
	struct leaving v = { .lock = -1, .login_lock = -1 };
	struct account *a = &v.account;
	struct loop *l = setup_loop(why);
	int status = 1;

	if (l == NULL)
		return 1;
	setup_log(o, LEVEL_WARN);
	setup_warn(o);
	if (account_init(a, l, o, NULL, why) == 0 && a->store != NULL) {
		stored_name(o, v.name);
		find_provider(&v);
		find_peer(&v);
		end_sign_in(&v);
		if (lock_token(&v))
			leave(&v);
		*why = v.why;
		status = v.why != NULL;
		if (status == 0)
			startup_cache_forget(os_place(OS_PLACE_DATA),
			    a->url.host);
		if (status == 0)
			printf(v.was_there ? "Signed out of %s.\n" :
					     "Not signed in to %s.\n",
			    url_authority(&a->url));
	} else if (*why == NULL) {
		*why = xstrdup(a->store_why);
	}
	store_unlock(v.lock);
	store_unlock(v.login_lock);
	record_free(&v.record);
	account_free(a);
	loop_free(l);
	return status;
}
