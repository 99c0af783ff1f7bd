/*
 * What mcpsplice believes of the server: its era and transport, whether it
 * refuses initialize, and which of its answers may still change that.
 */
#ifndef MCPSPLICE_CORE_SERVER_BELIEF_H
#define MCPSPLICE_CORE_SERVER_BELIEF_H

#include "core/server/state.h"

/* The belief of a new process: what the configuration remembers. */
void server_belief_init(struct server *e);
/* An initialize of the session begins to find the server out. */
void server_belief_forget(struct server *e);
/* Detection found this mode. Logs it, and queues ACTION_FOUND unless it is no
 * news. refused: the server refused an initialize before. Returns whether the
 * mode is another than the last one. */
bool server_belief_found(struct server *e, enum server_mode mode, bool refused);

/* Does this answer (m NULL: an end without one) contradict a modern server? */
bool server_belief_contradicts(const struct facts *f, const struct frame *m);
/* May an answer to this attempt make the session renew, as it contradicts a
 * modern server? Only once, until a result comes. */
bool server_belief_may_doubt(const struct server *e,
    const struct server_attempt *i);
void server_belief_doubt(struct server *e);
/* A result came: the server is a modern one. */
void server_belief_confirm(struct server *e);

/* The server refused the version of this attempt (-32022). Returns whether
 * that makes the session renew: only once, until an answer comes to a later
 * attempt. */
bool server_belief_refused_version(struct server *e,
    const struct server_attempt *i);
/* The server answered this attempt, so it speaks REVISION_MODERN. */
void server_belief_took_version(struct server *e,
    const struct server_attempt *i);

/* Does this end of an exchange of the session with a legacy server (m NULL: no
 * message came) refuse the revision that initialize agreed on, and name
 * another? Only in one session. */
bool server_belief_refuses(const struct server *e, uint64_t ticket,
    const struct facts *f, const struct frame *m);
/* It does. The next initialize asks for the revision that it names. */
void server_belief_name(struct server *e, const struct facts *f,
    const struct frame *m);
/* This initialize of the session follows. Returns the revision that it has to
 * ask for instead of its own, or NULL. */
const char *server_belief_named(struct server *e, const struct server_order *o);

/* Does this answer to a subscriptions/listen contradict a modern server? A
 * modern server may refuse listens like that: it does so only once. */
bool server_belief_listen_contradicts(const struct server *e,
    const struct facts *f, const struct frame *m);
/* The session was told to renew because of an answer to a listen. */
void server_belief_listen_doubt(struct server *e);
/* The server acknowledged a listen. */
void server_belief_listen_confirm(struct server *e);
/* The subscriptions end with the session. */
void server_belief_listen_leave(struct server *e);
/* The server knows no method subscriptions/listen. Returns whether that makes
 * the session renew: only once for one mode. */
bool server_belief_listen_unknown(struct server *e);

#endif
