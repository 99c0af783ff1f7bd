/*
 * A JWT that the user passes by an option: the assertion of a workload, or an
 * ID token. It is read anew each time that it is needed, because platforms
 * renew it. It stays with whom it was asked for, and in no message.
 */
#ifndef MCPSPLICE_SIGNIN_GIVEN_TOKEN_H
#define MCPSPLICE_SIGNIN_GIVEN_TOKEN_H

#include "io/loop.h"

/* All borrowed. */
struct token_source {
	const char *option; /* its name, for people */
	/* Reads the text, from a file or a variable. Owned by the caller; NULL
	 * with *why for people, which names the option. */
	char *(*read)(void *arg, char **why);
	void *arg;
	/* or the words of a program that prints it, NULL-ended; and the
	 * variables that it does not get */
	char *const *command;
	const char *const *unset;
};

struct given_token;

/* token is valid in the call. NULL: it cannot be had, for the reason why;
 * transient: later it may be. The object is gone then. */
typedef void given_token_cb(const char *token, const char *why, bool transient,
    void *arg);

/* Reads the token. A file is read at once, and cb called from inside: NULL is
 * returned then. now is s since 1970. */
struct given_token *given_token_get(struct loop *l,
    const struct token_source *from, int64_t now, given_token_cb *cb,
    void *arg);
void given_token_cancel(struct given_token *t); /* no callback; NULL is fine */

#endif
