/*
 * Checks the whole state at the end of a step, in a build that was configured
 * with --enable-debug or --enable-sanitizers.
 */
#include "config.h"

#include "core/login/invariants.h"

#ifdef MCPSPLICE_SANE

#undef NDEBUG
#include <assert.h>
#include <stddef.h>

#include "core/login/table.h"

/* Only the last action is waited for, or ends the flow. */
static void
check_queue(const struct login_flow *f)
{
	unsigned i;

	assert(f->next <= f->queued && f->queued <= LOGIN_QUEUE);
	for (i = f->next; i + 1 < f->queued; i++) {
		assert(!login_is_awaited(f->queue[i].kind));
		assert(f->queue[i].kind != DO_END);
	}
}

/* The locks that the step needs are held, and no others but those it lets
 * be. Without a store nobody has the login lock. */
static void
check_locks(const struct login_flow *f)
{
	const struct login_step_row *row = login_step_row(f->step);
	unsigned needs = row->needs;

	if (!f->config.shared) {
		assert((f->held & LOCK_LOGIN) == 0);
		needs &= ~(unsigned)LOCK_LOGIN;
	}
	assert((f->held & needs) == needs);
	assert((f->held & ~(row->needs | row->lets)) == 0);
}

void
login_sane(const struct login_flow *f)
{
	const struct login_step_row *row = login_step_row(f->step);

	assert(f->in == NULL);
	check_queue(f);
	if (login_end_row(f->step) != NULL) {
		assert(!f->again);
		assert(f->queued > 0);
		assert(f->queue[f->queued - 1].kind == DO_END);
		return;
	}
	assert(row->action != DO_NOTHING);
	assert(!f->again || row->again_ms > 0);
	check_locks(f);
}

#endif
