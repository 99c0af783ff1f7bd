/* The headers of a message's trace context: valid values, and those that are
 * not mirrored. */
#include "config.h"

#include "core/era/trace_context.h"

#include "core/wire/msg.h"
#include "unit/unit.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"
#define PARENT "00-" TRACE "-" SPAN "-01"

static const struct {
	const char *meta; /* members of _meta */
	const char *want; /* headers */
} cases[] = {
	{ "", "" },
	{ "'traceparent':'" PARENT "'", "traceparent: " PARENT "\n" },
	{ "'traceparent':'" PARENT "-x'", "" },
	{ "'traceparent':'cc-" TRACE "-" SPAN "-01-what'",
	    "traceparent: cc-" TRACE "-" SPAN "-01-what\n" },
	{ "'traceparent':'cc-" TRACE "-" SPAN "-01what'", "" },
	{ "'traceparent':'cc-" TRACE "-" SPAN "-01-a b'", "" },
	{ "'traceparent':'ff-" TRACE "-" SPAN "-01'", "" },
	{ "'traceparent':'00-" TRACE "-" SPAN "-0'", "" },
	{ "'traceparent':'00-" TRACE "-" SPAN "-0G'", "" },
	{ "'traceparent':'00-4BF92f3577b34da6a3ce929d0e0e4736-" SPAN "-01'",
	    "" },
	{ "'traceparent':'00-00000000000000000000000000000000-" SPAN "-01'",
	    "" },
	{ "'traceparent':'00-" TRACE "-0000000000000000-01'", "" },
	{ "'traceparent':'00_" TRACE "-" SPAN "-01'", "" },
	{ "'traceparent':' " PARENT "'", "" },
	{ "'traceparent':'" PARENT "\\r\\nX: y'", "" },
	{ "'traceparent':7", "" },
	{ "'traceparent':['" PARENT "']", "" },
	/* tracestate */
	{ "'tracestate':'a=b'", "" },
	{ "'traceparent':'bad','tracestate':'a=b'", "" },
	{ "'traceparent':'" PARENT "','tracestate':'rojo=1, c@d= x y ,,'",
	    "traceparent: " PARENT "\ntracestate: rojo=1, c@d= x y ,,\n" },
	{ "'traceparent':'" PARENT "','tracestate':'A=1'",
	    "traceparent: " PARENT "\n" },
	{ "'traceparent':'" PARENT "','tracestate':'a=1=2'",
	    "traceparent: " PARENT "\n" },
	{ "'traceparent':'" PARENT "','tracestate':'a='",
	    "traceparent: " PARENT "\n" },
	{ "'traceparent':'" PARENT "','tracestate':'a=\\u00e9'",
	    "traceparent: " PARENT "\n" },
	{ "'traceparent':'" PARENT "','tracestate':'a=\\nb'",
	    "traceparent: " PARENT "\n" },
	{ "'traceparent':'" PARENT "','tracestate':','",
	    "traceparent: " PARENT "\n" },
	/* baggage */
	{ "'baggage':'k=v'", "baggage: k=v\n" },
	{ "'baggage':'k = v ; p ; q = 1 , l=%20'",
	    "baggage: k = v ; p ; q = 1 , l=%20\n" },
	{ "'baggage':'k='", "baggage: k=\n" },
	{ "'baggage':'k'", "" },
	{ "'baggage':'k=v,'", "" },
	{ "'baggage':'k=v;'", "" },
	{ "'baggage':'k=a b'", "" },
	{ "'baggage':'k=\\\\'", "" },
	{ "'baggage':'k=v\\r\\nX: y'", "" },
	{ "'baggage':'k=v\\u0000'", "" },
	{ "'baggage':''", "" },
};

/* Returns the headers of a request with these members of _meta, in which '
 * stands for a quote. */
static char *
headers_of(const char *meta)
{
	struct headers h;
	struct frame *f;
	struct buf text;
	size_t i;

	buf_init(&text, 0);
	buf_addf(&text,
	    "{'jsonrpc':'2.0','id':1,'method':'ping','params':{'_meta':{%s}}}",
	    meta);
	for (i = 0; i < text.n; i++)
		if (text.p[i] == '\'')
			text.p[i] = '"';
	f = frame_take(&text);
	ck_assert_int_eq(msg_parse(f, 64), MSG_OK);
	headers_init(&h);
	trace_context_headers(f, &h);
	for (i = 0; i < h.n; i++)
		buf_addf(&text, "%s: %s\n", h.list[i].name, h.list[i].value);
	headers_free(&h);
	frame_unref(f);
	return buf_take(&text);
}

START_TEST(mirrored)
{
	char *got = headers_of(cases[_i].meta);

	ck_assert_str_eq(got, cases[_i].want);
	free(got);
}
END_TEST

/* Adds n copies of item. */
static void
repeat(struct buf *b, const char *item, size_t n)
{
	while (n-- > 0)
		buf_adds(b, item);
}

START_TEST(bounds)
{
	static const struct {
		const char *begin, *item, *end;
		size_t most;
	} rows[] = {
		{ "'baggage':'a=b", ",a=b", "'", 179 },
		{ "'baggage':'a=b", "c", "'", 8192 - 3 },
		{ "'traceparent':'" PARENT "','tracestate':'a=b", ",a=b", "'",
		    31 },
		{ "'traceparent':'" PARENT "','tracestate':'a=b", "c", "'",
		    255 },
		{ "'traceparent':'" PARENT "','tracestate':'a", "b", "=c'",
		    255 },
	};
	size_t i, more;
	struct buf b;
	char *got;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		for (more = 0; more < 2; more++) {
			buf_init(&b, 0);
			buf_adds(&b, rows[i].begin);
			repeat(&b, rows[i].item, rows[i].most + more);
			buf_adds(&b, rows[i].end);
			got = headers_of(buf_str(&b));
			ck_assert_msg((strstr(got, "a=b") != NULL ||
					  strstr(got, "=c") != NULL) ==
				(more == 0),
			    "row %zu, %zu more", i, more);
			free(got);
			buf_free(&b);
		}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("trace_context");
	TCase *tc = tcase_create("trace_context");

	tcase_add_loop_test(tc, mirrored, 0, sizeof cases / sizeof *cases);
	tcase_add_test(tc, bounds);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
