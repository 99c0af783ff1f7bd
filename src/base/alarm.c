/* soonest is a lower bound of all alarms; see alarm.h. */
#include "config.h"

#include "base/alarm.h"

#include <assert.h>

void
alarm_init(struct alarms *a)
{
	unsigned i;

	for (i = 0; i < ALARMS; i++)
		a->at[i] = ALARM_NEVER;
	a->soonest = ALARM_NEVER;
}

void
alarm_set(struct alarms *a, unsigned name, int64_t at)
{
	assert(name < ALARMS);
	a->at[name] = at;
	alarm_note(a, at);
}

bool
alarm_is_set(const struct alarms *a, unsigned name)
{
	return a->at[name] != ALARM_NEVER;
}

bool
alarm_is_due(const struct alarms *a, unsigned name, int64_t now)
{
	return a->at[name] <= now;
}

void
alarm_note(struct alarms *a, int64_t at)
{
	a->soonest = alarm_sooner(a->soonest, at);
}

void
alarm_recount(struct alarms *a)
{
	unsigned i;

	a->soonest = ALARM_NEVER;
	for (i = 0; i < ALARMS; i++)
		alarm_note(a, a->at[i]);
}
