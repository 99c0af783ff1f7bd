/*
 * The text of large messages: 64 letters and digits over and over, so that
 * each byte of a message has one right value.
 */
#ifndef BENCH_PATTERN_H
#define BENCH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Points p to the pattern from this byte on; how many bytes are there, which
 * is not 0. */
size_t pattern_at(size_t at, const char **p);

/* Are these n bytes the pattern, from its beginning? */
bool pattern_is(const char *p, size_t n);

#endif
