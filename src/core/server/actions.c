/* What is logged, and what the session hears of a sign-in. */
#include "config.h"

#include "core/server/parts.h"

void
server_log(struct server *s, enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	events_log(&s->events, level, fmt, ap);
	va_end(ap);
}

void
server_tell_user(struct server *s, struct server_order *o, const char *text)
{
	o->waits_for_user = text != NULL;
	events_add(&s->events,
	    &(struct event){
		.kind = INPUT_SIGN_IN, .ticket = o->ticket, .text = text });
}
