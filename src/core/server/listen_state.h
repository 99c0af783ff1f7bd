/*
 * The structures and constants of subscriptions/listen at a modern server.
 * Only the files of this folder include it.
 */
#ifndef MCPSPLICE_CORE_SERVER_LISTEN_STATE_H
#define MCPSPLICE_CORE_SERVER_LISTEN_STATE_H

#include "core/server/state.h"

enum {
	LISTEN_URIS = 1024,          /* subscribed at once, and told at once */
	LISTEN_URI_BYTES = 1 << 20,  /* of all of them */
	LISTEN_KEPT = 64,            /* messages that wait for the GET */
	LISTEN_KEPT_BYTES = 1 << 20, /* of all of them */
	LISTEN_FAILURES = 5          /* false starts in a row */
};

struct subscription {
	struct subscription *next;  /* of the natives */
	struct server_order *order; /* a modern client's listen; NULL: ours */
	struct server_attempt *attempt; /* the stream that is open; NULL:
					   * none */
	char *id;                       /* of its request, raw JSON */
	struct buf asked;      /* params.notifications, raw; not of natives */
	bool acknowledged;     /* the stream that is open was */
	bool gap;              /* one that was is lost; not told yet */
	bool refused;          /* the server does not want it: never again */
	struct frame *honours; /* the latest acknowledgement; NULL: none */
	int64_t since;         /* the stream was ordered */
	int64_t again_at;      /* the next one opens, or ALARM_NEVER */
	unsigned tries;        /* since one lived long */
	unsigned failures;     /* false starts in a row */

	/* Of natives. */
	bool begun;    /* a 2xx was told: from here on streams are replaced */
	bool told;     /* an acknowledgement was */
	bool answered; /* its answer was: the end is the end */
};

struct waiter {
	struct waiter *next;
	uint64_t ticket; /* of a resources/subscribe: it may be gone */
};

/* A resource that the session wants to hear of. */
struct uri {
	struct uri *next;
	char *text; /* raw JSON string */
	uint64_t hash;
	bool asked;   /* of a change, made or under way */
	bool settled; /* honoured once: it stays */
	bool honoured;
	struct waiter *waiters;
};

struct listens {
	struct server_order *get; /* the session's, NULL: none */
	struct frame *kept[LISTEN_KEPT];
	size_t n_kept, kept_bytes;
	struct subscription *lists;   /* changes of lists */
	struct subscription *natives; /* in the order they came */

	/* Resources. */
	struct subscription *resources; /* what is subscribed */
	struct subscription *successor; /* with the set that is to be; NULL: no
				 * change is under way */
	int64_t change_at; /* the next change; ALARM_NEVER: none is wanted */
	bool stale; /* resources may be dead: replaced though nothing changed */
	struct uri *uris; /* in the order they came */
	size_t n_uris, uri_bytes;
};

#endif
