/*
 * Where a life takes its decisions from: a seed, or the bytes of a fuzzer.
 */
#ifndef MCPSPLICE_TESTS_EXPLORE_CHAIN_CHOICES_H
#define MCPSPLICE_TESTS_EXPLORE_CHAIN_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct choices {
	const uint8_t *bytes; /* borrowed; NULL: the seed decides */
	size_t n;             /* so many of them are left */
	uint64_t seed;
};

/* Returns a number below n, which is 1 to 256; 0 when no bytes are left. */
unsigned choices_below(struct choices *c, unsigned n);
static inline bool
choices_percent(struct choices *c, unsigned percent)
{
	return choices_below(c, 100) < percent;
}
/* Are there none left? A seed never ends. */
static inline bool
choices_over(const struct choices *c)
{
	return c->bytes != NULL && c->n == 0;
}

#endif
