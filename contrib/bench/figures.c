/*
 * Medians and the table.
 */
#include "figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *name;
	const char *unit;
	int digits;
} figures[FIGURES] = {
	[COLD_HTTP] = { "cold start, http", "ms", 2 },
	[COLD_HTTP_CPU] = { "  its CPU", "ms", 2 },
	[COLD_HTTPS] = { "cold start, https", "ms", 2 },
	[COLD_HTTPS_CPU] = { "  its CPU", "ms", 2 },
	[HANDSHAKE_CPU] = { "TLS: CPU, https - http", "ms", 2 },
	[RSS] = { "idle RSS", "MiB", 2 },
	[PSS] = { "idle PSS", "MiB", 2 },
	[PEAK] = { "peak RSS until idle", "MiB", 2 },
	[ADDED] = { "added p50 per call", "ms", 4 },
	[LOAD_CPU] = { "CPU per 10,000 calls", "s", 3 },
	[LOAD_WALL] = { "  their wall time", "s", 3 },
};

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

double
figures_median(double *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (isnan(v[i]))
			return NAN;
	qsort(v, n, sizeof *v, by_value);
	return n == 0 ? NAN : (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static void
print_row(const struct figures *const *f, size_t n, enum figure which)
{
	double v, first = f[0]->v[which];
	size_t k;

	printf("%-23s%4s", figures[which].name, figures[which].unit);
	for (k = 0; k < n; k++) {
		v = f[k]->v[which];
		if (isnan(v))
			printf("%12s", "-");
		else
			printf("%12.*f", figures[which].digits, v);
		if (k > 0 && first > 0 && v > 0)
			printf(" %6.2fx", v / first);
		else if (k > 0)
			printf(" %7s", "");
	}
	printf("\n");
}

void
figures_print(const struct figures *const *f, size_t n, bool https)
{
	size_t k;
	int i;

	printf("%-27s", "");
	for (k = 0; k < n; k++)
		printf("%12s%s", f[k]->name, k > 0 ? "        " : "");
	printf("\n");
	for (i = 0; i < FIGURES; i++)
		if (https || i < COLD_HTTPS || i > HANDSHAKE_CPU)
			print_row(f, n, (enum figure)i);
}
