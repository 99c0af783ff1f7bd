/*
 * The inside of the session reducer, shared by the files it is made of:
 *   session.c         inputs, actions, timers, the end
 *   session_client.c  what the client sends
 *   session_server.c  what the server answers
 *   session_renew.c   opening, losing, renewing, replaying
 *   session_listen.c  the GET stream
 * Nobody else includes this.
 */
#ifndef MCPSPLICE_WIRE_SESSION_STATE_H
#define MCPSPLICE_WIRE_SESSION_STATE_H

#include "wire/backoff.h"
#include "wire/calls.h"
#include "wire/fault.h"
#include "wire/questions.h"
#include "wire/session.h"

enum {
	READY_MS = 10 * 1000, /* for the 2xx to initialized */
	NOTE_MS = 30 * 1000,  /* for the 2xx to a notification */
	TELL_MS = 30 * 1000,  /* between two rounds of list_changed */
	MAX_NOTES = 64,       /* notifications under way at once */
	MAX_QUESTIONS = 256,  /* of the server, open at the client */
	MAX_EARLY = 1 << 20,  /* bytes kept until initialize is answered */
	ANSWERED = 64,        /* answered ids remembered */
	RENEW_MS = 15 * 1000, /* for a new session */
	FAMILIES = 3,
	LINGER_MS = 5 * 1000, /* a stream may stay after its answer */
	DELETE_MS = 1000,
	RETRY_AFTER_MAX_MS = 20 * 1000
};

/* In the order they come in; the gate for requests is open in OPENED and
 * LIVE. */
enum phase {
	PHASE_IDLE,     /* no initialize yet, or it failed */
	PHASE_OPENING,  /* initialize is under way */
	PHASE_OPENED,   /* answered; the client has not said initialized */
	PHASE_READYING, /* initialized sent, its 2xx awaited */
	PHASE_LIVE,
	PHASE_RENEWING, /* our own initialize is under way */
	PHASE_DEAD,     /* lost, and a renewal failed: the next call tries */
	PHASE_CLOSING,  /* DELETE is under way */
	PHASE_ENDED
};

struct held {
	struct held *next;
	struct frame *frame;
	struct call *call; /* NULL: a notification */
};

enum listen_state {
	LISTEN_OFF,     /* not wanted yet, or not now */
	LISTEN_REFUSED, /* the server has none: never again */
	LISTEN_WAITING, /* opens at listen.at */
	LISTEN_LOST,    /* the session is gone; renewed at listen.at */
	LISTEN_OPEN
};

struct listen {
	enum listen_state state;
	uint64_t ticket; /* LISTEN_OPEN */
	int64_t at;
	int64_t since;
	bool worked; /* a 2xx came in this generation */
	bool event;  /* this stream delivered something */
	unsigned tries;
	unsigned asleep; /* renewals it began without a client frame */
	struct buf last_event_id;
	int64_t retry_ms;
	struct backoff_rate rate;
};

struct action {
	enum session_action_kind kind;
	uint64_t ticket;
	struct frame *frame;
	enum log_level level;
	char *text;
	bool on;
	int status;
};

struct session {
	struct session_config config;
	enum phase phase;
	int64_t phase_deadline; /* -1: none */
	struct generation *generation;
	struct frame *opening; /* the initialize that is repeated */
	struct frame *ready;   /* notifications/initialized */
	bool own_handshake;
	struct calls calls;
	size_t in_flight; /* calls that are running */
	struct held *held, *held_last;
	size_t held_bytes;
	struct questions questions;
	/* Of the server, before initialize is answered. */
	struct held *early, *early_last;
	size_t early_bytes;
	struct listen listen;
	struct backoff_budget budget;
	bool counted; /* the current generation was counted as no help */
	struct frame *last_refusal;
	bool tells_changes[FAMILIES]; /* tools, prompts, resources */
	bool renewed; /* the client is to be told that lists may differ */
	int64_t told_at, tell_at;    /* when it was, and is due; -1: never */
	uint64_t answered[ANSWERED]; /* hashes of ids, a ring */
	size_t next_answered;
	char *former_version; /* of the generation before, to compare */
	uint64_t ids;         /* made by us */

	bool reading;
	bool eof;
	bool stopped;
	bool exiting;
	bool broken;
	bool own_errors;
	int64_t drain_deadline; /* -1: none */

	int64_t now;
	uint64_t random;
	int64_t deadline; /* -1: none; may be earlier than needed */
	struct action *actions;
	size_t n_actions, next_action, cap_actions;
	struct action current; /* what session_next lent last */
};

/* session.c */
void session_note(struct session *s, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void session_write(struct session *s, struct frame *f);
void session_abort(struct session *s, struct leg *l);
/* Sends a leg now. */
void session_start(struct session *s, struct leg *l);
/* A copy of this leg that goes out in wait ms; the old one is dropped. */
struct leg *session_again(struct session *s, struct leg *l, int64_t wait);
/* Something is due at this time. */
void session_due(struct session *s, int64_t at);
void session_phase(struct session *s, enum phase phase, int64_t deadline);
void session_close(struct session *s);
void session_closed(struct session *s);
/* Ends a session at the server; takes a second at most. */
void session_delete(struct session *s, struct generation *g);
void session_want_read(struct session *s);

/* session_client.c */
void session_client(struct session *s, struct frame *f);
void session_bad(struct session *s, const struct session_input *in);
/* Sends what was held back, as far as the gate and the cap allow. */
void session_pump(struct session *s);
void session_call_state(struct session *s, struct call *c,
    enum call_state state);
/* Writes the answer (id put right) or nothing when the call was cancelled,
 * and forgets the call. answer is borrowed. */
void session_answer(struct session *s, struct call *c, struct frame *answer);
/* Was a call with this id answered lately? */
bool session_was_answered(const struct session *s, struct span id);
/* The same as session_answer with an error of our own, which is taken. */
void session_fail(struct session *s, struct call *c, struct frame *error);
void session_send_call(struct session *s, struct call *c);
/* false only when its request was certainly not sent, or refused. */
bool session_may_have_run(const struct call *c);
struct leg *session_send_note(struct session *s, struct frame *f);
/* Forgets what is held; calls in it get no answer here. */
void session_unhold(struct session *s, struct call *c);
void session_drop_notes(struct session *s);

/* session_server.c */
void session_head(struct session *s, struct leg *l, const struct facts *f);
void session_message(struct session *s, struct leg *l, const struct facts *f,
    struct frame *m);
void session_done(struct session *s, struct leg *l, const struct facts *f);
/* Calls that were answered 202 will have no answer: the listen stream, or
 * (lost) the session, is gone. */
void session_fail_accepted(struct session *s, bool lost);
/* Takes the oldest message of before initialize was answered, or NULL. */
struct frame *session_take_early(struct session *s);

/* session_renew.c */
void session_open(struct session *s, struct frame *initialize, struct call *c);
void session_open_own(struct session *s);
void session_opened(struct session *s, struct leg *l, const struct facts *f,
    struct frame *m);
void session_open_failed(struct session *s, const struct facts *f,
    struct frame *error);
void session_readied(struct session *s);
void session_begin_ready(struct session *s);
void session_renew(struct session *s, const char *why);
/* The same where no call of the client waits for it: a server must not make
 * us spin. */
void session_renew_unasked(struct session *s, const char *why);
void session_tell_changes(struct session *s);
/* The call of this leg was refused as lost (it did not run). refusal is the
 * server's error, or NULL. */
void session_refused(struct session *s, struct call *c, struct leg *l,
    const struct facts *f, struct frame *refusal);
/* A call needs the session that is known dead: NULL when it is renewed now,
 * else the error for the call with this id (owned by the caller). */
struct frame *session_revive(struct session *s, struct span id);

/* session_listen.c */
void session_listen_open(struct session *s);
void session_listen_close(struct session *s);
void session_listen_head(struct session *s, const struct facts *f);
void session_listen_event(struct session *s);
void session_listen_done(struct session *s, const struct facts *f);
void session_listen_tick(struct session *s);

#endif
