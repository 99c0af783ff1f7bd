/*
 * The table of requests, and the list of questions that go with them.
 */
#ifndef MCPSPLICE_CORE_CLIENT_TABLE_H
#define MCPSPLICE_CORE_CLIENT_TABLE_H

#include "core/client/state.h"

/* Drops all requests that are left and tells neither side. */
void client_table_free(struct client *e);

/* Adds a request to the end of q, with the frame f of the client; NULL: a
 * request of the reducer's own. Takes a reference to f. */
struct request *client_add(struct client *e, struct frame *f, struct queue *q);
/* Moves r from its queue to the end of q, and sets r->at to ALARM_NEVER. */
void client_move(struct client *e, struct request *r, struct queue *q);
/* Returns the bytes of memory that a request with the frame f takes. */
size_t client_size_of(const struct frame *f);
/* Would a request with the frame f exceed max_held? One alone never does. */
bool client_is_full(const struct client *e, const struct frame *f);
/* Takes r out of its queue and the tables, drops its questions, and frees it.
 * Neither side is told. */
void client_drop(struct client *e, struct request *r);
/* Returns the request that the client waits for under this id; NULL: there is
 * none. */
struct request *client_find(const struct client *e, struct span id);
/* Returns the request that the session has under this id; NULL: there is
 * none. */
struct request *client_find_sent(const struct client *e, struct span id);
/* Returns the request that the session has with this progress token; NULL:
 * there is none. */
struct request *client_find_token(const struct client *e, struct span token);
/* The client was answered: client_find does not find r any more. */
void client_forget_id(struct client *e, struct request *r);
/* f takes the place of the client's frame of r, and the client waits for its
 * answer. Takes a reference to f. */
void client_replace(struct client *e, struct request *r, struct frame *f);
/* Changes the kind of r. */
void client_set_kind(struct client *e, struct request *r,
    enum request_kind kind);
/* The session answered r: client_find_sent does not find r any more. */
void client_forget_sent(struct client *e, struct request *r);
/* Changes the least level of log messages that r wants; -1: none. */
void client_want_level(struct client *e, struct request *r, int level);

/* Takes the question at *at out of the list, and frees it. */
void client_question_drop(struct question **at);

/* Returns a new id, as raw JSON, for a request to the session; valid until the
 * next call. */
const char *client_id(struct client *e);
/* Sends r to the session as the frame f, whose id client_find_sent finds r by
 * from now on. Takes over the reference to f. */
void client_send_as(struct client *e, struct request *r, struct frame *f);
/* Sends a request of the reducer's own to the session, and returns it. */
struct request *client_send_own(struct client *e, enum request_kind kind,
    const char *method, struct span params);
/* Tells the session that r is cancelled, and why. */
void client_cancel(struct client *e, const struct request *r,
    const char *reason);

#endif
