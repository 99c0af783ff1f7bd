/*
 * Which era, which transport? Every branch of both trees (doc/protocol.md 5) as
 * a schedule in tests/play/schedules/detect.txt, each a test with a name; here
 * is what decides nothing, and then what the session is told, fact by fact.
 */
#include "config.h"

#include "core/server/parts.h"
#include "play/server_hand.h"
#include "play/suite.h"
#include "unit/unit.h"

/* --- what decides nothing --- */

#define OPENS                                                                  \
	"> initialize 1 {'protocolVersion':'2025-11-25','capabilities':{},"    \
	"'clientInfo':{'name':'c','version':'1'}}\n"
#define POSTED(n) "send #" n " POST initialize 1\n"
#define ASKED(n) "send #" n " POST server/discover 'mine-s1'\n"
#define STREAM "send #1 GET listen announces\n"
#define IS_MODERN                                                              \
	"! client {'jsonrpc':'2.0','id':'d','method':'server/discover',"       \
	"'params':{'_meta':{'io.modelcontextprotocol/protocolVersion':"        \
	"'2026-07-28','x':1.0}}}\n"

struct ending_row {
	const char *name, *input, *told;
	bool spoken;
};

/* Behind "< #N" and "done @1". */
static const struct ending_row says_nothing[] = {
	{ "401", "401", "401", false },
	{ "403", "403", "403", false },
	{ "407", "407", "407", false },
	{ "408", "408", "408", false },
	{ "429", "429 retry-after=5", "429 retry-after 5000", false },
	{ "302", "302", "302", false },
	{ "308", "308", "308", false },
	{ "500", "500", "500", false },
	{ "502 page", "502 media=html body=<p>", "502", false },
	{ "503", "503 retry-after=9", "503 retry-after 9000", false },
	{ "401 and words", "401 err -32001 sign in", "401", true },
	{ "403 and words", "403 err -32003 no", "403", true },
	{ "429 and words", "429 err -32601 no", "429", true },
	{ "500 and words", "500 err -32601 no", "500", true },
	{ "200, a page", "200 media=html body=<p>", "200", false },
	{ "cut", "cut", "cut", false },
	{ "idle", "idle", "idle", false },
	{ "connect", "connect", "connect unsent", false },
	{ "resolve", "resolve", "resolve unsent", false },
	{ "tls", "tls", "tls unsent", false },
	{ "proxy", "proxy", "proxy unsent", false },
	{ "denied", "denied", "denied unsent", false },
	{ "reset", "reset", "cut unsent", false },
};

struct step_row {
	const char *options, *before, *order;
	int number;
	bool stream;
};

/* A step of which it is said, and what led there. */
static const struct step_row first_steps[] = {
	{ "", OPENS, POSTED("1"), 1, false },
	{ "was=modern", OPENS, ASKED("1"), 1, false },
	{ "protocol=modern", OPENS, ASKED("1"), 1, false },
	{ "", IS_MODERN OPENS, "send #1 POST server/discover 'd'\n", 1, false },
	{ "transport=sse", OPENS, STREAM, 1, true },
	{ "transport=sse-first", OPENS, STREAM, 1, true },
	{ "was=sse", OPENS, STREAM, 1, true },
	{ "", OPENS POSTED("1") "< #1 415\n", ASKED("2"), 2, false },
	{ "was=modern", OPENS ASKED("1") "< #1 404\n", POSTED("2"), 2, false },
};

static void
check_nothing(const struct step_row *s, const struct ending_row *r)
{
	/* It begins again at the same place, as if nothing had been said. */
	bool page = strcmp(r->name, "200, a page") == 0;
	bool head = r->input[0] >= '1' && r->input[0] <= '9' && !s->stream;
	struct buf b;

	if (s->stream && (r->spoken || page))
		return; /* what a GET brings is judged elsewhere */
	buf_init(&b, 0);
	buf_addf(&b, "%s%s< #%d %s\n", s->before, s->order, s->number,
	    r->input);
	if (head)
		buf_addf(&b, "head @1 %.3s\n", r->input);
	if (r->spoken)
		buf_adds(&b, "tell @1 {'jsonrpc':'2.0','id':1,'error':...\n");
	buf_addf(&b, "done @1 %s\n", r->told);
	if (r->spoken)
		buf_addf(&b, "abort #%d\n", s->number);
	buf_adds(&b, "! wait 100000\n");
	if (s->number == 1 && strstr(s->before, "! client") == NULL &&
	    strstr(s->order, "mine-s") == NULL) {
		buf_adds(&b, OPENS);
		buf_addf(&b, "send #2%s", s->order + strlen("send #1"));
	}
	play_check(&play_server, s->options, buf_str(&b));
	buf_free(&b);
}

START_TEST(test_says_nothing)
{
	size_t i;

	for (i = 0; i < sizeof first_steps / sizeof *first_steps; i++)
		check_nothing(&first_steps[i], &says_nothing[_i]);
}
END_TEST

/* --- the facts that the session gets --- */

static const struct server_config plain = { .host = "h", .prefix = "p" };
static const struct facts ok_facts = { .status = 200,
	.media = MEDIA_JSON,
	.session = { "sess", 4 },
	PLAIN };
static const char initialized[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"v\"}}";

/* A native answer comes with all its facts; and it says whether the server
 * speaks what it spoke before. */
START_TEST(test_facts_legacy)
{
	struct server_config config = plain;
	struct hand h;

	config.remembered = _i > 0;
	config.was_modern = _i == 2;
	hand_open(&h, &config);
	if (_i == 2) /* to server/discover */
		hand_answer(&h, h.order,
		    &(struct facts){ .status = 404, PLAIN }, NULL);
	hand_answer(&h, h.order, &ok_facts, initialized);
	ck_assert(h.head.told && h.message.told && !h.done.told);
	ck_assert_int_eq(h.head.facts.status, 200);
	ck_assert_int_eq(h.head.facts.media, MEDIA_JSON);
	ck_assert_str_eq(h.head.session, "sess");
	ck_assert_str_eq(h.message.session, "sess");
	ck_assert(!h.message.facts.had_session &&
	    !h.message.facts.session_ended);
	ck_assert_int_eq(h.message.facts.changed, _i != 1);
	ck_assert_str_eq(buf_str(&h.text), initialized);
	hand_answer(&h, h.order, &ok_facts, NULL);
	ck_assert(h.done.told && !h.done.facts.session_ended);
	ck_assert_str_eq(h.done.session, "sess");
	ck_assert_int_eq(h.done.facts.ending, ENDING_COMPLETE);
	hand_free(&h);
}
END_TEST

/* The answer of a former initialize comes with the id of the session that it
 * made, so that it can be ended. */
START_TEST(test_facts_stray)
{
	uint64_t former;
	struct hand h;

	hand_open(&h, &plain);
	former = h.order;
	hand_post(&h, 8,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\"}");
	ck_assert(h.order != former && !h.done.told);
	ck_assert(server_order_find(h.era, 7) != NULL &&
	    server_order_find(h.era, 8) != NULL);
	hand_answer(&h, former, &ok_facts, initialized);
	ck_assert(h.message.told);
	ck_assert_str_eq(h.message.session, "sess");
	ck_assert(!h.message.facts.changed);
	hand_answer(&h, former, &ok_facts, NULL);
	ck_assert(h.done.told && server_order_find(h.era, 7) == NULL);
	hand_free(&h);
}
END_TEST

static const char discovered[] =
    "{\"jsonrpc\":\"2.0\",\"id\":\"p-s1\",\"result\":{\"resultType\":"
    "\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":"
    "{\"tools\":{}}}}";

START_TEST(test_facts_modern)
{
	struct server_config config = plain;
	struct hand h;
	struct buf page;

	config.remembered = true;
	config.was_modern = _i == 0;
	hand_open(&h, &config);
	ck_assert_ptr_null(server_discovered(h.era));
	if (_i == 1)
		hand_answer(&h, h.order,
		    &(struct facts){ .status = 415, PLAIN }, NULL);
	/* What else comes with it is not the session's. */
	hand_answer(&h, h.order, &ok_facts, discovered);
	ck_assert(h.head.told && h.message.told && h.done.told);
	ck_assert_int_eq(h.message.facts.status, 200);
	ck_assert_int_eq(h.message.facts.media, MEDIA_JSON);
	ck_assert_int_eq(h.message.facts.changed, _i == 1);
	ck_assert_str_eq(h.message.session, "");
	ck_assert(!h.done.facts.session_ended);
	ck_assert(span_is(server_discovered(h.era)->text, discovered));
	hand_answer(&h, h.order, &ok_facts, NULL);
	ck_assert(h.done.told == 0);
	buf_init(&page, 0);
	server_describe(h.era, &page);
	ck_assert_str_eq(buf_str(&page), "server: modern (2026-07-28)\n");
	buf_free(&page);
	hand_free(&h);
}
END_TEST

static void
hand_refuse(struct hand *h, int status, const char *why)
{
	struct facts f = { .status = status, .why = span_of(why), PLAIN };

	f.verb = h->verb;
	hand_answer(h, h->order, &f, NULL);
}

/* When nothing fits: what initialize was refused by, and both failures. */
START_TEST(test_facts_neither)
{
	struct server_config config = plain;
	struct event in = { .kind = INPUT_ENDPOINT };
	struct hand h;

	hand_open(&h, &config);
	hand_refuse(&h, 404, "");
	ck_assert_int_eq(h.verb, VERB_GET);
	hand_refuse(&h, 405, "");
	ck_assert_int_eq(h.verb, VERB_POST);
	hand_refuse(&h, 400, "");
	ck_assert(h.done.told && !h.message.told);
	ck_assert_int_eq(h.done.facts.status, 404);
	ck_assert_int_eq(h.done.facts.verb, VERB_POST);
	ck_assert(!h.done.facts.session_ended && !h.done.facts.had_session);
	ck_assert_str_eq(h.done.why,
	    "no event stream of HTTP+SSE there either, and server/discover is "
	    "not known");
	hand_free(&h);

	config.protocol = PROTOCOL_LEGACY;
	hand_open(&h, &config);
	hand_refuse(&h, 405, "");
	hand_refuse(&h, 404, "");
	ck_assert_int_eq(h.done.facts.status, 405);
	ck_assert_str_eq(h.done.why,
	    "no event stream of HTTP+SSE there either");
	hand_free(&h);

	/* The stream is there, and cannot be used. */
	hand_open(&h, &config);
	hand_refuse(&h, 405, "");
	in.ticket = h.order;
	hand_step(&h, &in);
	ck_assert_int_eq(h.done.facts.status, 405);
	ck_assert_ptr_nonnull(strstr(h.done.why,
	    "names an endpoint on another origin"));
	hand_free(&h);

	/* Upstream's words are not overwritten. */
	hand_open(&h, &config);
	hand_refuse(&h, 405, "mind the gap");
	hand_refuse(&h, 404, "no stream");
	ck_assert_str_eq(h.done.why, "mind the gap");
	hand_free(&h);
}
END_TEST

START_TEST(test_facts_silence)
{
	struct server_config config = plain;
	struct event in = { .kind = INPUT_TICK };
	struct hand h;

	config.transport = TRANSPORT_SSE;
	hand_open(&h, &config);
	ck_assert_int_eq(server_deadline(h.era), 1000 + 10000);
	hand_step(&h, &in); /* too early */
	ck_assert(!h.done.told);
	ck_assert_int_eq(server_deadline(h.era), 1000 + 10000);
	h.now += 10000;
	hand_step(&h, &in);
	ck_assert(h.done.told);
	ck_assert_str_eq(h.done.why, "no endpoint event within 10 s");
	hand_free(&h);

	/* A foreign endpoint. */
	hand_open(&h, &config);
	in.kind = INPUT_ENDPOINT;
	in.ticket = h.order;
	hand_step(&h, &in);
	ck_assert(h.done.told);
	ck_assert_str_eq(h.done.why, "its endpoint is on another origin");
	in.kind = INPUT_TICK;
	hand_step(&h, &in);
	ck_assert_int_eq(server_deadline(h.era), ALARM_NEVER);
	hand_free(&h);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("server_detect");
	TCase *tc = tcase_create("facts");

	suite_add_schedules(suite, "detect");
	tcase_add_loop_test(tc, test_says_nothing, 0, COUNT(says_nothing));
	tcase_add_loop_test(tc, test_facts_legacy, 0, 3);
	tcase_add_loop_test(tc, test_facts_modern, 0, 2);
	tcase_add_test(tc, test_facts_stray);
	tcase_add_test(tc, test_facts_neither);
	tcase_add_test(tc, test_facts_silence);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
