/* What explorers share: many schedules by their seeds, and what they find. */
#ifndef MCPSPLICE_TESTS_EXPLORE_RUN_H
#define MCPSPLICE_TESTS_EXPLORE_RUN_H

#include "base/mem.h"

/* Plays the schedule of this seed, and adds it to trace. Returns the rule that
 * it broke, a text that stays, or NULL. */
typedef const char *explore_play(uint64_t seed, struct buf *trace);

/* The main function of an explorer. The environment says what is played:
 * EXPLORE is the number of schedules (sanitizers and valgrind get fewer of
 * them); EXPLORE_SEED=N plays that one alone, EXPLORE_TRACE=1 prints it even
 * when it is good. EXPLORE_ALL=1 goes on after a broken rule and prints, of
 * each, the shortest schedule. Returns the exit status. */
int explore_main(explore_play *play);

#endif
