/*
 * subscriptions/listen at a modern server: the session's GET stream, and a
 * modern client's own listens. Most of it are schedules, in
 * tests/play/schedules/server_listen.txt; here is what takes many inputs.
 */
#include "config.h"

#include "play/suite.h"
#include "unit/unit.h"

#define ACK                                                                    \
	"{$J,'method':'notifications/subscriptions/acknowledged','params':{"   \
	"'_meta':{'$IsubscriptionId':$},'notifications':"

/* Acknowledged ones that die young: the waits grow up to half a minute. */
START_TEST(test_get_short_lives)
{
	static const int waits[] = { 1000, 1500, 2250, 3375, 5062, 7593, 11389,
		17083, 25624, 30000, 30000 };
	struct play *p = play_new(&play_server, "modern");
	int i;

	play_check_lines(p, suite_fragment("@open"));
	for (i = 0; i < COUNT(waits); i++) {
		play_must(p, "< #%d cut", i + 1);
		play_must(p, "! wait %d", waits[i] - 1);
		play_must(p, "! wait 1");
		play_must(p,
		    "send #%d POST subscriptions/listen 'mine-s%d' listen",
		    i + 2, i + 3);
		play_must(p, "< #%d head 200 media=sse", i + 2);
		play_must(p, "< #%d msg " ACK "{'toolsListChanged':true}}}",
		    i + 2);
		play_must(p,
		    "tell @1 {$J,'method':'notifications/tools/list_changed'}");
	}
	play_must_rest(p);
	play_free(p);
}
END_TEST

/* Refused for the moment: tried again. */
START_TEST(test_get_refused)
{
	static const int passing[] = { 401, 403, 408, 429, 500, 503 };
	struct play *p;
	int i;

	for (i = 0; i < COUNT(passing); i++) {
		p = play_new(&play_server, "modern");
		play_must(p, "> get");
		play_must(p, "head @1 200");
		play_must(p,
		    "send #1 POST subscriptions/listen 'mine-s2' listen");
		play_must(p, "< #1 %d err -32000 oops", passing[i]);
		play_must(p, "abort #1");
		play_must(p, "! wait 1000");
		play_must(p,
		    "send #2 POST subscriptions/listen 'mine-s3' listen");
		play_must_rest(p);
		play_free(p);
	}
}
END_TEST

/* A server that honours more than there is room for. */
START_TEST(test_native_gap_bound)
{
	struct play *p = play_new(&play_server, "modern");
	struct buf b;
	int i;

	play_check_lines(p, suite_fragment("@native"));
	play_feed(p, "< #1 msg " ACK "{}}}");
	play_feed(p, "< #1 cut");
	play_feed(p, "! wait 1000");
	play_feed(p, "< #2 head 200 media=sse");
	play_count(p, "");
	buf_init(&b, 0);
	buf_adds(&b, "< #2 msg " ACK "{'resourceSubscriptions':['u'");
	for (i = 0; i < 1100; i++)
		buf_adds(&b, ",'u'");
	buf_adds(&b, "]}}}");
	play_feed(p, "%s", buf_str(&b));
	ck_assert_uint_eq(play_count(p, "tell @1"), 1024);
	buf_free(&b);
	play_free(p);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("server_listen");
	TCase *get = tcase_create("get");
	TCase *native = tcase_create("native");

	suite_add_schedules(suite, "server_listen");
	tcase_add_test(get, test_get_short_lives);
	tcase_add_test(get, test_get_refused);
	tcase_add_test(native, test_native_gap_bound);
	suite_add_tcase(suite, get);
	suite_add_tcase(suite, native);
	return suite_run(suite);
}
