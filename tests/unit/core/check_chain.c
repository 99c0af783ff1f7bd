/*
 * The three reducers in a row, end to end: what passes, an upgrade of the
 * server under a live client of either era, the end of stdin, the startup
 * cache, time. Most of it are schedules, in tests/play/schedules/chain.txt,
 * each a test with a name.
 */
#include "config.h"

#include "core/chain.h"
#include "core/wire/msg.h"
#include "play/suite.h"

/* --- by pointer --- */

static struct frame *
parsed(const char *text)
{
	struct frame *f = frame_copy(span_of(text));

	ck_assert(msg_parse(f, 64) == MSG_OK);
	return f;
}

/* The next action of this kind; the others are passed over. */
static void
await(struct chain *c, enum event_kind kind, struct event *a)
{
	while (chain_next(c, a))
		if (a->kind == kind)
			return;
	ck_abort_msg("no action %d", (int)kind);
}

static void
step(struct chain *c, struct event *in)
{
	in->now = 1000;
	chain_step(c, in);
}

/* Between two legacy ends a frame is the same one, and a ticket is the
 * session's own: no copy, no stop. */
START_TEST(test_passes)
{
	const struct chain_config config = { .session = { .host = "h",
						 .version = "0",
						 .prefix = "p",
						 .max_inflight = 8,
						 .max_held = 1000,
						 .max_bodies = 1000 } };
	const struct facts ok = { .status = 200,
		.media = MEDIA_JSON,
		.sent = true,
		.retry_after_ms = -1,
		.retry_ms = -1 };
	struct chain *c = chain_new(&config);
	struct frame *initialize = parsed("{\"jsonrpc\":\"2.0\",\"id\":1,"
					  "\"method\":\"initialize\","
					  "\"params\":{}}");
	struct frame *call = parsed("{\"jsonrpc\":\"2.0\",\"id\":2,"
				    "\"method\":\"tools/call\"}");
	struct frame *ready = parsed("{\"jsonrpc\":\"2.0\",\"method\":"
				     "\"notifications/initialized\"}");
	struct frame *opened = parsed("{\"jsonrpc\":\"2.0\",\"id\":1,"
				      "\"result\":{}}");
	struct frame *result = parsed("{\"jsonrpc\":\"2.0\",\"id\":2,"
				      "\"result\":{}}");
	struct event in = { .kind = INPUT_CLIENT, .frame = initialize };
	struct event a;

	ck_assert(chain_wants_secret(c));
	ck_assert_int_eq(chain_deadline(c), ALARM_NEVER);
	step(c, &in);
	await(c, ACTION_SEND, &a);
	ck_assert(a.order->body == initialize);
	ck_assert(server_owns(a.ticket) && a.ticket == a.order->ticket);
	ck_assert(!chain_wants_secret(c));
	in = (struct event){ .kind = INPUT_MESSAGE,
		.ticket = a.ticket,
		.facts = &ok,
		.frame = opened };
	step(c, &in);
	await(c, ACTION_WRITE, &a);
	ck_assert(a.frame == opened);
	in = (struct event){ .kind = INPUT_CLIENT, .frame = ready };
	step(c, &in);
	await(c, ACTION_SEND, &a);
	ck_assert(a.order->body == ready && !server_owns(a.ticket));
	in = (struct event){
		.kind = INPUT_DONE, .ticket = a.ticket, .facts = &ok
	};
	step(c, &in);
	while (chain_next(c, &a))
		continue;
	in = (struct event){ .kind = INPUT_CLIENT, .frame = call };
	step(c, &in);
	await(c, ACTION_SEND, &a);
	ck_assert(a.order->body == call && !server_owns(a.ticket));
	in = (struct event){ .kind = INPUT_MESSAGE,
		.ticket = a.ticket,
		.facts = &ok,
		.frame = result };
	step(c, &in);
	await(c, ACTION_WRITE, &a);
	ck_assert(a.frame == result);
	chain_free(c);
	frame_unref(initialize);
	frame_unref(call);
	frame_unref(ready);
	frame_unref(opened);
	frame_unref(result);
}
END_TEST

/* Freed at any moment, with whatever is under way. */
START_TEST(test_freed)
{
	static const char *const inputs[][3] = {
		{ "> tools/call 5 {'name':'a'}" },
		{ "> server/discover 'd' {$N}",
		    "> tools/call 5 {'name':'a',$N}" },
		{ "> initialize 1 {}", "< #1 404" },
	};
	struct play *p = play_new(&play_chain, _i == 0 ? "transport=sse" : "");
	int i;

	if (_i == 0)
		play_check_lines(p, suite_fragment("@live_sse"));
	for (i = 0; inputs[_i][i] != NULL; i++)
		play_feed(p, "%s", inputs[_i][i]);
	ck_assert_uint_gt(play_count(p, "send "), 0);
	play_free(p);
	chain_free(NULL);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("chain");
	TCase *tc = tcase_create("rest");

	suite_add_schedules(suite, "chain");
	tcase_add_test(tc, test_passes);
	tcase_add_loop_test(tc, test_freed, 0, 3);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
