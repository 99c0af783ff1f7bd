/*
 * What every part of core/server uses: facts, actions, attempts.
 */
#ifndef MCPSPLICE_CORE_SERVER_ACT_H
#define MCPSPLICE_CORE_SERVER_ACT_H

#include "core/server/state.h"

/* --- facts --- */

/* A copy of the facts with their bytes; the caller frees it. */
struct kept_facts *server_facts_keep(const struct facts *f);
/* NULL is allowed. */
void server_facts_free(struct kept_facts *k);
/* 200 with JSON; 202; 200 with an event stream. */
extern const struct facts server_facts_ok, server_facts_accepted,
    server_facts_stream;
/* The end of an exchange that the server is gone for: ran tells that the
 * request may have run. */
struct facts server_facts_gone(bool ran);

/* --- actions --- */

/* Queues an action for this ticket and returns it, for the caller to fill in;
 * the queue owns what is put there. It is valid until the next one is queued.
 */
struct server_queued *server_action_add(struct server *e,
    enum server_action_kind kind, uint64_t ticket);
/* Frees what the action owns. */
void server_action_clear(struct server_queued *a);
void server_act_log(struct server *e, enum log_level level, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

/* --- attempts --- */

/* A raw JSON id of ours, owned by the caller. */
char *server_act_own_id(struct server *e);
/* Orders a POST of body (a reference is taken) or, body NULL, a GET. o may
 * be NULL. Fields may be set until the step ends: the action reads them. */
struct server_attempt *server_attempt_new(struct server *e,
    enum purpose purpose, struct server_order *o, struct frame *body);
/* A modern POST: with version and mirrored headers. */
struct server_attempt *server_attempt_new_modern(struct server *e,
    enum purpose purpose, struct server_order *o, struct frame *body);
/* Ends it; nothing more of it is heard. It is freed at the end of the step.
 * NULL is allowed. */
void server_attempt_end(struct server *e, struct server_attempt *i);
/* The one under way with this ticket, or NULL. */
struct server_attempt *server_attempt_find(const struct server *e,
    uint64_t ticket);
/* The one under way with this purpose for this order, or NULL. */
struct server_attempt *server_attempt_of(const struct server *e,
    enum purpose purpose, const struct server_order *o);
/* Frees it; it is in no list any more. */
void server_attempt_free(struct server_attempt *i);

#endif
