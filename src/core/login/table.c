/*
 * The order of a login. First what each step does, then which step follows,
 * then what is told at the ends.
 *
 * The token lock is held for one request, the login lock for all that has to
 * do with a user. What is read under a lock counts; what was read before may
 * be old.
 */
#include "config.h"

#include "core/login/table.h"

#include <assert.h>
#include <stddef.h>

#include "base/bounds.h"

/* clang-format off */

enum {
	TOKEN = LOCK_TOKEN,
	LOGIN = LOCK_LOGIN,
	BOTH = LOCK_TOKEN | LOCK_LOGIN,
	TAB = LOCK_TAB
};

static const struct login_step_row steps[LOGIN_STEPS] = {
	[STEP_START] = { .action = DO_WAIT },
	[STEP_READ] = { .action = DO_LOAD },
	[STEP_PLACE] = { .action = DO_DISCOVER, .ms = BOUND_DISCOVERY_MS },
	[STEP_ADOPT] = { .action = DO_ADOPT },

	[STEP_LOCK] = { .action = DO_LOCK_TOKEN, .again_ms = 100 },
	[STEP_READ_LOCKED] = { .action = DO_LOAD, .needs = TOKEN },
	[STEP_ADOPT_LOCKED] = { .action = DO_ADOPT, .needs = TOKEN },
	[STEP_TOKEN] = { .needs = TOKEN },
	[STEP_CREDENTIALS] = { .action = DO_CREDENTIALS, .ms = BOUND_GRANT_MS,
		.needs = TOKEN },
	[STEP_REFRESH] = { .action = DO_REFRESH, .again_ms = 200,
		.needs = TOKEN },
	[STEP_FORGET] = { .action = DO_SAVE, .needs = TOKEN },

	[STEP_USER] = { .first = { DO_UNLOCK_TOKEN } },
	[STEP_INVITE] = { .first = { DO_TIMEOUT } },
	[STEP_ASK] = { .action = DO_LOCK_LOGIN },
	[STEP_WATCH] = { .action = DO_WATCH },
	[STEP_WATCH_READ] = { .action = DO_LOAD },
	[STEP_WATCH_WAIT] = { .action = DO_WAIT, .ms = 200 },
	[STEP_TURN_READ] = { .first = { DO_UNLOCK_TAB, DO_CLOSE_BROWSER },
		.action = DO_LOAD, .needs = LOGIN },
	[STEP_TURN] = { .needs = LOGIN },
	[STEP_CLEAR] = { .action = DO_CLEAR, .needs = LOGIN },

	[STEP_USER_PLACE] = { .action = DO_DISCOVER, .ms = BOUND_DISCOVERY_MS,
		.needs = LOGIN },
	[STEP_USER_ADOPT] = { .action = DO_ADOPT, .needs = LOGIN },
	[STEP_LISTEN] = { .action = DO_LISTEN, .again_ms = 200,
		.needs = LOGIN },
	[STEP_CLIENT] = { .needs = LOGIN },
	[STEP_TAKE_GIVEN] = { .action = DO_TAKE_GIVEN, .needs = LOGIN },
	[STEP_TAKE_DOCUMENT] = { .action = DO_TAKE_DOCUMENT, .needs = LOGIN },
	[STEP_REGISTER] = { .action = DO_REGISTER, .needs = LOGIN },
	[STEP_REGISTER_BY_NAME] = { .action = DO_REGISTER_BY_NAME,
		.needs = LOGIN },
	[STEP_CLIENT_LOCK] = { .action = DO_LOCK_TOKEN, .again_ms = 100,
		.needs = LOGIN },
	[STEP_CLIENT_SAVE] = { .action = DO_SAVE, .needs = BOTH },
	[STEP_READY] = { .first = { DO_UNLOCK_TOKEN }, .needs = LOGIN },

	[STEP_AUTHORIZE] = { .action = DO_AUTHORIZE, .needs = LOGIN },
	[STEP_TAB] = { .action = DO_LOCK_TAB, .again_ms = 200,
		.needs = LOGIN },
	[STEP_OPEN] = { .action = DO_OPEN, .needs = LOGIN, .lets = TAB },
	[STEP_REDIRECT] = { .action = DO_WAIT, .ms = -1, .needs = LOGIN,
		.lets = TAB },
	[STEP_ARRIVED] = { .action = DO_WAIT, .needs = LOGIN, .lets = TAB },
	[STEP_RETURNED] = { .first = { DO_TIMEOUT_OFF, DO_CLOSE_LISTENER,
		DO_UNLOCK_TAB }, .needs = LOGIN },
	[STEP_EXCHANGE] = { .action = DO_EXCHANGE, .needs = LOGIN },
	[STEP_ANEW] = { .first = { DO_TIMEOUT }, .action = DO_FORGET,
		.needs = LOGIN },

	[STEP_DEVICE] = { .action = DO_DEVICE, .needs = LOGIN },
	[STEP_DEVICE_WAIT] = { .action = DO_WAIT, .needs = LOGIN },
	[STEP_POLL] = { .action = DO_POLL, .needs = LOGIN },

	[STEP_SILENT] = { .action = DO_COUNT_FAILURE, .needs = LOGIN,
		.lets = TAB },
	[STEP_SILENT_LOCK] = { .action = DO_LOCK_TOKEN, .again_ms = 100,
		.needs = LOGIN, .lets = TAB },
	[STEP_SILENT_SAVE] = { .action = DO_SAVE, .needs = BOTH, .lets = TAB },

	[STEP_GOT] = { .first = { DO_TIMEOUT_OFF, DO_NOTE_SUCCESS },
		.lets = BOTH },
	[STEP_GOT_LOCK] = { .action = DO_LOCK_TOKEN, .again_ms = 100,
		.needs = LOGIN },
	[STEP_KEEP] = { .action = DO_SAVE, .needs = TOKEN, .lets = LOGIN },

	[END_USER_LATER] = { .first = { DO_NOTE_FAILURE } },
	[END_USER_FAILED] = { .first = { DO_NOTE_FAILURE } },
	[END_FOREIGN] = { .first = { DO_NOTE_FAILURE } },
	[END_CODE_OVER] = { .first = { DO_NOTE_FAILURE } },
	[END_TIMEOUT] = { .first = { DO_NOTE_FAILURE } },
	[END_CANCELLED] = { .first = { DO_NOTE_FAILURE } },
};

static const struct {
	enum login_step step;
	int came;
	enum login_step next;
} order[] = {
	{ STEP_START,            CAME_TIME,         STEP_READ },
	{ STEP_READ,             IS_GOOD,           END_GOOD },
	{ STEP_READ,             NEEDS_TOKEN,       STEP_LOCK },
	{ STEP_READ,             NEEDS_PLACE,       STEP_PLACE },
	{ STEP_READ,             NEEDS_USER,        STEP_USER },

	/* A server that has moved to another issuer must not see what was for
	 * the one before: it is asked before any refresh (doc/protocol.md
	 * 8.3). */
	{ STEP_PLACE,            CAME_FOUND,        STEP_ADOPT },
	{ STEP_PLACE,            IS_MOVED,          STEP_ADOPT },
	{ STEP_PLACE,            CAME_TIME,         END_SLOW },
	{ STEP_ADOPT,            NEEDS_TOKEN,       STEP_LOCK },
	{ STEP_ADOPT,            NEEDS_USER,        STEP_USER },

	/* A token without the user. Another copy may have had it while we
	 * waited for the lock. */
	{ STEP_LOCK,             CAME_BUSY,         STEP_LOCK },
	{ STEP_LOCK,             CAME_LOCKED,       STEP_READ_LOCKED },
	{ STEP_READ_LOCKED,      CAME_LOADED,       STEP_TOKEN },
	{ STEP_READ_LOCKED,      CAME_FOUND,        STEP_ADOPT_LOCKED },
	{ STEP_READ_LOCKED,      IS_MOVED,          STEP_ADOPT_LOCKED },
	{ STEP_ADOPT_LOCKED,     CAME_DONE,         STEP_TOKEN },
	{ STEP_TOKEN,            IS_GOOD,           END_GOOD },
	{ STEP_TOKEN,            NEEDS_CREDENTIALS, STEP_CREDENTIALS },
	{ STEP_TOKEN,            NEEDS_REFRESH,     STEP_REFRESH },
	{ STEP_TOKEN,            NEEDS_USER,        STEP_USER },
	{ STEP_CREDENTIALS,      CAME_TOKEN,        STEP_GOT },
	{ STEP_CREDENTIALS,      CAME_TRANSIENT,    END_LATER },
	{ STEP_CREDENTIALS,      CAME_REFUSED,      END_FAILED },
	{ STEP_CREDENTIALS,      CAME_NO_IDENTITY,  END_NO_IDENTITY },
	{ STEP_CREDENTIALS,      CAME_TIME,         END_SLOW_TOKEN },
	{ STEP_REFRESH,          CAME_TOKEN,        STEP_GOT },
	{ STEP_REFRESH,          CAME_LOST,         STEP_REFRESH },
	{ STEP_REFRESH,          CAME_DEAD_CLIENT,  STEP_FORGET },
	{ STEP_REFRESH,          CAME_DEAD_GRANT,   STEP_FORGET },
	{ STEP_REFRESH,          CAME_UNREACHED,    END_UNREACHED },
	{ STEP_REFRESH,          CAME_TRANSIENT,    END_LATER },
	{ STEP_REFRESH,          CAME_REFUSED,      STEP_USER },
	{ STEP_FORGET,           CAME_SAVED,        STEP_USER },
	{ STEP_FORGET,           CAME_UNKEPT,       STEP_USER },

	/* Who asks the user: one copy. The others watch it. */
	{ STEP_USER,             IS_FORBIDDEN,      END_NO_USER },
	{ STEP_USER,             IS_ALLOWED,        STEP_INVITE },
	{ STEP_INVITE,           IS_ALONE,          STEP_TURN },
	{ STEP_INVITE,           IS_SHARED,         STEP_ASK },
	{ STEP_ASK,              CAME_BUSY,         STEP_WATCH },
	{ STEP_WATCH,            IS_SAME,           STEP_WATCH_WAIT },
	{ STEP_WATCH,            IS_CHANGED,        STEP_WATCH_READ },
	{ STEP_WATCH_READ,       IS_GOOD,           END_GOOD },
	{ STEP_WATCH_READ,       NEEDS_USER,        STEP_WATCH_WAIT },
	{ STEP_WATCH_WAIT,       CAME_TIME,         STEP_ASK },
	{ STEP_ASK,              CAME_LOCKED,       STEP_TURN_READ },
	{ STEP_TURN_READ,        CAME_LOADED,       STEP_TURN },
	{ STEP_TURN,             IS_GOOD,           END_GOOD },
	{ STEP_TURN,             IS_FRUITLESS,      END_FAILED },
	{ STEP_TURN,             NEEDS_PLACE,       STEP_CLEAR },
	/* A store that cannot be written is told before the user has gone to
	 * any trouble. */
	{ STEP_CLEAR,            CAME_DONE,         STEP_USER_PLACE },

	/* Who we are at the authorization server. The port of the redirect is
	 * bound before anything names it. */
	{ STEP_USER_PLACE,       CAME_FOUND,        STEP_USER_ADOPT },
	{ STEP_USER_PLACE,       IS_MOVED,          STEP_USER_ADOPT },
	{ STEP_USER_PLACE,       CAME_TIME,         END_SLOW },
	{ STEP_USER_ADOPT,       NEEDS_PORT,        STEP_LISTEN },
	{ STEP_USER_ADOPT,       NEEDS_CLIENT,      STEP_CLIENT },
	{ STEP_LISTEN,           CAME_BUSY,         STEP_LISTEN },
	{ STEP_LISTEN,           IS_LATE,           END_FAILED },
	{ STEP_LISTEN,           CAME_DONE,         STEP_CLIENT },
	{ STEP_CLIENT,           IS_GIVEN,          STEP_TAKE_GIVEN },
	{ STEP_CLIENT,           IS_DOCUMENT,       STEP_TAKE_DOCUMENT },
	{ STEP_CLIENT,           IS_KNOWN,          STEP_READY },
	{ STEP_CLIENT,           IS_UNKNOWN,        STEP_REGISTER },
	{ STEP_CLIENT,           IS_HOPELESS,       END_NO_CLIENT },
	{ STEP_TAKE_GIVEN,       CAME_DONE,         STEP_READY },
	{ STEP_TAKE_DOCUMENT,    CAME_DONE,         STEP_READY },
	{ STEP_REGISTER,         CAME_BAD_REDIRECT, STEP_REGISTER_BY_NAME },
	{ STEP_REGISTER,         CAME_REGISTERED,   STEP_CLIENT_LOCK },
	{ STEP_REGISTER,         CAME_REFUSED,      END_USER_FAILED },
	{ STEP_REGISTER,         IS_NO_OAUTH,       END_NO_OAUTH },
	{ STEP_REGISTER,         IS_UNASKED,        END_UNASKED },
	{ STEP_REGISTER_BY_NAME, CAME_REGISTERED,   STEP_CLIENT_LOCK },
	{ STEP_REGISTER_BY_NAME, CAME_REFUSED,      END_USER_FAILED },
	{ STEP_REGISTER_BY_NAME, IS_NO_OAUTH,       END_NO_OAUTH },
	{ STEP_REGISTER_BY_NAME, IS_UNASKED,        END_UNASKED },
	{ STEP_CLIENT_LOCK,      CAME_BUSY,         STEP_CLIENT_LOCK },
	{ STEP_CLIENT_LOCK,      IS_SILENT,         STEP_SILENT },
	{ STEP_CLIENT_LOCK,      CAME_LOCKED,       STEP_CLIENT_SAVE },
	{ STEP_CLIENT_SAVE,      CAME_SAVED,        STEP_READY },
	{ STEP_CLIENT_SAVE,      CAME_UNKEPT,       STEP_READY },
	{ STEP_READY,            NEEDS_BROWSER,     STEP_AUTHORIZE },
	{ STEP_READY,            NEEDS_DEVICE,      STEP_DEVICE },
	{ STEP_READY,            IS_HOPELESS,       END_NO_DEVICE },

	/* A browser. The user may come back before a tab could be opened. */
	{ STEP_AUTHORIZE,        CAME_DONE,         STEP_REDIRECT },
	{ STEP_AUTHORIZE,        IS_ALLOWED,        STEP_TAB },
	{ STEP_TAB,              CAME_BUSY,         STEP_TAB },
	{ STEP_TAB,              CAME_LOCKED,       STEP_OPEN },
	{ STEP_TAB,              IS_CROWDED,        STEP_REDIRECT },
	{ STEP_TAB,              IS_BACK,           STEP_ARRIVED },
	{ STEP_TAB,              IS_SILENT,         STEP_SILENT },
	{ STEP_OPEN,             CAME_DONE,         STEP_REDIRECT },
	{ STEP_REDIRECT,         IS_BACK,           STEP_ARRIVED },
	{ STEP_REDIRECT,         IS_SILENT,         STEP_SILENT },
	{ STEP_ARRIVED,          CAME_TIME,         STEP_RETURNED },
	{ STEP_RETURNED,         CAME_CODE,         STEP_EXCHANGE },
	{ STEP_RETURNED,         CAME_DENIED,       END_USER_FAILED },
	{ STEP_RETURNED,         CAME_BAD_SCOPE,    STEP_ANEW },
	{ STEP_RETURNED,         CAME_FOREIGN,      END_FOREIGN },
	{ STEP_EXCHANGE,         CAME_TOKEN,        STEP_GOT },
	{ STEP_EXCHANGE,         IS_FORGOTTEN,      STEP_ANEW },
	{ STEP_EXCHANGE,         CAME_TRANSIENT,    END_USER_LATER },
	{ STEP_EXCHANGE,         CAME_UNREADY,      END_USER_LATER },
	{ STEP_EXCHANGE,         CAME_IMPOSSIBLE,   END_USER_FAILED },
	{ STEP_EXCHANGE,         CAME_REFUSED,      END_USER_FAILED },
	{ STEP_ANEW,             CAME_DONE,         STEP_LISTEN },

	/* A device code. */
	{ STEP_DEVICE,           CAME_CODE_SHOWN,   STEP_DEVICE_WAIT },
	{ STEP_DEVICE,           CAME_REFUSED,      END_USER_FAILED },
	{ STEP_DEVICE_WAIT,      CAME_TIME,         STEP_POLL },
	{ STEP_POLL,             CAME_PENDING,      STEP_DEVICE_WAIT },
	{ STEP_POLL,             IS_LATE,           END_CODE_OVER },
	{ STEP_POLL,             CAME_TOKEN,        STEP_GOT },
	{ STEP_POLL,             CAME_REFUSED,      END_USER_FAILED },

	/* The user said nothing. */
	{ STEP_SILENT,           CAME_DONE,         STEP_SILENT_LOCK },
	{ STEP_SILENT_LOCK,      CAME_BUSY,         STEP_SILENT_LOCK },
	{ STEP_SILENT_LOCK,      CAME_LOCKED,       STEP_SILENT_SAVE },
	{ STEP_SILENT_SAVE,      CAME_SAVED,        END_TIMEOUT },
	{ STEP_SILENT_SAVE,      CAME_UNKEPT,       END_TIMEOUT },

	/* A token was had. What cannot be kept works until we end. */
	{ STEP_GOT,              IS_LOCKED,         STEP_KEEP },
	{ STEP_GOT,              IS_UNLOCKED,       STEP_GOT_LOCK },
	{ STEP_GOT_LOCK,         CAME_BUSY,         STEP_GOT_LOCK },
	{ STEP_GOT_LOCK,         CAME_LOCKED,       STEP_KEEP },
	{ STEP_KEEP,             CAME_SAVED,        END_GOOD },
	{ STEP_KEEP,             CAME_UNKEPT,       END_UNKEPT },

	/* Whatever step it was. */
	{ STEP_ANY,              CAME_BROKEN,       END_FAILED },
	{ STEP_ANY,              CAME_UNABLE,       END_FAILED },
	{ STEP_ANY,              CAME_IMPOSSIBLE,   END_FAILED },
	{ STEP_ANY,              CAME_UNREADY,      END_LATER },
	{ STEP_ANY,              CAME_NOT_NOW,      END_LATER },
	{ STEP_ANY,              CAME_TIMEOUT,      END_TIMEOUT },
	{ STEP_ANY,              CAME_CANCELLED,    END_CANCELLED },
	{ STEP_ANY,              IS_MISPLACED,      END_FAILED },
	{ STEP_ANY,              IS_LATE,           END_BUSY },
};

/* clang-format on */

static const struct login_end_row ends[LOGIN_STEPS] = {
	[END_GOOD] = { LOGIN_DONE, false, NULL },
	[END_UNKEPT] = { LOGIN_DONE, true, NULL },
	[END_NO_USER] = { LOGIN_INTERACTIVE, false, "the user has to sign in" },
	[END_BUSY] = { LOGIN_LATER, false,
	    "another mcpsplice has been asking for a token for too long" },
	[END_SLOW] = { LOGIN_LATER, false,
	    "finding out where to sign in took too long" },
	[END_SLOW_TOKEN] = { LOGIN_LATER, false,
	    "getting a token took too long" },
	[END_LATER] = { LOGIN_LATER, true, NULL },
	[END_UNREACHED] = { LOGIN_UNREACHED, true, NULL },
	[END_FAILED] = { LOGIN_FAILED, true, NULL },
	[END_NO_IDENTITY] = { LOGIN_IDENTITY, true, NULL },
	[END_NO_OAUTH] = { LOGIN_FAILED, false,
	    "it wants credentials, and shows no way to sign in. Pass a token "
	    "with --bearer-env NAME or --bearer-file FILE, or a header with "
	    "-H" },
	[END_UNASKED] = { LOGIN_UNASKED, false, NULL },
	[END_NO_CLIENT] = { LOGIN_FAILED, false,
	    "its authorization server registers no clients by itself. Register "
	    "one there and pass --client-id (and --client-secret-file)" },
	[END_NO_DEVICE] = { LOGIN_FAILED, false,
	    "its authorization server offers no device codes: leave out --auth "
	    "device" },
	[END_USER_LATER] = { LOGIN_LATER, true, NULL },
	[END_USER_FAILED] = { LOGIN_FAILED, true, NULL },
	[END_FOREIGN] = { LOGIN_FAILED, false,
	    "what came back is not from the authorization server that was "
	    "asked (iss): nothing of it was used" },
	[END_CODE_OVER] = { LOGIN_FAILED, false,
	    "nobody entered the code while it was good" },
	[END_TIMEOUT] = { LOGIN_FAILED, false,
	    "nobody signed in within --login-timeout" },
	[END_CANCELLED] = { LOGIN_FAILED, false,
	    "\"mcpsplice logout\" ended this sign-in" },
};

const struct login_step_row *
login_step_row(enum login_step step)
{
	return &steps[step];
}

const struct login_end_row *
login_end_row(enum login_step step)
{
	return step < END_GOOD ? NULL : &ends[step];
}

enum login_step
login_step_after(enum login_step step, int came)
{
	size_t i;

	for (i = 0; i < sizeof order / sizeof *order; i++)
		if (order[i].came == came &&
		    (order[i].step == step || order[i].step == STEP_ANY))
			return order[i].next;
	assert(false); /* each outcome of a step has its row */
	return END_FAILED;
}
