/*
 * The alarms of one reducer: the times at which it wants to be called again, in
 * the milliseconds of its inputs. The name of an alarm is a small number that
 * the reducer chooses. Things that come and go (a call, an attempt) keep their
 * own times and only report them here with alarm_note.
 */
#ifndef MCPSPLICE_BASE_ALARM_H
#define MCPSPLICE_BASE_ALARM_H

#include <stdbool.h>
#include <stdint.h>

#define ALARM_NEVER INT64_MAX

enum { ALARMS = 16 }; /* the most names that a reducer can have */

struct alarms {
	int64_t at[ALARMS];
	int64_t soonest; /* may be earlier than any alarm that is set */
};

/* Sets all alarms to ALARM_NEVER. */
void alarm_init(struct alarms *a);
/* Sets one alarm; ALARM_NEVER switches it off. soonest is not raised before
 * alarm_recount. */
void alarm_set(struct alarms *a, unsigned name, int64_t at);
/* Has the alarm a time other than ALARM_NEVER? */
bool alarm_is_set(const struct alarms *a, unsigned name);
/* Is the time of this alarm reached? An alarm that goes off stays set. */
bool alarm_is_due(const struct alarms *a, unsigned name, int64_t now);
/* Lowers soonest to at, for a thing that has no alarm of its own. */
void alarm_note(struct alarms *a, int64_t at);
/* Computes soonest again from the alarms alone. After it the reducer reports
 * the times of all its things again with alarm_note. */
void alarm_recount(struct alarms *a);

static inline int64_t
alarm_sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

#endif
