/*
 * Checks the whole state at the end of a step, in a build that was configured
 * with --enable-debug or --enable-sanitizers.
 */
#include "config.h"

#include "core/modern_client/parts.h"

#ifdef MCPSPLICE_SANE

#undef NDEBUG
#include <assert.h>

/* The counts of a walk through all requests. */
struct census {
	size_t held_bytes, parked_bytes, strays, client_waits, at_session;
	size_t by_token, listening_here;
	size_t levels[ERA_LEVELS];
	size_t kinds[REQUEST_STRAY + 1];
	size_t settings; /* requests that e->setting points to: 0 or 1 */
};

/* --- requests --- */

static bool
is_in_table(const struct hash *t, const struct hash_entry *entry,
    struct span id)
{
	const struct hash_entry *at = hash_first(t, msg_id_hash(id));

	while (at != NULL && at != entry)
		at = hash_next(at);
	return at != NULL;
}

static void
check_ids(const struct client *c, const struct request *r)
{
	assert(!r->client_waits || r->frame != NULL);
	assert(!r->at_session || r->sent != NULL);
	if (r->client_waits)
		assert(is_in_table(&c->by_id, &r->by_id, r->frame->id));
	if (r->at_session)
		assert(is_in_table(&c->by_sent, &r->by_sent, r->sent->id));
	if (r->by_token_added)
		assert(r->at_session && r->in != &c->parked &&
		    is_in_table(&c->by_token, &r->by_token, r->sent->token));
}

static void
check_time(const struct client *c, const struct request *r)
{
	if (r->in != &c->probes && r->in != &c->collecting &&
	    r->in != &c->parked) {
		assert(r->at == ALARM_NEVER);
		return;
	}
	assert(r->at != ALARM_NEVER);
	assert(r->next == NULL || r->at <= r->next->at);
	assert(c->alarms.soonest <= r->at);
}

static void
check_running(const struct request *r)
{
	bool own = r->kind == REQUEST_OPEN || r->kind == REQUEST_LEVEL ||
	    r->kind == REQUEST_SUBSCRIBE || r->kind == REQUEST_UNSUBSCRIBE;

	assert(r->kind != REQUEST_NEW);
	assert(r->at_session == (r->kind != REQUEST_LISTEN));
	if (r->kind == REQUEST_STRAY)
		assert(!r->client_waits);
	else
		assert(own ? r->frame == NULL : r->client_waits);
	if (r->kind == REQUEST_SUBSCRIBE)
		assert(r->uri->state == URI_SUBSCRIBING);
	if (r->kind == REQUEST_UNSUBSCRIBE)
		assert(r->uri->state == URI_UNSUBSCRIBING);
}

static void
check_parked(const struct request *r)
{
	assert(r->kind == REQUEST_BRIDGED && !r->client_waits);
	assert(strlen(r->state) == sizeof r->state - 1);
	assert(r->level < 0);
	assert(r->at_session + r->again + (r->final != NULL) == 1);
}

/* Are the kind and the state of r right for its queue? */
static void
check_place(const struct client *c, const struct request *r)
{
	if (r->in == &c->running) {
		check_running(r);
	} else if (r->in == &c->parked) {
		check_parked(r);
	} else if (r->in == &c->probes && r->kind == REQUEST_NATIVE) {
		assert(r->client_waits && r->at_session);
	} else if (r->in == &c->held || r->in == &c->probes) {
		assert(r->kind == REQUEST_NEW && r->client_waits);
		assert(r->sent == NULL && c->opening == OPENING_RUNS);
	} else {
		assert(r->kind == REQUEST_BRIDGED && r->client_waits);
		assert(r->at_session == (r->in != &c->waiting));
	}
	if (r->in == &c->waiting)
		assert(r->level >= 0 && c->setting != NULL);
	if (r->in == &c->collecting)
		assert(client_count_questions(c, r) > 0);
}

static void
count_request(const struct client *c, const struct request *r,
    struct census *seen)
{
	seen->kinds[r->kind]++;
	seen->client_waits += r->client_waits;
	seen->at_session += r->at_session;
	seen->by_token += r->by_token_added;
	seen->listening_here += r->in == &c->running && r->frame != NULL &&
	    client_is_listen(r->frame);
	seen->strays += r->at_session && r->kind != REQUEST_NATIVE;
	seen->settings += r == c->setting;
	if (r->level >= 0)
		seen->levels[r->level]++;
	if (r->final != NULL)
		seen->parked_bytes += r->final->text.n;
	if (r->in == &c->held || r->in == &c->waiting)
		seen->held_bytes += client_size_of(r->frame);
}

static void
check_queue(const struct client *c, const struct request_queue *q,
    struct census *seen)
{
	const struct request *r, *prev = NULL;
	size_t n = 0;

	for (r = q->first; r != NULL; prev = r, r = r->next) {
		assert(r->in == q && r->prev == prev);
		check_ids(c, r);
		check_time(c, r);
		check_place(c, r);
		count_request(c, r, seen);
		n++;
	}
	assert(q->last == prev && q->n == n);
}

static void
check_census(const struct client *c, const struct census *seen)
{
	size_t i;

	assert(c->held_bytes == seen->held_bytes);
	assert(c->parked_bytes == seen->parked_bytes);
	assert(c->by_id.n == seen->client_waits);
	assert(c->by_sent.n == seen->at_session);
	assert(c->by_token.n == seen->by_token);
	assert(c->strays == seen->strays);
	assert(c->listening_here == seen->listening_here);
	for (i = 0; i < ERA_LEVELS; i++)
		assert(c->levels[i] == seen->levels[i]);
	assert(c->n_listens == seen->kinds[REQUEST_LISTEN]);
	assert((c->opening == OPENING_RUNS) == seen->kinds[REQUEST_OPEN]);
	assert((c->setting != NULL) == seen->settings);
	assert(c->setting == NULL || c->setting->kind == REQUEST_LEVEL);
	assert(alarm_is_set(&c->alarms, ALARM_LEVEL) == (c->setting != NULL));
}

/* --- questions --- */

static void
check_questions(const struct client *c)
{
	const struct question *q;
	const struct request *r;
	size_t bytes = 0;

	for (q = c->questions; q != NULL; q = q->next) {
		r = q->owner;
		assert(r->at_session && q->key <= r->asked);
		assert(c->legacy ?
			r->in == &c->running :
			r->in == &c->collecting || r->in == &c->parked);
		bytes += q->frame->text.n;
	}
	assert(bytes <= BOUND_ALL_BYTES);
	assert(c->parked.n + c->collecting.n <= BOUND_SOME);
}

/* --- listens and resources --- */

static void
check_listen(const struct client *c, const struct listen *l)
{
	size_t i, pending = 0, bytes = 0;

	assert(l->request->kind == REQUEST_LISTEN);
	for (i = 0; i < l->n_uris; i++)
		pending += l->uris[i]->state != URI_ON;
	for (i = 0; i < l->early.n; i++)
		bytes += frame_size(l->early.list[i]) + sizeof *l->early.list;
	assert(l->pending == pending && l->early.bytes == bytes);
	assert(l->acked == (l->ack_at == ALARM_NEVER));
	assert(c->alarms.soonest <= l->ack_at);
	if (l->acked)
		assert(pending == 0 && l->early.n == 0);
	else
		assert(c->listening != LISTENS_NOT &&
		    (pending > 0 || c->listening == LISTENS_PERHAPS));
}

/* Adds 1 to the refs of each resource of each listen (up), or subtracts 1. */
static void
change_refs(struct client *c, bool up)
{
	struct listen *l;
	size_t i;

	for (l = c->listens; l != NULL; l = l->next)
		for (i = 0; i < l->n_uris; i++)
			l->uris[i]->refs += up ? 1u : -1u;
}

/* After EOF the reducer does not end subscriptions, and drops the requests for
 * them. */
static void
check_uris(struct client *c, const struct census *seen)
{
	const struct watched *u;
	size_t n = 0, bytes = 0, subscribing = 0, unsubscribing = 0;

	for (u = c->uris; u != NULL; u = u->next) {
		assert(u->state != URI_NEW);
		assert(u->state != URI_ON || u->refs > 0 || c->ended);
		subscribing += u->state == URI_SUBSCRIBING;
		unsubscribing += u->state == URI_UNSUBSCRIBING;
		bytes += strlen(u->raw);
		n++;
	}
	assert(c->n_uris == n && n <= BOUND_LISTED);
	assert(c->uri_bytes == bytes && bytes <= BOUND_QUEUE_BYTES);
	if (!c->ended) {
		assert(subscribing == seen->kinds[REQUEST_SUBSCRIBE]);
		assert(unsubscribing == seen->kinds[REQUEST_UNSUBSCRIBE]);
	}
	change_refs(c, false);
	for (u = c->uris; u != NULL; u = u->next)
		assert(u->refs == 0);
	change_refs(c, true);
}

static void
check_listens(struct client *c, const struct census *seen)
{
	const struct listen *l;
	size_t n = 0;

	for (l = c->listens; l != NULL; l = l->next) {
		check_listen(c, l);
		n++;
	}
	assert(c->n_listens == n && n <= BOUND_FEW);
	check_uris(c, seen);
}

/* --- the whole --- */

static void
check_era(const struct client *c)
{
	assert(!c->legacy || !c->modern);
	assert(c->opening != OPENING_DONE || c->initialized != NULL);
	if (c->modern)
		return;
	assert(c->opening == OPENING_SHUT && c->setting == NULL);
	assert(c->listens == NULL && c->uris == NULL);
	assert(c->held.n + c->probes.n + c->waiting.n + c->asking.n +
		c->collecting.n + c->parked.n ==
	    0);
}

void
client_sane(struct client *c)
{
	struct census seen = { 0 };

	check_era(c);
	check_queue(c, &c->held, &seen);
	check_queue(c, &c->probes, &seen);
	check_queue(c, &c->waiting, &seen);
	check_queue(c, &c->asking, &seen);
	check_queue(c, &c->collecting, &seen);
	check_queue(c, &c->parked, &seen);
	check_queue(c, &c->running, &seen);
	check_census(c, &seen);
	check_questions(c);
	check_listens(c, &seen);
}

#endif
