/*
 * What a login consists of, beside the order that says what is to be done
 * (core/login); structures only. Its parts each do some of the actions and
 * report what came of them; each may call those before it:
 *
 *   report > records > locks > place > waiting > token > grant > device
 *     > redirect > client > perform
 *
 * Nobody else includes this.
 */
#ifndef MCPSPLICE_LOGIN_STATE_H
#define MCPSPLICE_LOGIN_STATE_H

#include "io/listener.h"
#include "login/browser.h"
#include "login/callback.h"
#include "login/client_messages.h"
#include "login/discovery.h"
#include "login/dpop.h"
#include "login/login.h"

struct login {
	struct loop *loop;
	struct fetcher *fetcher;
	struct store *store; /* NULL: none */
	struct login_config config;
	login_where_cb *where;
	void *arg;
	char name[STORE_NAME_BYTES];
	struct login_flow *flow;
	struct login_action action; /* that is being done */

	/* what came, until the flow takes it */
	bool waits;    /* the flow does: the loop runs */
	bool performs; /* so does an action */
	bool done;     /* what the action waits for */
	bool came;
	bool browser_failed, stopped;
	struct login_input in;
	char *why; /* that of in */
	struct login_facts facts;
	char proof[PROOF_BYTES];

	struct record record;   /* as it was read, and as it becomes */
	struct record identity; /* of config.provider, for an exchange */

	/* under way: at most one of them */
	struct loop_timer *timer; /* of DO_WAIT and DO_DISCOVER */
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

/* Does g->action, and reports what came of it, if it is one that is awaited. */
typedef void login_performer(struct login *g);

#endif
