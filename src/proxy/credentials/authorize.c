/* Gets the credentials of the exchanges from the given headers, the helper or
 * OAuth. */
#include "config.h"

#include "proxy/credentials/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "auth/challenge.h"
#include "auth/claims.h"
#include "auth/dpop.h"
#include "os/desktop.h"
#include "proxy/credentials/command.h"

struct authorize {
	struct loop *loop;
	struct oauth_ops ops;
	void *arg;
	struct given *given;
	struct command_auth *command;
	bool waits; /* a request does, for the helper */
	bool aws;
	struct headers aws_token; /* of AWS_SESSION_TOKEN */
	struct oauth *oauth;
	struct credentials credentials;
	bool negotiate; /* only the ticket tells who the user is */
	bool hints; /* a server that wants a Kerberos ticket gets no login: the
		     * user is told of --negotiate */
	const char *wrong; /* what a 401 says of the credentials that the user
			    * gave; NULL: there are none */
};

/* --- given headers alone --- */

static void
go_given(struct authorize *a, uint64_t ticket)
{
	given_fill(a->given, &a->credentials, loop_now(a->loop),
	    a->aws ? &a->aws_token : NULL, given_version(a->given), INT64_MAX);
	a->ops.credentials_ready(ticket, a->arg);
}

/* --- the helper --- */

static void
go_helped(struct authorize *a, uint64_t ticket, const struct headers *h)
{
	int64_t now = loop_now(a->loop), until = 0;

	headers_free(&a->credentials.key);
	headers_append(&a->credentials.key, command_key(a->command));
	if (command_lasts(a->command, (int64_t)time(NULL) + LAST_S))
		until = now + LOOK_MS;
	given_fill(a->given, &a->credentials, now, h,
	    command_version(a->command), until);
	a->ops.credentials_ready(ticket, a->arg);
}

static void
tell_waits(struct authorize *a, bool waits)
{
	struct event e = { .kind = INPUT_HELPER, .ok = waits };

	if (waits != a->waits)
		a->ops.event(&e, a->arg);
	a->waits = waits;
}

static void
on_helped(uint64_t ticket, const struct headers *h, const char *why, void *arg)
{
	struct authorize *a = arg;

	tell_waits(a, false);
	if (h != NULL)
		go_helped(a, ticket, h);
	else
		a->ops.refusal_final(ticket, why, false, a->arg);
}

/* Asks the helper. Returns false if its latest headers were refused and it
 * cannot be asked again yet. */
static bool
help(struct authorize *a, uint64_t ticket, bool refused, uint64_t stamp)
{
	bool latest = refused && stamp == command_version(a->command);
	const struct headers *h = command_headers(a->command, ticket,
	    (int64_t)time(NULL), latest);

	if (h != NULL && latest)
		return false;
	tell_waits(a, h == NULL);
	if (h != NULL)
		go_helped(a, ticket, h);
	else
		a->credentials.until = 0; /* all wait for the helper */
	return true;
}

/* --- the variables of AWS --- */

static int
read_variables(struct authorize *a, const struct given_config *g, char **why)
{
	char *what;

	if (headers_add_aws(&a->credentials.key, &a->aws_token,
		g->env("AWS_ACCESS_KEY_ID", g->env_arg),
		g->env("AWS_SECRET_ACCESS_KEY", g->env_arg),
		g->env("AWS_SESSION_TOKEN", g->env_arg), &what) == 0)
		return 0;
	*why = xasprintf("--aws-sigv4: %s; set AWS_ACCESS_KEY_ID and "
			 "AWS_SECRET_ACCESS_KEY, or add --auth-command \"aws "
			 "configure export-credentials\"",
	    what);
	free(what);
	return -1;
}

/* --- for exchanges --- */

static void
ask(uint64_t ticket, bool last, void *arg)
{
	struct authorize *a = arg;

	if (a->oauth != NULL)
		oauth_ask(a->oauth, ticket, last);
	else if (a->command != NULL)
		help(a, ticket, false, 0);
	else
		go_given(a, ticket);
}

static void
prove(const char *method, const char *url, struct headers *to, void *arg)
{
	struct authorize *a = arg;

	if (a->oauth != NULL)
		oauth_prove(a->oauth, method, url, to);
}

static void
heard(const char *nonce, void *arg)
{
	struct authorize *a = arg;

	if (a->oauth != NULL)
		dpop_hear(a->oauth->dpop, nonce);
}

static void
accepted(uint64_t stamp, void *arg)
{
	struct authorize *a = arg;

	if (a->oauth != NULL)
		oauth_accepted(a->oauth, stamp);
}

const struct credentials_ops authorize_ops = { ask, prove, heard, accepted };

/* --- calls from outside --- */

bool
authorize_is_signature(const struct authorize *a, const struct facts *f)
{
	return a->aws && (f->status == 401 || f->status == 403) &&
	    (span_find(f->body, "ignature") != NULL ||
		span_find(f->body, "ecurity token") != NULL ||
		span_find(f->body, "ExpiredToken") != NULL);
}

const struct credentials *
authorize_credentials(const struct authorize *a)
{
	return &a->credentials;
}

/* Adds a value, whose last word may be a token. */
static void
add_whose(struct buf *out, const char *value)
{
	const char *blank = strrchr(value, ' ');
	const char *token = blank == NULL ? value : blank + 1;

	buf_add(out, value, (size_t)(token - value));
	claims_whose(token, out);
	buf_addc(out, '\n');
}

bool
authorize_whose(const struct authorize *a, struct buf *out)
{
	const struct headers *h = given_at_hand(a->given);
	size_t i;

	if (a->negotiate || (a->oauth != NULL && !oauth_whose(a->oauth, out)))
		return false;
	if (a->command != NULL) {
		if (command_version(a->command) == 0)
			return false;
		h = &a->credentials.headers;
	}
	for (i = 0; i < a->credentials.key.n; i++)
		buf_addf(out, "%s\n", a->credentials.key.list[i].name);
	for (i = 0; i < h->n; i++) {
		buf_addf(out, "%s: ", h->list[i].name);
		add_whose(out, h->list[i].value);
	}
	return true;
}

void
authorize_wake(struct authorize *a)
{
	a->credentials.until = 0;
}

/* The given headers may have changed since the request was sent: a file with a
 * token may have new content. Returns false if they are the same. */
static bool
given_again(struct authorize *a, uint64_t ticket, uint64_t stamp)
{
	given_reread(a->given);
	if (given_version(a->given) == stamp)
		return false;
	go_given(a, ticket);
	return true;
}

/* No token is good at a server that asks for a ticket and for nothing else. */
static bool
wants_ticket(const struct authorize *a, const struct facts *f)
{
	struct challenge c;
	bool wants;

	if (!a->hints || f->status != 401 ||
	    (a->oauth != NULL && f->stamp != 0))
		return false;
	challenge_parse(&c, f->challenge);
	wants = challenge_wants_ticket(&c);
	challenge_free(&c);
	return wants;
}

void
authorize_refused(struct authorize *a, uint64_t ticket, const struct facts *f,
    struct span session)
{
	bool asked = false;
	char why[128];

	if (wants_ticket(a, f)) {
		snprintf(why, sizeof why,
		    "it requires a Kerberos ticket: %s, and add --negotiate",
		    os_ticket_advice);
		a->ops.refusal_final(ticket, why, false, a->arg);
		return;
	}
	if (a->oauth != NULL) {
		oauth_refused(a->oauth, ticket, f, session);
		return;
	}
	if ((f->status == 401 || f->signature) && f->refusals + f->again == 0)
		asked = a->command != NULL ? help(a, ticket, true, f->stamp) :
					     given_again(a, ticket, f->stamp);
	if (!asked)
		a->ops.refusal_final(ticket,
		    f->status == 401 && !f->signature ? a->wrong : NULL, false,
		    a->arg);
}

void
authorize_drop(struct authorize *a, uint64_t ticket)
{
	if (a->oauth != NULL)
		oauth_drop(a->oauth, ticket);
	if (a->command != NULL)
		command_drop(a->command, ticket);
}

/* Returns what is wrong if the server refuses the credentials, or NULL. */
static const char *
wrong_given(const struct authorize_config *config, const struct given *given)
{
	if (config->aws && config->command == NULL)
		return "the key of AWS_ACCESS_KEY_ID is wrong or has expired";
	if (config->command != NULL)
		return "the credentials from --auth-command are wrong or "
		       "have expired";
	if (config->given->bearer_env != NULL)
		return "the token from --bearer-env is wrong or has expired";
	if (config->given->bearer_file != NULL)
		return "the token from --bearer-file is wrong or has expired";
	if (given_has_authorization(given))
		return "the Authorization header given with -H is wrong or "
		       "has expired";
	return NULL;
}

/* Returns what an Authorization header would be against, or NULL. */
static const char *
other_credential(const struct authorize_config *config)
{
	return config->oauth != NULL && config->wanted ? "OAuth" :
	    config->aws                                ? "--aws-sigv4" :
	    config->negotiate                          ? "--negotiate" :
							 NULL;
}

struct authorize *
authorize_new(struct loop *l, const struct authorize_config *config,
    const struct oauth_ops *ops, void *arg, char **why)
{
	struct authorize *a = xcalloc(1, sizeof *a);
	const char *other;

	a->loop = l;
	a->ops = *ops;
	a->arg = arg;
	a->aws = config->aws;
	a->given = given_new(config->given, why);
	if (a->given != NULL)
		a->wrong = wrong_given(config, a->given);
	a->negotiate = config->negotiate;
	a->hints = a->wrong == NULL && !config->wanted && !config->negotiate;
	if (a->given != NULL && config->command != NULL)
		a->command = command_new(l, config->command, config->url,
		    config->unset, config->aws, on_helped, a, why);
	if (a->given == NULL || (config->command != NULL && !a->command) ||
	    (config->aws && config->command == NULL &&
		read_variables(a, config->given, why) < 0)) {
		authorize_free(a);
		return NULL;
	}
	other = other_credential(config);
	if (other != NULL && given_has_authorization(a->given)) {
		*why = xasprintf("an Authorization header and %s cannot be "
				 "combined: remove one of them",
		    other);
		authorize_free(a);
		return NULL;
	}
	if (config->oauth != NULL && !given_has_authorization(a->given))
		a->oauth = oauth_new(l, config->oauth, a->given,
		    &a->credentials, ops, arg);
	return a;
}

void
authorize_free(struct authorize *a)
{
	if (a == NULL)
		return;
	oauth_free(a->oauth);
	command_free(a->command);
	given_free(a->given);
	headers_free(&a->aws_token);
	headers_free(&a->credentials.headers);
	headers_free(&a->credentials.key);
	free(a);
}
