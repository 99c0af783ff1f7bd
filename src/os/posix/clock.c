/*
 * CLOCK_ALWAYS runs while the machine sleeps, CLOCK_AWAKE does not. On macOS
 * and some BSDs the monotonic clock runs on. Where only the wall clock runs on,
 * somebody may set it: a small step by NTP, or a step back, is not a sleep.
 */
#include "config.h"

#include "os/clock.h"

#include <time.h>

#if defined(CLOCK_UPTIME_RAW)
#define CLOCK_ALWAYS CLOCK_MONOTONIC
#define CLOCK_AWAKE CLOCK_UPTIME_RAW
#define SLEEP_LEAST_MS 2000
#elif defined(CLOCK_UPTIME)
#define CLOCK_ALWAYS CLOCK_REALTIME
#define CLOCK_AWAKE CLOCK_UPTIME
#define SLEEP_LEAST_MS 10000
#elif defined(CLOCK_BOOTTIME)
#define CLOCK_ALWAYS CLOCK_BOOTTIME
#define CLOCK_AWAKE CLOCK_MONOTONIC
#define SLEEP_LEAST_MS 2000
#else
#define CLOCK_ALWAYS CLOCK_REALTIME
#define CLOCK_AWAKE CLOCK_MONOTONIC
#define SLEEP_LEAST_MS 10000
#endif

static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_AWAKE, CLOCK_ALWAYS,
	CLOCK_REALTIME };

const int os_clock_sleep_ms = SLEEP_LEAST_MS;

int64_t
os_clock_us(enum os_clock which)
{
	struct timespec ts = { 0 };

	clock_gettime(clocks[which], &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

bool
os_clock_is_steady(enum os_clock which)
{
	return clocks[which] == CLOCK_MONOTONIC;
}
