/*
 * After a renewal: initialized, and its 2xx before anything else; the log
 * level; the listen stream; the subscriptions; then what waits, in the
 * client's order.
 */
#include "config.h"

#include "explore/session/world.h"

#include "core/wire/json.h"

enum { RESTORING_MS = 10 * 1000 };

static bool
is_over(const struct world *w, size_t i)
{
	return !explore_is_alive(w, i);
}

/* What the new session must be told is what was agreed to by now. */
void
explore_begin(struct world *w)
{
	struct seen_generation *g = explore_now(w);

	if (g->restore_at >= 0 || g->called || g->listen_sent)
		return;
	g->begun = true;
	g->level = w->level_in_doubt ? -1 : w->level;
	memcpy(g->subs, w->subs, sizeof g->subs);
}

void
explore_begin_late(struct world *w)
{
	const struct seen_generation *g = explore_now(w);

	if (g->ordered && !g->begun && g->ready_at >= 0 &&
	    w->p->now >= g->ready_at + READY_MS)
		explore_begin(w);
}

static void
check_ready_over(struct world *w, const struct seen_generation *g)
{
	if (g->ready_at < 0)
		explore_breaks(w, "something is sent before initialized");
	else if (!is_over(w, g->ready) && w->p->now < g->ready_at + READY_MS &&
	    (!g->own || w->p->now < g->begun_at + RENEW_MS))
		explore_breaks(w, "something overtakes initialized");
}

static void
begin(struct world *w)
{
	if (!explore_now(w)->begun)
		explore_begin(w);
}

bool
explore_is_restoring_late(const struct world *w,
    const struct seen_generation *g)
{
	return g->restore_at >= 0 &&
	    (w->p->now >= g->restore_at + RESTORING_MS ||
		w->p->now >= g->begun_at + RENEW_MS);
}

static void
check_level_over(struct world *w, const struct seen_generation *g)
{
	if (g->level < 0)
		return;
	if (g->level_sent == 0)
		explore_breaks(w, "the log level is not restored first");
	else if (!is_over(w, g->level_send) && !explore_is_restoring_late(w, g))
		explore_breaks(w, "something overtakes the log level");
}

static void
check_subscriptions(struct world *w, struct seen_generation *g)
{
	unsigned i;

	if (!g->listen_sent && !w->listen_refused) {
		/* No client here may be asked something. */
		if (g->own && !w->config->handshake)
			explore_breaks(w,
			    "the listen stream is not open first");
		g->listen_owed = w->input;
	}
	for (i = 0; i < URIS; i++)
		if (g->subs[i] >= 0 && g->subs[i] == w->subs[i] &&
		    g->subs_sent[i] == 0 && !explore_is_restoring_late(w, g))
			explore_breaks(w, "a subscription is not restored");
}

static void
check_restored(struct world *w)
{
	size_t k;

	for (k = w->first_alive; k < w->p->n_sent; k++)
		if (w->sends[k].kind == SEND_RESTORE &&
		    w->sends[k].generation == w->generation &&
		    !w->sends[k].ended && explore_is_alive(w, k) &&
		    !explore_is_restoring_late(w, explore_now(w)))
			explore_breaks(w, "something overtakes a restore");
}

/* --- the restores --- */

static bool
is_same_request(const struct world *w, const struct frame *f, int call)
{
	/* A level that was kept for the server was not sent before. */
	return call >= 0 && explore_call_of(f) == call &&
	    (w->calls[call].sent > 0 || w->calls[call].result);
}

/* Or it was a subscription a moment ago, and is tried again. */
static bool
is_subscription(const struct world *w, const struct seen_generation *g,
    const struct frame *f, int call)
{
	const struct seen_call *c;

	if (call < 0 || w->calls[call].method != METHOD_SUBSCRIBE)
		return false;
	c = &w->calls[call];
	return g->subs_sent[c->thing] > 0 ||
	    is_same_request(w, f, g->subs[c->thing]) ||
	    is_same_request(w, f, w->subs[c->thing]) ||
	    is_same_request(w, f, w->vague_subs[c->thing]);
}

static void
note_restore(struct world *w, struct seen_generation *g, size_t i,
    const struct frame *f)
{
	int call = explore_call_of(f);
	unsigned thing = call < 0 ? 0 : w->calls[call].thing;

	if (g->restore_at < 0)
		g->restore_at = w->p->now;
	if (call >= 0 && w->calls[call].method == METHOD_LEVEL) {
		if (!is_same_request(w, f, g->level) &&
		    !is_same_request(w, f, w->level))
			explore_breaks(w, "an old log level is restored");
		g->level_sent++;
		g->level_send = i;
		return;
	}
	if (!is_subscription(w, g, f, call))
		explore_breaks(w, "what is no subscription is restored");
	else if (g->subs_sent[thing]++ > 8)
		explore_breaks(w, "a subscription is restored too often");
	if (!g->listen_sent && !w->listen_refused && g->ordered)
		explore_breaks(w, "a subscription before the listen stream");
}

/* --- the first calls --- */

static void
check_batch(struct world *w, struct seen_generation *g, const struct frame *f)
{
	int call = explore_call_of(f);
	const struct seen_call *c;

	if (call < 0)
		return;
	c = &w->calls[call];
	if (c->sent == 0 || c->generation == w->generation ||
	    c->outcome != REFUSED)
		return;
	if (g->batch == 0)
		g->batch = w->input;
	else if (g->batch == w->input && w->telling > 0 && call < g->batch_call)
		explore_breaks(w, "replays are not in the client's order");
	g->batch_call = call;
}

/* --- all --- */

static void
check_kind(struct world *w, struct seen_generation *g, size_t i,
    const struct frame *f)
{
	if (g->listen_owed != 0 && g->listen_owed != w->input &&
	    !g->listen_sent && !w->listen_refused)
		explore_breaks(w, "the listen stream does not follow");
	switch (w->sends[i].kind) {
	case SEND_RESTORE:
		break;
	case SEND_LISTEN:
		check_level_over(w, g);
		break;
	case SEND_CALL:
		g->called = true;
		check_level_over(w, g);
		check_subscriptions(w, g);
		check_restored(w);
		check_batch(w, g, f);
		break;
	case SEND_NOTE:
		if (!span_is(f->method, "notifications/cancelled"))
			check_restored(w);
		break;
	default:
		break;
	}
}

/* What was not sent costs nothing, nor does a gateway. With --handshake the
 * client's own may follow, and one more new credentials. */
static void
charge_ready(struct world *w, struct seen_generation *g, size_t i)
{
	bool unsent = g->readies > 0 &&
	    (w->sends[g->readied].outcome == UNSENT ||
		w->sends[g->readied].outcome == AWAY);

	g->readied = i;
	if (unsent || w->signed_in || w->config->handshake)
		return;
	if (++g->readies > 1 + READY_AGAIN)
		explore_breaks(w, "initialized is sent too often");
}

void
explore_check_order(struct world *w, size_t i, const struct frame *f)
{
	struct seen_generation *g = explore_now(w);
	enum send_kind kind = w->sends[i].kind;

	if (kind == SEND_READY) {
		w->ready_known = true;
		if (g->ready_at < 0)
			g->ready_at = w->p->now;
		charge_ready(w, g, i);
		if (!g->begun)
			g->ready = i;
		return;
	}
	if (kind == SEND_PING)
		return; /* a witness goes beside initialized */
	if (kind == SEND_LIST) {
		if (!w->listed)
			explore_breaks(w, "a list is read that nobody has");
		w->reading = i + 1;
		/* Its answer, or subscriptions, begin the wait for quiet; another
		 * reading does not begin it anew. */
		if (w->say_from == 0)
			w->say_from = w->p->now;
	}
	if (g->ordered)
		check_ready_over(w, g);
	if (kind == SEND_RESTORE || g->ordered)
		begin(w);
	if (g->ordered && w->broken == NULL)
		check_kind(w, g, i, f);
	if (kind == SEND_RESTORE)
		note_restore(w, g, i, f);
	if (kind == SEND_LISTEN)
		g->listen_sent = true;
}
