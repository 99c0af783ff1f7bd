/* base/queue: things are added at both ends and taken out of any place. */
#include "config.h"

#include "base/queue.h"

#include "unit/unit.h"

struct thing {
	struct thing *next, *prev;
};

static struct {
	struct thing *first, *last;
} q;

static struct thing a, b, c;

/* Are these the things of the list, from both ends? */
static void
expect(struct thing *const *want, size_t n)
{
	const struct thing *x, *before = NULL;
	size_t i = 0;

	for (x = q.first; x != NULL; before = x, x = x->next, i++) {
		ck_assert_uint_lt(i, n);
		ck_assert_ptr_eq(x, want[i]);
		ck_assert_ptr_eq(x->prev, before);
	}
	ck_assert_uint_eq(i, n);
	ck_assert_ptr_eq(q.last, before);
}

#define EXPECT(...)                                                            \
	expect((struct thing *[]){ __VA_ARGS__ },                              \
	    sizeof(struct thing *[]){ __VA_ARGS__ } / sizeof(struct thing *))

START_TEST(added_and_removed)
{
	QUEUE_ADD(&q, &b);
	EXPECT(&b);
	QUEUE_ADD(&q, &c);
	QUEUE_ADD_FIRST(&q, &a);
	EXPECT(&a, &b, &c);
	QUEUE_REMOVE(&q, &b);
	EXPECT(&a, &c);
	QUEUE_ADD(&q, &b);
	QUEUE_REMOVE(&q, &a);
	EXPECT(&c, &b);
	QUEUE_REMOVE(&q, &b);
	EXPECT(&c);
	QUEUE_REMOVE(&q, &c);
	expect(NULL, 0);
	QUEUE_ADD_FIRST(&q, &c);
	EXPECT(&c);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("queue");
	TCase *t = tcase_create("queue");

	tcase_add_test(t, added_and_removed);
	suite_add_tcase(s, t);
	return unit_run(s);
}
