/* HTTP clients made from the network options. */
#ifndef MCPSPLICE_APP_NETWORK_H
#define MCPSPLICE_APP_NETWORK_H

#include "io/http.h"
#include "options/options.h"

struct sockaddr;

/* Strings that a client needs for its life besides the options. Zero before
 * use. */
struct network {
	char *key_password;
};
void network_free(struct network *n); /* wipes the secrets */

/* Both functions below return a client that the caller owns, or NULL with *why
 * for users, owned by the caller. o and n are borrowed for the life of the
 * client. */

/* Makes the client for the MCP server. */
struct http *network_server(struct network *n, struct loop *l,
    const struct options *o, char **why);
/* Makes the client for sign-in: no cookies, no compression, the certificate
 * only with --cert-auth. allow is as in http_config. */
struct http *network_auth(struct network *n, struct loop *l,
    const struct options *o,
    bool (*allow)(const struct sockaddr *sa, void *arg), void *arg, char **why);
/* Do requests to this URL go through an HTTP proxy? The address of the host is
 * then unknown. */
bool network_has_proxy(const struct options *o, const char *url);

#endif
