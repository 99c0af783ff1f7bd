/*
 * The state of the reducer for the client's era. No file outside this folder
 * includes it. Each file includes and calls only those above it in this list:
 *   client          the public header
 *   state, parts    structures and constants; the functions of all others
 *   actions         the queue of actions
 *   table           requests, and the list of questions
 *   opening         the session is opened for a modern client
 *   listen          subscriptions/listen at a legacy server, and the resources
 *                   that are watched there
 *   send            requests on their way to the session
 *   input_required  what a legacy server asks; requests whose client is asked
 *                   something first
 *   request         what becomes of what a modern client sends
 *   opened          the session has opened, or not in time
 *   become_legacy   the client sends initialize after all
 *   from_client     what the client sends
 *   from_session    what the session writes
 *   invariants      the invariants below, asserted
 *   step            inputs and time; nobody else calls the two from_*
 *
 * These invariants hold at the end of each step.
 *
 * The client:
 * - It is legacy, modern, or not known yet. Unless it is modern, there are no
 *   listens, no resources, and no requests but those in `running`.
 * - REQUEST_OPEN exists exactly while `opening` is OPENING_RUNS. Requests in
 *   `held`, and probes that were not sent, exist only in that time.
 *
 * Requests:
 * - Each request is in one queue. It is in the table `by_id` exactly while
 *   client_waits is true, and in `by_sent` exactly while at_session is. No two
 *   requests in `by_token` have the same token.
 * - held: REQUEST_NEW, not sent. probes: REQUEST_NEW, not sent, or
 *   REQUEST_NATIVE, sent. waiting: REQUEST_BRIDGED with a log level, not sent;
 *   `setting` is under way. asking: REQUEST_BRIDGED, sent. collecting: the
 *   same, and it has a question. The client waits for all of these.
 * - parked: REQUEST_BRIDGED. The client does not wait, it has `state` and may
 *   retry. Either the session has the request, or `final` is its answer, or
 *   `again` says that the retry is sent as a new request.
 * - running: requests of any kind but REQUEST_NEW. The session has all of them
 *   but REQUEST_LISTEN.
 * - Requests in probes, collecting and parked have a time `at`, which is not
 *   later than that of the next one in the queue. No other request has one.
 *
 * Counts:
 * - held_bytes is the size of all requests in `held` and `waiting`,
 *   parked_bytes that of the text of all `final`.
 * - levels[i] is the number of requests that want log messages of level i.
 * - strays is the number of requests that the session has and that are not
 *   REQUEST_NATIVE, listening_here that of the subscriptions/listen of the
 *   client in `running`.
 * - `setting` is a REQUEST_LEVEL in `running`, and ALARM_LEVEL is set exactly
 *   while there is one.
 *
 * Questions:
 * - The owner of a question is at the session. It is in `collecting` or
 *   `parked`, or in `running` once the client is a legacy one.
 *
 * Listens and resources:
 * - Each struct listen has one REQUEST_LISTEN in `running`, and each of those
 *   has a struct listen.
 * - `pending` is the number of resources of the listen that are not URI_ON. An
 *   acknowledged listen has none of those, nor early notifications, nor a
 *   time. A listen that is not acknowledged waits for `pending` to become 0,
 *   or for the session to know whether it has a stream.
 * - The refs of a resource are the listens that have it. The state of a
 *   resource is never URI_NEW. Until EOF it is URI_ON only with refs, and
 *   otherwise one REQUEST_SUBSCRIBE or REQUEST_UNSUBSCRIBE is under way for
 *   it.
 */
#ifndef MCPSPLICE_CORE_MODERN_CLIENT_STATE_H
#define MCPSPLICE_CORE_MODERN_CLIENT_STATE_H

#include "base/alarm.h"
#include "base/bounds.h"
#include "base/hash.h"
#include "core/exchange/facts.h"
#include "core/modern_client/client.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "core/wire/own_id.h"

enum {
	COLLECT_MS = 30, /* wait for further questions of a request */
	MAX_WORDS = 64   /* bytes of the client's words in an error */
};

enum request_kind {
	REQUEST_NEW,     /* held back until the era of the server is known */
	REQUEST_NATIVE,  /* sent unchanged to a modern server */
	REQUEST_BRIDGED, /* translated for a legacy server */
	REQUEST_LISTEN,  /* subscriptions/listen, played for a legacy server */
	/* The reducer's own requests: */
	REQUEST_OPEN,  /* initialize */
	REQUEST_LEVEL, /* logging/setLevel */
	REQUEST_SUBSCRIBE,
	REQUEST_UNSUBSCRIBE,
	REQUEST_STRAY /* its answer will be dropped */
};

/* Requests in the order in which they came into the queue. */
struct request_queue {
	struct request *first, *last;
	size_t n;
};

struct request {
	struct request *next, *prev;
	struct request_queue *in;
	struct hash_entry by_id;   /* in the table while client_waits */
	struct hash_entry by_sent; /* in the table while at_session */
	/* In the table while by_token_added: at_session, not parked, and the
	 * first one with the progress token of sent. */
	struct hash_entry by_token;
	bool by_token_added;
	bool client_waits; /* the client waits for an answer */
	bool at_session;   /* the session has not answered yet */
	enum request_kind kind;
	uint64_t serial;     /* rises in the order of sending */
	struct frame *frame; /* the latest one of the client, which may be a
			      * retry; NULL: a request of the reducer's own */
	struct frame *sent;  /* the frame that the session has; NULL: none */
	int level;           /* the least level of log messages that the client
			      * wants for it; -1: it wants none */
	/* When the wait in its queue is over; ALARM_NEVER unless the queue is
	 * probes, collecting or parked. */
	int64_t at;
	bool acked; /* native subscriptions/listen: was acknowledged */
	/* Of a parked request: */
	char state[33];      /* its requestState */
	uint64_t binding;    /* hash of what a retry must repeat */
	bool again;          /* it was answered; its retry is a new request */
	struct frame *final; /* the answer that waits for the retry */
	unsigned asked;      /* questions that the client was asked so far */
	unsigned own;        /* those of mcpsplice itself among them */
	/* Of REQUEST_SUBSCRIBE and REQUEST_UNSUBSCRIBE: */
	struct watched *uri;
};

/* A question of the server that is not answered yet. */
struct question {
	struct question *next;
	struct request *owner;
	struct frame *frame; /* as the session wrote it */
	unsigned key;        /* N of its key "qN" in the input_required; 0: the
			      * client was not asked yet */
	bool guessed;        /* owner is a guess: the stream did not tell */
	bool own;            /* mcpsplice itself asks, before it is sent */
};

enum uri_state {
	URI_NEW,
	URI_SUBSCRIBING,
	URI_ON,
	URI_UNSUBSCRIBING /* if refs > 0 then, it is subscribed again */
};

struct watched {
	struct watched *next;
	struct buf text; /* the URI, decoded */
	char *raw;       /* the URI as a JSON string */
	uint64_t hash;   /* of the URI, decoded */
	unsigned refs;   /* number of listens that have it */
	enum uri_state state;
};

struct listen {
	struct listen *next;
	struct request *request;
	bool families[ERA_FAMILIES]; /* whose list_changed it gets */
	struct watched **uris;
	size_t n_uris;
	size_t pending; /* uris that are not URI_ON yet */
	bool acked;
	int64_t ack_at;    /* ALARM_NEVER once acked */
	struct kept early; /* notifications, until acked */
};

/* The names of alarms. */
enum { ALARM_LEVEL /* the wait for the answer to `setting` is over */ };

enum opening { OPENING_SHUT, OPENING_RUNS, OPENING_DONE };

struct client {
	struct client_config config;
	const struct stage *stage;
	bool legacy, modern; /* both false: not known yet */
	enum opening opening;
	unsigned declared; /* bits: the questions that initialize allows */
	struct frame *initialized; /* the answer to initialize */
	struct buf server_info;
	bool logs;   /* the server takes logging/setLevel */
	int level;   /* the server was told this one last; -1: none */
	bool ended;  /* the client closed stdin */
	bool shared; /* everything from the server comes on one stream */

	struct request_queue held;    /* requests that wait for the opening */
	struct request_queue probes;  /* server/discover that is not answered */
	struct request_queue waiting; /* requests that wait for `setting` */
	struct request_queue asking;  /* bridged ones that may get a question */
	struct request_queue collecting; /* bridged ones that have got one */
	struct request_queue parked;
	struct request_queue running; /* all others */
	size_t held_bytes;            /* of held and waiting */
	size_t parked_bytes;          /* of the final answers of parked */
	size_t levels[ERA_LEVELS];    /* requests that want this level */
	struct request *setting; /* the setLevel under way, until ALARM_LEVEL */
	struct hash by_id;       /* by the id that the client knows */
	struct hash by_sent;     /* by the id that the session knows */
	struct hash by_token;    /* by the progress token that it knows */
	size_t strays;           /* at the session, but not REQUEST_NATIVE */
	size_t listening_here;   /* subscriptions/listen in running */
	uint64_t serial;         /* the latest one */
	struct own_ids ids;      /* of the requests to the session */
	struct question *questions;
	struct listen *listens;
	size_t n_listens;
	struct watched *uris;
	size_t n_uris, uri_bytes;

	struct alarms alarms;

	/* Of the input; discovered is NULL between two steps. */
	int64_t now;
	uint64_t secret[2];
	enum session_listening listening;
	struct frame *discovered;

	struct events events; /* what client_next will give */
	struct frame *fitted; /* lent by client_step for an ACTION_SEND */
};

static inline bool
client_is(const struct frame *f, const char *method)
{
	return json_key_is(f->method, method);
}

static inline bool
client_is_listen(const struct frame *f)
{
	return client_is(f, "subscriptions/listen");
}

static inline bool
client_is_discover(const struct frame *f)
{
	return client_is(f, "server/discover");
}

/* Is this raw JSON a string that says this, decoded? */
static inline bool
client_is_string(struct span raw, const char *text)
{
	return json_kind(raw) == '"' &&
	    json_key_is((struct span){ raw.p + 1, raw.n - 2 }, text);
}

#endif
