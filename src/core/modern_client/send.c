/*
 * Sends a request of a modern client to the session. To a modern server it goes
 * unchanged. To a legacy server it goes translated and under a new id, because
 * the client may use its id again while the first request is parked.
 */
#include "config.h"

#include "core/modern_client/parts.h"

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
most_verbose(const struct client *c)
{
	int level = 0;

	while (level < ERA_LEVELS && c->levels[level] == 0)
		level++;
	return level;
}

/* One setLevel is sent at a time, as two may arrive in either order. */
void
client_level_sync(struct client *c)
{
	int level = most_verbose(c);
	char *params;

	if (!c->logs || c->setting != NULL || level == ERA_LEVELS ||
	    level == c->level)
		return;
	params = xasprintf("{\"level\":\"%s\"}", era_levels[level]);
	c->setting = client_send_own(c, REQUEST_LEVEL, "logging/setLevel",
	    span_of(params));
	free(params);
	c->level = level;
	alarm_set(&c->alarms, ALARM_LEVEL, c->now + BOUND_SHORT_MS);
}

static void
send_bridged(struct client *c, struct request *r)
{
	struct frame *legacy = era_request_to_legacy(r->frame);

	client_move(c, r,
	    era_may_ask(r->frame->method) ? &c->asking : &c->running);
	client_send_as(c, r, msg_with_id(legacy, span_of(own_id_new(&c->ids))));
	frame_unref(legacy);
}

void
client_level_settled(struct client *c)
{
	c->setting = NULL;
	alarm_set(&c->alarms, ALARM_LEVEL, ALARM_NEVER);
	if (c->waiting.n > 0 && most_verbose(c) < c->level)
		client_level_sync(c);
	while (c->setting == NULL && c->waiting.first != NULL)
		send_bridged(c, c->waiting.first);
}

/* --- to a legacy server --- */

static struct frame *
legacy_discover_answer(const struct client *c, const struct frame *f)
{
	struct frame *answer;
	struct buf result;

	buf_init(&result, 0);
	era_discover_result(&result, c->initialized->result);
	answer = msg_result(f->id, buf_str(&result));
	buf_free(&result);
	return answer;
}

static void
send_call(struct client *c, struct frame *f)
{
	struct request *r;
	int level = client_wanted_level(f);

	if (c->logs && level >= 0 && client_is_full(c, f)) {
		client_fail(c, f, FAULT_HELD_FULL);
		return;
	}
	r = client_add(c, f, &c->running);
	r->kind = REQUEST_BRIDGED;
	client_want_level(c, r, level);
	if (level >= 0)
		client_level_sync(c);
	if (level >= 0 && c->setting != NULL)
		client_move(c, r, &c->waiting);
	else
		send_bridged(c, r);
}

void
client_bridge(struct client *c, struct frame *f)
{
	struct request *r;

	if (client_is_discover(f)) {
		client_write(c, legacy_discover_answer(c, f));
	} else if (!client_is_listen(f) && era_to_legacy(f) != ERA_BOTH) {
		client_fail(c, f, FAULT_NOT_TRANSLATED);
	} else if (client_outgrown(c, f)) {
		client_log(c, LEVEL_INFO,
		    "the client can answer more kinds of questions than "
		    "before: opening a new session");
		client_listens_lost(c);
		client_open(c, f);
		client_hold(c, f);
	} else if (client_is_listen(f)) {
		r = client_add(c, f, &c->running);
		r->kind = REQUEST_LISTEN;
		client_listen(c, r);
	} else {
		send_call(c, f);
	}
}

/* --- to a modern server --- */

/* Listens are limited, as each holds a connection and a place among the calls
 * in flight. */
void
client_send_native(struct client *c, struct frame *f)
{
	bool probe = client_is_discover(f);
	struct request *r;

	if ((probe && c->probes.n >= BOUND_FEW) ||
	    (client_is_listen(f) && c->listening_here >= BOUND_FEW)) {
		client_fail(c, f, FAULT_HELD_FULL);
		return;
	}
	r = client_add(c, f, probe ? &c->probes : &c->running);
	r->kind = REQUEST_NATIVE;
	if (probe)
		r->at = c->now + BOUND_DISCOVER_MS;
	client_send_as(c, r, frame_ref(f));
}
