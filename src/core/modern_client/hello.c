/*
 * Ends the wait for a session: dispatches or answers the requests that waited
 * when the session has opened, when opening takes too long, or when the client
 * begins another session.
 */
#include "config.h"

#include "core/modern_client/parts.h"

/* --- opening --- */

/* The session may have a probe that went out as it came, to a server that was a
 * modern one then: its answer would be the second one. */
static void
take_back(struct client *c, const struct request *r)
{
	if (r->at_session)
		client_cancel(c, r, "answered otherwise");
}

/* Answers each request of q with this error. */
static void
fail_all(struct client *c, struct request_queue *q, struct frame *error)
{
	while (q->first != NULL) {
		take_back(c, q->first);
		client_write(c, fault_pass_on(error, q->first->frame));
		client_drop(c, q->first);
	}
}

static void
flush(struct client *c)
{
	while (c->probes.first != NULL) {
		take_back(c, c->probes.first);
		client_dispatch(c, c->probes.first);
	}
	while (c->opening == OPENING_DONE && c->held.first != NULL)
		client_dispatch(c, c->held.first);
}

void
client_opened(struct client *c, struct request *r, struct frame *answer)
{
	client_drop(c, r);
	if (answer->kind != FRAME_RESULT) {
		c->opening = OPENING_SHUT;
		fail_all(c, &c->probes, answer);
		fail_all(c, &c->held, answer);
		return;
	}
	c->opening = OPENING_DONE;
	client_learn(c, answer);
	client_log(c, LEVEL_INFO,
	    c->discovered != NULL ?
		"%s speaks " REVISION_MODERN ", as the client does" :
		"%s speaks an older protocol than the client: messages are "
		"translated",
	    c->config.host);
	client_send(c, msg_call(no_span, "notifications/initialized", no_span));
	flush(c);
}

/* --- probes --- */

/* A client gives up on a probe after 5 s, so BOUND_DISCOVER_MS is less than
 * that. */
void
client_probes_tick(struct client *c)
{
	struct request *r;

	while ((r = c->probes.first) != NULL && r->at <= c->now) {
		if (r->sent != NULL)
			client_cancel(c, r, "too late");
		client_write(c,
		    c->discovered != NULL ?
			client_discover_answer(c->discovered, r->frame->id) :
			client_fault(c, r->frame, FAULT_PROBE_SLOW));
		client_drop(c, r);
	}
}

/* --- another session --- */

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
