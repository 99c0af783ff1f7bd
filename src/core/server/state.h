/*
 * The structures and constants of the core/server reducer. Only the files of
 * this folder include it; what they export begins with server_.
 *
 * The order of the files, each with its header; a file includes and calls only
 * those before it:
 *   state.h listen_state.h
 *   act            facts, the queue of actions, attempts
 *   belief         what is believed of the server
 *   order          the life of one order of the session
 *   call           the life of one call at a modern server
 *   tell           what subscriptions tell
 *   uris           the set of resources that the session wants to hear of
 *   subscription   one subscription at the server
 *   set            the session's subscriptions to resources
 *   native         a modern client's own listens
 *   listen         the session's GET stream, and what comes on subscriptions
 *   inputs         what a modern server wants to know first
 *   answer         what a modern server answers
 *   modern         what orders become at a modern server, and how they end
 *   sse2024        HTTP+SSE: the stream, and what orders become there
 *   detect         which era, which transport
 *   sse2024_in     what comes on the exchanges of HTTP+SSE
 *   step           the dispatcher: it alone hands on what comes in
 * What an earlier file leaves to a later one is marked in the state (an order
 * as dropped), and step.c has it done at the end of the step.
 */
#ifndef MCPSPLICE_CORE_SERVER_STATE_H
#define MCPSPLICE_CORE_SERVER_STATE_H

#include "base/alarm.h"
#include "core/server/server.h"

enum server_mode { MODE_UNKNOWN, MODE_LEGACY, MODE_SSE, MODE_MODERN };

struct inputs;  /* inputs.c */
struct listens; /* listen_state.h */
struct mirror;

/* An exchange that the session ordered: it is told done exactly once, or
 * the session aborts it. */
struct server_order {
	struct server_order *next;
	bool dropped; /* it is over; released at the end of the step */
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
	/* Times in monotonic ms, or ALARM_NEVER. */
	int64_t again_at;   /* its next round goes out then */
	int64_t inputs_end; /* questions are open until then */
	int64_t window_end; /* a round that fails is sent again until then */
	unsigned tries;     /* of that round */
	unsigned pages;     /* of tools/list of our own */
	bool former;        /* of a session before: it may only end */
	bool progressed;    /* progress is the latest that was told */
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
	int64_t end_at; /* modern calls: ended then; ALARM_NEVER: by itself */
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
	bool ready;                  /* there is an endpoint */
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
	int64_t wait_ms;                /* of TRY_STREAM, for the endpoint */
	bool other_path;                /* initialize got 400, 404 or 405 */
	bool announced;                 /* a POST got an endpoint event */
};

/* What mcpsplice believes of the server; belief.c alone changes it. */
struct belief {
	enum server_mode mode; /* UNKNOWN: until it is found out (anew) */
	enum server_mode last; /* the latest that was found or remembered */
	bool modern_only;      /* last is MODERN, and as far as is known the
				* server refuses initialize */
	/* Attempts up to this one may make the session renew; UINT64_MAX: any
	 * may. */
	uint64_t doubt_until;     /* by an answer that no modern server gives */
	uint64_t refuse_until;    /* by -32022 */
	bool listen_contradicted; /* an answer to a listen made the session
				   * renew, and none was acknowledged since */
	bool listen_doubted;      /* the same, in the session before */
	bool listen_unknown;      /* a listen was refused as no method */
};

/* The times that have a name. Those of single orders, attempts and
 * subscriptions stand there; step.c notes them at the end of each step. */
enum {
	ALARM_ENDPOINT, /* TRY_STREAM has no endpoint by then */
	ALARM_SILENCE,  /* HTTP+SSE: nothing was heard for call_timeout_ms */
	ALARM_PATIENCE  /* the successor was not acknowledged by then */
};

struct server {
	struct server_config config;
	struct belief belief;
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
	size_t dropped_tools; /* of the latest tools/list */
	bool ended;           /* the client answers nothing any more */
	size_t inputs_bytes;  /* kept by server_inputs */

	int64_t now;
	uint64_t random;
	struct alarms alarms;
	struct server_queued *actions;
	size_t n_actions, next_action, cap_actions;
	struct server_queued current;
};

#endif
