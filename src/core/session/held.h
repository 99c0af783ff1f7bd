/* The lists of what is held back. */
#ifndef MCPSPLICE_CORE_SESSION_HELD_H
#define MCPSPLICE_CORE_SESSION_HELD_H

#include "core/session/state.h"

/* Is there no room to hold this frame? */
bool session_is_full(const struct session *s, const struct frame *f,
    bool is_call);
/* Holds a frame (a reference is taken) until the gate is open. c is its call;
 * NULL: a notification. */
void session_hold(struct session *s, struct frame *f, struct call *c);
/* Takes the entry after prev (NULL: the first) out of the list. */
void session_release(struct session *s, struct held *prev);
/* Takes the call's entry out of the list; the call gets no answer here. */
void session_unhold(struct session *s, struct call *c);
/* initialized, if it is held, is kept for the session to come. */
void session_keep_ready(struct session *s);
/* Drops the notifications that are held. */
void session_drop_one_way(struct session *s);

/* Keeps a question, or a notification, from before initialize was answered:
 * the client must not see it yet. Drops it where there is no room. */
void session_keep_early(struct session *s, struct frame *m);
/* Takes the oldest of them, or NULL. Owned by the caller. */
struct frame *session_take_early(struct session *s);
/* Drops them all. */
void session_drop_early(struct session *s);

#endif
