/* The queue of actions: filled in a step, emptied by the shell after it. */
#include "config.h"

#include "core/login/act.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct login_action *
login_act(struct login_flow *f, enum login_action_kind kind)
{
	struct login_action *a;

	if (f->next == f->queued)
		f->next = f->queued = 0;
	assert(f->queued < LOGIN_QUEUE);
	a = &f->queue[f->queued++];
	*a = (struct login_action){ .kind = kind, .again_ms = -1 };
	if (kind == DO_UNLOCK_TOKEN)
		f->held &= ~(unsigned)LOCK_TOKEN;
	else if (kind == DO_UNLOCK_TAB)
		f->held &= ~(unsigned)LOCK_TAB;
	return a;
}

void
login_log(struct login_flow *f, enum log_level level, const char *fmt, ...)
{
	struct login_action *a = login_act(f, DO_LOG);
	va_list ap;

	a->level = level;
	va_start(ap, fmt);
	a->text = xvasprintf(fmt, ap);
	va_end(ap);
}

/* The text of the action that was taken last is the flow's to free. */
bool
login_flow_next(struct login_flow *f, struct login_action *action)
{
	free(f->told);
	f->told = NULL;
	if (f->next == f->queued)
		return false;
	*action = f->queue[f->next++];
	f->told = action->text;
	return true;
}

void
login_act_free(struct login_flow *f)
{
	struct login_action a;

	while (login_flow_next(f, &a))
		continue;
}
