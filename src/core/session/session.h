/*
 * The session is a reducer: inputs go in by session_step, and actions come out
 * of session_next until there are none. It uses no descriptor, no clock and no
 * randomness of its own, so a schedule of inputs is a test.
 *
 * The session keeps the client's initialize byte for byte, the generation, the
 * table of calls and attempts, and the frames that are held back. It alone
 * decides to hold, forward, renew, replay or fail a call, to open or close the
 * listen stream, and to end.
 */
#ifndef MCPSPLICE_CORE_SESSION_SESSION_H
#define MCPSPLICE_CORE_SESSION_SESSION_H

#include "base/log.h"
#include "core/exchange/order.h"
#include "core/stage.h"

struct session;

enum replay { REPLAY_NEVER, REPLAY_REFUSED, REPLAY_SAFE };

struct session_config {
	const char *host;    /* the server's name in texts for people;
			      * borrowed */
	const char *version; /* of this program, for the initialize of
			      * --handshake */
	const char *prefix;  /* of ids that mcpsplice makes: random, JSON-safe;
			      * borrowed */
	int64_t init_timeout_ms;
	int64_t retry_window_ms;
	int64_t call_timeout_ms;
	int64_t drain_timeout_ms; /* 0: until every call is answered */
	size_t max_result;        /* bytes of a line to the client; 0: any */
	size_t max_held;          /* bytes of frames held back */
	size_t max_inflight;
	int64_t ping_interval_ms; /* 0: ping only if there is doubt */
	struct verdict_rules rules;
	enum replay replay;
	bool cached_start; /* the caller answers ACTION_LOAD_START */
	bool handshake;    /* initialize for a client that does not */
	bool fail;         /* exit with 22 if mcpsplice made an error itself */
};

enum session_input_kind {
	INPUT_CLIENT,   /* a frame of the client, located (a reference is
	                 * taken) */
	INPUT_INVALID,  /* a line from the client that is not a valid message:
			 * bad tells why; frame has its id, or is NULL */
	INPUT_TOO_LONG, /* a line over the cap: size, id, request */
	INPUT_EOF,      /* stdin has reached its end */
	INPUT_STOP,     /* a signal, or the parent is gone */
	INPUT_BROKEN,   /* nobody reads stdout */
	INPUT_HEAD,     /* of ticket: status and headers are here */
	INPUT_MESSAGE,  /* of ticket: a message of the server (a reference is
	                 * taken) */
	INPUT_ENDPOINT, /* of ticket: an endpoint event, ok or not (to a chain
			  * only) */
	INPUT_DONE,     /* of ticket: the exchange is over */
	INPUT_CACHED_START,  /* the answer to ACTION_LOAD_START: result and
			 * tools of a former start */
	INPUT_PEER_STATE,    /* the answer to ACTION_CHECK_PEERS: newer_peer */
	INPUT_STALE_SESSION, /* session and version: a session that an earlier
			      * process left behind */
	INPUT_WAKE,          /* the machine slept, or its network changed */
	INPUT_SIGN_IN,   /* of ticket: the user has to sign in first, and text
			  * tells how; n 0: not any more */
	INPUT_SIGNED_IN, /* there are new credentials */
	INPUT_TICK       /* the deadline passed */
};

enum invalid_line { INVALID_SYNTAX, INVALID_BATCH, INVALID_MESSAGE };

struct session_input {
	enum session_input_kind kind;
	int64_t now; /* monotonic ms */
	uint64_t random;
	struct frame *frame;
	uint64_t ticket;
	const struct facts *facts; /* HEAD, MESSAGE, DONE */
	enum invalid_line bad;
	uint64_t size;
	struct span id;
	bool request;
	struct span result, tools; /* CACHED_START: raw JSON */
	struct span session, version;
	struct span text; /* SIGN_IN */
	bool newer_peer;
	bool ok;            /* ENDPOINT */
	bool probe;         /* CLIENT: the client probes and is less patient
			     * than one that initializes */
	uint64_t secret[2]; /* random words that nobody can guess (for a chain
			     * only) */
};

enum session_action_kind {
	ACTION_NONE,
	ACTION_SEND,         /* begin the exchange of ticket; INPUT_DONE tells
			      * its end */
	ACTION_ABORT,        /* abort the exchange of ticket; INPUT_DONE comes
			      * all the same */
	ACTION_WRITE,        /* write frame to the client */
	ACTION_READ,         /* on: read stdin; off: stop reading it */
	ACTION_LOG,          /* log text at level */
	ACTION_LOAD_START,   /* give INPUT_CACHED_START if the startup cache has
			      * a start whose client asked for version */
	ACTION_SAVE_START,   /* put version, result and tools into the startup
			      * cache */
	ACTION_SAVE_SESSION, /* note session and version on disk, for a later
			      * process to end; n 0: there is no session */
	ACTION_FOUND,        /* the server's era was found out (from a chain
			      * only) */
	ACTION_CHECK_PEERS,  /* give INPUT_PEER_STATE: has another copy of
			      * mcpsplice a newer session? */
	ACTION_EXIT          /* flush stdout, then end with status */
};

struct session_action {
	enum session_action_kind kind;
	uint64_t ticket;     /* SEND, ABORT */
	struct order order;  /* SEND; its parts are borrowed, as all below */
	struct frame *frame; /* WRITE */
	/* The client's request, or NULL. WRITE of a server's message: the
	 * request on whose stream it came. SEND: the request that goes out,
	 * perhaps under another id. */
	const struct frame *related;
	struct span session, version; /* SAVE_SESSION; version: SAVE_START and
				       * LOAD_START too */
	struct span result, tools;    /* SAVE_START */
	bool modern, sse, dual;       /* FOUND */
	bool on;
	enum log_level level;
	const char *text;
	int status;
};

struct session *session_new(const struct session_config *config);
void session_free(struct session *s);
void session_step(struct session *s, const struct session_input *in);
/* Gives the next action, or returns false if there is none. What the action
 * borrows is valid until the next call of session_next or session_step. */
bool session_next(struct session *s, struct session_action *action);
/* When INPUT_TICK is due, in the time of the inputs; -1: never. */
int64_t session_deadline(const struct session *s);
/* Has the session a listen stream? */
enum session_listening session_listening(const struct session *s);
/* The server's latest answer to initialize (borrowed), or NULL. */
struct frame *session_initialize_answer(const struct session *s);
/* Writes a page for people: phase, generation, calls, stream. The page has no
 * secret in it. */
void session_describe(const struct session *s, struct buf *out);

#endif
