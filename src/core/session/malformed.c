/* Lines of the client that are not passed on: those that are not messages,
 * batches, and messages that are too long. */
#include "config.h"

#include "core/session/parts.h"

#include <limits.h>
#include <string.h>

#include "core/wire/protocol.h"

/* May an error be sent without an id? Schemas before 2025-11-25 require one. */
static bool
may_omit_id(const struct session *s)
{
	static const char newest[] = "\"" REVISION_LEGACY;
	const struct frame *answer = s->handshake.answer;
	struct span version = answer == NULL ?
	    no_span :
	    json_get(answer->result, "protocolVersion");

	return version.n < sizeof newest ||
	    memcmp(version.p, newest, sizeof newest - 1) >= 0;
}

/* Answers the question with this id by an error, because the client's own
 * answer cannot be passed on and the server waits for one. */
static void
answer_unusable(struct session *s, struct span id, const char *why)
{
	struct frame *f;

	if (id.p == NULL)
		return;
	f = fault_make(FAULT_BAD_ANSWER,
	    &(struct fault_args){ .id = id, .why = span_of(why) });
	session_answer_question(s, f);
	frame_unref(f);
}

/* Answers each message of a batch by its id: a request with an error, and for
 * an answer the question of the server, which waits for it. Returns false if
 * the batch is empty or too long, or if something in it has no id and is no
 * notification. */
static bool
answer_batch(struct session *s, struct span array)
{
	struct span key, value;
	size_t at = 0, n;
	bool all = true;
	struct frame *f;

	while (array.p[0] != '[') {
		array.p++;
		array.n--;
	}
	for (n = 0; json_next(array, &at, &key, &value); n++) {
		if (n == BOUND_MANY)
			return false;
		f = frame_copy(value);
		msg_parse(f, UINT_MAX);
		if (f->result.p != NULL || f->error.p != NULL)
			answer_unusable(s, f->id, "is in a batch");
		else if (f->id.p != NULL)
			session_reject(s,
			    fault_make(FAULT_BATCH,
				&(struct fault_args){ .request = f }));
		else if (f->kind != FRAME_NOTIFICATION)
			all = false;
		frame_unref(f);
	}
	return n > 0 && all;
}

void
session_invalid(struct session *s, const struct event *in)
{
	static const char *const what[] = {
		"not JSON; each message must be on one line (jq -c does that)",
		"a batch", "not a JSON-RPC message",
		"a request needs an \"id\"", "a message with two readings"
	};
	static const enum fault_id faults[] = { FAULT_NO_JSON, FAULT_BATCH,
		FAULT_NO_MESSAGE, FAULT_NONE, FAULT_TWO_WAYS };

	struct span id = in->kind == INPUT_TOO_LONG ? in->id :
	    in->frame != NULL                       ? in->frame->id :
						      no_span;
	struct frame *f;

	/* An answer gets no answer, not even a bad one. */
	if (in->frame != NULL &&
	    (in->frame->result.p != NULL || in->frame->error.p != NULL)) {
		session_log(s, LEVEL_WARN,
		    "an answer from the client is not a JSON-RPC message: "
		    "dropped");
		answer_unusable(s, id, "is not a JSON-RPC message");
		return;
	}
	session_log(s, LEVEL_WARN, "not forwarding a line from the client: %s",
	    in->kind == INPUT_TOO_LONG ? "too long" : what[in->invalid]);
	/* No answer could name it. */
	if (in->kind == INPUT_INVALID && in->invalid == INVALID_NO_ID) {
		s->ending.own_errors = true;
		return;
	}
	f = fault_make(in->kind == INPUT_TOO_LONG ? FAULT_MESSAGE_HUGE :
						    faults[in->invalid],
	    &(struct fault_args){ .id = id, .size = in->size });
	/* What has no id in a batch gets one error together. */
	if (in->frame != NULL && in->invalid == INVALID_BATCH &&
	    answer_batch(s, in->frame->text)) {
		frame_unref(f);
		return;
	}
	/* The client gets no error for a notification or an answer that is too
	 * long. */
	if (in->kind == INPUT_TOO_LONG && id.p != NULL && !in->request) {
		frame_unref(f);
		answer_unusable(s, id, "is too large");
	} else if (id.p == NULL && !may_omit_id(s)) {
		frame_unref(f);
	} else {
		session_reject(s, f);
	}
}
