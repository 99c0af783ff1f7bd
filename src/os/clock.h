/*
 * The clocks of the system.
 */
#ifndef MCPSPLICE_OS_CLOCK_H
#define MCPSPLICE_OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum os_clock {
	OS_CLOCK_STEADY, /* never set; it may run while the machine sleeps */
	OS_CLOCK_AWAKE,  /* stops while the machine sleeps */
	OS_CLOCK_ALWAYS, /* runs while the machine sleeps */
	OS_CLOCK_WALL    /* since 1970; it may be set */
};

/* Returns microseconds. */
int64_t os_clock_us(enum os_clock which);
/* Is this the same clock as OS_CLOCK_STEADY? */
bool os_clock_is_steady(enum os_clock which);
/* By how many ms OS_CLOCK_ALWAYS must move away from OS_CLOCK_AWAKE, so that it
 * was a sleep. */
extern const int os_clock_sleep_ms;

#endif
