/*
 * Everything that a sign-in to one server needs, made from the options: the
 * store, an HTTP client for authorization servers, the secrets of mcpsplice's
 * own client. The login process uses it, and the commands login, logout, status
 * and check.
 */
#ifndef MCPSPLICE_SIGNIN_ACCOUNT_H
#define MCPSPLICE_SIGNIN_ACCOUNT_H

#include "options/from_options.h"
#include "signin/login.h"

/* The identity provider of --auth enterprise. */
struct account_provider {
	struct url url;
	struct http *http;
	char *secret;
	struct assertion_key *key;
	struct token_source id_token;
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
	struct token_source assertion;
	char **browser;
	char **unset;
	char **desktop; /* variables of the desktop that the host has kept from
			 * us; NULL: none */
	struct challenge challenge;
	struct account_provider provider;
	struct login_config login;
	/* the login at the identity provider; NULL: there is none */
	const struct login_config *signs_in;
	struct import_config import;
	char *import_folder;
};

/* Fills a, with the loop that the caller has made. peer is the address of the
 * MCP server as text, or NULL. Returns 0, or -1 with *why for users. */
int account_init(struct account *a, struct loop *l, const struct options *o,
    const char *peer, char **why);
/* Has the user a desktop? */
bool account_has_display(const struct account *a);
/* Sets the address that the MCP server answered from. */
void account_set_peer(struct account *a, const char *peer);
void account_free(struct account *a); /* leaves the loop */

/* Runs "mcpsplice login --agent", which reads its task from stdin. Returns the
 * exit status. */
int signin_process(char *program);

#endif
