/* One-way messages: notifications of the client, and its answers to questions of
 * the server. */
#include "config.h"

#include "core/session/parts.h"

const char *
session_one_way_name(const struct attempt *a)
{
	if (a->body->kind != FRAME_NOTIFICATION)
		return "an answer from the client";
	return json_key_is(a->body->method, "notifications/cancelled") ?
	    "a cancel" :
	    "a notification";
}

struct attempt *
session_send_one_way(struct session *s, struct frame *f)
{
	struct attempt *a = calls_attempt(&s->calls, ATTEMPT_ONE_WAY, NULL, f,
	    s->generation);

	session_start(s, a);
	return a;
}
