/*
 * Everything that a sign-in to one server needs, made from the options: the
 * store, an HTTP client for authorization servers, the secrets of mcpsplice's
 * own client. Used by the login process of a proxy and by the commands login,
 * logout and status.
 */
#ifndef MCPSPLICE_APP_ACCOUNT_H
#define MCPSPLICE_APP_ACCOUNT_H

#include "app/network.h"
#include "auth/given.h"
#include "base/log.h"
#include "login/fetch.h"
#include "login/managed.h"

/* A token that options pass, and what reads it. */
struct account_token {
	struct token_source source;
	const char *file, *variable; /* of the options; NULL: not that */
	char **command;              /* words */
};

/* The identity provider of --auth enterprise. */
struct account_provider {
	struct url url;
	struct http *http;
	char *secret;
	struct assertion_key *key;
	struct account_token id_token;
	struct login_provider config;
	struct login_config login; /* of the user, there */
};

struct account {
	const struct options *options;
	struct loop *loop;
	struct url url;
	struct network network;
	struct http *http;
	struct fetcher *fetcher;
	struct store *store; /* NULL: there is no store */
	char *store_why;     /* why store is NULL */
	char *client_id, *client_secret, *client_scope;
	struct json_object *client_metadata; /* of the user; NULL: not given */
	struct assertion_key *client_key;
	struct account_token assertion;
	char **browser;
	char **unset;
	struct challenge challenge;
	struct account_provider provider;
	struct login_config login;
	/* the login at the identity provider; NULL: there is none */
	const struct login_config *signs_in;
	struct import_config import;
	char *import_folder;
};

/* Makes a loop, which the caller owns, or returns NULL with *why for users. */
struct loop *account_loop(char **why);
/* Starts the log for a command. usual is the level if the options name none;
 * the log file is left to the proxy. */
void account_log(const struct options *o, enum log_level usual);
/* Logs the warnings about the options. */
void account_warn(const struct options *o);
/* Returns what the options give instead of a sign-in. It borrows from o. */
struct given_config account_given(const struct options *o);
/* Returns the names of variables to hide from child programs, because they hold
 * secrets of the user. NULL-ended; free it with account_unset_free. */
char **account_unset(const struct options *o);
/* Frees the list and its names; NULL is allowed. */
void account_unset_free(char **list);
/* Has the user a desktop? */
bool account_has_display(void);
/* Opens the store of this user, which the caller owns, or returns NULL with
 * *why for users. make is as in store_config. */
struct store *account_store(struct loop *l, const struct options *o,
    const char *const *unset, bool make, char **why);
/* Is the address of the MCP server needed to tell what class of network it is
 * in, and so which authorization servers may be asked? It is if its URL has a
 * host name. Behind a proxy the address is never known, so the answer is no. */
bool account_needs_peer(const struct options *o, const struct url *url);
/* Fills in where the tokens of mcp-remote would be; the caller owns *folder. */
void account_import(struct import_config *c, const struct options *o,
    const struct url *url, char **folder);
/* Fills a, with the loop that the caller has made. peer is the address of the
 * MCP server as text, or NULL. Returns 0, or -1 with *why for users. */
int account_init(struct account *a, struct loop *l, const struct options *o,
    const char *peer, char **why);
/* Fills t with the one option of the three that is set, and its name; a command
 * does not get the variables unset. Returns 0, or -1 with *why for users. */
int account_token(struct account_token *t, const char *const name[3],
    const char *file, const char *variable, const char *command,
    const char *const *unset, char **why);
/* Fills in the identity provider, if there is one. Returns 0, or -1 with *why
 * for users. */
int account_find_provider(struct account *a, char **why);
void account_free_provider(struct account *a);
/* Sets the address that the MCP server answered from. */
void account_set_peer(struct account *a, const char *peer);
void account_free(struct account *a); /* leaves the loop */

/* The answer of the MCP server to a request without credentials. The caller
 * fills in the first three members, and zeros. */
struct probe {
	bool watched;               /* way is wanted */
	int64_t limit_ms;           /* for all of it; 0: none but silence */
	const struct headers *with; /* sent, too; NULL: none */
	int status;
	char *refusal; /* what a client would be told of a 4xx; NULL */
	char *peer;    /* its address as text; NULL: unknown */
	bool speaks;   /* the words of an error are those of an MCP server */
	struct buf challenge;
	enum http_end end; /* if there was no answer */
	struct http_way way;
};

/* Sends such a request, and runs the loop until the answer is there. Returns 0,
 * or -1 with *why, which is what a client would be told of the same failure.
 * Free p with probe_free in both cases. */
int account_probe(struct probe *p, struct loop *l, const struct options *o,
    const struct url *url, char **why);
/* Connects to the server, whatever its certificate is, and sends nothing: w
 * tells the certificate if there is one. Free it with http_way_free. */
void account_look(struct http_way *w, struct loop *l, const struct options *o,
    const struct url *url, int64_t limit_ms);
/* Frees what p holds, not p itself. */
void probe_free(struct probe *p);

/* What is known of the sign-in at a server. */
struct sign_in {
	struct record record; /* of the store, or of mcp-remote */
	char *imported;       /* the file of mcp-remote; NULL: not from there */
	char *store_why;      /* why the store cannot be read, or NULL */
	/* What the server offers, if it was asked: */
	bool browser, device, registers, client_document;
	bool ticket;  /* it wants a Kerberos ticket, and no token */
	bool guessed; /* it says nothing; a login would try usual places */
	char *issuer; /* NULL: it is the server itself */
	char *scopes; /* blanks between; NULL: not told */
	char *why;    /* why nothing can be said of it, for users, or NULL */
};

/* Finds out about it without the user, and runs the loop for limit_ms at most.
 * The server is asked for its offers if p is a 401. Returns 0, or -1 with *why
 * for users. Free s with sign_in_free in both cases. */
int sign_in_look(struct sign_in *s, struct loop *l, const struct options *o,
    const struct probe *p, int64_t limit_ms, char **why);
void sign_in_free(struct sign_in *s);

/* Appends how long the token is good, as "good until DATE, can be renewed". */
void account_token_text(struct buf *out, const struct record *r);
/* Appends the user whom the token names; nothing if it names none. */
void account_user_text(struct buf *out, const struct record *r);

/* Runs "mcpsplice login --agent", which reads its task from stdin. Returns the
 * exit status. */
int account_login_process(char *program);
/* Run the commands. Each returns the exit status, with *why for users if it is
 * not 0. */
int account_login(const struct options *o, char **why);
int account_logout(const struct options *o, char **why);
int account_status(const struct options *o, char **why);

#endif
