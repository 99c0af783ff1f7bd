/*
 * What an answer means, whatever bytes it has. The first three bytes choose
 * status, media type and the rest of the facts; the others are the body, and
 * the error response, if they are one. A request without a session id raises a
 * doubt at most, unless the server speaks another era; words that are not there
 * say nothing, and saying it twice says the same.
 */
#include "config.h"

#include "core/exchange/verdict.h"
#include "core/wire/msg.h"

#include "fuzz/fuzz.h"

/* Does the verdict say more than that the session may be lost? */
static bool
is_certain(enum verdict verdict)
{
	return verdict == VERDICT_LOST || verdict == VERDICT_LOST_MAYBE ||
	    verdict == VERDICT_UNREADY;
}

static void
check(const struct facts *facts, struct ruling r, struct ruling again)
{
	FUZZ_CHECK(r.verdict <= VERDICT_FAIL);
	FUZZ_CHECK(r.rule != NULL && *r.rule != '\0');
	FUZZ_CHECK(r.verdict == again.verdict && r.rule == again.rule);
	FUZZ_CHECK(facts->had_session || r.rule == verdict_other_era ||
	    !is_certain(r.verdict));
	FUZZ_CHECK(r.verdict != VERDICT_UNREADY || facts->fresh);
}

static void
as_message(const struct facts *facts, struct span text)
{
	static const struct verdict_rules none;
	struct frame *f;
	struct buf b;
	bool scrubbed, hint;
	struct ruling r;

	buf_init(&b, 0);
	buf_addspan(&b, text);
	if (msg_from_server(&b, 64, &f, &scrubbed) != MSG_OK) {
		buf_free(&b);
		return;
	}
	buf_free(&b);
	if (f->kind == FRAME_ERROR) {
		check(facts, verdict_error(facts, f, &none),
		    verdict_error(facts, f, &none));
	} else if (f->kind == FRAME_RESULT) {
		r = verdict_result(facts, f, &none, &hint);
		FUZZ_CHECK(r.verdict == VERDICT_ANSWER);
		FUZZ_CHECK(facts->had_session || !hint);
	}
	frame_unref(f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct verdict_rules none;
	static const int statuses[] = { 200, 202, 400, 401, 403, 404, 405, 409,
		410, 422, 429, 500, 502, 503, 504, 0 };
	struct facts facts = {
		.sent = true, .retry_after_ms = -1, .retry_ms = -1
	};

	if (size < 3 || size > 65536)
		return 0;
	facts.status = statuses[data[0] % 16];
	facts.verb = (enum verb)(data[0] / 16 % 3);
	facts.media = (enum media)(data[1] % 5);
	facts.had_session = data[2] & 1;
	facts.fresh = data[2] & 2;
	facts.ending = data[2] & 4 ? ENDING_CUT : ENDING_COMPLETE;
	facts.body = (struct span){ (const char *)data + 3, size - 3 };
	check(&facts, verdict_bare(&facts, &none), verdict_bare(&facts, &none));
	facts.ending = ENDING_COMPLETE;
	as_message(&facts, facts.body);
	return 0;
}
