/*
 * The session has opened for a modern client, or not in time: the requests that
 * waited for it are dispatched or answered.
 */
#include "config.h"

#include "core/modern_client/parts.h"

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
