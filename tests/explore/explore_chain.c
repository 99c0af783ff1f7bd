/*
 * Random lives of the whole chain: legacy and modern on both sides, with
 * faults of all kinds (explore/chain). A life that breaks a rule is printed in
 * the language of tests/play/README. run.h says what the environment can ask
 * for.
 */
#include "config.h"

#include "explore/chain/life.h"
#include "explore/run.h"

static const char *
play(uint64_t seed, struct buf *trace)
{
	struct choices choices = { .seed = seed };

	return life_play(&choices, trace);
}

int
main(void)
{
	return explore_main(play);
}
