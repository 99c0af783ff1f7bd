/* HTTP clients made from the network options. */
#ifndef MCPSPLICE_OPTIONS_NETWORK_H
#define MCPSPLICE_OPTIONS_NETWORK_H

#include "io/http.h"
#include "options/options.h"

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

/* Makes the client for the MCP server. */
struct http *network_server(struct network *n, struct loop *l,
    const struct options *o, char **why);
/* The same with config.watched (io/http.h). */
struct http *network_watched(struct network *n, struct loop *l,
    const struct options *o, char **why);
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
/* Do requests to this URL go through an HTTP proxy? The address of the host is
 * then unknown. */
bool network_has_proxy(const struct options *o, const char *url);

/* Returns why NODE_EXTRA_CA_CERTS is not used, owned by the caller; NULL if it
 * is, or not set. */
char *network_extra_why(const struct options *o);

#endif
