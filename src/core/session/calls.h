/*
 * The table of calls and attempts. A call is one request of the client, from
 * its frame to its answer. An attempt is one attempt at something: an exchange
 * with the server, named by its ticket, which may outlive the call it was for
 * (the answer came, the transport has not ended) or be outlived by it (a
 * replay, a resumption: a new attempt of the same call).
 */
#ifndef MCPSPLICE_CORE_SESSION_CALLS_H
#define MCPSPLICE_CORE_SESSION_CALLS_H

#include "base/alarm.h"
#include "base/idtable.h"
#include "core/exchange/verdict.h"

/* What the server calls a session, and what we count as one. Refcounted:
 * an attempt keeps the generation it was sent with. */
struct generation {
	unsigned refs;
	uint64_t number;
	char *session;       /* NULL: the server keeps none */
	char *version;       /* NULL until negotiated */
	int64_t ready_at;    /* initialized was taken; 0: not yet */
	int64_t served_at;   /* the latest answer in it; 0: none */
	unsigned replays_ok; /* calls that were refused before and worked in
				* it */
	bool lost;           /* known to be gone, not renewed yet */
	bool counted;        /* the renewal that made it counts as no help */
	bool made_room;      /* the session before it was ended for it */
	const char *why; /* the rule by which it was lost; static, or NULL */
	bool initialized_resent; /* initialized was sent again, as it was
				      * not taken */
	bool initialized_denied; /* initialized was refused for its
				     * credentials */
};

struct generation *generation_new(uint64_t number);
struct generation *generation_ref(struct generation *g);
void generation_unref(struct generation *g);

enum call_state {
	CALL_HELD,    /* not sent yet */
	CALL_RUNNING, /* has an attempt, which is live or goes out later */
	CALL_REFUSED, /* refused as lost: waits for the next generation */
	CALL_SUSPECT, /* refused, perhaps as lost: waits for a ping */
	CALL_ACCEPTED /* 202: the answer is due on another stream */
};

struct call {
	struct call *next, *prev; /* in the client's order */
	struct idtable_entry by_id;
	struct frame *frame; /* the request */
	struct frame *sent;  /* the same under an id of ours, if it was sent
			      * like that */
	enum call_state state;
	bool cancelled;
	bool asked;      /* the user may have been asked on its behalf */
	bool repeated;   /* sent again although it may have run */
	bool unready;    /* sent again to a session that was too new */
	bool progressed; /* progress is the latest that was passed on */
	double progress;
	bool token_known;
	struct span token;   /* see calls_token */
	uint64_t ran_in;     /* the latest generation it was sent in; 0: none */
	uint64_t refused_in; /* the latest that refused it as lost */
	uint64_t replayed;   /* the latest generation it was sent again in, as
			    * refused by one before; 0: none */
	unsigned flaps;      /* sent again to the same generation, as refused */
	int64_t flaps_end;   /* no further flap then; ALARM_NEVER: none yet */
	int64_t lost_at;     /* refused as lost for the first time; 0: not */
	int64_t again_at;    /* CALL_ACCEPTED: given up then, or never */
	uint64_t accepted;   /* CALL_ACCEPTED: origin of the attempt that was */
	int64_t user_at;     /* it waits for a person until then;
			    * ALARM_NEVER: for none */
	struct attempt *attempt;
	struct frame *refusal; /* the server's own words, NULL if none */
	struct frame *verdict; /* CALL_SUSPECT without a refusal: our error */
	struct generation *suspect; /* CALL_SUSPECT: which one it doubts */
	bool suspect_ran; /* CALL_SUSPECT: it may have run before it was
			   * refused */
	int status;       /* of the refusal */
	const char *rule; /* that made it one; static */
};

enum attempt_kind {
	ATTEMPT_CALL,    /* a request of the client */
	ATTEMPT_OPEN,    /* an initialize: the client's or our own */
	ATTEMPT_READY,   /* notifications/initialized */
	ATTEMPT_ONE_WAY, /* a notification or an answer of the client */
	ATTEMPT_LISTEN,  /* the GET stream */
	ATTEMPT_PING,    /* of our own: does the session live? */
	ATTEMPT_RESTORE, /* what the session before was told, of our own */
	ATTEMPT_DELETE
};

struct attempt {
	struct attempt *next, *prev;
	struct idtable_entry by_ticket;
	bool dropped;                 /* it is freed by calls_reap, */
	struct attempt *next_dropped; /* with these */
	uint64_t ticket;
	enum attempt_kind kind;
	struct call *call; /* NULL: none, or answered already */
	struct generation *generation;
	struct frame *body;       /* what is POSTed; NULL for a GET */
	struct buf last_event_id; /* where a GET goes on */
	unsigned tries;
	bool live;           /* an exchange is under way */
	bool waits_for_user; /* it waits for one to sign in */
	int64_t retry_ms;    /* the stream's own, -1: none */
	bool spoke;          /* something but the answer came on it */
	bool answered;      /* ATTEMPT_PING, ATTEMPT_RESTORE: its answer came */
	bool after_delete;  /* ATTEMPT_OPEN: waits for a DELETE */
	bool suspect;       /* ATTEMPT_ONE_WAY, not live: refused, waits for a
			     * ping */
	struct ruling said; /* what its error response means; rule NULL: none
			     * came, or it is one of those that have a call */
	int64_t silent_at;  /* ATTEMPT_CALL, live: too long without a word
			     * then */
	unsigned silences;  /* how often it was */
	unsigned resumes;   /* streams of it that were fetched again */
	int64_t out_at;     /* its request was written, as far as known */
	int64_t head_at;    /* the head of its answer came; 0: not */
	int64_t event_at;   /* ATTEMPT_CALL: the call's latest event or message,
			     * or when it was sent */
	int64_t dead_at;    /* its session is gone and it is silent: given up
			  * then; ALARM_NEVER: not so */
	uint64_t origin; /* ticket of the attempt that this one goes on for */
	uint64_t asker;  /* ATTEMPT_ONE_WAY: origin of the attempt that asked,
			  * or 0 */
	int status;      /* ATTEMPT_ONE_WAY, suspect: HTTP status of the
			  * refusal */
	int64_t window_end; /* retries end here; ALARM_NEVER: not begun */
	int64_t start_at;   /* not live: goes out then, or never */
	int64_t abort_at;   /* live: ended then, or never */
};

struct calls {
	struct call *first, *last;
	size_t n;
	size_t n_sent; /* of the calls, those with an id of ours */
	struct idtable by_id;
	struct attempt *attempts, *dropped;
	size_t n_attempts;
	/* Of the attempts, those that are ATTEMPT_ONE_WAY: */
	size_t n_notifications; /* notifications, cancels too */
	size_t n_answers;       /* answers to questions of the server */
	struct idtable by_ticket;
	uint64_t next_ticket;
};

void calls_init(struct calls *t);
void calls_free(struct calls *t);

/* Adds a call for a request frame (takes a reference), in the order of
 * arrival. */
struct call *calls_add(struct calls *t, struct frame *f);
/* The open call with this id, or NULL. */
struct call *calls_find(const struct calls *t, struct span id);
/* The call goes to the server as f (NULL: as it came), which is taken. */
void calls_send_as(struct calls *t, struct call *c, struct frame *f);
/* The open call that was sent under this id of ours, or NULL. It is looked
 * for, not found by a hash. */
struct call *calls_find_sent(const struct calls *t, struct span id);
/* The progress token of its request, raw JSON; p NULL: none. It is looked for
 * once, when it is asked for: params may be long. */
struct span calls_token(struct call *c);
/* The origin of the attempt that it runs on; 0: it does not run. */
uint64_t calls_origin(const struct call *c);
/* Removes and frees it; its attempt, if any, lives on without a call. */
void calls_drop(struct calls *t, struct call *c);

/* A new attempt with a fresh ticket, not live yet. call and body may be
 * NULL. */
struct attempt *calls_attempt(struct calls *t, enum attempt_kind kind,
    struct call *c, struct frame *body, struct generation *g);
struct attempt *calls_attempt_find(const struct calls *t, uint64_t ticket);
/* The one after it in t->attempts; it may have been dropped meanwhile. */
struct attempt *calls_attempt_next(const struct attempt *l);
/* Takes it out of the table; its memory stays until calls_reap, so that a
 * walk over the attempts may drop any of them. */
void calls_attempt_drop(struct calls *t, struct attempt *l);
void calls_reap(struct calls *t);

/* May this request be repeated although it may have run? By method. */
bool calls_safe(const struct frame *request);

#endif
