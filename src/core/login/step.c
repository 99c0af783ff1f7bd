/*
 * The one function that moves a login on: what came is judged, the table says
 * which step is next, and its action goes out. A step that only decides is
 * over at once.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/mem.h"
#include "core/login/act.h"
#include "core/login/invariants.h"
#include "core/login/judge.h"
#include "core/login/table.h"

enum { JITTER_MS = 64 };

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* --- what a step does --- */

/* Adds what is done at once, unless there is nothing to do. */
static void
act_first(struct login_flow *f, enum login_action_kind kind)
{
	switch (kind) {
	case DO_TIMEOUT:
		if (f->config.timeout_ms <= 0)
			return;
		login_act(f, kind)->ms = f->config.timeout_ms;
		f->timed = true;
		return;
	case DO_TIMEOUT_OFF:
		if (f->timed)
			login_act(f, kind);
		f->timed = false;
		return;
	case DO_UNLOCK_TOKEN:
		if ((f->held & LOCK_TOKEN) != 0)
			login_act(f, kind);
		return;
	case DO_NOTE_SUCCESS:
	case DO_NOTE_FAILURE: /* only the copy that asks notes anything */
		if ((f->held & LOCK_LOGIN) != 0)
			login_act(f, kind);
		return;
	default:
		login_act(f, kind);
	}
}

/* Adds the action of the step. */
static void
act(struct login_flow *f)
{
	const struct login_step_row *row = login_step_row(f->step);
	struct login_action *a = login_act(f, row->action);

	a->ms = f->step == STEP_DEVICE_WAIT ? f->interval_ms : row->ms;
	a->interactive = f->step == STEP_USER_PLACE &&
	    f->config.mode != LOGIN_DEVICE;
	if (row->action == DO_LISTEN)
		a->again = login_client_lives(f);
	if (f->step == STEP_ADOPT || f->step == STEP_ADOPT_LOCKED ||
	    f->step == STEP_USER_ADOPT || f->step == STEP_FORGET ||
	    f->step == STEP_ANEW)
		a->forget = f->forget;
}

static void
begin(struct login_flow *f, enum login_step step)
{
	const struct login_step_row *row = login_step_row(step);
	size_t i;

	f->step = step;
	if (row->action == DO_LOCK_TOKEN)
		f->lock_until = f->in->now + BOUND_TOKEN_LOCK_MS;
	for (i = 0; i < COUNT(row->first); i++)
		if (row->first[i] != DO_NOTHING)
			act_first(f, row->first[i]);
}

/* Somebody else has what the step wants: it is tried again in a while. */
static void
try_again(struct login_flow *f)
{
	const struct login_step_row *row = login_step_row(f->step);
	struct login_action *a = login_act(f, DO_WAIT);

	a->ms = row->again_ms;
	/* Copies that began together do not stay together. */
	if (row->action == DO_LOCK_TOKEN)
		a->ms += f->in->random % JITTER_MS;
	f->again = true;
}

static void
end(struct login_flow *f)
{
	const struct login_end_row *row = login_end_row(f->step);
	struct login_action *a = login_act(f, DO_END);
	const char *text = row->why ? f->why : row->text;

	a->end = row->end;
	a->text = text == NULL ? NULL : xstrdup(text);
	if (row->why)
		a->again_ms = f->in->again_ms;
}

/* --- what came --- */

/* Notes what counts whatever step is next. */
static void
take(struct login_flow *f, const struct login_input *in)
{
	enum login_action_kind action = login_step_row(f->step)->action;

	f->in = in;
	if (in->why != NULL) {
		free(f->why);
		f->why = xstrdup(in->why);
	}
	if (in->came == CAME_LOCKED)
		f->held |= action == DO_LOCK_TOKEN ? LOCK_TOKEN :
		    action == DO_LOCK_LOGIN        ? LOCK_LOGIN :
						     LOCK_TAB;
}

/* What changes no step. */
static bool
take_aside(struct login_flow *f, const struct login_input *in)
{
	switch (in->came) {
	case CAME_BROWSER_FAILED:
		login_act(f, DO_UNLOCK_TAB);
		login_log(f, LEVEL_WARN,
		    "the browser cannot be started: open the URL yourself");
		return true;
	case CAME_ORPHANED:
		/* Nobody is asked who was not asked yet. */
		if ((f->held & LOCK_LOGIN) == 0)
			f->config.may_ask = false;
		return true;
	default:
		return false;
	}
}

/* Goes on until there is something to wait for, or to the end. */
static void
go_on(struct login_flow *f, int came)
{
	enum login_step next;

	do {
		came = login_judge(f, came);
		next = login_step_after(f->step, came);
		if (next == f->step) {
			try_again(f);
			return;
		}
		f->again = false;
		begin(f, next);
		if (login_end_row(next) != NULL) {
			end(f);
			return;
		}
		came = CAME_DONE;
	} while (login_step_row(next)->action == DO_NOTHING);
	act(f);
}

void
login_flow_step(struct login_flow *f, const struct login_input *in)
{
	assert(login_end_row(f->step) == NULL);
	if (!take_aside(f, in)) {
		take(f, in);
		if (f->again && in->came == CAME_TIME) {
			f->again = false;
			act(f);
		} else {
			go_on(f, (int)in->came);
		}
		f->in = NULL;
	}
	login_sane(f);
}

bool
login_flow_awaits_redirect(const struct login_flow *f)
{
	return f->step == STEP_TAB || f->step == STEP_REDIRECT;
}

bool
login_flow_is_needed(const struct login_flow *f)
{
	return f->config.shared && (f->held & (LOCK_TOKEN | LOCK_LOGIN)) != 0;
}

struct login_flow *
login_flow_new(const struct login_flow_config *config)
{
	struct login_flow *f = xcalloc(1, sizeof *f);

	f->config = *config;
	if (config->rejected != NULL &&
	    strlen(config->rejected) < sizeof f->refused)
		memcpy(f->refused, config->rejected,
		    strlen(config->rejected) + 1);
	f->step = STEP_START;
	act(f);
	login_sane(f);
	return f;
}

void
login_flow_free(struct login_flow *f)
{
	if (f == NULL)
		return;
	login_act_free(f);
	free(f->why);
	free(f);
}
