/*
 * What a login consists of; structures only. The parts of a login, each may
 * call those before it:
 *
 *   steps > waiting > device > redirect > client > interactive > token > login
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
#include "login/login.h"

typedef void login_step(struct login *g);
/* The authorization server does not know the client any more. */
typedef void login_dead_cb(struct login *g, const char *why);

struct login {
	struct loop *loop;
	struct fetcher *fetcher;
	struct store *store; /* NULL: none */
	struct login_config config;
	struct login_ops ops;
	void *arg;
	char name[STORE_NAME_BYTES];
	struct record record;     /* as it was read, and as it becomes */
	char *unkept;             /* why the store has not the latest of it */
	char hash[PROOF_BYTES];   /* of the token that does not do; "": none */
	int64_t until;            /* of the device code, s since 1970 */
	struct loop_timer *timer; /* for the next try, or poll */
	struct loop_timer *timeout; /* for until */
	login_step *step;           /* what the timer does */

	/* under way: at most one of them */
	struct store_op *op;
	struct fetch *fetch;
	struct discovery *discovery;
	login_step *then; /* when it is over */
	int64_t again_ms; /* the server wants to be asked no earlier */

	int token_lock, login_lock, tab_lock; /* -1: not held */
	int64_t lock_until;

	bool discovered;
	struct discovered found;
	char *failure; /* of the discovery */
	enum login_end failure_end;

	/* the person */
	int64_t helped_at; /* the helper of the store was run */
	uint64_t seen;     /* the store's stamp while another copy asks */
	char *shown, *shown_code; /* what was told last */
	struct pending pending;
	struct listener *listener; /* the redirect comes there */
	int64_t port_until;        /* a port that is given is tried so long */
	const char *redirect_host;
	char *redirect_uri;
	char *scope;
	char state[PROOF_BYTES], verifier[PROOF_BYTES];
	login_dead_cb *dead_client; /* what follows then */
	char *url;
	struct browser *browser;
	bool registered_anew; /* once for each login */
	bool on_redirect;     /* a browser did, or a pasted URL: */
	enum callback_result arrived_as;
	struct callback arrived;
	char *device_code;
	int64_t interval_ms;
};

#endif
