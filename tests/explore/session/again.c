/*
 * What is sent again, and why it may be. By the truth of what became of the
 * exchange before: one that certainly did not run may go out again in the
 * next session, once in each; to the same session only in search of another
 * replica; one that may have run only once, and only if it is safe.
 */
#include "config.h"

#include "explore/session/world.h"

enum {
	SENDS = 24, /* of a call in one generation */
	SENDS_EVER = 60,
	VAIN = 4,
	SURE_MS = 61 * 1000 /* a minute, and the time of one try */
};

/* May it be repeated, although it may have run? */
static void
check_repeat(struct world *w, struct seen_call *c, bool same, bool own_id)
{
	if (w->config->replay != REPLAY_SAFE)
		explore_breaks(w,
		    "--replay forbids to repeat what may have run");
	if (!c->was_safe && !explore_is_safe(w, c))
		explore_breaks(w,
		    "an unsafe call is sent again, and may have "
		    "run");
	if (c->asked)
		explore_breaks(w, "a call that asked the user is repeated");
	/* But for as long as a gateway says that the server is away. */
	if (c->repeated &&
	    (c->outcome != AWAY || w->config->retry_window_ms == 0))
		explore_breaks(w, "a call is repeated twice");
	if (same && !own_id)
		explore_breaks(w,
		    "a call is repeated in its session under the same id");
	if (c->outcome == RUNS && !c->left &&
	    (c->generation == w->generation ||
		w->p->now - w->sends[c->last].heard_at < SILENT_MS))
		explore_breaks(w, "a call is repeated while it runs");
	c->repeated = c->ran = true;
}

/* Did it flap within the minute before a refusal, as far as the session knows?
 */
static bool
flaps_surely(const struct world *w)
{
	return w->flapped_at != 0 && w->p->now - w->flapped_at < SURE_MS;
}

/* To the same session: another replica may know it. */
static void
check_flap(struct world *w, struct seen_call *c)
{
	if (c->generation == 1 && !w->may_flap && !c->bare)
		explore_breaks(w,
		    "the first session is asked again without a reason");
	if (c->in_band)
		explore_breaks(w, "a session is asked again for mere words");
	if (c->flaps == 0)
		c->flaps_first = w->p->now;
	/* The first time may be for one that waited while another asked. */
	if (++c->flaps <= 2)
		c->flaps_since = w->p->now;
	if (c->flaps > FLAPS + 1 && !flaps_surely(w))
		explore_breaks(w, "a session is asked too often");
	if (c->flaps > 3 && c->told_at - c->flaps_since >= FLAPS_MS)
		explore_breaks(w, "a session is asked for too long");
}

/* In a further session only if this one helped another call. */
static void
check_replay(struct world *w, struct seen_call *c)
{
	const struct seen_generation *g = &w->generations[c->generation];

	/* Late words of a session that is gone cost nothing. */
	if (c->replayed == 0 || c->stale)
		return;
	if (w->config->retry_window_ms == 0)
		explore_breaks(w, "a call is replayed twice, without a window");
	/* One that waits to ask this session again goes on with the rest. */
	if ((g->helped == 0 ||
		c->told_at - c->lost_at >= w->config->retry_window_ms) &&
	    c->vain++ == VAIN)
		explore_breaks(w, "a call is replayed, and nothing was better");
}

static void
check_refused(struct world *w, struct seen_call *c, bool same)
{
	if (w->config->replay == REPLAY_NEVER)
		explore_breaks(w, "--replay=never, and a call is sent again");
	if (w->config->retry_window_ms == 0 && same)
		explore_breaks(w, "a session is asked again without a window");
	if (same)
		check_flap(w, c);
	else
		check_replay(w, c);
}

/* A doubt is settled by a ping, by the next session, or because replicas are
 * known to differ. */
static void
check_doubt(struct world *w, const struct seen_call *c, bool same)
{
	if (same ? !w->may_flap && !c->bare &&
		    !w->generations[c->generation].gone :
		   !w->generations[c->generation].gone &&
		    c->generation == w->generation)
		explore_breaks(w, "a doubt is taken for a loss");
}

static void
check_unready(struct world *w, struct seen_call *c, bool same)
{
	if (!same || c->unready) {
		check_refused(w, c, same);
		return;
	}
	if (w->config->replay == REPLAY_NEVER)
		explore_breaks(w, "--replay=never, and a call is sent again");
	c->unready = true;
}

static void
check_reason(struct world *w, struct seen_call *c, bool same, bool own_id)
{
	switch (c->outcome) {
	case UNSENT:
		if (w->config->retry_window_ms == 0)
			explore_breaks(w, "a retry without a window");
		break;
	case LATER:
		if (w->config->replay == REPLAY_NEVER)
			explore_breaks(w,
			    "--replay=never, and a call comes back later");
		if (w->config->retry_window_ms == 0)
			explore_breaks(w, "a retry without a window");
		break;
	case REFUSED:
		check_refused(w, c, same);
		break;
	case DOUBTED:
		check_doubt(w, c, same);
		check_refused(w, c, same);
		break;
	case DOUBTED_LATE:
		/* In the same session it is no loss, but a repeat. */
		if (!same)
			check_doubt(w, c, same);
		check_repeat(w, c, same, own_id);
		break;
	case UNREADY:
		check_unready(w, c, same);
		break;
	case RUNS:
	case AWAY:
	case MAYBE:
	case BROKEN:
		check_repeat(w, c, same, own_id);
		break;
	case FINAL:
		explore_breaks(w, "a call is sent after its answer was told");
		break;
	}
}

void
explore_charge_refused(struct world *w, bool doubted)
{
	unsigned k;

	for (k = 0; k < w->n_calls; k++)
		if (explore_is_open(w, k) && w->calls[k].lost_at >= 0 &&
		    (w->calls[k].outcome == DOUBTED ||
			(!doubted && w->calls[k].outcome == REFUSED)))
			w->calls[k].cost++;
}

/* What was not sent, or came too early, costs nothing. One more is allowed:
 * the session does not count a request for a call that was not refused yet when
 * the request went out; and one for a call that ran while the session was lost,
 * which was not refused this time. */
static void
check_cost(struct world *w, struct seen_call *c)
{
	unsigned most = IN_VAIN + 1 + (c->outcome == RUNS);

	if (c->lost_at < 0 || c->outcome == UNSENT || c->outcome == LATER ||
	    c->outcome == AWAY || c->outcome == UNREADY)
		return;
	if (++c->cost > most && !flaps_surely(w))
		explore_breaks(w, "too many requests for one call");
}

static void
check_in_flight(struct world *w, int call)
{
	unsigned open = 1;
	const struct seen_call *c;
	int k;

	for (k = 0; k < (int)w->n_calls; k++) {
		c = &w->calls[k];
		open += k != call && explore_is_open(w, (unsigned)k) &&
		    c->sent > 0 && c->outcome == RUNS &&
		    explore_is_alive(w, c->last);
	}
	if (open > w->config->max_inflight)
		explore_breaks(w, "more in flight than the cap allows");
}

void
explore_check_again(struct world *w, size_t i, bool own_id)
{
	struct seen_send *n = &w->sends[i];
	struct seen_call *c = &w->calls[n->call];
	bool same = c->generation == n->generation;

	if (c->answered)
		explore_breaks(w, "a call is sent after its answer");
	if (c->cancelled)
		explore_breaks(w, "a call is sent after its cancel");
	if (!same)
		c->flaps = 0;
	check_cost(w, c);
	c->again |= c->sent > 0 &&
	    (c->outcome == RUNS || c->outcome == AWAY || c->outcome == MAYBE ||
		c->outcome == BROKEN);
	if (c->sent > 0 && !c->vague)
		check_reason(w, c, same, own_id);
	/* A vague one may be repeated, and that is no replay. */
	if (!same && c->sent > 0 && c->lost_at >= 0 && !c->vague)
		c->replayed = n->generation;
	if (++c->sent > SENDS_EVER)
		explore_breaks(w, "a call is sent too often");
	c->last = c->posted = i;
	c->generation = n->generation;
	c->outcome = RUNS;
	c->accepted = c->left = c->vague = false;
	c->was_safe = explore_is_safe(w, c);
	check_in_flight(w, n->call);
}
