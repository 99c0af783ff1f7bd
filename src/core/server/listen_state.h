/*
 * The inside of subscriptions/listen, shared by the files it is made of:
 *   server_feed.c           one subscription at the server
 *   server_listen.c         what comes, the session's GET stream
 *   server_listen_set.c     the session's subscriptions to resources
 *   server_uris.c           the set of these
 *   server_listen_native.c  a modern client's own listens
 * Nobody else includes this. A subscription is one subscription at the server,
 * through all the streams that it takes: one stream is open, or none.
 */
#ifndef MCPSPLICE_CORE_SERVER_LISTEN_STATE_H
#define MCPSPLICE_CORE_SERVER_LISTEN_STATE_H

#include "core/server/state.h"

enum {
	LISTEN_URIS = 1024,          /* subscribed at once, and told at once */
	LISTEN_URI_BYTES = 1 << 20,  /* of all of them */
	LISTEN_KEPT = 64,            /* messages that wait for the GET */
	LISTEN_KEPT_BYTES = 1 << 20, /* of all of them */
	LISTEN_FAILURES = 5          /* false starts in a row */
};

struct subscription {
	struct subscription *next;  /* of the natives */
	struct server_order *order; /* a modern client's listen; NULL: ours */
	struct server_attempt *attempt; /* the stream that is open; NULL:
					   * none */
	char *id;                       /* of its request, raw JSON */
	struct buf asked;      /* params.notifications, raw; not of natives */
	bool acknowledged;     /* the stream that is open was */
	bool gap;              /* one that was is lost; not told yet */
	bool refused;          /* the server does not want it: never again */
	struct frame *honours; /* the latest acknowledgement; NULL: none */
	int64_t since;         /* the stream was ordered */
	int64_t again_at;      /* the next one opens; 0: none */
	unsigned tries;        /* since one lived long */
	unsigned failures;     /* false starts in a row */

	/* Of natives. */
	bool begun;    /* a 2xx was told: from here on streams are replaced */
	bool told;     /* an acknowledgement was */
	bool answered; /* its answer was: the end is the end */
};

struct waiter {
	struct waiter *next;
	uint64_t ticket; /* of a resources/subscribe: it may be gone */
};

/* A resource that the session wants to hear of. */
struct uri {
	struct uri *next;
	char *text; /* raw JSON string */
	uint64_t hash;
	bool asked;   /* of a change, made or under way */
	bool settled; /* honoured once: it stays */
	bool honoured;
	struct waiter *waiters;
};

struct listens {
	struct server_order *get; /* the session's, NULL: none */
	struct frame *kept[LISTEN_KEPT];
	size_t n_kept, kept_bytes;
	bool contradicted;            /* the session was told so */
	struct subscription *lists;   /* changes of lists */
	struct subscription *natives; /* in the order they came */

	/* Resources. */
	struct subscription *resources; /* what is subscribed */
	struct subscription *successor; /* with the set that is to be; NULL: no
				 * change is under way */
	int64_t given_up_at; /* that it was not acknowledged by then */
	int64_t change_at;   /* the next change; 0: none is wanted */
	bool stale; /* resources may be dead: replaced though nothing changed */
	struct uri *uris; /* in the order they came */
	size_t n_uris, uri_bytes;
};

/* --- server_feed.c --- */

struct subscription *server_subscription_new(struct server_order *o);
/* Ends its stream too. NULL is allowed. */
void server_subscription_free(struct server *e, struct subscription *fd);
/* Ends its stream only. */
void server_subscription_end(struct server *e, struct subscription *fd);
/* Opens a stream by this request (a reference is taken), whose id is fd->id;
 * there is none. */
void server_subscription_open(struct server *e, struct subscription *fd,
    struct frame *request);
/* The same for asked, under a new id. */
void server_subscription_ask(struct server *e, struct subscription *fd);
/* Its stream is no more, the next one waits. f may be NULL. */
void server_subscription_lost(struct server *e, struct subscription *fd,
    const struct facts *f);
/* Takes an acknowledgement; false: the stream had one already. */
bool server_subscription_acknowledged(struct server *e, struct subscription *fd,
    struct frame *m);
/* Is it the first one behind a gap? Then all is told as changed. */
bool server_subscription_take_gap(struct subscription *fd);
/* Is this error one of the moment (or else the server's no)? */
bool server_subscription_is_passing(const struct facts *f,
    const struct frame *error);
/* Is its next stream due? */
bool server_subscription_is_due(const struct server *e,
    const struct subscription *fd);

/* --- server_listen.c --- */

/* e->listens, made if there is none. */
struct listens *server_listens(struct server *e);
/* Does this answer show that the server is no modern one? A modern one may
 * refuse listens like that: it is believed once. */
bool server_listen_contradicts(const struct server *e, const struct facts *f,
    const struct frame *m);
/* It does: told under o, which is no more. */
void server_listen_gone(struct server *e, struct server_order *o);
/* Is value (raw JSON) true? */
bool server_listen_is_true(struct span value);
/* Tells the session, at once or when its GET is there. */
void server_listen_tell(struct server *e, struct frame *m);
/* After a gap anything may have changed. Tells so of each list that this
 * acknowledgement honours: the session (o NULL) or a client's listen. */
void server_listen_tell_lists(struct server *e, struct server_order *o,
    const struct frame *honours);
/* The same of one resource, uri in raw JSON. */
void server_listen_tell_resource(struct server *e, struct server_order *o,
    struct span uri);

/* --- server_listen_set.c --- */

/* Has the server subscriptions to resources? */
bool server_set_is_offered(const struct server *e);
/* The subscription that has the set, or the one that is to take its place, was
 * acknowledged. */
void server_set_acknowledged(struct server *e, struct subscription *fd);
/* The successor was refused in these words. */
void server_set_refused(struct server *e, struct frame *error);
/* Is this notification on the subscription for the session? */
bool server_set_wants(const struct server *e, const struct subscription *fd,
    const struct frame *m);
/* What is open may be dead: it is replaced. */
void server_set_stale(struct server *e);
/* A resources/subscribe that waits, or NULL. */
struct server_order *server_set_waiting(const struct server *e);
/* The session gave up this subscribe. */
void server_set_abort(struct server *e, const struct server_order *o);
/* All who wait learn that the server is gone. */
void server_set_leave(struct server *e);
void server_set_tick(struct server *e);
int64_t server_set_due(const struct server *e);

/* --- server_uris.c --- */

/* Where this resource (raw JSON string) is in the list, or the list's end. */
struct uri **server_uris_find(struct listens *l, struct span uri);
struct uri *server_uris_add(struct listens *l, struct uri **at,
    struct span uri);
/* Takes out the one at this place, and who waits for it. */
void server_uris_forget(struct listens *l, struct uri **at);
void server_uri_wait(struct uri *u, const struct server_order *o);
void server_uri_wait_no_more(struct uri *u, uint64_t ticket);
/* params.notifications for all of them. */
void server_uris_ask(const struct listens *l, struct buf *asked);
/* Did the subscription ask for exactly this one? */
bool server_uris_was_asked(const struct subscription *fd, struct span uri);
/* Marks those that this acknowledgement honours. More than we asked for is
 * not looked at. */
void server_uris_honoured(struct listens *l, const struct frame *honours);

/* --- server_listen_native.c --- */

void server_native_head(struct server *e, struct subscription *fd,
    const struct facts *f);
void server_native_message(struct server *e, struct subscription *fd,
    const struct facts *f, struct frame *m);
void server_native_done(struct server *e, struct subscription *fd,
    const struct facts *f);
/* Its next stream is due. */
void server_native_again(struct server *e, struct subscription *fd);
/* Takes it out of the list, and frees it. */
void server_native_drop(struct server *e, struct subscription *fd);

#endif
