/*
 * What a modern client, or its legacy server, can make us keep: each bound is
 * reached, one more is refused in words, and there is room again after. The
 * schedules are made here, line by line.
 */
#include "config.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "play/suite.h"
#include "unit/unit.h"

#define META "$A"
#define ROOTS "'method':'roots/list'"

static void
check(struct buf *schedule)
{
	play_check(&play_client, "", buf_str(schedule));
	buf_free(schedule);
}

/* A modern client, and a legacy server that can do all. Our next id is
 * p-c2. */
static void
begin(struct buf *b)
{
	buf_init(b, 0);
	buf_adds(b,
	    "> {$J,'id':'d','method':'server/discover','params':{" META "}}\n"
	    "probe ...\n"
	    "send ...\n"
	    "< {$J,'id':'p-c1','result':{'protocolVersion':'2025-11-25',"
	    "'capabilities':{'resources':{'subscribe':true}},"
	    "'serverInfo':{}}}\n"
	    "send {$J,'method':'notifications/initialized'}\n"
	    "write ...\n");
}

static void
add_call(struct buf *b, int id, int sent)
{
	buf_addf(b,
	    "> {$J,'id':%d,'method':'tools/call','params':{'name':'x'," META
	    "}}\n"
	    "send {$J,'id':'p-c%d',...\n",
	    id, sent);
}

static void
add_question(struct buf *b, int sent, int id)
{
	buf_addf(b, "< @'p-c%d' {$J,'id':%d," ROOTS "}\n", sent, id);
}

START_TEST(test_probes)
{
	struct buf b;
	int i;

	buf_init(&b, 0);
	buf_adds(&b,
	    "> {$J,'id':0,'method':'server/discover','params':{$M}}\n"
	    "probe ...\nsend ...\n");
	for (i = 1; i < 64; i++)
		buf_addf(&b,
		    "> {$J,'id':%d,'method':'server/discover','params':{$M}}\n",
		    i);
	buf_adds(&b,
	    "> {$J,'id':64,'method':'server/discover','params':{$M}}\n"
	    "write {$J,'id':64,'error':{'code':-32603,'message':'Too many "
	    "requests are waiting...'reason':'busy'...\n"
	    "! wait 3500\n");
	for (i = 0; i < 64; i++)
		buf_addf(&b, "write {$J,'id':%d,'error':...\n", i);
	buf_adds(&b,
	    "? due never\n"
	    "> {$J,'id':64,'method':'server/discover','params':{$M}}\n"
	    "? due 3500\n");
	check(&b);
}
END_TEST

/* The same where the server is a modern one. */
START_TEST(test_native_probes)
{
	struct buf b;
	int i;

	begin(&b);
	buf_adds(&b,
	    "! server {$J,'id':'x','result':{'supportedVersions':['2026-07-28']}}\n");
	for (i = 0; i < 64; i++)
		buf_addf(&b,
		    "> {$J,'id':%d,'method':'server/discover','params':{$M}}\n"
		    "send {$J,'id':%d,...\n",
		    i, i);
	buf_adds(&b,
	    "> {$J,'id':64,'method':'server/discover','params':{$M}}\n"
	    "write {$J,'id':64,'error':{'code':-32603,...\n"
	    "< {$J,'id':7,'result':{'supportedVersions':['2026-07-28']}}\n"
	    "write {$J,'id':7,...\n"
	    "> {$J,'id':64,'method':'server/discover','params':{$M}}\n"
	    "send {$J,'id':64,...\n");
	check(&b);
}
END_TEST

START_TEST(test_questions)
{
	struct buf b;
	int i;

	begin(&b);
	add_call(&b, 1, 2);
	for (i = 0; i < 64; i++)
		add_question(&b, 2, 100 + i);
	add_question(&b, 2, 200);
	buf_adds(&b,
	    "send {$J,'id':200,'error':{'code':-32603,'message':'Too many questions for the client at once.','data':{'source':'mcpsplice',"
	    "'reason':'busy','ran':'no'}}}\n"
	    "< {$J,'method':'notifications/cancelled','params':{"
	    "'requestId':100}}\n");
	add_question(&b, 2, 201);
	buf_adds(&b,
	    "! wait 30\n"
	    "write {$J,'id':1,'result':{'resultType':'input_required',"
	    "'inputRequests':{'q1':{" ROOTS ",'params':{}},...'q64':{" ROOTS
	    ",'params':{}}},'requestState':'$S'}}\n");
	add_question(&b, 2, 202);
	buf_adds(&b,
	    "send {$J,'id':202,'error':{'code':-32603,...\n"
	    "< {$J,'id':'p-c2','result':{}}\n");
	for (i = 0; i < 64; i++)
		buf_addf(&b, "send {$J,'id':%d,'error':{'code':-32603,...\n",
		    i < 63 ? 101 + i : 201);
	check(&b);
}
END_TEST

START_TEST(test_parked)
{
	struct buf b;
	int i;

	begin(&b);
	for (i = 0; i < 257; i++)
		add_call(&b, i, i + 2);
	for (i = 0; i < 256; i++) {
		add_question(&b, i + 2, i);
		buf_addf(&b,
		    "! secret %d\n"
		    "! wait 30\n"
		    "write {$J,'id':%d,'result':{'resultType':"
		    "'input_required',...\n",
		    i, i);
	}
	buf_adds(&b, "? says 256 requests parked\n");
	add_question(&b, 258, 256);
	buf_adds(&b,
	    "send {$J,'id':256,'error':{'code':-32603,...\n"
	    "< {$J,'id':'p-c258','error':{'code':-32042,'message':'m','data':{"
	    "'elicitations':[{'url':'u'}]}}}\n"
	    "write {$J,'id':256,'error':{'code':-32603,'message':'Too many "
	    "...\n");
	/* Its place is free, and the parked ones are not in the way. */
	buf_adds(&b,
	    "> {$J,'id':'r','method':'tools/call','params':{'name':'x'," META
	    ",'requestState':'00000000000000072222222222222222',"
	    "'inputResponses':{'q1':{'roots':[]}}}}\n"
	    "send {$J,'id':7,'result':{'roots':[]}}\n");
	add_call(&b, 300, 259);
	add_question(&b, 259, 300);
	buf_adds(&b,
	    "! wait 30\n"
	    "write {$J,'id':300,'result':...\n"
	    "? says 256 requests parked\n");
	check(&b);
}
END_TEST

static void
add_listen(struct buf *b, int id, const char *wishes)
{
	buf_addf(b,
	    "> {$J,'id':%d,'method':'subscriptions/listen','params':{$M,"
	    "'notifications':%s}}\n",
	    id, wishes);
}

START_TEST(test_listens)
{
	struct buf b;
	int i;

	begin(&b);
	for (i = 0; i < 64; i++) {
		add_listen(&b, i, "{}");
		buf_addf(&b, "write {...subscriptionId':%d}}}\n", i);
	}
	add_listen(&b, 64, "{}");
	buf_adds(&b,
	    "write {$J,'id':64,'error':{'code':-32603,'message':'Too many "
	    "subscriptions/listen at once (64). Cancel one first.','data':{"
	    "'source':'mcpsplice','reason':'busy','ran':'no'}}}\n"
	    "> {$J,'method':'notifications/cancelled','params':{"
	    "'requestId':5}}\n");
	add_listen(&b, 64, "{}");
	buf_adds(&b, "write {...subscriptionId':64}}}\n");
	check(&b);
}
END_TEST

/* "{'resourceSubscriptions':[...]}" with n resources. */
static char *
wish_for(int from, int n)
{
	struct buf b;
	char *text;
	int i;

	buf_init(&b, 0);
	for (i = from; i < from + n; i++)
		buf_addf(&b, "%s'a:%d'", i == from ? "" : ",", i);
	text = xasprintf("{'resourceSubscriptions':[%s]}", buf_str(&b));
	buf_free(&b);
	return text;
}

START_TEST(test_uris)
{
	char *most = wish_for(0, 1000), *rest = wish_for(990, 35),
	     *fits = wish_for(990, 34);
	struct buf b;
	int i;

	begin(&b);
	add_listen(&b, 1, most);
	for (i = 0; i < 1000; i++)
		buf_addf(&b,
		    "send {$J,'id':'p-c%d','method':'resources/subscribe',"
		    "'params':{'uri':'a:%d'}}\n",
		    i + 2, i);
	add_listen(&b, 2, rest);
	buf_adds(&b,
	    "write {$J,'id':2,'error':{'code':-32603,'message':'Too many "
	    "resources of mcp.example.com are being watched (1024, or 1024 "
	    "KiB of URIs). Cancel a subscriptions/listen first.',"
	    "'data':{'source':'mcpsplice',"
	    "'reason':'busy','ran':'no'}}}\n"
	    "? says 1 listens, 1000 resources\n");
	for (i = 0; i < 1000; i++)
		buf_addf(&b, "< {$J,'id':'p-c%d','result':{}}\n%s", i + 2,
		    i == 999 ? "write ...\n" : "");
	add_listen(&b, 3, fits);
	for (i = 0; i < 24; i++)
		buf_addf(&b,
		    "send {$J,'id':'p-c%d','method':'resources/subscribe',"
		    "...'a:%d'}}\n",
		    i + 1002, i + 1000);
	buf_adds(&b, "? says 2 listens, 1024 resources\n");
	check(&b);
	free(most);
	free(rest);
	free(fits);
}
END_TEST

/* The same list of wishes, over and over. */
static char *
wish_again(const char *uri, int n)
{
	struct buf b;
	char *text;
	int i;

	buf_init(&b, 0);
	for (i = 0; i < n; i++)
		buf_addf(&b, "%s%s", i == 0 ? "" : ",", uri);
	text = xasprintf("{'resourceSubscriptions':[%s]}", buf_str(&b));
	buf_free(&b);
	return text;
}

START_TEST(test_uris_twice)
{
	char *many = wish_again("'a:\\/b','a:/b'", 512),
	     *more = wish_again("'c:d'", 1025);
	struct buf b;

	begin(&b);
	add_listen(&b, 1, more);
	buf_adds(&b,
	    "write {$J,'id':1,'error':{'code':-32603,'message':'Too many "
	    "resources ...\n");
	add_listen(&b, 2, many);
	buf_adds(&b,
	    "send {$J,'id':'p-c2',...'params':{'uri':'a:\\/b'}}\n"
	    "? says 1 listens, 1 resources\n"
	    "< {$J,'id':'p-c2','result':{}}\n"
	    "write {...'resourceSubscriptions':['a:\\/b']},...\n");
	check(&b);
	free(many);
	free(more);
}
END_TEST

static void
add_long(struct buf *b, int id, int uri, int bytes)
{
	char *wish = xasprintf("{'resourceSubscriptions':['%0*d']}", bytes - 2,
	    uri);

	add_listen(b, id, wish);
	free(wish);
}

START_TEST(test_uri_bytes)
{
	struct buf b;

	begin(&b);
	add_long(&b, 1, 1, 1000000);
	buf_adds(&b, "send {$J,'id':'p-c2',...\n");
	add_long(&b, 2, 2, 48577);
	buf_adds(&b,
	    "write {$J,'id':2,'error':{'code':-32603,'message':'Too many "
	    "resources ...\n"
	    "? says 1 listens, 1 resources\n");
	/* One that is watched already costs nothing. */
	add_long(&b, 3, 1, 1000000);
	add_long(&b, 4, 2, 48576);
	buf_adds(&b,
	    "send {$J,'id':'p-c3',...\n"
	    "< {$J,'id':'p-c2','error':{'code':1,'message':'m'}}\n"
	    "write {...\nwrite {...\n");
	add_long(&b, 5, 3, 1000000);
	buf_adds(&b,
	    "send {$J,'id':'p-c4',...\n"
	    "? says 4 listens, 2 resources\n");
	check(&b);
}
END_TEST

static void
add_updated(struct buf *b, int bytes)
{
	char *line = xasprintf("{$J,'method':'notifications/resources/updated',"
			       "'params':{'uri':'a:b','x':'");

	/* $J becomes 13 bytes longer, and 3 more close it. */
	buf_addf(b, "< %s%0*d'}}\n", line, bytes - (int)strlen(line) - 13 - 3,
	    0);
	free(line);
}

/* What one frame of the server becomes for all of them. */
START_TEST(test_updated)
{
	struct buf b;
	int i;

	begin(&b);
	for (i = 1; i <= 64; i++) {
		add_listen(&b, i, "{'resourceSubscriptions':['a:b']}");
		if (i == 1)
			buf_adds(&b,
			    "send ...\n< {$J,'id':'p-c2','result':{}}\n");
		buf_adds(&b, "write ...\n");
	}
	buf_adds(&b, "! notes\n");
	add_updated(&b, 1 << 20);
	for (i = 1; i <= 64; i++)
		buf_addf(&b, "write {...subscriptionId':%d}}}\n", i);
	add_updated(&b, (1 << 20) + 1);
	buf_adds(&b,
	    "warn the notification that a resource changed is too large "
	    "(1048577 bytes): dropped\n");
	check(&b);
}
END_TEST

/* What comes before the acknowledgement. */
START_TEST(test_early)
{
	struct buf b;
	int i;

	begin(&b);
	add_listen(&b, 1, "{'resourceSubscriptions':['a:b']}");
	buf_adds(&b, "send ...\n! notes\n");
	for (i = 0; i < 12; i++)
		buf_addf(&b,
		    "< {$J,'method':'notifications/resources/updated',"
		    "'params':{'uri':'a:b','x':'%0100000d'}}\n%s",
		    i, i < 10 ? "" : "warn too many notifications ...\n");
	buf_adds(&b, "< {$J,'id':'p-c2','result':{}}\nwrite ...\n");
	for (i = 0; i < 10; i++)
		buf_addf(&b, "write ...%d',...\n", i);
	check(&b);
}
END_TEST

/* --- bytes of questions --- */

/* The server's question with this id, of so many bytes. */
static void
ask(struct play *p, int sent, int id, size_t bytes)
{
	char *line = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":"
			       "\"roots/list\",\"x\":\"",
	    id);
	size_t n = bytes - strlen(line) - 2;
	char *pad = xmalloc(n + 1);

	memset(pad, 'x', n);
	pad[n] = '\0';
	play_feed(p, "< @'p-c%d' %s%s\"}", sent, line, pad);
	free(pad);
	free(line);
}

static struct play *
asked(int calls)
{
	struct play *p = play_new(&play_client, "");
	struct buf b;
	int i;

	begin(&b);
	for (i = 0; i < calls; i++)
		add_call(&b, i, i + 2);
	play_check_lines(p, buf_str(&b));
	buf_free(&b);
	return p;
}

#define TOO_MUCH                                                               \
	"send {\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":{\"code\":-32603"

static bool
is_refused(struct play *p, int id)
{
	char *want = xasprintf(TOO_MUCH, id);
	unsigned all = play_seen(p, "\n"), refused = play_count(p, want);

	free(want);
	ck_assert_uint_eq(all, refused);
	return refused == 1;
}

START_TEST(test_question_bytes)
{
	struct play *p = asked(1);

	ask(p, 2, 100, BOUND_ASKED_BYTES + 1);
	ck_assert(is_refused(p, 100));
	ask(p, 2, 101, BOUND_ASKED_BYTES - 200);
	ck_assert(!is_refused(p, 101));
	ask(p, 2, 102, 201);
	ck_assert(is_refused(p, 102));
	ask(p, 2, 103, 200);
	ck_assert(!is_refused(p, 103));
	play_free(p);
}
END_TEST

START_TEST(test_question_bytes_of_all)
{
	int calls = BOUND_ALL_BYTES / BOUND_ASKED_BYTES, i;
	size_t rest = BOUND_ALL_BYTES % BOUND_ASKED_BYTES;
	struct play *p = asked(calls + 1);

	for (i = 0; i < calls; i++) {
		ask(p, i + 2, i, BOUND_ASKED_BYTES);
		ck_assert(!is_refused(p, i));
	}
	ask(p, i + 2, i, rest + 1);
	ck_assert(is_refused(p, i));
	ask(p, i + 2, i, rest);
	ck_assert(!is_refused(p, i));
	play_free(p);
}
END_TEST

/* A result of ours has what the server says of itself, unless that is long. */
START_TEST(test_server_info)
{
	struct play *p = play_new(&play_client, "");
	size_t n = BOUND_NOTE_BYTES - strlen("{\"name\":\"\"}") + (size_t)_i;
	char *name = xmalloc(n + 1);

	memset(name, 'x', n);
	name[n] = '\0';
	play_feed(p,
	    "> {$J,'id':'d','method':'server/discover','params':{" META "}}");
	play_count(p, "");
	play_feed(p,
	    "< {$J,'id':'p-c1','result':{'protocolVersion':'2025-11-25',"
	    "'capabilities':{},'serverInfo':{\"name\":\"%s\"}}}",
	    name);
	play_count(p, "send ");
	play_feed(p, "> {$J,'id':1,'method':'tools/list','params':{" META "}}");
	play_count(p, "send ");
	play_feed(p, "< {$J,'id':'p-c2','result':{'tools':[]}}");
	ck_assert_uint_eq(play_seen(p, "write {\"jsonrpc\":\"2.0\",\"id\":1"),
	    1);
	ck_assert_uint_eq(play_seen(p, "/serverInfo\":{\"name\":\"xxx"),
	    _i == 0);
	free(name);
	play_free(p);
}
END_TEST

/* Many requests at once are found by their ids. */
START_TEST(test_many)
{
	struct buf b;
	int i;

	begin(&b);
	for (i = 0; i < 3000; i++)
		add_call(&b, i, i + 2);
	for (i = 2999; i >= 0; i -= 7)
		buf_addf(&b,
		    "< {$J,'id':'p-c%d','result':{}}\n"
		    "write {$J,'id':%d,'result':{...\n",
		    i + 2, i);
	check(&b);
}
END_TEST

/* The processor time of a schedule with n progress notifications that fit no
 * request, ms, while 8 requests with params of so many bytes are open. */
static long
time_of_progress(size_t bytes, int n)
{
	char *data = xmalloc(bytes + 1);
	struct buf b;
	double start;
	int i;

	memset(data, 'x', bytes);
	data[bytes] = '\0';
	begin(&b);
	for (i = 0; i < 8; i++) {
		buf_addf(&b,
		    "> {$J,'id':%d,'method':'tools/call','params':{'name':'x',"
		    "'arguments':{'a':'%s'}," META "}}\n"
		    "send {$J,'id':'p-c%d',...\n",
		    i, data, i + 2);
	}
	for (i = 0; i < n; i++)
		buf_addf(&b,
		    "< @'p-c2' {$J,'method':'notifications/progress','params':"
		    "{'progressToken':'no%d','progress':1}}\n",
		    i);
	start = unit_cpu();
	check(&b);
	free(data);
	return (long)(1000 * (unit_cpu() - start));
}

/* What they cost does not depend on how long the open requests are. */
START_TEST(test_forged_progress)
{
	long small = time_of_progress(10, 1000);
	long none = time_of_progress(1000000, 0);
	long large = time_of_progress(1000000, 1000);

	ck_assert_int_le(large, 10 * small + 2 * none + 300);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("client_bounds");
	TCase *tc = tcase_create("client_era_bounds");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_probes);
	tcase_add_test(tc, test_native_probes);
	tcase_add_test(tc, test_questions);
	tcase_add_test(tc, test_parked);
	tcase_add_test(tc, test_listens);
	tcase_add_test(tc, test_uris);
	tcase_add_test(tc, test_uris_twice);
	tcase_add_test(tc, test_uri_bytes);
	tcase_add_test(tc, test_updated);
	tcase_add_test(tc, test_early);
	tcase_add_test(tc, test_question_bytes);
	tcase_add_test(tc, test_question_bytes_of_all);
	tcase_add_loop_test(tc, test_server_info, 0, 2);
	tcase_add_test(tc, test_many);
	tcase_add_test(tc, test_forged_progress);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
