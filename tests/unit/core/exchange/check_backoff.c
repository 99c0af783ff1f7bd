/*
 * Waits and budgets: the doubling and its ceiling, the random quarter, the
 * server's own retry, sixty a minute, renewals that did not help.
 */
#include "config.h"

#include "core/exchange/backoff.h"

#include "unit/unit.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static const struct {
	unsigned tries;
	int64_t full;
} retries[] = {
	{ 0, 250 },
	{ 1, 500 },
	{ 2, 1000 },
	{ 3, 2000 },
	{ 4, 4000 },
	{ 5, 4000 },
	{ 100, 4000 },
	{ 4294967295u, 4000 },
};

/* Never more than the full wait, never less than three quarters, and both
 * ends are reached. */
START_TEST(test_retry)
{
	int64_t full = retries[_i].full, wait, least = full;
	uint64_t random;

	ck_assert_int_eq(backoff_retry(retries[_i].tries, 0), full);
	for (random = 0; random < 4000; random++) {
		wait = backoff_retry(retries[_i].tries, random);
		ck_assert_int_le(wait, full);
		if (wait < least)
			least = wait;
	}
	ck_assert_int_gt(least, full - full / 4 - 1);
	ck_assert_int_le(least, full - full / 4 + 1);
	wait = backoff_retry(retries[_i].tries, UINT64_MAX);
	ck_assert_int_gt(wait, full / 2);
	ck_assert_int_le(wait, full);
}
END_TEST

static const struct {
	unsigned tries;
	int64_t retry_ms, want;
} streams[] = {
	{ 0, -1, 1000 },
	{ 1, -1, 1500 },
	{ 2, -1, 2250 },
	{ 3, -1, 3375 },
	{ 9, -1, 30000 },
	{ 4294967295u, -1, 30000 },
	{ 0, 0, 100 },
	{ 0, 99, 100 },
	{ 0, 100, 100 },
	{ 7, 101, 101 },
	{ 0, 299999, 299999 },
	{ 0, 300000, 300000 },
	{ 0, 300001, 300000 },
	{ 9, INT64_MAX, 300000 },
};

START_TEST(test_stream)
{
	ck_assert_int_eq(backoff_stream(streams[_i].tries,
			     streams[_i].retry_ms),
	    streams[_i].want);
}
END_TEST

START_TEST(test_stream_grows)
{
	int64_t before = 0, wait;
	unsigned tries;

	for (tries = 0; tries < 20; tries++) {
		wait = backoff_stream(tries, -1);
		ck_assert_int_ge(wait, before);
		ck_assert_int_le(wait, 30000);
		before = wait;
	}
}
END_TEST

/* Sixty pass as they are, the next waits for the first to be a minute old. */
START_TEST(test_rate)
{
	struct backoff_rate r = { { 0 }, 0 };
	int64_t now = 1000;
	int i;

	for (i = 0; i < 60; i++, now += 100)
		ck_assert_int_eq(backoff_rate(&r, now, 100), 100);
	ck_assert_int_eq(backoff_rate(&r, now, 100), 1100 + MINUTE - now);
	/* The one after it waits for the second. */
	ck_assert_int_eq(backoff_rate(&r, now, 100), 1200 + MINUTE - now);
	/* A longer wait than that is left as it is. */
	ck_assert_int_eq(backoff_rate(&r, now, 2 * MINUTE), 2 * MINUTE);
}
END_TEST

/* However they come, no sixty-one of them are within a minute. */
START_TEST(test_rate_holds)
{
	struct backoff_rate r = { { 0 }, 0 };
	int64_t at[600], now = 5000;
	int i;

	for (i = 0; i < COUNT(at); i++) {
		at[i] = now + backoff_rate(&r, now, i % 3 == 0 ? 0 : 100);
		now = at[i] + i % 7;
		if (i >= 60)
			ck_assert_int_ge(at[i] - at[i - 60], MINUTE);
	}
}
END_TEST

/* Twenty at once, then four in a second; after a quiet time twenty again. */
START_TEST(test_pace)
{
	int64_t next = 0, now = HOUR;
	unsigned i;

	for (i = 0; i < 20; i++)
		ck_assert_int_eq(backoff_pace(&next, now), 0);
	ck_assert_int_eq(backoff_pace(&next, now), SECOND / 4);
	now += SECOND / 4;
	ck_assert_int_eq(backoff_pace(&next, now), SECOND / 4);
	now += SECOND;
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(backoff_pace(&next, now), 0);
	ck_assert_int_eq(backoff_pace(&next, now), SECOND / 4);
	now += MINUTE;
	for (i = 0; i < 20; i++)
		ck_assert_int_eq(backoff_pace(&next, now), 0);
	ck_assert_int_gt(backoff_pace(&next, now), 0);
}
END_TEST

START_TEST(test_budget_minute)
{
	struct backoff_budget b = { 0 };
	int64_t now = 7 * HOUR;

	ck_assert(backoff_budget_allows(&b, now));
	backoff_budget_failed(&b, now);
	ck_assert(backoff_budget_allows(&b, now + 1));
	backoff_budget_failed(&b, now + 1);
	ck_assert(backoff_budget_allows(&b, now + 2));
	backoff_budget_failed(&b, now + 2);
	ck_assert(!backoff_budget_allows(&b, now + 3));
	ck_assert(!backoff_budget_allows(&b, now + 30001));
	/* One trial, and no second one with it. */
	ck_assert(backoff_budget_allows(&b, now + 30002));
	ck_assert(!backoff_budget_allows(&b, now + 30003));
	ck_assert(!backoff_budget_allows(&b, now + 59999));
	/* A trial without a reported result does not block the next. */
	ck_assert(backoff_budget_allows(&b, now + 60002));
}
END_TEST

/* Three that are more than a minute apart in all are no reason. */
START_TEST(test_budget_spread)
{
	struct backoff_budget b = { 0 };
	int64_t now = HOUR;
	int i;

	for (i = 0; i < 9; i++, now += 30 * SECOND + 1) {
		ck_assert(backoff_budget_allows(&b, now));
		backoff_budget_failed(&b, now);
	}
}
END_TEST

START_TEST(test_budget_hour)
{
	struct backoff_budget b = { 0 };
	int64_t now = 9 * HOUR;
	int i;

	for (i = 0; i < 10; i++, now += 5 * MINUTE) {
		ck_assert(backoff_budget_allows(&b, now));
		ck_assert(backoff_budget_allows(&b, now));
		backoff_budget_failed(&b, now);
	}
	now -= 5 * MINUTE;
	ck_assert(!backoff_budget_allows(&b, now + 1));
	ck_assert(!backoff_budget_allows(&b, now + 30 * SECOND - 1));
	ck_assert(backoff_budget_allows(&b, now + 30 * SECOND));
	ck_assert(!backoff_budget_allows(&b, now + 31 * SECOND));
}
END_TEST

START_TEST(test_budget_helped)
{
	struct backoff_budget b = { 0 };
	int64_t now = HOUR;
	int i;

	for (i = 0; i < 3; i++)
		backoff_budget_failed(&b, now + i);
	ck_assert(!backoff_budget_allows(&b, now + 10));
	backoff_budget_helped(&b);
	ck_assert(backoff_budget_allows(&b, now + 10));
	for (i = 0; i < 2; i++)
		backoff_budget_failed(&b, now + 20 + i);
	ck_assert(backoff_budget_allows(&b, now + 30));
	backoff_budget_failed(&b, now + 30);
	ck_assert(!backoff_budget_allows(&b, now + 31));
}
END_TEST

/* Once over, one trial in 30 s until one helps: that the first failures get
 * old meanwhile gives nothing more. */
START_TEST(test_budget_over_until_one_helps)
{
	struct backoff_budget b = { 0 };
	int64_t now = HOUR, before = 0;
	int trials = 0;

	for (; now < 2 * HOUR; now += 100) {
		if (!backoff_budget_allows(&b, now))
			continue;
		backoff_budget_failed(&b, now);
		if (++trials > 3)
			ck_assert_int_ge(now - before, 30 * SECOND);
		before = now;
	}
	ck_assert_int_ge(trials, 3 + 118);
}
END_TEST

START_TEST(test_budget_long_quiet)
{
	struct backoff_budget b = { 0 };
	int i;

	for (i = 0; i < 40; i++)
		backoff_budget_failed(&b, HOUR + i);
	ck_assert_uint_le(b.n, sizeof b.at / sizeof *b.at);
	ck_assert(!backoff_budget_allows(&b, HOUR + 50));
	ck_assert(backoff_budget_allows(&b, 3 * HOUR));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("backoff");
	TCase *tc = tcase_create("backoff");

	tcase_add_loop_test(tc, test_retry, 0, COUNT(retries));
	tcase_add_loop_test(tc, test_stream, 0, COUNT(streams));
	tcase_add_test(tc, test_stream_grows);
	tcase_add_test(tc, test_rate);
	tcase_add_test(tc, test_rate_holds);
	tcase_add_test(tc, test_pace);
	tcase_add_test(tc, test_budget_minute);
	tcase_add_test(tc, test_budget_spread);
	tcase_add_test(tc, test_budget_hour);
	tcase_add_test(tc, test_budget_helped);
	tcase_add_test(tc, test_budget_over_until_one_helps);
	tcase_add_test(tc, test_budget_long_quiet);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
