/*
 * Sends a request of a modern client to the session. To a modern server it goes
 * unchanged. To a legacy server it goes translated and under a new id, because
 * the client may use its id again while the first request is parked.
 */
#include "config.h"

#include "core/client/parts.h"

#include <stdlib.h>

/* --- the level of log messages --- */

int
client_wanted_level(const struct frame *f)
{
	return era_level(era_meta(f, META_LEVEL));
}

/* Returns the most verbose level that a request wants; ERA_LEVELS: none wants
 * log messages. */
static int
most_verbose(const struct client *e)
{
	int level = 0;

	while (level < ERA_LEVELS && e->levels[level] == 0)
		level++;
	return level;
}

/* One setLevel is sent at a time, as two may arrive in either order. */
void
client_level_sync(struct client *e)
{
	int level = most_verbose(e);
	char *params;

	if (!e->logs || e->setting != NULL || level == ERA_LEVELS ||
	    level == e->level)
		return;
	params = xasprintf("{\"level\":\"%s\"}", era_levels[level]);
	e->setting = client_send_own(e, REQUEST_LEVEL, "logging/setLevel",
	    span_of(params));
	free(params);
	e->level = level;
	alarm_set(&e->alarms, ALARM_LEVEL, e->now + BOUND_LEVEL_MS);
}

static void
send_bridged(struct client *e, struct request *r)
{
	struct frame *legacy = era_request_to_legacy(r->frame);

	client_move(e, r,
	    era_may_ask(r->frame->method) ? &e->asking : &e->running);
	client_send_as(e, r, msg_with_id(legacy, span_of(client_id(e))));
	frame_unref(legacy);
}

void
client_level_settled(struct client *e)
{
	e->setting = NULL;
	alarm_set(&e->alarms, ALARM_LEVEL, ALARM_NEVER);
	if (e->waiting.n > 0 && most_verbose(e) < e->level)
		client_level_sync(e);
	while (e->setting == NULL && e->waiting.first != NULL)
		send_bridged(e, e->waiting.first);
}

/* --- to a legacy server --- */

static struct frame *
legacy_discover_answer(const struct client *e, const struct frame *f)
{
	struct frame *answer;
	struct buf result;

	buf_init(&result, 0);
	era_discover_result(&result, e->initialized->result);
	answer = msg_result(f->id, buf_str(&result));
	buf_free(&result);
	return answer;
}

static void
send_call(struct client *e, struct frame *f)
{
	struct request *r;
	int level = client_wanted_level(f);

	if (e->logs && level >= 0 && client_is_full(e, f)) {
		client_fail(e, f, FAULT_HELD_FULL);
		return;
	}
	r = client_add(e, f, &e->running);
	r->kind = REQUEST_BRIDGED;
	client_want_level(e, r, level);
	if (level >= 0)
		client_level_sync(e);
	if (level >= 0 && e->setting != NULL)
		client_move(e, r, &e->waiting);
	else
		send_bridged(e, r);
}

void
client_bridge(struct client *e, struct frame *f)
{
	struct request *r;

	if (client_is_discover(f)) {
		client_write(e, legacy_discover_answer(e, f));
	} else if (!client_is_listen(f) && era_to_legacy(f) != ERA_BOTH) {
		client_fail(e, f, FAULT_NOT_TRANSLATED);
	} else if (client_outgrown(e, f)) {
		client_log(e, LEVEL_INFO,
		    "the client can answer more kinds of questions than "
		    "before: a new session is opened");
		client_listens_lost(e);
		client_open(e, f);
		client_hold(e, f);
	} else if (client_is_listen(f)) {
		r = client_add(e, f, &e->running);
		r->kind = REQUEST_LISTEN;
		client_listen(e, r);
	} else {
		send_call(e, f);
	}
}

/* --- to a modern server --- */

/* Listens are limited, as each holds a connection and a place among the calls
 * in flight. */
void
client_send_native(struct client *e, struct frame *f)
{
	bool probe = client_is_discover(f);
	struct request *r;

	if ((probe && e->probes.n >= BOUND_PROBES) ||
	    (client_is_listen(f) && e->listening_here >= BOUND_LISTENS)) {
		client_fail(e, f, FAULT_HELD_FULL);
		return;
	}
	r = client_add(e, f, probe ? &e->probes : &e->running);
	r->kind = REQUEST_NATIVE;
	if (probe)
		r->at = e->now + BOUND_DISCOVER_MS;
	client_send_as(e, r, frame_ref(f));
}
