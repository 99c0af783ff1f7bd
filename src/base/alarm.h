/*
 * The alarms of one reducer: the times at which it wants to be called again, in
 * the milliseconds of its inputs. The name of an alarm is a small number that
 * the reducer chooses. Things that come and go (a call, an attempt) keep their
 * own times and only report them here with alarm_note.
 */
#ifndef MCPSPLICE_BASE_ALARM_H
#define MCPSPLICE_BASE_ALARM_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define ALARM_NEVER INT64_MAX

enum { ALARMS = 16 }; /* the most names that a reducer can have */

struct alarms {
	int64_t at[ALARMS];
	int64_t soonest; /* may be earlier than any alarm that is set */
};

static inline int64_t
alarm_sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Sets all alarms to ALARM_NEVER. */
static inline void
alarm_init(struct alarms *a)
{
	unsigned i;

	for (i = 0; i < ALARMS; i++)
		a->at[i] = ALARM_NEVER;
	a->soonest = ALARM_NEVER;
}

/* Lowers soonest to at, for a thing that has no alarm of its own. */
static inline void
alarm_note(struct alarms *a, int64_t at)
{
	a->soonest = alarm_sooner(a->soonest, at);
}

/* Sets one alarm; ALARM_NEVER switches it off. soonest is not raised before
 * alarm_recount. */
static inline void
alarm_set(struct alarms *a, unsigned name, int64_t at)
{
	assert(name < ALARMS);
	a->at[name] = at;
	alarm_note(a, at);
}

/* Has the alarm a time other than ALARM_NEVER? */
static inline bool
alarm_is_set(const struct alarms *a, unsigned name)
{
	return a->at[name] != ALARM_NEVER;
}

/* Is the time of this alarm reached? An alarm that goes off stays set. */
static inline bool
alarm_is_due(const struct alarms *a, unsigned name, int64_t now)
{
	return a->at[name] <= now;
}

/* Computes soonest again from the alarms alone. After it the reducer reports
 * the times of all its things again with alarm_note. */
static inline void
alarm_recount(struct alarms *a)
{
	unsigned i;

	a->soonest = ALARM_NEVER;
	for (i = 0; i < ALARMS; i++)
		alarm_note(a, a->at[i]);
}

#endif
