/*
 * io/loop.h in another way: a test program with fake_loop.c in it gets this
 * loop instead of the one of the library. Its clock stands while there is work,
 * and jumps to the next timer when nothing else happens. So the program waits
 * for no time, and every time is exact. Descriptors, signals and other programs
 * are real.
 */
#ifndef MCPSPLICE_TESTS_UNIT_FAKE_LOOP_H
#define MCPSPLICE_TESTS_UNIT_FAKE_LOOP_H

#include "io/loop.h"

/* Lets ms pass outside of loop_run. A timer that is due runs there. */
void fake_loop_pass(struct loop *l, int64_t ms);

#endif
