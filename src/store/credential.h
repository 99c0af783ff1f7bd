/*
 * Turns text of the user into headers: "Name: value" lines with ${VAR}, and
 * bearer tokens. Each function returns 0, or -1 with *why, which the caller
 * owns and which never contains a value.
 */
#ifndef MCPSPLICE_STORE_CREDENTIAL_H
#define MCPSPLICE_STORE_CREDENTIAL_H

#include <sys/stat.h>

#include "base/headers.h"

/* Looks up a variable; get returns NULL for one that is not set. */
struct credential_env {
	const char *(*get)(const char *name, void *arg);
	void *arg;
};

/* Warns if other users can read or write this file, which holds a credential of
 * the user. st is of the file; what is no regular file is not checked. */
void credential_check_file(const char *path, const struct stat *st);

/* Adds one "Name: value" line. ${VAR} is replaced once, $$ is a dollar, a
 * dollar before any other character stands for itself. Headers that the
 * transport sets itself are refused. */
int credential_line(struct headers *to, struct span line,
    const struct credential_env *env, char **why);
/* Adds all lines of a file, which may contain blank lines and # comments. */
int credential_lines(struct headers *to, struct span text,
    const struct credential_env *env, char **why);
/* Adds "Authorization: Bearer TOKEN". Blanks around the token are removed; the
 * rest has to be visible ASCII without blanks. */
int credential_bearer(struct headers *to, struct span token, char **why);
/* Replaces ${VAR} as in a header line, and appends the text to out. */
int credential_expand(struct span in, const struct credential_env *env,
    struct buf *out, char **why);

#endif
