/*
 * What the server tells, and with what outcome: the truth by which the rules
 * judge is put down before the session hears of it.
 */
#include "config.h"

#include <stdio.h>

#include "explore/session/world.h"

/* --- outcomes --- */

/* A ping was told that the session of now is gone: what was doubted is so. */
static void
confirm(struct world *w)
{
	unsigned i;

	explore_settle(w, w->generation);
	if (w->may_flap)
		return; /* one replica says so */
	explore_now(w)->gone = true;
	for (i = 0; i < w->n_calls; i++) {
		if (w->calls[i].generation != w->generation)
			continue;
		if (w->calls[i].outcome == DOUBTED)
			w->calls[i].outcome = REFUSED;
		else if (w->calls[i].outcome == DOUBTED_LATE)
			w->calls[i].outcome = MAYBE;
	}
}

/* A reason to renew: said of the session of now, and not only for a call
 * that nobody wants any more. */
static void
note_loss(struct world *w, size_t i)
{
	const struct seen_send *n = &w->sends[i];

	if (n->generation != w->generation)
		return;
	if ((n->kind == SEND_CALL || n->kind == SEND_RESUME) &&
	    (!w->told_call || !explore_is_open(w, (unsigned)n->call)))
		return;
	if (n->kind == SEND_LISTEN && !explore_now(w)->listened)
		return;
	w->reason = true;
	if (n->kind == SEND_PING)
		confirm(w);
}

static bool
came_soon(const struct world *w, const struct seen_send *n)
{
	int64_t since_head = n->headed ? w->p->now - n->head_at : 0;

	if (explore_is_safe(w, &w->calls[n->call]))
		return since_head < REFUSAL_SAFE_MS;
	return w->p->now - n->sent_at <= REFUSAL_MS &&
	    since_head <= REFUSAL_HEAD_MS;
}

/* A call is refused only if nothing was heard of it yet. A status of 4xx says
 * so at any time; a server error, and mere words on the call's own stream,
 * only if they come soon. */
static bool
was_refused(const struct world *w, size_t i, const char *text)
{
	const struct seen_send *n = &w->sends[i];
	const struct seen_call *c = &w->calls[n->call];

	if (n->spoke || n->kind == SEND_RESUME || c->accepted)
		return false;
	if (*text == '4')
		return true;
	if (*text == '2' && (c->asked || w->elsewhere))
		return false;
	return came_soon(w, n);
}

static struct shape
as_heard(const struct world *w, size_t i, struct shape shape)
{
	bool refused = was_refused(w, i, shape.text);

	if ((shape.outcome == REFUSED || shape.outcome == UNREADY) && !refused)
		shape.outcome = MAYBE;
	else if (shape.outcome == DOUBTED && !refused)
		shape.outcome = DOUBTED_LATE;
	return shape;
}

/* Any answer but a refusal shows that the session is known. */
static void
note_served(struct world *w, unsigned call)
{
	const struct seen_call *c = &w->calls[call];
	struct seen_generation *g = &w->generations[c->generation];
	unsigned k;

	g->served = true;
	g->served_at = w->p->now;
	g->useless = false;
	/* The session knows nothing of an answer that nobody waits for. */
	if (c->generation == w->generation)
		w->flapping |= c->flaps > 0 && explore_is_open(w, call);
	if (c->replayed != c->generation)
		return;
	g->helped++;
	w->helped_at = w->p->now;
	for (k = 0; k < w->n_calls; k++)
		w->calls[k].cost = 0;
}

static void
note_call(struct world *w, size_t i, enum outcome outcome)
{
	struct seen_send *n = &w->sends[i];
	struct seen_call *c = &w->calls[n->call];

	n->outcome = outcome;
	w->told_call = false;
	if (c->last != i || c->outcome != RUNS || c->left)
		return; /* the call has left it */
	w->told_call = true;
	if ((c->flaps > 0 || c->unready) && outcome != REFUSED &&
	    outcome != UNSENT && outcome != LATER) {
		w->may_flap = true;
		w->flapped_at = w->p->now;
	}
	c->outcome = outcome;
	c->told_by = w->input + 1; /* the next one */
	c->told_at = w->p->now;
	c->stale = n->generation != w->generation || outcome != REFUSED ||
	    w->reason;
	c->was_safe |= explore_is_safe(w, c);
	if ((outcome == REFUSED || outcome == DOUBTED) && c->lost_at < 0) {
		c->lost_at = w->p->now;
		c->cost = 1;
	}
}

/* The new session will have none of it, at once or after many tries. */
static void
note_unrestored(struct world *w, size_t i, bool at_once)
{
	int call = explore_call_of(w->p->sent[i].frame);
	unsigned thing = w->calls[call].thing;

	if (w->calls[call].method == METHOD_LEVEL &&
	    explore_is_restoring_late(w, explore_now(w)))
		w->level_in_doubt = true;
	else if (w->calls[call].method == METHOD_LEVEL &&
	    (at_once || explore_now(w)->level_sent > FLAPS))
		w->level = -1;
	else if (w->calls[call].method == METHOD_SUBSCRIBE &&
	    (at_once || explore_now(w)->subs_sent[thing] > FLAPS))
		w->subs[thing] = -1;
}

/* A renewal may be tried again when it failed. A server that is away costs
 * nothing of the budget. */
void
explore_failed(struct world *w, size_t i)
{
	w->reason = true;
	w->generations[w->sends[i].generation].useless = false;
}

static void
note_failed_open(struct world *w, size_t i, const char *how)
{
	bool useless = w->generations[w->sends[i].generation].useless;

	explore_failed(w, i);
	w->generations[w->sends[i].generation].useless = useless &&
	    how[0] >= '1' && how[0] <= '5';
}

static void
note_outcome(struct world *w, size_t i, struct shape shape)
{
	struct seen_send *n = &w->sends[i];

	if (n->kind == SEND_CALL || n->kind == SEND_RESUME) {
		shape = as_heard(w, i, shape);
		if (w->calls[n->call].last == i) {
			w->calls[n->call].in_band = *shape.text == '2';
			w->calls[n->call].bare = strcmp(shape.text, "404") == 0;
		}
		note_call(w, i, shape.outcome);
		if (w->told_call && shape.outcome == FINAL &&
		    strstr(shape.text, " err") != NULL)
			note_served(w, (unsigned)n->call);
	}
	n->outcome = shape.outcome;
	/* initialized is sent again when a call is refused, and the call. */
	w->may_flap |= n->kind == SEND_READY && *shape.text == '4';
	if (n->kind == SEND_RESTORE && n->generation == w->generation &&
	    strstr(shape.text, "err") != NULL)
		note_unrestored(w, i, shape.outcome == FINAL);
	if (n->kind == SEND_LISTEN && n->generation == w->generation &&
	    (shape.outcome == FINAL || !explore_now(w)->listened ||
		explore_now(w)->session[0] == '\0'))
		w->listen_refused = true; /* for good, as far as we know */
	if ((shape.loss && shape.outcome != FINAL) ||
	    (shape.outcome == DOUBTED &&
		(n->kind == SEND_READY || w->may_flap)) ||
	    (n->kind == SEND_RESTORE &&
		(shape.outcome == REFUSED || shape.outcome == DOUBTED)))
		note_loss(w, i);
	if (n->kind == SEND_OPEN)
		note_failed_open(w, i, shape.text);
}

/* The transport asks whether other credentials may help. */
static void
tell_refused(struct world *w, size_t i, const char *status)
{
	unsigned judged = w->judged;

	explore_input(w, "< #%zu refused %.3s%s", i + 1, status,
	    strstr(status, "challenge") != NULL ? " challenge=Bearer" : "");
	if (w->broken == NULL && w->judged != judged + 1)
		explore_breaks(w, "a refusal is not judged once");
}

void
explore_tell(struct world *w, size_t i, const struct shape *shape)
{
	if (strncmp(shape->text, "401", 3) == 0 ||
	    strncmp(shape->text, "403", 3) == 0)
		tell_refused(w, i, shape->text);
	note_outcome(w, i, *shape);
	w->sends[i].ended = true;
	if (w->sends[i].kind == SEND_READY &&
	    w->sends[i].generation == w->generation)
		explore_begin(w);
	w->telling = i + 1;
	explore_input(w, "< #%zu %s", i + 1, shape->text);
}

void
explore_end(struct world *w, size_t i, enum outcome outcome, const char *text)
{
	struct shape shape = { text, outcome, false };

	explore_tell(w, i, &shape);
}

/* --- messages for a call --- */

/* An in-band loss, of the call's latest exchange whatever stream it is on. */
void
explore_words(struct world *w, size_t i, unsigned call)
{
	static const struct shape shapes[] = {
		{ "200 32600 Session terminated", REFUSED, true },
		{ "200 -32000 Session not found", DOUBTED, false },
		{ "200 -1 Session terminated before the request completed",
		    MAYBE, true },
	};
	const struct shape *shape = &shapes[explore_below(w, 3)];
	struct seen_call *c = &w->calls[call];
	bool own = c->last == i || w->sends[i].call != (int)call;
	struct span id = w->p->sent[c->posted].frame->id;

	w->elsewhere = c->last != i;
	if (own)
		note_outcome(w, c->last, *shape);
	w->elsewhere = false;
	w->telling = c->last + 1;
	explore_input(w, "< #%zu msg err=%.*s %s", i + 1, (int)id.n, id.p,
	    shape->text + 4);
}

/* --- results --- */

static void
learn_subscription(struct world *w, unsigned call, bool on)
{
	int *sub = &w->subs[w->calls[call].thing];

	if (!on)
		*sub = -1;
	else if (*sub < 0)
		*sub = (int)call;
}

static void
note_level(struct world *w, int call)
{
	w->level = call;
	w->level_in_doubt = false;
}

/* The session learns from a result that the client waits for. */
static void
learn(struct world *w, unsigned call)
{
	const struct seen_call *c = &w->calls[call];

	if (!explore_is_open(w, call))
		return;
	if (c->method == METHOD_LEVEL)
		note_level(w, (int)call);
	else if (c->method == METHOD_SUBSCRIBE)
		learn_subscription(w, call, true);
	else if (c->method == METHOD_UNSUBSCRIBE)
		learn_subscription(w, call, false);
}

/* A list of tools; some are safe. What the client does not wait for changes
 * nothing. */
static void
describe_tools(struct world *w, unsigned call, char *text, size_t n)
{
	static const char *const hints[] = { "readOnlyHint", "idempotentHint" };
	size_t used = (size_t)snprintf(text, n, ",\"tools\":[");
	unsigned i;

	for (i = 0; i < w->n_calls; i++)
		w->calls[i].was_safe |= explore_is_safe(w, &w->calls[i]);
	for (i = 0; i < TOOLS; i++) {
		if (explore_is_open(w, call))
			w->safe[i] = explore_chance(w, 50) ?
			    w->calls[call].generation :
			    0;
		used += (size_t)snprintf(text + used, n - used,
		    "%s{\"name\":\"t%u\",\"annotations\":{\"%s\":%s}}",
		    i > 0 ? "," : "", i, hints[i % 2],
		    w->safe[i] != 0 ? "true" : "false");
	}
	snprintf(text + used, n - used, "]");
}

/* Does the session learn from a result? */
static bool
is_stateful(enum method method)
{
	return method == METHOD_LEVEL || method == METHOD_SUBSCRIBE ||
	    method == METHOD_UNSUBSCRIBE || method == METHOD_TOOLS;
}

void
explore_result(struct world *w, size_t i, unsigned call, bool whole)
{
	struct seen_call *c = &w->calls[call];
	struct span id = w->p->sent[c->posted].frame->id;
	char tools[400] = "";

	/* A server that was told of a cancel does not do it any more. */
	if (c->cancelled && is_stateful(c->method))
		return;
	if (c->method == METHOD_TOOLS)
		describe_tools(w, call, tools, sizeof tools);
	learn(w, call);
	w->may_flap |= c->outcome != RUNS; /* refused, and answered */
	note_served(w, call);
	note_call(w, c->last, FINAL);
	w->telling = c->last + 1;
	if (whole)
		w->sends[i].ended = true;
	if (whole)
		explore_input(w, "< #%zu 200 ok {\"n\":%u%s}", i + 1,
		    call + 1000, tools);
	else
		explore_input(w, "< #%zu msg ok=%.*s {\"n\":%u%s}", i + 1,
		    (int)id.n, id.p, call + 1000, tools);
}

/* --- initialize --- */

void
explore_opened(struct world *w, size_t i)
{
	struct seen_send *n = &w->sends[i];
	struct seen_generation *g = &w->generations[n->generation];
	static const char *const results[] = {
		"{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}",
		"{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
		"{\"tools\":{\"listChanged\":true}}}",
	};
	const char *result = results[explore_below(w, 2)];

	n->outcome = FINAL;
	n->ended = true;
	if (n->generation != w->generation || g->settled) {
		explore_input(w, "< #%zu 200 session=x%u ok %s", i + 1,
		    ++w->strays, result);
		return;
	}
	w->from_cache = false;
	w->reason = false;
	g->settled = true;
	g->ordered = g->own && w->ready_known;
	if (n->headed)
		snprintf(g->session, sizeof g->session, "s%u", n->session);
	else if (explore_below(w, 10) != 0)
		snprintf(g->session, sizeof g->session, "s%u", ++w->sessions);
	if (n->headed) {
		explore_input(w, "< #%zu msg ok %s", i + 1, result);
		explore_input(w, "< #%zu end", i + 1);
	} else if (g->session[0] == '\0')
		explore_input(w, "< #%zu 200 ok %s", i + 1, result);
	else
		explore_input(w, "< #%zu 200 session=%s ok %s", i + 1,
		    g->session, result);
}
