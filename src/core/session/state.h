/*
 * The state of the session reducer: structures and constants.
 *
 * A file of this folder includes and calls only files that come before it here:
 *   session.h                        what others see
 *   pages                            a list in pages
 *   call_table, tools                tables
 *   state.h, parts.h                 structures; the functions of all others
 *   question_table, settings         tables
 *   actions, to_client               what the caller does, and the client gets
 *   phase, attempt                   the phase, one attempt
 *   own_request, delete              requests of ours, the DELETE of a session
 *   order                            what an attempt becomes for the caller
 *   held, call, one_way,
 *   question_answers                 the life of one thing
 *   listen, renew, end, mirrored,
 *   replay, own_ping, witness,
 *   sign_in, waits, early_start,
 *   lists, live, open                the parts
 *   judge                            what the answer to a call means
 *   from_client, from_server,
 *   exchange_end, due                what comes in; they call parts, and never
 *                                    each other
 *   invariants                       the invariants below, asserted
 *   step                             gives each input to one of from_client to
 *                                    due
 * A part that needs something from a later one leaves a fact here, and the end
 * of the step picks it up (opener, asking.answer). No file outside this folder
 * includes this.
 *
 * Invariants, at the end of every step (session_sane checks them):
 * - Every call in the table still waits for its answer. in_flight counts the
 *   calls that are not held, in_flight_bytes the size of their frames,
 *   calls.n_sent those with an id that mcpsplice made.
 * - A call that is running has an attempt, and that attempt points back to the
 *   call. A call in another state has no attempt.
 * - Each held call has one entry in the queue "held", and each entry there
 *   that has a call has a held one.
 * - A suspect call has a witness under way for its generation, a suspect
 *   attempt a ping. A suspect call keeps the server's error, or one that
 *   mcpsplice made, or both.
 * - An attempt is live, or has a time at which it starts, or is suspect: one of
 *   the three. A live attempt has one exchange, which its ticket names.
 * - calls.n_notifications and calls.n_answers count the attempts that are
 *   ATTEMPT_ONE_WAY. Each queue counts its frames and their bytes.
 * - The open questions and the answers that wait are BOUND_SOME at most;
 *   the answers have max_held bytes at most, unless there is only one.
 * - No attempt, call or question has a later generation than the current one;
 *   except the initialize of the spare session.
 *   The former generation is an earlier one. A generation has no session id
 *   and no version until its initialize was answered.
 * - An alarm is set only in the state that it belongs to: ALARM_PHASE in a
 *   phase that has a lateness, ALARM_LAST while the last messages are waited
 *   for, ALARM_LISTEN while the listen stream waits, ALARM_TELL and
 *   ALARM_SAY while live, ALARM_BURST while a list_changed is kept, and
 *   ALARM_WAITS while the client is to be told that a call waits.
 * - The deadline is not later than anything that is due, and after a tick
 *   nothing is due before now. The silence of a call is an exception to both.
 */
#ifndef MCPSPLICE_CORE_SESSION_STATE_H
#define MCPSPLICE_CORE_SESSION_STATE_H

#include "base/alarm.h"
#include "base/bounds.h"
#include "core/era/era.h"
#include "core/exchange/backoff.h"
#include "core/exchange/facts.h"
#include "core/session/call_table.h"
#include "core/session/session.h"
#include "core/session/tools.h"
#include "core/wire/json.h"
#include "core/wire/own_id.h"

enum {
	RESTORES_AT_ONCE = 8,
	IDLE_MS = 60 * 1000,     /* a session that answered nothing for so
				     * long was idle */
	FRESH_MS = 5 * 1000,     /* how long a session is new: it may not be
				     * ready */
	FLAPPING_MS = 60 * 1000, /* a session id that was served within this
				     * time is not lost, as replicas flap */
	HOUR_MS = 60 * 60 * 1000,
	JITTER_MS = 5 * 1000 /* the random wait before a renewal that no
			      * client waits for */
};

/* The phases, in their usual order. One table in phase.c says what each
 * permits. */
enum phase {
	PHASE_IDLE,      /* no initialize yet, or it failed */
	PHASE_OPENING,   /* initialize is under way */
	PHASE_OPENED,    /* it was answered; the client has not said
			  * initialized */
	PHASE_READYING,  /* initialized was sent, its 2xx is awaited */
	PHASE_RESTORING, /* the settings are restored in a new session */
	PHASE_LIVE,
	PHASE_RENEWING, /* an initialize that mcpsplice makes is under way */
	PHASE_DEAD,     /* the renewal of a lost session failed; the next
			 * request renews it */
	PHASE_CLOSING,  /* the DELETE is under way */
	PHASE_ENDED
};

/* What a phase permits. */
enum phase_bit {
	PHASE_SERVES = 1 << 0,  /* something new may begin */
	PHASE_STARTS = 1 << 1,  /* a first session may be opened */
	PHASE_FIRST = 1 << 2,   /* the first initialize may be answered */
	PHASE_AGAIN = 1 << 3,   /* a later initialize may be answered */
	PHASE_SENDS = 1 << 4,   /* the gate: requests, notifications go out */
	PHASE_HOLDS = 1 << 5,   /* what cannot go out yet waits */
	PHASE_ANSWERS = 1 << 6, /* answers to questions go out */
	PHASE_CANCELS = 1 << 7, /* cancels go out */
	PHASE_INITIALIZED = 1 << 8, /* the client may say initialized */
	PHASE_READIES = 1 << 9,     /* initialized may be taken */
	PHASE_RESTORES = 1 << 10,   /* a setting may be restored */
	PHASE_LISTENS = 1 << 11,    /* the listen stream may open */
	PHASE_WORKS = 1 << 12,      /* the server took initialized: all may
				     * be done */
	PHASE_RENEWS = 1 << 13,     /* a renewal may begin */
	PHASE_REVIVES = 1 << 14,    /* only a renewal may begin */
	PHASE_EXITS = 1 << 15       /* the program may end */
};

/* What it means that a phase has reached its deadline. */
enum lateness {
	LATE_NEVER,   /* the phase has no deadline */
	LATE_FIRST,   /* the first initialize was not answered */
	LATE_AGAIN,   /* a later initialize was not answered */
	LATE_READY,   /* initialized got no 2xx */
	LATE_RESTORE, /* not all settings were restored */
	LATE_CLOSE    /* the DELETE has not ended */
};

/* The alarms of the session. Calls and attempts have no names here: they keep
 * their own times and note them. ALARM_NEVER stands for a time that will not
 * come. */
enum session_alarm {
	ALARM_PHASE,       /* the deadline of the phase; see
			     * session_lateness */
	ALARM_DRAIN,       /* --drain-timeout after EOF */
	ALARM_LAST,        /* the last notifications and answers have had
			     * BOUND_SHORT_MS */
	ALARM_EARLY_START, /* the client is answered without the server */
	ALARM_RENEW,       /* a renewal begins that no call waits for */
	ALARM_TELL,        /* it is found out what has changed */
	ALARM_SAY,         /* the client is told, though calls are open */
	ALARM_BURST,       /* no list_changed has come for a moment */
	ALARM_WAITS,       /* a client is told that its call waits */
	ALARM_PING,        /* --ping-interval without traffic */
	ALARM_ASK,         /* the host is asked for a sign-in */
	ALARM_LISTEN       /* the listen stream opens again */
};

/* --- the parts; each names the file that it belongs to --- */

/* held.c: frames that wait, in the order in which they came. */
struct held {
	struct held *next, *prev;
	struct frame *frame;
	size_t bytes; /* what it counts for */
	union {
		struct call *call; /* in session.held; NULL: a notification */
		uint64_t asker;    /* in session.answers: as attempt.asker */
	};
};

struct held_queue {
	struct held *first, *last;
	size_t n, bytes;
};

/* question_table.c: requests of the server that wait for the client, and the one of
 * mcpsplice itself (sign_in.c). */
#define QUESTION_OWN UINT64_MAX

struct open_question {
	struct open_question *next;
	char *server_id;     /* raw JSON, as the server wrote it */
	char *client_id;     /* raw JSON, as the client knows it */
	uint64_t generation; /* QUESTION_OWN: mcpsplice itself asks */
	uint64_t ticket;     /* the origin of the attempt that asks; 0: a ping;
			  * QUESTION_OWN */
	bool roots; /* a roots/list, which a server may ask for itself */
};

struct questions {
	struct open_question *list;
	size_t n;
	uint64_t made; /* how many ids were made */
};

/* settings.c: what a new session is told again. */
struct subscribed {
	struct subscribed *next;
	struct frame *request; /* the client's resources/subscribe */
	uint64_t told;         /* the number of the latest generation that was
			        * told */
};

struct settings {
	struct frame *level;     /* the client's logging/setLevel; NULL: none */
	struct subscribed *list; /* in the client's order */
	size_t n;
};

/* call.c: the ids of the latest calls that were answered, and the progress
 * tokens of the latest that are over, as hashes. */
struct answered {
	uint64_t ids[BOUND_FEW];    /* a ring */
	size_t n;                   /* how many were ever answered */
	uint64_t tokens[BOUND_FEW]; /* a ring */
	size_t n_tokens;            /* how many there ever were */
};

/* listen.c: the GET stream. */
enum listen_state {
	LISTEN_OFF,     /* no stream is wanted at present */
	LISTEN_REFUSED, /* the session has none; the next one asks again */
	LISTEN_WAITING, /* the stream opens at ALARM_LISTEN */
	LISTEN_SUSPECT, /* perhaps refused because the session is lost: waits
			 * for a ping */
	LISTEN_OPEN
};

struct listen_stream {
	enum listen_state state;
	uint64_t ticket; /* LISTEN_OPEN */
	int64_t since;
	bool due;    /* it opens at the end of this step */
	bool behind; /* LISTEN_OPEN: requests for lists went out before it */
	bool worked; /* a stream opened in this generation */
	bool held;   /* the server has held a stream open, in whatever
		      * session; not all send a head before the first event */
	bool broke;  /* the stream broke without an end, and the server has
		      * answered no GET since */
	uint64_t back_from; /* the stream is back after a break: as
			     * call.ping_from; 0: it is not */
	bool ids_known;     /* the server has refused an id that nobody has */
	bool pushed; /* the server ends it when another stream is resumed: it
		      * holds one at a time */
	bool hurry;  /* LISTEN_WAITING: it opens at the end of this step */
	bool event;  /* this stream delivered something */
	bool denied; /* LISTEN_OFF, because the credentials were refused */
	bool fresh;  /* the next one gets a connection of its own: another
		      * replica may be behind it */
	uint64_t ping_from; /* LISTEN_SUSPECT: as call.ping_from */
	unsigned tries;
	struct buf last_event_id;
	int64_t retry_ms;
	struct backoff_rate rate;
};

/* replay.c: what the server's event ids are worth. */
struct event_ids {
	bool none;       /* one came on the streams of two calls, or was the
		       * session's: they are not ids of events */
	bool trusted;    /* the server primes its streams, or has delivered by a
		       * resumption */
	struct buf last; /* the latest one that a call's stream had */
	uint64_t origin; /* of that stream */
};

/* end.c: the end of the program. */
enum drain {
	DRAIN_NOT,   /* stdin is open */
	DRAIN_CALLS, /* stdin has ended, and calls are open */
	DRAIN_LAST,  /* no call is open; notifications and answers have until
		      * ALARM_LAST */
	DRAIN_OVER   /* nothing is waited for any more */
};

struct session_end {
	enum drain drain;
	bool stopped;    /* by INPUT_STOP */
	bool broken;     /* nobody reads stdout */
	bool own_errors; /* the client got an error that mcpsplice made */
	bool exiting;    /* ACTION_EXIT was given */
};

/* renew.c: renewals. */
struct renewal {
	struct backoff_budget budget;
	struct backoff_budget unasked; /* the budget of renewals that no call
				        * waits for */
	unsigned idle;   /* how many of these since the client last sent
			  * something */
	const char *why; /* the rule that began the latest renewal; static */
	struct frame *before; /* the answer to initialize before the renewal */
	size_t replays;       /* calls that were replayed since the renewal
			       * began */
	int64_t began_at;
	int64_t window_at;           /* when its time began: a sign-in begins it
			       * anew */
	struct kept_facts *setback;  /* why its initialize failed the last time;
				     * NULL: it did not */
	struct frame *setback_error; /* PHASE_DEAD: the server's error to it,
				      * or NULL */
	int64_t pace;                /* see backoff_pace */
	bool renewed; /* the renewal worked, and the client has not been told */
};

/* mirrored.c: the headers of 2026-07-28 in a legacy session. */
struct mirrored {
	struct mirror *mirror;    /* what the listed tools want */
	bool wanted;              /* the server refused a call without them */
	bool tried_modern;        /* server/discover was asked, or must not
 * be */
	uint64_t ticket;          /* of the ATTEMPT_MIRROR under way; 0: none */
	unsigned pages;           /* of its list */
	struct frame *discovered; /* the server speaks the modern protocol:
				   * initialize is not sent, but answered by
				   * core/server from this */
	struct headers headers;   /* of the order that is lent */
};

/* replay.c: replicas behind a load balancer that do not share their sessions,
 * so that one session id is accepted and refused in turn. */
struct balancer {
	int64_t flapping_until; /* 0: it was never seen */
	uint64_t mark;          /* of the refusal by which it was seen */
	unsigned in_a_row;      /* refusals since the last answer */
};

/* witness.c: the witness that the new session has to answer before a call is
 * sent again. */
struct control {
	uint64_t mark;   /* of the refusal that the old session gave; 0: no
			  * witness is wanted */
	bool list;       /* which witness it was */
	uint64_t ticket; /* of the witness in the new session; 0: none */
	bool ready;      /* the server took initialized meanwhile */
	bool after;      /* it goes when the server has taken initialized: one
			     * before that ended a session */
	bool pings_in_vain; /* pings are refused in any session */
	bool overruled;     /* a session was renewed against the witnesses
			     * once: never again */
};

/* renew.c: a session that is opened in doubt. */
struct spare {
	struct generation *generation; /* NULL: there is none */
	uint64_t ticket;               /* of its initialize */
	struct frame *answer;          /* to its initialize; NULL: not yet */
	struct kept_facts *facts;      /* of the answer */
	bool taken;         /* it is the current generation, and its answer is
			     * taken at the end of the step */
	int64_t not_before; /* when the next one may be opened */
};

/* own_ping.c: whether the session is gone. */
struct ping {
	uint64_t ticket;   /* of the ping under way; 0: none */
	int64_t active_at; /* when the server was last sent something, or sent
			    * something */
};

/* live.c: the settings that are restored in a new session. */
enum restore_stage { RESTORE_LEVEL, RESTORE_REST };

struct restoring {
	enum restore_stage stage;
	unsigned under_way;       /* attempts that have not ended */
	unsigned flaps;           /* how often one was sent again with the same
				   * session id */
	size_t restored, refused; /* settings, since the renewal began */
};

/* lists.c: a list, as the client has it and as the server has it. */
struct known_list {
	bool shown;          /* the client has it, and was not told since that
			      * it has changed */
	bool differs;        /* the server has another one */
	uint64_t sum;        /* of what the client has */
	uint64_t reader;     /* the origin of the ATTEMPT_LIST under way; 0:
			      * none */
	struct pages *pages; /* that were read; or NULL */
};

/* lists.c: what the client is told after a renewal. */
struct changes {
	bool families[ERA_FAMILIES]; /* tools, prompts, resources: does the
				      * server send list_changed? */
	int64_t tell_at;     /* when the lists are to be read; ALARM_TELL has
			      * the same time while the session is live */
	int64_t quiet_until; /* they are not read before this time */
	struct known_list lists[LIST_KINDS];
	bool resources; /* the subscribed resources may have changed, and the
			 * client has not been told */
	/* to_client.c: the list_changed of the server that wait for ALARM_BURST */
	struct change {
		struct frame *frame;
		struct frame *related; /* the request on whose stream it
					* came, or NULL */
	} burst[ERA_FAMILIES];
	size_t n_burst;
	int64_t burst_at; /* when the first of them came */
};

/* open.c: who began the session, and how. */
enum handshake_by {
	HANDSHAKE_CLIENT,
	HANDSHAKE_OWN,  /* --handshake: mcpsplice made the initialize */
	HANDSHAKE_EARLY /* the client was answered without the server, and no
			 * server has answered yet */
};

struct handshake {
	enum handshake_by by;
	struct frame *request; /* the initialize that renewals repeat */
	struct frame *answer;  /* the server's latest answer to initialize */
	struct frame *ready;   /* notifications/initialized */
	/* The attempt for which the client got its answer in this step, or
	 * NULL: the end of the step delivers early messages as if they came on
	 * this attempt. */
	struct attempt *opener;
};

/* early_start.c: a start without the server. */
struct early_start {
	struct buf result; /* the result of initialize at a former start, or
			    * that of the stand-in */
	struct buf tools;  /* the result of tools/list at a former start */
	const char *tool;  /* the stand-in's tool; NULL: there is no
			    * stand-in */
	int64_t began_at;  /* when the client sent initialize */
	bool probed;       /* the latest message came from a client that
			    * probes */
	bool of_probe;     /* began_at is that of a probe */
	unsigned tries;    /* failed renewals since the start */
	bool asked;        /* the client was answered at this time because of
			    * --start, and there is no fault yet */
};

/* sign_in.c: the host is asked to show its user where to sign in. */
struct asking {
	bool pending;  /* something waits for the user, or did until now */
	int64_t since; /* when the user was sent to where it is */
	bool asked;    /* the host was asked to show this, */
	bool in_vain;  /* and did not, so the next call that waits may ask it
			* again */
	unsigned made; /* how often it was asked */
	unsigned open; /* which of these is not answered; 0: none */
	bool by_url;   /* the last one was in URL mode, and is not complete */
	struct frame *answer; /* of the host; for the end of the step */
};

/* When each warning may be given again. */
struct say {
	int64_t asks_at, dropped_at; /* floods of questions and of
				      * notifications */
	int64_t flapping_at;
	int64_t losing_at;
	int64_t waits_at;  /* for a server that is not ready */
	int64_t sum_up_at; /* the line about a renewal is a warning only
			    * from then on */
	bool hinted;       /* --session-lost-in-results was recommended */
};

struct session {
	struct session_config config;
	int64_t now; /* of the current input */
	uint64_t random;
	uint64_t over; /* ticket of the exchange that the current input ends, so
			* that there is nothing to abort; 0: none */
	struct alarms alarms;
	struct events events; /* what session_next will give */
	bool reading;         /* stdin is read */
	struct own_ids ids;   /* of requests that mcpsplice makes */

	enum phase phase;
	int64_t gate_at; /* when the gate was opened */
	struct generation *generation;
	struct generation *former; /* the generation before, or NULL */
	bool away;       /* the server was not there when it was last asked */
	int64_t wake_at; /* before this time nothing is woken again */
	bool
	    renames_in_vain; /* the server did not know the name that it gave */
	struct handshake handshake;
	struct early_start start;
	struct renewal renewal;
	struct settings settings;
	struct restoring restoring;
	struct changes changes;
	struct ping ping;
	struct balancer balancer;
	struct mirrored mirrored;
	struct control witness;
	struct spare spare;
	struct listen_stream listen;
	struct event_ids event_ids;
	char *sign_in; /* how the user has to sign in; NULL: nobody was asked */
	bool helper_runs; /* requests wait for --auth-command */
	struct asking asking;
	struct session_end ending;
	struct say say;

	struct calls calls;
	size_t in_flight; /* calls that are not held */
	size_t in_flight_bytes;
	struct held_queue
	    held; /* of the client; bytes include the structs around
			    * frames */
	struct held_queue notes; /* held notifications whose turn came while
			     * BOUND_FEW were under way */
	struct answered answered;
	struct tools *tools;
	bool filter_told;    /* a pattern that no tool matches was told of */
	struct tools *shown; /* what the client was told of it; only with
				  * --read-only */
	int64_t quickest_ms; /* the quickest answer so far, from the end of a
			      * request to the head of its answer; -1: none was
			      * measured */
	struct questions questions;
	struct held_queue
	    answers;       /* answers to questions, until fewer are under
			       * way */
	struct kept early; /* messages of the server, until initialize is
			       * answered */
};

/* Has stdin reached its end? */
static inline bool
has_eof(const struct session *s)
{
	return s->ending.drain != DRAIN_NOT;
}

static inline bool
is_own_handshake(const struct session *s)
{
	return s->handshake.by == HANDSHAKE_OWN;
}

static inline bool
is_early(const struct session *s)
{
	return s->handshake.by == HANDSHAKE_EARLY;
}

/* Was one session id accepted and refused in turn within the last hour? */
static inline bool
session_flaps(const struct session *s)
{
	return s->now < s->balancer.flapping_until;
}

/* Puts f, which is taken and may be NULL, in the place of the frame at *at. */
static inline void
keep_frame(struct frame **at, struct frame *f)
{
	frame_unref(*at);
	*at = f;
}

/* Does this ruling say, of an answer that no tool gave, that the session is
 * gone? */
static inline bool
session_is_lost(struct ruling r)
{
	return r.verdict == VERDICT_LOST || r.verdict == VERDICT_WORDS ||
	    r.verdict == VERDICT_GATE;
}

/* Does it say that the session is gone, or perhaps gone? */
static inline bool
is_refusal(struct ruling r)
{
	return session_is_lost(r) || r.verdict == VERDICT_SUSPECT;
}

#endif
