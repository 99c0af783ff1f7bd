/* base/alarm: the soonest of what is set and noted, and "never". */
#include "config.h"

#include "base/alarm.h"

#include "unit/unit.h"

enum { ONE, TWO };

START_TEST(nothing_is_set)
{
	struct alarms a;

	alarm_init(&a);
	ck_assert_int_eq(a.soonest, ALARM_NEVER);
	ck_assert(!alarm_is_set(&a, ONE));
	ck_assert(!alarm_is_due(&a, ONE, INT64_MAX - 1));
}
END_TEST

START_TEST(the_soonest_counts)
{
	struct alarms a;

	alarm_init(&a);
	alarm_set(&a, ONE, 500);
	alarm_set(&a, TWO, 300);
	alarm_note(&a, 400);
	ck_assert_int_eq(a.soonest, 300);
	ck_assert(!alarm_is_due(&a, TWO, 299));
	ck_assert(alarm_is_due(&a, TWO, 300));
	ck_assert(!alarm_is_due(&a, ONE, 300));
	alarm_note(&a, 200);
	ck_assert_int_eq(a.soonest, 200);
}
END_TEST

/* A set that is taken back leaves the bound too early until the recount. */
START_TEST(a_recount_forgets)
{
	struct alarms a;

	alarm_init(&a);
	alarm_set(&a, ONE, 500);
	alarm_set(&a, TWO, 100);
	alarm_note(&a, 50);
	alarm_set(&a, TWO, ALARM_NEVER);
	ck_assert_int_eq(a.soonest, 50);
	alarm_recount(&a);
	ck_assert_int_eq(a.soonest, 500);
	ck_assert(alarm_is_set(&a, ONE));
	ck_assert(!alarm_is_set(&a, TWO));
}
END_TEST

START_TEST(zero_is_a_time)
{
	struct alarms a;

	alarm_init(&a);
	alarm_set(&a, ALARMS - 1, 0);
	ck_assert(alarm_is_due(&a, ALARMS - 1, 0));
	ck_assert_int_eq(a.soonest, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("alarm");
	TCase *t = tcase_create("alarm");

	tcase_add_test(t, nothing_is_set);
	tcase_add_test(t, the_soonest_counts);
	tcase_add_test(t, a_recount_forgets);
	tcase_add_test(t, zero_is_a_time);
	suite_add_tcase(s, t);
	return unit_run(s);
}
