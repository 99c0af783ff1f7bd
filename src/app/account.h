/*
 * Everything that a sign-in to one server needs, made from the options: the
 * store, an HTTP client for authorization servers, the secrets of mcpsplice's
 * own client. Used by the login process of a proxy and by the commands login,
 * logout and status.
 */
#ifndef MCPSPLICE_APP_ACCOUNT_H
#define MCPSPLICE_APP_ACCOUNT_H

#include "app/network.h"
#include "base/log.h"
#include "login/fetch.h"
#include "login/login.h"

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
	struct assertion_key *client_key;
	char **browser;
	char **unset;
	struct challenge challenge;
	struct login_config login;
	struct import_config import;
	char *import_folder;
};

/* Makes a loop, which the caller owns, or returns NULL with *why for users. */
struct loop *account_loop(char **why);
/* Starts the log for a command. usual is the level if the options name none;
 * the log file is left to the proxy. */
void account_log(const struct options *o, enum log_level usual);
/* Returns the names of variables to hide from child programs, because they hold
 * secrets of the user. NULL-ended; free it with account_unset_free. */
char **account_unset(const struct options *o);
/* Frees the list and its names; NULL is allowed. */
void account_unset_free(char **list);
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
/* Sets the address that the MCP server answered from. */
void account_set_peer(struct account *a, const char *peer);
void account_free(struct account *a); /* leaves the loop */

/* The answer of the MCP server to a request without credentials. */
struct probe {
	int status;
	char *peer; /* its address as text; NULL: unknown */
	struct buf challenge;
};

/* Sends such a request, and runs the loop until the answer is there. Returns 0,
 * or -1 with *why for users. Free p with probe_free in both cases. */
int account_probe(struct probe *p, struct loop *l, const struct options *o,
    const struct url *url, char **why);
/* Frees the peer and the challenge, not p itself. */
void probe_free(struct probe *p);

/* Runs "mcpsplice login --agent", which reads its task from stdin. Returns the
 * exit status. */
int account_login_process(char *program);
/* Run the commands. Each returns the exit status, with *why for users if it is
 * not 0. */
int account_login(const struct options *o, char **why);
int account_logout(const struct options *o, char **why);
int account_status(const struct options *o, char **why);

#endif
