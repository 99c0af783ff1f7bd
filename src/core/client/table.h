/*
 * The table of requests, and the list of the questions that wait for them.
 */
#ifndef MCPSPLICE_CORE_CLIENT_TABLE_H
#define MCPSPLICE_CORE_CLIENT_TABLE_H

#include "core/client/state.h"

/* Drops all requests that are left, without a word to anybody. */
void client_table_free(struct client *e);

/* A request of the client (NULL: of our own), in this queue. */
struct request *client_add(struct client *e, struct frame *f, struct queue *q);
/* From its queue to the end of this one, where r->at is ALARM_NEVER. */
void client_move(struct client *e, struct request *r, struct queue *q);
/* The memory that a request of the client takes with this frame. */
size_t client_size_of(const struct frame *f);
/* Is there no room to hold one more? One alone always has room. */
bool client_is_full(const struct client *e, const struct frame *f);
/* Forgets it wherever it is. */
void client_drop(struct client *e, struct request *r);
/* The request whose answer the client waits for under this id; NULL: none. */
struct request *client_find(const struct client *e, struct span id);
/* The request that the session has under this id; NULL: none. */
struct request *client_find_sent(const struct client *e, struct span id);
/* The client has had its answer: r is not found by its id any more. */
void client_forget_id(struct client *e, struct request *r);
/* The client asks by this frame now, and waits for its answer. */
void client_replace(struct client *e, struct request *r, struct frame *f);
/* It goes out in another way than before. */
void client_set_kind(struct client *e, struct request *r,
    enum request_kind kind);
/* The session answered it. */
void client_forget_sent(struct client *e, struct request *r);
/* From here on r wants log messages of this level, -1: none. */
void client_want_level(struct client *e, struct request *r, int level);

/* Takes this question out of the list. */
void client_question_drop(struct question **at);

/* The next id of our own as raw JSON, the caller's. */
char *client_id(struct client *e);
/* To the session, found by its id from now on (takes the frame over). */
void client_send_as(struct client *e, struct request *r, struct frame *f);
/* A request of our own. */
struct request *client_send_own(struct client *e, enum request_kind kind,
    const char *method, struct span params);
/* Tells the session that nobody waits for this request any more. */
void client_cancel(struct client *e, const struct request *r,
    const char *reason);
/* An error of ours for a request that is not in the table. */
void client_busy(struct client *e, const struct frame *f);

#endif
