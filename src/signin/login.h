/*
 * Getting a good token into the store, whatever that takes: one that another
 * copy has put there meanwhile, a refresh, client credentials, or a user
 * who signs in by browser or device code. Runs in a process of its own (the
 * login process, or "mcpsplice login"), because hosts kill the copy that began
 * it: a refresh that was sent must be stored, and the user be waited for.
 *
 * signin/flow has the order of it.
 */
#ifndef MCPSPLICE_SIGNIN_LOGIN_H
#define MCPSPLICE_SIGNIN_LOGIN_H

#include "auth/challenge.h"
#include "auth/login_process.h"
#include "auth/pkce.h"
#include "signin/browser.h"
#include "signin/discovery.h"
#include "store/import.h"
#include "store/store.h"

enum login_mode { LOGIN_BROWSER, LOGIN_DEVICE, LOGIN_CREDENTIALS };

/* The identity provider whose ID-JAG is the assertion of a JWT bearer grant
 * (signin/two_logins): our client there, and the ID token. */
struct login_provider {
	struct fetcher *fetcher;
	const char *issuer;
	const char *client_id, *client_secret;
	const struct assertion_key *client_key;
	struct metadata_policy policy;
	/* The ID token: one that the user passes; or that of this record, which
	 * was had just now; or that of the record of this name in the store. */
	const struct token_source *id_token;
	const struct record *record;
	char name[STORE_NAME_BYTES];
};

/* A JWT that the user passes by an option: the assertion of a workload, or an ID
 * token. It is read anew each time that it is needed, because platforms renew
 * it. It stays with whom it was asked for, and in no message. All borrowed. */
struct token_source {
	const char *option; /* its name, for people */
	/* Where it is: one of these is not NULL. */
	const char *file, *variable;
	char **command;           /* the words of a program that prints it */
	const char *const *unset; /* variables that the program does not get */
};

/* All borrowed for the life of the login. NULL: not given. */
struct login_config {
	const struct url *server;
	const char *profile;
	enum login_mode mode;

	/* why, and what for */
	enum login_reason reason;
	const struct challenge *challenge; /* of the 401 or 403 */
	const char *rejected; /* pkce_challenge of the token that was refused */
	bool interactive;     /* may the user be asked? */
	bool unasked;         /* the MCP server asked for no credentials */
	bool force;           /* whatever the store has now does not do */
	const struct record *record;        /* to begin with, without a store */
	const struct import_config *import; /* where the store has nothing */

	/* the client */
	const char *client_id, *client_secret;
	const struct assertion_key *client_key; /* for LOGIN_CREDENTIALS */
	/* The assertion of a JWT bearer grant, for LOGIN_CREDENTIALS; NULL:
	 * client credentials. */
	const struct token_source *assertion;
	const struct login_provider *provider; /* or an ID-JAG of this one */
	/* This is the sign-in at an identity provider: the ID token counts, and
	 * the record has this name. */
	const char *identity;
	const char *client_document;         /* --client-metadata-url */
	struct json_object *client_metadata; /* what else is registered */
	bool gives_secret; /* the secret, or a statement in the metadata that
			    * others could use: it is for one issuer only */

	bool elsewhere; /* the MCP server is not where its URL says, so
			 * whoever is there is somebody else */

	/* is the MCP server at a public address, where that is known? */
	bool knows_place, is_public;

	/* what is asked for */
	const char *issuer, *scope, *resource, *token_endpoint;
	bool no_resource;
	const char *const *params;
	struct metadata_policy policy;

	/* the user */
	unsigned callback_port; /* 0: any */
	const char *callback_host, *callback_path;
	char *const *browser; /* words; NULL: only the URL is shown */
	bool device_first;    /* a device code rather, where one is offered */
	bool notify;          /* tell the user's desktop once */
	struct desktop desktop;
	int64_t timeout_ms; /* 0: none */
	int64_t retry_ms;   /* an authorization server in trouble is asked
			     * again for so long; 0: not at all */
};

/* Where the user has to go; again when it changes. user_code is of the device
 * flow, else NULL. */
typedef void login_where_cb(const char *url, const char *user_code, void *arg);

/* How a login ended. */
struct login_done {
	enum login_end end;
	char *why;        /* for people; with LOGIN_DONE NULL, or why the store
			   * has it not */
	int64_t again_ms; /* with LOGIN_LATER, not before that time; -1: not
			   * told */
	/* With LOGIN_DONE the good one; with LOGIN_IDENTITY that of the
	 * identity provider, as far as there is one. */
	struct record record;
	bool has_record;
};

/* How a login looks for where to sign in. bound and interactive are as in
 * discovery.h; all is borrowed. */
struct discovery_config login_place(const struct login_config *c,
    const char *bound, bool interactive);
void login_done_free(struct login_done *d);

/* --- two_logins.c --- */

/*
 * Enterprise-managed authorization (SEP-990): a login at an MCP server whose
 * assertion an identity provider gives, and before it, only where that is
 * needed, the user's sign-in at the provider. That is a login of its own, with
 * a record and locks of its own, which all servers share. No lock of the MCP
 * server is held while a user signs in.
 */

/* Makes the name of the record of a sign-in at a provider, as store_name does;
 * no URL has it. */
void two_logins_name(char name[STORE_NAME_BYTES], const char *issuer,
    const char *client, const char *profile);

struct two_logins;

/* Makes it, which the caller owns. store NULL: nothing is kept, nothing is
 * shared. provider is the configuration of the login at the provider; NULL: there
 * is none, and server is an ordinary login. Whether the user may be asked, and is
 * told by the desktop, is that of server. All is borrowed. */
struct two_logins *two_logins_new(struct loop *l, struct fetcher *f,
    struct store *store, const struct login_config *server,
    const struct login_config *provider, login_where_cb *where, void *arg);
/* Does all of it, and runs the loop meanwhile; once. If somebody else stops the
 * loop, it is LOGIN_STOPPED at once. It never ends in LOGIN_IDENTITY. Free d with
 * login_done_free. */
void two_logins_run(struct two_logins *m, struct login_done *d);
/* As login_paste and login_orphan of signin/state.h, for the login that runs. */
bool two_logins_paste(struct two_logins *m, const char *url);
bool two_logins_orphan(struct two_logins *m);
void two_logins_free(struct two_logins *m);

#endif
