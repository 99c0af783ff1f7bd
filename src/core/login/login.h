/*
 * The order of a login, as one function that reads from top to bottom. No
 * descriptor, no clock, no environment: it says what is to be done, and waits
 * for what comes of it, by two functions of the shell (src/login).
 */
#ifndef MCPSPLICE_CORE_LOGIN_LOGIN_H
#define MCPSPLICE_CORE_LOGIN_LOGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

struct login_flow;

enum login_mode { LOGIN_BROWSER, LOGIN_DEVICE, LOGIN_CREDENTIALS };

/* Why the token at hand is not good enough. */
enum login_reason {
	LOGIN_NONE,     /* there is none, or a user wants a new one */
	LOGIN_EXPIRED,  /* by its own time */
	LOGIN_REJECTED, /* 401 */
	LOGIN_SCOPE     /* 403 insufficient_scope */
};

enum login_end {
	LOGIN_DONE,        /* a good token is in the store, and in the record */
	LOGIN_INTERACTIVE, /* a user is needed, and must not be asked */
	LOGIN_LATER,       /* it may work in a while: network, 5xx, 429 */
	LOGIN_FAILED,      /* it will not, until somebody changes something */
	LOGIN_UNREACHED,   /* the refresh did not get to its server */
	LOGIN_IDENTITY,    /* the user's sign-in at the identity provider does
			    * not do: with a login there it may work */
	LOGIN_UNASKED,     /* the MCP server asked for no credentials, and there
			    * is no way to sign in */
	LOGIN_STOPPED      /* whoever runs it wants no more of it */
};

/* Strings are borrowed for the life of the flow. */
struct login_flow_config {
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
	bool assertion;     /* the user passes one: it is for the issuer that it
			 * was first sent to, as a client that is given is */
	int64_t timeout_ms; /* for the user; 0: none */
	const char *rejected; /* proof of the token that does not do; NULL */
	const char *host;     /* how people know the MCP server */
};

/* Whose the client of the record is. */
enum login_client {
	LOGIN_CLIENT_NONE,
	LOGIN_CLIENT_GIVEN,
	LOGIN_CLIENT_DOCUMENT,
	LOGIN_CLIENT_REGISTERED,
	LOGIN_CLIENT_IMPORTED
};

/* What the shell holds at this moment, as plain values. */
struct login_facts {
	/* the record */
	const char *token; /* the proof of its access token; NULL: none */
	bool usable;       /* the access token is, by its own time */
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
	bool registers; /* clients, dynamically */
	bool documents; /* it takes clients that are a document */
	bool devices;   /* it gives device codes */
	/* what the copy noted that had the login lock before; s since 1970 */
	int64_t failed_at;
	int64_t third_tab; /* the last but two that was opened; 0: none */
};

/* What an action came to. */
enum login_outcome {
	CAME_DONE,    /* as it was to be */
	CAME_STOPPED, /* whatever is waited for: nobody wants it any more */
	CAME_TIME,    /* DO_WAIT, or that of DO_DISCOVER, is over */
	CAME_LOADED,  /* DO_LOAD */
	CAME_BROKEN,  /* it will not work here; why */
	CAME_LOCKED,  /* DO_LOCK_* */
	CAME_BUSY,    /* somebody else has the lock, or the port; why */
	CAME_SAVED,   /* DO_SAVE */
	CAME_UNKEPT,  /* the store did not take it, for the reason why */
	CAME_FOUND,   /* DO_DISCOVER */
	CAME_NOT_NOW, /* nothing was found, but later there may be; why */
	CAME_LOOKED,  /* DO_WATCH: stamp, shown, tab_at */
	/* of a request */
	CAME_UNABLE,      /* it could not be made; why */
	CAME_IMPOSSIBLE,  /* we refuse to send it, or it would be refused
			   * each time; why, again_ms */
	CAME_UNREADY,     /* no answer, or one of the moment; why, again_ms */
	CAME_UNREACHED,   /* DO_REFRESH: it did not get to its server; why,
			   * again_ms */
	CAME_LOST,        /* DO_REFRESH: the connection broke when the request
			   * had gone out; why, again_ms */
	CAME_TOKEN,       /* it is in the record, but not stored */
	CAME_DEAD_GRANT,  /* invalid_grant; why */
	CAME_DEAD_CLIENT, /* invalid_client; why */
	CAME_PENDING,     /* the user has not entered the device code yet */
	CAME_SLOW_DOWN,
	CAME_TRANSIENT,    /* an error of the moment; why */
	CAME_REFUSED,      /* any other error; why */
	CAME_REGISTERED,   /* DO_REGISTER */
	CAME_BAD_REDIRECT, /* a name of loopback may do where its address
			    * did not */
	CAME_NO_DOCUMENT,  /* what was answered is no JSON; why */
	CAME_CODE_SHOWN,   /* DO_DEVICE: life_s, interval_s */
	CAME_NO_IDENTITY,  /* DO_CREDENTIALS: there is no ID token, or it is
			    * dead; why */
	/* These come unasked. */
	CAME_CODE,           /* the redirect brought a code */
	CAME_DENIED,         /* it brought an error; why */
	CAME_BAD_SCOPE,      /* it brought an error: the scopes that nobody
			      * named are refused, and forgotten now */
	CAME_FOREIGN,        /* it is of another issuer */
	CAME_TIMEOUT,        /* DO_TIMEOUT is over */
	CAME_CANCELLED,      /* "mcpsplice logout" ended it */
	CAME_BROWSER_FAILED, /* it could not be started */
	CAME_OUTCOMES
};

struct login_input {
	enum login_outcome came;
	const struct login_facts *facts;
	int64_t now;      /* monotonic ms */
	int64_t wall;     /* s since 1970 */
	unsigned random;  /* with CAME_BUSY */
	const char *why;  /* for people */
	int64_t again_ms; /* the server wants to be asked no earlier; -1 */
	uint64_t stamp;   /* of what the store has */
	bool shown;       /* another copy's URL, for the first time */
	int64_t tab_at;   /* when a tab was last opened, or is about to be: s
			   * since 1970, 0: never */
	int64_t life_s, interval_s; /* as the server told; 0 and -1: it did
				     * not */
};

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

/* What of the record is no good any more. */
enum login_forget { FORGET_NOTHING, FORGET_TOKEN, FORGET_CLIENT };

struct login_action {
	enum login_action_kind kind;
	int64_t ms;
	bool interactive, again;
	enum login_forget forget;
	enum log_level level;
	char *text; /* borrowed */
};

/* What a login does everything with. */
struct login_hands {
	/* Begins what a says. If nothing comes of it, it is done. */
	void (*act)(const struct login_action *a, void *arg);
	/* Waits for what comes of it, or unasked. What in borrows is valid
	 * until the next call. */
	void (*wait)(struct login_input *in, void *arg);
};

struct login_result {
	enum login_end end;
	const char *why;  /* the flow's; NULL: nothing to say */
	int64_t again_ms; /* the server wants to be asked no earlier; -1 */
};

struct login_flow *login_flow_new(const struct login_flow_config *config,
    const struct login_hands *hands, void *arg);
void login_flow_free(struct login_flow *f); /* NULL is fine */

/* Does all of it; once. */
struct login_result login_flow_run(struct login_flow *f);

/* Does an outcome come of such an action? */
static inline bool
login_is_awaited(enum login_action_kind kind)
{
	return kind > DO_NOTHING && kind < DO_TIMEOUT;
}
/* Is the redirect awaited, so that CAME_CODE and its like may be told? */
bool login_flow_awaits_redirect(const struct login_flow *f);
/* Nobody waits for this login any more: nobody is asked who was not asked yet.
 * Is something begun that other copies would miss? */
bool login_flow_orphan(struct login_flow *f);

#endif
