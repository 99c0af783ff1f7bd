/* Collects changes and hands them to startup_cache and stale_sessions; see
 * state_cache.h. */
#include "config.h"

#include "proxy/cache/state_cache.h"

#include <stdlib.h>

enum { CACHED_START_MS = 100, STALE_SESSIONS_AT_ONCE = 8 };

struct state_cache {
	struct startup_cache *startup_cache;
	struct stale_sessions *stale_sessions;
	struct loop_timer *keep_timer, *cache_timer;
	stale_session_cb *stale_session;
	start_valid_cb *start_valid;
	void *arg;
	/* changes that are not written yet */
	bool has_session, has_start, has_era, no_era;
	bool modern, sse;
	struct buf session, session_version;
	struct buf version, capabilities, whose, result, tools;
	bool looked; /* stale sessions were looked for, which is done once */
};

static void
write_cache(struct state_cache *k)
{
	if (k->has_start && k->start_valid(buf_span(&k->whose), k->arg))
		startup_cache_save(k->startup_cache,
		    (struct startup_client){ buf_span(&k->version),
			buf_span(&k->capabilities), buf_span(&k->whose) },
		    buf_span(&k->result), buf_span(&k->tools));
	if (k->has_era)
		startup_cache_save_era(k->startup_cache, k->modern, k->sse);
	if (k->no_era)
		startup_cache_forget_era(k->startup_cache);
	k->has_start = false;
	k->has_era = k->no_era = false;
}

static void
on_cache(void *arg)
{
	write_cache(arg);
}

static void
on_keep(void *arg)
{
	struct state_cache *k = arg;

	k->has_session = false;
	stale_sessions_save(k->stale_sessions, buf_span(&k->session),
	    buf_span(&k->session_version));
	if (k->session.n == 0 || k->looked)
		return;
	k->looked = true;
	stale_sessions_take(k->stale_sessions, STALE_SESSIONS_AT_ONCE,
	    k->stale_session, k->arg);
}

struct state_cache *
state_cache_new(struct loop *l, const char *home, const struct profile *profile,
    stale_session_cb *stale_session, start_valid_cb *start_valid, void *arg)
{
	struct state_cache *k = xcalloc(1, sizeof *k);

	k->startup_cache = startup_cache_new(home, profile);
	k->stale_sessions = stale_sessions_new(home, profile);
	k->keep_timer = loop_timer_new(l, on_keep, k);
	k->cache_timer = loop_timer_new(l, on_cache, k);
	k->stale_session = stale_session;
	k->start_valid = start_valid;
	k->arg = arg;
	return k;
}

void
state_cache_free(struct state_cache *k)
{
	if (k == NULL)
		return;
	write_cache(k);
	/* A session that ended must not be found by the next start. */
	if (k->has_session && k->looked)
		stale_sessions_save(k->stale_sessions, buf_span(&k->session),
		    buf_span(&k->session_version));
	startup_cache_free(k->startup_cache);
	stale_sessions_free(k->stale_sessions);
	loop_timer_free(k->keep_timer);
	loop_timer_free(k->cache_timer);
	buf_free(&k->session);
	buf_free(&k->session_version);
	buf_free(&k->version);
	buf_free(&k->capabilities);
	buf_wipe(&k->whose);
	buf_free(&k->result);
	buf_free(&k->tools);
	free(k);
}

bool
state_cache_load_start(struct state_cache *k, struct startup_client client,
    struct buf *result, struct buf *tools)
{
	return k != NULL &&
	    startup_cache_load(k->startup_cache, client, result, tools);
}

static void
put(struct buf *b, struct span text)
{
	buf_reset(b);
	buf_addspan(b, text);
}

void
state_cache_save_start(struct state_cache *k, struct startup_client client,
    struct span result, struct span tools)
{
	if (k == NULL)
		return;
	put(&k->version, client.version);
	put(&k->capabilities, client.capabilities);
	buf_wipe(&k->whose);
	put(&k->whose, client.whose);
	put(&k->result, result);
	put(&k->tools, tools);
	k->has_start = true;
	loop_timer_set(k->cache_timer, CACHED_START_MS);
}

bool
state_cache_load_era(struct state_cache *k, bool *modern, bool *sse)
{
	if (k == NULL || k->no_era)
		return false;
	if (!k->has_era)
		return startup_cache_load_era(k->startup_cache, modern, sse);
	*modern = k->modern;
	*sse = k->sse;
	return true;
}

void
state_cache_save_era(struct state_cache *k, bool modern, bool sse)
{
	if (k == NULL)
		return;
	k->modern = modern;
	k->sse = sse;
	k->has_era = true;
	k->no_era = false;
	loop_timer_set(k->cache_timer, CACHED_START_MS);
}

void
state_cache_forget_era(struct state_cache *k)
{
	if (k == NULL)
		return;
	k->has_era = false;
	k->no_era = true;
	loop_timer_set(k->cache_timer, CACHED_START_MS);
}

void
state_cache_save_session(struct state_cache *k, struct span session,
    struct span version)
{
	if (k == NULL)
		return;
	put(&k->session, session);
	put(&k->session_version, version);
	k->has_session = true;
	/* Written in the next turn, when the answer to the client is already on
	 * its way. */
	loop_timer_set(k->keep_timer, 0);
}

bool
state_cache_newer_peer(struct state_cache *k)
{
	return k != NULL && stale_sessions_newer_peer(k->stale_sessions);
}
