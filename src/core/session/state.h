/*
 * The inside of the session reducer, shared by the files it is made of:
 *   act.c, held.c, call.c, one_way.c, end.c, time.c, step.c
 *   session_client.c  what the client sends
 *   session_server.c  what the server says
 *   session_done.c    the ends of exchanges
 *   session_open.c    opening, the first time and again
 *   session_renew.c   losing, and when to renew
 *   session_replay.c  what is sent again, and why
 *   session_restore.c what a new session and the client are told
 *   session_ping.c    is it gone? asked by a ping
 *   session_memory.c  a start without the server
 *   session_sign_in.c a person is asked to sign in first
 *   session_listen.c  the GET stream
 * Nobody else includes this.
 */
#ifndef MCPSPLICE_CORE_SESSION_STATE_H
#define MCPSPLICE_CORE_SESSION_STATE_H

#include "core/era/era.h"
#include "core/exchange/backoff.h"
#include "core/exchange/fault.h"
#include "core/session/calls.h"
#include "core/session/questions.h"
#include "core/session/session.h"
#include "core/session/settings.h"
#include "core/session/tools.h"

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

/* In the order they come in; the gate for requests is open in OPENED and
 * LIVE. */
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

struct held {
	struct held *next;
	struct frame *frame;
	struct call *call; /* NULL: a notification, or an answer */
	uint64_t asker;    /* of an answer: as attempt.asker */
};

enum listen_state {
	LISTEN_OFF,     /* not wanted yet, or not now */
	LISTEN_REFUSED, /* the server has none: never again */
	LISTEN_WAITING, /* opens at listen.at */
	LISTEN_SUSPECT, /* refused, perhaps as lost: waits for a ping */
	LISTEN_OPEN
};

struct listen {
	enum listen_state state;
	uint64_t ticket; /* LISTEN_OPEN */
	int64_t at;
	int64_t since;
	bool worked; /* a 2xx came in this generation */
	bool event;  /* this stream delivered something */
	bool denied; /* off, as its credentials were refused */
	unsigned tries;
	struct buf last_event_id;
	int64_t retry_ms;
	struct backoff_rate rate;
};

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

struct session {
	struct session_config config;
	enum phase phase;
	int64_t phase_deadline; /* -1: none */
	struct generation *generation;
	struct generation *former; /* the one before, NULL: none */
	bool former_ended;         /* it was deleted to make room */
	struct frame *opening;     /* the initialize that is repeated */
	struct frame *ready;       /* notifications/initialized */
	bool own_handshake;
	struct calls calls;
	size_t in_flight; /* calls that are running */
	struct held *held, *held_last;
	size_t held_bytes; /* with the structs around the frames */
	struct questions questions;
	/* Answers to questions of this generation that wait for a place. */
	struct held *answers, *answers_last;
	size_t n_answers, answer_bytes;
	/* Warnings of a flood, when they may be said again. */
	int64_t say_asks_at, say_dropped_at;
	/* Of the server, before initialize is answered. */
	struct held *early, *early_last;
	size_t early_bytes;
	/* The attempt whose answer opened the session in this step: the end of
	 * the step delivers what came early as if it came on it. */
	struct attempt *opener;
	struct listen listen;
	char *sign_in; /* where a person has to sign in; NULL: never asked */
	struct backoff_budget budget;
	bool counted; /* the current generation was counted as no help */
	struct frame *last_refusal;
	const char *why; /* of the renewal under way; static */

	/* Renewals that no call waits for. */
	struct backoff_budget unasked; /* they never cost a call its own */
	int64_t renew_at;              /* -1: none is due */
	unsigned idle_renewals; /* so many without a frame of the client */

	/* One id that is accepted and refused: replicas that do not share. */
	bool flapping;       /* it was seen */
	int64_t flapping_at; /* the last time */
	bool flaps_useless;  /* to send again did not help the last time */
	int64_t flapping_told_at;
	struct call *scout; /* sent again for all, until it is known */
	bool scouted;       /* calls wait for what it finds */

	int64_t quickest_ms; /* from a request to the head of its answer, of
			      * all exchanges so far; -1: none was measured */

	/* Is it gone? */
	uint64_t ping;     /* ticket of the one under way; 0: none */
	int64_t active_at; /* when something was sent or came */
	bool hinted;       /* of --session-lost-in-results */

	/* What a new session is told, and what the client is. */
	struct settings settings;
	struct tools *tools;
	struct frame *opened; /* the server's latest answer to initialize */
	struct frame *opened_before; /* the one before the renewal */
	unsigned restores;           /* attempts of RESTORING that have not
				      * ended */
	bool restoring_level;        /* the others come after it */
	unsigned restore_flaps;      /* sent again to the same session */
	size_t restored, unrestored;
	size_t replays; /* since the renewal began */
	bool renewed;   /* the client is to be told that lists may differ */
	bool tells_changes[ERA_FAMILIES]; /* tools, prompts, resources */
	int64_t told_at, tell_at; /* when it was, and is due; -1: never */
	int64_t summed_at;        /* the last line about a renewal */

	/* A start without the server. */
	struct buf cached_start; /* result of initialize, of a former
					* start */
	struct buf cached_tools; /* the same of tools/list */
	int64_t cached_at;       /* used then; -1: not */
	bool probed;             /* initialize is for a client that probes */
	bool from_cache;         /* the client has it, and no server yet */
	unsigned cached_tries;
	uint64_t answered[ANSWERED]; /* hashes of ids, a ring */
	size_t next_answered;
	uint64_t ids; /* made by us */

	bool reading;
	bool eof;
	bool stopped;
	bool exiting;
	bool broken;
	bool own_errors;
	int64_t drain_deadline; /* -1: none */
	int64_t last_at;        /* after EOF, when no call is open any more:
				 * notes are waited for until then; -1 */

	int64_t now;
	uint64_t random;
	int64_t deadline; /* -1: none; may be earlier than needed */
	struct action *actions;
	size_t n_actions, next_action, cap_actions;
	struct action current; /* what session_next lent last */
};

/* May requests go out? */
static inline bool
gate_is_open(const struct session *s)
{
	return s->phase == PHASE_OPENED || s->phase == PHASE_LIVE;
}

/* Gone, or perhaps gone. */
static inline bool
is_refusal(struct ruling r)
{
	return r.verdict == VERDICT_LOST || r.verdict == VERDICT_SUSPECT;
}

/* act.c */
/* Frees what was not asked for. */
void session_drop_actions(struct session *s);
void session_log(struct session *s, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* May a warning be said that was last said before *say_at? Then it may be said
 * again after SAY_MS. */
bool session_may_say(const struct session *s, int64_t *say_at);
void session_write(struct session *s, struct frame *f);
/* The same for what the server said on this attempt. */
void session_pass(struct session *s, struct frame *f, const struct attempt *l);
void session_abort(struct session *s, struct attempt *l);
/* Sends an attempt now. */
void session_start(struct session *s, struct attempt *l);
/* A copy of this attempt that goes out in wait ms; the old one is dropped. */
struct attempt *session_again(struct session *s, struct attempt *l,
    int64_t wait);
/* A request of ours with an id of ours. */
struct frame *session_own_request(struct session *s, const char *method,
    struct span params);
/* The request under an id of ours. */
struct frame *session_with_own_id(struct session *s, struct frame *request);
/* Saves for somebody: the session to end when we are killed. */
void session_save(struct session *s, struct generation *g);
/* An action without anything but its kind. */
void session_ask(struct session *s, enum session_action_kind kind);
void session_want_read(struct session *s);
void session_exit(struct session *s);
/* Something is due at this time. */
void session_due(struct session *s, int64_t at);
const char *session_phase_name(enum phase phase);
void session_phase(struct session *s, enum phase phase, int64_t deadline);

/* end.c */
/* Ends a session at the server; takes a second at most. */
void session_delete(struct session *s, struct generation *g);
void session_closed(struct session *s);
void session_close(struct session *s);
void session_stop(struct session *s);
void session_drain(struct session *s);
void session_eof(struct session *s);
void session_broken(struct session *s);
void session_end_stale(struct session *s, const struct session_input *in);

/* time.c */
void session_tick(struct session *s);

/* held.c */
/* Is there no room to hold this frame? */
bool session_is_full(const struct session *s, const struct frame *f,
    bool is_call);
void session_hold(struct session *s, struct frame *f, struct call *c);
/* Takes the entry after prev (NULL: the first) out of the list. */
void session_release(struct session *s, struct held *prev);
/* Forgets what is held; calls in it get no answer here. */
void session_unhold(struct session *s, struct call *c);
/* initialized, if it is held, is kept for the session to come. */
void session_keep_ready(struct session *s);
void session_drop_one_way(struct session *s);
void session_keep_early(struct session *s, struct frame *m);
/* Takes the oldest message of before initialize was answered, or NULL. */
struct frame *session_take_early(struct session *s);

/* call.c */
void session_call_state(struct session *s, struct call *c,
    enum call_state state);
/* false only when its request was certainly not sent, or refused. */
bool session_may_have_run(const struct call *c);
/* A new attempt of the call, not live: under an id of ours where the server may
 * still know the client's as one that runs in this session. */
struct attempt *session_call_attempt(struct session *s, struct call *c);
void session_send_call(struct session *s, struct call *c);
/* Its attempt is over for the call, which has no attempt then. */
void session_detach(struct session *s, struct call *c);
/* What the end of an exchange means that is not a call's. */
struct ruling session_ruling(const struct session *s, const struct attempt *l,
    const struct facts *f);
/* The call is about to go. */
void session_forget_scout(struct session *s, const struct call *c);
/* Forgets what the call waits with for a ping. */
void session_end_doubt(struct call *c);
/* Writes the answer (id put right) or nothing when the call was cancelled,
 * and forgets the call. answer is borrowed. */
void session_answer(struct session *s, struct call *c, struct frame *answer);
/* Was a call with this id answered lately? */
bool session_was_answered(const struct session *s, struct span id);
/* The same as session_answer with an error of our own, which is taken. */
void session_fail(struct session *s, struct call *c, struct frame *error);
/* Calls that were answered 202 will have no answer: the listen stream, or
 * (lost) the session, is gone. */
void session_fail_accepted(struct session *s, bool lost);

/* one_way.c */
/* What it is, for people: a ATTEMPT_ONE_WAY. */
const char *session_one_way_name(const struct attempt *l);
struct attempt *session_send_one_way(struct session *s, struct frame *f);
/* The client's answer to a question was not delivered. If a call asked it, on
 * the attempt with this origin, that call would wait for ever: it ends with an
 * error, but where the server read the answer and refused it. f tells what
 * became of the answer; NULL: its session is gone. */
void session_undelivered(struct session *s, uint64_t asker,
    const struct facts *f);
/* Sends an answer to a question of the server, or holds it back while too
 * many are under way. asker is the origin of the attempt that asked, or 0: if
 * there is no place for the answer the call that asked ends. f is borrowed. */
void session_send_answer(struct session *s, struct frame *f, uint64_t asker);
/* Drops the answers that are held back; the calls that asked end. */
void session_drop_answers(struct session *s);
void session_pump_answers(struct session *s);
/* What we answer where nobody can: "no", but to a ping. Owned by the caller. */
struct frame *session_nobody(struct span id, bool ping);
void session_answer_question(struct session *s, struct frame *f);
/* Answers what is open for a client that has ended. */
void session_answer_all(struct session *s);

/* session_client.c */
void session_client(struct session *s, struct frame *f);
void session_invalid(struct session *s, const struct session_input *in);

/* session_server.c */
void session_head(struct session *s, struct attempt *l, const struct facts *f);
void session_message(struct session *s, struct attempt *l,
    const struct facts *f, struct frame *m);

/* session_done.c */
void session_done(struct session *s, struct attempt *l, const struct facts *f);

/* session_open.c */
void session_open(struct session *s, struct frame *initialize, struct call *c);
void session_open_own(struct session *s);
void session_opened(struct session *s, struct attempt *l, const struct facts *f,
    struct frame *m);
void session_open_failed(struct session *s, const struct facts *f,
    struct frame *error);
/* A server with room for one session may not have noticed that the old one
 * is gone: it is ended, and this initialize sent once more. Returns false
 * where that was done, or cannot help. */
bool session_make_room(struct session *s, struct attempt *l,
    const struct facts *f);

/* session_renew.c */
void session_next_generation(struct session *s);
/* Sends an initialize of the new generation; c is the client's, or NULL. */
void session_open_begin(struct session *s, struct frame *body, struct call *c,
    enum phase phase, int64_t timeout);
/* why is the rule by which it is lost; static. */
void session_renew(struct session *s, const char *why);
/* The renewal that made the session of now counts as one that did not help,
 * once. */
void session_count_failed_renewal(struct session *s);
/* May a call that was refused begin a renewal now? The one before counts
 * when its session served nobody. */
bool session_may_renew(struct session *s);
/* The session is gone and no call of the client waits for it: it is renewed
 * within the budget, so that a server cannot make us spin. */
void session_renew_unasked(struct session *s, const char *why);
/* It was refused as lost. */
void session_one_way_lost(struct session *s, const struct attempt *l);
/* The same where the client did not even speak: after a while, or when it
 * does. */
void session_renew_later(struct session *s, const char *why);
void session_renew_tick(struct session *s);
/* The time of a renewal: its part of the retry window, ms. */
int64_t session_renew_window(const struct session *s);
/* The answer to ACTION_CHECK_PEERS. */
void session_peer_state(struct session *s, bool newer_peer);
/* A call needs the session that is known dead: NULL when it is renewed now,
 * else the error for the call with this id (owned by the caller). */
struct frame *session_revive(struct session *s, struct span id);

/* session_replay.c */
/* May it be sent again although it may have run? */
bool session_is_safe(const struct session *s, const struct call *c);
/* What a ruling for an answer to this call on this attempt means at this
 * moment: words of a lost session that come late, or after other messages,
 * leave open whether the call ran. */
struct ruling session_weigh(const struct session *s, const struct call *c,
    const struct attempt *l, const struct facts *f, struct ruling r);
/* The call was refused by this generation as lost (it did not run). refusal
 * is the server's error, or NULL. */
void session_refused(struct session *s, struct call *c, struct generation *g,
    int status, struct frame *refusal, const char *rule);
/* Sends what waits for the new session, in the client's order. */
void session_replay(struct session *s);
/* The call may have run and will have no answer: sends it again if that is
 * safe, after wait ms. Returns false when it is not; nothing changed then. */
bool session_repeat(struct session *s, struct call *c, int64_t wait);
/* The session ended while the call was executing. */
void session_interrupted(struct session *s, struct call *c,
    struct generation *g, struct frame *refusal, const char *rule);
/* The new session does not know yet that it is one. */
void session_unready(struct session *s, struct call *c, struct frame *refusal,
    const char *rule);
/* The call got an answer in this generation. */
void session_served(struct session *s, struct call *c, struct generation *g);
/* When a scout that was not refused holds the others no longer; -1: never. */
int64_t session_scout_due(const struct session *s);
void session_scout_tick(struct session *s);
/* Was it seen lately that one id is accepted and refused? */
bool session_flaps(const struct session *s);
/* The n-th wait between two tries on the same session, ms. */
int64_t session_flap_wait(unsigned n);

/* session_restore.c */
void session_begin_ready(struct session *s);
/* initialized was taken, or will not be. */
void session_readied(struct session *s);
/* Renewed for a client that has not said initialized. */
void session_reopened(struct session *s);
/* Which list_changed the server says it sends. */
void session_learn_families(struct session *s, const struct frame *m);
/* Begins to tell the new session what the one before was told; false when
 * there is nothing. */
bool session_restore(struct session *s);
void session_restore_done(struct session *s, struct attempt *l,
    const struct facts *f);
/* Its result came. */
void session_restore_message(struct session *s, struct attempt *l);
void session_restore_timeout(struct session *s);
void session_tell_changes(struct session *s);

/* session_ping.c */
/* The answer of this call's attempt is ambiguous: it waits for a ping. refusal
 * is the server's error, or NULL: then error is ours, and taken. ran tells
 * that the call may have run if the session is gone. */
void session_suspect(struct session *s, struct call *c, struct generation *g,
    int status, struct frame *refusal, struct frame *error, const char *rule,
    bool ran);
/* Asks now, if nothing asks already. */
void session_ping(struct session *s, const char *why);
void session_ping_message(struct session *s, struct attempt *l,
    const struct facts *f, struct frame *m);
void session_ping_done(struct session *s, struct attempt *l,
    const struct facts *f);
void session_ping_tick(struct session *s);
/* When the user's interval wants the next one. */
void session_ping_due(struct session *s);

/* session_memory.c */
void session_load_start(struct session *s);
void session_cached_start(struct session *s, const struct session_input *in);
void session_save_start(struct session *s);
/* Answers the client from memory where it can. f tells why there is no
 * server: NULL when it is slow. Returns false when it cannot, or should
 * not. */
bool session_start_from_cache(struct session *s, const struct facts *f);
/* The answer to this request from memory; NULL: none. Owned by the caller. */
struct frame *session_cached_answer(struct session *s, struct frame *request);

/* session_sign_in.c */
/* This attempt waits for a person (text) or does no more (n 0). */
void session_sign_in(struct session *s, struct attempt *l, struct span text);
/* Does an initialize wait for a person? */
bool session_opening_waits(const struct session *s);
/* When this call is told that a person has to sign in; -1: never. Begins the
 * wait, or forgets it. */
int64_t session_sign_in_due(struct session *s, struct call *c);
/* The facts of an exchange that a person did not make possible. */
struct facts session_sign_in_facts(const struct session *s);
/* What a call is told that waited too long for one. Owned by the caller. */
struct frame *session_sign_in_error(const struct session *s,
    const struct call *c);
void session_signed_in(struct session *s);

/* session_listen.c */
void session_listen_open(struct session *s);
void session_listen_close(struct session *s);
void session_listen_head(struct session *s, const struct facts *f);
void session_listen_event(struct session *s);
/* Opens it again after the back-off. */
void session_listen_again(struct session *s);
void session_listen_tick(struct session *s);
/* What the ping found out for a stream that was refused. */
void session_listen_pinged(struct session *s, bool lost);
/* The connection may be dead without knowing it: opened again. */
void session_listen_wake(struct session *s);
/* There are new credentials. */
void session_listen_signed_in(struct session *s);

#endif
