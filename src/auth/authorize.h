/*
 * Credentials for one exchange after the other, whatever they are: given
 * headers, a helper of the user's, OAuth, or none. The one place that an
 * exchange gets them from, so that they go to the server and to nobody else.
 */
#ifndef MCPSPLICE_AUTH_AUTHORIZE_H
#define MCPSPLICE_AUTH_AUTHORIZE_H

#include "auth/given.h"
#include "auth/oauth.h"

struct authorize;

struct authorize_config {
	const struct given_config *given;
	const char *command; /* of --auth-command, not split; NULL: none */
	const char *url;     /* for the command */
	const char *const *unset;
	const struct oauth_config *oauth; /* NULL: no OAuth */
	bool wanted; /* OAuth was asked for by name: an Authorization of the
		      * user's, which would win, is a mistake then */
};

/* See oauth.h. There is one answer for each question, which may come from
 * inside it: go, deny (nothing is sent) or stand. */
struct authorize_ops {
	struct oauth_ops oauth;
	void (*deny)(uint64_t ticket, const char *why, void *arg);
};

/* NULL with *why for people, owned by the caller. What config names is
 * borrowed. */
struct authorize *authorize_new(struct loop *l,
    const struct authorize_config *config, const struct authorize_ops *ops,
    void *arg, char **why);
/* last: with what there is, nothing is begun for it. */
void authorize_ask(struct authorize *a, uint64_t ticket, bool last);
/* Returns false when nothing can mend it. */
bool authorize_refused(struct authorize *a, uint64_t ticket,
    const struct oauth_refusal *r);
void authorize_accepted(struct authorize *a, uint64_t stamp);
/* Nobody waits for an answer any more. */
void authorize_drop(struct authorize *a, uint64_t ticket);
void authorize_free(struct authorize *a);

#endif
