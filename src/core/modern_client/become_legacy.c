/*
 * The client began as a modern one and sends initialize: what it asked before is
 * answered here, or left to the session.
 */
#include "config.h"

#include "core/modern_client/parts.h"

static void
begun_again(struct client *c, struct request_queue *q)
{
	while (q->first != NULL) {
		if (q->first->sent == NULL)
			client_fail(c, q->first->frame, FAULT_BEGUN_AGAIN);
		client_drop(c, q->first);
	}
}

/* Leaves the requests of q to the session, which ends them when it gets the
 * initialize to come. Of the requests that the session has, those sent as they
 * came are dropped here: the session answers them under the ids of the client.
 * The others stay in `running` until the session has answered. */
static void
leave_to_session(struct client *c, struct request_queue *q)
{
	struct request *r, *next;

	for (r = q->first; r != NULL; r = next) {
		next = r->next;
		client_want_level(c, r, -1);
		if (!r->at_session ||
		    (r->sent == r->frame && q != &c->parked)) {
			client_drop(c, r);
			continue;
		}
		client_set_kind(c, r,
		    r->frame != NULL && q != &c->parked ? REQUEST_BRIDGED :
							  REQUEST_STRAY);
		if (q != &c->running)
			client_move(c, r, &c->running);
	}
}

static void
end_modern(struct client *c)
{
	begun_again(c, &c->probes);
	begun_again(c, &c->held);
	begun_again(c, &c->waiting);
	client_listens_lost(c);
	client_listen_free(c);
	leave_to_session(c, &c->running);
	leave_to_session(c, &c->asking);
	leave_to_session(c, &c->collecting);
	leave_to_session(c, &c->parked);
	c->setting = NULL;
	alarm_set(&c->alarms, ALARM_LEVEL, ALARM_NEVER);
	c->opening = OPENING_SHUT;
	client_log(c, LEVEL_INFO, "the client falls back to \"initialize\"");
}

void
client_become_legacy(struct client *c, struct frame *f)
{
	if (c->modern)
		end_modern(c);
	c->modern = false;
	c->legacy = true;
	client_probe(c, NULL);
	client_send(c, frame_ref(f));
}
