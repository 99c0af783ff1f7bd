/*
 * What the proxy, the sign-in and the tools make of the options before they
 * begin: the loop, the log, the token store, what children must not see.
 */
#ifndef MCPSPLICE_OPTIONS_FROM_OPTIONS_H
#define MCPSPLICE_OPTIONS_FROM_OPTIONS_H

#include "auth/given_headers.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/http.h"
#include "io/url.h"
#include "options/options.h"
#include "store/import.h"
#include "store/store.h"

struct sockaddr;

/* Strings that a client needs for its life besides the options. Zero before
 * use. */
struct network {
	char *key_password;
	char *sigv4;
	char *proxy[2], *proxy_from[2]; /* of http and of https */
};
void network_free(struct network *n); /* wipes the secrets */

/* Both functions below return a client that the caller owns, or NULL with *why
 * for users, owned by the caller. o and n are borrowed for the life of the
 * client. */

/* Makes the client for the MCP server. watched is as in io/http.h. */
struct http *network_server(struct network *n, struct loop *l,
    const struct options *o, bool watched, char **why);
/* Makes a client that only looks at the server's certificate (config.only_looks
 * in io/http.h): it has no secret of the user but those of the proxy. */
struct http *network_look(struct loop *l, const struct options *o, char **why);
/* Makes the client for sign-in: no cookies, no compression, the certificate
 * only with --cert-auth. allow is as in http_config. */
struct http *network_auth(struct network *n, struct loop *l,
    const struct options *o,
    bool (*allow)(const struct sockaddr *sa, void *arg), void *arg, char **why);
/* Returns the proxy of https or http URLs, as redact_proxy shows it, and in
 * *from the option or the variable that it comes from, in libcurl's order; the
 * caller owns both. NULL: there is none, and *from stays. */
char *network_proxy(const struct options *o, bool https, char **from);

/* Returns why NODE_EXTRA_CA_CERTS is not used, owned by the caller; NULL if it
 * is, or not set. */
char *network_extra_why(const struct options *o);

/* Returns the content of a file without the line end after it, at most 64 KiB.
 * The caller owns it (secret_free). Returns NULL with *why for users; option is
 * the name of the option, for the message. Warns if the file is open to other
 * users. */
char *secret_file(const char *option, const char *path, char **why);
/* Does the same without the warning, for a file that a platform writes: its
 * mode is not the user's choice. */
char *secret_platform_file(const char *option, const char *path, char **why);
/* Returns the value of an environment variable, in the same way. */
char *secret_env(const char *option, const char *name, char **why);
/* Appends a file's content to to, without a word if that fails, or if it is no
 * regular file. */
void secret_peek(const char *path, struct buf *to);
/* Wipes and frees the secret; NULL is allowed. */
void secret_free(char *secret);

/* Makes a loop, which the caller owns, or returns NULL with *why for users. */
struct loop *setup_loop(char **why);
/* Starts the log for a command. usual is the level if the options name none;
 * the log file is left to the proxy. */
void setup_log(const struct options *o, enum log_level usual);
/* Logs the warnings about the options. */
void setup_warn(const struct options *o);
/* Returns the value of an environment variable; NULL: it is not set. */
const char *setup_variable(const char *name, void *arg);
/* Returns what the options give instead of a sign-in. It borrows from o. */
struct given_config setup_given(const struct options *o);
/* Returns a path that starts this program again, in its current version; the
 * caller owns it. */
char *setup_program(const struct options *o);
/* Returns the names of variables to hide from child programs, because they hold
 * secrets of the user. NULL-ended; free it with string_list_free. */
char **setup_unset(const struct options *o);
/* Opens the store of this user, which the caller owns, or returns NULL with
 * *why for users. make is as in store_config. */
struct store *setup_store(struct loop *l, const struct options *o,
    const char *const *unset, bool make, char **why);
/* Is the address of the MCP server needed to tell what class of network it is
 * in, and so which authorization servers may be asked? It is if its URL has a
 * host name. Behind a proxy the address is never known, so the answer is no. */
bool setup_needs_peer(const struct options *o, const struct url *url);
/* Fills in where the tokens of mcp-remote would be; the caller owns *folder. */
void setup_import(struct import_config *c, const struct options *o,
    const struct url *url, char **folder);

#endif
