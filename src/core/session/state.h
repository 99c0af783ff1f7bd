/*
 * The state of the session reducer: structures and constants.
 *
 * A file of this folder includes and calls only what stands before it here:
 *   session.h                        what others see
 *   calls, questions, settings,
 *   tools                            tables
 *   state.h
 *   act                              actions, deadlines, one attempt
 *   held, call, one_way              the life of one thing
 *   listen, end, renew, sign_in,
 *   replay, ping, live, startup,
 *   open                             the parts
 *   from_client, from_server, done,
 *   time                             what comes in; they call parts, and never
 *                                    each other
 *   step                             gives each input to one of these four
 * A part that wants something of a later one leaves a fact here, and the end of
 * the step picks it up (opener). Nobody outside of this folder includes this.
 */
#ifndef MCPSPLICE_CORE_SESSION_STATE_H
#define MCPSPLICE_CORE_SESSION_STATE_H

#include "base/alarm.h"
#include "core/era/era.h"
#include "core/exchange/backoff.h"
#include "core/session/calls.h"
#include "core/session/questions.h"
#include "core/session/session.h"
#include "core/session/settings.h"

enum {
	READY_MS = 10 * 1000,        /* for the 2xx to initialized */
	NOTIFICATION_MS = 30 * 1000, /* for the 2xx to a notification */
	SAY_MS = 60 * 1000,          /* between two warnings of one kind */
	TELL_MS = 30 * 1000,         /* between two rounds of list_changed */
	MAX_NOTIFICATIONS = 64,      /* notifications under way at once */
	MAX_CANCELS = 256,           /* the same with cancels */
	MAX_ANSWERS = 64,         /* the client's answers under way at once */
	MAX_QUESTIONS = 256,      /* of the server: open at the client, and
				   * answered but not sent yet */
	MAX_QUESTION_ID = 1024,   /* bytes of the id of one */
	MAX_REFUSAL = 1 << 18,    /* bytes of an error that a call keeps */
	MAX_EARLY = 1 << 20,      /* bytes kept until initialize is answered */
	ANSWERED = 64,            /* answered ids remembered */
	RENEW_MS = 15 * 1000,     /* for a new session */
	RESTORE_MS = 5 * 1000,    /* for one thing that is told again */
	RESTORING_MS = 10 * 1000, /* for all of them */
	RESTORES_AT_ONCE = 8,
	/* Words of a lost session in a 2xx or a 5xx are a refusal only if they
	 * come soon; later the request may have run. */
	REFUSAL_MS = 500,      /* after the request, or four quickest answers */
	REFUSAL_HEAD_MS = 150, /* after the head of their answer */
	REFUSAL_SAFE_MS = 2 * 1000, /* the same for a call that is safe */
	PING_MS = 5 * 1000,         /* for the answer to a ping of ours */
	SILENT_MS = 60 * 1000,      /* of a call, until it is looked after */
	FRESH_MS = 5 * 1000,        /* a new session may not know it yet */
	CACHED_START_MS = 5 * 1000, /* a start from memory after so
					   * long, */
	CACHED_PROBE_MS = 3000,     /* or so long for a probe */
	FLAPS = 8,                  /* sent again to the same session, */
	FLAPS_MS = 3 * 1000,        /* within this time */
	FLAPPING_MS = 60 * 1000,    /* one id, served and refused within this */
	HOUR_MS = 60 * 60 * 1000,
	SUM_UP_MS = 10 * 60 * 1000, /* between two lines about renewals */
	JITTER_MS = 5 * 1000,       /* of what no client waits for */
	LINGER_MS = 5 * 1000,       /* a stream may stay after its answer */
	USER_MS = 45 * 1000,        /* of a call, for a person who signs in */
	DELETE_MS = 1000,
	LAST_MS = 5 * 1000, /* after EOF and the last call, for the 2xx to
			     * notifications and answers */
	RETRY_AFTER_MAX_MS = 20 * 1000
};

/* In the order they come in. What each permits stands in one table, in
 * act.c. */
enum phase {
	PHASE_IDLE,      /* no initialize yet, or it failed */
	PHASE_OPENING,   /* initialize is under way */
	PHASE_OPENED,    /* answered; the client has not said initialized */
	PHASE_READYING,  /* initialized sent, its 2xx awaited */
	PHASE_RESTORING, /* log level and subscriptions are told again */
	PHASE_LIVE,
	PHASE_RENEWING, /* our own initialize is under way */
	PHASE_DEAD,     /* lost, and a renewal failed: the next call tries */
	PHASE_CLOSING,  /* DELETE is under way */
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
	PHASE_REVIVES = 1 << 14,    /* only a renewal may */
	PHASE_EXITS = 1 << 15       /* the program may end */
};

/* What it means that a phase lasts until its deadline. */
enum lateness {
	LATE_NEVER,   /* it has none */
	LATE_FIRST,   /* no answer to the first initialize */
	LATE_AGAIN,   /* no answer to a later one */
	LATE_READY,   /* no 2xx to initialized */
	LATE_RESTORE, /* not all settings were restored */
	LATE_CLOSE    /* no end of the DELETE */
};

/* The alarms of the session. Calls and attempts have no name here: each keeps
 * its own times, and notes them. A time that is not due is ALARM_NEVER. */
enum session_alarm {
	ALARM_PHASE,        /* the phase is late: see session_lateness */
	ALARM_DRAIN,        /* the calls have had --drain-timeout after EOF */
	ALARM_LAST,         /* notifications and answers have had LAST_MS */
	ALARM_CACHED_START, /* the startup cache answers the client */
	ALARM_RENEW,        /* a renewal begins that no call waits for */
	ALARM_TELL,         /* the client is told what may have changed */
	ALARM_PING,         /* --ping-interval without traffic */
	ALARM_SCOUT,        /* the other calls wait for it no longer */
	ALARM_LISTEN        /* the listen stream opens again */
};

/* --- the parts; each names the file that it belongs to --- */

/* act.c: what session_next will say. */
struct action {
	enum session_action_kind kind;
	uint64_t ticket;
	struct frame *frame, *other;
	struct generation *generation;
	enum log_level level;
	char *text;
	bool on;
	int status;
};

struct actions {
	struct action *list;
	size_t n, next, cap;
	struct action current; /* what session_next lent last */
};

/* held.c: frames that wait, in the order in which they came. */
struct held {
	struct held *next;
	struct frame *frame;
	struct call *call; /* NULL: a notification, or an answer */
	uint64_t asker;    /* of an answer: as attempt.asker */
};

struct queue {
	struct held *first, *last;
	size_t n; /* counted for answers only */
	size_t bytes;
};

/* call.c: the ids of the latest calls that were answered, as hashes. */
struct answered {
	uint64_t ids[ANSWERED]; /* a ring */
	size_t n;               /* of all that were answered */
};

/* listen.c: the GET stream. */
enum listen_state {
	LISTEN_OFF,     /* not wanted yet, or not now */
	LISTEN_REFUSED, /* the server has none: never again */
	LISTEN_WAITING, /* opens at ALARM_LISTEN */
	LISTEN_SUSPECT, /* refused, perhaps as lost: waits for a ping */
	LISTEN_OPEN
};

struct listen {
	enum listen_state state;
	uint64_t ticket; /* LISTEN_OPEN */
	int64_t since;
	bool worked; /* a 2xx came in this generation */
	bool event;  /* this stream delivered something */
	bool denied; /* off, as its credentials were refused */
	unsigned tries;
	struct buf last_event_id;
	int64_t retry_ms;
	struct backoff_rate rate;
};

/* end.c: the end of the program. */
enum drain {
	DRAIN_NOT,   /* stdin is open */
	DRAIN_CALLS, /* it is at its end, and calls are open */
	DRAIN_LAST,  /* no call is; notifications and answers are waited for
		      * until ALARM_LAST */
	DRAIN_OVER   /* they are waited for no more */
};

struct session_end {
	enum drain drain;
	bool broken;     /* nobody reads stdout */
	bool own_errors; /* the client was given an error of our own */
	bool exiting;    /* ACTION_EXIT was said */
};

/* renew.c: renewals, those that no call waits for too. */
struct renewal {
	struct backoff_budget budget;
	struct backoff_budget unasked; /* of those that no call waits for: they
					* never cost a call its own */
	unsigned idle;   /* so many of these without a frame of the client */
	const char *why; /* of the one under way; static */
	struct frame *last_refusal;
	struct frame *before; /* the answer to initialize before it */
	size_t replays;       /* since it began */
	bool renewed; /* it worked, and the client does not know it yet */
};

/* replay.c: one id that is accepted and refused, as by replicas behind a load
 * balancer that do not share their sessions. */
enum scouting {
	SCOUTING_OPEN,    /* a call may be the scout, or one is */
	SCOUTING_AWAITED, /* other calls wait for what the scout finds */
	SCOUTING_VAIN     /* to send again did not help the last time */
};

struct balancer {
	int64_t flapping_until; /* it was seen in the hour before */
	enum scouting scouting;
	struct call *scout; /* sent again for all, until it is known */
};

/* ping.c */
struct ping {
	uint64_t ticket;   /* of the one under way; 0: none */
	int64_t active_at; /* when something was sent or came */
};

/* live.c: what a new session is told again. */
enum restore_stage { RESTORE_LEVEL, RESTORE_REST };

struct restoring {
	enum restore_stage stage;
	unsigned under_way;       /* attempts that have not ended */
	unsigned flaps;           /* sent again to the same session */
	size_t restored, refused; /* settings, since the renewal began */
};

/* live.c: what the client is told after a renewal. */
struct changes {
	bool families[ERA_FAMILIES]; /* tools, prompts, resources: the server
				      * sends list_changed */
	int64_t tell_at;     /* when the client is to be told; ALARM_TELL rings
			  * then, or when the session is live */
	int64_t quiet_until; /* the next round comes no earlier */
};

/* open.c: who began the session, and how. */
enum handshake_by {
	HANDSHAKE_CLIENT,
	HANDSHAKE_OWN,   /* --handshake: the client sends no initialize */
	HANDSHAKE_CACHED /* the client was answered from the startup cache, and
			  * no server has answered yet */
};

struct handshake {
	enum handshake_by by;
	struct frame *request; /* the initialize that is repeated */
	struct frame *answer;  /* the server's latest one to it */
	struct frame *ready;   /* notifications/initialized */
	/* The attempt whose answer opened the session in this step: the end of
	 * the step delivers what came early as if it came on it. */
	struct attempt *opener;
};

/* startup.c: a start without the server. */
struct start {
	struct buf result; /* of initialize, of a former start */
	struct buf tools;  /* of tools/list */
	bool probed;       /* initialize is for a client that probes */
	unsigned tries;    /* for a server that is not there */
};

/* When each warning may be said again. */
struct say {
	int64_t asks_at, dropped_at; /* of a flood */
	int64_t flapping_at;
	int64_t sum_up_at; /* before it the line about a renewal is none */
	bool hinted;       /* of --session-lost-in-results */
};

struct session {
	struct session_config config;
	int64_t now; /* of the input */
	uint64_t random;
	struct alarms alarms;
	struct actions actions;
	bool reading; /* stdin is read */
	uint64_t ids; /* made by us */

	enum phase phase;
	struct generation *generation;
	struct generation *former; /* the one before, NULL: none */
	struct handshake handshake;
	struct start start;
	struct renewal renewal;
	struct settings settings;
	struct restoring restoring;
	struct changes changes;
	struct ping ping;
	struct balancer balancer;
	struct listen listen;
	char *sign_in; /* where a person has to sign in; NULL: never asked */
	struct session_end ending;
	struct say say;

	struct calls calls;
	size_t in_flight;  /* calls that are not held */
	struct queue held; /* bytes with the structs around the frames */
	struct answered answered;
	struct tools *tools;
	int64_t quickest_ms; /* from a request to the head of its answer, of
			      * all exchanges so far; -1: none was measured */
	struct questions questions;
	struct queue answers; /* of this generation, until there is a place */
	struct queue early;   /* of the server, until initialize is answered */
};

/* stdin is at its end. */
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
is_from_cache(const struct session *s)
{
	return s->handshake.by == HANDSHAKE_CACHED;
}

/* Gone, or perhaps gone. */
static inline bool
is_refusal(struct ruling r)
{
	return r.verdict == VERDICT_LOST || r.verdict == VERDICT_SUSPECT;
}

#endif
