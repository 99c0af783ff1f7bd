/* Waits and budgets; see backoff.h. */
#include "config.h"

#include "core/exchange/backoff.h"

#include <string.h>

#include "base/bounds.h"

enum {
	RETRY_FIRST_MS = 250,
	RETRY_MAX_MS = 4000,
	STREAM_FIRST_MS = 1000,
	STREAM_MAX_MS = 30000,
	STREAM_FLOOR_MS = 100,
	STREAM_CEILING_MS = 5 * 60 * 1000,
	MINUTE_MS = 60 * 1000,
	HOUR_MS = 60 * MINUTE_MS
};

int64_t
backoff_retry(unsigned tries, uint64_t random)
{
	int64_t wait = RETRY_FIRST_MS;

	while (tries-- > 0 && wait < RETRY_MAX_MS)
		wait *= 2;
	if (wait > RETRY_MAX_MS)
		wait = RETRY_MAX_MS;
	return wait - (int64_t)(random % (uint64_t)(wait / 4));
}

int64_t
backoff_stream(unsigned tries, int64_t retry_ms)
{
	int64_t wait = STREAM_FIRST_MS;

	if (retry_ms >= 0) {
		if (retry_ms < STREAM_FLOOR_MS)
			return STREAM_FLOOR_MS;
		return retry_ms > STREAM_CEILING_MS ? STREAM_CEILING_MS :
						      retry_ms;
	}
	while (tries-- > 0 && wait < STREAM_MAX_MS)
		wait = wait * 3 / 2;
	return wait > STREAM_MAX_MS ? STREAM_MAX_MS : wait;
}

int64_t
backoff_rate(struct backoff_rate *r, int64_t now, int64_t wait)
{
	size_t n = sizeof r->at / sizeof *r->at;
	int64_t oldest = r->at[r->next];

	if (oldest != 0 && now + wait < oldest + MINUTE_MS)
		wait = oldest + MINUTE_MS - now;
	r->at[r->next] = now + wait;
	r->next = (r->next + 1) % n;
	return wait;
}

int64_t
backoff_pace(int64_t *next, int64_t now)
{
	int64_t wait;

	if (*next < now)
		*next = now;
	wait = *next - now - (BOUND_IN_A_ROW - 1) * BOUND_RENEWAL_MS;
	*next += BOUND_RENEWAL_MS;
	return wait > 0 ? wait : 0;
}

static size_t
failed_within(const struct backoff_budget *b, int64_t now, int64_t ms)
{
	size_t i, n = 0;

	for (i = 0; i < b->n; i++)
		if (now - b->at[i] < ms)
			n++;
	return n;
}

bool
backoff_budget_allows(struct backoff_budget *b, int64_t now)
{
	if (!b->over)
		return true;
	if (now < b->trial_at)
		return false;
	b->trial_at = now + BOUND_LONG_MS;
	return true;
}

void
backoff_budget_failed(struct backoff_budget *b, int64_t now)
{
	size_t n = sizeof b->at / sizeof *b->at;

	if (b->n == n) {
		memmove(b->at, b->at + 1, (n - 1) * sizeof *b->at);
		b->n--;
	}
	b->at[b->n++] = now;
	if (failed_within(b, now, MINUTE_MS) >= BOUND_TRIES ||
	    failed_within(b, now, HOUR_MS) >= n)
		b->over = true;
	b->trial_at = now + BOUND_LONG_MS;
}

void
backoff_budget_helped(struct backoff_budget *b)
{
	b->n = 0;
	b->over = false;
}
