/* Streams that ended before their answer. */
#ifndef MCPSPLICE_CORE_SESSION_RESUME_STREAM_H
#define MCPSPLICE_CORE_SESSION_RESUME_STREAM_H

#include "core/session/state.h"

/* Resumes by GET a stream that ended after an event id, before its answer. A
 * server may end its streams often, but --call-timeout limits the time without
 * an event or a message. r is the ruling for this end. Returns false if the
 * stream cannot be resumed. */
bool session_resume(struct session *s, struct attempt *l, const struct facts *f,
    struct ruling r);

/* Notes the event id that the stream of a call ended with, n > 0: ids that come
 * on two streams, or are the session's, are no ids of events. */
void session_note_ids(struct session *s, const struct attempt *l,
    const struct facts *f);

#endif
