/*
 * The client's answers to questions of the server. An answer may have to wait
 * until fewer are under way; if it is lost, the call that asked may have to end.
 */
#include "config.h"

#include "core/session/parts.h"

/* May the call that asked go on? It may if the server read the answer and
 * refused it, because the answer came too late; or if the answer went out
 * and only its receipt is missing, which some servers send when the call is
 * over. */
static bool
may_go_on(const struct facts *f)
{
	if (f == NULL)
		return false;
	if (f->ending == ENDING_IDLE)
		return f->sent;
	return f->ending == ENDING_COMPLETE &&
	    (f->status == 400 || f->status == 404 || f->status == 409 ||
		f->status == 410 || f->status == 422);
}

struct call *
session_asking(const struct session *s, uint64_t asker)
{
	size_t left = asker == 0 ? 0 : s->in_flight;
	struct call *c;

	for (c = s->calls.first; c != NULL && left > 0; c = c->next) {
		/* A call that waits for a sign-in was refused, so it has not
		 * asked anything. */
		if (calls_origin(c) == asker)
			return c->attempt == NULL ||
				!c->attempt->waits_for_user ?
			    c :
			    NULL;
		left -= c->state != CALL_HELD;
	}
	return NULL;
}

void
session_undelivered(struct session *s, uint64_t asker, const struct facts *f)
{
	struct call *c = may_go_on(f) ? NULL : session_asking(s, asker);

	if (c != NULL)
		session_fail(s, c,
		    fault_undelivered(c->frame, f, s->config.host));
}

/* May another answer go out now? While the session is renewed there is none to
 * send it in. */
static bool
may_send_answer(const struct session *s)
{
	return s->calls.n_answers < BOUND_FEW &&
	    phase_permits(s, PHASE_ANSWERS);
}

/* May an answer be held back? It may if there is a session, or a renewal. */
static bool
may_hold_answer(const struct session *s)
{
	return phase_permits(s, PHASE_ANSWERS | PHASE_AGAIN);
}

/* Takes the oldest answer that is held. Owned by the caller. */
static struct frame *
take_answer(struct session *s, uint64_t *asker)
{
	*asker = s->answers.first->asker;
	return session_queue_take(&s->answers, s->answers.first);
}

void
session_send_answer(struct session *s, struct frame *f, uint64_t asker)
{
	struct facts full = { .ending = ENDING_IDLE };

	if (!may_hold_answer(s)) {
		session_log(s, LEVEL_INFO,
		    "an answer from the client is for a session that is gone: "
		    "dropped");
		session_undelivered(s, asker, NULL);
	} else if (s->answers.first == NULL && may_send_answer(s)) {
		session_send_one_way(s, f)->asker = asker;
	} else if (s->answers.n >= BOUND_SOME ||
	    (s->answers.bytes > 0 &&
		s->answers.bytes + f->text.n > s->config.max_held)) {
		session_log(s, LEVEL_INFO,
		    "%s does not accept the answers to its questions: dropped "
		    "one",
		    s->config.host);
		full.why = span_of("too many answers wait for it");
		session_undelivered(s, asker, &full);
	} else {
		session_queue_add(&s->answers, f, f->text.n)->asker = asker;
	}
}

void
session_drop_answers(struct session *s)
{
	uint64_t asker;

	while (s->answers.first != NULL) {
		frame_unref(take_answer(s, &asker));
		session_undelivered(s, asker, NULL);
	}
}

void
session_pump_answers(struct session *s)
{
	struct frame *f;
	uint64_t asker;

	if (!may_hold_answer(s))
		session_drop_answers(s);
	while (s->answers.first != NULL && may_send_answer(s)) {
		f = take_answer(s, &asker);
		session_send_one_way(s, f)->asker = asker;
		frame_unref(f);
	}
}

struct frame *
session_nobody(struct span id, bool ping)
{
	return ping ?
	    msg_result(id, "{}") :
	    fault_make(FAULT_NOBODY, &(struct fault_args){ .id = id });
}

void
session_answer_question(struct session *s, struct frame *f)
{
	uint64_t generation, asker;
	struct frame *out = questions_answer(&s->questions, f, &generation,
	    &asker);

	if (out == NULL)
		session_log(s, LEVEL_INFO,
		    "an answer from the client matches no open question: "
		    "dropped");
	else if (generation == QUESTION_OWN)
		keep_frame(&s->asking.answer, frame_ref(out));
	else if (generation != s->generation->number)
		session_log(s, LEVEL_INFO,
		    "an answer from the client is for a session that is gone: "
		    "dropped");
	else
		session_send_answer(s, out, asker);
	frame_unref(out);
	session_want_read(s);
}

void
session_answer_all(struct session *s)
{
	const struct open_question *q;
	struct frame *f;

	while ((q = s->questions.list) != NULL) {
		f = session_nobody(span_of(q->client_id), q->ticket == 0);
		session_answer_question(s, f);
		frame_unref(f);
	}
}
