/*
 * Steps the reducer: gives each input to the function that handles it, keeps
 * the time of the next tick, and describes the state.
 */
#include "config.h"

#include "core/modern_client/parts.h"

#include <stdlib.h>

struct client *
client_new(const struct client_config *config, const struct stage *stage)
{
	struct client *c = xcalloc(1, sizeof *c);

	c->config = *config;
	c->stage = stage;
	c->level = -1;
	alarm_init(&c->alarms);
	own_ids_init(&c->ids, OWN_ID_CLIENT, config->prefix);
	buf_init(&c->server_info, 0);
	return c;
}

void
client_free(struct client *c)
{
	if (c == NULL)
		return;
	client_listen_free(c);
	client_table_free(c);
	events_free(&c->events);
	frame_unref(c->fitted);
	frame_unref(c->initialized);
	own_ids_free(&c->ids);
	buf_free(&c->server_info);
	free(c);
}

/* --- time --- */

int64_t
client_deadline(const struct client *c)
{
	return c->alarms.soonest;
}

/* All requests of q wait equally long, so the first one is due first. */
static void
note_queue(struct client *c, const struct request_queue *q)
{
	if (q->first != NULL)
		alarm_note(&c->alarms, q->first->at);
}

/* Computes the deadline at the end of a step. It must be exact: the reducer
 * asks for no tick without need. */
static void
note_times(struct client *c)
{
	alarm_recount(&c->alarms);
	note_queue(c, &c->probes);
	note_queue(c, &c->collecting);
	note_queue(c, &c->parked);
	alarm_note(&c->alarms, client_listen_due(c));
}

static void
tick(struct client *c)
{
	if (alarm_is_due(&c->alarms, ALARM_LEVEL, c->now))
		client_level_settled(c);
	client_probes_tick(c);
	client_park_tick(c);
	client_listen_tick(c);
}

/* --- inputs --- */

uint64_t
client_wants(const struct client *c)
{
	static const uint64_t legacy = EVENT_BIT(INPUT_CLIENT) |
	    EVENT_BIT(INPUT_TICK);
	static const uint64_t modern = EVENT_BIT(INPUT_EOF) |
	    EVENT_BIT(INPUT_STOP) | EVENT_BIT(EVENT_LISTENS) |
	    EVENT_BIT(ACTION_WRITE) | EVENT_BIT(ACTION_SEND) |
	    EVENT_BIT(ACTION_LOAD_START) | EVENT_BIT(ACTION_SAVE_START);

	return client_is_legacy(c) ? legacy : legacy | modern;
}

/* Tells whether this event is for the reducer. */
static bool
concerns(const struct client *c, const struct event *in)
{
	switch (in->kind) {
	case INPUT_CLIENT:
		return !client_passes(c, in->frame);
	case ACTION_SEND:
	case ACTION_LOAD_START:
	case ACTION_SAVE_START:
		return false;
	default:
		return (client_wants(c) & EVENT_BIT(in->kind)) != 0;
	}
}

/* What a modern client said goes out as the server takes it now, whatever the
 * server was when the client said it. And tools look different to a modern
 * client: a start of its is cached for another one of its kind. */
static void
adapt(struct client *c, struct event *out)
{
	bool modern = c->stage->discovered != NULL;

	if (out->kind == ACTION_LOAD_START || out->kind == ACTION_SAVE_START)
		out->version = span_of("\"" REVISION_MODERN "\"");
	if (out->kind != ACTION_SEND || out->order->body == NULL)
		return;
	frame_unref(c->fitted);
	c->fitted = client_fit(c, out->related, out->order->body, modern);
	if (c->fitted != NULL)
		out->order->body = c->fitted;
}

/* Takes over what the neighbours are now. */
static void
look(struct client *c)
{
	const struct stage *now = c->stage;

	c->discovered = now->discovered;
	c->shared = now->shared;
	/* The session was renewed, perhaps with another server. */
	if (c->opening == OPENING_DONE && now->initialized != NULL &&
	    now->initialized != c->initialized)
		client_learn(c, now->initialized);
	if (now->listening == c->listening && c->discovered == NULL)
		return;
	c->listening = now->listening;
	if (c->discovered != NULL)
		client_hand_over(c);
	else
		client_listening_changed(c);
}

bool
client_step(struct client *c, struct event *in)
{
	if (!concerns(c, in)) {
		if (!client_is_legacy(c))
			adapt(c, in);
		return false;
	}
	c->now = in->now;
	c->secret[0] = in->secret[0];
	c->secret[1] = in->secret[1];
	look(c);
	switch (in->kind) {
	case INPUT_CLIENT:
		client_from_client(c, in->frame);
		break;
	case ACTION_WRITE:
		client_from_session(c, in);
		break;
	case INPUT_EOF:
	case INPUT_STOP:
		client_eof(c);
		break;
	case INPUT_TICK:
		tick(c);
		break;
	default:
		break; /* EVENT_LISTENS: look() has seen it */
	}
	c->discovered = NULL;
	note_times(c);
	client_sane(c);
	return true;
}

/* --- the state --- */

bool
client_holds(const struct client *c)
{
	return c->opening == OPENING_RUNS || c->held.n + c->waiting.n > 0;
}

void
client_describe(const struct client *c, struct buf *out)
{
	if (!c->modern)
		return;
	buf_addf(out, "client: protocol %s, %zu requests held back\n",
	    REVISION_MODERN, c->held.n + c->waiting.n);
	if (c->n_listens > 0)
		buf_addf(out, "client: %zu listens, %zu resources watched\n",
		    c->n_listens, c->n_uris);
	if (c->parked.n > 0)
		buf_addf(out,
		    "client: %zu requests parked until its user answered\n",
		    c->parked.n);
}
