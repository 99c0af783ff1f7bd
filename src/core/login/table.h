/* The order of a login, as data. */
#ifndef MCPSPLICE_CORE_LOGIN_TABLE_H
#define MCPSPLICE_CORE_LOGIN_TABLE_H

#include "core/login/state.h"

/* What a step does. */
struct login_step_row {
	enum login_action_kind first[3]; /* at once, when it begins */
	enum login_action_kind action;   /* DO_NOTHING: it only decides */
	int64_t ms;                      /* of the action; -1: no time */
	int64_t again_ms;     /* until it is tried again, after CAME_BUSY */
	unsigned needs, lets; /* enum login_lock: that are, or may be held */
};

/* What is told at an end. */
struct login_end_row {
	enum login_end end;
	bool why;         /* what came said why */
	const char *text; /* else this; NULL: there is nothing to say */
};

const struct login_step_row *login_step_row(enum login_step step);
/* NULL: it is no end. */
const struct login_end_row *login_end_row(enum login_step step);
/* The step after this one, when it came to this: an enum login_outcome or
 * login_finding. The step itself: its action is to be tried again. */
enum login_step login_step_after(enum login_step step, int came);

#endif
