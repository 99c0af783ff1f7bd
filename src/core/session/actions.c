/* Actions for the caller of session_next: what is logged, and the session that
 * is noted on disk. */
#include "config.h"

#include "core/session/parts.h"

void
session_log(struct session *s, enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	events_log(&s->events, level, fmt, ap);
	va_end(ap);
}

bool
session_may_say(const struct session *s, int64_t *say_at, int64_t pause)
{
	if (s->now < *say_at)
		return false;
	*say_at = s->now + pause;
	return true;
}

void
session_save(struct session *s, struct generation *g)
{
	struct event e = { .kind = ACTION_SAVE_SESSION };

	if (g != NULL) {
		e.session = span_of(g->session);
		e.version = span_of(g->version);
	}
	events_add(&s->events, &e);
}
