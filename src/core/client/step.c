/*
 * Steps the reducer: gives each input to the function that handles it, keeps
 * the time of the next tick, and describes the state.
 */
#include "config.h"

#include "core/client/client.h"

#include <stdlib.h>

#include "core/client/act.h"
#include "core/client/from_client.h"
#include "core/client/from_session.h"
#include "core/client/hello.h"
#include "core/client/listen.h"
#include "core/client/opening.h"
#include "core/client/park.h"
#include "core/client/request.h"
#include "core/client/sane.h"
#include "core/client/send.h"
#include "core/client/state.h"
#include "core/client/table.h"

struct client *
client_new(const struct client_config *config)
{
	struct client *e = xcalloc(1, sizeof *e);

	e->config = *config;
	e->level = -1;
	alarm_init(&e->alarms);
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
	client_actions_free(e);
	frame_unref(e->initialized);
	buf_free(&e->server_info);
	free(e);
}

/* --- time --- */

int64_t
client_deadline(const struct client *e)
{
	int64_t at = e->alarms.soonest;

	return at == ALARM_NEVER ? -1 : at;
}

/* All requests of q wait equally long, so the first one is due first. */
static void
note_queue(struct client *e, const struct queue *q)
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

void
client_step(struct client *e, const struct client_input *in)
{
	e->now = in->now;
	e->secret[0] = in->secret[0];
	e->secret[1] = in->secret[1];
	e->discovered = in->discovered;
	e->shared = in->shared;
	/* The session was renewed, perhaps with another server. */
	if (e->opening == OPENING_DONE && in->initialized != NULL &&
	    in->initialized != e->initialized)
		client_learn(e, in->initialized);
	if (in->listening != e->listening) {
		e->listening = in->listening;
		if (e->discovered != NULL)
			client_hand_over(e);
		else
			client_listening_changed(e);
	}
	switch (in->kind) {
	case CLIENT_CLIENT:
		client_from_client(e, in->frame);
		break;
	case CLIENT_SESSION:
		client_from_session(e, in);
		break;
	case CLIENT_EOF:
		client_eof(e);
		break;
	case CLIENT_TICK:
		tick(e);
		break;
	case CLIENT_LISTENS:
		break; /* seen above */
	}
	e->discovered = NULL;
	note_times(e);
	client_sane(e);
}

/* --- the state --- */

bool
client_is_legacy(const struct client *e)
{
	return e->legacy && e->strays == 0;
}

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
