/*
 * Text of a user that becomes headers: "Name: value" lines with ${VAR}, and
 * bearer tokens. Every function returns 0, or -1 with *why owned by the
 * caller; *why never holds a value.
 */
#ifndef MCPSPLICE_STORE_CREDENTIAL_H
#define MCPSPLICE_STORE_CREDENTIAL_H

#include "base/headers.h"

/* Looks up a variable; NULL: not set. */
struct credential_env {
	const char *(*get)(const char *name, void *arg);
	void *arg;
};

/* One "Name: value" line. ${VAR} is replaced once, $$ is a dollar, a dollar
 * before anything else is itself. Headers that the transport sets itself are
 * refused. */
int credential_line(struct headers *to, struct span line,
    const struct credential_env *env, char **why);
/* A file of such lines, with blank ones and # comments. */
int credential_lines(struct headers *to, struct span text,
    const struct credential_env *env, char **why);
/* "Authorization: Bearer TOKEN". The token is trimmed; what is left has to be
 * visible ASCII without blanks. */
int credential_bearer(struct headers *to, struct span token, char **why);
/* Replaces ${VAR} as in a header line, and appends the text. */
int credential_expand(struct span in, const struct credential_env *env,
    struct buf *out, char **why);

#endif
