/* One-way messages of the client: notifications, and answers to questions. */
#ifndef MCPSPLICE_CORE_SESSION_ONE_WAY_H
#define MCPSPLICE_CORE_SESSION_ONE_WAY_H

#include "core/session/state.h"

/* Names what an ATTEMPT_ONE_WAY sends, for people to read; static. */
const char *session_one_way_name(const struct attempt *l);
/* Sends a one-way message (borrowed) now. */
struct attempt *session_send_one_way(struct session *s, struct frame *f);
/* The call that asked, and still runs, or NULL. asker is the origin of its
 * attempt; 0: none. */
struct call *session_asking(const struct session *s, uint64_t asker);
/* The answer to a question was not delivered. asker is the origin of the
 * attempt that asked, or 0. The call of that attempt would wait for ever, so it
 * ends with an error, unless it may go on without the answer. f tells what
 * became of the answer; NULL: its session is gone. */
void session_undelivered(struct session *s, uint64_t asker,
    const struct facts *f);

/* --- answers to questions of the server --- */

/* Sends an answer (borrowed) to a question of the server, or holds it back
 * while too many are under way. asker is the origin of the attempt that asked,
 * or 0: if there is no place for the answer, the call that asked ends. */
void session_send_answer(struct session *s, struct frame *f, uint64_t asker);
/* Drops the answers that are held back. The calls that asked end. */
void session_drop_answers(struct session *s);
/* Sends as many of the held answers as may be under way at once. */
void session_pump_answers(struct session *s);
/* Makes the answer to a question that nobody can answer: an error, or the
 * result of a ping. Owned by the caller. */
struct frame *session_nobody(struct span id, bool ping);
/* Passes on an answer of the client (borrowed) to the question it is for. */
void session_answer_question(struct session *s, struct frame *f);
/* Answers all open questions for a client that has ended. */
void session_answer_all(struct session *s);

#endif
