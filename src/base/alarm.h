/*
 * The alarms of one reducer: the times at which it wants to be called again,
 * in the milliseconds of its inputs. An alarm has a name, which is a small
 * number of the reducer's; things that come and go (a call, an attempt) keep
 * their own time and only note it here.
 */
#ifndef MCPSPLICE_BASE_ALARM_H
#define MCPSPLICE_BASE_ALARM_H

#include <stdbool.h>
#include <stdint.h>

#define ALARM_NEVER INT64_MAX

enum { ALARMS = 16 }; /* names of one reducer */

struct alarms {
	int64_t at[ALARMS];
	int64_t soonest; /* may be earlier than any that is set */
};

/* Sets all of them to never. */
void alarm_init(struct alarms *a);
/* at may be ALARM_NEVER. */
void alarm_set(struct alarms *a, unsigned name, int64_t at);
bool alarm_is_set(const struct alarms *a, unsigned name);
/* Is it time? An alarm that goes off stays set. */
bool alarm_is_due(const struct alarms *a, unsigned name, int64_t now);
/* Something without a name is due at this time. */
void alarm_note(struct alarms *a, int64_t at);
/* Forgets what was noted, and what was set and taken back: after it a reducer
 * notes all its things anew. */
void alarm_recount(struct alarms *a);

static inline int64_t
alarm_sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

#endif
