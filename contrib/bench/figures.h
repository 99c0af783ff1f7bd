/*
 * How one figure is made of many samples, and how it is told.
 */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stddef.h>

/* Room for n samples, or the end of the process. */
double *figures_values(size_t n);

/* Each sorts the values. One that failed (NaN) spoils the figure on purpose. */
double figures_median(double *v, size_t n);
double figures_min(double *v, size_t n);

/* The smallest value that 99 % of them do not exceed. */
double figures_p99(double *v, size_t n);

/* Prints a line for report.py: figure, unit, candidate and value, with tabs
 * between them. A NaN becomes "-", which is a figure that failed. */
void figures_print(const char *figure, const char *unit, const char *cand,
    double value);

#endif
