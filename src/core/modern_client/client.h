/*
 * A reducer between the client and the session. Whatever era the client speaks,
 * the session sees a legacy client.
 *
 * The messages of a legacy client pass unchanged. For a modern client
 * (2026-07-28: no initialize, _meta in each request) this reducer opens the
 * session itself. After that, messages still pass unchanged if the server is a
 * modern one. If it is a legacy one they are translated (core/era/era,
 * doc/protocol.md 7.3 to 7.6): a request is parked while the server asks a
 * question, and a notification of the server goes to each subscriptions/listen
 * that asked for it.
 */
#ifndef MCPSPLICE_CORE_MODERN_CLIENT_CLIENT_H
#define MCPSPLICE_CORE_MODERN_CLIENT_CLIENT_H

#include "base/log.h"
#include "core/era/era.h"
#include "core/events.h"

struct client;

struct client_config {
	const char *host;    /* the name of the server for the user; borrowed */
	const char *version; /* of this program */
	const char *prefix;  /* of the ids that this reducer makes: random, no
			      * character that JSON escapes; borrowed */
	size_t max_held;     /* bytes of requests that wait for the opening */
	size_t max_result;   /* bytes of a line to the client; 0: no limit */
};

/* stage is what the reducer may know of its neighbours; borrowed. */
struct client *client_new(const struct client_config *config,
    const struct stage *stage);
void client_free(struct client *c);

/* Is the client a legacy one, so that what the session writes passes? */
bool client_is_legacy(const struct client *c);
/* Returns the kinds of events that may concern this reducer now (EVENT_BIT):
 * others need not be offered. Only a step changes them. */
uint64_t client_wants(const struct client *c);

/* Takes an input from outside, or an action of the session. Returns false if
 * the event does not concern this reducer: it passes, perhaps with another
 * frame or version in it, which is borrowed until the next call. */
bool client_step(struct client *c, struct event *in);
/* Gives the next event: an input for the session (INPUT_CLIENT), EVENT_PROBE
 * for core/server, or an action. Returns false if there is none. What the event
 * borrows is valid until the next call. */
bool client_next(struct client *c, struct event *out);
/* When INPUT_TICK is due, in monotonic ms, or ALARM_NEVER. */
int64_t client_deadline(const struct client *c);
/* Is something of the client held back from the session? While it is, the
 * session must not be told of EOF. */
bool client_holds(const struct client *c);
/* Appends lines for the user about requests held back, listens and parked
 * requests; none for a legacy client. */
void client_describe(const struct client *c, struct buf *out);

#endif
