/* The phase of the session, and what each phase permits. */
#include "config.h"

#include "core/session/parts.h"

static const struct {
	const char *name;
	enum lateness late;
	unsigned permits;
} phases[] = {
	[PHASE_IDLE] = { "idle", LATE_NEVER,
	    PHASE_SERVES | PHASE_STARTS | PHASE_ANSWERS },
	[PHASE_OPENING] = { "opening", LATE_FIRST,
	    PHASE_SERVES | PHASE_FIRST | PHASE_HOLDS | PHASE_ANSWERS },
	[PHASE_OPENED] = { "opened", LATE_NEVER,
	    PHASE_SERVES | PHASE_SENDS | PHASE_HOLDS | PHASE_ANSWERS |
		PHASE_CANCELS | PHASE_INITIALIZED | PHASE_RENEWS },
	[PHASE_READYING] = { "readying", LATE_READY,
	    PHASE_SERVES | PHASE_HOLDS | PHASE_ANSWERS | PHASE_CANCELS |
		PHASE_READIES | PHASE_RENEWS },
	[PHASE_RESTORING] = { "restoring", LATE_RESTORE,
	    PHASE_SERVES | PHASE_HOLDS | PHASE_ANSWERS | PHASE_CANCELS |
		PHASE_RESTORES | PHASE_LISTENS | PHASE_RENEWS },
	[PHASE_LIVE] = { "live", LATE_NEVER,
	    PHASE_SERVES | PHASE_SENDS | PHASE_HOLDS | PHASE_ANSWERS |
		PHASE_CANCELS | PHASE_LISTENS | PHASE_WORKS | PHASE_RENEWS },
	[PHASE_RENEWING] = { "renewing", LATE_AGAIN,
	    PHASE_SERVES | PHASE_AGAIN | PHASE_HOLDS },
	[PHASE_DEAD] = { "dead", LATE_NEVER,
	    PHASE_SERVES | PHASE_RENEWS | PHASE_REVIVES },
	[PHASE_CLOSING] = { "closing", LATE_CLOSE, 0 },
	[PHASE_ENDED] = { "ended", LATE_NEVER, PHASE_EXITS },
};

bool
phase_permits(const struct session *s, unsigned bits)
{
	return (phases[s->phase].permits & bits) != 0;
}

bool
gate_is_open(const struct session *s)
{
	return phase_permits(s, PHASE_SENDS);
}

enum lateness
session_lateness(const struct session *s)
{
	return phases[s->phase].late;
}

const char *
session_phase_name(const struct session *s)
{
	return phases[s->phase].name;
}

void
session_phase(struct session *s, enum phase phase, int64_t deadline)
{
	if (!gate_is_open(s) && (phases[phase].permits & PHASE_SENDS) != 0)
		s->gate_at = s->now;
	if (phase != s->phase)
		session_log(s, LEVEL_DEBUG, "session: %s -> %s",
		    phases[s->phase].name, phases[phase].name);
	s->phase = phase;
	alarm_set(&s->alarms, ALARM_PHASE, deadline);
	if (!phase_permits(s, PHASE_WORKS)) {
		alarm_set(&s->alarms, ALARM_TELL, ALARM_NEVER);
		alarm_set(&s->alarms, ALARM_SAY, ALARM_NEVER);
	}
}
