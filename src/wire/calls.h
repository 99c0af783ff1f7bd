/*
 * The table of calls and legs. A call is one request of the client, from its
 * frame to its answer. A leg is one attempt at something: an exchange with
 * the server, named by its ticket, which may outlive the call it was for
 * (the answer came, the transport has not ended) or be outlived by it (a
 * replay, a resumption: a new leg of the same call).
 */
#ifndef MCPSPLICE_WIRE_CALLS_H
#define MCPSPLICE_WIRE_CALLS_H

#include "base/frame.h"

/* What the server calls a session, and what we count as one. Refcounted:
 * a leg keeps the generation it was sent with. */
struct generation {
	unsigned refs;
	uint64_t number;
	char *session; /* NULL: the server keeps none */
	char *version; /* NULL until negotiated */
};

struct generation *generation_new(uint64_t number);
struct generation *generation_ref(struct generation *g);
void generation_unref(struct generation *g);

enum call_state {
	CALL_HELD,    /* not sent yet */
	CALL_RUNNING, /* has a leg, which is live or goes out later */
	CALL_REFUSED, /* refused as lost: waits for the next generation */
	CALL_ACCEPTED /* 202: the answer is due on another stream */
};

struct call {
	struct call *next, *prev; /* in the client's order */
	struct call *chain;
	uint64_t hash;
	struct frame *frame; /* the request */
	enum call_state state;
	bool cancelled;
	bool replayed;
	int64_t again_at; /* CALL_ACCEPTED: given up then */
	struct leg *leg;
	struct frame *refusal; /* the server's own words, NULL if none */
};

enum leg_kind {
	LEG_CALL,   /* a request of the client */
	LEG_OPEN,   /* an initialize: the client's or our own */
	LEG_READY,  /* notifications/initialized */
	LEG_NOTE,   /* a notification or an answer of the client */
	LEG_LISTEN, /* the GET stream */
	LEG_DELETE
};

struct leg {
	struct leg *next, *prev;
	struct leg *chain;
	uint64_t ticket;
	enum leg_kind kind;
	struct call *call; /* NULL: none, or answered already */
	struct generation *generation;
	struct frame *body;       /* what is POSTed; NULL for a GET */
	struct buf last_event_id; /* where a GET goes on */
	unsigned tries;
	bool live;        /* an exchange is under way */
	int64_t retry_ms; /* the stream's own, -1: none */
	bool asked;       /* a question came from elsewhere meanwhile */
	bool spoke;       /* something but the answer came on it */
	uint64_t asker;   /* LEG_NOTE: ticket of the question's stream, or 0 */
	int64_t window_end; /* retries end here; 0: not begun */
	int64_t start_at;   /* not live: goes out then */
	int64_t abort_at;   /* live: ended then; 0: never */
};

struct calls {
	struct call *first, *last;
	size_t n;
	struct call **by_id;
	size_t buckets;
	struct leg *legs;
	size_t n_legs;
	size_t n_notes; /* of the legs, those that are LEG_NOTE */
	struct leg *by_ticket[64];
	uint64_t next_ticket;
};

void calls_init(struct calls *t);
void calls_free(struct calls *t);

/* Adds a call for a request frame (takes a reference), in the order of
 * arrival. */
struct call *calls_add(struct calls *t, struct frame *f);
/* The open call with this id, or NULL. */
struct call *calls_find(const struct calls *t, struct span id);
/* Removes and frees it; its leg, if any, lives on without a call. */
void calls_drop(struct calls *t, struct call *c);

/* A new leg with a fresh ticket, not live yet. call and body may be NULL. */
struct leg *calls_leg(struct calls *t, enum leg_kind kind, struct call *c,
    struct frame *body, struct generation *g);
struct leg *calls_leg_find(const struct calls *t, uint64_t ticket);
void calls_leg_drop(struct calls *t, struct leg *l);

/* May this request be repeated although it may have run? By method. */
bool calls_safe(const struct frame *request);

#endif
