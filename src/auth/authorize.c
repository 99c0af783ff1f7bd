/* Gets the credentials of an exchange from the given headers, the helper or
 * OAuth. */
#include "config.h"

#include "auth/authorize.h"

#include <stdlib.h>
#include <time.h>

#include "auth/command.h"

/* A question that waits for the helper. */
struct asked {
	struct asked *next;
	uint64_t ticket;
	bool refused;
};

struct authorize {
	struct loop *loop;
	struct authorize_ops ops;
	void *arg;
	struct given *given;
	struct command_auth *command;
	struct oauth *oauth;
	struct asked *asked;
	/* The given headers together with those of OAuth or the helper, made
	 * once for many exchanges. */
	struct headers both;
	uint64_t both_given, both_stamp;
};

/* --- given headers, and those of OAuth or the helper --- */

static const struct headers *
given(struct authorize *a)
{
	return given_headers(a->given, loop_now(a->loop));
}

static void
go(struct authorize *a, uint64_t ticket, const struct headers *more,
    uint64_t stamp)
{
	const struct headers *mine = given(a);

	if (a->both_given != given_version(a->given) ||
	    a->both_stamp != stamp) {
		headers_free(&a->both);
		headers_append(&a->both, mine);
		headers_append(&a->both, more);
		a->both_given = given_version(a->given);
		a->both_stamp = stamp;
	}
	a->ops.oauth.credentials_ready(ticket, &a->both, stamp, a->arg);
}

/* --- OAuth --- */

static void
on_credentials_ready(uint64_t ticket, const struct headers *h, uint64_t stamp,
    void *arg)
{
	go(arg, ticket, h, stamp);
}

static void
on_refusal_final(uint64_t ticket, const char *why, bool credentials_known_good,
    void *arg)
{
	struct authorize *a = arg;

	a->ops.oauth.refusal_final(ticket, why, credentials_known_good, a->arg);
}

static void
on_user_needed(uint64_t ticket, const char *why, void *arg)
{
	struct authorize *a = arg;

	a->ops.oauth.user_needed(ticket, why, a->arg);
}

static void
on_credentials_changed(void *arg)
{
	struct authorize *a = arg;

	a->ops.oauth.credentials_changed(a->arg);
}

static const char *
on_peer(void *arg)
{
	struct authorize *a = arg;

	return a->ops.oauth.peer(a->arg);
}

/* --- the helper --- */

static void
on_helped(const struct headers *h, const char *why, void *arg)
{
	struct authorize *a = arg;
	struct asked *q, *list = a->asked;

	a->asked = NULL;
	while ((q = list) != NULL) {
		list = q->next;
		if (h != NULL)
			go(a, q->ticket, h, command_version(a->command));
		else if (q->refused)
			a->ops.oauth.refusal_final(q->ticket, why, false,
			    a->arg);
		else
			a->ops.deny(q->ticket, why, a->arg);
		free(q);
	}
}

/* Asks the helper. Returns false if its latest headers were refused and it
 * cannot be asked again yet. */
static bool
help(struct authorize *a, uint64_t ticket, bool refused, uint64_t stamp)
{
	bool latest = refused && stamp == command_version(a->command);
	const struct headers *h = command_headers(a->command,
	    (int64_t)time(NULL), latest, on_helped, a);
	struct asked *q;

	if (h != NULL) {
		if (latest)
			return false;
		go(a, ticket, h, command_version(a->command));
		return true;
	}
	q = xcalloc(1, sizeof *q);
	q->ticket = ticket;
	q->refused = refused;
	q->next = a->asked;
	a->asked = q;
	return true;
}

/* --- calls from outside --- */

void
authorize_ask(struct authorize *a, uint64_t ticket, bool last)
{
	if (a->oauth != NULL)
		oauth_ask(a->oauth, ticket, last);
	else if (a->command != NULL)
		help(a, ticket, false, 0);
	else
		a->ops.oauth.credentials_ready(ticket, given(a),
		    given_version(a->given), a->arg);
}

/* The given headers may have changed since the request was sent: a file with a
 * token may have new content. Returns false if they are the same. */
static bool
given_again(struct authorize *a, uint64_t ticket, uint64_t stamp)
{
	given_reread(a->given);
	if (given_version(a->given) == stamp)
		return false;
	a->ops.oauth.credentials_ready(ticket, given(a),
	    given_version(a->given), a->arg);
	return true;
}

bool
authorize_refused(struct authorize *a, uint64_t ticket,
    const struct oauth_refusal *r)
{
	if (a->oauth != NULL)
		return oauth_refused(a->oauth, ticket, r);
	if (r->status != 401 || r->tries > 0)
		return false;
	if (a->command != NULL)
		return help(a, ticket, true, r->stamp);
	return given_again(a, ticket, r->stamp);
}

void
authorize_accepted(struct authorize *a, uint64_t stamp)
{
	if (a->oauth != NULL)
		oauth_accepted(a->oauth, stamp);
}

void
authorize_drop(struct authorize *a, uint64_t ticket)
{
	struct asked **at, *q;

	if (a->oauth != NULL)
		oauth_drop(a->oauth, ticket);
	for (at = &a->asked; (q = *at) != NULL; at = &q->next)
		if (q->ticket == ticket) {
			*at = q->next;
			free(q);
			return;
		}
}

struct authorize *
authorize_new(struct loop *l, const struct authorize_config *config,
    const struct authorize_ops *ops, void *arg, char **why)
{
	static const struct oauth_ops oauth_ops = { on_credentials_ready,
		on_refusal_final, on_user_needed, on_credentials_changed,
		on_peer };
	struct authorize *a = xcalloc(1, sizeof *a);

	a->loop = l;
	a->ops = *ops;
	a->arg = arg;
	headers_init(&a->both);
	a->given = given_new(config->given, why);
	if (a->given != NULL && config->command != NULL)
		a->command = command_new(l, config->command, config->url,
		    config->unset, why);
	if (a->given == NULL || (config->command != NULL && !a->command)) {
		authorize_free(a);
		return NULL;
	}
	if (config->oauth != NULL && config->wanted &&
	    given_has_authorization(a->given)) {
		*why = xstrdup("an Authorization header and OAuth do not go "
			       "together: leave out one of them");
		authorize_free(a);
		return NULL;
	}
	if (config->oauth != NULL && !given_has_authorization(a->given))
		a->oauth = oauth_new(l, config->oauth, &oauth_ops, a);
	return a;
}

void
authorize_free(struct authorize *a)
{
	struct asked *q;

	if (a == NULL)
		return;
	while ((q = a->asked) != NULL) {
		a->asked = q->next;
		free(q);
	}
	oauth_free(a->oauth);
	command_free(a->command);
	given_free(a->given);
	headers_free(&a->both);
	free(a);
}
