/*
 * What the three reducers of a chain say to each other and to the caller of the
 * chain: events, and the queue that each reducer keeps of its own.
 *
 * An input goes towards the session: from the client through
 * core/modern_client, from the server through core/server. An action goes away
 * from the session, the same ways back. core/modern_client and core/server are
 * filters: an event that does not concern them passes.
 */
#ifndef MCPSPLICE_CORE_EVENTS_H
#define MCPSPLICE_CORE_EVENTS_H

#include "base/alarm.h"
#include "base/log.h"
#include "core/exchange/order.h"

enum event_kind {
	EVENT_NONE,

	/* --- inputs --- */

	/* From the client. */
	INPUT_CLIENT,   /* frame, located; probe: the client probes, and is
			 * less patient than one that initializes */
	INPUT_INVALID,  /* a line that is not a valid message: invalid, and
			 * frame with its id where it had one, or NULL */
	INPUT_TOO_LONG, /* a line over the cap: size, id, request */
	INPUT_EOF,      /* stdin has reached its end */
	INPUT_STOP,     /* a signal, or the parent is gone */
	INPUT_BROKEN,   /* nobody reads stdout */

	/* From the server, of the exchange of ticket. */
	INPUT_HEAD,     /* facts: status and headers are here; head */
	INPUT_MESSAGE,  /* facts, frame: a message; head: the head was not told
			* before, the facts tell it, too */
	INPUT_ENDPOINT, /* an endpoint event; ok: it is on the server's
			 * origin */
	INPUT_REFUSED,  /* facts: a 401 or 403, or another status that may be
			 * about the token, complete and without a message; it
			 * waits for ACTION_AUTHORIZE or for
			 * ACTION_TAKE_REFUSAL */
	INPUT_SIGN_IN,  /* the user has to sign in first, and text tells how,
			 * with a URL in it; NULL: not any more */
	INPUT_DONE,     /* facts: the exchange is over; frame: the message that
			 * was its whole body, or NULL; head: as above */

	/* From the machine. */
	INPUT_CACHED_START,  /* the answer to ACTION_LOAD_START: result and
			      * tools of a former start */
	INPUT_PEER_STATE,    /* the answer to ACTION_CHECK_PEERS; ok: another
			      * copy of mcpsplice has a newer session */
	INPUT_STALE_SESSION, /* session and version: a session that an earlier
			      * process left behind */
	INPUT_WAKE,          /* the machine slept, or its network changed */
	INPUT_SIGNED_IN,     /* there are new credentials */
	INPUT_HELPER,        /* ok: requests wait for --auth-command */
	INPUT_TICK,          /* the deadline passed */

	/* --- inside a chain --- */

	EVENT_PROBE,   /* core/modern_client to core/server, frame: the
			* server/discover that detection begins with; NULL: a
			* legacy client */
	EVENT_LISTENS, /* to core/modern_client: the stage's listening has
			* changed */

	/* --- actions --- */

	ACTION_SEND,         /* begin the exchange of ticket by order;
			      * INPUT_DONE tells its end */
	ACTION_ABORT,        /* abort the exchange of ticket; INPUT_DONE comes
			      * all the same */
	ACTION_AUTHORIZE,    /* the refusal of ticket, with these facts, is for
			      * its credentials: send it again if there are
			      * others; ticket 0: get others for the
			      * requests to come; session: it may be for this
			      * session instead; n 0: it is not */
	ACTION_TAKE_REFUSAL, /* the refusal of ticket, with these facts, is the
			      * answer: INPUT_DONE follows; text: why, or
			      * NULL */
	ACTION_WRITE,        /* write frame to the client; ok: it is a question
			      * of mcpsplice itself */
	ACTION_READ,         /* ok: read stdin; else stop reading it */
	ACTION_LOG,          /* log text at level */
	ACTION_LOAD_START,   /* give INPUT_CACHED_START if the startup cache has
			      * a start for the client's version and
			      * capabilities */
	ACTION_SAVE_START,   /* put result and tools into the startup cache for
			      * such a client */
	ACTION_SAVE_SESSION, /* note session and version on disk, for a later
			      * process to end; n 0: there is no session */
	ACTION_FOUND,        /* what to remember of the server: modern (and
			      * nothing else), sse, or neither; dual: to forget
			      * it */
	ACTION_CHECK_PEERS,  /* give INPUT_PEER_STATE */
	ACTION_EXIT          /* flush stdout, then end with status */
};

/* A set of kinds of events has a bit for each. */
#define EVENT_BIT(kind) (UINT64_C(1) << (kind))

/* The last two are messages, but not for the server: a request without an id,
 * and one with two readings where tools are kept from the client. */
enum invalid_line {
	INVALID_SYNTAX,
	INVALID_BATCH,
	INVALID_MESSAGE,
	INVALID_NO_ID,
	INVALID_TWO_WAYS
};

/* One event. All that it points to is borrowed; a reducer takes a reference to
 * a frame that it keeps. */
struct event {
	enum event_kind kind;
	uint64_t ticket;
	struct frame *frame;
	/* The client's request, or NULL. ACTION_WRITE of a server's message:
	 * the request on whose stream it came. ACTION_SEND: the request that
	 * goes out, perhaps under another id. */
	struct frame *related;
	const struct facts *facts;
	struct order *order;
	const char *text;
	struct span session, version;
	/* Raw JSON, as is the client's version. */
	struct span capabilities, result, tools;
	struct span id;
	uint64_t size;
	enum invalid_line invalid;
	enum log_level level;
	int status;
	bool ok, probe, request, head;
	bool modern, sse, dual;
	/* Of an input: */
	int64_t now; /* monotonic ms */
	uint64_t random;
	uint64_t secret[2]; /* random words that nobody can guess; only where
			     * the client is a modern one */
};

/* Has the session a stream for what belongs to no request: may one come to be,
 * is it open, or will there be none? */
enum session_listening { LISTENS_PERHAPS, LISTENS, LISTENS_NOT };

/* What core/modern_client sees of its neighbours. The chain keeps it up to
 * date. */
struct stage {
	/* The server's DiscoverResult frame if the server is a modern one now,
	 * else NULL. */
	struct frame *discovered;
	/* Does everything from the server come on one stream, so that the
	 * stream does not tell which request a message belongs to? */
	bool shared;
	/* The server's latest answer to initialize; NULL: none yet. */
	struct frame *initialized;
	enum session_listening listening;
};

/* The events that a reducer has for its neighbours, in order. */
struct events {
	struct kept_event *list;
	size_t n, next, cap;
	bool lent;          /* list[next] is lent by events_next */
	struct order order; /* of the ACTION_SEND that is lent */
};

/* Adds an event, with references to its frames and copies of all else that it
 * points to, but the order: of an ACTION_SEND the reducer fills in q->order
 * when the event is taken. */
void events_add(struct events *q, const struct event *e);
/* Lends the next event, until the next call. Returns false if there is none. */
bool events_next(struct events *q, struct event *out);
/* Adds an ACTION_LOG, its text cut at 511 bytes. */
void events_log(struct events *q, enum log_level level, const char *fmt,
    va_list ap) __attribute__((format(printf, 3, 0)));
/* The event that was added last, or NULL if it was lent already. The caller may
 * change its kind and its flags, and put a reference into an empty frame. */
struct event *events_last(struct events *q);
/* The event at this place of the queue, 0 being the next one; NULL: there are
 * not so many. Borrowed. */
const struct event *events_peek(const struct events *q, size_t at);
/* Drops all events, and frees what q holds. */
void events_free(struct events *q);

#endif
