/* What every unit test's main ends with. */
#ifndef MCPSPLICE_TESTS_UNIT_UNIT_H
#define MCPSPLICE_TESTS_UNIT_UNIT_H

#include <stdlib.h>

#include <check.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

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
