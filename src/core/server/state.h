/*
 * The structures and constants of the core/server reducer. Only the files of
 * this folder include it; the functions that they export begin with server_.
 *
 * A file includes and calls only those that stand before it here:
 *   state, parts    structures and constants; the functions of all others
 *   actions         what is logged, what the session hears of a sign-in
 *   attempt         one exchange with the server
 *   belief          what mcpsplice believes of the server
 *   order           one order of the session, from its begin to its end
 *   subscription    one subscription at the server, and what it tells
 *   resources       the session's subscriptions to resources
 *   listen          the session's GET stream, a modern client's own listens, and
 *                   what comes on subscriptions
 *   input_required  what a modern server wants to know first
 *   modern          what orders become at a modern server, what is answered
 *                   there, and how they end
 *   sse2024         HTTP+SSE: the stream, and what orders become there
 *   detect          which era, which transport
 *   sse2024_in      what comes on the exchanges of HTTP+SSE
 *   invariants      the invariants
 *   step            the dispatcher: only this file hands inputs to the others
 * A file that ends an order only marks it as dropped; step.c releases at the
 * end of the step what later files hung on it.
 *
 * What holds at the end of each step (invariants.c asserts it in builds with
 * MCPSPLICE_SANE):
 * - No dropped order or attempt is in a list, and nothing points to one. The
 *   tables by ticket have what the lists have. Each attempt's order is in the
 *   list of orders.
 * - The tickets of attempts fall along the list, and have their highest bit
 *   set; those of orders have not.
 * - An order has at most one attempt. An order that has open inputs, or waits
 *   for its next round, or was taken by HTTP+SSE, has none. An order in
 *   POST_STREAM_ENDED has one.
 * - Each order of a POST has something left that ends it: an attempt, open
 *   inputs, a next round, the stream that took it, detection, or a
 *   subscription.
 * - An attempt without an order is a stream, or is ended at end_at.
 * - If detection is under way, the mode is UNKNOWN, and the order and the
 *   attempt of the step are in their lists; else struct detect is empty.
 * - The mode, if it is known, is also the last one; modern_only implies that
 *   the last one is MODERN, and MODERN that there is e->discovered.
 * - There is an sse2024 only in mode SSE or while detection tries the stream,
 *   and a struct listens only in mode MODERN. No message is kept while the
 *   session listens. The counts and sums of kept messages, URIs, inputs and
 *   open questions agree with what they count.
 * - An attempt FOR_STREAM is the stream of e->sse; an attempt FOR_LISTEN is the
 *   stream of exactly one subscription. A subscription with a stream waits for
 *   no next one; a native one has either.
 * - A URI is settled, or orders wait for it.
 * - An alarm is set only while what it ends is there.
 * - What the queue tells the session is of an order that is there, or ends with
 *   the end of that order, which is told once.
 */
#ifndef MCPSPLICE_CORE_SERVER_STATE_H
#define MCPSPLICE_CORE_SERVER_STATE_H

#include "base/alarm.h"
#include "base/bounds.h"
#include "base/hash.h"
#include "core/era/era.h"
#include "core/exchange/facts.h"
#include "core/server/server.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "core/wire/own_id.h"

enum server_mode { MODE_UNKNOWN, MODE_LEGACY, MODE_SSE, MODE_MODERN };

struct inputs; /* input_required.c */
struct mirror;

/* The POST of an order at a server of HTTP+SSE. */
enum post {
	POST_OPEN,        /* under way, or not sent yet */
	POST_TAKEN,       /* the answer will come on the stream */
	POST_STREAM_ENDED /* under way, and the stream has ended */
};

/* An exchange that the session ordered. The session is told its end exactly
 * once, or aborts it. */
struct server_order {
	struct server_order *next;
	struct hash_entry by_ticket; /* in the table until it is dropped */
	bool dropped; /* it is over; freed at the end of the step */
	/* At a modern server: times in monotonic ms, or ALARM_NEVER. */
	int64_t again_at;   /* the next round is sent */
	int64_t inputs_end; /* the open questions expire */
	int64_t window_end; /* a round that fails is not sent again */
	uint64_t ticket;
	enum verb verb;
	struct frame *body; /* NULL: a GET or DELETE */
	char *version;      /* as the session ordered it, or NULL */
	const char *why;    /* as the session ordered it */
	uint64_t generation;
	bool control, interactive, fresh, wary;
	enum server_mode mode; /* when it began; UNKNOWN: an initialize */
	bool answered;         /* the session was told its answer */
	bool waits_for_user;   /* the session was told that it waits */
	bool changed;   /* an initialize: the server speaks another protocol */
	enum post post; /* HTTP+SSE */
	/* At a modern server. */
	struct frame *sent;    /* the request as it was sent the last time */
	bool native;           /* of a modern client: not translated */
	bool mismatched;       /* it is sent again after -32020 */
	bool raw_name;         /* with Mcp-Name not wrapped */
	bool renamed;          /* raw_name was changed after -32020 */
	unsigned rounds;       /* of questions */
	struct inputs *inputs; /* open questions; NULL: none */
	unsigned tries;        /* of the latest round */
	unsigned pages;        /* of a tools/list made for this order */
	bool former;           /* its session is over: it may only end */
	struct msg_progress progress;
};

enum purpose {
	FOR_INITIALIZE, /* detection: the order's initialize */
	FOR_DISCOVER,   /* detection: server/discover */
	FOR_STREAM,     /* HTTP+SSE: the one stream */
	FOR_POST,       /* HTTP+SSE: the order's message */
	FOR_CALL,       /* modern: the order's request or notification */
	FOR_TOOLS,      /* modern: tools/list, before the call is sent again */
	FOR_LISTEN      /* modern: the stream of a subscription */
};

/* An exchange that core/server ordered from transport. */
struct server_attempt {
	struct server_attempt *next;
	struct hash_entry by_ticket; /* in the table until it is dropped */
	bool dropped;   /* it is over; freed at the end of the step */
	bool ordered;   /* its exchange is under way */
	int64_t end_at; /* modern: it is ended; ALARM_NEVER: by itself only */
	uint64_t ticket;
	enum purpose purpose;
	struct server_order *order; /* NULL: none, or it was let go */
	struct order out;           /* as transport gets it; owns the body */
	char *version;              /* that out.version points to, or NULL */
	struct headers mirrored;    /* that out.mirrored points to */
	bool two_names; /* its Mcp-Name has another form, see mirror_headers */
};

struct sse2024 {
	struct server_attempt *stream;
	bool ready;                  /* the stream has named an endpoint */
	struct server_order *listen; /* the session's GET; NULL: none */
	struct kept kept;            /* messages for it */
};

enum detect_step { TRY_NONE, TRY_INITIALIZE, TRY_DISCOVER, TRY_STREAM };

/* Detection, for one initialize of the session. */
struct detect {
	struct server_order *order; /* NULL: no detection is under way */
	enum detect_step step;
	unsigned tried;                 /* bits: 1 << step */
	struct server_attempt *attempt; /* of the step; NULL: it was told */
	struct kept_facts *head;        /* of the step, not told yet */
	struct kept_facts *facts;       /* the refusal of initialize, or NULL */
	struct frame *words;            /* its message, or NULL */
	unsigned again;                 /* bits: steps that were tried twice */
	int64_t wait_ms;                /* for the endpoint, in TRY_STREAM */
	bool other_path;                /* initialize got 400, 404 or 405 */
	bool announced;                 /* a POST got an endpoint event */
	bool offered; /* initialize asks for another revision */
	bool foreign; /* a stream named an endpoint on another origin */
	int away;     /* the status of a GET that worked before; 0: none */
};

/* --- subscriptions/listen at a modern server --- */

struct subscription {
	struct subscription *next;      /* in the list of natives */
	struct server_order *order;     /* a modern client's listen; NULL: it is
				     * the session's */
	struct server_attempt *attempt; /* the open stream; NULL: none */
	char *id;                       /* of the latest request, raw JSON */
	struct buf asked;      /* params.notifications, raw; not of natives */
	bool acknowledged;     /* the open stream was */
	bool gap;              /* an acknowledged stream was lost, and that was
				* not told yet */
	bool refused;          /* the server refused it: not tried again */
	struct frame *honours; /* the latest acknowledgement; NULL: none */
	int64_t since;         /* the open stream was ordered */
	int64_t again_at;      /* the next stream opens, or ALARM_NEVER */
	unsigned tries;        /* since a stream lived long */
	unsigned failures;     /* false starts in a row */

	/* Of natives: what the client was told. */
	bool begun;    /* a 2xx: from here on streams are replaced */
	bool told;     /* an acknowledgement */
	bool answered; /* the answer: its stream is not replaced */
};

struct subscriber {
	struct subscriber *next;
	uint64_t ticket; /* of a resources/subscribe that is open */
};

/* A resource that the session wants to hear of. */
struct resource {
	struct resource *next;
	char *text; /* raw JSON string */
	uint64_t hash;
	bool asked;    /* the latest change, made or under way, asks for it */
	bool settled;  /* the session was told that it is subscribed */
	bool honoured; /* the latest acknowledgement has it */
	struct subscriber *waiters;
};

struct listens {
	struct server_order *get; /* the session's; NULL: none */
	struct kept kept;
	struct subscription *lists;   /* changes of lists; NULL: none */
	struct subscription *natives; /* in the order they came */

	/* Resources. */
	struct subscription *resources; /* the set as it is; NULL: none */
	struct subscription *successor; /* the set as it will be; NULL: no
					 * change is under way */
	int64_t change_at; /* the next change; ALARM_NEVER: none is wanted */
	bool stale; /* resources may be dead: it is replaced in any case */
	struct resource *uris; /* in the order they came */
	size_t n_uris, uri_bytes;
};

/* --- the whole --- */

/* What mcpsplice believes of the server; only belief.c changes it. */
struct belief {
	enum server_mode mode; /* UNKNOWN: not found out yet, or being so */
	enum server_mode last; /* the latest that was found or remembered */
	bool met;              /* last was found, not only remembered */
	bool modern_only;      /* last is MODERN, and as far as is known the
				* server refuses initialize */
	/* Only attempts up to this one may make the session renew; UINT64_MAX:
	 * all may. */
	uint64_t doubt_until;  /* by an answer that no modern server gives */
	uint64_t refuse_until; /* by -32022 */
	/* A legacy server that took a revision refused it in a session later,
	 * and named this one; NULL: none did. */
	const char *named;
	uint64_t named_until; /* tickets of the session before the initialize
			       * that followed; UINT64_MAX: all */
	/* An answer to a listen contradicted a modern server, and no listen was
	 * acknowledged since. */
	bool listen_contradicted; /* in this session */
	bool listen_doubted;      /* in the one before: not to be believed */
	bool listen_unknown; /* the server knows no listen, and is modern */
};

/* The times that have a name. Those of single orders, attempts and
 * subscriptions stand there; step.c notes them at the end of each step. */
enum {
	ALARM_ENDPOINT, /* TRY_STREAM: the wait for the endpoint is over */
	ALARM_SILENCE,  /* HTTP+SSE: the stream was silent for too long */
	ALARM_PATIENCE  /* the successor was not acknowledged in time */
};

struct server {
	struct server_config config;
	struct belief belief;
	struct frame
	    *client_discover;        /* a modern client's; NULL: a legacy one */
	struct server_order *orders; /* the newest first */
	struct server_attempt *attempts;        /* the newest first */
	struct hash order_table, attempt_table; /* by ticket */
	struct detect detect;
	uint64_t next_ticket; /* of the latest attempt */
	struct own_ids ids;   /* of the requests to the server */
	struct buf taken;     /* the revision, raw, that a legacy server took;
			       * it stays once there is belief.named */

	struct sse2024 *sse; /* HTTP+SSE; NULL: no stream */

	/* A modern server. */
	struct frame *initialize; /* the session's latest */
	struct frame *discovered; /* the server's answer to server/discover */
	struct buf meta;          /* members of _meta, see era_client_meta */
	struct buf level;         /* of logging/setLevel, a raw JSON string */
	struct mirror *mirror;
	bool raw_names;          /* it took an Mcp-Name that was not wrapped */
	struct listens *listens; /* NULL: no subscription */
	size_t dropped_tools;    /* of the latest tools/list */
	size_t inputs_bytes;     /* of the results that all inputs keep */
	bool ended;              /* stdin ended: the client answers nothing */

	int64_t now;
	uint64_t random;
	struct alarms alarms;
	struct events events; /* what server_next will give */
};

#endif
