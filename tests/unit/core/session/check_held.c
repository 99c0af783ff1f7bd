/*
 * Frames that are held back: a call leaves the queue from any place in it, and
 * at the same cost, however many there are.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

#include "core/session/session.h"
#include "core/wire/msg.h"
#include "unit/unit.h"

static struct session *
make(void)
{
	static const struct session_config config = { .max_held = SIZE_MAX };

	return session_new(&config);
}

/* Holds a call with this id. */
static struct call *
hold(struct session *s, int id)
{
	char *text = xasprintf("%d", id);
	struct frame *f = msg_call(span_of(text), "tools/call", no_span);
	struct call *c = calls_add(&s->calls, f);

	session_hold(s, f, c);
	frame_unref(f);
	free(text);
	return c;
}

/* The ids of the calls that are held, in order. */
static void
check(const struct session *s, const char *want)
{
	const struct held *h;
	struct buf ids;

	buf_init(&ids, 0);
	for (h = s->held.first; h != NULL; h = h->next) {
		ck_assert_ptr_eq(h->call->held, h);
		buf_addspan(&ids, h->frame->id);
	}
	ck_assert_str_eq(buf_str(&ids), want);
	ck_assert_uint_eq(s->held.n, ids.n);
	buf_free(&ids);
}

START_TEST(test_order)
{
	struct session *s = make();
	struct call *c[5];
	size_t bytes;
	int i;

	for (i = 0; i < 5; i++)
		c[i] = hold(s, i);
	check(s, "01234");
	session_unhold(s, c[2]);
	session_unhold(s, c[2]); /* once is enough */
	check(s, "0134");
	session_unhold(s, c[0]);
	session_unhold(s, c[4]);
	check(s, "13");
	bytes = s->held.bytes;
	frame_unref(session_take_held(s, s->held.first));
	ck_assert_ptr_null(c[1]->held);
	ck_assert_uint_eq(s->held.bytes, bytes / 2);
	c[0] = hold(s, 5);
	check(s, "35");
	session_unhold(s, c[0]);
	session_unhold(s, c[3]);
	check(s, "");
	ck_assert_ptr_null(s->held.last);
	ck_assert_uint_eq(s->held.bytes, 0);
	session_free(s);
}
END_TEST

/* A client cancels what waits longest last. A walk over the queue for each of
 * them takes minutes. */
START_TEST(test_linear)
{
	enum { MANY = 200 * 1000 };

	struct session *s = make();
	int i;

	for (i = 0; i < MANY; i++)
		hold(s, i);
	while (s->calls.last != NULL) {
		session_unhold(s, s->calls.last);
		calls_drop(&s->calls, s->calls.last);
	}
	check(s, "");
	session_free(s);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("held");
	TCase *tc = tcase_create("held");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, test_order);
	tcase_add_test(tc, test_linear);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
