/*
 * The event stream: every split point under every line end, the fields, the
 * caps, and time in proportion to the bytes.
 */
#include "config.h"

#include "core/wire/sse.h"

#include "base/frame.h"
#include "unit/unit.h"

#define TEXT(s)                                                                \
	{                                                                      \
		s, sizeof(s) - 1                                               \
	}

static void
on_event(const char *type, struct buf *data, void *arg)
{
	if (strcmp(type, "message") != 0)
		buf_addf(arg, "%s:", type);
	buf_addc(arg, '<');
	buf_addspan(arg, buf_span(data));
	buf_addc(arg, '>');
}

/* Line ends are written as LF here and tried as CR and CRLF too. After the
 * events comes what the stream remembers: the id, when it has one, and the
 * retry, when it gave one. */
static const struct {
	struct span text;
	const char *want;
} cases[] = {
	{ TEXT(""), "" },
	{ TEXT("\n\n\n"), "" },
	{ TEXT("data: a\n\n"), "<a>" },
	{ TEXT("data:a\n\n"), "<a>" },
	{ TEXT("data:  a \n\n"), "< a >" },
	{ TEXT("data:\ta\n\n"), "<\ta>" },
	{ TEXT("data: a\ndata: b\n\ndata:c\n\n"), "<a\nb><c>" },
	{ TEXT("data: a:b: c\n\n"), "<a:b: c>" },
	{ TEXT("data\n\n"), "<>" },
	{ TEXT("data:\n\n"), "<>" },
	{ TEXT("data: \n\n"), "<>" },
	{ TEXT("data\ndata\n\n"), "<\n>" },
	{ TEXT("data:\ndata: a\ndata:\n\n"), "<\na\n>" },
	{ TEXT("data: a"), "" },
	{ TEXT("data: a\n"), "" },
	{ TEXT("data: a\n\ndata: b\n"), "<a>" },
	{ TEXT(": comment\n\n:\n\ndata: a\n: data: b\n\n"), "<a>" },
	{ TEXT("Data: a\nDATA: b\n data: c\ndata : d\ndat: e\ndatax: f\n\n"),
	    "" },
	{ TEXT("unknown\nunknown: x\ndata: a\nx\n\n"), "<a>" },
	{ TEXT("\xEF\xBB\xBF"
	       "data: a\n\n"),
	    "<a>" },
	{ TEXT("\xEF\xBB\xBF\ndata: a\n\n"), "<a>" },
	{ TEXT("\xEF\xBB\xBF\xEF\xBB\xBF"
	       "data: a\n\ndata: b\n\n"),
	    "<b>" },
	{ TEXT("\xEF\xBB"
	       "data: a\n\ndata: b\n\n"),
	    "<b>" },
	{ TEXT("data: a\n\n\xEF\xBB\xBF"
	       "data: b\n\n"),
	    "<a>" },
	{ TEXT("data: \xFF\xC3\n\n"), "<\xFF\xC3>" },
	/* Types. */
	{ TEXT("event: ping\ndata: a\n\ndata: b\n\n"), "ping:<a><b>" },
	{ TEXT("event:message\ndata: a\n\n"), "<a>" },
	{ TEXT("data: a\nevent: x\nevent: y\n\n"), "y:<a>" },
	{ TEXT("event: x\nevent\ndata: a\n\n"), "<a>" },
	{ TEXT("event: x\n\ndata: a\n\n"), "<a>" },
	{ TEXT("event: message\0\ndata: a\n\n"), "?:<a>" },
	{ TEXT("event: endpoint\ndata: /m?s=1\n\n"), "endpoint:</m?s=1>" },
	/* Ids. */
	{ TEXT("id: 1\ndata: a\n\n"), "<a> id 1" },
	{ TEXT("id: 1\n\n"), " id 1" },
	{ TEXT("id: 1\n"), "" },
	{ TEXT("id: 1\ndata: a\n\nid: 2\ndata: b\n"), "<a> id 1" },
	{ TEXT("id: 1\nid: 2\n\ndata: a\n\n"), "<a> id 2" },
	{ TEXT("id: 1\n\nid\ndata: a\n\n"), "<a>" },
	{ TEXT("id: 1\n\nid:\n\n"), "" },
	{ TEXT("id: 1\n\nid: 2\0\n\n"), " id 1" },
	{ TEXT("id: 1\n\nid: \0\n\nid:2\n\n"), " id 2" },
	{ TEXT("id: a b:c \n\n"), " id a b:c " },
	{ TEXT("id: 0\ndata\n\n"), "<> id 0" },
	{ TEXT("ID: 1\nidx: 2\ni: 3\n\n"), "" },
	/* Retries. */
	{ TEXT("retry: 1500\n"), " retry 1500" },
	{ TEXT("retry:0\n\n"), " retry 0" },
	{ TEXT("retry: 007\ndata: a\n"), " retry 7" },
	{ TEXT("retry: 5\nretry: x\n"), " retry 5" },
	{ TEXT("retry: 5\nretry\nretry:\nretry: \n"), " retry 5" },
	{ TEXT("retry: -1\nretry: +1\nretry: 1.5\nretry: 1 \nretry:  1\n"),
	    "" },
	{ TEXT("retry: 1\0\nretry: 12a\n"), "" },
	{ TEXT("retry: 3600000\n"), " retry 3600000" },
	{ TEXT("retry: 3600001\n"), " retry 3600000" },
	{ TEXT("retry: 99999999999999999999999999\n"), " retry 3600000" },
	{ TEXT("retry: 5"), "" },
	{ TEXT("retry: 5\nretrying: 6\nretr: 7\n"), " retry 5" },
	{ TEXT("retry: 1\nid: x\n\nretry: 2\nid: y\n"), " id x retry 2" },
};

static void
tell_rest(const struct sse *s, struct buf *told)
{
	if (sse_last_id(s).n > 0) {
		buf_adds(told, " id ");
		buf_addspan(told, sse_last_id(s));
	}
	if (sse_retry_ms(s) >= 0)
		buf_addf(told, " retry %lld", (long long)sse_retry_ms(s));
}

/* The pieces of text that end at i, j and its end. */
static void
check_cut(struct span text, size_t i, size_t j, const char *want)
{
	struct buf told;
	struct sse *s;

	buf_init(&told, 0);
	s = sse_new(1000, on_event, &told);
	ck_assert_int_eq(sse_feed(s, text.p, i), 0);
	ck_assert_int_eq(sse_feed(s, text.p + i, j - i), 0);
	ck_assert_int_eq(sse_feed(s, text.p + j, text.n - j), 0);
	tell_rest(s, &told);
	ck_assert_str_eq(buf_str(&told), want);
	sse_free(s);
	buf_free(&told);
}

static void
check_bytes(struct span text, const char *want)
{
	struct buf told;
	struct sse *s;
	size_t i;

	buf_init(&told, 0);
	s = sse_new(1000, on_event, &told);
	for (i = 0; i < text.n; i++)
		ck_assert_int_eq(sse_feed(s, text.p + i, 1), 0);
	tell_rest(s, &told);
	ck_assert_str_eq(buf_str(&told), want);
	sse_free(s);
	buf_free(&told);
}

START_TEST(test_splits)
{
	static const char *const ends[] = { "\n", "\r", "\r\n" };
	struct span text = cases[_i].text;
	struct buf b;
	struct span whole;
	size_t i, j, e;

	buf_init(&b, 0);
	for (e = 0; e < 3; e++) {
		buf_reset(&b);
		for (i = 0; i < text.n; i++) {
			if (text.p[i] == '\n')
				buf_adds(&b, ends[e]);
			else
				buf_addc(&b, text.p[i]);
		}
		whole.p = buf_str(&b);
		whole.n = b.n;
		check_bytes(whole, cases[_i].want);
		for (i = 0; i <= b.n; i++) {
			for (j = i; j <= b.n; j++)
				check_cut(whole, i, j, cases[_i].want);
		}
	}
	buf_free(&b);
}
END_TEST

/* All three line ends in one stream. */
START_TEST(test_mixed_ends)
{
	static const char text[] = "data: a\rdata: b\r\ndata: c\n\r"
				   "data: d\r\r\ndata: e\n\n";
	struct span span = { text, sizeof text - 1 };

	check_bytes(span, "<a\nb\nc><d><e>");
	check_cut(span, 0, 8, "<a\nb\nc><d><e>");
}
END_TEST

/* A lone CR ends the event now, not when the next byte comes. */
START_TEST(test_at_once)
{
	struct buf told;
	struct sse *s;

	buf_init(&told, 0);
	s = sse_new(0, on_event, &told);
	ck_assert_int_eq(sse_feed(s, "data: a\r\r", 9), 0);
	ck_assert_str_eq(buf_str(&told), "<a>");
	ck_assert_int_eq(sse_feed(s, "\n", 1), 0);
	ck_assert_int_eq(sse_feed(s, "data: b", 7), 0);
	ck_assert_uint_eq(sse_held(s), 1);
	ck_assert_int_eq(sse_feed(s, "cd", 2), 0);
	ck_assert_uint_eq(sse_held(s), 3);
	ck_assert_int_eq(sse_feed(s, "\r\n\r", 3), 0);
	ck_assert_str_eq(buf_str(&told), "<a><bcd>");
	ck_assert_uint_eq(sse_held(s), 0);
	ck_assert_int_eq(sse_feed(s, "retry: 9", 8), 0);
	ck_assert_int_eq(sse_retry_ms(s), -1);
	ck_assert_int_eq(sse_feed(s, "\r", 1), 0);
	ck_assert_int_eq(sse_retry_ms(s), 9);
	sse_free(s);
	sse_free(NULL);
	buf_free(&told);
}
END_TEST

static const struct {
	const char *text;
	bool dead;
	const char *want;
} caps[] = {
	{ "data: abcd\n\ndata: abcd\n\n", false, "<abcd><abcd>" },
	{ "data: abcde\n\n", true, "" },
	{ "data: ab\ndata: c\n\n", false, "<ab\nc>" },
	{ "data: ab\ndata: cd\n\n", true, "" },
	{ "data\ndata\ndata\ndata\ndata\n\n", false, "<\n\n\n\n>" },
	{ "data\ndata\ndata\ndata\ndata\ndata\n\n", true, "" },
	{ "data: ab\n\ndata: cdefg", true, "<ab>" },
	{ ": a long comment\nsome long name: and a value\ndata: a\n\n", false,
	    "<a>" },
	{ "id: abcdefg\nevent: abcdefg\ndata: a\n\n", false, "abcdefg:<a>" },
};

START_TEST(test_caps)
{
	size_t n = strlen(caps[_i].text), step, i, part;
	struct buf told;
	struct sse *s;
	int ret;

	buf_init(&told, 0);
	for (step = 1; step <= n; step++) {
		buf_reset(&told);
		ret = 0;
		s = sse_new(4, on_event, &told);
		for (i = 0; i < n && ret == 0; i += part) {
			part = n - i < step ? n - i : step;
			ret = sse_feed(s, caps[_i].text + i, part);
			ck_assert_uint_le(sse_held(s), 4);
		}
		ck_assert_int_eq(ret, caps[_i].dead ? -1 : 0);
		if (caps[_i].dead)
			ck_assert_int_eq(sse_feed(s, "\n\n", 2), -1);
		ck_assert_str_eq(buf_str(&told), caps[_i].want);
		sse_free(s);
	}
	buf_free(&told);
}
END_TEST

/* A long id is ignored, a long type is no message; the stream goes on. */
START_TEST(test_long_values)
{
	static char big[5000];
	struct buf told;
	struct sse *s;

	memset(big, 'x', sizeof big);
	buf_init(&told, 0);
	s = sse_new(0, on_event, &told);
	sse_feed(s, "id: 1\n\nid: ", 11);
	sse_feed(s, big, 4097);
	sse_feed(s, "\nevent: ", 8);
	sse_feed(s, big, 3000);
	sse_feed(s, big, 3000);
	sse_feed(s, "\ndata: a\n\n", 10);
	tell_rest(s, &told);
	ck_assert_str_eq(buf_str(&told), "?:<a> id 1");
	sse_feed(s, "id: ", 4);
	sse_feed(s, big, 4096);
	sse_feed(s, "\n\n", 2);
	ck_assert_uint_eq(sse_last_id(s).n, 4096);
	sse_free(s);
	buf_free(&told);
}
END_TEST

static void
on_take(const char *type, struct buf *data, void *arg)
{
	struct frame *f, **taken = arg;

	ck_assert_str_eq(type, "message");
	f = frame_take(data);
	frame_unref(*taken);
	*taken = f;
}

/* An id in front of the first event with data makes a stream one to resume. */
START_TEST(test_primed)
{
	static const struct {
		const char *text;
		bool primed;
	} streams[] = {
		{ "id: 0\nretry: 3000\n\ndata: x\n\n", true },
		{ "id: 0\ndata: \n\ndata: x\n\n", true },
		{ ": hello\n\nid: 0\ndata\n\n", true },
		{ "id: 0\n\n", true },
		{ "id: 0\ndata: x\n\nid: 1\n\n", false },
		{ "data: x\n\nid: 1\ndata: \n\n", false },
		{ "id:\ndata: \n\ndata: x\n\n", false },
		{ "id: 0\n", false },
		{ "data: x\n\n", false },
	};
	struct frame *taken = NULL;
	struct sse *s;
	size_t i;

	for (i = 0; i < COUNT(streams); i++) {
		s = sse_new(1000, on_take, &taken);
		sse_feed(s, streams[i].text, strlen(streams[i].text));
		ck_assert_msg(sse_is_primed(s) == streams[i].primed, "%zu", i);
		sse_free(s);
	}
	frame_unref(taken);
}
END_TEST

/* The callee may keep the data; the next event starts afresh. */
START_TEST(test_take)
{
	static char big[100000];
	struct frame *taken = NULL;
	struct sse *s;

	memset(big, 'x', sizeof big);
	s = sse_new(sizeof big, on_take, &taken);
	sse_feed(s, "data: ", 6);
	sse_feed(s, big, sizeof big);
	sse_feed(s, "\n\n", 2);
	ck_assert_ptr_nonnull(taken);
	ck_assert_uint_eq(taken->text.n, sizeof big);
	ck_assert_uint_eq(sse_held(s), 0);
	sse_feed(s, "data: small\n\n", 13);
	ck_assert(span_is(taken->text, "small"));
	sse_feed(s, "data\n\n", 6);
	ck_assert_uint_eq(taken->text.n, 0);
	frame_unref(taken);
	sse_free(s);
}
END_TEST

/* An event is whole before its end comes: its data can be taken, and the next
 * event is its own. */
START_TEST(test_pending)
{
	struct frame *taken = NULL, *f;
	const char *type;
	struct buf *data;
	struct sse *s;

	s = sse_new(100, on_take, &taken);
	data = sse_pending(s, &type);
	ck_assert_uint_eq(data->n, 0);
	ck_assert_str_eq(type, "message");
	sse_feed(s, "event: odd\ndata: a\ndata: b", 26);
	data = sse_pending(s, &type);
	ck_assert_str_eq(type, "odd");
	ck_assert(span_is(buf_span(data), "a\nb"));
	f = frame_take(data);
	sse_feed(s, "\nevent\n\n", 8);
	ck_assert_uint_eq(taken->text.n, 0);
	sse_feed(s, "data: c\n\n", 9);
	ck_assert(span_is(taken->text, "c"));
	frame_unref(f);
	frame_unref(taken);
	sse_free(s);
}
END_TEST

static void
on_count(const char *type, struct buf *data, void *arg)
{
	(void)type;
	*(size_t *)arg += data->n + 1;
}

/* CPU seconds for a stream of n bytes, fed in pieces or whole. */
static double
seconds(const char *unit, size_t n, size_t piece)
{
	size_t i, part, told = 0;
	double start, t;
	struct sse *s;
	struct buf b;
	int k;

	buf_init(&b, 0);
	buf_adds(&b, "data:");
	while (b.n < n)
		buf_adds(&b, unit);
	buf_adds(&b, "\r\rdata\r\r");
	start = unit_cpu();
	for (k = 0; !unit_measured(start, k, &t); k++) {
		told = 0;
		s = sse_new(0, on_count, &told);
		for (i = 0; i < b.n; i += part) {
			part = b.n - i < piece ? b.n - i : piece;
			sse_feed(s, b.p + i, part);
		}
		sse_free(s);
		ck_assert_uint_gt(told, 0);
	}
	buf_free(&b);
	return t;
}

START_TEST(test_linear)
{
	static const struct {
		const char *unit;
		size_t piece;
	} kinds[] = {
		{ "xxxxxxxx", 64 },
		{ "xxxxxxxx", 1 << 30 },
		{ "\rdata:", 1 << 30 },
		{ "\ndata:", 1 << 30 },
		{ "\r", 1 << 30 },
		{ "\nunknown", 1 << 30 },
		{ "\nid:7\n\n", 4096 },
		{ "\r\ndata: 1\r\n\r\n", 4096 },
	};
	double small, large;
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		small = seconds(kinds[i].unit, 131072, kinds[i].piece);
		large = seconds(kinds[i].unit, 16 * 131072, kinds[i].piece);
		ck_assert_msg(large < 40 * (small + 0.0005),
		    "kind %zu: %.4f s, sixteen times as much: %.4f s", i, small,
		    large);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sse");
	TCase *tc = tcase_create("sse");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_splits, 0, COUNT(cases));
	tcase_add_test(tc, test_mixed_ends);
	tcase_add_test(tc, test_at_once);
	tcase_add_loop_test(tc, test_caps, 0, COUNT(caps));
	tcase_add_test(tc, test_long_values);
	tcase_add_test(tc, test_primed);
	tcase_add_test(tc, test_take);
	tcase_add_test(tc, test_pending);
	tcase_add_test(tc, test_linear);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
