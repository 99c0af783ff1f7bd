/*
 * The limits that a peer can meet, as constants: BOUND_NAME for each row of
 * bound_rows.h, in bytes, in ms, or a number.
 */
#ifndef MCPSPLICE_BASE_BOUNDS_H
#define MCPSPLICE_BASE_BOUNDS_H

/* What a unit of the rows is. */
enum {
	BOUND_UNIT_COUNT = 1,
	BOUND_UNIT_B = 1,
	BOUND_UNIT_KIB = 1024,
	BOUND_UNIT_MIB = 1024 * 1024,
	BOUND_UNIT_MS = 1,
	BOUND_UNIT_SEC = 1000,
	BOUND_UNIT_MIN = 60 * 1000,
	BOUND_UNIT_HOUR = 60 * 60 * 1000,
	BOUND_UNIT_DAY = 24 * 60 * 60 * 1000
};

#define BOUND_GROUP(title)
#define BOUND(name, number, unit, what, then)                                  \
	BOUND_##name = (number)*BOUND_UNIT_##unit,
#define BOUND_OPTION(name, number, unit, option, what, then)                   \
	BOUND_##name = (number)*BOUND_UNIT_##unit,
enum {
#include "base/bound_rows.h"
	BOUND_SHARES = 2 /* --max-buffer is the limit of two kinds of memory */
};
#undef BOUND_GROUP
#undef BOUND
#undef BOUND_OPTION

#endif
