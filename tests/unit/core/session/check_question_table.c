/*
 * The server's open questions: ids that are small integers from the
 * first session on, answered once, taken back, expired.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "unit/unit.h"

static const struct span absent = { NULL, 0 };

static struct frame *
parsed(const char *text)
{
	struct frame *f = frame_copy(span_of(text));

	ck_assert_int_eq(msg_parse(f, 20), MSG_OK);
	return f;
}

/* The id that the client gets to see for a question of the server. */
static char *
ask(struct questions *t, const char *id, uint64_t generation, uint64_t ticket)
{
	struct frame *q = msg_call(span_of(id), "ping", absent);
	struct frame *f = questions_ask(t, q, generation, ticket);
	char *seen = xstrndup(f->id.p, f->id.n);

	ck_assert_int_eq(f->kind, FRAME_REQUEST);
	ck_assert(span_is(f->method, "ping"));
	frame_unref(f);
	frame_unref(q);
	return seen;
}

static void
check_ask(struct questions *t, const char *id, uint64_t generation,
    uint64_t ticket, const char *want)
{
	char *seen = ask(t, id, generation, ticket);

	ck_assert_str_eq(seen, want);
	free(seen);
}

/* The client's answer with this id is for the server's id, or for none. */
static void
check_answer(struct questions *t, const char *id, const char *server_id,
    uint64_t want_generation, uint64_t want_ticket)
{
	struct frame *a = msg_result(span_of(id), "{\"a\":1}"), *f;
	uint64_t generation = 0, ticket = 0;

	f = questions_answer(t, a, &generation, &ticket);
	if (server_id == NULL) {
		ck_assert_ptr_null(f);
	} else {
		ck_assert_ptr_nonnull(f);
		ck_assert(span_is(f->id, server_id));
		ck_assert(span_is(f->result, "{\"a\":1}"));
		ck_assert_uint_eq(generation, want_generation);
		ck_assert_uint_eq(ticket, want_ticket);
	}
	frame_unref(f);
	frame_unref(a);
}

/* Some clients read a string as the number 0. */
START_TEST(test_first_generation)
{
	struct questions t = { 0 };

	check_ask(&t, "7", 1, 11, "1");
	check_ask(&t, "\"1\"", 1, 12, "2");
	check_ask(&t, "1.50", 1, 13, "3");
	ck_assert_uint_eq(t.n, 3);
	check_answer(&t, "7", NULL, 0, 0);
	check_answer(&t, "\"1\"", NULL, 0, 0);
	check_answer(&t, "2", "\"1\"", 1, 12);
	check_answer(&t, "2", NULL, 0, 0);
	/* The client wrote the number in its own way. */
	check_answer(&t, "3.0", "1.50", 1, 13);
	check_answer(&t, "1", "7", 1, 11);
	ck_assert_uint_eq(t.n, 0);
	check_answer(&t, "1", NULL, 0, 0);
	questions_free(&t);
}
END_TEST

/* A new session counts from the start again. */
START_TEST(test_next_generation)
{
	struct questions t = { 0 };

	check_ask(&t, "1", 2, 1, "1");
	check_ask(&t, "\"x\"", 2, 2, "2");
	check_answer(&t, "2", "\"x\"", 2, 2);
	check_ask(&t, "1", 3, 3, "3");
	check_answer(&t, "3", "1", 3, 3);
	check_answer(&t, "1", "1", 2, 1);
	ck_assert_uint_eq(t.n, 0);
	questions_free(&t);
}
END_TEST

/* An error is an answer too; an error without an id is for no question. */
START_TEST(test_errors)
{
	struct questions t = { 0 };
	struct frame *a, *f;
	uint64_t generation, ticket;

	check_ask(&t, "4", 1, 9, "1");
	a = parsed("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1}}");
	ck_assert_ptr_null(questions_answer(&t, a, &generation, &ticket));
	frame_unref(a);
	a = parsed("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1}}");
	ck_assert_ptr_null(questions_answer(&t, a, &generation, &ticket));
	frame_unref(a);
	a = parsed("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}");
	f = questions_answer(&t, a, &generation, &ticket);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(f->kind, FRAME_ERROR);
	ck_assert(span_is(f->id, "4"));
	frame_unref(f);
	frame_unref(a);
	questions_free(&t);
}
END_TEST

static void
check_cancel(struct questions *t, uint64_t generation, const char *text,
    const char *want)
{
	struct frame *c = parsed(text), *f;

	f = questions_cancel(t, c, generation);
	if (want == NULL) {
		ck_assert_ptr_null(f);
	} else {
		ck_assert(span_is(f->text, want));
		ck_assert(span_is(f->method, "notifications/cancelled"));
	}
	frame_unref(f);
	frame_unref(c);
}

#define CANCEL(id)                                                             \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","         \
	"\"params\":{\"requestId\":" id ",\"reason\":\"r\"}}"

START_TEST(test_cancel)
{
	struct questions t = { 0 };

	check_ask(&t, "5", 2, 1, "1");
	check_ask(&t, "5", 3, 2, "2");
	/* Of which generation it is decides. */
	check_cancel(&t, 3, CANCEL("5"), CANCEL("2"));
	ck_assert_uint_eq(t.n, 1);
	/* What is unknown passes as it is, but not the id of a question that
	 * was not taken back. */
	check_cancel(&t, 3, CANCEL("5"), CANCEL("5"));
	check_cancel(&t, 2, CANCEL("1"), NULL);
	check_cancel(&t, 2,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}");
	check_cancel(&t, 2, CANCEL("5.0"), CANCEL("1"));
	ck_assert_uint_eq(t.n, 0);
	check_answer(&t, "1", NULL, 0, 0);
	questions_free(&t);
}
END_TEST

START_TEST(test_expire)
{
	struct questions t = { 0 };
	struct frame *c = NULL;
	uint64_t asker = 0;

	check_ask(&t, "7", 1, 71, "1");
	check_ask(&t, "8", 2, 82, "2");
	check_ask(&t, "9", 3, 3, "3");
	ck_assert(!questions_expire(&t, 1, &c, &asker));
	ck_assert(questions_expire(&t, 3, &c, &asker));
	ck_assert_uint_eq(asker, 71);
	ck_assert_int_eq(c->kind, FRAME_NOTIFICATION);
	ck_assert(span_is(c->method, "notifications/cancelled"));
	ck_assert(span_is(json_get(c->params, "requestId"), "1"));
	frame_unref(c);
	ck_assert(questions_expire(&t, 3, &c, &asker));
	ck_assert_uint_eq(asker, 82);
	ck_assert(span_is(json_get(c->params, "requestId"), "2"));
	frame_unref(c);
	ck_assert(!questions_expire(&t, 3, &c, &asker));
	ck_assert_uint_eq(t.n, 1);
	check_answer(&t, "1", NULL, 0, 0);
	check_answer(&t, "3", "9", 3, 3);
	questions_free(&t);
}
END_TEST

/* What a call has asked is withdrawn with it; a server may ask for roots by
 * itself. */
START_TEST(test_withdraw)
{
	struct questions t = { 0 };
	struct frame *roots = parsed("{\"jsonrpc\":\"2.0\",\"id\":6,"
				     "\"method\":\"roots/list\"}"),
		     *c;

	check_ask(&t, "7", 2, 71, "1");
	check_ask(&t, "8", 2, 0, "2");
	check_ask(&t, "9", 2, 72, "3");
	frame_unref(questions_ask(&t, roots, 2, 71));
	frame_unref(roots);
	c = questions_withdraw(&t, 71);
	ck_assert(span_is(json_get(c->params, "requestId"), "1"));
	frame_unref(c);
	ck_assert_ptr_null(questions_withdraw(&t, 71));
	ck_assert_ptr_null(questions_withdraw(&t, 0));
	ck_assert_uint_eq(t.n, 3);
	questions_free(&t);
}
END_TEST

/* Forgotten ones leave nothing behind; the numbers go on. */
START_TEST(test_free)
{
	struct questions t = { 0 };
	char *id;
	int i;

	for (i = 0; i < 100; i++) {
		id = ask(&t, "1", 2, 1);
		free(id);
	}
	questions_free(&t);
	ck_assert_uint_eq(t.n, 0);
	check_ask(&t, "1", 2, 1, "101");
	questions_free(&t);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("questions");
	TCase *tc = tcase_create("questions");

	tcase_add_test(tc, test_first_generation);
	tcase_add_test(tc, test_next_generation);
	tcase_add_test(tc, test_errors);
	tcase_add_test(tc, test_cancel);
	tcase_add_test(tc, test_expire);
	tcase_add_test(tc, test_withdraw);
	tcase_add_test(tc, test_free);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
