/* The frames that are held back. */
#ifndef MCPSPLICE_CORE_SESSION_HELD_H
#define MCPSPLICE_CORE_SESSION_HELD_H

#include "core/session/state.h"

/* Adds a frame (a reference is taken) at the end of a queue, where it counts
 * for so many bytes. */
struct held *session_queue_add(struct queue *q, struct frame *f, size_t bytes);
/* Takes a frame out of a queue. Owned by the caller. */
struct frame *session_queue_take(struct queue *q, struct held *h);

/* The bytes of everything that is held back for the client's sake. */
size_t session_held_bytes(const struct session *s);
/* Is there no room to hold this frame? */
bool session_is_full(const struct session *s, const struct frame *f,
    bool is_call);
/* Holds a frame (a reference is taken) until the gate is open. c is its call,
 * or NULL for a notification. */
void session_hold(struct session *s, struct frame *f, struct call *c);
/* Takes a frame out of s->held. Owned by the caller. */
struct frame *session_take_held(struct session *s, struct held *h);
/* Drops the frame of a held call, if it is held. The call itself stays and is
 * not answered. Very many calls may be held, so there is no walk. */
void session_unhold(struct session *s, struct call *c);
/* Keeps a held notifications/initialized for the session that is being
 * opened. */
void session_keep_ready(struct session *s);
/* Lets the held notification h make way for what is behind it: calls do not
 * wait until the server has acknowledged notifications. */
void session_hold_longer(struct session *s, struct held *h);
/* Drops the notifications that are held. */
void session_drop_one_way(struct session *s);

/* Keeps a question or a notification that came before the answer to initialize,
 * because the client must not see it yet. Drops the message if there is no
 * room. */
void session_keep_early(struct session *s, struct frame *m);

#endif
