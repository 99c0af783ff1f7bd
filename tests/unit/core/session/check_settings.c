/*
 * What a new session is told again: the latest level, the live subscriptions
 * in the client's order, once each; what is odd or too much is not kept.
 */
#include "config.h"

#include "base/bounds.h"
#include "core/session/parts.h"

#include <stdlib.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "unit/unit.h"

#define SUBSCRIBE "resources/subscribe"
#define UNSUBSCRIBE "resources/unsubscribe"
#define LEVEL "logging/setLevel"

enum { REQUEST_BYTES = 64 * 1024 };

static struct frame *
request(const char *method, const char *params)
{
	struct frame *f = msg_call(span_of("1"), method, span_of(params));

	ck_assert_int_eq(f->kind, FRAME_REQUEST);
	return f;
}

static bool
learn(struct settings *r, const char *method, const char *params)
{
	struct frame *f = request(method, params);
	bool kept = settings_learn(r, f);

	frame_unref(f);
	return kept;
}

/* A request about a URI, given as raw JSON. */
static bool
about(struct settings *r, const char *method, const char *uri)
{
	char *params = xasprintf("{\"uri\":%s}", uri);
	bool kept = learn(r, method, params);

	free(params);
	return kept;
}

/* The URIs kept, raw and in order, are these; the list is sound. */
static void
check_uris(const struct settings *r, const char *want)
{
	const struct subscribed *s;
	struct buf seen;
	size_t n = 0;

	buf_init(&seen, 0);
	for (s = r->list; s != NULL; s = s->next) {
		ck_assert(span_is(s->request->method, SUBSCRIBE));
		buf_addspan(&seen, json_get(s->request->params, "uri"));
		n++;
	}
	ck_assert_str_eq(buf_str(&seen), want);
	ck_assert_uint_eq(r->n, n);
	buf_free(&seen);
}

static void
check_level(const struct settings *r, const char *params)
{
	ck_assert_ptr_nonnull(r->level);
	ck_assert(span_is(r->level->method, LEVEL));
	ck_assert(span_is(r->level->params, params));
}

START_TEST(test_level)
{
	struct settings r = { 0 };
	struct frame *f = request(LEVEL, "{\"level\":\"debug\"}");

	ck_assert(settings_learn(&r, f));
	ck_assert_ptr_eq(r.level, f);
	ck_assert_uint_eq(f->refs, 2);
	frame_unref(f);
	/* Told again with the frame that only the room still holds. */
	ck_assert(settings_learn(&r, r.level));
	check_level(&r, "{\"level\":\"debug\"}");
	ck_assert_uint_eq(r.level->refs, 1);
	ck_assert(learn(&r, LEVEL, "{\"level\":\"error\"}"));
	check_level(&r, "{\"level\":\"error\"}");
	check_uris(&r, "");
	settings_clear(&r);
	ck_assert_ptr_null(r.level);
}
END_TEST

START_TEST(test_order)
{
	struct settings r = { 0 };

	ck_assert(about(&r, SUBSCRIBE, "\"a\""));
	ck_assert(about(&r, SUBSCRIBE, "\"b\""));
	ck_assert(about(&r, SUBSCRIBE, "\"c\""));
	check_uris(&r, "\"a\"\"b\"\"c\"");
	/* Again: one is enough, in the place of the first. */
	ck_assert(about(&r, SUBSCRIBE, "\"a\""));
	ck_assert(about(&r, SUBSCRIBE, "\"c\""));
	check_uris(&r, "\"a\"\"b\"\"c\"");
	ck_assert(about(&r, SUBSCRIBE, "\"d\""));
	check_uris(&r, "\"a\"\"b\"\"c\"\"d\"");
	ck_assert_ptr_null(r.level);
	settings_clear(&r);
	check_uris(&r, "");
}
END_TEST

START_TEST(test_unsubscribe)
{
	struct settings r = { 0 };

	ck_assert(about(&r, UNSUBSCRIBE, "\"a\""));
	about(&r, SUBSCRIBE, "\"a\"");
	about(&r, SUBSCRIBE, "\"b\"");
	about(&r, SUBSCRIBE, "\"c\"");
	about(&r, SUBSCRIBE, "\"d\"");
	ck_assert(about(&r, UNSUBSCRIBE, "\"x\""));
	ck_assert(about(&r, UNSUBSCRIBE, "\"b\"")); /* in the middle */
	check_uris(&r, "\"a\"\"c\"\"d\"");
	ck_assert(about(&r, UNSUBSCRIBE, "\"b\""));
	ck_assert(about(&r, UNSUBSCRIBE, "\"d\"")); /* the last */
	check_uris(&r, "\"a\"\"c\"");
	ck_assert(about(&r, SUBSCRIBE, "\"b\""));
	ck_assert(about(&r, UNSUBSCRIBE, "\"a\"")); /* the first */
	check_uris(&r, "\"c\"\"b\"");
	about(&r, UNSUBSCRIBE, "\"c\"");
	about(&r, UNSUBSCRIBE, "\"b\"");
	check_uris(&r, "");
	/* A subscription can be added after all were removed. */
	about(&r, SUBSCRIBE, "\"e\"");
	check_uris(&r, "\"e\"");
	settings_clear(&r);
}
END_TEST

/* A URI and a method are what they mean, not how they are written. */
START_TEST(test_escaped)
{
	static const char slashed[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging\\/setLevel\","
	    "\"params\":{\"level\":\"info\"}}";
	struct settings r = { 0 };
	struct frame *f;

	about(&r, SUBSCRIBE, "\"file:///caf\xC3\xA9\"");
	ck_assert(about(&r, SUBSCRIBE, "\"file:\\/\\/\\/caf\\u00e9\""));
	check_uris(&r, "\"file:///caf\xC3\xA9\"");
	about(&r, SUBSCRIBE, "\"file:///cafe\"");
	about(&r, SUBSCRIBE, "\"FILE:///cafe\"");
	ck_assert_uint_eq(r.n, 3);
	about(&r, UNSUBSCRIBE, "\"file:///caf\\u00E9\"");
	check_uris(&r, "\"file:///cafe\"\"FILE:///cafe\"");
	f = frame_copy(span_of(slashed));
	ck_assert_int_eq(msg_parse(f, 20), MSG_OK);
	ck_assert(settings_learn(&r, f));
	ck_assert_ptr_eq(r.level, f);
	frame_unref(f);
	settings_clear(&r);
}
END_TEST

static const char *const odd[] = { "{\"uri\":1}", "{\"uri\":null}",
	"{\"uri\":[\"a\"]}", "{\"uri\":{\"uri\":\"a\"}}", "{}", "[]",
	"[\"uri\",\"a\"]", "{\"URI\":\"a\"}", "{\"x\":{\"uri\":\"a\"}}" };

/* No URI: nothing to keep and nothing to forget. */
START_TEST(test_odd_uri)
{
	struct settings r = { 0 };

	ck_assert(learn(&r, SUBSCRIBE, odd[_i]));
	check_uris(&r, "");
	about(&r, SUBSCRIBE, "\"a\"");
	about(&r, SUBSCRIBE, "\"1\"");
	about(&r, SUBSCRIBE, "\"null\"");
	ck_assert(learn(&r, SUBSCRIBE, odd[_i]));
	ck_assert(learn(&r, UNSUBSCRIBE, odd[_i]));
	check_uris(&r, "\"a\"\"1\"\"null\"");
	settings_clear(&r);
}
END_TEST

static const char *const others[] = { "tools/call", "resources/read",
	"resources/subscribe2", "resources/subscrib", "Resources/subscribe",
	"logging/setlevel", "" };

START_TEST(test_other_methods)
{
	struct settings r = { 0 };

	about(&r, SUBSCRIBE, "\"a\"");
	ck_assert(about(&r, others[_i], "\"a\""));
	ck_assert(about(&r, others[_i], "\"b\""));
	check_uris(&r, "\"a\"");
	ck_assert_ptr_null(r.level);
	settings_clear(&r);
}
END_TEST

/* Without params, and with a member named twice. */
START_TEST(test_params)
{
	struct settings r = { 0 };
	struct frame *f = msg_call(span_of("1"), SUBSCRIBE,
	    (struct span){ NULL, 0 });

	ck_assert(settings_learn(&r, f));
	check_uris(&r, "");
	frame_unref(f);
	ck_assert(about(&r, SUBSCRIBE, "\"a\",\"uri\":\"b\""));
	check_uris(&r, "\"b\"");
	settings_clear(&r);
}
END_TEST

/* One frame more than the cap has no room, until one is given back. */
START_TEST(test_count)
{
	struct settings r = { 0 };
	char *uri;
	int i;
	const struct subscribed *last;

	for (i = 0; i < BOUND_LISTED; i++) {
		uri = xasprintf("\"u%d\"", i);
		ck_assert(about(&r, SUBSCRIBE, uri));
		free(uri);
	}
	ck_assert_uint_eq(r.n, BOUND_LISTED);
	ck_assert(!about(&r, SUBSCRIBE, "\"more\""));
	ck_assert_uint_eq(r.n, BOUND_LISTED);
	ck_assert(about(&r, SUBSCRIBE, "\"u1023\"")); /* known */
	ck_assert(about(&r, UNSUBSCRIBE, "\"more\""));
	ck_assert(!about(&r, SUBSCRIBE, "\"more\""));
	ck_assert(about(&r, UNSUBSCRIBE, "\"u512\""));
	ck_assert(about(&r, SUBSCRIBE, "\"more\""));
	ck_assert(!about(&r, SUBSCRIBE, "\"u512\""));
	for (last = r.list; last->next != NULL; last = last->next)
		continue;
	ck_assert(span_is(json_get(last->request->params, "uri"), "\"more\""));
	settings_clear(&r);
	check_uris(&r, "");
}
END_TEST

/* A request of this many bytes: text follows in a member nobody reads. */
static struct frame *
sized(const char *method, const char *uri, size_t size)
{
	struct frame *f;
	struct buf params;
	size_t n;

	buf_init(&params, 0);
	buf_addf(&params, "{\"uri\":%s,\"pad\":\"\"}", uri);
	f = request(method, buf_str(&params));
	ck_assert_uint_le(f->text.n, size);
	n = size - f->text.n;
	frame_unref(f);
	params.n -= 2;
	while (n-- > 0)
		buf_addc(&params, 'x');
	buf_adds(&params, "\"}");
	f = request(method, buf_str(&params));
	ck_assert_uint_eq(f->text.n, size);
	buf_free(&params);
	return f;
}

static bool
learn_sized(struct settings *r, const char *method, const char *uri,
    size_t size)
{
	struct frame *f = sized(method, uri, size);
	bool kept = settings_learn(r, f);

	frame_unref(f);
	return kept;
}

START_TEST(test_size)
{
	struct settings r = { 0 };

	ck_assert(learn_sized(&r, SUBSCRIBE, "\"a\"", REQUEST_BYTES));
	ck_assert(!learn_sized(&r, SUBSCRIBE, "\"b\"", REQUEST_BYTES + 1));
	check_uris(&r, "\"a\"");
	/* A request that adds nothing to the settings may have any size. */
	ck_assert(learn_sized(&r, SUBSCRIBE, "\"a\"", REQUEST_BYTES + 1));
	ck_assert(learn_sized(&r, SUBSCRIBE, "1", REQUEST_BYTES + 1));
	ck_assert(learn_sized(&r, "tools/call", "\"b\"", 1 << 20));
	check_uris(&r, "\"a\"");
	ck_assert(learn_sized(&r, UNSUBSCRIBE, "\"a\"", REQUEST_BYTES + 1));
	check_uris(&r, "");
	settings_clear(&r);
}
END_TEST

/* A level that cannot be kept leaves none: the old one would be wrong. */
START_TEST(test_level_size)
{
	struct settings r = { 0 };

	ck_assert(learn_sized(&r, LEVEL, "0", REQUEST_BYTES));
	ck_assert_uint_eq(r.level->text.n, REQUEST_BYTES);
	ck_assert(!learn_sized(&r, LEVEL, "0", REQUEST_BYTES + 1));
	ck_assert_ptr_null(r.level);
	ck_assert(!learn_sized(&r, LEVEL, "0", REQUEST_BYTES + 1));
	ck_assert(learn(&r, LEVEL, "{\"level\":\"info\"}"));
	check_level(&r, "{\"level\":\"info\"}");
	settings_clear(&r);
}
END_TEST

/* One reference for what is kept, none for the rest, none left behind. */
START_TEST(test_references)
{
	struct settings r = { 0 };
	struct frame *a = request(SUBSCRIBE, "{\"uri\":\"a\"}");
	struct frame *again = request(SUBSCRIBE, "{\"uri\":\"a\"}");
	struct frame *b = request(SUBSCRIBE, "{\"uri\":\"b\"}");
	struct frame *gone = request(UNSUBSCRIBE, "{\"uri\":\"a\"}");
	struct frame *level = request(LEVEL, "{}");

	settings_learn(&r, a);
	settings_learn(&r, again);
	settings_learn(&r, b);
	settings_learn(&r, level);
	ck_assert_ptr_eq(r.list->request, a);
	ck_assert_uint_eq(a->refs, 2);
	ck_assert_uint_eq(again->refs, 1);
	settings_learn(&r, gone);
	ck_assert_uint_eq(a->refs, 1);
	ck_assert_uint_eq(gone->refs, 1);
	ck_assert_uint_eq(b->refs, 2);
	ck_assert_uint_eq(level->refs, 2);
	settings_clear(&r);
	settings_clear(&r);
	ck_assert_uint_eq(b->refs, 1);
	ck_assert_uint_eq(level->refs, 1);
	ck_assert_ptr_null(r.level);
	frame_unref(a);
	frame_unref(again);
	frame_unref(b);
	frame_unref(gone);
	frame_unref(level);
	check_uris(&r, "");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("settings");
	TCase *tc = tcase_create("restore");

	tcase_add_test(tc, test_level);
	tcase_add_test(tc, test_order);
	tcase_add_test(tc, test_unsubscribe);
	tcase_add_test(tc, test_escaped);
	tcase_add_loop_test(tc, test_odd_uri, 0, COUNT(odd));
	tcase_add_loop_test(tc, test_other_methods, 0, COUNT(others));
	tcase_add_test(tc, test_params);
	tcase_add_test(tc, test_count);
	tcase_add_test(tc, test_size);
	tcase_add_test(tc, test_level_size);
	tcase_add_test(tc, test_references);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
