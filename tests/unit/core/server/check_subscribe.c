/*
 * resources/subscribe of a legacy client at a modern server: one
 * subscriptions/listen for the whole set, replaced when the set changes. Most
 * of it are schedules, in tests/play/schedules/server_subscribe.txt; here are
 * the bounds.
 */
#include "config.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "play/suite.h"

#define SENDS "< #1 msg {$J,'method':'notifications/"
#define SUB "'_meta':{'$IsubscriptionId':$}"
#define ACK                                                                    \
	SENDS "subscriptions/acknowledged','params':{" SUB ",'notifications':"
#define UPDATED(uri)                                                           \
	SENDS "resources/updated','params':{'uri':'" uri "'," SUB "}}"

static void
subscribe(struct play *p, int id, const char *uri)
{
	play_feed(p, "> resources/subscribe %d {'uri':'%s'}", id, uri);
}

START_TEST(test_too_many_uris)
{
	struct play *p = play_new(&play_server, "modern");
	int i;

	for (i = 0; i < 1024; i++)
		play_feed(p, "> resources/subscribe %d {'uri':'a:/%d'}", i, i);
	ck_assert_uint_eq(play_count(p, ""), 0);
	subscribe(p, 1024, "a:/1024");
	ck_assert_uint_eq(
	    play_count(p,
		"tell @1025 {\"jsonrpc\":\"2.0\",\"id\":1024,"
		"\"error\":{\"code\":-32603,\"message\":\"Too many resource subscriptions: cancel some first.\",\"data\":{\"source\":"
		"\"mcpsplice\",\"reason\":\"busy\""),
	    1);
	/* Subscribing again to one of them adds nothing, so it is allowed. */
	subscribe(p, 1025, "a:/1023");
	ck_assert_uint_eq(play_count(p, ""), 0);
	play_feed(p, "> resources/unsubscribe 1026 {'uri':'a:/0'}");
	ck_assert_uint_eq(play_count(p, "done @"), 2);
	subscribe(p, 1027, "a:/1024");
	ck_assert_uint_eq(play_count(p, ""), 0);
	play_feed(p, "! wait 50");
	ck_assert_uint_eq(play_count(p, "send #1 POST"), 1);
	play_free(p);
}
END_TEST

/* Their quotes count. */
START_TEST(test_too_long_uris)
{
	struct play *p = play_new(&play_server, "modern");
	size_t n = BOUND_QUEUE_BYTES - 2;
	char *uri = xmalloc(n + 2);

	memset(uri, 'u', n + 1);
	uri[n + 1] = '\0';
	subscribe(p, 1, uri);
	ck_assert_uint_eq(play_count(p,
			      "tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,"
			      "\"error\":{\"code\":-32603,"),
	    1);
	uri[n] = '\0';
	subscribe(p, 2, uri);
	ck_assert_uint_eq(play_count(p, ""), 0);
	/* Of two, the one that leaves makes room. */
	subscribe(p, 3, "w");
	ck_assert_uint_eq(play_count(p, "tell @3"), 1);
	play_feed(p, "> abort @2");
	ck_assert_uint_eq(play_count(p, "done @2"), 1);
	uri[n - 3] = '\0';
	subscribe(p, 4, uri);
	subscribe(p, 5, "w");
	ck_assert_uint_eq(play_count(p, ""), 0);
	subscribe(p, 6, "");
	ck_assert_uint_eq(play_count(p, "tell @6"), 1);
	free(uri);
	play_free(p);
}
END_TEST

/* What is honoured is looked at as far as it can be of use. */
START_TEST(test_long_acknowledgement)
{
	struct play *p = play_new(&play_server, "modern");
	struct buf b;
	size_t i;

	subscribe(p, 1, "a:/1");
	play_feed(p, "! wait 50");
	play_feed(p, "< #1 head 200 media=sse");
	play_count(p, "");
	buf_init(&b, 0);
	buf_adds(&b, ACK "{'resourceSubscriptions':[");
	for (i = 0; i < 1024; i++)
		buf_adds(&b, "0,");
	buf_adds(&b, "'a:/1']}}}");
	play_feed(p, "%s", buf_str(&b));
	ck_assert_uint_eq(play_count(p,
			      "tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,"
			      "\"error\":{\"code\":-32602,"),
	    1);
	buf_free(&b);
	play_free(p);
}
END_TEST

/* An acknowledged stream of resources, and no GET. */
static struct play *
without_get(void)
{
	struct play *p = play_new(&play_server,
	    "modern server={'resources':{'subscribe':true}}");

	subscribe(p, 1, "a:/1");
	play_feed(p, "! wait 50");
	play_feed(p, "< #1 head 200 media=sse");
	play_feed(p, ACK "{'resourceSubscriptions':['a:/1']}}}");
	ck_assert_uint_eq(play_count(p, "done @1 200"), 1);
	return p;
}

START_TEST(test_kept)
{
	struct play *p = without_get();
	int i;

	for (i = 0; i < 70; i++)
		play_feed(p, UPDATED("a:/1/%d"), i);
	ck_assert_uint_eq(play_count(p, ""), 0);
	play_must(p, "> get");
	play_must(p, "head @2 200");
	for (i = 0; i < 64; i++)
		play_must(p,
		    "tell @2 {$J,'method':'notifications/resources/updated',"
		    "'params':{'uri':'a:/1/%d'}}",
		    i);
	play_must_rest(p);
	/* They are told once. */
	play_feed(p, "> abort @2");
	play_feed(p, "> get");
	ck_assert_uint_eq(play_count(p, "tell"), 0);
	play_free(p);
}
END_TEST

START_TEST(test_kept_bytes)
{
	struct play *p = without_get();
	char *big = xmalloc((1 << 18) + 1);
	int i;

	memset(big, 'u', 1 << 18);
	big[1 << 18] = '\0';
	for (i = 0; i < 5; i++)
		play_feed(p, UPDATED("%s"), big);
	play_feed(p, UPDATED("a:/1"));
	ck_assert_uint_eq(play_count(p, ""), 0);
	play_feed(p, "> get");
	/* Four do not fit, with what is around them; the small one does. */
	ck_assert_uint_eq(play_count(p, "tell @2"), 4);
	/* There is room again. */
	play_feed(p, "> abort @2");
	for (i = 0; i < 2; i++)
		play_feed(p, UPDATED("%s"), big);
	ck_assert_uint_eq(play_count(p, "done @2"), 1);
	play_feed(p, "> get");
	ck_assert_uint_eq(play_count(p, "tell @3"), 2);
	free(big);
	play_free(p);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("server_subscribe");
	TCase *bounds = tcase_create("bounds");

	suite_add_schedules(suite, "server_subscribe");
	tcase_add_test(bounds, test_too_many_uris);
	tcase_add_test(bounds, test_too_long_uris);
	tcase_add_test(bounds, test_long_acknowledgement);
	tcase_add_test(bounds, test_kept);
	tcase_add_test(bounds, test_kept_bytes);
	suite_add_tcase(suite, bounds);
	return suite_run(suite);
}
