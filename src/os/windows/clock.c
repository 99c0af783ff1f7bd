#include "config.h"

#include "os/clock.h"

#include "os/windows/common.h"

const int os_clock_sleep_ms = 2000;

/* In microseconds, without the product of two large numbers. */
static int64_t
steady(void)
{
	LARGE_INTEGER now, a_second;

	QueryPerformanceCounter(&now);
	QueryPerformanceFrequency(&a_second);
	return now.QuadPart / a_second.QuadPart * 1000000 +
	    now.QuadPart % a_second.QuadPart * 1000000 / a_second.QuadPart;
}

static int64_t
wall(void)
{
	const int64_t from_1601_us = INT64_C(11644473600) * 1000000;
	FILETIME t;

	GetSystemTimePreciseAsFileTime(&t);
	return (((int64_t)t.dwHighDateTime << 32) | t.dwLowDateTime) / 10 -
	    from_1601_us;
}

int64_t
os_clock_us(enum os_clock which)
{
	ULONGLONG awake = 0;

	switch (which) {
	case OS_CLOCK_STEADY:
		break;
	case OS_CLOCK_AWAKE:
		QueryUnbiasedInterruptTime(&awake);
		return (int64_t)(awake / 10);
	case OS_CLOCK_ALWAYS:
		return (int64_t)GetTickCount64() * 1000;
	case OS_CLOCK_WALL:
		return wall();
	}
	return steady();
}

bool
os_clock_is_steady(enum os_clock which)
{
	return which == OS_CLOCK_STEADY;
}
