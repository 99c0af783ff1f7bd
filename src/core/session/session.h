/*
 * The session: a reducer. What happened goes in (session_step), what is to
 * be done comes out (session_next, until there is none). No descriptor, no
 * clock, no randomness of its own: a schedule of inputs is a test.
 *
 * It keeps the opening (the client's initialize byte for byte), the
 * generation, the table of calls and attempts and what is held back; it alone
 * decides to hold, forward, renew, replay, fail, open or close the listen
 * stream, end.
 */
#ifndef MCPSPLICE_CORE_SESSION_SESSION_H
#define MCPSPLICE_CORE_SESSION_SESSION_H

#include "base/log.h"
#include "core/exchange/order.h"
#include "core/stage.h"

struct session;

enum replay { REPLAY_NEVER, REPLAY_REFUSED, REPLAY_SAFE };

struct session_config {
	const char *host;    /* how people know the server; borrowed */
	const char *version; /* of this program, for a handshake of our own */
	const char *prefix;  /* of ids we make: random, JSON-safe; borrowed */
	int64_t init_timeout_ms;
	int64_t retry_window_ms;
	int64_t call_timeout_ms;
	int64_t drain_timeout_ms; /* 0: until every call is answered */
	size_t max_result;        /* bytes of a line to the client; 0: any */
	size_t max_held;          /* bytes of frames held back */
	size_t max_inflight;
	int64_t ping_interval_ms; /* 0: only where there is doubt */
	struct verdict_rules rules;
	enum replay replay;
	bool cached_start; /* somebody answers ACTION_LOAD_START */
	bool handshake;    /* do it for a client that does not */
	bool fail;         /* exit 22 if an answer was our own error */
};

enum session_input_kind {
	INPUT_CLIENT,   /* a frame of the client, located (a reference is
	                 * taken) */
	INPUT_INVALID,  /* a line from the client that is not a valid message:
	                 * bad, and frame with its id where it had one, or
	                 * NULL */
	INPUT_TOO_LONG, /* a line over the cap: size, id, request */
	INPUT_EOF,      /* of stdin */
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
	INPUT_PEER_STATE,    /* the answer to ACTION_CHECK_PEERS: rival */
	INPUT_STALE_SESSION, /* session and version: one that is left
				 * behind */
	INPUT_WAKE,          /* the machine slept, or its network changed */
	INPUT_SIGN_IN,   /* of ticket: a person is asked to sign in first, text
	                 * tells how; n 0: no more */
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
	struct span result, tools; /* MEMORY: raw JSON */
	struct span session, version;
	struct span text; /* SIGN_IN */
	bool newer_peer;
	bool ok;            /* ENDPOINT */
	bool probe;         /* CLIENT: somebody waits who is less patient than a
		     * client after initialize */
	uint64_t secret[2]; /* for a chain that wants it: to be guessed by
			     * nobody */
};

enum session_action_kind {
	ACTION_NONE,
	ACTION_SEND,         /* an exchange; done comes back for its ticket */
	ACTION_ABORT,        /* end the exchange of ticket */
	ACTION_WRITE,        /* frame to the client */
	ACTION_READ,         /* read stdin or do not, as on tells */
	ACTION_LOG,          /* level, text: a decision, for people */
	ACTION_LOAD_START,   /* say what is remembered of a start whose client
			  * asked for version, if anything */
	ACTION_SAVE_START,   /* version, result and tools of a good start */
	ACTION_SAVE_SESSION, /* session and version: to be ended by somebody
			  * if we cannot; n 0: there is none any more */
	ACTION_FOUND,        /* what the server speaks (of a chain only) */
	ACTION_CHECK_PEERS,  /* does another copy of us have a newer
				 * session? */
	ACTION_EXIT          /* flush stdout, then end with status */
};

struct session_action {
	enum session_action_kind kind;
	uint64_t ticket;     /* SEND, ABORT */
	struct order order;  /* SEND; its parts are borrowed, as all below */
	struct frame *frame; /* WRITE */
	/* The client's request; NULL: none. WRITE, of the server: on whose own
	 * stream it came; SEND: that goes out, perhaps under another id */
	const struct frame *related;
	struct span session, version; /* KEEP; REMEMBER, RECALL */
	struct span result, tools;    /* REMEMBER */
	bool modern, sse, dual;       /* FOUND */
	bool on;
	enum log_level level;
	const char *text;
	int status;
};

struct session *session_new(const struct session_config *config);
void session_free(struct session *s);
void session_step(struct session *s, const struct session_input *in);
/* The next action; what it borrows is valid until the next call of
 * session_next or session_step. Returns false when there is none. */
bool session_next(struct session *s, struct session_action *action);
/* When INPUT_TICK is due, in the time of the inputs; -1: never. */
int64_t session_deadline(const struct session *s);
/* See enum session_listening. */
enum session_listening session_listening(const struct session *s);
/* The server's latest answer to initialize; NULL: none. Borrowed. */
struct frame *session_initialize_answer(const struct session *s);
/* A page for people: phase, generation, calls, stream. No secret in it. */
void session_describe(const struct session *s, struct buf *out);

#endif
