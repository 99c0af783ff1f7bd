/*
 * The inside of the core/server reducer, shared by the files it is made of:
 *   core/server.c         inputs, actions, the two kinds of exchanges
 *   server_detect.c  which era, which transport
 *   server_sse.c     HTTP+SSE of 2024-11-05
 *   server_modern.c  requests of 2026-07-28, and how they end
 *   server_answer.c  what is answered to them
 *   server_inputs.c  what a modern server wants to know first
 *   server_listen.c  subscriptions/listen
 * Nobody else includes this. Their exported names begin with server_.
 */
#ifndef MCPSPLICE_CORE_SERVER_STATE_H
#define MCPSPLICE_CORE_SERVER_STATE_H

#include "core/era/era.h"
#include "core/era/mirror.h"
#include "core/server/server.h"

enum server_mode { MODE_UNKNOWN, MODE_LEGACY, MODE_SSE, MODE_MODERN };

struct inputs;  /* server_inputs.c */
struct listens; /* server_listen.c */

/* An exchange that the session ordered: it is told done exactly once, or
 * the session aborts it. */
struct server_order {
	struct server_order *next;
	bool dropped; /* freed at the end of the step */
	uint64_t ticket;
	enum verb verb;
	struct frame *body; /* NULL: a GET */
	char *version;      /* as the session ordered it, or NULL */
	bool listen, control, interactive;
	enum server_mode mode; /* that it began in; UNKNOWN: initialize */
	bool answered;         /* its answer was told */
	bool changed; /* an initialize: the server speaks another protocol */
	bool taken;   /* HTTP+SSE: its answer is due on the stream */
	bool orphan;  /* HTTP+SSE: its stream is gone, its POST goes on */
	/* modern */
	struct frame *sent;    /* as it went out the last time */
	bool native;           /* a modern client's: not translated */
	bool mismatched;       /* sent again after -32020 */
	unsigned rounds;       /* of inputs */
	struct inputs *inputs; /* NULL: none is open */
	int64_t again_at;      /* its next round goes out then; 0: no */
	int64_t inputs_end;    /* questions are open until then; 0: none are */
	int64_t window_end;    /* a round that fails is sent again until then */
	unsigned tries;        /* of that round */
	unsigned pages;        /* of tools/list of our own */
	bool former;           /* of a session before: it may only end */
	bool progressed;       /* progress is the latest that was told */
	double progress;
};

enum purpose {
	FOR_INITIALIZE, /* of an order, on trial */
	FOR_DISCOVER,   /* of our own, for an order */
	FOR_STREAM,     /* HTTP+SSE: the one stream */
	FOR_POST,       /* HTTP+SSE: of an order */
	FOR_CALL,       /* modern: of an order */
	FOR_TOOLS,      /* modern: tools/list of our own, for an order */
	FOR_LISTEN      /* modern: subscriptions/listen, of listens */
};

/* An exchange that we ordered. */
struct server_attempt {
	struct server_attempt *next;
	bool dropped;
	bool ordered; /* its order was taken by upstream */
	uint64_t ticket;
	enum purpose purpose;
	struct server_order *order; /* NULL: of none, or it is gone */
	enum verb verb;
	struct frame *body;
	char *version;
	struct headers mirrored;
	bool endpoint, announces, listen, control, interactive;
	int64_t end_at; /* modern calls: ended then; 0: by itself */
};

/* Facts that stay. */
struct kept_facts {
	struct facts facts;
	struct buf bytes; /* what its spans point into */
};

struct server_queued {
	enum server_action_kind kind;
	uint64_t ticket;
	struct kept_facts *facts;
	struct frame *frame;
	char *text;
	enum log_level level;
	bool modern, sse, dual;
};

enum {
	SSE_KEPT = 64, /* messages that wait for the session's listen stream */
	SSE_KEPT_BYTES = 1 << 20
};

struct sse2024 {
	struct server_attempt *stream;
	int64_t heard_at; /* the latest message, or the latest POST taken */
	bool ready;       /* there is an endpoint */
	struct server_order *listen; /* the session's GET, NULL: none */
	struct frame *kept[SSE_KEPT];
	size_t n_kept, kept_bytes;
};

enum detect_step { TRY_NONE, TRY_INITIALIZE, TRY_DISCOVER, TRY_STREAM };

/* Finding out, for one initialize of the session. */
struct detect {
	struct server_order *order; /* NULL: nothing is found out */
	enum detect_step step;
	unsigned tried;                 /* bits: 1 << step */
	struct server_attempt *attempt; /* of the step */
	struct kept_facts *head;        /* of the step, not told yet */
	struct kept_facts *facts;       /* how initialize was refused, */
	struct frame *words;            /* in which words, or NULL */
	bool again;                     /* discover was tried twice */
	int64_t deadline;               /* of TRY_STREAM; -1: none */
	int64_t wait_ms;                /* until then */
	bool other_path;                /* initialize got 400, 404 or 405 */
	bool announced;                 /* a POST got an endpoint event */
};

struct server {
	struct server_config config;
	enum server_mode mode;
	enum server_mode last; /* before a loss; where to begin */
	bool modern_only;      /* it refuses initialize, as far as is known */
	struct frame *client_discover; /* of a modern client, or NULL */
	struct server_order *orders;
	struct server_attempt *attempts;
	struct detect detect;
	uint64_t next_ticket;
	uint64_t ids; /* made by us */

	/* HTTP+SSE */
	struct sse2024 *sse; /* NULL: no stream */

	/* Modern. */
	struct frame *initialize; /* the session's latest */
	struct frame *discovered; /* the server's answer to server/discover */
	struct buf meta;          /* members of _meta, see era_client_meta */
	struct buf level;         /* raw JSON string of logging/setLevel */
	struct mirror *mirror;
	struct listens *listens;
	bool refused_version;    /* -32022 came, and no answer since, */
	uint64_t refused_before; /* of an exchange after this one */
	size_t dropped_tools;    /* of the latest tools/list */
	bool ended;              /* the client answers nothing any more */
	size_t inputs_bytes;     /* kept by server_inputs */
	bool doubted; /* an answer did not look modern, and no result since: */
	uint64_t doubted_before; /* exchanges after this one are believed */
	bool listen_doubted; /* refused as by no modern server, and it was one;
			       * none was acknowledged since */
	bool listen_unknown; /* refused as no method, by what proved modern */

	int64_t now;
	uint64_t random;
	int64_t deadline; /* may be earlier than needed */
	struct server_queued *actions;
	size_t n_actions, next_action, cap_actions;
	struct server_queued current;
};

/* --- core/server.c --- */

/* Queues an action for this ticket; what it owns is the caller's to set. */
struct server_queued *server_action_add(struct server *e,
    enum server_action_kind kind, uint64_t ticket);
/* Frees what the action owns. */
void server_action_clear(struct server_queued *a);
void server_log(struct server *e, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Tells what the server speaks, to be remembered or forgotten. */
void server_found(struct server *e);
/* Something is due at this time. */
void server_due(struct server *e, int64_t at);

struct kept_facts *server_facts_keep(const struct facts *f);
void server_facts_free(struct kept_facts *k);
/* 200 with JSON; 202; the end of an exchange that the server is gone for:
 * ran tells that the request may have run. */
extern const struct facts server_facts_ok, server_facts_accepted,
    server_facts_stream;
struct facts server_facts_gone(bool ran);

/* Tells the session. After done or gone the order is no more, and its attempts
 * are ended. */
void server_tell_head(struct server *e, struct server_order *o,
    const struct facts *f);
void server_tell_message(struct server *e, struct server_order *o,
    const struct facts *f, struct frame *m);
void server_tell_done(struct server *e, struct server_order *o,
    const struct facts *f);
/* A whole answer: head, message and done; m is taken. */
void server_tell_answer(struct server *e, struct server_order *o,
    struct frame *m);
/* The server does not speak what we thought any more, or its stream is gone:
 * the session is to renew. */
void server_tell_gone(struct server *e, struct server_order *o, bool ran);

/* What the session ordered, in the list of orders. */
struct server_order *server_order_new(struct server *e,
    const struct order *order);
/* Nothing more goes to the session for it. */
void server_order_drop(struct server *e, struct server_order *o);
void server_order_free(struct server_order *o);
struct server_order *server_order_find(const struct server *e, uint64_t ticket);
/* Whose request, in this mode or an initialize under way, has this id? As it
 * is written goes before what only means the same. */
struct server_order *server_order_asking(const struct server *e, struct span id,
    enum server_mode mode);
/* Orders a POST of body (a reference is taken) or, body NULL, a GET. o may
 * be NULL. Fields may be set until the step ends: the action reads them. */
struct server_attempt *server_attempt(struct server *e, enum purpose purpose,
    struct server_order *o, struct frame *body);
/* A modern POST: with version and mirrored headers. */
struct server_attempt *server_attempt_modern(struct server *e,
    enum purpose purpose, struct server_order *o, struct frame *body);
/* Ends it; nothing more of it is heard. NULL is allowed. */
void server_attempt_end(struct server *e, struct server_attempt *i);
void server_attempt_free(struct server_attempt *i);
struct server_attempt *server_attempt_find(const struct server *e,
    uint64_t ticket);
/* The one under way with this purpose for this order, or NULL. */
struct server_attempt *server_attempt_of(const struct server *e,
    enum purpose purpose, const struct server_order *o);
/* A raw JSON id of ours, owned by the caller. */
char *server_own_id(struct server *e);

/* --- server_detect.c --- */

/* The session sends initialize. */
void server_detect(struct server *e, struct server_order *o);
void server_detect_head(struct server *e, struct server_attempt *i,
    const struct facts *f);
void server_detect_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);
void server_detect_done(struct server *e, struct server_attempt *i,
    const struct facts *f);
/* The stream of HTTP+SSE has its endpoint (f NULL), or will have none, as the
 * facts say. */
void server_detect_stream(struct server *e, const struct facts *f);
/* A POST that asks got the stream of HTTP+SSE: its endpoint event. */
void server_detect_endpoint(struct server *e, struct server_attempt *i,
    bool ok);
/* initialize was answered on that stream. */
void server_detect_answered(struct server *e);
/* The session gave it up. */
void server_detect_end(struct server *e);
void server_detect_tick(struct server *e);
/* Its exchange waits for a person to sign in, or does not any more. */
void server_detect_user(struct server *e, const struct server_attempt *i,
    bool waits);
int64_t server_detect_due(const struct server *e);

/* --- server_sse.c --- */

/* Orders the stream; server_detect_stream tells how it went. */
void server_sse_open(struct server *e);
void server_sse_close(struct server *e);
/* The same, and what was under way on it learns that. */
void server_sse_leave(struct server *e);
/* Is there an endpoint? */
bool server_sse_ready(const struct server *e);
void server_sse_tick(struct server *e);
int64_t server_sse_due(const struct server *e);
/* initialize too, once there is an endpoint. */
void server_sse_send(struct server *e, struct server_order *o);
void server_sse_abort(struct server *e, struct server_order *o);
/* A message that is to wait for the session's listen stream. */
void server_sse_keep(struct server *e, struct frame *m);
/* Of FOR_STREAM and FOR_POST. Their heads say nothing. */
void server_sse_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);
void server_sse_endpoint(struct server *e, struct server_attempt *i, bool ok);
void server_sse_done(struct server *e, struct server_attempt *i,
    const struct facts *f);

/* --- server_modern.c --- */

/* The server is modern: e->discovered, e->initialize, e->meta are set. */
void server_modern_enter(struct server *e);
void server_modern_leave(struct server *e);
/* Any order of the session but initialize. */
void server_modern_send(struct server *e, struct server_order *o);
void server_modern_abort(struct server *e, struct server_order *o);
/* Sends the order's request (o->sent, a round of it or the first). */
void server_modern_call(struct server *e, struct server_order *o);
/* Did it not reach the server? */
bool server_modern_is_unsent(const struct facts *f);
/* Is it to be tried again, in a time that is waited for? */
bool server_modern_is_refused_for_now(const struct facts *f);
/* The same under a new id. */
void server_modern_again(struct server *e, struct server_order *o);
/* A later round that did not reach the server, or was refused for now, goes
 * out again by us: to the session the call runs. False: it does not. */
bool server_modern_retry(struct server *e, struct server_order *o,
    const struct facts *f);
/* May what came of it say that the server is no modern one any more? */
bool server_modern_may_doubt(const struct server *e,
    const struct server_attempt *i);
/* The session is to find out anew what the server speaks. ran: the call may
 * have run, in part. */
void server_modern_renew(struct server *e, struct server_order *o,
    struct server_attempt *i, const struct facts *f, bool ran);
/* The exchange has said to its order what it had to say. */
void server_modern_let_go(struct server *e, struct server_attempt *i);
/* Of FOR_CALL and FOR_TOOLS. */
void server_modern_head(struct server *e, struct server_attempt *i,
    const struct facts *f);
void server_modern_done(struct server *e, struct server_attempt *i,
    const struct facts *f);
void server_modern_tick(struct server *e);
int64_t server_modern_due(const struct server *e);

/* --- server_answer.c --- */

/* Of FOR_CALL and FOR_TOOLS. */
void server_modern_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);
/* Does this answer show that the server is no modern one (any more)? */
bool server_modern_contradicts(const struct facts *f, const struct frame *m);

/* --- server_inputs.c --- */

/* The call was answered by this input_required result: the client is asked,
 * then it goes out again by server_modern_call. */
void server_inputs_ask(struct server *e, struct server_order *o,
    struct frame *result);
/* The client will not answer any more. */
void server_inputs_eof(struct server *e, struct server_order *o);
/* An answer of the client: true when it was to a question of ours. */
bool server_inputs_answer(struct server *e, struct frame *answer);
/* The call is over: open questions are cancelled at the client if tell. */
void server_inputs_end(struct server *e, struct server_order *o, bool tell);
/* Nobody answered for too long. */
void server_inputs_expire(struct server *e, struct server_order *o);

/* --- server_listen.c --- */

/* The session's GET stream. */
void server_listen_open(struct server *e, struct server_order *o);
/* The session gave up the GET stream, or a listen of a modern client. */
void server_listen_close(struct server *e, struct server_order *o);
/* resources/subscribe and unsubscribe of the session. */
void server_listen_subscribe(struct server *e, struct server_order *o);
/* subscriptions/listen of a modern client. */
void server_listen_native(struct server *e, struct server_order *o);
void server_listen_head(struct server *e, struct server_attempt *i,
    const struct facts *f);
void server_listen_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);
void server_listen_done(struct server *e, struct server_attempt *i,
    const struct facts *f);
/* All of it ends: the server is no modern one any more. */
void server_listen_leave(struct server *e);
void server_listen_tick(struct server *e);
int64_t server_listen_due(const struct server *e);

#endif
