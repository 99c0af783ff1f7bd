/*
 * Ends the wait for a session: dispatches or answers the requests that waited
 * when the session has opened, when opening takes too long, or when the client
 * begins another session.
 */
#include "config.h"

#include "core/client/parts.h"

/* --- opening --- */

/* The session may have a probe that went out as it came, to a server that was a
 * modern one then: its answer would be the second one. */
static void
take_back(struct client *e, const struct request *r)
{
	if (r->at_session)
		client_cancel(e, r, "answered otherwise");
}

/* Answers each request of q with this error. */
static void
fail_all(struct client *e, struct request_queue *q, struct frame *error)
{
	while (q->first != NULL) {
		take_back(e, q->first);
		client_write(e, fault_pass_on(error, q->first->frame));
		client_drop(e, q->first);
	}
}

static void
flush(struct client *e)
{
	while (e->probes.first != NULL) {
		take_back(e, e->probes.first);
		client_dispatch(e, e->probes.first);
	}
	while (e->opening == OPENING_DONE && e->held.first != NULL)
		client_dispatch(e, e->held.first);
}

void
client_opened(struct client *e, struct request *r, struct frame *answer)
{
	client_drop(e, r);
	if (answer->kind != FRAME_RESULT) {
		e->opening = OPENING_SHUT;
		fail_all(e, &e->probes, answer);
		fail_all(e, &e->held, answer);
		return;
	}
	e->opening = OPENING_DONE;
	client_learn(e, answer);
	client_log(e, LEVEL_INFO,
	    e->discovered != NULL ?
		"%s speaks " REVISION_MODERN ", as the client does" :
		"%s speaks an older protocol than the client: messages are "
		"translated",
	    e->config.host);
	client_send(e, msg_call(no_span, "notifications/initialized", no_span));
	flush(e);
}

/* --- probes --- */

/* A client gives up on a probe after 5 s, so BOUND_DISCOVER_MS is less than
 * that. */
void
client_probes_tick(struct client *e)
{
	struct request *r;

	while ((r = e->probes.first) != NULL && r->at <= e->now) {
		if (r->sent != NULL)
			client_cancel(e, r, "too late");
		client_write(e,
		    e->discovered != NULL ?
			client_discover_answer(e->discovered, r->frame->id) :
			client_fault(e, r->frame, FAULT_PROBE_SLOW));
		client_drop(e, r);
	}
}

/* --- another session --- */

static void
begun_again(struct client *e, struct request_queue *q)
{
	while (q->first != NULL) {
		if (q->first->sent == NULL)
			client_fail(e, q->first->frame, FAULT_BEGUN_AGAIN);
		client_drop(e, q->first);
	}
}

/* Leaves the requests of q to the session, which ends them when it gets the
 * initialize to come. Of the requests that the session has, those sent as they
 * came are dropped here: the session answers them under the ids of the client.
 * The others stay in `running` until the session has answered. */
static void
leave_to_session(struct client *e, struct request_queue *q)
{
	struct request *r, *next;

	for (r = q->first; r != NULL; r = next) {
		next = r->next;
		client_want_level(e, r, -1);
		if (!r->at_session ||
		    (r->sent == r->frame && q != &e->parked)) {
			client_drop(e, r);
			continue;
		}
		client_set_kind(e, r,
		    r->frame != NULL && q != &e->parked ? REQUEST_BRIDGED :
							  REQUEST_STRAY);
		if (q != &e->running)
			client_move(e, r, &e->running);
	}
}

static void
end_modern(struct client *e)
{
	begun_again(e, &e->probes);
	begun_again(e, &e->held);
	begun_again(e, &e->waiting);
	client_listens_lost(e);
	client_listen_free(e);
	leave_to_session(e, &e->running);
	leave_to_session(e, &e->asking);
	leave_to_session(e, &e->collecting);
	leave_to_session(e, &e->parked);
	e->setting = NULL;
	alarm_set(&e->alarms, ALARM_LEVEL, ALARM_NEVER);
	e->opening = OPENING_SHUT;
	client_log(e, LEVEL_INFO, "the client falls back to \"initialize\"");
}

void
client_become_legacy(struct client *e, struct frame *f)
{
	if (e->modern)
		end_modern(e);
	e->modern = false;
	e->legacy = true;
	client_probe(e, NULL);
	client_send(e, frame_ref(f));
}
