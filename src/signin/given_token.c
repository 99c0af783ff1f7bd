/*
 * A JWT that the user passes. What is no JWT, or has expired, is not sent: the
 * authorization server would say less about it than can be said here.
 */
#include "config.h"

#include "signin/given_token.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "auth/claims.h"
#include "base/bounds.h"
#include "io/child.h"
#include "signin/client_messages.h"

struct given_token {
	const struct token_source *from;
	int64_t now;
	given_token_cb *cb;
	void *arg;
	struct child *child;
	struct buf output;
};

/* Returns why the token is not sent, owned by the caller; NULL: it is. */
static char *
fault_of(const char *option, const char *token, int64_t now)
{
	struct json_object *claims;
	time_t at;
	struct tm tm;
	char date[64] = "?";
	int64_t exp;

	claims = strlen(token) <= BOUND_TEXT_BYTES ? claims_of(token) : NULL;
	if (claims == NULL)
		return xasprintf("%s: what was read is no JWT, which has three "
				 "parts with dots between, and no claim twice",
		    option);
	exp = document_number(claims, "exp");
	json_object_put(claims);
	if (exp < 0 || exp > now)
		return NULL;
	at = (time_t)exp;
	if (localtime_r(&at, &tm) != NULL)
		strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &tm);
	return xasprintf("%s: the JWT expired at %s; whoever makes it has to "
			 "renew it",
	    option, date);
}

/* Tells the token in text, without the blanks around it, or what is wrong with
 * it. */
static void
tell(const struct token_source *from, struct span text, int64_t now,
    given_token_cb *cb, void *arg)
{
	char *token, *why;

	while (text.n > 0 && strchr(" \t\r\n", text.p[text.n - 1]) != NULL)
		text.n--;
	while (text.n > 0 && strchr(" \t\r\n", *text.p) != NULL) {
		text.p++;
		text.n--;
	}
	if (text.n == 0) {
		why = xasprintf("%s: there is no token in it", from->option);
		cb(NULL, why, false, arg);
		free(why);
		return;
	}
	token = xstrndup(text.p, text.n);
	why = fault_of(from->option, token, now);
	cb(why == NULL ? token : NULL, why, false, arg);
	free(why);
	string_wipe(&token);
}

static void
given_token_free(struct given_token *t)
{
	buf_wipe(&t->output);
	free(t);
}

static void
on_output(const char *p, size_t n, void *arg)
{
	struct given_token *t = arg;

	buf_add(&t->output, p, n);
}

static void
on_done(enum child_end end, int value, void *arg)
{
	struct given_token *t = arg;
	char *fate = child_fate(end, value), *why;

	t->child = NULL;
	if (end == CHILD_EXIT && value == 0) {
		tell(t->from, buf_span(&t->output), t->now, t->cb, t->arg);
	} else {
		/* what it wrote is not told: it may be a part of the token */
		why = xasprintf("%s: the program %s", t->from->option, fate);
		t->cb(NULL, why, end != CHILD_NO_START, t->arg);
		free(why);
	}
	free(fate);
	given_token_free(t);
}

static struct given_token *
run(struct loop *l, const struct token_source *from, int64_t now,
    given_token_cb *cb, void *arg)
{
	static const struct child_ops ops = { on_output, NULL, on_done };
	const struct child_config config = {
		.argv = (const char *const *)from->command,
		.unset = from->unset,
		.output = true,
		.max_output = BOUND_TEXT_BYTES,
		.timeout_ms = BOUND_STEP_MS,
	};
	struct given_token *t = xcalloc(1, sizeof *t);

	t->from = from;
	t->now = now;
	t->cb = cb;
	t->arg = arg;
	buf_init(&t->output, 0);
	t->child = child_new(l, &config, &ops, t);
	return t;
}

struct given_token *
given_token_get(struct loop *l, const struct token_source *from, int64_t now,
    given_token_cb *cb, void *arg)
{
	char *text, *why = NULL;

	if (from->command != NULL)
		return run(l, from, now, cb, arg);
	text = from->read(from->arg, &why);
	if (text == NULL)
		cb(NULL, why, false, arg);
	else
		tell(from, span_of(text), now, cb, arg);
	free(why);
	string_wipe(&text);
	return NULL;
}

void
given_token_cancel(struct given_token *t)
{
	if (t == NULL)
		return;
	child_free(t->child, true);
	given_token_free(t);
}
