/* The explorer's dice, and what its client, server and rules share. */
#include "config.h"

#include "explore/session/world.h"

#include <stdlib.h>

static uint64_t
chance(struct world *w)
{
	uint64_t z = (w->rng += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

unsigned
explore_below(struct world *w, unsigned n)
{
	return (unsigned)(chance(w) % n);
}

bool
explore_chance(struct world *w, unsigned percent)
{
	return explore_below(w, 100) < percent;
}

void
explore_breaks(struct world *w, const char *rule)
{
	if (w->broken == NULL)
		w->broken = rule;
}

struct seen_generation *
explore_now(struct world *w)
{
	return &w->generations[w->generation];
}

/* --- calls and sends --- */

void
explore_signed_in(struct world *w)
{
	w->signed_in = true;
	explore_input(w, "! signed-in");
}

bool
explore_is_alive(const struct world *w, size_t i)
{
	return !w->sends[i].ended && !w->p->sent[i].aborted;
}

bool
explore_is_open(const struct world *w, unsigned call)
{
	return !w->calls[call].answered && !w->calls[call].cancelled;
}

bool
explore_is_safe(const struct world *w, const struct seen_call *c)
{
	return c->method != METHOD_TOOL ||
	    (w->safe[c->thing] != 0 && w->safe[c->thing] >= c->generation);
}

bool
explore_flaps(const struct world *w)
{
	return w->climate->flap > 0;
}

/* Silent for long, and safe: its session is gone. */
static bool
is_to_repeat(const struct world *w, unsigned call, unsigned generation)
{
	const struct seen_call *c = &w->calls[call];

	return explore_is_open(w, call) && c->sent > 0 &&
	    c->generation == generation && c->outcome == RUNS &&
	    explore_is_alive(w, c->last) && !c->repeated && !c->asked &&
	    explore_is_safe(w, c) && !w->sends[c->last].waits &&
	    w->p->now - w->sends[c->last].heard_at >= SILENT_MS;
}

/* The same of a session that is known to be gone: it waits for the next. */
static bool
is_outlived(const struct world *w, unsigned call)
{
	unsigned g = w->calls[call].generation;

	return (w->generations[g].gone || g != w->generation) &&
	    is_to_repeat(w, call, g);
}

bool
explore_is_given_up(const struct world *w, const struct seen_call *c)
{
	const struct seen_send *n = &w->sends[c->last];

	return c->sent > 0 && n->kind == SEND_RESUME &&
	    w->p->now - n->resumed_at >= SILENT_MS;
}

bool
explore_is_held(const struct world *w, unsigned call)
{
	const struct seen_call *c = &w->calls[call];

	return explore_is_open(w, call) && c->method != METHOD_INITIALIZE &&
	    (c->sent == 0 || c->outcome != RUNS || c->vague ||
		!explore_is_alive(w, c->last) || is_outlived(w, call));
}

bool
explore_is_unasked(const struct world *w, const struct seen_call *c)
{
	return c->sent > 0 && c->outcome == RUNS && w->sends[c->last].waits &&
	    w->sends[c->last].kind == SEND_CALL;
}

unsigned
explore_open_calls(const struct world *w)
{
	unsigned i, n = 0;

	for (i = 0; i < w->n_calls; i++)
		n += explore_is_open(w, i);
	return n;
}

int
explore_some_call(struct world *w)
{
	unsigned open = explore_open_calls(w), which, i;

	if (open == 0)
		return -1;
	which = explore_below(w, open);
	for (i = 0; i < w->n_calls; i++)
		if (explore_is_open(w, i) && which-- == 0)
			return (int)i;
	return -1;
}

/* A ping of this generation found it gone: such calls may get a new exchange,
 * which may begin later. */
void
explore_settle(struct world *w, unsigned generation)
{
	unsigned i;

	if (w->config->replay != REPLAY_SAFE ||
	    play_describes(w->p, "session: dead"))
		return;
	for (i = 0; i < w->n_calls; i++)
		if (is_to_repeat(w, i, generation))
			w->calls[i].vague = w->calls[i].was_safe = true;
}

/* --- after every input --- */

static bool
is_held_bounded(const struct world *w)
{
	/* To ask is slow: only where the bound is near. */
	return w->config->max_held > 10000 ||
	    session_held(w->p) <= w->config->max_held + 2 * (size_t)MAX_HELD;
}

/* A call of a tool that a gateway refused waits for a list that may say it is
 * safe. */
static bool
may_become_safe(const struct world *w, const struct seen_call *c)
{
	unsigned i;

	for (i = 0; i < w->n_calls && c->method == METHOD_TOOL; i++)
		if (w->calls[i].method == METHOD_TOOLS && explore_is_open(w, i))
			return true;
	return false;
}

/* The end that was told is one that the client must hear of at once. */
static bool
is_told_at_once(const struct world *w)
{
	const struct seen_send *n = &w->sends[w->telling - 1];
	const struct seen_call *c;

	if (n->call < 0 || n->kind == SEND_OPEN ||
	    (n->outcome != FINAL && n->outcome != DENIED &&
		n->outcome != AWAY && n->outcome != MAYBE))
		return true;
	c = &w->calls[n->call];
	if (c->answered || c->cancelled || c->vague || !w->told_call)
		return true;
	if (n->outcome == FINAL || n->outcome == DENIED)
		return false;
	return c->accepted || (n->kind == SEND_RESUME && explore_flaps(w)) ||
	    (n->outcome == AWAY && may_become_safe(w, c)) ||
	    (c->was_safe && !c->asked && (!c->repeated || n->outcome == AWAY) &&
		w->config->replay == REPLAY_SAFE) ||
	    c->outcome == RUNS;
}

/* Whoever is asked, a doubt does not last. */
static bool
are_doubts_settled(const struct world *w)
{
	const struct seen_call *c;
	unsigned i;

	for (i = 0; i < w->n_calls; i++) {
		c = &w->calls[i];
		if (explore_is_open(w, i) && w->climate->user == 0 &&
		    !w->p->late &&
		    (c->outcome == FAILED || c->outcome == PASSED ||
			c->outcome == REFUSED) &&
		    w->p->now - c->told_at > DOUBT_MS)
			return false;
	}
	return true;
}

/* Its answer was refused, or broke off: the call that asked ends. */
static bool
is_undelivered_told(const struct world *w)
{
	const struct seen_send *n = &w->sends[w->telling - 1];

	return n->kind != SEND_ANSWER || n->outcome != MAYBE ||
	    n->question < 0 || n->generation != w->generation ||
	    explore_flaps(w) || !explore_is_open(w, (unsigned)n->question) ||
	    /* A witness is about to tell it. */
	    w->calls[n->question].outcome != RUNS;
}

/* Behind an initialize that waits for the user nobody waits for longer; that
 * of the client has some seconds before it is a renewal, after a start
 * without the server. */
static bool
are_held_told(const struct world *w, int64_t since)
{
	const struct seen_call *c;
	int64_t from;
	unsigned i;

	for (i = 0; i < w->n_calls; i++) {
		c = &w->calls[i];
		if (!explore_is_held(w, i) || c->vague || w->p->late ||
		    (c->sent > 0 && c->outcome != REFUSED))
			continue;
		from = c->sent > 0 ? c->told_at : c->made_at;
		if (w->p->now - (from > since ? from : since) >
		    USER_MS + EARLY_START_MS)
			return false;
	}
	return true;
}

static void
check_waiting(struct world *w, size_t i)
{
	const struct seen_send *n = &w->sends[i];
	bool patient = w->config->handshake;

	if (n->call >= 0 && !explore_is_open(w, (unsigned)n->call))
		explore_breaks(w, "what nobody waits for may still be sent");
	else if (n->call >= 0 && !patient &&
	    w->p->now - n->waits_since > USER_MS)
		explore_breaks(w, "a call waits too long for the user");
	else if (n->kind == SEND_OPEN && !patient &&
	    n->generation == w->generation && n->epoch == w->initializes &&
	    !are_held_told(w, n->waits_since))
		explore_breaks(w, "a held call waits too long for the user");
}

/* Calls that were silent for long in a session that is gone have left their
 * exchange, unless there was no session to repeat them in. */
static void
note_outlived(struct world *w)
{
	unsigned i;

	for (i = 0; i < w->n_calls; i++)
		if (is_outlived(w, i) || explore_is_given_up(w, &w->calls[i]))
			w->calls[i].vague = true;
}

static void
check_after(struct world *w)
{
	size_t i;

	for (i = w->first_alive; i < w->p->n_sent && w->p->status < 0; i++)
		if (w->sends[i].waits && explore_is_alive(w, i))
			check_waiting(w, i);
	explore_check_host(w);
	if (w->p->spins)
		explore_breaks(w, "the timer never rests");
	if (!is_held_bounded(w))
		explore_breaks(w, "more is held back than the cap allows");
	if (w->cancelling >= 0 && !w->cancel_sent)
		explore_breaks(w, "the server is not told of a cancel");
	if (!are_doubts_settled(w))
		explore_breaks(w, "a doubt is not settled");
	if (w->opening_open && w->p->status < 0)
		explore_check_start(w);
	for (i = 0; i < w->n_questions; i++)
		if (w->questions[i].generation != w->generation)
			explore_breaks(w, "a question outlives its session");
	if (w->telling == 0)
		return;
	if (!is_told_at_once(w))
		explore_breaks(w, "the end of a call is kept from the client");
	if (!is_undelivered_told(w))
		explore_breaks(w,
		    "an answer was not delivered, and the call that asked is "
		    "not told");
}

/* Every other whole answer is told in one event. */
static char *
in_one_event(struct world *w, char *line)
{
	size_t n = strncmp(line, "< #", 3) == 0 ? 2 + strcspn(line + 2, " ") :
						  0;
	char *whole;

	if (n == 0 || line[n + 1] < '1' || line[n + 1] > '5' ||
	    explore_chance(w, 50))
		return line;
	whole = xasprintf("%.*s whole%s", (int)n, line, line + n);
	free(line);
	return whole;
}

void
explore_input(struct world *w, const char *fmt, ...)
{
	va_list ap;
	char *line;

	va_start(ap, fmt);
	line = in_one_event(w, xvasprintf(fmt, ap));
	va_end(ap);
	w->input++;
	explore_begin_late(w);
	if (w->broken == NULL && !play_input(w->p, line))
		explore_breaks(w, "the explorer speaks a wrong language");
	free(line);
	if (w->broken == NULL)
		check_after(w);
	note_outlived(w);
	w->telling = 0;
	w->told_call = false;
	w->cancelling = -1;
	w->answering.client[0] = w->asking.server[0] = '\0';
	while (w->first_alive < w->p->n_sent && w->sends[w->first_alive].ended)
		w->first_alive++;
}
