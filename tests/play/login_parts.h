/*
 * The parts of a login, for its order (signin/flow): each says what it is to
 * do, and does nothing. So the order can be played without a store, a network, a
 * clock and a browser.
 */
#ifndef MCPSPLICE_TESTS_PLAY_LOGIN_PARTS_H
#define MCPSPLICE_TESTS_PLAY_LOGIN_PARTS_H

#include "base/log.h"
#include "signin/state.h"

/* What of struct login_config counts for the order. */
struct login_wish {
	enum login_mode mode;
	enum login_reason reason;
	bool may_ask;      /* the user, who is there */
	bool unasked;      /* the MCP server asked for no credentials */
	bool force;        /* whatever the store has now does not do */
	bool shared;       /* there is a store, and other copies use it */
	bool helper;       /* of the store: it cannot tell that it has another
		       * record without being run */
	bool device_first; /* a device code rather than a browser, where one
			    * is offered */
	bool client_given, client_document, issuer_given, has_browser;
	bool secret_given;
	bool assertion;     /* the user passes one: it is for the issuer that it
			 * was first sent to, as a client that is given is */
	int64_t timeout_ms; /* for the user; 0: none */
	int64_t retry_ms;   /* for an authorization server in trouble */
	const char *rejected; /* proof of the token that does not do; NULL */
};

/* Whose the client of the record is. */
enum login_client {
	LOGIN_CLIENT_NONE,
	LOGIN_CLIENT_GIVEN,
	LOGIN_CLIENT_DOCUMENT,
	LOGIN_CLIENT_REGISTERED,
	LOGIN_CLIENT_IMPORTED
};

/* What there is at this moment, as plain values. */
struct login_facts {
	/* the record */
	const char *token; /* the proof of its access token; NULL: none */
	bool usable;       /* the access token is, by its own time */
	bool lasts;        /* it is about to expire, but has not yet */
	bool has_scopes;   /* it has what the challenge wants */
	bool refresh;      /* there is a refresh token */
	bool endpoint;     /* it names a token endpoint */
	const char *issuer;
	enum login_client client;
	bool client_as_given;   /* its id is that of --client-id */
	int64_t client_expires; /* its secret does; s since 1970, 0: never */
	int64_t client_failures;
	bool client_redirect; /* its redirect URI is that of the listener, or
			       * there is no listener */
	/* what was discovered */
	bool found;
	const char *found_issuer;
	bool guessed;   /* it published nothing: the paths of 2025-03-26 */
	bool listed;    /* where the server says, not where its issuer is; the
			 * token endpoint is none that was stored */
	bool registers; /* clients, dynamically */
	bool documents; /* it takes clients that are a document */
	bool devices;   /* it gives device codes */
	bool pkce_untold, openid; /* as in struct server_metadata */
	/* what the copy noted that had the login lock before; s since 1970 */
	int64_t failed_at;
	int64_t third_tab; /* the last but two that was opened; 0: none */
};

/* The parts. */
enum login_action_kind {
	DO_NOTHING,
	/* After one of these its outcome is waited for. */
	DO_WAIT,     /* ms; -1: for what comes unasked */
	DO_LOAD,     /* the record, from the store */
	DO_DISCOVER, /* where to sign in, in ms at most; interactive */
	DO_ADOPT,    /* what was discovered into the record; forget */
	DO_SAVE,     /* the record; forget */
	DO_FORGET,   /* forget */
	DO_LOCK_TOKEN,
	DO_LOCK_LOGIN,
	DO_LOCK_TAB,
	DO_WATCH,         /* what the copy shows that has the login lock */
	DO_CLEAR,         /* what the copy before showed */
	DO_COUNT_FAILURE, /* of the client */
	DO_LISTEN,        /* for the redirect; again: at the port of the last
			   * time */
	DO_TAKE_GIVEN,    /* the client of --client-id */
	DO_TAKE_DOCUMENT, /* that of --client-metadata-url */
	DO_REGISTER,
	DO_REGISTER_BY_NAME, /* with localhost in the redirect URI */
	DO_REFRESH,
	DO_CREDENTIALS, /* in ms at most */
	DO_AUTHORIZE,   /* makes the URL for the browser, and shows it */
	DO_OPEN,        /* the browser */
	DO_EXCHANGE,    /* the code for a token */
	DO_DEVICE,      /* asks for a device code, and shows it */
	DO_POLL,        /* asks whether it was entered */
	/* These are done at once, and nothing comes of them. */
	DO_TIMEOUT,     /* the user has ms from now on */
	DO_TIMEOUT_OFF, /* no more */
	DO_UNLOCK_TOKEN,
	DO_UNLOCK_TAB,
	DO_OPEN_FOR_OTHER, /* the browser, with the URL of another copy */
	DO_CLOSE_BROWSER,
	DO_CLOSE_LISTENER,
	DO_NOTE_SUCCESS, /* for the copies that wait */
	DO_NOTE_FAILURE,
	DO_LOG, /* level, text */
	DO_ACTIONS
};

struct login_action {
	enum login_action_kind kind;
	int64_t ms;
	bool interactive, again;
	enum login_forget forget;
	enum log_level level;
	const char *text; /* borrowed */
};

/* Does an outcome come of it? */
static inline bool
login_is_awaited(enum login_action_kind kind)
{
	return kind > DO_NOTHING && kind < DO_TIMEOUT;
}

/* Who plays the parts. */
struct login_player {
	void (*act)(const struct login_action *a, void *arg);
	/* Fills in g->in, and the rest by login_parts_fill. */
	void (*wait)(struct login *g, void *arg);
	void *arg;
};

/* Makes a login for the order alone. All is borrowed. */
void login_parts_begin(struct login *g, const struct login_wish *wish,
    const struct login_player *player);
void login_parts_end(struct login *g);

/* Gives g a record, a place and pending of these facts, which it borrows. */
void login_parts_fill(struct login *g, const struct login_facts *facts);

#endif
