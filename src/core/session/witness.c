/*
 * Proof. A refusal came from the server's door, not from the tool, if a witness
 * (a request that no tool handles) got the same one in the old session and is
 * answered in the new one. Only then is a call that may do harm sent again.
 *
 * The witness is a ping; or a list, if the door may let pings pass. If the
 * first one was not refused in the same way, and the refusal is likely to be
 * about the session, the other kind is asked too, and pings on other
 * connections: where one ping is answered and another one refused, replicas do
 * not share their sessions.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdio.h>

#include "core/exchange/same_refusal.h"

/* --- who is asked --- */

/* Returns the family of which the server has a list; NULL: it has none. */
static const char *
listed(const struct session *s)
{
	struct span caps = json_get(s->handshake.answer->result,
	    "capabilities");
	size_t i;

	for (i = 0; i < ERA_FAMILIES; i++)
		if (json_get(caps, era_families[i].name).p != NULL)
			return era_families[i].name;
	return NULL;
}

/* Makes a witness: a list if one is wanted and the server has lists, else a
 * ping. */
static struct attempt *
witness(struct session *s, struct generation *g, bool list)
{
	const char *family = list ? listed(s) : NULL;
	char method[32] = "ping";
	struct attempt *a;

	if (family != NULL)
		snprintf(method, sizeof method, "%s/list", family);
	a = session_own_attempt(s, ATTEMPT_WITNESS, method, no_span, g);
	a->list = family != NULL;
	a->window_end = s->now + BOUND_SHORT_MS;
	session_abort_in(s, a, BOUND_SHORT_MS);
	return a;
}

static struct attempt *
ask(struct session *s, struct generation *g, bool list, bool fresh)
{
	struct attempt *a = witness(s, g, list || s->witness.pings_in_vain);

	a->fresh = fresh;
	session_start(s, a);
	return a;
}

static void
inquire(struct session *s, struct generation *g, const struct call *c)
{
	enum { SILENT_MS = 1000 };
	struct inquiry *q = &g->inquiry;
	struct attempt *a;

	*q = (struct inquiry){
		.door = q->door, .cleared = q->cleared, .under_way = 1
	};
	session_log(s, LEVEL_INFO,
	    "%s: sending a test request to see whether the server or the tool "
	    "refused",
	    c->rule);
	a = ask(s, g, c->doubt.gated, false);
	q->from = a->ticket;
	a->silent_at = s->now + SILENT_MS;
	alarm_note(&s->alarms, a->silent_at);
	if (c->doubt.likely && !c->doubt.unready && g == s->generation)
		session_spare_open(s);
}

/* Asks the other kind of witness, and pings on connections of their own. */
static void
inquire_more(struct session *s, struct generation *g, bool list)
{
	struct inquiry *q = &g->inquiry;
	bool other = !s->witness.pings_in_vain && (list || listed(s) != NULL);

	q->second = true;
	q->under_way += other ? 3 : 2;
	if (other)
		ask(s, g, !list, false);
	ask(s, g, false, true);
	ask(s, g, false, true);
}

/* --- what they say of a call --- */

/* Did a witness of this kind get this refusal? */
static bool
is_same(const struct inquiry *q, uint64_t mark, bool list)
{
	size_t i;

	for (i = 0; i < q->n_refused; i++)
		if (q->refused[i].list == list && q->refused[i].mark == mark)
			return true;
	return false;
}

/* Whose refusal was it? */
enum finding {
	FOUND_DOOR,     /* the door's */
	FOUND_REPLICAS, /* the door's of a replica that does not know the
			 * session; another one does */
	FOUND_ALIVE,    /* the tool's: the session lives */
	FOUND_GONE,     /* nobody's that is known, but the session is gone */
	FOUND_NOTHING
};

static enum finding
find(const struct inquiry *q, const struct doubt *d)
{
	bool ping = !d->failed && is_same(q, d->mark, false),
	     list = !d->failed && is_same(q, d->mark, true);

	if (ping && q->answered[false])
		return FOUND_REPLICAS;
	/* Something in front may answer pings by itself. */
	if (ping || (list && !q->answered[true]))
		return FOUND_DOOR;
	if (q->answered[false] || q->answered[true])
		return FOUND_ALIVE;
	return q->gone ? FOUND_GONE : FOUND_NOTHING;
}

/* Was the refusal so late that something may have run before? Each server has
 * its own pace, which the witness shows. After a rest the call may be the first
 * thing that a server does, and take as long as its start. */
static bool
is_late(const struct doubt *d, const struct inquiry *q)
{
	enum { LEAST_MS = 250 };
	int64_t witness = q->took_ms < LEAST_MS ? LEAST_MS : q->took_ms;

	return !d->rested && d->took_ms > 2 * witness + LEAST_MS;
}

/* The new session has to answer the witness, too. If it is there already, it is
 * asked now. */
static void
want_control(struct session *s, const struct generation *g, uint64_t mark)
{
	bool current = g == s->generation;

	if (s->witness.mark != 0 ||
	    (!current && s->generation->inquiry.cleared == mark))
		return;
	s->witness.mark = mark;
	s->witness.list = !is_same(&g->inquiry, mark, false);
	if (!current &&
	    phase_permits(s, PHASE_READIES | PHASE_RESTORES | PHASE_SENDS))
		session_witness_again(s);
}

static void
proved(struct session *s, struct call *c, struct generation *g)
{
	struct doubt *d = &c->doubt;
	struct inquiry *q = &g->inquiry;

	q->door = d->mark;
	/* A session that mcpsplice has ended refuses all there is. */
	if (!d->usable || g->ended || is_late(d, q)) {
		session_interrupted(s, c, g, c->refusal, c->rule);
		return;
	}
	if (d->unready && g == s->generation) {
		session_end_doubt(c);
		session_unready(s, c, c->refusal, c->rule);
		return;
	}
	want_control(s, g, d->mark);
	session_refused(s, c, g);
}

/* The client gets the first answer. A call that may have run, and of which no
 * answer is left, is repeated if that is safe. */
static void
stands(struct session *s, struct call *c)
{
	struct frame *error = c->doubt.error;
	bool usable = c->doubt.usable;

	c->doubt.error = NULL;
	session_end_doubt(c);
	if (error != NULL && !usable && !c->doubt.failed &&
	    session_repeat(s, c, 0)) {
		frame_unref(error);
		return;
	}
	session_log(s, LEVEL_INFO, "the client gets the first answer");
	if (error != NULL)
		session_fail(s, c, error);
	else if (c->repeated || c->flaps > 0)
		session_refusal_stands(s, c, "", true);
	else
		session_answer(s, c, c->refusal);
}

/* Does it speak of a loss, and has the session answered no call since? A 401 or
 * 403 is not believed: credentials may be missing only for calls. */
static bool
speaks_on(const struct call *c, const struct generation *g)
{
	return c->doubt.spoken && c->status != 401 && c->status != 403 &&
	    c->doubt.refused_at > g->served_at;
}

/* A door that lets all witnesses pass looks like a tool. If it speaks of a loss
 * twice in a row, the next calls get a new session, once: if that is refused,
 * too, it was no door. Calls that run are not given up for that. */
static void
overrule(struct session *s, struct generation *g)
{
	if (++g->unproved < 2 || s->witness.overruled || g != s->generation ||
	    s->calls.n > 0 || !session_may_renew(s))
		return;
	s->witness.overruled = true;
	session_renew(s, "it was refused twice in a row");
	session_delete(s, g);
}

static void
settle_call(struct session *s, struct call *c, struct generation *g,
    enum finding finding)
{
	bool spoke;

	switch (finding) {
	case FOUND_DOOR:
		proved(s, c, g);
		break;
	case FOUND_REPLICAS:
		g->lost = false; /* a ping may have met the wrong one */
		session_flapping(s, c->doubt.mark);
		if (!session_try_elsewhere(s, c))
			stands(s, c);
		break;
	case FOUND_GONE:
		session_interrupted(s, c, g, c->refusal, c->rule);
		break;
	case FOUND_ALIVE:
		spoke = speaks_on(c, g);
		stands(s, c);
		if (spoke)
			overrule(s, g);
		break;
	case FOUND_NOTHING:
		stands(s, c);
		break;
	}
}

/* --- the end of an inquiry --- */

static bool
is_doubted(const struct call *c, const struct generation *g)
{
	return c->state == CALL_SUSPECT && c->doubt.generation == g;
}

/* The first call that waits for this inquiry, and whose refusal came before the
 * witness with this ticket was sent: what is answered says nothing about later
 * ones. */
static struct call *
first_doubt(const struct session *s, const struct generation *g, uint64_t from)
{
	struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (is_doubted(c, g) && c->doubt.from <= from)
			return c;
	return NULL;
}

/* Did the door refuse one of the calls? */
static bool
found_door(const struct session *s, const struct generation *g)
{
	const struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (is_doubted(c, g) &&
		    find(&g->inquiry, &c->doubt) == FOUND_DOOR)
			return true;
	return false;
}

/* Is a call left for which more witnesses are worth asking? Not if one call was
 * refused by the door: then the session is gone. But if that call was sent again
 * because the session had answered the same witness, it may be the door of a
 * replica. */
static bool
wants_more(const struct session *s, const struct generation *g)
{
	const struct inquiry *q = &g->inquiry;
	const struct call *c;
	bool likely = false, door;

	for (c = s->calls.first; c != NULL && !q->second; c = c->next) {
		if (!is_doubted(c, g))
			continue;
		door = find(q, &c->doubt) == FOUND_DOOR;
		if (door &&
		    (c->replayed != g->number || q->cleared != c->doubt.mark))
			return false;
		likely |= door || c->doubt.likely;
	}
	return likely;
}

/* What to do about a call in doubt for which no witness has spoken yet. */
static void
consider(struct session *s, struct call *c)
{
	struct generation *g = generation_ref(c->doubt.generation);
	bool flaps = session_flaps(s) && g == s->generation;

	if (g->inquiry.door == c->doubt.mark)
		proved(s, c, g);
	else if (!phase_permits(s, PHASE_SERVES) ||
	    (flaps && !session_try_elsewhere(s, c) && session_flaps(s)))
		stands(s, c);
	else if (c->state == CALL_SUSPECT && g->inquiry.under_way == 0)
		inquire(s, g, c);
	generation_unref(g);
}

static bool
spare_is_current(const struct session *s)
{
	return s->spare.generation != NULL &&
	    session_same_id(s->spare.generation, s->generation);
}

static void
settle(struct session *s, struct generation *g, bool list)
{
	struct inquiry *q = &g->inquiry;
	struct call *c;
	enum finding found;
	bool door;

	if (q->under_way > 0)
		return;
	/* The answers may come from the session that started again. */
	if (g == s->generation && spare_is_current(s)) {
		q->answered[false] = q->answered[true] = false;
		q->gone = true;
	}
	if (wants_more(s, g)) {
		inquire_more(s, g, list);
		return;
	}
	door = found_door(s, g);
	generation_ref(g);
	/* A refused witness serves all calls of that loss. */
	while ((c = first_doubt(s, g, door ? UINT64_MAX : q->from)) != NULL) {
		found = find(q, &c->doubt);
		settle_call(s, c, g,
		    door && found != FOUND_DOOR ? FOUND_GONE : found);
	}
	/* Gone, but no call may go out again for it: the session that was opened
	 * in doubt is for the next ones. */
	if (g == s->generation && g->lost && s->spare.generation != NULL &&
	    session_may_renew(s))
		session_renew(s, "a call was refused again");
	if (g == s->generation)
		session_spare_end(s);
	while (q->under_way == 0 && (c = first_doubt(s, g, UINT64_MAX)) != NULL)
		consider(s, c);
	generation_unref(g);
}

bool
session_witness_tells(const struct session *s, int status)
{
	const struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if ((c->state == CALL_SUSPECT || c->state == CALL_REFUSED) &&
		    c->status == status && !c->doubt.failed)
			return true;
	return false;
}

/* Does this say nothing, because it is of a moment? Then the witness is sent
 * again. */
static bool
is_of_a_moment(const struct session *s, const struct facts *f, struct ruling r)
{
	if (f->silent)
		return false;
	if (r.verdict == VERDICT_RETRY || f->ending == ENDING_CUT)
		return true;
	return f->status >= 500 && !is_refusal(r) &&
	    r.verdict != VERDICT_LOST_MAYBE &&
	    !session_witness_tells(s, f->status);
}

static void
note_refused(struct inquiry *q, bool list, uint64_t mark)
{
	if (q->n_refused == WITNESSES)
		return;
	q->refused[q->n_refused].list = list;
	q->refused[q->n_refused++].mark = mark;
}

/* --- the same witness in the new session --- */

bool
session_awaits_witness(const struct session *s)
{
	return s->witness.ticket != 0;
}

bool
session_witness_is_due(const struct session *s)
{
	return !s->witness.ready &&
	    (s->witness.after || session_is_fragile(s, s->generation));
}

void
session_witness_again(struct session *s)
{
	struct attempt *a;

	if (s->witness.mark == 0 ||
	    (phase_permits(s, PHASE_READIES) && session_witness_is_due(s)))
		return;
	a = witness(s, s->generation, s->witness.list);
	a->control = true;
	session_start(s, a);
	s->witness.ticket = a->ticket;
}

/* Nothing is proved: the calls that were refused get their refusals; if safe is
 * not set, the safe ones are sent again, and may have run before. */
static void
refusals_stand(struct session *s, bool safe, const char *what)
{
	struct call *c, *next;

	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		if (c->state != CALL_REFUSED || c->refused_in == 0)
			continue;
		if (safe || !session_is_safe(s, c))
			session_refusal_stands(s, c, what, true);
		else
			c->repeated = true;
	}
}

void
session_witness_too_late(struct session *s)
{
	if (s->witness.mark == 0 ||
	    (s->witness.ticket == 0 && !session_witness_is_due(s)))
		return;
	session_log(s, LEVEL_INFO,
	    "the new session did not answer the test request in time: "
	    "repeating only what is safe");
	refusals_stand(s, false, ", and the new one did not answer in time");
	s->witness.mark = s->witness.ticket = 0;
}

/* The new session does not answer the witness either. */
static void
disprove(struct session *s)
{
	session_log(s, LEVEL_INFO,
	    "the new session does not answer the test request either: "
	    "repeating nothing");
	s->witness.pings_in_vain |= !s->witness.list;
	refusals_stand(s, true, ", and the new one too");
}

/* Another replica may have been asked; and a list may have come before
 * initialized. */
static bool
control_again(struct session *s, const struct attempt *a, uint64_t mark)
{
	enum { TRIES = 8, PAUSE_MS = 50 };
	struct attempt *next;

	if (mark == 0 || a->tries + 1 >= TRIES ||
	    s->now >= s->alarms.at[ALARM_PHASE])
		return false;
	next = witness(s, a->generation, a->list);
	next->control = true;
	next->tries = a->tries + 1;
	next->fresh = !a->list && mark == s->witness.mark;
	s->witness.ticket = next->ticket;
	session_start_in(s, next, PAUSE_MS);
	return true;
}

/* Has the witness of this session ended it, because the server read it before
 * initialized, which it took all the same? Then the session is renewed once
 * more, and the witness waits for initialized from then on. */
static bool
has_overtaken(struct session *s, struct attempt *a, uint64_t mark)
{
	if (mark != 0 || s->witness.after || !phase_permits(s, PHASE_READIES))
		return false;
	s->witness.after = true;
	a->control = false; /* it ends here, not by the renewal */
	return session_renew_again(s, "a request overtook initialized");
}

/* The witness in the new session is over. */
static void
control(struct session *s, struct attempt *a, uint64_t mark, bool gone)
{
	bool answered = mark == 0 && !gone;

	if (a->ticket != s->witness.ticket)
		return; /* that session is gone, too */
	if (!answered && control_again(s, a, mark))
		return;
	if (gone && phase_permits(s, PHASE_READIES) && !s->witness.ready)
		s->witness.after = true; /* it overtook initialized */
	else if (!answered && !has_overtaken(s, a, mark))
		disprove(s);
	else
		s->generation->inquiry.cleared = s->witness.mark;
	if (answered && a->fresh)
		session_flapping(s, s->witness.mark);
	s->witness.ticket = 0;
}

/* --- what a witness gets --- */

/* The witness is over. mark: of its refusal; 0: it was none. */
static void
told(struct session *s, struct attempt *a, uint64_t mark, bool gone)
{
	struct generation *g = a->generation;
	struct inquiry *q = &g->inquiry;
	int64_t took = s->now - a->out_at;

	a->answered = true;
	if (a->control) {
		control(s, a, mark, gone);
		return;
	}
	q->under_way--;
	if (took > q->took_ms && !a->denied)
		q->took_ms = took;
	q->gone |= gone;
	if (mark == 0 && !gone)
		q->answered[a->list] = true;
	else if (mark != 0)
		note_refused(q, a->list, mark);
	session_log(s, LEVEL_INFO, "the test request (%s) was %s",
	    a->list ? "a list" : "a ping",
	    mark != 0 ? "refused" :
		gone  ? "not answered" :
			"answered");
	settle(s, g, a->list);
}

static bool
speaks_of_a_loss(const struct facts *f, struct ruling r)
{
	return session_is_lost(r) || r.verdict == VERDICT_LOST_MAYBE ||
	    f->status == 404 || f->status == 410;
}

/* A server that has no ping says so in the session: it lives. Some give this
 * code to each request in a session that is not initialized; and an error status
 * with it may be the door's, unless the session is new. */
static bool
is_answer(const struct attempt *a, const struct facts *f, const struct frame *m,
    struct ruling r)
{
	return m->kind == FRAME_RESULT ||
	    ((verdict_2xx(f) || a->control) &&
		msg_error_code(m) == FAULT_METHOD &&
		refusal_has_id(m, a->body) && !is_refusal(r));
}

void
session_witness_message(struct session *s, struct attempt *a,
    const struct facts *f, const struct frame *m)
{
	struct ruling r = { VERDICT_ANSWER, "a result" };

	if (a->answered)
		return;
	if (m->kind == FRAME_ERROR)
		r = verdict_error(f, m, &s->config.rules);
	if (is_answer(a, f, m, r)) {
		session_linger(s, a);
		told(s, a, 0, false);
		return;
	}
	a->said = r;
	if (is_of_a_moment(s, f, r))
		return; /* session_witness_done sends it again */
	session_linger(s, a);
	told(s, a, refusal_mark(f, m, a->body, a->generation->session),
	    speaks_of_a_loss(f, r));
}

/* Sends the witness again within its time. */
static bool
again(struct session *s, struct attempt *a, const struct facts *f)
{
	int64_t wait = backoff_retry(a->tries, s->random);
	int64_t left = a->window_end - s->now;
	bool current = a->ticket == s->witness.ticket;

	if (wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	if (wait >= left)
		return false;
	a = session_again(s, a, wait);
	session_abort_in(s, a, left);
	if (current)
		s->witness.ticket = a->ticket;
	return true;
}

void
session_witness_done(struct session *s, struct attempt *a,
    const struct facts *f)
{
	struct ruling r = session_ruling(s, a, f);
	uint64_t mark = 0;

	a->live = false;
	if (!a->answered && is_of_a_moment(s, f, r) && again(s, a, f))
		return;
	if (!a->answered) {
		if (f->ending == ENDING_COMPLETE &&
		    (f->status >= 300 || is_refusal(r)))
			mark = refusal_mark(f, NULL, a->body,
			    a->generation->session);
		told(s, a, mark, mark == 0 || speaks_of_a_loss(f, r));
	}
	calls_attempt_drop(&s->calls, a);
}

void
session_witness_tick(struct session *s, struct attempt *a)
{
	struct generation *g = a->generation;

	if (a->silent_at > s->now)
		return;
	a->silent_at = ALARM_NEVER;
	if (!a->answered && wants_more(s, g))
		inquire_more(s, g, a->list);
}

/* --- a doubt --- */

const char session_failure[] = "500, the server failed";

/* Does the same refusal of a witness prove that this call did not run? Not if
 * its exchange has brought messages, if it was resumed, or if the answer came
 * on another stream. */
static bool
is_usable(const struct call *c, const struct attempt *a, struct ruling r)
{
	return a == c->attempt && !a->spoke && a->last_event_id.n == 0 &&
	    !c->asked && r.verdict != VERDICT_LOST_MAYBE;
}

static void
note_doubt(struct session *s, struct call *c, const struct attempt *a,
    const struct facts *f, const struct frame *m, struct ruling r)
{
	const struct attempt *own = c->attempt != NULL ? c->attempt : a;
	const struct frame *request = c->sent != NULL ? c->sent : c->frame;
	bool words = r.verdict != VERDICT_SUSPECT;
	struct doubt *d = &c->doubt;

	d->generation = generation_ref(own->generation);
	d->mark = refusal_mark(f, m, request, own->generation->session);
	d->from = s->calls.next_ticket;
	d->refused_at = s->now;
	d->took_ms = s->now - own->out_at;
	d->rested = own->rested;
	d->failed = r.rule == session_failure;
	d->usable = !d->failed && !f->silent && is_usable(c, a, r);
	d->likely = words || (verdict_2xx(f) && !f->silent) ||
	    f->status == 404 || f->status == 410;
	d->spoken = words && !refusal_has_id(m, request);
	d->gated = r.verdict == VERDICT_GATE || (verdict_2xx(f) && !f->silent);
	d->unready = r.verdict == VERDICT_UNREADY;
}

void
session_doubt(struct session *s, struct call *c, struct attempt *a,
    const struct facts *f, struct frame *m, struct frame *error,
    struct ruling r)
{
	if (c->cancelled) {
		frame_unref(error);
		session_fail(s, c, NULL);
		return;
	}
	if (m != NULL)
		keep_frame(&c->refusal, frame_ref(m));
	note_doubt(s, c, a, f, c->refusal, r);
	c->doubt.error = error;
	c->status = f->status;
	c->rule = r.rule;
	session_detach(s, c);
	session_call_state(s, c, CALL_SUSPECT);
	consider(s, c);
}
