/*
 * The table of calls and attempts: finding by id (as written, then by value)
 * and by ticket, order, growth, which of two outlives the other, generations.
 */
#include "config.h"

#include "core/session/call_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/msg.h"
#include "unit/unit.h"

static struct frame *
request(const char *id, const char *method)
{
	struct frame *f = msg_call(span_of(id), method,
	    (struct span){ NULL, 0 });

	ck_assert_int_eq(f->kind, FRAME_REQUEST);
	return f;
}

static struct call *
add(struct calls *t, const char *id)
{
	struct frame *f = request(id, "tools/call");
	struct call *c = calls_add(t, f);

	frame_unref(f);
	return c;
}

START_TEST(test_find)
{
	struct calls t;
	struct call *a, *b, *c;

	calls_init(&t);
	a = add(&t, "1");
	b = add(&t, "\"1\"");
	c = add(&t, "\"\\u0041\"");
	ck_assert_ptr_eq(calls_find(&t, span_of("1")), a);
	ck_assert_ptr_eq(calls_find(&t, span_of("1.0")), a);
	ck_assert_ptr_eq(calls_find(&t, span_of("10e-1")), a);
	ck_assert_ptr_eq(calls_find(&t, span_of("\"1\"")), b);
	ck_assert_ptr_eq(calls_find(&t, span_of("\"\\u0031\"")), b);
	ck_assert_ptr_eq(calls_find(&t, span_of("\"A\"")), c);
	ck_assert_ptr_null(calls_find(&t, span_of("2")));
	ck_assert_ptr_null(calls_find(&t, span_of("\"\"")));
	ck_assert_ptr_null(calls_find(&t, span_of("null")));
	ck_assert_ptr_null(calls_find(&t, (struct span){ NULL, 0 }));
	calls_drop(&t, a);
	ck_assert_ptr_null(calls_find(&t, span_of("1")));
	ck_assert_ptr_eq(calls_find(&t, span_of("\"1\"")), b);
	calls_free(&t);
}
END_TEST

/* Two ids that are one value to a double: each is found as it is written,
 * in whichever order they came. */
START_TEST(test_find_as_written)
{
	static const char *const ids[] = { "9007199254740993",
		"9007199254740992" };
	struct calls t;
	struct call *a, *b;

	calls_init(&t);
	a = add(&t, ids[_i]);
	b = add(&t, ids[1 - _i]);
	ck_assert_ptr_eq(calls_find(&t, span_of(ids[_i])), a);
	ck_assert_ptr_eq(calls_find(&t, span_of(ids[1 - _i])), b);
	calls_free(&t);
}
END_TEST

START_TEST(test_order)
{
	struct calls t;
	struct call *a, *b, *c;

	calls_init(&t);
	a = add(&t, "3");
	b = add(&t, "1");
	c = add(&t, "2");
	ck_assert_uint_eq(t.n, 3);
	ck_assert_ptr_eq(t.first, a);
	ck_assert_ptr_eq(a->next, b);
	ck_assert_ptr_eq(b->next, c);
	ck_assert_ptr_eq(t.last, c);
	calls_drop(&t, b);
	ck_assert_ptr_eq(a->next, c);
	ck_assert_ptr_eq(c->prev, a);
	calls_drop(&t, c);
	ck_assert_ptr_eq(t.last, a);
	calls_drop(&t, a);
	ck_assert_ptr_null(t.first);
	ck_assert_ptr_null(t.last);
	ck_assert_uint_eq(t.n, 0);
	calls_free(&t);
}
END_TEST

/* Numbers and strings in turn. */
static void
make_id(char *id, size_t size, int i)
{
	if (i % 2 == 0)
		snprintf(id, size, "%d", i);
	else
		snprintf(id, size, "\"%d\"", i);
}

/* Past several growths every call is still found, and only those. */
START_TEST(test_growth)
{
	enum { MANY = 5000 };
	struct calls t;
	char id[16];
	int i;

	calls_init(&t);
	for (i = 0; i < MANY; i++) {
		make_id(id, sizeof id, i);
		add(&t, id);
	}
	for (i = 0; i < MANY; i += 3) {
		make_id(id, sizeof id, i);
		calls_drop(&t, calls_find(&t, span_of(id)));
	}
	for (i = 0; i < MANY; i++) {
		make_id(id, sizeof id, i);
		ck_assert_int_eq(calls_find(&t, span_of(id)) != NULL,
		    i % 3 != 0);
	}
	ck_assert_uint_eq(t.n, MANY - (MANY + 2) / 3);
	calls_free(&t);
}
END_TEST

START_TEST(test_legs)
{
	struct generation *g = generation_new(1);
	struct attempt *attempts[200];
	struct calls t;
	uint64_t ticket;
	size_t i, k;

	calls_init(&t);
	for (i = 0; i < 200; i++) {
		attempts[i] = calls_attempt(&t, ATTEMPT_ONE_WAY, NULL, NULL, g);
		ck_assert(!attempts[i]->live);
		for (k = 0; k < i; k++)
			ck_assert_uint_ne(attempts[i]->ticket,
			    attempts[k]->ticket);
	}
	ck_assert_uint_eq(t.n_attempts, 200);
	ck_assert_uint_eq(g->refs, 201);
	for (i = 0; i < 200; i++)
		ck_assert_ptr_eq(calls_attempt_find(&t, attempts[i]->ticket),
		    attempts[i]);
	ck_assert_ptr_null(calls_attempt_find(&t, 0));
	ck_assert_ptr_null(calls_attempt_find(&t, attempts[199]->ticket + 1));
	ticket = attempts[77]->ticket;
	calls_attempt_drop(&t, attempts[77]);
	ck_assert_ptr_null(calls_attempt_find(&t, ticket));
	calls_reap(&t);
	ck_assert_uint_eq(g->refs, 200);
	ck_assert_uint_eq(t.n_attempts, 199);
	/* A ticket is not given again. */
	ck_assert_uint_gt(calls_attempt(&t, ATTEMPT_ONE_WAY, NULL, NULL, g)
			      ->ticket,
	    ticket);
	calls_free(&t);
	ck_assert_uint_eq(g->refs, 1);
	generation_unref(g);
}
END_TEST

/* The answer came: the attempt lives on without its call. */
START_TEST(test_leg_outlives_call)
{
	struct generation *g = generation_new(1);
	struct calls t;
	struct call *c;
	struct attempt *l;

	calls_init(&t);
	c = add(&t, "1");
	l = calls_attempt(&t, ATTEMPT_CALL, c, c->frame, g);
	ck_assert_ptr_eq(c->attempt, l);
	ck_assert_ptr_eq(l->call, c);
	calls_drop(&t, c);
	ck_assert_ptr_null(l->call);
	ck_assert(span_is(l->body->id, "1"));
	calls_attempt_drop(&t, l);
	calls_free(&t);
	generation_unref(g);
}
END_TEST

/* A replay: the new attempt has the call, the old one has none. */
START_TEST(test_call_outlives_leg)
{
	struct generation *g = generation_new(1);
	struct attempt *first, *second;
	struct calls t;
	struct call *c;

	calls_init(&t);
	c = add(&t, "1");
	first = calls_attempt(&t, ATTEMPT_CALL, c, c->frame, g);
	second = calls_attempt(&t, ATTEMPT_CALL, c, c->frame, g);
	ck_assert_ptr_null(first->call);
	ck_assert_ptr_eq(c->attempt, second);
	calls_attempt_drop(&t, first);
	ck_assert_ptr_eq(c->attempt, second);
	calls_attempt_drop(&t, second);
	ck_assert_ptr_null(c->attempt);
	calls_free(&t);
	generation_unref(g);
}
END_TEST

START_TEST(test_generation)
{
	struct generation *g = generation_new(7);

	ck_assert_uint_eq(g->number, 7);
	ck_assert_ptr_null(g->session);
	ck_assert_ptr_null(g->version);
	g->session = xstrdup("s");
	g->version = xstrdup("v");
	ck_assert_ptr_eq(generation_ref(g), g);
	generation_unref(g);
	ck_assert_str_eq(g->session, "s");
	generation_unref(g);
	generation_unref(NULL);
}
END_TEST

static const struct {
	const char *method;
	bool safe;
} methods[] = {
	{ "ping", true },
	{ "tools/list", true },
	{ "prompts/list", true },
	{ "prompts/get", true },
	{ "resources/list", true },
	{ "resources/templates/list", true },
	{ "resources/read", true },
	{ "resources/subscribe", true },
	{ "resources/unsubscribe", true },
	{ "completion/complete", true },
	{ "logging/setLevel", true },
	{ "server/discover", true },
	{ "tools\\/list", true },
	{ "\\u0070ing", true },
	{ "tools/call", false },
	{ "tools\\/call", false },
	{ "initialize", false },
	{ "tools/list ", false },
	{ "Tools/list", false },
	{ "tools", false },
	{ "", false },
	{ "x/y", false },
};

START_TEST(test_safe)
{
	char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
			       "\"%s\"}",
	    methods[_i].method);
	struct frame *f = frame_copy(span_of(text));

	ck_assert_int_eq(msg_parse(f, 2), MSG_OK);
	ck_assert_int_eq(calls_safe(f), methods[_i].safe);
	f->ambiguous = true;
	ck_assert(!calls_safe(f));
	frame_unref(f);
	free(text);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("calls");
	TCase *tc = tcase_create("calls");

	tcase_add_test(tc, test_find);
	tcase_add_loop_test(tc, test_find_as_written, 0, 2);
	tcase_add_test(tc, test_order);
	tcase_add_test(tc, test_growth);
	tcase_add_test(tc, test_legs);
	tcase_add_test(tc, test_leg_outlives_call);
	tcase_add_test(tc, test_call_outlives_leg);
	tcase_add_test(tc, test_generation);
	tcase_add_loop_test(tc, test_safe, 0, COUNT(methods));
	suite_add_tcase(s, tc);
	return unit_run(s);
}
