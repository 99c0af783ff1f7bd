/*
 * The figures of one candidate, how they are made one of many samples, and
 * the table of all.
 */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

enum figure {
	COLD_HTTP,
	COLD_HTTP_CPU,
	COLD_HTTPS,
	COLD_HTTPS_CPU,
	HANDSHAKE_CPU,
	RSS,
	PSS,
	PEAK,
	ADDED,
	LOAD_CPU,
	LOAD_WALL,
	FIGURES
};

struct figures {
	const char *name;
	double v[FIGURES]; /* NaN: not measured, or failed */
};

/* Room for n samples, or the end of the process. */
double *figures_values(size_t n);

/* Sorts the values; one that failed (NaN) spoils the median on purpose. */
double figures_median(double *v, size_t n);

/* The table, with multiples of the first. */
void figures_print(const struct figures *const *f, size_t n, bool https);

#endif
