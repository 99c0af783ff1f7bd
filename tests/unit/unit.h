/* What every unit test's main ends with. */
#ifndef MCPSPLICE_TESTS_UNIT_UNIT_H
#define MCPSPLICE_TESTS_UNIT_UNIT_H

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include <check.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* CPU seconds of this process. clock() tells those of the wall on Windows. */
static inline double
unit_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* For a loop that is measured: has it run n times, and long enough for a clock
 * that steps by 16 ms? If so, *t becomes the seconds of one round. */
static inline bool
unit_measured(double start, int n, double *t)
{
	double all = unit_cpu() - start;

	*t = all / n;
	return n > 0 && all > 0.05;
}

/* Runs the suite and frees it; returns the exit status. CK_VERBOSITY and the
 * other variables of check work. */
static inline int
unit_run(Suite *s)
{
	SRunner *r = srunner_create(s);
	int failed;

	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
