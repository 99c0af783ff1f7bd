/* One-way messages of the client: notifications, and answers to questions. */
#ifndef MCPSPLICE_CORE_SESSION_ONE_WAY_H
#define MCPSPLICE_CORE_SESSION_ONE_WAY_H

#include "core/session/state.h"

/* What an attempt of ATTEMPT_ONE_WAY sends, for people; static. */
const char *session_one_way_name(const struct attempt *l);
/* Sends it now; f is borrowed. */
struct attempt *session_send_one_way(struct session *s, struct frame *f);
/* The client's answer to a question was not delivered. If a call asked it, on
 * the attempt with this origin, that call would wait for ever: it ends with an
 * error, but where the server read the answer and refused it. f tells what
 * became of the answer; NULL: its session is gone. */
void session_undelivered(struct session *s, uint64_t asker,
    const struct facts *f);

/* --- answers to questions of the server --- */

/* Sends an answer to a question of the server, or holds it back while too
 * many are under way. asker is the origin of the attempt that asked, or 0: if
 * there is no place for the answer the call that asked ends. f is borrowed. */
void session_send_answer(struct session *s, struct frame *f, uint64_t asker);
/* Drops the answers that are held back; the calls that asked end. */
void session_drop_answers(struct session *s);
/* Sends the answers that are held back, as far as there is a place. */
void session_pump_answers(struct session *s);
/* What we answer where nobody can: "no", but to a ping. Owned by the caller. */
struct frame *session_nobody(struct span id, bool ping);
/* Answers the question that this answer of the client (borrowed) is for. */
void session_answer_question(struct session *s, struct frame *f);
/* Answers what is open for a client that has ended. */
void session_answer_all(struct session *s);

#endif
