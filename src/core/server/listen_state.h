/*
 * The structures and constants of subscriptions/listen at a modern server.
 * Only the files of this folder include it.
 */
#ifndef MCPSPLICE_CORE_SERVER_LISTEN_STATE_H
#define MCPSPLICE_CORE_SERVER_LISTEN_STATE_H

#include "core/server/state.h"

struct subscription {
	struct subscription *next;      /* in the list of natives */
	struct server_order *order;     /* a modern client's listen; NULL: it is
				     * the session's */
	struct server_attempt *attempt; /* the open stream; NULL: none */
	char *id;                       /* of the latest request, raw JSON */
	struct buf asked;      /* params.notifications, raw; not of natives */
	bool acknowledged;     /* the open stream was */
	bool gap;              /* an acknowledged stream was lost, and that was
				* not told yet */
	bool refused;          /* the server refused it: not tried again */
	struct frame *honours; /* the latest acknowledgement; NULL: none */
	int64_t since;         /* the open stream was ordered */
	int64_t again_at;      /* the next stream opens, or ALARM_NEVER */
	unsigned tries;        /* since a stream lived long */
	unsigned failures;     /* false starts in a row */

	/* Of natives: what the client was told. */
	bool begun;    /* a 2xx: from here on streams are replaced */
	bool told;     /* an acknowledgement */
	bool answered; /* the answer: its stream is not replaced */
};

struct waiter {
	struct waiter *next;
	uint64_t ticket; /* of a resources/subscribe that is open */
};

/* A resource that the session wants to hear of. */
struct uri {
	struct uri *next;
	char *text; /* raw JSON string */
	uint64_t hash;
	bool asked;    /* the latest change, made or under way, asks for it */
	bool settled;  /* the session was told that it is subscribed */
	bool honoured; /* the latest acknowledgement has it */
	struct waiter *waiters;
};

struct listens {
	struct server_order *get; /* the session's; NULL: none */
	struct kept kept;
	struct subscription *lists;   /* changes of lists; NULL: none */
	struct subscription *natives; /* in the order they came */

	/* Resources. */
	struct subscription *resources; /* the set as it is; NULL: none */
	struct subscription *successor; /* the set as it will be; NULL: no
					 * change is under way */
	int64_t change_at; /* the next change; ALARM_NEVER: none is wanted */
	bool stale; /* resources may be dead: it is replaced in any case */
	struct uri *uris; /* in the order they came */
	size_t n_uris, uri_bytes;
};

#endif
