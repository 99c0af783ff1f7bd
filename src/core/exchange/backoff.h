/*
 * How long to wait before the next try, and when to stop trying. All functions
 * are pure: time and randomness are inputs; times are in ms.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_BACKOFF_H
#define MCPSPLICE_CORE_EXCHANGE_BACKOFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"

/* Returns the wait before try number tries (0: the first repetition) of a
 * message that was not sent: 250 ms x 2 up to 4 s, of which a quarter is
 * random. */
int64_t backoff_retry(unsigned tries, uint64_t random);

/* Returns the wait before a stream is opened again: exactly the server's own
 * retry_ms (-1: none), within 100 ms and 5 min; without one 1 s x 1.5 up to 30
 * s. */
int64_t backoff_stream(unsigned tries, int64_t retry_ms);

/* Limits an action to 60 in a minute, by the times of the latest 60. */
struct backoff_rate {
	int64_t at[BOUND_LISTEN_STREAMS];
	size_t next;
};
/* Counts one action at now + wait. Returns wait, made longer if the minute is
 * full. */
int64_t backoff_rate(struct backoff_rate *r, int64_t now, int64_t wait);

/* Limits an action to 4 in a second; 20 may come without a pause. *next is 0 at
 * first. Counts one action and returns the wait before it. */
int64_t backoff_pace(int64_t *next, int64_t now);

/* Counts renewals that did not help: after 3 in 60 s or 10 in an hour only one
 * trial in 30 s is allowed, until a renewal helps. */
struct backoff_budget {
	int64_t at[BOUND_ROUNDS];
	size_t n;  /* how many entries of at are used; the latest is last */
	bool over; /* only trials are allowed, until a renewal helps */
	int64_t trial_at;
};
/* May a renewal start now? */
bool backoff_budget_allows(struct backoff_budget *b, int64_t now);
/* Counts a renewal that did not help. */
void backoff_budget_failed(struct backoff_budget *b, int64_t now);
/* Forgets the count, after a renewal that helped. */
void backoff_budget_helped(struct backoff_budget *b);

#endif
