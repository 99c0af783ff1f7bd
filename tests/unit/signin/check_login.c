/*
 * The order of a login: schedules of what came and what is to be done then,
 * in tests/play/schedules/login.txt, each a test with a name (CK_RUN_CASE=NAME
 * plays one of them); and logins in which anything comes that may come.
 */
#include "config.h"

#include "play/login_parts.h"
#include "play/suite.h"
#include "unit/unit.h"

/* --- anything --- */

enum { LOGINS = 20000, INPUTS = 400 };

/* What may come of each action; LAST ends a row. */
#define LAST CAME_OUTCOMES
#define POSTED                                                                 \
	CAME_UNABLE, CAME_IMPOSSIBLE, CAME_UNREADY, CAME_TOKEN,                \
	    CAME_DEAD_GRANT, CAME_DEAD_CLIENT, CAME_PENDING, CAME_SLOW_DOWN,   \
	    CAME_TRANSIENT, CAME_REFUSED, LAST
#define ASKED CAME_IMPOSSIBLE, CAME_UNREADY, CAME_REFUSED
static const enum login_outcome may_come[DO_TIMEOUT][16] = {
	[DO_WAIT] = { CAME_TIME, LAST },
	[DO_LOAD] = { CAME_LOADED, CAME_LOADED, CAME_LOADED, CAME_BROKEN,
	    LAST },
	[DO_DISCOVER] = { CAME_FOUND, CAME_FOUND, CAME_FOUND, CAME_NOT_NOW,
	    CAME_BROKEN, CAME_TIME, LAST },
	[DO_ADOPT] = { CAME_DONE, LAST },
	[DO_SAVE] = { CAME_SAVED, CAME_SAVED, CAME_UNKEPT, LAST },
	[DO_FORGET] = { CAME_DONE, LAST },
	[DO_LOCK_TOKEN] = { CAME_LOCKED, CAME_LOCKED, CAME_BUSY, CAME_BROKEN,
	    LAST },
	[DO_LOCK_LOGIN] = { CAME_LOCKED, CAME_LOCKED, CAME_BUSY, CAME_BROKEN,
	    LAST },
	[DO_LOCK_TAB] = { CAME_LOCKED, CAME_LOCKED, CAME_BUSY, CAME_BROKEN,
	    LAST },
	[DO_WATCH] = { CAME_LOOKED, LAST },
	[DO_CLEAR] = { CAME_DONE, CAME_DONE, CAME_BROKEN, LAST },
	[DO_COUNT_FAILURE] = { CAME_DONE, LAST },
	[DO_LISTEN] = { CAME_DONE, CAME_DONE, CAME_BUSY, CAME_BROKEN, LAST },
	[DO_TAKE_GIVEN] = { CAME_DONE, LAST },
	[DO_TAKE_DOCUMENT] = { CAME_DONE, LAST },
	[DO_REGISTER] = { CAME_REGISTERED, CAME_REGISTERED, CAME_BAD_REDIRECT,
	    CAME_NO_DOCUMENT, ASKED, LAST },
	[DO_REGISTER_BY_NAME] = { CAME_REGISTERED, CAME_NO_DOCUMENT, ASKED,
	    LAST },
	[DO_REFRESH] = { CAME_LOST, CAME_NO_DOCUMENT, POSTED },
	[DO_CREDENTIALS] = { CAME_TIME, CAME_NO_IDENTITY, CAME_NOT_NOW,
	    CAME_BROKEN, POSTED },
	[DO_AUTHORIZE] = { CAME_DONE, CAME_DONE, CAME_UNABLE, LAST },
	[DO_OPEN] = { CAME_DONE, LAST },
	[DO_EXCHANGE] = { POSTED },
	[DO_DEVICE] = { CAME_CODE_SHOWN, CAME_CODE_SHOWN, CAME_UNABLE, ASKED,
	    LAST },
	[DO_POLL] = { POSTED },
};

struct any {
	uint64_t seed;
	struct login g;
	struct login_facts facts; /* of the last input */
	struct login_wish config;
	int64_t now;
	unsigned inputs;
	enum login_action_kind awaited; /* DO_NOTHING: none */
	bool endless;                   /* the wait is */
	bool timed;
	bool token, login; /* locks as they are told */
};

static unsigned
any_of(struct any *x, unsigned n)
{
	x->seed = x->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(x->seed >> 33) % n;
}

static bool
maybe(struct any *x)
{
	return any_of(x, 2) == 0;
}

static const char *
any_text(struct any *x, const char *one)
{
	static const char *const texts[] = { NULL, "a", "b" };

	return maybe(x) ? one : texts[any_of(x, 3)];
}

static struct login_facts
any_facts(struct any *x)
{
	return (struct login_facts){
		.token = any_text(x, NULL),
		.usable = any_of(x, 8) == 0,
		.has_scopes = maybe(x),
		.refresh = maybe(x),
		.endpoint = maybe(x),
		.issuer = any_text(x, "a"),
		.client = (enum login_client)any_of(x, 5),
		.client_as_given = maybe(x),
		.client_expires = any_of(x, 3),
		.client_failures = any_of(x, 2),
		.client_redirect = maybe(x),
		.found = maybe(x),
		.found_issuer = any_text(x, "a"),
		.guessed = maybe(x),
		.registers = any_of(x, 4) != 0,
		.documents = maybe(x),
		.devices = any_of(x, 4) != 0,
		.pkce_untold = any_of(x, 4) == 0,
		.openid = maybe(x),
		.failed_at = any_of(x, 9) == 0 ? 1000 : 0,
		.third_tab = any_of(x, 9) == 0 ? 1000 : 0,
	};
}

/* Returns a random outcome: of the action, or an unasked one. */
static enum login_outcome
any_outcome(struct any *x)
{
	static const enum login_outcome redirects[] = { CAME_CODE, CAME_CODE,
		CAME_DENIED, CAME_BAD_SCOPE, CAME_FOREIGN };
	const enum login_outcome *row = may_come[x->awaited];
	unsigned n = 0;

	if (any_of(x, 200) == 0)
		return CAME_CANCELLED;
	if (any_of(x, 30) == 0) {
		login_orphan(&x->g);
		return CAME_BROWSER_FAILED;
	}
	if (x->g.awaits_redirect && (x->endless || maybe(x)) &&
	    (!x->timed || any_of(x, 4) != 0))
		return redirects[any_of(x, COUNT(redirects))];
	if (x->timed && (x->endless || any_of(x, 30) == 0)) {
		x->timed = false;
		return CAME_TIMEOUT;
	}
	while (row[n] != LAST)
		n++;
	return row[any_of(x, n)];
}

/* Checks an action against what was told before. */
static void
act(const struct login_action *a, void *arg)
{
	struct any *x = arg;

	if (login_is_awaited(a->kind)) {
		ck_assert_int_eq(x->awaited, DO_NOTHING);
		x->awaited = a->kind;
		x->endless = a->kind == DO_WAIT && a->ms < 0;
	}
	switch (a->kind) {
	case DO_REFRESH:
	case DO_CREDENTIALS:
	case DO_SAVE:
		ck_assert(x->token);
		break;
	case DO_CLEAR:
	case DO_LISTEN:
	case DO_REGISTER:
	case DO_AUTHORIZE:
	case DO_OPEN:
	case DO_EXCHANGE:
	case DO_DEVICE:
	case DO_NOTE_SUCCESS:
	case DO_NOTE_FAILURE:
		ck_assert(x->login || !x->config.shared);
		ck_assert(x->config.mode != LOGIN_CREDENTIALS);
		break;
	case DO_LOCK_TOKEN:
		ck_assert(!x->token);
		break;
	case DO_UNLOCK_TOKEN:
		ck_assert(x->token);
		x->token = false;
		break;
	case DO_TIMEOUT:
		x->timed = true;
		break;
	case DO_TIMEOUT_OFF:
		x->timed = false;
		break;
	default:
		break;
	}
}

/* Stops the login when it has gone on for too long. */
static void
wait_for_input(struct login *g, void *arg)
{
	struct any *x = arg;

	ck_assert_int_ne(x->awaited, DO_NOTHING);
	x->facts = any_facts(x);
	login_parts_fill(g, &x->facts);
	g->in = (struct login_input){
		.came = x->inputs++ < INPUTS ? any_outcome(x) : CAME_STOPPED,
		.now = x->now += any_of(x, 5000),
		.wall = 1000 + x->now / 1000,
		.random = any_of(x, 1000),
		.why = "why",
		.again_ms = -1,
		.helper = x->config.helper,
		.stamp = any_of(x, 3),
		.shown = maybe(x),
		.life_s = any_of(x, 100),
		.interval_s = any_of(x, 100),
	};
	g->in.soon = maybe(x) &&
	    (g->in.came == CAME_UNREADY || g->in.came == CAME_LOST ||
		g->in.came == CAME_NOT_NOW);
	if (g->in.came == CAME_LOCKED && x->awaited == DO_LOCK_TOKEN)
		x->token = true;
	if (g->in.came == CAME_LOCKED && x->awaited == DO_LOCK_LOGIN)
		x->login = true;
	if (g->in.came != CAME_BROWSER_FAILED)
		x->awaited = DO_NOTHING;
}

static unsigned
any_login(uint64_t seed)
{
	struct any x = { .seed = seed };
	const struct login_player player = { act, wait_for_input, &x };
	struct login_result r;

	x.config = (struct login_wish){
		.mode = (enum login_mode)any_of(&x, 3),
		.reason = (enum login_reason)any_of(&x, 4),
		.may_ask = any_of(&x, 8) != 0,
		.force = any_of(&x, 4) == 0,
		.shared = any_of(&x, 4) != 0,
		.helper = any_of(&x, 4) == 0,
		.client_given = any_of(&x, 4) == 0,
		.client_document = any_of(&x, 4) == 0,
		.issuer_given = maybe(&x),
		.has_browser = maybe(&x),
		.assertion = maybe(&x),
		.device_first = maybe(&x),
		.timeout_ms = 300000,
		.retry_ms = maybe(&x) ? 5000 : 0,
	};
	login_parts_begin(&x.g, &x.config, &player);
	r = login_flow(&x.g);
	login_parts_end(&x.g);
	return r.end != LOGIN_STOPPED;
}

/* The locks are held where they must be, and a login ends, whatever comes. */
START_TEST(anything_may_come)
{
	unsigned seed, ended = 0;

	for (seed = 0; seed < LOGINS; seed++)
		ended += any_login(seed);
	ck_assert_uint_gt(ended, LOGINS - LOGINS / 100);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("login");
	TCase *tc = tcase_create("anything");

	suite_add_schedules(suite, "login");
	tcase_add_test(tc, anything_may_come);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
