/*
 * HTTP+SSE of 2024-11-05, played as Streamable HTTP (doc/protocol.md 1.2):
 * schedules in tests/play/schedules/sse2024.txt, each a test with a name; here
 * are how orders go out, the bounds of what is kept, and the facts of what is
 * refused and of what is lost.
 */
#include "config.h"

#include "core/server/parts.h"

#include "base/bounds.h"
#include "play/server_hand.h"
#include "play/suite.h"
#include <stdlib.h>

#define INIT                                                                   \
	"{'protocolVersion':'2025-06-18','capabilities':{},"                   \
	"'clientInfo':{'name':'c','version':'1'}}"

/* --- how orders go out --- */

START_TEST(test_orders)
{
	play_check(&play_server, "transport=sse flags headers",
	    "> initialize 0 " INIT "\n"
	    "send #1 GET listen announces [] interactive\n"
	    "< #1 endpoint ok\n"
	    "send #2 POST initialize 0 [] endpoint interactive\n"
	    "< #2 202\n"
	    "head @1 200\n"
	    "< #1 msg ok=0 {}\n"
	    "found sse\n"
	    "tell @1 {'jsonrpc':'2.0','id':0,'result':{}}\n"
	    "done @1 200\n"
	    "> notifications/initialized\n"
	    "send #3 POST notifications/initialized v=2025-11-25 [] endpoint\n"
	    "> tools/call 1 {'name':'x'}\n"
	    "send #4 POST tools/call 1 v=2025-11-25 [] endpoint interactive\n"
	    "> answer 7\n"
	    "send #5 POST answer 7 v=2025-11-25 [] endpoint\n");
	/* Byte for byte. */
	play_check(&play_server, "transport=sse bodies",
	    "> initialize 0\n"
	    "send #1 GET listen announces\n"
	    "< #1 endpoint ok\n"
	    "send #2 POST {'jsonrpc':'2.0','method':'initialize','id':0}\n"
	    "< #1 msg ok=0 {}\n"
	    "found sse\n"
	    "tell @1 {'jsonrpc':'2.0','id':0,'result':{}}\n"
	    "done @1 200\n"
	    "abort #2\n"
	    "> {'params':{'a':1.0,'a':2},'method':'x','id':1e0,"
	    "'jsonrpc':'2.0','_meta':0}\n"
	    "send #3 POST {'params':{'a':1.0,'a':2},'method':'x','id':1e0,"
	    "'jsonrpc':'2.0','_meta':0}\n");
}
END_TEST

START_TEST(test_notes)
{
	struct play *p = play_new(&play_server, "transport=sse notes was=sse");

	play_check_lines(p, suite_fragment("@live"));
	play_must(p, "< #1 msg ok=1");
	play_must(p,
	    "note an answer on the stream matches no open request: dropped");
	play_free(p);
}
END_TEST

/* --- bounds --- */

/* Only so many messages are kept for a later GET. */
START_TEST(test_kept)
{
	struct play *p = play_new(&play_server, "transport=sse notes was=sse");
	int i;

	play_check_lines(p, suite_fragment("@opened"));
	for (i = 0; i < 66; i++)
		play_feed(p, "< #1 msg note n%d", i);
	ck_assert_uint_eq(play_count(p,
			      "note too many messages came on the stream"),
	    2);
	play_feed(p, "> get");
	ck_assert_uint_eq(play_seen(p, "\"n0\""), 1);
	ck_assert_uint_eq(play_seen(p, "\"n63\""), 1);
	ck_assert_uint_eq(play_seen(p, "\"n64\""), 0);
	ck_assert_uint_eq(play_count(p, "tell @2"), 64);
	/* There is room again. */
	play_feed(p, "> abort @2");
	play_feed(p, "< #1 msg note a");
	buf_reset(&p->out);
	play_feed(p, "> get");
	ck_assert_uint_eq(play_count(p, "tell @3"), 1);
	play_free(p);
}
END_TEST

static void
play_big(struct play *p, size_t n)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "< #1 msg note n {\"a\":\"");
	while (b.n < n)
		buf_addc(&b, 'x');
	buf_adds(&b, "\"}");
	play_feed(p, "%s", buf_str(&b));
	buf_free(&b);
}

START_TEST(test_kept_bytes)
{
	struct play *p = play_new(&play_server, "transport=sse notes was=sse");
	int i;

	play_check_lines(p, suite_fragment("@opened"));
	for (i = 0; i < 5; i++)
		play_big(p, 300 * 1000);
	ck_assert_uint_eq(play_count(p,
			      "note too many messages came on the stream"),
	    2);
	play_feed(p, "< #1 msg note small");
	ck_assert_uint_eq(play_count(p, "note too much"), 0);
	play_feed(p, "> get");
	ck_assert_uint_eq(play_count(p, "tell @2"), 4);
	/* There is room again. */
	play_feed(p, "> abort @2");
	play_big(p, 900 * 1000);
	buf_reset(&p->out);
	play_feed(p, "> get");
	ck_assert_uint_eq(play_count(p, "tell @3"), 1);
	/* With a GET open, this bound does not apply. */
	play_big(p, 2 * 1000 * 1000);
	ck_assert_uint_eq(play_count(p, "tell @3"), 1);
	play_free(p);
}
END_TEST

/* The bytes and what is around them. */
START_TEST(test_kept_bytes_exactly)
{
	static const char note[] = "{\"jsonrpc\":\"2.0\",\"method\":\"n\"";
	struct play *p = play_new(&play_server, "transport=sse notes was=sse");
	struct frame *f = frame_copy(span_of("{}"));
	size_t around = frame_size(f) - f->text.n + sizeof f;
	char *line = xmalloc(BOUND_QUEUE_BYTES + 1);
	size_t n;
	int over;

	frame_unref(f);
	play_check_lines(p, suite_fragment("@opened"));
	for (over = 1; over >= 0; over--) {
		n = BOUND_QUEUE_BYTES - around + (size_t)over;
		memset(line, ' ', n);
		memcpy(line, note, sizeof note - 1);
		strcpy(line + n - 1, "}");
		play_feed(p, "< #1 msg %s", line);
		ck_assert_int_eq((int)play_count(p, "note too many messages"),
		    over);
	}
	play_feed(p, "> get");
	ck_assert_uint_eq(play_count(p, "tell @2"), 1);
	free(line);
	play_free(p);
}
END_TEST

/* --- facts --- */

/* The session 7 is open on the stream; returns the stream's ticket. */
static uint64_t
hand_sse(struct hand *h)
{
	const struct server_config config = {
		.host = "h", .prefix = "p", .transport = TRANSPORT_SSE
	};
	const struct facts stream = {
		.status = 200, .media = MEDIA_SSE, PLAIN
	};
	struct event in = { .kind = INPUT_ENDPOINT, .ok = true };
	uint64_t ticket;

	hand_open(h, &config);
	ticket = in.ticket = h->order;
	hand_step(h, &in);
	ck_assert(h->order != ticket);
	hand_answer(h, ticket, &stream,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	ck_assert(h->done.told == 1 && h->done_of == 7);
	return ticket;
}

#define POSTED "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\"}"

/* The answers are those of a stream, whatever the server's facts were. */
START_TEST(test_facts_answer)
{
	const struct facts taken = { .status = 202,
		.media = MEDIA_OTHER,
		.session = { "abc", 3 },
		PLAIN };
	const struct facts stream = { .status = 200,
		.media = MEDIA_SSE,
		.last_event_id = { "e1", 2 },
		PLAIN };
	uint64_t ticket;
	struct hand h;

	ticket = hand_sse(&h);
	ck_assert(h.message.facts.changed);
	hand_post(&h, 8, POSTED);
	hand_answer(&h, h.order, &taken, NULL);
	ck_assert(h.head.told == 1 && h.done.told == 0);
	ck_assert_int_eq(h.head.facts.status, 200);
	ck_assert_int_eq(h.head.facts.media, MEDIA_SSE);
	ck_assert_str_eq(h.head.session, "");
	hand_answer(&h, ticket, &stream,
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}");
	ck_assert(h.message.told == 1 && h.done.told == 1 && h.done_of == 8);
	ck_assert_int_eq(h.message.facts.media, MEDIA_SSE);
	ck_assert(!h.message.facts.changed && !h.message.facts.session_ended);
	/* There is nothing to resume. */
	ck_assert_uint_eq(h.done.facts.last_event_id.n, 0);
	ck_assert_int_eq(h.done.facts.ending, ENDING_COMPLETE);
	hand_free(&h);
}
END_TEST

/* The session is the stream: what is refused is refused in a session, but for
 * initialize, which begins it. */
START_TEST(test_facts_refused)
{
	const struct facts f = {
		.status = _i == 0 ? 404 : 400, .media = MEDIA_JSON, PLAIN
	};
	const char *words = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
			    "{\"code\":-32000,\"message\":\"m\"}}";
	struct hand h;

	hand_sse(&h);
	hand_post(&h, 8, POSTED);
	hand_answer(&h, h.order, &f, words);
	ck_assert(h.message.told == 1 && h.done.told == 0);
	ck_assert(h.message.facts.had_session);
	ck_assert_int_eq(h.message.facts.status, f.status);
	ck_assert(buf_span(&h.text).n > 0 && span_is(buf_span(&h.text), words));
	hand_answer(&h, h.order, &f, NULL);
	ck_assert(h.head.told == 1 && h.head.facts.had_session);
	ck_assert(h.done.told == 1 && h.done.facts.had_session);
	ck_assert(!h.done.facts.session_ended);
	ck_assert_int_eq(h.done.facts.status, f.status);
	ck_assert(server_order_find(h.era, 8) == NULL);
	hand_free(&h);
}
END_TEST

START_TEST(test_facts_refused_first)
{
	const struct facts f = { .status = 404, .media = MEDIA_JSON, PLAIN };
	const struct server_config config = {
		.host = "h", .prefix = "p", .transport = TRANSPORT_SSE
	};
	struct event in = { .kind = INPUT_ENDPOINT, .ok = true };
	struct hand h;

	hand_open(&h, &config);
	in.ticket = h.order;
	hand_step(&h, &in);
	hand_answer(&h, h.order, &f, NULL);
	ck_assert(h.done.told == 1 && h.done_of == 7);
	ck_assert(!h.done.facts.had_session && !h.head.facts.had_session);
	hand_free(&h);
}
END_TEST

START_TEST(test_facts_lost)
{
	const struct facts end = { .status = 200, .media = MEDIA_SSE, PLAIN };
	const struct facts taken = { .status = 202, PLAIN };
	uint64_t ticket;
	struct hand h;
	struct buf page;

	ticket = hand_sse(&h);
	hand_post(&h, 8, POSTED);
	hand_answer(&h, h.order, &taken, NULL);
	hand_answer(&h, ticket, &end, NULL);
	ck_assert(h.done.told == 1 && h.done_of == 8);
	ck_assert(h.done.facts.session_ended && h.done.facts.sent);
	ck_assert_int_eq(h.done.facts.status, 0);
	ck_assert_int_eq(h.done.facts.verb, VERB_POST);
	/* A call that is sent after the end did not run. */
	hand_post(&h, 9, POSTED);
	ck_assert(h.done.told == 1 && h.done_of == 9);
	ck_assert(h.done.facts.session_ended);
	ck_assert_int_eq(h.done.facts.status, 404);
	buf_init(&page, 0);
	server_describe(h.era, &page);
	ck_assert_str_eq(buf_str(&page),
	    "server: legacy, HTTP+SSE (2024-11-05)\n");
	buf_free(&page);
	hand_free(&h);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("server_sse2024");
	TCase *tc = tcase_create("rest");

	suite_add_schedules(suite, "sse2024");
	tcase_add_test(tc, test_orders);
	tcase_add_test(tc, test_notes);
	tcase_add_test(tc, test_kept);
	tcase_add_test(tc, test_kept_bytes);
	tcase_add_test(tc, test_kept_bytes_exactly);
	tcase_add_test(tc, test_facts_answer);
	tcase_add_loop_test(tc, test_facts_refused, 0, 2);
	tcase_add_test(tc, test_facts_refused_first);
	tcase_add_test(tc, test_facts_lost);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
