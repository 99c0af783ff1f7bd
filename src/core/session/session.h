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
#include "core/events.h"
#include "core/exchange/order.h"

struct session;

enum replay { REPLAY_NEVER, REPLAY_REFUSED, REPLAY_SAFE };

/* What answers initialize if the server does not. */
enum session_start {
	START_AUTO,     /* the startup cache, else the stand-in, but an error if
			 * nobody is there */
	START_WAIT,     /* nothing */
	START_STAND_IN, /* the startup cache, else the stand-in */
	START_INSTANT,  /* the startup cache at once, else as START_AUTO */
	START_ONCE      /* nothing; it fails soon if the server is away: for
			 * the commands of a person */
};

/* Which tools the client gets: patterns with * and ?; borrowed. */
struct tool_filter {
	const char *const *ignore, *const *only;
	size_t n_ignore, n_only; /* 0: no such patterns */
	bool read_only;          /* only tools with readOnlyHint */
};

struct session_config {
	const char *host;    /* the server's name in texts for people;
			      * borrowed */
	const char *version; /* of this program, for the initialize of
			      * --handshake */
	const char *prefix;  /* of ids that mcpsplice makes: random, JSON-safe;
			      * borrowed */
	int64_t init_timeout_ms;
	int64_t retry_window_ms;
	bool try_first; /* answers may be broken (HTTP/2): a ping is answered
			 * before calls go out */
	int64_t call_timeout_ms;
	int64_t drain_timeout_ms; /* 0: until every call is answered */
	size_t max_result;        /* bytes of a line to the client; 0: any */
	size_t max_held;          /* bytes of frames held back */
	size_t max_bodies;        /* bytes of calls at the server */
	size_t max_inflight;
	int64_t ping_interval_ms; /* 0: ping only if there is doubt */
	struct verdict_rules rules;
	struct tool_filter filter;
	enum replay replay;
	enum session_start start;
	bool legacy;       /* the modern protocol is not to be spoken */
	bool cached_start; /* the caller answers ACTION_LOAD_START */
	bool handshake;    /* initialize for a client that does not */
	bool fail;         /* exit with 22 if mcpsplice made an error itself */
	bool fail_any;     /* or if the client got any error */
};

struct session *session_new(const struct session_config *config);
void session_free(struct session *s);
void session_step(struct session *s, const struct event *in);
/* May a message of the client go on to the server? If not, *why gets the reason
 * for INPUT_INVALID. To be asked before core/modern_client makes anything of
 * it. */
bool session_admits(const struct session *s, const struct frame *f,
    enum invalid_line *why);
/* Gives the next action, or returns false if there is none. What the action
 * borrows is valid until the next call of session_next or session_step. */
bool session_next(struct session *s, struct event *action);
/* When INPUT_TICK is due, in the time of the inputs, or ALARM_NEVER. */
int64_t session_deadline(const struct session *s);
/* Has the session a listen stream? */
enum session_listening session_listening(const struct session *s);
/* The server's latest answer to initialize (borrowed), or NULL. */
struct frame *session_initialize_answer(const struct session *s);
/* A few words about the state, for the trace and for a client that is part of
 * this program. The chain fills in modern and sse. */
struct session_brief {
	const char *phase; /* static */
	uint64_t generation;
	const char
	    *version;     /* that the server chose; borrowed; NULL: not yet */
	bool has_id;      /* the server gave a session id */
	bool modern, sse; /* the server; neither: Streamable HTTP */
	enum session_listening listening;
	struct span client; /* clientInfo of the client, JSON; borrowed; empty:
			     * not yet */
};

struct session_brief session_brief(const struct session *s);
/* Writes a page for people: phase, generation, calls, stream. The page has no
 * secret in it. */
void session_describe(const struct session *s, struct buf *out);

#endif
