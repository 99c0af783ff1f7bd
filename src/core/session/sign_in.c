/*
 * The user is asked to sign in, and exchanges wait for that: initialize as long
 * as its phase lasts, a call for BOUND_USER_MS. Then each ends with an error
 * that says where to sign in. The sign-in itself continues, so that later
 * requests work. If the host takes questions, it shows the user where to sign
 * in.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

#include "base/codec.h"
#include "core/exchange/same_refusal.h"

enum { ASK_MS = 5 * 1000 }; /* for a user whom the browser signs in at once */

/* The user is sent there. What the host was asked before is out of date. */
static void
note_where(struct session *s, struct span text)
{
	struct asking *q = &s->asking;

	q->pending = true;
	if (s->sign_in != NULL && span_is(text, s->sign_in))
		return;
	free(s->sign_in);
	s->sign_in = xstrndup(text.p, text.n);
	q->since = s->now;
	q->asked = q->in_vain = false;
}

void
session_sign_in(struct session *s, struct attempt *a, struct span text)
{
	/* Nobody wants the answer of this call any more: it must not be
	 * sent. */
	if (a->kind == ATTEMPT_CALL &&
	    (a->call == NULL || a->call->cancelled)) {
		session_abort(s, a);
		return;
	}
	if (text.n == 0 && !a->waits_for_user)
		return;
	a->waits_for_user = text.n > 0;
	if (a->waits_for_user) {
		note_where(s, text);
		if (a->call != NULL)
			session_call_waits(s, a->call);
		a->silences = 0;
		a->dead_at = ALARM_NEVER; /* the call was not silent but
					   * refused */
	} else {
		/* The request goes out only now: the server was not silent
		 * before. */
		a->silent_at = s->now + BOUND_MINUTE_MS;
		a->event_at = s->now;
	}
	/* For a renewal or an initialize of --handshake no client gives up, so
	 * the time for the sign-in does not count. */
	if (a->kind == ATTEMPT_OPEN && a->generation == s->generation) {
		s->renewal.window_at = s->now;
		if (phase_permits(s, PHASE_AGAIN))
			session_phase(s, PHASE_RENEWING,
			    a->waits_for_user ?
				ALARM_NEVER :
				s->now + session_renew_window(s));
		else if (phase_permits(s, PHASE_FIRST) && a->call == NULL)
			session_phase(s, PHASE_OPENING,
			    a->waits_for_user ||
				    s->config.init_timeout_ms == 0 ?
				ALARM_NEVER :
				s->now + s->config.init_timeout_ms);
	}
	/* The tick finds the calls that wait for the sign-in. */
	alarm_note(&s->alarms, s->now);
}

bool
session_opening_waits(const struct session *s)
{
	const struct attempt *a;

	if (!phase_permits(s, PHASE_FIRST | PHASE_AGAIN))
		return false;
	for (a = s->calls.attempts; a != NULL; a = a->next)
		if (a->kind == ATTEMPT_OPEN && a->waits_for_user &&
		    a->generation == s->generation)
			return true;
	return false;
}

bool
session_renewal_waits(const struct session *s)
{
	return phase_permits(s, PHASE_AGAIN) && session_opening_waits(s);
}

/* Does this call wait for a sign-in: in its own exchange, or because the
 * renewal that it needs waits? */
static bool
waits_for_user(const struct call *c, bool renewal_waits)
{
	if (c->attempt != NULL)
		return c->attempt->waits_for_user &&
		    c->attempt->kind == ATTEMPT_CALL;
	return renewal_waits &&
	    (c->state == CALL_HELD || c->state == CALL_REFUSED);
}

int64_t
session_sign_in_due(struct session *s, struct call *c, bool renewal_waits)
{
	/* A call that is parked at a modern client has the client's time. */
	if (s->sign_in == NULL || s->config.handshake ||
	    !waits_for_user(c, renewal_waits) ||
	    (s->asking.open != 0 && c->asks == s->asking.open)) {
		c->user_at = ALARM_NEVER;
		return ALARM_NEVER;
	}
	if (c->user_at == ALARM_NEVER) {
		c->user_at = s->now + BOUND_USER_MS;
		if (s->asking.in_vain && c->asks == 0)
			s->asking.asked = s->asking.in_vain = false;
	}
	return c->user_at;
}

struct facts
session_sign_in_facts(const struct session *s)
{
	struct facts f = { .ending = ENDING_SIGN_IN, .retry_after_ms = -1 };

	f.why = span_of(s->sign_in);
	return f;
}

struct frame *
session_sign_in_error(const struct session *s, const struct call *c)
{
	return fault_make(FAULT_SIGN_IN,
	    &(struct fault_args){ .request = c->frame,
		.host = s->config.host,
		.why = span_of(s->sign_in),
		.maybe = session_may_have_run(c) });
}

/* --- the host is asked --- */

/*
 * If the browser alone does not help for ASK_MS, the host is asked by
 * elicitation/create to show its user where to sign in: in URL mode if it
 * declares that, else by a form without fields. The answer changes nothing but
 * that a call does not wait for a user who declines. (MCP 2025-11-25,
 * Elicitation)
 */

#define URL_MODE "{\"mode\":\"url\"}"
#define ELICITATION "\"elicitationId\":\"%s-e%u\""

static bool
can_elicit(const struct session *s, const char *params)
{
	return era_declares(json_get(s->handshake.request->params,
				"capabilities"),
	    span_of("elicitation/create"), span_of(params));
}

/* Returns a call that waits for the user, or NULL. A modern client can be asked
 * only in the answer to some requests. */
static struct call *
askable(const struct session *s)
{
	bool renewal_waits = session_renewal_waits(s);
	struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (waits_for_user(c, renewal_waits) && !c->cancelled &&
		    (!s->start.probed || era_may_ask(c->frame->method)))
			return c;
	return NULL;
}

/* Returns when the host is to be asked, or ALARM_NEVER. It must have said
 * initialized. */
static int64_t
ask_at(const struct session *s)
{
	const struct asking *q = &s->asking;

	if (!q->pending || q->asked || s->handshake.ready == NULL ||
	    has_eof(s) || is_own_handshake(s) ||
	    s->questions.n + s->answers.n >= BOUND_SOME ||
	    (!can_elicit(s, "{}") && !can_elicit(s, URL_MODE)))
		return ALARM_NEVER;
	if (s->now < q->since + ASK_MS)
		return q->since + ASK_MS;
	return s->start.probed && askable(s) == NULL ? ALARM_NEVER : s->now;
}

/* Appends the params of the question. */
static void
add_question(const struct session *s, struct buf *out)
{
	const char *url = strstr(s->sign_in, "http");
	char *text = xasprintf("%s requires you to sign in: %s.%s",
	    s->config.host, s->sign_in,
	    s->asking.by_url ?
		"" :
		" Accept after signing in, or decline to give up.");

	buf_adds(out, "{\"message\":");
	codec_json_string(out, span_of(text));
	free(text);
	if (s->asking.by_url) {
		buf_addf(out, ",\"mode\":\"url\"," ELICITATION ",\"url\":",
		    s->config.prefix, s->asking.made);
		codec_json_string(out, (struct span){ url, strcspn(url, " ") });
	} else {
		buf_adds(out,
		    ",\"requestedSchema\":{\"type\":\"object\","
		    "\"properties\":{}}");
	}
	buf_addc(out, '}');
}

static void
ask_host(struct session *s)
{
	struct call *c = s->start.probed ? askable(s) : NULL;
	struct buf params;
	struct frame *f, *question;

	s->asking.open = ++s->asking.made;
	s->asking.asked = true;
	s->asking.by_url = can_elicit(s, URL_MODE) &&
	    strstr(s->sign_in, "http") != NULL;
	buf_init(&params, 0);
	add_question(s, &params);
	f = msg_call(span_of("0"), "elicitation/create", buf_span(&params));
	question = questions_ask(&s->questions, f, QUESTION_OWN, QUESTION_OWN);
	session_write(s, question);
	events_last(&s->events)->ok = true;
	if (c != NULL) {
		c->asks = s->asking.open;
		events_last(&s->events)->related = frame_ref(c->frame);
	}
	frame_unref(question);
	frame_unref(f);
	buf_free(&params);
}

static void
take_back(struct session *s)
{
	struct frame *cancel = questions_withdraw(&s->questions, QUESTION_OWN);

	if (s->asking.open == 0)
		return;
	s->asking.open = 0;
	alarm_note(&s->alarms, s->now); /* a parked call has its time again */
	if (cancel != NULL)
		session_write(s, cancel);
	frame_unref(cancel);
}

/* The user has signed in. */
static void
complete(struct session *s)
{
	char *params;

	take_back(s);
	if (!s->asking.by_url)
		return;
	s->asking.by_url = false;
	params = xasprintf("{" ELICITATION "}", s->config.prefix,
	    s->asking.made);
	session_tell(s, "notifications/elicitation/complete", span_of(params));
	free(params);
}

/* Takes the host's answer, which is taken. A user who declines is waited for by
 * no call; one who dismisses the question may still come. */
static void
host_answered(struct session *s, struct frame *answer)
{
	struct span action = json_get(answer->result, "action");
	bool renewal_waits = session_renewal_waits(s);
	struct call *c, *next;

	s->asking.answer = NULL;
	take_back(s);
	s->asking.in_vain = !json_string_is(action, "accept");
	for (c = s->calls.first; c != NULL && json_string_is(action, "decline");
	     c = next) {
		next = c->next;
		if (waits_for_user(c, renewal_waits))
			session_fail(s, c, session_sign_in_error(s, c));
	}
	frame_unref(answer);
}

void
session_mind_sign_in(struct session *s)
{
	struct asking *q = &s->asking;

	if (q->answer != NULL)
		host_answered(s, q->answer);
	q->pending = phase_permits(s, PHASE_SERVES) &&
	    (session_opening_waits(s) || askable(s) != NULL);
	if (!q->pending)
		q->asked = q->in_vain = false;
	if (!q->asked)
		take_back(s);
	if (ask_at(s) <= s->now)
		ask_host(s);
	alarm_set(&s->alarms, ALARM_ASK, ask_at(s));
}

/* --- there are new credentials --- */

void
session_signed_in(struct session *s)
{
	complete(s);
	session_listen_signed_in(s);
	/* A server may answer the initialize of anybody and nothing more: it
	 * gets initialized again with the new credentials. */
	if (phase_permits(s, PHASE_WORKS) &&
	    s->generation->initialized_denied && s->handshake.ready != NULL) {
		s->generation->initialized_denied = false;
		session_send_one_way(s, s->handshake.ready);
	}
	s->renewal.budget.trial_at = s->now; /* a renewal that failed may work
					      * now */
	session_renew_now(s);
}

/* --- 401 and 403 --- */

/*
 * A 401 or 403 is judged: is it about the session or about the credentials? And
 * a 401 that asks for other credentials may be one that a tool passes on. So
 * before a call that may do harm goes out again, a ping with the same ones asks
 * the door.
 */

/* A witness that is refused as its call was has done its work. One that is
 * refused only for its credentials says nothing until it has others, and its
 * time includes theirs. */
static bool
has_testified(const struct session *s, struct attempt *a, int status)
{
	if (a == NULL || a->kind != ATTEMPT_WITNESS)
		return false;
	a->denied = true;
	return session_witness_tells(s, status);
}

/* The facts of a refusal, and what is known of the call that was refused. */
static struct facts
with_history(const struct session *s, const struct attempt *a,
    const struct facts *f)
{
	struct facts known = *f;

	if (a != NULL && a->kind == ATTEMPT_CALL && a->call != NULL &&
	    a->last_event_id.n == 0)
		session_add_history(s, a->call, a->generation, &known);
	return known;
}

/* Other credentials may help the request of this ticket; 0: those to come. If
 * the server may be refusing the session, a renewal is tried before the user is
 * asked: the action names the session. */
static void
authorize(struct session *s, uint64_t ticket, const struct facts *f)
{
	struct event ask = {
		.kind = ACTION_AUTHORIZE, .ticket = ticket, .facts = f
	};
	struct attempt *a = calls_attempt_find(&s->calls, ticket);
	struct facts good = with_history(s, a, f);

	good.credentials_known_good = true;
	if (a != NULL && session_is_lost(verdict_bare(&good, &s->config.rules)))
		ask.session = span_of(a->generation->session);
	events_add(&s->events, &ask);
}

static void
take(struct session *s, uint64_t ticket, const struct facts *f, const char *why)
{
	struct event ask = { .kind = ACTION_TAKE_REFUSAL,
		.ticket = ticket,
		.facts = f,
		.text = why };

	events_add(&s->events, &ask);
}

/* --- the door is asked --- */

/* Without a session nobody can be asked who knows the call's. */
static bool
wants_witness(const struct session *s, const struct attempt *a,
    const struct facts *f)
{
	return a != NULL && a->kind == ATTEMPT_CALL && a->call != NULL &&
	    a->generation->session != NULL &&
	    (f->status == 401 || f->signature) && f->stamp != 0 &&
	    f->refusals + f->again == 0 && !f->of_door &&
	    phase_permits(s, PHASE_WORKS) && !session_is_safe(s, a->call);
}

static void
ask_door(struct session *s, struct attempt *a, const struct facts *f)
{
	struct attempt *i;

	a->unauthorized = facts_keep(f);
	for (i = s->calls.attempts; i != NULL; i = i->next)
		if (i->kind == ATTEMPT_DOOR && !i->answered &&
		    i->generation == a->generation)
			return;
	session_log(s, LEVEL_INFO,
	    "401: sending a ping to see whether the server or only the tool "
	    "refuses these credentials");
	i = session_own_attempt(s, ATTEMPT_DOOR, "ping", no_span,
	    a->generation);
	session_abort_in(s, i, BOUND_SHORT_MS);
	session_start(s, i);
}

static uint64_t
mark_of(const struct attempt *a, const struct facts *f)
{
	return refusal_mark(f, NULL, a->body, a->generation->session);
}

/* The door has spoken: refused, or NULL: it let the ping pass, or says nothing.
 * A call that the door did not refuse ends with its 401; those to come may need
 * other credentials all the same. */
static void
door_told(struct session *s, struct attempt *door, const struct facts *refused)
{
	struct attempt *a;
	bool asked = false;
	struct facts f;

	door->answered = true;
	for (a = s->calls.attempts; a != NULL; a = a->next) {
		if (a->unauthorized == NULL ||
		    a->generation != door->generation)
			continue;
		f = a->unauthorized->facts;
		if (refused != NULL &&
		    mark_of(door, refused) == mark_of(a, &f)) {
			authorize(s, a->ticket, &f);
		} else {
			f.interactive = false;
			if (!asked)
				authorize(s, 0, &f);
			asked = true;
			take(s, a->ticket, &f,
			    "a ping with the same token was accepted, so a "
			    "tool may have refused it");
		}
		facts_free(a->unauthorized);
		a->unauthorized = NULL;
	}
}

void
session_door_message(struct session *s, struct attempt *a)
{
	if (a->answered)
		return;
	session_linger(s, a);
	door_told(s, a, NULL);
}

void
session_door_done(struct session *s, struct attempt *a)
{
	if (!a->answered)
		door_told(s, a, NULL);
	calls_attempt_drop(&s->calls, a);
}

/* --- a 401 or 403 --- */

/* Words of a lost session are not about credentials, a DELETE is not worth new
 * ones, and after a signal nothing is. */
void
session_unauthorized(struct session *s, const struct event *in)
{
	struct attempt *a = calls_attempt_find(&s->calls, in->ticket);
	struct facts f = with_history(s, a, in->facts);
	struct ruling r = verdict_bare(&f, &s->config.rules);

	/* The server is not silent: other credentials may take a while. */
	if (a != NULL && a->kind == ATTEMPT_OPEN)
		a->silent_at = s->now + BOUND_MINUTE_MS;
	if (a != NULL && a->kind == ATTEMPT_DOOR) {
		door_told(s, a, in->facts);
		take(s, in->ticket, in->facts, NULL);
	} else if (s->ending.stopped || f.verb == VERB_DELETE ||
	    is_refusal(r) || r.verdict == VERDICT_LOST_MAYBE ||
	    has_testified(s, a, f.status)) {
		take(s, in->ticket, in->facts, NULL);
	} else if (wants_witness(s, a, in->facts)) {
		ask_door(s, a, in->facts);
	} else {
		authorize(s, in->ticket, in->facts);
	}
}
