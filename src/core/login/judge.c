/*
 * What an outcome means in the step that it is of: here are the decisions of a
 * login. None of them knows which step is next.
 */
#include "config.h"

#include "core/login/judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/mem.h"
#include "core/login/act.h"

enum {
	HELPER_POLL_MS = 3 * 1000,
	/* of a device code */
	INTERVAL_MS = 5 * 1000
};

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Replaces what an end says. */
static void
explain(struct login_flow *f, char *why)
{
	free(f->why);
	f->why = why;
}

/* --- what there is --- */

static bool
is_good(const struct login_flow *f)
{
	const struct login_facts *x = f->in->facts;

	if (!x->usable)
		return false;
	if (f->refused[0] != '\0' &&
	    (x->token == NULL || strcmp(f->refused, x->token) == 0))
		return false;
	return f->config.reason != LOGIN_SCOPE || x->has_scopes;
}

static int
judge_read(struct login_flow *f, int came)
{
	const struct login_flow_config *c = &f->config;
	const struct login_facts *x = f->in->facts;

	if (came != CAME_LOADED)
		return came;
	if (c->force && f->refused[0] == '\0' && x->token != NULL &&
	    strlen(x->token) < sizeof f->refused)
		memcpy(f->refused, x->token, strlen(x->token) + 1);
	if (is_good(f))
		return IS_GOOD;
	if (c->mode == LOGIN_CREDENTIALS)
		return NEEDS_PLACE;
	if (c->force || c->reason == LOGIN_SCOPE || !x->refresh)
		return NEEDS_USER;
	if (c->reason == LOGIN_EXPIRED && x->endpoint)
		return NEEDS_TOKEN;
	return NEEDS_PLACE;
}

/* Must the issuer that was found not see what the record has? An issuer that
 * was never noted counts as another one. Only the refresh token and the client
 * are kept from it: an access token alone goes to no authorization server but
 * to be revoked. */
static bool
is_for_another(const struct login_facts *x)
{
	if (x->issuer == NULL && !x->endpoint)
		return x->refresh || x->client != LOGIN_CLIENT_NONE;
	return !same(x->issuer, x->found_issuer);
}

static int
judge_found(struct login_flow *f, int came)
{
	const struct login_facts *x = f->in->facts;

	f->forget = FORGET_NOTHING;
	if (came != CAME_FOUND || !is_for_another(x))
		return came;
	/* A secret of the user's is for the one it was given for. */
	if ((f->config.assertion ||
		(x->client == LOGIN_CLIENT_GIVEN && x->client_as_given)) &&
	    !f->config.issuer_given) {
		explain(f,
		    xasprintf("its authorization server was %s and is %s now. "
			      "If %s is for the new one, say so with --issuer",
			x->issuer != NULL ? x->issuer : "(none)",
			x->found_issuer != NULL ? x->found_issuer : "(none)",
			f->config.assertion ? "the assertion" : "--client-id"));
		return IS_MISPLACED;
	}
	login_log(f, LEVEL_INFO, "%s now has a different authorization server",
	    f->config.host);
	f->forget = FORGET_CLIENT;
	return IS_MOVED;
}

static int
judge_adopt(struct login_flow *f, int came)
{
	if (came != CAME_DONE)
		return came;
	return f->config.mode == LOGIN_CREDENTIALS || f->in->facts->refresh ?
	    NEEDS_TOKEN :
	    NEEDS_USER;
}

/* --- a token without the user --- */

static int
judge_lock(struct login_flow *f, int came)
{
	return came == CAME_BUSY && f->in->now >= f->lock_until ? IS_LATE :
								  came;
}

/* What was read anew knows nothing of what was found before. */
static int
judge_read_locked(struct login_flow *f, int came)
{
	return came == CAME_LOADED && f->in->facts->found ?
	    judge_found(f, CAME_FOUND) :
	    came;
}

static int
decide_token(struct login_flow *f)
{
	const struct login_facts *x = f->in->facts;

	if (is_good(f))
		return IS_GOOD;
	if (f->config.mode == LOGIN_CREDENTIALS)
		return NEEDS_CREDENTIALS;
	return x->refresh && x->endpoint ? NEEDS_REFRESH : NEEDS_USER;
}

static bool
is_ours(enum login_client client)
{
	return client == LOGIN_CLIENT_REGISTERED ||
	    client == LOGIN_CLIENT_IMPORTED;
}

static int
judge_refresh(struct login_flow *f, int came)
{
	f->forget = FORGET_TOKEN;
	switch (came) {
	case CAME_LOST:
		/* The old refresh token may be spent. Many servers take it once
		 * more for a few seconds, and not later. */
		if (f->refreshed)
			return CAME_UNREADY;
		f->refreshed = true;
		login_log(f, LEVEL_INFO,
		    "the answer to the refresh was lost: it is asked for once "
		    "more");
		return came;
	case CAME_DEAD_CLIENT:
		if (is_ours(f->in->facts->client))
			f->forget = FORGET_CLIENT;
		/* FALLTHROUGH */
	case CAME_DEAD_GRANT:
		/* Under the lock nobody else can have spent it: it is dead. */
		login_log(f, LEVEL_INFO,
		    "the authorization server did not renew the token: %s",
		    f->why);
		return came;
	case CAME_PENDING:
	case CAME_SLOW_DOWN:
	case CAME_REFUSED:
		login_log(f, LEVEL_WARN,
		    "the authorization server did not renew the token: %s",
		    f->why);
		return CAME_REFUSED;
	default:
		return came;
	}
}

static int
judge_credentials(struct login_flow *f, int came)
{
	(void)f;
	switch (came) {
	case CAME_DEAD_GRANT:
	case CAME_DEAD_CLIENT:
	case CAME_PENDING:
	case CAME_SLOW_DOWN:
		return CAME_REFUSED;
	default:
		return came;
	}
}

/* --- who asks the user --- */

static int
decide_user(struct login_flow *f)
{
	return f->config.may_ask ? IS_ALLOWED : IS_FORBIDDEN;
}

static int
decide_invite(struct login_flow *f)
{
	return f->config.shared ? IS_SHARED : IS_ALONE;
}

/* Did the copy that asks open a tab for this URL, or does it now, as far as is
 * known? It may have no display. */
static bool
has_tab(const struct login_input *in)
{
	return in->wall >= in->tab_at &&
	    in->wall - in->tab_at < BOUND_OTHER_TAB_MS / 1000;
}

/* A user at our terminal has a display. A helper cannot tell without being run,
 * and may take its time. */
static int
judge_watch(struct login_flow *f, int came)
{
	const struct login_input *in = f->in;

	if (came != CAME_LOOKED)
		return came;
	if (in->shown && f->config.has_browser &&
	    (f->config.force || !has_tab(in)))
		login_act(f, DO_OPEN_FOR_OTHER);
	if (f->config.helper) {
		if (in->now < f->helped_at + HELPER_POLL_MS)
			return IS_SAME;
		f->helped_at = in->now;
		return IS_CHANGED;
	}
	if (in->stamp == f->seen)
		return IS_SAME;
	f->seen = in->stamp;
	return IS_CHANGED;
}

static int
judge_watch_read(struct login_flow *f, int came)
{
	if (came != CAME_LOADED)
		return came;
	return is_good(f) ? IS_GOOD : NEEDS_USER;
}

static int
decide_turn(struct login_flow *f)
{
	int64_t left = f->in->facts->failed_at + BOUND_FRUITLESS_MS / 1000 -
	    f->in->wall;

	if (is_good(f))
		return IS_GOOD;
	if (f->config.force || left <= 0 || left > BOUND_FRUITLESS_MS / 1000)
		return NEEDS_PLACE;
	explain(f,
	    xasprintf("the last sign-in came to nothing; the next is possible "
		      "in %lld s, or now with: mcpsplice login URL",
		(long long)left));
	return IS_FRUITLESS;
}

/* --- who we are --- */

bool
login_client_lives(const struct login_flow *f)
{
	const struct login_facts *x = f->in->facts;

	return x->client == LOGIN_CLIENT_REGISTERED &&
	    x->client_failures == 0 &&
	    (x->client_expires == 0 || x->client_expires > f->in->wall);
}

static int
judge_user_adopt(struct login_flow *f, int came)
{
	if (came != CAME_DONE)
		return came;
	if (f->config.device_first && f->in->facts->devices)
		f->config.mode = LOGIN_DEVICE;
	return f->config.mode == LOGIN_DEVICE ? NEEDS_CLIENT : NEEDS_PORT;
}

/* The listener of the login before may still be closing the port. */
static int
judge_listen(struct login_flow *f, int came)
{
	if (came != CAME_BUSY)
		return came;
	if (f->port_until == 0)
		f->port_until = f->in->now + BOUND_PORT_MS;
	return f->in->now >= f->port_until ? IS_LATE : came;
}

static int
decide_client(struct login_flow *f)
{
	const struct login_facts *x = f->in->facts;

	if (f->config.client_given)
		return IS_GIVEN;
	if (x->documents && f->config.client_document)
		return IS_DOCUMENT;
	if (login_client_lives(f) && x->client_redirect)
		return IS_KNOWN;
	return x->registers ? IS_UNKNOWN : IS_HOPELESS;
}

static int
judge_register(struct login_flow *f, int came)
{
	bool guessed = f->in->facts->guessed;

	if (guessed && f->config.unasked &&
	    (came == CAME_NO_DOCUMENT || came == CAME_REFUSED))
		return IS_UNASKED;
	if (came == CAME_NO_DOCUMENT && guessed)
		return IS_NO_OAUTH;
	if (came != CAME_NO_DOCUMENT && came != CAME_REFUSED)
		return came;
	explain(f,
	    xasprintf("the authorization server did not register a client: "
		      "%s. Register one by hand and pass --client-id",
		f->why));
	return CAME_REFUSED;
}

/* --- the user --- */

static int
decide_ready(struct login_flow *f)
{
	if (f->config.mode != LOGIN_DEVICE)
		return NEEDS_BROWSER;
	return f->in->facts->devices ? NEEDS_DEVICE : IS_HOPELESS;
}

static int
judge_authorize(struct login_flow *f, int came)
{
	return came == CAME_DONE && f->config.has_browser ? IS_ALLOWED : came;
}

/* That no browser ever came back may be because the server has forgotten our
 * client, which only the page in the browser says: the next login registers
 * anew (doc/protocol.md 8.6). */
static int
judge_silence(struct login_flow *f, int came)
{
	return came == CAME_TIMEOUT &&
		f->in->facts->client == LOGIN_CLIENT_REGISTERED ?
	    IS_SILENT :
	    came;
}

static int
judge_client_lock(struct login_flow *f, int came)
{
	return judge_silence(f, judge_lock(f, came));
}

static int
judge_redirect(struct login_flow *f, int came)
{
	if (came != CAME_CODE && came != CAME_DENIED &&
	    came != CAME_BAD_SCOPE && came != CAME_FOREIGN)
		return judge_silence(f, came);
	f->arrived = (enum login_outcome)came;
	return IS_BACK;
}

/* Three tabs, then one each five minutes: a server that asks without end has
 * its URL shown, and no more. */
static int
judge_tab(struct login_flow *f, int came)
{
	int64_t third = f->in->facts->third_tab, wall = f->in->wall;

	if (came != CAME_LOCKED)
		return judge_redirect(f, came);
	if (f->config.force || wall < third ||
	    wall - third >= BOUND_TABS_MS / 1000)
		return came;
	login_log(f, LEVEL_WARN,
	    "too many browser tabs were opened recently: open the URL "
	    "yourself");
	login_act(f, DO_UNLOCK_TAB);
	return IS_CROWDED;
}

static int
decide_returned(struct login_flow *f)
{
	f->forget = FORGET_NOTHING;
	return (int)f->arrived;
}

/* A client of ours that is dead is registered anew, once. */
static int
judge_exchange(struct login_flow *f, int came)
{
	const struct login_facts *x = f->in->facts;

	if (came != CAME_DEAD_CLIENT || !is_ours(x->client) || f->anew ||
	    !x->registers)
		return judge_credentials(f, came);
	login_log(f, LEVEL_INFO,
	    "the authorization server no longer knows the client: registering "
	    "a new one");
	f->anew = true;
	f->forget = FORGET_CLIENT;
	return IS_FORGOTTEN;
}

static int
judge_device(struct login_flow *f, int came)
{
	int64_t life = f->in->life_s, interval = f->in->interval_s;

	if (came != CAME_CODE_SHOWN)
		return came;
	f->code_until = f->in->wall +
	    (life > 0 && life < BOUND_DEVICE_LIFE_MS / 1000 ?
		    life :
		    BOUND_DEVICE_LIFE_MS / 1000);
	f->interval_ms = interval <= 0             ? INTERVAL_MS :
	    interval > BOUND_DEVICE_POLL_MS / 1000 ? BOUND_DEVICE_POLL_MS :
						     interval * 1000;
	return came;
}

static void
poll_in(struct login_flow *f, int64_t ms)
{
	f->interval_ms = ms > BOUND_DEVICE_POLL_MS ? BOUND_DEVICE_POLL_MS : ms;
}

/* Whatever is of the moment is waited for as long as the code is good. A server
 * that is in trouble is asked more and more seldom (RFC 8628 3.5). */
static int
judge_poll(struct login_flow *f, int came)
{
	switch (came) {
	case CAME_SLOW_DOWN:
		poll_in(f, f->interval_ms + INTERVAL_MS);
		break;
	case CAME_TRANSIENT:
	case CAME_UNREADY:
	case CAME_IMPOSSIBLE:
		poll_in(f, f->interval_ms * 2);
		break;
	case CAME_PENDING:
		break;
	default:
		return judge_credentials(f, came);
	}
	return f->in->wall < f->code_until ? (int)CAME_PENDING : IS_LATE;
}

/* --- a token was had --- */

static int
decide_got(struct login_flow *f)
{
	return (f->held & LOCK_TOKEN) != 0 ? IS_LOCKED : IS_UNLOCKED;
}

/* Of the steps that have no action, and so no outcome. */
static int (*const decisions[LOGIN_STEPS])(struct login_flow *f) = {
	[STEP_TOKEN] = decide_token,
	[STEP_USER] = decide_user,
	[STEP_INVITE] = decide_invite,
	[STEP_TURN] = decide_turn,
	[STEP_CLIENT] = decide_client,
	[STEP_READY] = decide_ready,
	[STEP_RETURNED] = decide_returned,
	[STEP_GOT] = decide_got,
};

/* Of the others, where the outcome does not say all. */
static int (*const judges[LOGIN_STEPS])(struct login_flow *f, int came) = {
	[STEP_READ] = judge_read,
	[STEP_PLACE] = judge_found,
	[STEP_ADOPT] = judge_adopt,
	[STEP_LOCK] = judge_lock,
	[STEP_READ_LOCKED] = judge_read_locked,
	[STEP_CREDENTIALS] = judge_credentials,
	[STEP_REFRESH] = judge_refresh,
	[STEP_WATCH] = judge_watch,
	[STEP_WATCH_READ] = judge_watch_read,
	[STEP_USER_PLACE] = judge_found,
	[STEP_USER_ADOPT] = judge_user_adopt,
	[STEP_LISTEN] = judge_listen,
	[STEP_REGISTER] = judge_register,
	[STEP_REGISTER_BY_NAME] = judge_register,
	[STEP_CLIENT_LOCK] = judge_client_lock,
	[STEP_AUTHORIZE] = judge_authorize,
	[STEP_TAB] = judge_tab,
	[STEP_REDIRECT] = judge_redirect,
	[STEP_EXCHANGE] = judge_exchange,
	[STEP_DEVICE] = judge_device,
	[STEP_POLL] = judge_poll,
	[STEP_SILENT_LOCK] = judge_lock,
	[STEP_GOT_LOCK] = judge_lock,
};

int
login_judge(struct login_flow *f, int came)
{
	if (decisions[f->step] != NULL)
		return decisions[f->step](f);
	return judges[f->step] == NULL ? came : judges[f->step](f, came);
}
