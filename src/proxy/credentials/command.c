/*
 * --auth-command: the user's credential helper. Its answer is kept until it
 * expires or is refused.
 *
 * Invariants: one helper runs at a time, and questions that come meanwhile wait
 * for it, unless it only renews early what is good still. A run that fails
 * leaves the headers at hand unchanged. No message ever contains output of the
 * helper.
 */
#include "config.h"

#include "proxy/credentials/command.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "base/log.h"
#include "io/child.h"
#include "store/document.h"

enum {
	ANSWER_VERSION = 1,
	AWS_EARLY_S = 300 /* a key is renewed so long before it ends */
};

struct waiter {
	struct waiter *next;
	uint64_t ticket;
};

struct command_auth {
	struct loop *l;
	char **words;
	char *url;
	const char *const *unset;
	bool aws;
	command_cb *cb;
	void *arg;
	struct child *child; /* NULL: the helper does not run */
	struct buf output;
	struct waiter *waiters; /* the latest first */
	struct headers headers;
	struct headers key;
	bool at_hand;
	uint64_t version;
	int64_t expires_at; /* s since 1970; 0: not known */
	int64_t renew_at;   /* likewise; the helper runs again from then on */
	int64_t asked_at;   /* time of the last run */
	bool spare;         /* what is at hand was good at each question since
			     * then, and is used until it ends */
	int64_t refused_at; /* time of the last run because of a 401 */
};

/* Does text begin like the pattern, in which 0 is any digit, and a letter also
 * the small one? */
static bool
begins(const char *text, const char *pattern)
{
	for (; *pattern != '\0'; text++, pattern++)
		if (*pattern == '0' ? !is_digit(*text) :
				      toupper((unsigned char)*text) != *pattern)
			return false;
	return true;
}

/* Returns the number that these n digits are. */
static int
digits(const char *p, size_t n)
{
	return (int)span_number((struct span){ p, n });
}

/* Returns "2026-01-31" as days since 1970, or -1 if there is no such day. */
static int64_t
days_of(const char *date)
{
	static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243,
		273, 304, 334, 365 };
	int y = digits(date, 4), m = digits(date + 5, 2),
	    d = digits(date + 8, 2);
	int leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
	int64_t past = y - 1; /* the years before y, for counting leap days */

	if (y < 1970 || m < 1 || m > 12 || d < 1 ||
	    d > before[m] - before[m - 1] + (m == 2 && leap))
		return -1;
	return (past - 1969) * 365 + past / 4 - past / 100 + past / 400 - 477 +
	    before[m - 1] + (m > 2 && leap) + d - 1;
}

/* Returns "12:34" as minutes, or -1 if there is no such time. */
static int
minutes_of(const char *time)
{
	int h = digits(time, 2), m = digits(time + 3, 2);

	return h > 23 || m > 59 ? -1 : h * 60 + m;
}

/* Reads a time of RFC 3339, without its fraction, as s since 1970, or returns
 * -1. */
static int64_t
read_instant(const char *text)
{
	int minutes, seconds, offset = 0, sign = 1;
	const char *zone;
	int64_t days;

	if (!begins(text, "0000-00-00T00:00:00"))
		return -1;
	days = days_of(text);
	minutes = minutes_of(text + 11);
	seconds = digits(text + 17, 2);
	zone = text + 19;
	if (begins(zone, ".0"))
		zone += 1 + strspn(zone + 1, "0123456789");
	if (begins(zone, "+00:00") || begins(zone, "-00:00")) {
		sign = *zone == '-' ? -1 : 1;
		offset = minutes_of(zone + 1);
		zone += 5;
	} else if (!begins(zone, "Z")) {
		return -1;
	}
	if (days < 0 || minutes < 0 || seconds > 60 || offset < 0 ||
	    zone[1] != '\0')
		return -1;
	return days * 86400 + (minutes - sign * offset) * 60 + seconds;
}

/* Hides the environment: ${VAR} in a helper's output is not replaced. */
static const char *
no_variable(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return NULL;
}

/* Adds one header like a header line of the user, but with every dollar
 * doubled, so that it stands for itself. The message does not tell the name of
 * a wrong header: a helper that swaps name and value has a secret in the place
 * of the name. */
static int
add_header(struct headers *to, const char *name, const char *value, char **why)
{
	static const struct variables env = { no_variable, NULL };
	struct buf line = { 0 };
	char *what = NULL;
	int rc;

	if (strchr(name, ':') != NULL || headers_get(to, name) != NULL)
		return fail_why(why,
		    "a header's name contains a colon, or occurs twice");
	buf_adds(&line, name);
	buf_addc(&line, ':');
	for (; *value != '\0'; value++) {
		if (*value == '$')
			buf_addc(&line, '$');
		buf_addc(&line, *value);
	}
	rc = headers_add_line(to, buf_span(&line), &env, &what);
	buf_wipe(&line);
	free(what);
	if (rc < 0)
		*why = xstrdup("a header contains bytes that cannot be sent, "
			       "or is one that mcpsplice sets itself");
	return rc;
}

/* Adds all headers of a JSON object. Returns 0, or -1 with *why. */
static int
add_headers(struct headers *to, struct json_object *o, char **why)
{
	struct json_object_iterator it, end;
	const char *name, *value;

	if (!json_object_is_type(o, json_type_object) ||
	    json_object_object_length(o) == 0)
		return fail_why(why, "\"headers\" is not an object of headers");
	it = json_object_iter_begin(o);
	end = json_object_iter_end(o);
	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		name = json_object_iter_peek_name(&it);
		value = document_text(o, name);
		if (value == NULL)
			return fail_why(why,
			    "the value of a header is not a string");
		if (add_header(to, name, value, why) < 0)
			return -1;
	}
	return 0;
}

/* Reads expires_at, which may be missing. Returns 0, or -1 with *why. */
static int
read_expiry(struct json_object *o, int64_t *expires_at, char **why)
{
	const char *text = document_text(o, "expires_at");

	*expires_at = 0;
	if (!document_has(o, "expires_at"))
		return 0;
	*expires_at = document_number(o, "expires_at");
	if (*expires_at < 0 && text != NULL)
		*expires_at = read_instant(text);
	if (*expires_at > 0)
		return 0;
	return fail_why(why,
	    "\"expires_at\" is not a whole number of seconds since 1970 or a "
	    "time such as 2026-01-31T12:00:00Z");
}

/* Reads the members of the answer into to. Returns 0, or -1 with *why. */
static int
read_members(struct json_object *o, struct headers *to, int64_t *expires_at,
    char **why)
{
	bool headers = document_has(o, "headers");

	if (document_number(o, "version") != ANSWER_VERSION)
		return fail_why(why, "it has no \"version\": 1");
	if (document_has(o, "token") == headers)
		return fail_why(why,
		    "it must have either \"token\" or \"headers\"");
	if (read_expiry(o, expires_at, why) < 0)
		return -1;
	if (headers)
		return add_headers(to, json_object_object_get(o, "headers"),
		    why);
	return headers_add_bearer(to, span_of(document_text(o, "token")), why);
}

/* Does the same for an answer of a credential_process. */
static int
read_aws(struct json_object *o, struct headers *key, struct headers *to,
    int64_t *expires_at, char **why)
{
	const char *end = document_text(o, "Expiration");

	*expires_at = end == NULL ? 0 : read_instant(end);
	if (document_number(o, "Version") != ANSWER_VERSION || *expires_at < 0)
		return fail_why(why,
		    "it has no \"Version\": 1, or its \"Expiration\" is not "
		    "a time such as 2026-01-31T12:00:00Z");
	return headers_add_aws(key, to, document_text(o, "AccessKeyId"),
	    document_text(o, "SecretAccessKey"),
	    document_text(o, "SessionToken"), why);
}

/* A key that ends soon is renewed when half of the time is over. */
static void
plan_renewal(struct command_auth *c)
{
	int64_t half = (c->expires_at - c->asked_at) / 2;

	c->renew_at = c->expires_at;
	if (c->aws && c->expires_at != 0 && half > 0)
		c->renew_at -= half < AWS_EARLY_S ? half : AWS_EARLY_S;
}

/* Makes the answer the headers at hand. Returns 0, or -1 with *why. */
static int
take_answer(struct command_auth *c, char **why)
{
	struct headers fresh = { 0 }, key = { 0 };
	struct json_object *o;
	const char *fault;
	int64_t expires_at = 0;
	char *what;
	int rc;

	o = document_parse(buf_span(&c->output), &fault);
	if (o == NULL)
		return fail_why(why,
		    "--auth-command: its answer cannot be used: %s", fault);
	rc = c->aws ? read_aws(o, &key, &fresh, &expires_at, &what) :
		      read_members(o, &fresh, &expires_at, &what);
	if (rc < 0) {
		*why =
		    xasprintf("--auth-command: its answer cannot be used: %s",
			what);
		free(what);
		headers_free(&fresh);
		headers_free(&key);
		json_object_put(o);
		return -1;
	}
	json_object_put(o);
	headers_free(&c->headers);
	headers_free(&c->key);
	c->headers = fresh;
	c->key = key;
	c->at_hand = true;
	c->version++;
	c->expires_at = expires_at;
	plan_renewal(c);
	return 0;
}

/* Answers all waiters. A callback may ask again, which makes a new list. */
static void
tell(struct command_auth *c, const char *why)
{
	struct waiter *list = c->waiters, *w;

	c->waiters = NULL;
	while ((w = list) != NULL) {
		list = w->next;
		c->cb(w->ticket, why == NULL ? &c->headers : NULL, why, c->arg);
		free(w);
	}
}

static void
on_done(enum child_end end, int value, void *arg)
{
	struct command_auth *c = arg;
	char *fate = child_fate(end, value), *why = NULL;

	c->child = NULL;
	if (end == CHILD_EXIT && value == 0)
		take_answer(c, &why);
	else
		why = xasprintf("--auth-command: the program %s", fate);
	buf_wipe(&c->output);
	if (why != NULL && c->spare) {
		log_warn("%s; using the current key until it expires", why);
		plan_renewal(c);
	}
	tell(c, why);
	free(why);
	free(fate);
}

static void
run(struct command_auth *c, const char *reason)
{
	static const struct child_ops ops = { .done = on_done };
	struct child_config config = { .argv = (const char *const *)c->words,
		.unset = c->unset,
		.output = true,
		.all = &c->output,
		.max_output = BOUND_TEXT_BYTES,
		.timeout_ms = BOUND_LONG_MS };
	struct buf input = { 0 };

	buf_adds(&input, "{\"url\":");
	codec_json_string(&input, span_of(c->url));
	buf_adds(&input, ",\"resource\":");
	codec_json_string(&input, span_of(c->url));
	buf_addf(&input, ",\"reason\":\"%s\"}\n", reason);
	config.input = buf_span(&input);
	log_debug("--auth-command: starting the program (reason: %s)", reason);
	c->child = child_new(c->l, &config, &ops, c);
	buf_free(&input);
}

bool
command_lasts(const struct command_auth *c, int64_t until_s)
{
	return c->renew_at == 0 || until_s < c->renew_at;
}

/* Returns the reason to run the helper now; NULL: the headers at hand will
 * do. */
static const char *
reason(const struct command_auth *c, int64_t now_s, bool refused)
{
	if (!c->at_hand)
		return "start";
	if (!command_lasts(c, now_s))
		return "expired";
	/* If the clock was set back, do not wait for it */
	if (refused &&
	    (now_s < c->refused_at ||
		now_s - c->refused_at >= BOUND_SHORT_MS / 1000))
		return "unauthorized";
	return NULL;
}

const struct headers *
command_headers(struct command_auth *c, uint64_t ticket, int64_t now_s,
    bool refused)
{
	const char *why = c->child != NULL ? NULL : reason(c, now_s, refused);
	struct waiter *w;

	if (c->child == NULL && why == NULL)
		return &c->headers;
	if (why != NULL)
		c->asked_at = now_s;
	if (why != NULL && refused)
		c->refused_at = now_s;
	c->spare = (why != NULL || c->spare) && c->at_hand && !refused &&
	    (c->expires_at == 0 || now_s < c->expires_at);
	if (!c->spare) {
		w = xcalloc(1, sizeof *w);
		w->ticket = ticket;
		w->next = c->waiters;
		c->waiters = w;
	}
	if (why != NULL)
		run(c, why);
	return c->spare ? &c->headers : NULL;
}

void
command_drop(struct command_auth *c, uint64_t ticket)
{
	struct waiter **at, *w;

	for (at = &c->waiters; (w = *at) != NULL; at = &w->next)
		if (w->ticket == ticket) {
			*at = w->next;
			free(w);
			return;
		}
}

struct command_auth *
command_new(struct loop *l, const char *command, const char *url,
    const char *const *unset, bool aws, command_cb *cb, void *arg, char **why)
{
	struct command_auth *c;
	char **words, *fault;

	words = child_words(command, &fault);
	if (words == NULL) {
		*why = xasprintf("--auth-command: %s", fault);
		free(fault);
		return NULL;
	}
	c = xcalloc(1, sizeof *c);
	c->l = l;
	c->words = words;
	c->url = xstrdup(url);
	c->unset = unset;
	c->aws = aws;
	c->cb = cb;
	c->arg = arg;
	c->refused_at = -BOUND_SHORT_MS / 1000;
	return c;
}

const struct headers *
command_key(const struct command_auth *c)
{
	return &c->key;
}

uint64_t
command_version(const struct command_auth *c)
{
	return c->version;
}

void
command_free(struct command_auth *c)
{
	if (c == NULL)
		return;
	while (c->waiters != NULL)
		command_drop(c, c->waiters->ticket);
	child_free(c->child, true);
	string_list_free(c->words);
	free(c->url);
	buf_wipe(&c->output);
	headers_free(&c->headers);
	headers_free(&c->key);
	free(c);
}
