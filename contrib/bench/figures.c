/*
 * How one figure is made of many samples.
 */
#include "figures.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

double *
figures_values(size_t n)
{
	double *v = calloc(n > 0 ? n : 1, sizeof *v);

	if (v == NULL) {
		perror("calloc");
		exit(1);
	}
	return v;
}

static int
by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool
sort(double *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (isnan(v[i]))
			return false;
	qsort(v, n, sizeof *v, by_value);
	return n > 0;
}

double
figures_median(double *v, size_t n)
{
	return sort(v, n) ? (v[(n - 1) / 2] + v[n / 2]) / 2 : NAN;
}

double
figures_min(double *v, size_t n)
{
	return sort(v, n) ? v[0] : NAN;
}

double
figures_p99(double *v, size_t n)
{
	return sort(v, n) ? v[(n * 99 + 99) / 100 - 1] : NAN;
}

void
figures_print(const char *figure, const char *unit, const char *cand,
    double value)
{
	if (isnan(value))
		printf("%s\t%s\t%s\t-\n", figure, unit, cand);
	else
		printf("%s\t%s\t%s\t%.9g\n", figure, unit, cand, value);
	fflush(stdout);
}
