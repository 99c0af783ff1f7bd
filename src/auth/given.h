/*
 * Credentials that are given, not fetched: --header, --bearer-file,
 * --bearer-env. They are only ever sent to the server's own origin, because
 * they reach an exchange through authorize alone.
 */
#ifndef MCPSPLICE_AUTH_GIVEN_H
#define MCPSPLICE_AUTH_GIVEN_H

#include "base/headers.h"

struct given;

/* Looks up a variable of the environment; app owns getenv. NULL: not set. */
typedef const char *given_env_cb(const char *name, void *arg);

struct given_config {
	/* "Name: value" lines, "@FILE" for a file of such lines; "${VAR}" is
	 * replaced ("$$" is a dollar). NULL-ended. */
	const char *const *headers;
	/* Holds the token, trimmed; read again when the file changes. */
	const char *bearer_file;
	const char *bearer_env; /* name of a variable that holds the token */
	given_env_cb *env;
	void *env_arg;
};

/* NULL on a bad configuration; *why is then a message for people, owned by
 * the caller. Accept, Content-Type, Content-Length, Host, Connection,
 * Transfer-Encoding, Last-Event-ID and Mcp-* are refused: they are ours. */
struct given *given_new(const struct given_config *config, char **why);
/* The headers for the next request. Files are looked at again at most once a
 * second (now_ms). A file that cannot be read any more keeps its last
 * content. Valid until the next call. */
const struct headers *given_headers(struct given *a, int64_t now_ms);
/* A request was refused with 401: looks at the files at once, whatever their
 * time says. Returns true when the headers are other ones now. */
bool given_reread(struct given *a);
/* Tells one content of the files from the next. */
uint64_t given_version(const struct given *a);
/* Is any Authorization configured? */
bool given_has_authorization(const struct given *a);
void given_free(struct given *a);

#endif
