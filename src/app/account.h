/*
 * Everything a sign-in to one server needs, made from the options: the store,
 * a client for authorization servers, our client's secrets. For the login
 * process of a proxy and for the commands login, logout and status.
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
	struct store *store; /* NULL: there is none, */
	char *store_why;     /* because */
	char *client_id, *client_secret, *client_scope;
	struct assertion_key *client_key;
	char **browser;
	char **unset;
	struct challenge challenge;
	struct login_config login;
	struct import_config import;
	char *import_folder;
};

/* A loop, or NULL with *why for people. */
struct loop *account_loop(char **why);
/* Logs as the options say, and where they say nothing so much; the file is
 * the proxy's. */
void account_log(const struct options *o, enum log_level usual);
/* Variables that no child of ours gets: they hold secrets of the user. Owned
 * by the caller, NULL-ended. */
char **account_unset(const struct options *o);
void account_unset_free(char **list);
/* The store of this user, or NULL with *why for people. make as in
 * store_config. */
struct store *account_store(struct loop *l, const struct options *o,
    const char *const *unset, bool make, char **why);
/* Does only the address of the MCP server tell what kind of place it is at,
 * and with it which authorization servers may be asked? Its URL does not where
 * it has a name in it. Behind a proxy nothing does. */
bool account_needs_peer(const struct options *o, const struct url *url);
/* Where the tokens of mcp-remote would be; *folder is owned by the caller. */
void account_import(struct import_config *c, const struct options *o,
    const struct url *url, char **folder);
/* Fills a, but the loop, which the caller has made. peer is the address of
 * the MCP server as text, or NULL. Returns 0, or -1 with *why for people. */
int account_init(struct account *a, struct loop *l, const struct options *o,
    const char *peer, char **why);
/* The MCP server answered from this address. */
void account_set_peer(struct account *a, const char *peer);
void account_free(struct account *a); /* not the loop */

/* What the MCP server says to a request without credentials. */
struct probe {
	int status;
	char *peer; /* address as text; NULL: unknown */
	struct buf challenge;
};

/* Asks it, and runs the loop until it has answered. Returns 0, or -1 with
 * *why for people; p is to be freed either way. */
int account_probe(struct probe *p, struct loop *l, const struct options *o,
    const struct url *url, char **why);
void probe_free(struct probe *p);

/* "mcpsplice login --agent": reads its task from stdin. Returns the
 * exit status. */
int account_login_process(char *program);
/* The commands. Each returns the exit status, with *why for people where it
 * is not 0. */
int account_login(const struct options *o, char **why);
int account_logout(const struct options *o, char **why);
int account_status(const struct options *o, char **why);

#endif
