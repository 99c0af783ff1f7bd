/*
 * This file keeps one call at a modern server: it sends the call, sends it
 * again, and lets its exchange go. It makes the session renew if the answer is
 * one that no modern server gives.
 */
#include "config.h"

#include "core/server/parts.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/era/mirror.h"
#include "core/exchange/backoff.h"

void
server_call_send(struct server *e, struct server_order *o)
{
	struct buf name;

	o->again_at = ALARM_NEVER;
	buf_init(&name, 0);
	if (mirror_unfit(e->mirror, o->sent, &name))
		server_order_fail(e, o, FAULT_ARGUMENT_UNFIT,
		    &(struct fault_args){ .why = buf_span(&name) });
	else
		server_attempt_new_modern(e, FOR_CALL, o, o->sent);
	buf_free(&name);
}

void
server_call_let_go(struct server *e, struct server_attempt *i)
{
	struct server_attempt *other, *oldest = i;
	size_t n = 0;

	i->order = NULL;
	i->end_at = e->now + BOUND_LINGER_MS;
	for (other = e->attempts; other != NULL; other = other->next) {
		if (other->dropped || other->order != NULL ||
		    other->end_at == ALARM_NEVER)
			continue;
		n++;
		if (other->end_at <= oldest->end_at)
			oldest = other;
	}
	if (n > BOUND_LINGERING)
		server_attempt_end(e, oldest);
}

void
server_call_again(struct server *e, struct server_order *o)
{
	struct frame *again = msg_with_id(o->sent, span_of(server_own_id(e)));

	frame_unref(o->sent);
	o->sent = again;
	server_call_send(e, o);
}

bool
server_call_is_unsent(const struct facts *f)
{
	return !f->sent &&
	    (f->ending == ENDING_RESOLVE || f->ending == ENDING_CONNECT ||
		f->ending == ENDING_CUT);
}

bool
server_call_is_refused_for_now(const struct facts *f)
{
	return f->ending == ENDING_COMPLETE &&
	    (f->status == 429 || f->status == 503) && f->retry_after_ms >= 0 &&
	    f->retry_after_ms <= BOUND_RETRY_AFTER_MS;
}

bool
server_call_retry(struct server *e, struct server_order *o,
    const struct facts *f)
{
	/* After a 503 a tool may have run. */
	bool refused = server_call_is_refused_for_now(f) &&
	    (f->status == 429 || !server_order_is(o, "tools/call"));
	int64_t wait = backoff_retry(o->tries, e->random);

	if (o->rounds == 0 || o->former ||
	    (!refused && !server_call_is_unsent(f)))
		return false;
	if (refused && wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	if (o->window_end == ALARM_NEVER)
		o->window_end = e->now + BOUND_ROUND_MS;
	if (e->now + wait > o->window_end)
		return false;
	o->tries++;
	o->again_at = e->now + wait;
	server_log(e, LEVEL_INFO,
	    "the answers to the questions of %s are sent again in %lld ms",
	    e->config.host, (long long)wait);
	return true;
}

void
server_call_renew(struct server *e, struct server_order *o,
    struct server_attempt *i, const struct facts *f, bool unless_changed)
{
	struct facts gone = server_facts_gone(o->rounds > 0);

	server_log(e, LEVEL_INFO,
	    "%s answered %d, which no modern server does: its protocol is "
	    "detected again",
	    e->config.host, f->status);
	server_belief_doubt(e);
	server_call_let_go(e, i);
	gone.verb = o->verb;
	if (o->rounds == 0)
		gone.status = f->status;
	gone.ran_unless_changed = unless_changed && o->rounds == 0;
	server_order_tell_done(e, o, &gone);
}
