/*
 * The user is asked to sign in, and exchanges wait for that: initialize as long
 * as its phase lasts, a call for BOUND_USER_MS. Then each ends with an error
 * that says where to sign in. The sign-in itself goes on, so that later
 * requests work.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

void
session_sign_in(struct session *s, struct attempt *l, struct span text)
{
	/* Nobody wants the answer of this call any more: it must not be
	 * sent. */
	if (l->kind == ATTEMPT_CALL &&
	    (l->call == NULL || l->call->cancelled)) {
		session_abort(s, l);
		return;
	}
	if (text.n == 0 && !l->waits_for_user)
		return;
	l->waits_for_user = text.n > 0;
	if (l->waits_for_user) {
		free(s->sign_in);
		s->sign_in = xstrndup(text.p, text.n);
		l->silences = 0;
		l->dead_at = ALARM_NEVER; /* the call was not silent but
					   * refused */
	} else {
		/* The request goes out only now: the server was not silent
		 * before. */
		l->silent_at = s->now + BOUND_SILENT_MS;
		l->event_at = s->now;
	}
	/* For a renewal or an initialize of --handshake no client gives up, so
	 * the time for the sign-in does not count. */
	if (l->kind == ATTEMPT_OPEN && l->generation == s->generation) {
		s->renewal.window_at = s->now;
		if (phase_permits(s, PHASE_AGAIN))
			session_phase(s, PHASE_RENEWING,
			    l->waits_for_user ?
				ALARM_NEVER :
				s->now + session_renew_window(s));
		else if (phase_permits(s, PHASE_FIRST) && l->call == NULL)
			session_phase(s, PHASE_OPENING,
			    l->waits_for_user ||
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
	const struct attempt *l;

	if (!phase_permits(s, PHASE_FIRST | PHASE_AGAIN))
		return false;
	for (l = s->calls.attempts; l != NULL; l = l->next)
		if (l->kind == ATTEMPT_OPEN && l->waits_for_user &&
		    l->generation == s->generation)
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
	if (s->sign_in == NULL || s->config.handshake ||
	    !waits_for_user(c, renewal_waits)) {
		c->user_at = ALARM_NEVER;
		return ALARM_NEVER;
	}
	if (c->user_at == ALARM_NEVER)
		c->user_at = s->now + BOUND_USER_MS;
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

void
session_signed_in(struct session *s)
{
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
