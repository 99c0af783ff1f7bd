/*
 * The state of the reducer for the client's era. No file outside this folder
 * includes it. Each file includes and calls only those above it in this list:
 *   client        the public header
 *   state         structures and constants
 *   act           the queue of actions
 *   table         requests, and the list of questions
 *   question      what a legacy server asks
 *   opening       the session is opened for a modern client
 *   uri           resources that are watched at a legacy server
 *   listen        subscriptions/listen at a legacy server
 *   send          requests on their way to the session
 *   park          requests whose client is asked something first
 *   request       what becomes of what a modern client sends
 *   hello         the session has opened, or the client begins another
 *   from_client   what the client sends
 *   from_session  what the session writes
 *   sane          the invariants below, asserted
 *   step          inputs and time; nobody else calls the two from_*
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
 *   client_waits is true, and in `by_sent` exactly while at_session is.
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
 *   REQUEST_NATIVE.
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
#ifndef MCPSPLICE_CORE_CLIENT_STATE_H
#define MCPSPLICE_CORE_CLIENT_STATE_H

#include "base/alarm.h"
#include "base/idtable.h"
#include "core/client/client.h"
#include "core/wire/json.h"

enum {
	PROBE_MS = 3500,          /* our answer to server/discover */
	COLLECT_MS = 30,          /* for further questions of one request */
	PARK_MS = 10 * 60 * 1000, /* for the client's retry */
	LEVEL_MS = 5 * 1000,      /* for the answer to logging/setLevel */
	ACK_MS = 10 * 1000,       /* for the answers to resources/subscribe */
	MAX_PROBES = 64,          /* server/discover that wait */
	MAX_PARKED = 256,
	MAX_QUESTIONS = 64,  /* of one request */
	MAX_ASKED = 9 << 20, /* bytes of its questions: they are one line */
	MAX_ASKED_ALL = 64 << 20, /* of all requests */
	MAX_LISTENS = 64,
	MAX_URIS = 1024,
	MAX_URI_BYTES = 1 << 20, /* of all of them, as they are written */
	MAX_EARLY = 1 << 20, /* bytes kept until a listen is acknowledged; of
			      * what all that wanted it are told */
	MAX_SERVER_INFO = 16 * 1024,
	MAX_WORDS = 64 /* bytes of the client's words in an error */
};

static const struct span no_span = { NULL, 0 };

enum request_kind {
	REQUEST_NEW,     /* held back: not known yet how it goes out */
	REQUEST_NATIVE,  /* as it came, to a modern server */
	REQUEST_BRIDGED, /* translated, to a legacy one */
	REQUEST_LISTEN,  /* subscriptions/listen that is played here */
	/* Of our own: */
	REQUEST_OPEN,  /* initialize */
	REQUEST_LEVEL, /* logging/setLevel */
	REQUEST_SUBSCRIBE,
	REQUEST_UNSUBSCRIBE,
	REQUEST_STRAY /* nobody wants its answer any more */
};

/* A request is in one queue, in the order of arrival there. */
struct queue {
	struct request *first, *last;
	size_t n;
};

struct request {
	struct request *next, *prev;
	struct queue *in;
	struct idtable_entry by_id;   /* in the table while client_waits */
	struct idtable_entry by_sent; /* in the table while at_session */
	bool client_waits;            /* for an answer to frame */
	bool at_session;              /* sent, and not answered there */
	enum request_kind kind;
	uint64_t serial;     /* in the order they were sent */
	struct frame *frame; /* the client's, after a retry the latest; NULL:
			      * of our own */
	struct frame *sent;  /* as the session has it; NULL: not yet */
	int level;           /* of log messages it wants; -1: none */
	/* The progress tokens of frame and of sent, raw JSON; p NULL: none.
	 * They are looked for when they are asked for, and then kept. */
	struct span token, sent_token;
	bool tokens_known;
	int64_t at; /* what its queue waits for comes then; in probes,
		     * collecting and parked, else ALARM_NEVER */
	bool acked; /* native subscriptions/listen: acknowledged */
	/* In the queue of parked ones: */
	char state[33];      /* its requestState */
	uint64_t binding;    /* hash of what a retry must repeat */
	bool again;          /* a retry sends it again, the first is over */
	struct frame *final; /* the answer that came meanwhile */
	unsigned asked;      /* questions so far */
	struct uri *uri;     /* SUBSCRIBE, UNSUBSCRIBE */
};

/* A server's question that is not answered yet. */
struct question {
	struct question *next;
	struct request *owner;
	struct frame *frame; /* as the session wrote it */
	unsigned key;        /* the client sees it as q1, q2, ...; 0: not yet */
	bool guessed;        /* its stream does not tell whose it is */
};

enum uri_state {
	URI_NEW,
	URI_SUBSCRIBING,
	URI_ON,
	URI_UNSUBSCRIBING /* and subscribed again if somebody wants it */
};

struct uri {
	struct uri *next;
	struct buf text; /* decoded */
	char *raw;       /* as a JSON string, */
	uint64_t hash;   /* of what it says */
	unsigned refs;   /* listens that want it */
	enum uri_state state;
};

struct listen {
	struct listen *next;
	struct request *request;
	bool families[ERA_FAMILIES]; /* whose list_changed it wants and gets */
	struct uri **uris;
	size_t n_uris;
	size_t pending; /* of them, those not answered yet */
	bool acked;
	int64_t ack_at;       /* ALARM_NEVER: acknowledged */
	struct frame **early; /* what came before */
	size_t n_early, early_bytes;
};

/* Names of alarms. */
enum { ALARM_LEVEL };

enum opening { OPENING_SHUT, OPENING_RUNS, OPENING_DONE };

struct action {
	enum client_action_kind kind;
	struct frame *frame;
	enum log_level level;
	char *text;
};

struct client {
	struct client_config config;
	bool legacy, modern; /* as far as known */
	enum opening opening;
	unsigned declared;         /* the questions its initialize allows */
	struct frame *initialized; /* the answer to it */
	struct buf server_info;
	bool logs;   /* the server takes logging/setLevel */
	int level;   /* the one it was told; -1: none */
	bool ended;  /* EOF */
	bool shared; /* all of the server comes on one stream */

	struct queue held;       /* wait for the opening */
	struct queue probes;     /* server/discover without an answer */
	struct queue waiting;    /* for a log level to be set */
	struct queue asking;     /* bridged, may be asked something */
	struct queue collecting; /* the same, and were asked */
	struct queue parked;
	struct queue running; /* all others */
	size_t held_bytes;
	size_t parked_bytes; /* of final answers */
	size_t levels[ERA_LEVELS];
	struct request *setting; /* the setLevel under way, until ALARM_LEVEL */
	struct idtable by_id;    /* the client's id */
	struct idtable by_sent;  /* the id that the session has */
	size_t strays;           /* of our making, open at the session */
	uint64_t ids, serial;
	struct question *questions;
	struct listen *listens;
	size_t n_listens;
	struct uri *uris;
	size_t n_uris, uri_bytes;

	struct alarms alarms;

	/* Of the input. */
	int64_t now;
	uint64_t secret[2];
	enum session_listening listening;
	struct frame *discovered;

	struct action *actions;
	size_t n_actions, cap_actions, next_action;
	struct action current;
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
