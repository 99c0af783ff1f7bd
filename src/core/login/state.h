/*
 * The inside of the login reducer; structures only. Its files, each may call
 * those before it:
 *
 *   act > judge > table > invariants > step
 */
#ifndef MCPSPLICE_CORE_LOGIN_STATE_H
#define MCPSPLICE_CORE_LOGIN_STATE_H

#include "core/login/login.h"

#define LOGIN_PROOF_BYTES 44
/* More than the actions of any step. */
#define LOGIN_QUEUE 16

/* A step is one action and the time until it is known what came of it, or a
 * decision. A login ends in one of the ends. */
enum login_step {
	STEP_START,
	STEP_READ,
	STEP_PLACE,
	STEP_ADOPT,
	/* a token without the user */
	STEP_LOCK,
	STEP_READ_LOCKED,
	STEP_ADOPT_LOCKED,
	STEP_TOKEN,
	STEP_CREDENTIALS,
	STEP_REFRESH,
	STEP_FORGET,
	/* who asks the user */
	STEP_USER,
	STEP_INVITE,
	STEP_ASK,
	STEP_WATCH,
	STEP_WATCH_READ,
	STEP_WATCH_WAIT,
	STEP_TURN_READ,
	STEP_TURN,
	STEP_CLEAR,
	/* who we are */
	STEP_USER_PLACE,
	STEP_USER_ADOPT,
	STEP_LISTEN,
	STEP_CLIENT,
	STEP_TAKE_GIVEN,
	STEP_TAKE_DOCUMENT,
	STEP_REGISTER,
	STEP_REGISTER_BY_NAME,
	STEP_CLIENT_LOCK,
	STEP_CLIENT_SAVE,
	STEP_READY,
	/* by the browser */
	STEP_AUTHORIZE,
	STEP_TAB,
	STEP_OPEN,
	STEP_REDIRECT,
	STEP_ARRIVED,
	STEP_RETURNED,
	STEP_EXCHANGE,
	STEP_ANEW,
	/* by a device code */
	STEP_DEVICE,
	STEP_DEVICE_WAIT,
	STEP_POLL,
	/* the user said nothing */
	STEP_SILENT,
	STEP_SILENT_LOCK,
	STEP_SILENT_SAVE,
	/* a token was had */
	STEP_GOT,
	STEP_GOT_LOCK,
	STEP_KEEP,
	/* ends */
	END_GOOD,
	END_UNKEPT,
	END_NO_USER,
	END_BUSY,
	END_SLOW,
	END_SLOW_TOKEN,
	END_LATER,
	END_UNREACHED,
	END_FAILED,
	END_NO_IDENTITY,
	END_NO_OAUTH,
	END_UNASKED,
	END_NO_CLIENT,
	END_NO_DEVICE,
	/* those that the copies which wait are told of */
	END_USER_LATER,
	END_USER_FAILED,
	END_FOREIGN,
	END_CODE_OVER,
	END_TIMEOUT,
	END_CANCELLED,
	LOGIN_STEPS,
	STEP_ANY = LOGIN_STEPS
};

/* What an outcome means in its step, where that depends on the facts. */
enum login_finding {
	IS_GOOD = CAME_OUTCOMES, /* there is a token that does */
	IS_MOVED,     /* found, but the issuer is not that of the record */
	IS_MISPLACED, /* the same, and the client is a given one */
	IS_LATE,      /* it was tried for too long */
	IS_FRUITLESS, /* the last login was, a moment ago */
	IS_FORBIDDEN, /* to ask the user */
	IS_ALLOWED,   /* to ask the user, to open a browser */
	IS_CROWDED,   /* with tabs */
	IS_SHARED,    /* the store, with other copies */
	IS_ALONE,     /* there is no store */
	IS_CHANGED,   /* what the store has */
	IS_SAME,      /* what the store has */
	IS_GIVEN,     /* the client is, by an option */
	IS_DOCUMENT,  /* so, as a document */
	IS_KNOWN,     /* the client is, from another login */
	IS_UNKNOWN,   /* the client is, and can be registered */
	IS_HOPELESS,  /* there is no client and none can be had */
	IS_FORGOTTEN, /* the client is, and can be registered anew */
	IS_NO_OAUTH,  /* what was guessed was wrong */
	IS_UNASKED,   /* and nobody had asked for credentials */
	IS_BACK,      /* the user's browser is */
	IS_SILENT,    /* the user, with a client that may be dead */
	IS_LOCKED,    /* the token lock is held already */
	IS_UNLOCKED,  /* it is not */
	NEEDS_TOKEN,  /* without the user: refresh, client credentials */
	NEEDS_PLACE,  /* where to sign in has to be found out */
	NEEDS_USER,   /* nothing else helps */
	NEEDS_CREDENTIALS,
	NEEDS_REFRESH,
	NEEDS_PORT,
	NEEDS_CLIENT,
	NEEDS_BROWSER,
	NEEDS_DEVICE
};

enum login_lock { LOCK_TOKEN = 1, LOCK_LOGIN = 2, LOCK_TAB = 4 };

/* Invariants, between two steps (login_sane):
 * - it waits for one outcome at most, and for none once it has ended
 * - the locks that a step needs are held in it, and no others but a tab's
 * - DO_END is the last action */
struct login_flow {
	struct login_flow_config config;
	enum login_step step;
	bool again; /* DO_WAIT goes before the action of the step */
	const struct login_input *in; /* in a step only */
	unsigned held;                /* enum login_lock */
	bool timed;                   /* DO_TIMEOUT runs */
	bool refreshed;     /* the answer to a refresh was lost once */
	bool anew;          /* a client was registered anew: once a login */
	int64_t lock_until; /* a lock that is busy is tried until then */
	int64_t port_until; /* the same for a port; 0: it was never busy */
	int64_t helped_at;  /* the helper of the store was run */
	uint64_t seen;      /* the stamp while another copy asks */
	int64_t code_until; /* the device code is good; s since 1970 */
	int64_t interval_ms;
	enum login_forget forget;
	enum login_outcome arrived;      /* what the redirect brought */
	char refused[LOGIN_PROOF_BYTES]; /* of the token that does not do */
	char *why;                       /* what an end says */
	struct login_action queue[LOGIN_QUEUE]; /* their texts are owned */
	unsigned next, queued;
	char *told; /* the text of the action that was taken last */
};

#endif
