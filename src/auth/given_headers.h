/*
 * Credentials that the user passes by options: --header, --bearer-file,
 * --bearer-env. They are sent to the server's own origin only, because they
 * reach an exchange through authorize alone.
 */
#ifndef MCPSPLICE_AUTH_GIVEN_HEADERS_H
#define MCPSPLICE_AUTH_GIVEN_HEADERS_H

#include "core/exchange/order.h"

struct given;

/* Looks up an environment variable; options owns getenv. NULL: not set. */
typedef const char *given_env_cb(const char *name, void *arg);

struct given_config {
	/* "Name: value", or "@FILE" for a file of such lines; "${VAR}" is
	 * replaced ("$$" is a dollar). NULL-ended. */
	const char *const *headers;
	/* File that contains the token, with blanks around it removed; read
	 * again when the file changes. */
	const char *bearer_file;
	const char *bearer_env; /* name of a variable that holds the token */
	given_env_cb *env;
	void *env_arg;
};

/* Returns NULL with *why, a message for users that the caller owns, if the
 * configuration is wrong. Accept, Content-Type, Content-Length, Host,
 * Connection, Transfer-Encoding, Last-Event-ID and Mcp-* are refused, because
 * mcpsplice sets them. */
struct given *given_new(const struct given_config *config, char **why);
/* Returns the headers for the next request, valid until the next call. Files
 * are checked for changes at most once a second (now_ms). If a file cannot be
 * read any more, its last content stays in use. */
const struct headers *given_headers(struct given *a, int64_t now_ms);
/* Returns the same as they are, without a look at the files. */
const struct headers *given_at_hand(const struct given *a);
/* Makes the credentials of the next requests from the given headers and, unless
 * it is NULL, from more, which has this stamp and is good until then (in the
 * time of now_ms). They last until the files are looked at again. */
void given_fill(struct given *a, struct credentials *to, int64_t now_ms,
    const struct headers *more, uint64_t stamp, int64_t until);
/* Reads the files again at once, whatever their time says, after a 401. Returns
 * true if the headers have changed. */
bool given_reread(struct given *a);
/* Returns a number that changes with the headers. */
uint64_t given_version(const struct given *a);
/* Does any source have an Authorization header? */
bool given_has_authorization(const struct given *a);
/* Wipes and frees the headers; NULL is allowed. */
void given_free(struct given *a);

#endif
