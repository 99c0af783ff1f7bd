/*
 * How long to wait before the next try, and when to stop trying. Pure: time
 * and randomness are inputs, in ms.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_BACKOFF_H
#define MCPSPLICE_CORE_EXCHANGE_BACKOFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Wait before try number tries (0: the first repetition) of something that
 * was not sent: 250 ms x 2 up to 4 s, of which a quarter is random. */
int64_t backoff_retry(unsigned tries, uint64_t random);

/* Wait before a stream is opened again: the server's own retry_ms (-1: none)
 * exactly, between 100 ms and 5 min; else 1 s x 1.5 up to 30 s. */
int64_t backoff_stream(unsigned tries, int64_t retry_ms);

/* At most 60 in a minute of something, by the times of the latest 60. */
struct backoff_rate {
	int64_t at[60];
	size_t next;
};
/* Counts one at now + wait; returns wait, lengthened where the minute is
 * full. */
int64_t backoff_rate(struct backoff_rate *r, int64_t now, int64_t wait);

/* Renewals that did not help: 3 in 60 s or 10 in an hour, then one trial in
 * 30 s, until one helps. */
struct backoff_budget {
	int64_t at[10];
	size_t n;  /* how many of at are used; the latest last */
	bool over; /* until one helps, only trials */
	int64_t trial_at;
};
/* May a renewal start now? */
bool backoff_budget_allows(struct backoff_budget *b, int64_t now);
/* A renewal did not help. */
void backoff_budget_failed(struct backoff_budget *b, int64_t now);
/* A renewal helped. */
void backoff_budget_helped(struct backoff_budget *b);

#endif
