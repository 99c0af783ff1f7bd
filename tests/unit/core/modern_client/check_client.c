/*
 * The core/modern_client reducer: schedules of inputs and what must come of
 * them, in tests/play/schedules/client_*.txt, each a test with a name.
 * CK_RUN_CASE=NAME plays one of them.
 */
#include "config.h"

#include "play/suite.h"

int
main(void)
{
	static const char *const files[] = { "client_open", "client_bridged",
		"client_parked", "client_listen" };
	Suite *suite = suite_create("client");
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++)
		suite_add_schedules(suite, files[i]);
	return suite_run(suite);
}
