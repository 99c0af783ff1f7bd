/*
 * What a client is answered that started without the server. Either the startup
 * cache has a list of tools, or there is a stand-in, whose one tool tells what
 * is missing.
 */
#ifndef MCPSPLICE_CORE_SESSION_EARLY_ANSWER_H
#define MCPSPLICE_CORE_SESSION_EARLY_ANSWER_H

#include "core/session/state.h"

/* Makes the stand-in: chooses its tool, and appends the result of the client's
 * initialize. */
void session_stand_in(struct session *s, const struct frame *initialize,
    struct buf *out);
/* The answer to this request if no server is needed for it, or NULL. The tool
 * of the stand-in answers after the server has come, too, and so do the lists
 * that the stand-in declared and the server does not have. Owned by the
 * caller. */
struct frame *session_early_answer(struct session *s,
    const struct frame *request);
/* Answers those calls that wait and need no server. */
void session_answer_early(struct session *s);

#endif
