/*
 * What is sent again, and why it may be. By the truth of what became of the
 * exchanges before: a call that may have run in one of them goes out again only
 * if it is safe; one that the door refused goes to the next session, once; to
 * the same session only in search of another replica.
 */
#include "config.h"

#include "explore/session/world.h"

#include "core/wire/json.h"

enum {
	PROOFS = 1,  /* of an unsafe call, */
	REPEATS = 3, /* and of a safe one: by proof, or as it may have run */
	SENDS_EVER = 40
};

/* May the call have run in its latest exchange? */
static bool
may_run(const struct world *w, const struct seen_call *c)
{
	if (c->sent == 0 || explore_is_unasked(w, c))
		return false;
	switch (c->outcome) {
	case UNSENT:
	case DENIED:
	case REFUSED:
	case UNREADY:
	case PASSED:
	case PAGED:
		return false;
	default:
		return true;
	}
}

bool
explore_may_have_run(const struct world *w, const struct seen_call *c)
{
	return c->ran || may_run(w, c);
}

static bool
is_safe(const struct world *w, const struct seen_call *c)
{
	return c->was_safe || explore_is_safe(w, c);
}

/* May it be repeated, although it may have run? */
static void
check_repeat(struct world *w, struct seen_call *c, bool same, bool own_id)
{
	if (w->config->replay != REPLAY_SAFE)
		explore_breaks(w,
		    "--replay forbids to repeat what may have run");
	if (c->asked)
		explore_breaks(w, "a call that asked the user is repeated");
	/* But for as long as a gateway says that the server is away. */
	if (c->repeated &&
	    (c->outcome != AWAY || w->config->retry_window_ms == 0))
		explore_breaks(w, "a call is repeated twice");
	if (same && !own_id)
		explore_breaks(w,
		    "a call is repeated in its session under the same id");
	if (c->outcome == RUNS && !c->vague &&
	    ((c->generation == w->generation && !explore_now(w)->gone) ||
		w->p->now - w->sends[c->last].heard_at < SILENT_MS))
		explore_breaks(w, "a call is repeated while it runs");
	c->repeated = true;
}

/* To the same session: another replica may know it. A refusal that came late
 * proves nothing, so a safe call is repeated once besides. */
static void
check_flap(struct world *w, struct seen_call *c, bool own_id)
{
	bool may_repeat = own_id && is_safe(w, c) && !c->asked &&
	    w->config->replay == REPLAY_SAFE;

	if (!explore_flaps(w))
		explore_breaks(w, "a session that refused is asked again");
	if (++c->flaps > FLAPS + (may_repeat ? 1U : 0U))
		explore_breaks(w, "a session is asked too often");
}

/* The call was refused, by the server's door or by its tool. */
static void
check_refused(struct world *w, struct seen_call *c, bool same, bool own_id)
{
	if (w->config->replay == REPLAY_NEVER)
		explore_breaks(w, "--replay=never, and a call is sent again");
	if (w->config->retry_window_ms == 0 && same && !own_id)
		explore_breaks(w, "a session is asked again without a window");
	if (same && own_id && !explore_flaps(w))
		check_repeat(w, c, same, own_id);
	else if (same)
		check_flap(w, c, own_id);
	else if (!c->moved &&
	    (explore_flaps(w) || w->generations[c->generation].unready))
		c->moved = true;
	else if (is_safe(w, c) ? ++c->repeats > REPEATS : ++c->proofs > PROOFS)
		explore_breaks(w, "a call is replayed too often");
}

/* In its session a list begins again from its first page, once, after a page
 * was answered by an error or came too late to go on from. */
static void
check_begun_again(struct world *w, struct seen_call *c, bool own_id)
{
	if (c->begun)
		explore_breaks(w, "a list begins again twice");
	if (w->config->replay != REPLAY_SAFE)
		explore_breaks(w, "--replay forbids that a list begins again");
	if (c->asked)
		explore_breaks(w, "a list that asked the user begins again");
	if (!own_id)
		explore_breaks(w, "a list begins again under the same id");
	c->begun = true;
}

static bool
begins_again(const struct seen_call *c, bool same, bool cursor)
{
	return same && !cursor && (c->cursor || c->turned) &&
	    c->outcome != RUNS && c->outcome != UNSENT && c->outcome != DENIED;
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
	case UNREADY:
		if (!c->unready)
			c->unready = true;
		else
			check_refused(w, c, same, own_id);
		break;
	case REFUSED:
	case FAILED:
	case PASSED:
		/* A session that did not get initialized may lack no more. */
		if (c->outcome == REFUSED && same && !c->unready &&
		    explore_now(w)->unready && (c->repeated || !own_id))
			c->unready = true;
		else
			check_refused(w, c, same, own_id);
		break;
	case RUNS:
	case AWAY:
	case MAYBE:
	case BROKEN:
		check_repeat(w, c, same, own_id);
		break;
	case PAGED:
		if (same && !own_id)
			explore_breaks(w, "two pages under one id");
		c->repeated = false;
		c->flaps = 0;
		break;
	case DENIED:
	case FINAL:
		explore_breaks(w, "a call is sent after its answer was told");
		break;
	}
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
explore_check_again(struct world *w, size_t i, const struct frame *f)
{
	struct seen_send *n = &w->sends[i];
	struct seen_call *c = &w->calls[n->call];
	bool same = c->generation == n->generation, ran = may_run(w, c);
	bool own_id = f->id.p[0] == '"',
	     cursor = json_get(f->params, "cursor").p != NULL;

	if (c->answered)
		explore_breaks(w, "a call is sent after its answer");
	if (c->cancelled)
		explore_breaks(w, "a call is sent after its cancel");
	if (!same)
		c->flaps = 0;
	c->ran |= ran;
	c->again |= ran && c->outcome != LATER && c->outcome != FAILED;
	if (ran && !is_safe(w, c))
		explore_breaks(w,
		    "an unsafe call is sent again, and may have run");
	c->again |= c->turned; /* each page begins its progress anew */
	if (begins_again(c, same, cursor))
		check_begun_again(w, c, own_id);
	/* A vague one may be repeated. */
	else if (c->sent > 0 && !c->vague)
		check_reason(w, c, same, own_id);
	if (c->pages == 0)
		c->repeated |= own_id;
	if (++c->sent > SENDS_EVER)
		explore_breaks(w, "a call is sent too often");
	c->last = c->posted = i;
	c->generation = n->generation;
	c->outcome = RUNS;
	c->accepted = c->vague = c->turned = false;
	c->cursor = cursor;
	n->letter = (char)('a' + c->sent % 26);
	c->was_safe = explore_is_safe(w, c);
	check_in_flight(w, n->call);
}
