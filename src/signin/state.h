/*
 * What a login consists of; structures only. Its parts do what the order says,
 * and report what came of it; each may call those before it:
 *
 *   report > records > locks > run_discovery > waiting > token > grant
 *     > device > redirect > client > order > run
 *
 * Nobody else includes this.
 */
#ifndef MCPSPLICE_SIGNIN_STATE_H
#define MCPSPLICE_SIGNIN_STATE_H

#include "auth/dpop.h"
#include "io/listener.h"
#include "signin/browser.h"
#include "signin/callback.h"
#include "signin/client_messages.h"
#include "signin/discovery.h"
#include "signin/login.h"

/* What came, and what it says. */
struct login_input {
	enum login_outcome came;
	int64_t now;      /* monotonic ms */
	int64_t wall;     /* s since 1970 */
	unsigned random;  /* with CAME_BUSY */
	const char *why;  /* for people */
	int64_t again_ms; /* the server wants to be asked no earlier; -1 */
	bool soon;        /* as in struct fetch_answer */
	uint64_t stamp;   /* of what the store has */
	bool helper;      /* of the store: it cannot tell that it has another
			   * record without being run */
	bool shown;       /* another copy's URL, for the first time */
	int64_t tab_at;   /* when a tab was last opened, or is about to be: s
			   * since 1970, 0: never */
	int64_t life_s, interval_s; /* as the server told; 0 and -1: it did
				     * not */
};

/* What of the record is no good any more. */
enum login_forget { FORGET_NOTHING, FORGET_TOKEN, FORGET_CLIENT };

struct login_result {
	enum login_end end;
	const char *why;  /* borrowed; NULL: nothing to say */
	int64_t again_ms; /* the server wants to be asked no earlier; -1 */
};

struct login {
	struct loop *loop;
	struct fetcher *fetcher;
	struct store *store; /* NULL: none */
	struct login_config config;
	login_where_cb *where;
	void *arg;
	char name[STORE_NAME_BYTES];

	/* of the order */
	bool holds_token, holds_login;
	bool awaits_redirect;
	bool timed; /* the time of the user runs */
	bool anew;  /* a client was registered anew: once a login */
	/* An authorization server in trouble is asked again until then, 0: it
	 * was in none; and the next pause, 0: the first. */
	int64_t trouble_until, pause_ms;
	int64_t port_until; /* a port that is busy is tried until then; 0: it
			     * was never busy */
	char refused[PROOF_BYTES]; /* of the token that does not do */
	char *told;                /* why, as it was told last */
	struct login_result result;

	/* what came, until the order takes it */
	bool waits; /* the order does: the loop runs */
	bool acts;  /* so does a part of it */
	bool done;  /* what the part waits for */
	bool came;
	bool browser_failed, stopped;
	struct login_input in;
	char *why; /* that of in */

	struct record record;   /* as it was read, and as it becomes */
	struct record identity; /* of config.provider, for an exchange */

	/* under way: at most one of them */
	struct loop_timer *timer; /* of the order, and of a part of it */
	struct store_op *op;
	struct given_token *given;
	char *assertion;   /* that it gave, or NULL */
	struct dpop *dpop; /* proofs for the token endpoint */

	struct loop_timer *timeout;           /* of the user */
	struct loop_timer *look;              /* for the end by "logout" */
	int token_lock, login_lock, tab_lock; /* -1: not held */
	bool discovered;
	struct discovered found;

	/* the user */
	bool notified;            /* the desktop was told */
	char *shown, *shown_code; /* what was told last */
	struct pending pending;
	struct listener *listener; /* the redirect comes there */
	const char *redirect_host;
	char *redirect_uri;
	char *scope; /* that was asked for */
	char state[PROOF_BYTES], verifier[PROOF_BYTES];
	char *url;
	struct browser *browser;
	struct callback arrived; /* by the redirect, or pasted */
	char *device_code;
};

/* Begins something. What comes of it is reported by login_report and its like,
 * from inside or later. */
typedef void login_part(struct login *g);

#endif
