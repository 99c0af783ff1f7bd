/*
 * What every file of core/server uses: facts, actions, attempts.
 */
#ifndef MCPSPLICE_CORE_SERVER_ACT_H
#define MCPSPLICE_CORE_SERVER_ACT_H

#include "core/server/state.h"

/* --- facts --- */

/* The facts of 200 with JSON, of 202, of 200 with an event stream, and of an
 * exchange that was aborted before an answer came. */
extern const struct facts server_facts_ok, server_facts_accepted,
    server_facts_stream, server_facts_aborted;
/* Returns the facts of an exchange that ended because the server is gone. ran
 * tells that its request may have run. */
struct facts server_facts_gone(bool ran);

/* --- actions --- */

/* Queues an event of which there is nothing to say but its kind and ticket. */
void server_post(struct server *e, enum event_kind kind, uint64_t ticket);
/* Logs a decision. The text is cut at 511 bytes. */
void server_log(struct server *e, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* --- attempts --- */

/* Returns a new request id as raw JSON, valid until the next call. */
const char *server_own_id(struct server *e);
/* Tells the session that the order waits until the user has signed in, with what
 * to tell the user (text NULL: it does not wait any more). */
void server_tell_user(struct server *e, struct server_order *o,
    const char *text);
/* Orders an exchange from transport: a POST of body (a reference is taken), or
 * a GET if body is NULL. o may be NULL. The caller may still set members of the
 * attempt in this step, because server_next() reads them later. */
struct server_attempt *server_attempt_new(struct server *e,
    enum purpose purpose, struct server_order *o, struct frame *body);
/* Does the same for a POST to a modern server: sets the version and the
 * mirrored headers. */
struct server_attempt *server_attempt_new_modern(struct server *e,
    enum purpose purpose, struct server_order *o, struct frame *body);
/* Drops the attempt, which transport has ended. The sweep at the end of the
 * step frees it. */
void server_attempt_drop(struct server *e, struct server_attempt *i);
/* Ends the attempt: nothing that comes for its ticket is heard any more. The
 * sweep at the end of the step frees it. i may be NULL. */
void server_attempt_end(struct server *e, struct server_attempt *i);
/* Returns the attempt under way with this ticket, or NULL. */
struct server_attempt *server_attempt_find(const struct server *e,
    uint64_t ticket);
/* Returns the attempt under way with this purpose for this order, or NULL. */
struct server_attempt *server_attempt_of(const struct server *e,
    enum purpose purpose, const struct server_order *o);
/* Frees the attempt, which must not be in the list any more. */
void server_attempt_free(struct server_attempt *i);

#endif
