/*
 * Steps the reducer: gives each input to the function that handles it, keeps
 * the time of the next tick, and describes the state.
 */
#include "config.h"

#include "core/client/parts.h"

#include <stdlib.h>

struct client *
client_new(const struct client_config *config, const struct stage *stage)
{
	struct client *e = xcalloc(1, sizeof *e);

	e->config = *config;
	e->stage = stage;
	e->level = -1;
	alarm_init(&e->alarms);
	buf_init(&e->own_id, 0);
	buf_init(&e->server_info, 0);
	return e;
}

void
client_free(struct client *e)
{
	if (e == NULL)
		return;
	client_listen_free(e);
	client_table_free(e);
	events_free(&e->events);
	frame_unref(e->fitted);
	frame_unref(e->initialized);
	buf_free(&e->own_id);
	buf_free(&e->server_info);
	free(e);
}

/* --- time --- */

int64_t
client_deadline(const struct client *e)
{
	return e->alarms.soonest;
}

/* All requests of q wait equally long, so the first one is due first. */
static void
note_queue(struct client *e, const struct request_queue *q)
{
	if (q->first != NULL)
		alarm_note(&e->alarms, q->first->at);
}

/* Computes the deadline at the end of a step. It must be exact: the reducer
 * asks for no tick without need. */
static void
note_times(struct client *e)
{
	alarm_recount(&e->alarms);
	note_queue(e, &e->probes);
	note_queue(e, &e->collecting);
	note_queue(e, &e->parked);
	alarm_note(&e->alarms, client_listen_due(e));
}

static void
tick(struct client *e)
{
	if (alarm_is_due(&e->alarms, ALARM_LEVEL, e->now))
		client_level_settled(e);
	client_probes_tick(e);
	client_park_tick(e);
	client_listen_tick(e);
}

/* --- inputs --- */

uint64_t
client_wants(const struct client *e)
{
	static const uint64_t legacy = EVENT_BIT(INPUT_CLIENT) |
	    EVENT_BIT(INPUT_TICK);
	static const uint64_t modern = EVENT_BIT(INPUT_EOF) |
	    EVENT_BIT(INPUT_STOP) | EVENT_BIT(EVENT_LISTENS) |
	    EVENT_BIT(ACTION_WRITE) | EVENT_BIT(ACTION_SEND) |
	    EVENT_BIT(ACTION_LOAD_START) | EVENT_BIT(ACTION_SAVE_START);

	return client_is_legacy(e) ? legacy : legacy | modern;
}

/* Tells whether this event is for the reducer. */
static bool
concerns(const struct client *e, const struct event *in)
{
	switch (in->kind) {
	case INPUT_CLIENT:
		return !client_passes(e, in->frame);
	case ACTION_SEND:
	case ACTION_LOAD_START:
	case ACTION_SAVE_START:
		return false;
	default:
		return (client_wants(e) & EVENT_BIT(in->kind)) != 0;
	}
}

/* What a modern client said goes out as the server takes it now, whatever the
 * server was when the client said it. And tools look different to a modern
 * client: a start of its is cached for another one of its kind. */
static void
adapt(struct client *e, struct event *out)
{
	bool modern = e->stage->discovered != NULL;

	if (out->kind == ACTION_LOAD_START || out->kind == ACTION_SAVE_START)
		out->version = span_of("\"" REVISION_MODERN "\"");
	if (out->kind != ACTION_SEND || out->order->body == NULL)
		return;
	frame_unref(e->fitted);
	e->fitted = client_fit(e, out->related, out->order->body, modern);
	if (e->fitted != NULL)
		out->order->body = e->fitted;
}

/* Takes over what the neighbours are now. */
static void
look(struct client *e)
{
	const struct stage *now = e->stage;

	e->discovered = now->discovered;
	e->shared = now->shared;
	/* The session was renewed, perhaps with another server. */
	if (e->opening == OPENING_DONE && now->initialized != NULL &&
	    now->initialized != e->initialized)
		client_learn(e, now->initialized);
	if (now->listening == e->listening)
		return;
	e->listening = now->listening;
	if (e->discovered != NULL)
		client_hand_over(e);
	else
		client_listening_changed(e);
}

bool
client_step(struct client *e, struct event *in)
{
	if (!concerns(e, in)) {
		if (!client_is_legacy(e))
			adapt(e, in);
		return false;
	}
	e->now = in->now;
	e->secret[0] = in->secret[0];
	e->secret[1] = in->secret[1];
	look(e);
	switch (in->kind) {
	case INPUT_CLIENT:
		client_from_client(e, in->frame);
		break;
	case ACTION_WRITE:
		client_from_session(e, in);
		break;
	case INPUT_EOF:
	case INPUT_STOP:
		client_eof(e);
		break;
	case INPUT_TICK:
		tick(e);
		break;
	default:
		break; /* EVENT_LISTENS: look() has seen it */
	}
	e->discovered = NULL;
	note_times(e);
	client_sane(e);
	return true;
}

/* --- the state --- */

bool
client_holds(const struct client *e)
{
	return e->opening == OPENING_RUNS || e->held.n + e->waiting.n > 0;
}

void
client_describe(const struct client *e, struct buf *out)
{
	if (!e->modern)
		return;
	buf_addf(out, "client: protocol %s, %zu requests held back\n",
	    REVISION_MODERN, e->held.n + e->waiting.n);
	if (e->n_listens > 0)
		buf_addf(out, "client: %zu listens, %zu resources watched\n",
		    e->n_listens, e->n_uris);
	if (e->parked.n > 0)
		buf_addf(out,
		    "client: %zu requests parked until its user answered\n",
		    e->parked.n);
}
