/*
 * The table of calls and attempts. A call is one request of the client, from
 * its frame to its answer. An attempt is one exchange with the server, named by
 * its ticket. An attempt may outlive its call, if the answer came before the
 * transport ended; and a call may outlive its attempt, because a replay or a
 * resumption is a new attempt for the same call.
 */
#ifndef MCPSPLICE_CORE_SESSION_CALL_TABLE_H
#define MCPSPLICE_CORE_SESSION_CALL_TABLE_H

#include "base/alarm.h"
#include "base/hash.h"
#include "core/exchange/verdict.h"
#include "core/session/pages.h"
#include "core/wire/msg.h"

enum { WITNESSES = 4 /* for one doubt */ };

/* What the witnesses of a doubt have told. A witness is a request that no tool
 * handles: a ping, or a list. */
struct inquiry {
	uint64_t door;      /* the mark of the refusal that a witness got, too;
			     * 0: none */
	uint64_t cleared;   /* the mark of a refusal in the session before: here
			     * the witness did not get it */
	unsigned under_way; /* witnesses */
	bool second;        /* the other kind of witness was asked, too */
	uint64_t from;      /* the ticket of the first witness */
	int64_t took_ms;    /* by the slowest witness so far */
	bool answered[2];   /* a ping, a list was answered */
	bool gone;          /* one got words of a loss, or nothing at all */
	struct {
		bool list;
		uint64_t mark;
	} refused[WITNESSES];
	size_t n_refused;
};

/* One session of the server. Generations are counted from 1. A generation is
 * refcounted: an attempt keeps the one it was sent with. */
struct generation {
	unsigned refs;
	uint64_t number;
	char *session;     /* its id; NULL: the server gave none */
	bool changed;      /* its server speaks another protocol than the one
			    * before */
	bool renamed;      /* the server renamed it, and has taken nothing
			      * under that name yet */
	char *version;     /* the revision; NULL until it is negotiated */
	int64_t ready_at;  /* when the server took initialized; 0: not yet */
	int64_t served_at; /* when it last answered a call; 0: never */
	uint64_t worked;   /* the methods of requests that had a result: a
			      * bit for each, by its hash */
	uint64_t named;    /* likewise of results that came with the session's
			    * id, */
	uint64_t unnamed;  /* and without */
	bool lost;         /* it is known to be gone, and not renewed yet */
	bool counted;      /* its renewal costs no more budget */
	bool made_room;    /* the session before it was deleted so that the
			      * server accepts this one */
	const char *why; /* the rule that says it was lost; static; NULL: it was
			  * not */
	unsigned initialized_again; /* how often initialized was sent again
				     * after the server got it */
	bool hedged;              /* its initialize was silent, and a second one
				  * was sent */
	bool initialized_refused; /* the server did not take initialized */
	bool second; /* the session before was gone before initialized */
	bool initialized_denied; /* initialized was answered with 401 or 403 */
	bool ended;              /* a DELETE was sent for it */
	unsigned unproved;       /* refusals with words of a loss since it last
			    * answered a call, while it answered witnesses */
	bool broken;             /* a stream ended, or a connection broke, since
				  * it last answered a call */
	struct inquiry inquiry;
};

struct generation *generation_new(uint64_t number);
struct generation *generation_ref(struct generation *g);
void generation_unref(struct generation *g);

/* A refusal of a call, until a witness tells whether it was the door's. */
struct doubt {
	struct generation *generation; /* that refused it; NULL: there is no
					* doubt */
	uint64_t mark;                 /* see refusal_mark */
	uint64_t from; /* the first ticket of a witness that was sent
			      * after the refusal */
	int64_t refused_at;
	int64_t took_ms;     /* from the end of the request to the refusal */
	bool rested;         /* see attempt.rested */
	bool failed;         /* the server failed, and said nothing of a
			      * session */
	bool usable;         /* if a witness is refused in the same way, the
			      * call did not run */
	bool likely;         /* it speaks of a lost session, or is a 404 or a
			      * 410 */
	bool spoken;         /* it speaks of a lost session, and the id is not
			      * the request's */
	bool gated;          /* it came in a 2xx, or speaks of initialization:
			      * servers answer pings before that */
	bool unready;        /* the new session was not ready for it */
	struct frame *error; /* the error that mcpsplice made, if the refusal
			      * was none of the server's */
};

enum call_state {
	CALL_HELD,    /* not sent yet */
	CALL_RUNNING, /* it has an attempt, which is live or starts later */
	CALL_REFUSED, /* refused because the session is lost; waits for the next
		       * generation */
	CALL_SUSPECT, /* perhaps refused because the session is lost; waits for
		       * a witness */
	CALL_ACCEPTED /* answered 202: the answer comes on the listen stream */
};

struct call {
	struct call *next, *prev; /* in the client's order */
	struct hash_entry by_id;
	struct frame *frame; /* the request */
	struct frame *sent;  /* the same request under an id that mcpsplice
			      * made; NULL: it goes out as it came */
	struct held *held;   /* its place among the frames that are held back;
			      * NULL: it has none */
	enum call_state state;
	bool cancelled;
	bool asked;      /* the server may have asked the user something on its
			  * behalf */
	bool repeated;   /* it was sent again although it may have run */
	bool if_changed; /* CALL_REFUSED: it is sent again if the new session is
			  * with a server of another protocol */
	bool mirrored;   /* it was sent with the headers of mirrored.c */
	bool unready;    /* it was sent again because the session was not ready
			  * for it */
	bool spoke;      /* the server has said something of it */
	struct msg_progress progress; /* that the client was told */
	int64_t note_at;     /* when it is told next that the call waits;
			      * ALARM_NEVER: it does not wait, as far as known */
	uint64_t ran_in;     /* the number of the latest generation it was sent
			      * in; 0: none */
	uint64_t refused_in; /* the number of the latest generation that refused
			      * it */
	uint64_t replayed;   /* the number of the latest generation it was
			      * replayed in; 0: none */
	unsigned replays; /* how often it was sent again because a refusal was
			      * proved to be the door's */
	unsigned flaps;   /* how often it was sent again in the generation
			      * that refused it */
	int64_t waits_since; /* when it came, or was refused for the last
			      * time */
	int64_t again_at;    /* when it is given up, if it was accepted, or has
			      * pages */
	struct pages *pages; /* of the list that it asks for, if there are
			      * several; NULL: none was read */
	uint64_t pages_in;   /* the number of the generation that gave them; 0:
			      * the list begins again */
	unsigned restarts;   /* how often the list was begun again since */
	uint64_t accepted;   /* CALL_ACCEPTED: the origin of its attempt */
	int64_t away_until;  /* when its repeats after a gateway's status end;
			       * ALARM_NEVER: there was none */
	unsigned asks;       /* the number of the question for a sign-in that
			      * parks it at a modern client; 0: none */
	int64_t user_at;     /* when it stops waiting for the user to sign in;
			      * ALARM_NEVER: it does not wait */
	struct attempt *attempt;
	struct frame *refusal; /* the server's error that refused it, or NULL */
	struct doubt doubt;    /* CALL_SUSPECT */
	int status;            /* the HTTP status of the refusal */
	unsigned notes;        /* how often the client was told that it waits */
	const char *rule;      /* the rule that made it a refusal; static */
};

enum attempt_kind {
	ATTEMPT_CALL,     /* a request of the client */
	ATTEMPT_OPEN,     /* an initialize: the client's or our own */
	ATTEMPT_READY,    /* notifications/initialized */
	ATTEMPT_ONE_WAY,  /* a notification or an answer of the client */
	ATTEMPT_LISTEN,   /* the GET stream */
	ATTEMPT_PING,     /* a ping that finds out whether the session lives */
	ATTEMPT_WITNESS,  /* a ping or a list, whose refusal or answer tells
			  * whether the door refused a call */
	ATTEMPT_DOOR,     /* a ping that tells whether the door wants other
			  * credentials */
	ATTEMPT_STRANGER, /* a ping under a session id that nobody has, which
			   * tells whether the server takes any id */
	ATTEMPT_MIRROR,   /* tools/list or server/discover, whose answer helps
			   * with -32020 */
	ATTEMPT_LIST,     /* a list that the client has, read in a new
			   * session */
	ATTEMPT_RESTORE,  /* a setting that is restored in a new session */
	ATTEMPT_DELETE
};

struct attempt {
	struct attempt *next, *prev;
	struct hash_entry by_ticket;
	bool dropped;                 /* it left the table and waits for
				       * calls_reap */
	struct attempt *next_dropped; /* the next one that waits so */
	uint64_t ticket;
	enum attempt_kind kind;
	struct call *call; /* NULL: it has no call, or the call is over */
	struct generation *generation;
	struct frame *body;       /* what is POSTed; NULL for a GET */
	struct buf last_event_id; /* not empty: a GET resumes the stream after
				   * this event */
	unsigned tries;
	bool live;           /* an exchange is under way */
	bool fresh;          /* the exchange gets a connection of its own:
			      * another replica may be behind it */
	bool waits_for_user; /* the exchange waits until the user has signed
			      * in */
	int64_t retry_ms;    /* the server's "retry" for the stream; -1: none */
	bool away;           /* the server was not there for it */
	bool spoke;          /* a message other than an answer came on it */
	bool answered;       /* ATTEMPT_PING, ATTEMPT_WITNESS, ATTEMPT_DOOR,
			      * ATTEMPT_RESTORE:
			     * its answer came */
	bool list;           /* ATTEMPT_WITNESS, ATTEMPT_MIRROR: it asks for a
			      * list */
	bool control;        /* ATTEMPT_WITNESS: it asks in the new session */
	bool denied;         /* ATTEMPT_WITNESS: it was refused with 401 or
			      * 403 */
	bool rested;         /* ATTEMPT_CALL: before it was sent the session had
			     * shown a break, or answered nothing for long */
	bool lingers;        /* nothing more is expected of it; see
			     * session_linger */
	bool after_delete;   /* ATTEMPT_OPEN: waits for a DELETE */
	bool unasked;        /* ATTEMPT_OPEN: it was sent for a spare session */
	bool suspect;        /* ATTEMPT_ONE_WAY, not live: it was refused and
			     * waits for a ping */
	uint64_t ping_from;  /* suspect: as call.ping_from */
	struct ruling said; /* what the error in its answer means; rule NULL: no
			     * error came, or the error went to a call */
	struct kept_facts *unauthorized; /* ATTEMPT_CALL: its refusal by a
					  * 401, which waits for an
					  * ATTEMPT_DOOR; or NULL */
	int64_t silent_at; /* ATTEMPT_CALL, ATTEMPT_OPEN, ATTEMPT_WITNESS, live:
			     * when it has been silent for too long */
	unsigned silences; /* how often the call was silent for too long */
	unsigned resumes;  /* how often its stream was resumed */
	unsigned in_vain;  /* so many of these were answered, and told
			    * nothing */
	int64_t resumed_at; /* when its stream was first resumed; 0: it was
			     * not */
	int64_t out_at;     /* when its request was written, as far as known */
	int64_t head_at;    /* when the head of its answer came; 0: not yet */
	int64_t event_at;   /* ATTEMPT_CALL: when the call last had an event or
			     * a message, or was sent */
	int64_t dead_at;    /* when the silent call is given up because its
			     * session is gone */
	uint64_t origin;    /* the ticket of the first attempt in a chain of
			  * copies; its own for the first */
	uint64_t asker;     /* ATTEMPT_ONE_WAY: the origin of the attempt whose
			  * question it answers, or 0 */
	int status;         /* the HTTP status of the refusal for now, after
			     * which it is sent again; ATTEMPT_ONE_WAY, suspect:
			     * of its refusal */
	int64_t window_end; /* when retries end; ALARM_NEVER: none began */
	int64_t start_at;   /* not live: when it goes out */
	int64_t abort_at;   /* live: when it is aborted */
};

struct calls {
	struct call *first, *last;
	size_t n;
	size_t n_sent; /* how many of the calls have another id (sent) */
	struct hash by_id;
	struct attempt *attempts, *dropped;
	size_t n_attempts;
	/* How many of the attempts are ATTEMPT_ONE_WAY: */
	size_t n_notifications; /* with notifications, cancels included */
	size_t n_answers;       /* with answers to questions of the server */
	struct hash by_ticket;
	uint64_t next_ticket;
};

void calls_init(struct calls *t);
void calls_free(struct calls *t);

/* Adds a call for a request frame (takes a reference), in the order of
 * arrival. */
struct call *calls_add(struct calls *t, struct frame *f);
/* The open call with this id, or NULL. */
struct call *calls_find(const struct calls *t, struct span id);
/* From now on the call is sent as f, which is taken; NULL: as it came. */
void calls_send_as(struct calls *t, struct call *c, struct frame *f);
/* The open call whose frame "sent" has this id, or NULL. There is no hash: the
 * walk ends at the last call that has such a frame. Very many held calls may
 * follow. */
struct call *calls_find_sent(const struct calls *t, struct span id);
/* The origin of the attempt that the call runs on; 0: it does not run. */
uint64_t calls_origin(const struct call *c);
/* Removes and frees a call. Its attempt, if it has one, stays without a
 * call. */
void calls_drop(struct calls *t, struct call *c);

/* Adds an attempt with a new ticket, not live yet. The call (c) and the body
 * may be NULL. */
struct attempt *calls_attempt(struct calls *t, enum attempt_kind kind,
    struct call *c, struct frame *body, struct generation *g);
struct attempt *calls_attempt_find(const struct calls *t, uint64_t ticket);
/* The attempt after a in t->attempts. a may have been dropped meanwhile. */
struct attempt *calls_attempt_next(const struct attempt *a);
/* Is the stream of a call being resumed, by a GET that went out at this time or
 * later? */
bool calls_resumed_since(const struct calls *t, int64_t since);
/* Takes an attempt out of the table. Its memory stays until calls_reap, so that
 * a walk over the attempts may drop any of them. */
void calls_attempt_drop(struct calls *t, struct attempt *a);
void calls_reap(struct calls *t);

/* Does its method say that this request may be repeated although it may have
 * run? Never that of an ambiguous one. */
bool calls_safe(const struct frame *request);

#endif
