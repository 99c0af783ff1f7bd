/* The explorer's server: it answers, forgets, refuses, cuts, asks, lingers. */
#include "config.h"

#include "explore/session/world.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define TELL_ONE_OF(w, i, list)                                                \
	explore_tell(w, i, &(list)[explore_below(w, (unsigned)COUNT(list))])

/* --- the door --- */

/* Each request goes to one of two replicas, and the other one opened the
 * session. */
static bool
is_elsewhere(struct world *w)
{
	if (!explore_flaps(w) || w->well)
		return false;
	return w->by_turns ? w->turn++ % 2 == 1 :
			     explore_chance(w, w->climate->flap);
}

/* The answer to this call came on another stream. */
static bool
was_told(const struct seen_send *n)
{
	return n->kind == SEND_CALL &&
	    (n->outcome == FAILED || n->outcome == PASSED);
}

static void
die(const struct world *w, struct seen_generation *g)
{
	g->dead = true;
	g->died_at = w->p->now;
}

bool
explore_forget(struct world *w)
{
	struct seen_generation *g = explore_now(w);

	if (g->session[0] == '\0' || g->mimicked)
		return false;
	die(w, g);
	return true;
}

/* Does the door refuse this one? It may be the first that finds the session
 * gone. */
static bool
is_refused(struct world *w, size_t i)
{
	struct seen_send *n = &w->sends[i];
	struct seen_generation *g = &w->generations[n->generation];

	if (w->p->sent[i].session == NULL || was_told(n) ||
	    (w->lets_pings && n->kind == SEND_PING && !n->list))
		return false;
	if (!g->dead && !g->mimicked && !w->well &&
	    explore_chance(w, w->climate->loss))
		die(w, g);
	return g->dead || is_elsewhere(w);
}

/* Did it run when its session died, in a server that was not just started? One
 * that answers at once to a witness tells that this was late. */
static bool
was_killed(struct world *w, size_t i)
{
	enum { LATE_MS = 1000 };
	const struct seen_send *n = &w->sends[i];
	const struct seen_generation *g = &w->generations[n->generation];

	return n->kind == SEND_CALL && n->warm && g->witnesses == 0 &&
	    g->dead && n->sent_at < g->died_at &&
	    w->p->now - n->sent_at >= LATE_MS && explore_chance(w, 50);
}

static void
refuse(struct world *w, size_t i)
{
	struct seen_generation *g = &w->generations[w->sends[i].generation];
	bool killed = was_killed(w, i);
	size_t k;

	explore_refuse(w, i, g->door, killed ? FAILED : REFUSED);
	for (k = i; killed && k < w->p->n_sent; k++)
		if (w->sends[k].kind == SEND_PING && explore_is_alive(w, k) &&
		    w->generations + w->sends[k].generation == g)
			explore_refuse(w, k, g->door, REFUSED);
}

/* --- initialize --- */

static void
open_early(struct world *w, size_t i)
{
	w->sends[i].session = ++w->sessions;
	w->sends[i].headed = true;
	explore_input(w, "< #%zu head 200 media=sse session=s%u", i + 1,
	    w->sessions);
	explore_input(w, "< #%zu msg note notifications/message {\"early\":1}",
	    i + 1);
}

static void
answer_open(struct world *w, size_t i)
{
	static const struct shape refusals[] = {
		{ "503", LATER, false },
		{ "429 retry-after=1", LATER, false },
		{ "connect", UNSENT, false },
		{ "resolve", UNSENT, false },
		{ "cut", MAYBE, false },
		{ "500", MAYBE, false },
		{ "404", MAYBE, false },
		{ "400", MAYBE, false },
		{ "409 err -1 one session only", MAYBE, false },
		{ "tls", UNSENT, false },
		{ "401", MAYBE, false },
		{ "200 err -32602 no", MAYBE, false },
		{ "503 retry-after=90 err -1 later", LATER, false },
	};

	if (!explore_chance(w, w->climate->refuse))
		explore_opened(w, i);
	else if (w->sends[i].headed)
		explore_end(w, i, MAYBE, "cut");
	else if (explore_chance(w, 25))
		open_early(w, i);
	else
		TELL_ONE_OF(w, i, refusals);
}

/* --- what is no request of the client --- */

static void
answer_note(struct world *w, size_t i)
{
	static const struct shape refusals[] = {
		{ "401", FINAL, false },
		{ "connect", UNSENT, false },
		{ "reset", UNSENT, false },
		{ "500", MAYBE, false },
		{ "503", AWAY, false },
		{ "429 retry-after=2", LATER, false },
		{ "cut", MAYBE, false },
		{ "400 err=null -32600 no", FINAL, false },
	};

	if (!explore_chance(w, w->climate->maybe))
		explore_end(w, i, FINAL, "202");
	else
		TELL_ONE_OF(w, i, refusals);
}

/* No tool handles it, and most servers have it. */
static void
answer_ping(struct world *w, size_t i)
{
	static const struct shape answers[] = {
		{ "200 ok", FINAL, false },
		{ "200 err -32601 Method not found", FINAL, false },
		{ "500", MAYBE, false },
		{ "503", AWAY, false },
		{ "429", LATER, false },
		{ "cut", MAYBE, false },
		{ "connect", UNSENT, false },
		{ "idle", MAYBE, false },
	};

	/* All of these servers know their sessions. */
	if (w->sends[i].stranger)
		explore_end(w, i, FINAL, "404");
	else if (w->no_ping != NULL && !w->sends[i].list)
		explore_refuse(w, i, w->no_ping, FAILED);
	else if (!w->well && explore_chance(w, w->climate->maybe))
		TELL_ONE_OF(w, i, answers);
	else
		explore_end(w, i, FINAL, "200 ok");
}

static void
answer_restore(struct world *w, size_t i)
{
	static const struct shape refusals[] = {
		{ "200 err -32602 no", FINAL, false },
		{ "500", FINAL, false },
		{ "cut", FINAL, false },
	};

	if (!explore_chance(w, w->climate->refuse))
		explore_end(w, i, FINAL, "200 ok");
	else
		TELL_ONE_OF(w, i, refusals);
}

static void
answer_list(struct world *w, size_t i)
{
	static const struct shape refusals[] = {
		{ "200 err -32601 Method not found", FINAL, false },
		{ "500", MAYBE, false },
		{ "503", AWAY, false },
		{ "429", LATER, false },
		{ "cut", MAYBE, false },
		{ "connect", UNSENT, false },
	};

	if (!explore_chance(w, w->climate->maybe))
		explore_listed(w, i);
	else
		TELL_ONE_OF(w, i, refusals);
}

static void
answer_delete(struct world *w, size_t i)
{
	static const struct shape answers[] = {
		{ "200", FINAL, false },
		{ "404", FINAL, false },
		{ "405", FINAL, false },
		{ "connect", FINAL, false },
	};
	unsigned k;

	for (k = 1; k <= w->n_generations; k++)
		if (w->p->sent[i].session != NULL &&
		    strcmp(w->generations[k].session, w->p->sent[i].session) ==
			0)
			die(w, &w->generations[k]);
	TELL_ONE_OF(w, i, answers);
}

/* --- streams --- */

static void
answer_listen(struct world *w, size_t i)
{
	static const struct shape refusals[] = {
		{ "405", FINAL, false },
		{ "503", LATER, false },
		{ "409", LATER, false },
		{ "400", FINAL, false },
		{ "connect", UNSENT, false },
		{ "401", FINAL, false },
	};

	if (w->sends[i].headed)
		explore_stream_goes_on(w, i);
	else if (!explore_chance(w, w->climate->refuse))
		explore_stream_starts(w, i);
	else
		TELL_ONE_OF(w, i, refusals);
}

static void
answer_resume(struct world *w, size_t i)
{
	static const struct shape refusals[] = {
		{ "405", BROKEN, false },
		{ "404", FAILED, false },
		{ "404 err=null -1 Event not found", FAILED, false },
		{ "200 err=null -32000 Session not found", FAILED, false },
		{ "400", BROKEN, false },
		{ "503", BROKEN, false },
		{ "connect", BROKEN, false },
	};
	if (w->sends[i].headed)
		explore_stream_goes_on(w, i);
	else if (explore_chance(w, 70))
		explore_stream_starts(w, i);
	else
		TELL_ONE_OF(w, i, refusals);
}

/* --- calls --- */

static void
call_unsent(struct world *w, size_t i)
{
	static const struct shape shapes[] = {
		{ "connect", UNSENT, false },
		{ "resolve", UNSENT, false },
		{ "reset", UNSENT, false },
		{ "429 retry-after=2", LATER, false },
		{ "429 retry-after=1 err -1 slow", LATER, false },
		{ "503 retry-after=1", AWAY, false },
	};

	TELL_ONE_OF(w, i, shapes);
}

/* An end without a result; perhaps it ran. */
static void
call_over(struct world *w, size_t i)
{
	static const struct shape shapes[] = {
		{ "cut", MAYBE, false },
		{ "cut", MAYBE, false },
		{ "502", AWAY, false },
		{ "504 err -1 gateway", AWAY, false },
		{ "530 media=html", AWAY, false },
		{ "idle", MAYBE, false },
		{ "cut size=100", MAYBE, false },
		{ "202", MAYBE, false },
		{ "tls", DENIED, false },
		{ "proxy", DENIED, false },
		{ "denied", DENIED, false },
		{ "401 challenge=Bearer", FAILED, false },
		{ "403", FAILED, false },
		{ "200 media=html", FAILED, false },
		{ "302", FAILED, false },
		{ "429 retry-after=60", FAILED, false },
	};
	const struct shape
	    *shape = &shapes[explore_below(w, (unsigned)COUNT(shapes))];
	int call = w->sends[i].call;

	if (strcmp(shape->text, "202") == 0 && w->calls[call].last == i)
		w->calls[call].accepted = true;
	explore_tell(w, i, shape);
}

/* A session that the server has just opened may not be ready. */
static bool
is_new(struct world *w, const struct seen_send *n)
{
	enum { NEW_MS = 4 * 1000 };
	const struct seen_generation *g = &w->generations[n->generation];

	return g->own && n->generation == w->generation && g->ready_at >= 0 &&
	    w->p->now - g->ready_at < NEW_MS;
}

static void
answer_call(struct world *w, size_t i)
{
	static const struct shape unready = {
		"200 err 0 Server not initialized", UNREADY, false
	};
	unsigned dice = explore_below(w, 100);
	const struct climate *c = w->climate;

	if (w->sends[i].headed)
		explore_stream_goes_on(w, i);
	else if (is_new(w, &w->sends[i]) && explore_chance(w, 3))
		explore_tell(w, i, &unready);
	else if (dice < c->unsent)
		call_unsent(w, i);
	else if (dice < c->unsent + c->maybe)
		call_over(w, i);
	else if (dice < c->unsent + c->maybe + c->stream)
		explore_stream_starts(w, i);
	else if (explore_chance(w, c->fail))
		explore_fail(w, i);
	else
		explore_result(w, i, (unsigned)w->sends[i].call, true);
}

/* --- the user has to sign in first --- */

static void
user_is_asked(struct world *w, size_t i)
{
	struct seen_send *n = &w->sends[i];
	bool silent = w->p->now - n->heard_at >= SILENT_MS;
	unsigned page = explore_chance(w, 50) && w->page != 0 ?
	    w->page :
	    1 + explore_below(w, 100);
	unsigned last_page = w->page;
	int64_t last_at = w->browser_at;

	if (!n->waits)
		n->waits_since = w->p->now;
	n->waits = true;
	n->heard_at = w->p->now;
	if (page != w->page)
		w->browser_at = w->p->now;
	w->page = page;
	explore_input(w, "< #%zu sign-in open http://a/%u", i + 1, page);
	/* A sign-in for an aborted exchange changes nothing. */
	if (!explore_is_alive(w, i)) {
		w->page = last_page;
		w->browser_at = last_at;
	}
	/* Its call had left it, for it was silent and the session was gone. */
	if (silent && n->call >= 0 && !explore_is_alive(w, i))
		w->calls[n->call].vague = true;
}

/* It goes out, as if for the first time. */
static void
user_came(struct world *w, size_t i)
{
	w->sends[i].waits = false;
	w->sends[i].sent_at = w->sends[i].heard_at = w->p->now;
	explore_input(w, "< #%zu sign-in", i + 1);
	if (explore_chance(w, 50))
		explore_signed_in(w);
}

static void
user_refused(struct world *w, size_t i)
{
	static const char *const words[] = { "401 challenge=Bearer why=denied",
		"403 why=denied" };
	enum send_kind kind = w->sends[i].kind;

	if (explore_chance(w, 50))
		user_came(w, i);
	/* In that moment it may have been given up. */
	if (!explore_is_alive(w, i) || w->broken != NULL)
		return;
	explore_end(w, i,
	    kind == SEND_OPEN || kind == SEND_RESUME ? MAYBE : FINAL,
	    words[explore_below(w, 2)]);
}

static void
user_goes_on(struct world *w, size_t i)
{
	unsigned dice = explore_below(w, 100);

	if (dice < 40)
		user_came(w, i);
	else if (dice < 55)
		user_is_asked(w, i);
	else if (dice < 75)
		user_refused(w, i);
}

/* Words for an exchange that is over come too late. */
static void
user_is_late(struct world *w)
{
	size_t i;

	if (w->p->n_sent == 0)
		return;
	i = explore_below(w, (unsigned)w->p->n_sent);
	if (w->sends[i].ended)
		explore_input(w, "< #%zu sign-in%s", i + 1,
		    explore_chance(w, 50) ? " open http://late" : "");
}

/* --- whichever --- */

static void
answer(struct world *w, size_t i)
{
	if (w->sends[i].waits) {
		user_goes_on(w, i);
		return;
	}
	if (!w->sends[i].headed && w->sends[i].kind != SEND_PING &&
	    w->sends[i].kind != SEND_LIST &&
	    explore_chance(w, w->climate->user)) {
		user_is_asked(w, i);
		return;
	}
	if (was_told(&w->sends[i])) {
		explore_end(w, i, w->sends[i].outcome, "200");
		return;
	}
	if (!w->sends[i].headed && w->sends[i].kind != SEND_DELETE &&
	    is_refused(w, i)) {
		refuse(w, i);
		return;
	}
	switch (w->sends[i].kind) {
	case SEND_OPEN:
		answer_open(w, i);
		break;
	case SEND_LISTEN:
		answer_listen(w, i);
		break;
	case SEND_RESUME:
		answer_resume(w, i);
		break;
	case SEND_CALL:
		answer_call(w, i);
		break;
	case SEND_PING:
		answer_ping(w, i);
		break;
	case SEND_RESTORE:
		answer_restore(w, i);
		break;
	case SEND_LIST:
		answer_list(w, i);
		break;
	case SEND_DELETE:
		answer_delete(w, i);
		break;
	default:
		answer_note(w, i);
		break;
	}
}

/* What is ours ended long ago, but the transport has not said so. */
static bool
ends_late(const struct world *w, size_t i)
{
	return w->p->late && !w->sends[i].ended && w->p->sent[i].aborted;
}

static void
end_late(struct world *w, size_t i)
{
	w->sends[i].ended = true;
	explore_input(w, "< #%zu aborted", i + 1);
}

void
explore_server(struct world *w)
{
	size_t i, n = 0, which;

	for (i = w->first_alive; i < w->p->n_sent; i++)
		n += !w->sends[i].ended &&
		    (explore_is_alive(w, i) || ends_late(w, i));
	if (explore_chance(w, 1))
		user_is_late(w);
	if (n == 0 || explore_chance(w, w->climate->silent))
		return;
	which = explore_below(w, (unsigned)n);
	for (i = w->first_alive; i < w->p->n_sent; i++) {
		if (w->sends[i].ended ||
		    (!explore_is_alive(w, i) && !ends_late(w, i)) ||
		    which-- > 0)
			continue;
		if (ends_late(w, i))
			end_late(w, i);
		else
			answer(w, i);
		return;
	}
}

/* --- a good server --- */

static void
deliver_accepted(struct world *w, size_t i)
{
	unsigned k;

	for (k = 0; k < w->n_calls && explore_is_alive(w, i); k++)
		if (w->calls[k].accepted && explore_is_open(w, k))
			explore_result(w, i, k, false);
}

static void
answer_stream_well(struct world *w, size_t i)
{
	struct seen_send *n = &w->sends[i];

	if (!n->headed)
		explore_stream_starts(w, i);
	if (n->kind == SEND_LISTEN) {
		deliver_accepted(w, i);
		return;
	}
	if (explore_is_open(w, (unsigned)n->call) &&
	    w->calls[n->call].last == i)
		explore_result(w, i, (unsigned)n->call, false);
	else if (explore_is_alive(w, i))
		explore_end(w, i, MAYBE, "end");
}

void
explore_answer_well(struct world *w)
{
	size_t i, n = w->p->n_sent;
	struct seen_send *s;

	w->well = true;
	for (i = w->first_alive; i < n && w->broken == NULL && w->p->status < 0;
	     i++) {
		s = &w->sends[i];
		if (ends_late(w, i))
			end_late(w, i);
		if (!explore_is_alive(w, i))
			continue;
		if (s->waits && w->slow && !explore_chance(w, 3))
			continue;
		if (s->waits)
			user_came(w, i);
		if (!explore_is_alive(w, i))
			continue;
		if (!s->headed && s->kind != SEND_DELETE && is_refused(w, i))
			refuse(w, i);
		else if (s->kind == SEND_OPEN)
			explore_opened(w, i);
		else if (s->kind == SEND_LISTEN || s->kind == SEND_RESUME ||
		    (s->kind == SEND_CALL && s->headed))
			answer_stream_well(w, i);
		else if (s->kind == SEND_CALL &&
		    explore_is_open(w, (unsigned)s->call) &&
		    w->calls[s->call].last == i)
			explore_result(w, i, (unsigned)s->call, true);
		else if (s->kind == SEND_CALL)
			explore_end(w, i, FINAL, "200");
		else if (s->kind == SEND_PING)
			answer_ping(w, i);
		else if (s->kind == SEND_LIST)
			explore_listed(w, i);
		else if (s->kind == SEND_RESTORE)
			explore_end(w, i, FINAL, "200 ok");
		else
			explore_end(w, i, FINAL, "202");
	}
}
