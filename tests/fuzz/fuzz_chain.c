/*
 * A life of the whole chain (explore/chain) whose choices are the input: no
 * life may break a rule. The life is printed as a schedule if one does.
 */
#include "config.h"

#include "explore/chain/life.h"
#include "fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct choices choices = { .bytes = data, .n = size };
	const char *broken;
	struct buf trace;

	buf_init(&trace, 0);
	broken = life_play(&choices, &trace);
	if (broken != NULL)
		fprintf(stderr, "%s\nbreaks a rule: %s\n", buf_str(&trace),
		    broken);
	FUZZ_CHECK(broken == NULL);
	buf_free(&trace);
	return 0;
}
