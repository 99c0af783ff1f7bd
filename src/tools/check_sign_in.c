/* "mcpsplice check": what the server wants of the user, and what there is. */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "os/desktop.h"
#include "tools/check.h"

enum { SIGN_IN_MS = 6 * 1000 };

/* --- what is known --- */

/* What is known of the sign-in at a server. */
struct sign_in {
	struct account account;
	bool late;            /* there is no more time */
	struct record record; /* of the store, or of mcp-remote */
	char *imported;       /* the file of mcp-remote; NULL: not from there */
	char *store_why;      /* why the store cannot be read, or NULL */
	struct discovered offer; /* of the server, if it was asked, or zeros */
	bool ticket;             /* it wants a Kerberos ticket, and no token */
	bool unnamed; /* what the user gives goes there only with --issuer */
	char *why;    /* why nothing can be said of it, for users, or NULL */
};

static void
on_late(void *arg)
{
	struct sign_in *s = arg;

	s->late = true;
	loop_stop(s->account.loop, 0);
}

static void
discover(struct sign_in *s)
{
	const struct login_config *c = &s->account.login;
	const struct discovery_config config = login_place(c, s->record.issuer,
	    c->mode == LOGIN_BROWSER);
	const char *issuer;
	bool transient;

	if (discovery_run(s->account.fetcher, &config, &s->late, &s->offer,
		&s->why, &transient)) {
		issuer = s->offer.server.issuer;
		s->unnamed = c->gives_secret && c->issuer == NULL &&
		    issuer != NULL &&
		    (c->elsewhere ||
			!metadata_is_at(issuer, c->server->origin));
	} else if (s->why == NULL) {
		s->why = xstrdup("the sign-in server did not answer in time");
	}
}

/* Does the server say nothing? A login would try usual places. */
static bool
is_guessed(const struct sign_in *s)
{
	return s->offer.legacy && s->offer.server.issuer == NULL;
}

static void
import(struct sign_in *s)
{
	char *why = NULL;

	if (s->account.login.import != NULL)
		import_tokens(&s->record, s->account.login.import, &s->imported,
		    &why);
	free(why);
}

/* Returns whether it was read in time, or cannot be. */
static bool
look_into_store(struct sign_in *s)
{
	struct account *a = &s->account;
	char name[STORE_NAME_BYTES];
	struct stored found;

	if (a->store == NULL) {
		s->store_why = xasprintf("%s; " STORE_LACKS, a->store_why);
		import(s);
		return true;
	}
	store_name(name, a->url.text, a->options->profile);
	stored_read(&found, a->loop, a->store, name);
	s->store_why = found.why;
	s->record = found.record;
	if (!found.there && found.why == NULL)
		import(s);
	return found.answered;
}

/* Finds out about it without the user, and runs the loop for limit_ms at most.
 * The server is asked for its offers if p is a 401. Returns 0, or -1 with *why
 * for users. Free s with sign_in_free in both cases. */
static int
sign_in_look(struct sign_in *s, struct loop *l, const struct options *o,
    const struct probe *p, int64_t limit_ms, char **why)
{
	struct challenge *challenge = &s->account.challenge;
	struct loop_timer *timer;

	memset(s, 0, sizeof *s);
	if (account_init(&s->account, l, o, p->peer, why) != 0)
		return -1;
	challenge_parse(challenge, buf_span(&p->challenge));
	s->ticket = challenge_wants_ticket(challenge);
	timer = loop_timer_new(l, on_late, s);
	loop_timer_set(timer, limit_ms);
	if (look_into_store(s) && p->status == 401 && !s->ticket)
		discover(s);
	loop_timer_free(timer);
	return 0;
}

static void
sign_in_free(struct sign_in *s)
{
	account_free(&s->account);
	record_free(&s->record);
	free(s->imported);
	free(s->store_why);
	discovered_free(&s->offer);
	free(s->why);
}

/* --- what is said of it --- */

static void
add_remedy(struct buf *out, const struct check *c, const struct sign_in *s)
{
	check_add_login(out, c);
	if (s->offer.server.device_authorization_endpoint != NULL &&
	    c->options->auth != AUTH_DEVICE)
		buf_adds(out,
		    ", with --auth device if the browser is on another "
		    "machine");
}

static const char *
scopes_of(const struct sign_in *s)
{
	return s->offer.scopes != NULL ? s->offer.scopes :
					 s->offer.server.scopes;
}

/* Appends where one can sign in, and how. */
static void
add_offer(struct buf *out, const struct check *c, const struct sign_in *s)
{
	const struct server_metadata *m = &s->offer.server;
	bool browser = m->authorization_endpoint != NULL;
	bool device = m->device_authorization_endpoint != NULL;
	bool registers = m->registration_endpoint != NULL;

	buf_addf(out, "%s: sign in by %s%s%s%s%s",
	    m->issuer != NULL ? m->issuer : c->url.origin,
	    browser ? "browser" : "", browser && device ? " or " : "",
	    device ? "device code" : "", registers ? ", registers clients" : "",
	    m->client_document ? ", accepts client documents" : "");
	if (!registers && !m->client_document &&
	    c->options->client_id == NULL && c->options->client_info == NULL)
		buf_adds(out, ", requires --client-id ID");
	if (scopes_of(s) != NULL)
		buf_addf(out, ", scopes: %.200s", scopes_of(s));
}

static void
add_data(struct report *r, const struct probe *p, const struct sign_in *s)
{
	const struct server_metadata *m = &s->offer.server;

	report_number(r, "status", p->status);
	report_flag(r, "wanted", p->status == 401);
	report_flag(r, "kerberos", s->ticket);
	if (p->status != 401 || s->why != NULL || is_guessed(s) || s->ticket)
		return;
	report_text(r, "issuer", m->issuer);
	report_flag(r, "browser", m->authorization_endpoint != NULL);
	report_flag(r, "device_code", m->device_authorization_endpoint != NULL);
	report_flag(r, "registration", m->registration_endpoint != NULL);
	report_flag(r, "client_document", m->client_document);
	report_text(r, "scopes", scopes_of(s));
}

/* Appends to the text, and returns the state. */
static enum step_state __attribute__((format(printf, 3, 4)))
say(struct buf *text, enum step_state state, const char *fmt, ...)
{
	va_list ap;
	char *words;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	buf_adds(text, words);
	free(words);
	return state;
}

/* Returns what passes credentials instead of a sign-in, or NULL. */
static const char *
given(const struct options *o)
{
	const char *credential = options_given_credential(o);

	if (credential == NULL && o->auth == AUTH_GIVEN)
		return o->headers.n > 0 ? "--header" : "--cert";
	return credential;
}

/* Does the server refuse the headers that the user gave? Then their status is
 * returned, else 0. */
static int
refusal_of_given(struct check *c)
{
	const struct given_config config = setup_given(c->options);
	char *why = NULL;
	struct given *g = given_new(&config, &why);
	struct probe p = { .with = g == NULL ? NULL : given_headers(g, 0) };
	int status = 0;

	if (p.with != NULL && p.with->n > 0) {
		p.limit_ms = check_time(c, SIGN_IN_MS);
		(void)probe_send(&p, c->loop, c->options, &why);
		status = p.status == 401 || p.status == 403 ? p.status : 0;
		probe_free(&p);
	}
	given_free(g);
	free(why);
	return status;
}

/* There is a token. Does it open the server, as far as one can tell? */
static enum step_state
tell_token(struct buf *text, const struct check *c, const struct sign_in *s)
{
	const struct record *r = &s->record;
	bool over = record_expired(r, (int64_t)time(NULL)) &&
	    r->token.refresh == NULL;
	struct buf who = { 0 }, token = { 0 };

	command_user_text(&who, r);
	command_token_text(&token, r);
	buf_addf(text, "signed in%s%s%s%s; the token %s %s",
	    who.n > 0 ? " as " : "", buf_str(&who),
	    s->imported != NULL ? " by mcp-remote, in " : "",
	    s->imported != NULL ? s->imported : "",
	    record_expired(r, (int64_t)time(NULL)) ? "has" : "is",
	    buf_str(&token));
	report_text(c->report, "account", who.n > 0 ? buf_str(&who) : NULL);
	report_text(c->report, "token", buf_str(&token));
	if (over) {
		buf_adds(text, "; ");
		add_remedy(text, c, s);
	}
	buf_free(&who);
	buf_free(&token);
	return over ? STEP_FAILED : STEP_OK;
}

/* The server wants credentials, and no option has any. */
static enum step_state
tell_wanted(struct buf *text, const struct check *c, const struct sign_in *s)
{
	const struct options *o = c->options;
	const struct server_metadata *m = &s->offer.server;
	const char *where = m->issuer != NULL ? m->issuer : c->url.origin;

	if (o->auth == AUTH_NONE)
		return say(text, STEP_FAILED,
		    "the server requires you to sign in, which --auth none "
		    "prevents; remove that");
	if (s->record.token.access != NULL)
		return tell_token(text, c, s);
	if (s->ticket)
		return say(text, STEP_FAILED,
		    "the server requires a Kerberos ticket: %s, and add "
		    "--negotiate",
		    os_ticket_advice);
	if (s->why != NULL || is_guessed(s))
		return say(text, STEP_FAILED,
		    "the server requires credentials, and %s; pass a token "
		    "with --bearer-env NAME or --bearer-file FILE, or a "
		    "header with -H",
		    s->why != NULL ? s->why : "does not say where to sign in");
	if (s->unnamed)
		return say(text, STEP_FAILED,
		    "your secret is sent to %s only if you name it: add "
		    "--issuer %s",
		    where, browser_word(where));
	if (o->auth == AUTH_CLIENT_CREDENTIALS)
		return say(text, STEP_OK,
		    "client credentials get a token at %s", where);
	if (o->auth == AUTH_WORKLOAD)
		return say(text, STEP_OK, "the platform's token gets one at %s",
		    where);
	if (o->auth == AUTH_ENTERPRISE)
		return say(text, STEP_OK, "%s gives what gets a token at %s",
		    o->idp, where);
	buf_adds(text, "not signed in; ");
	if (o->auth == AUTH_DEVICE && m->device_authorization_endpoint == NULL)
		return say(text, STEP_FAILED,
		    "%s offers no device code: remove --auth device, and use "
		    "a browser",
		    where);
	add_remedy(text, c, s);
	buf_adds(text, "; ");
	add_offer(text, c, s);
	return STEP_FAILED;
}

static enum step_state
tell(struct buf *text, struct check *c, const struct probe *p,
    const struct sign_in *s)
{
	const char *from = given(c->options);
	int refused = refusal_of_given(c);
	bool token = s->record.token.access != NULL;
	const struct options *o = c->options;

	report_text(c->report, "from", from);
	if (refused != 0)
		return say(text, STEP_WARNING,
		    "the server rejects %s (%d): check the token and its "
		    "permissions",
		    from != NULL ? from : "--header", refused);
	if (p->status == 403 && p->refusal != NULL && from == NULL &&
	    p->challenge.n == 0)
		return say(text, STEP_WARNING, "%s", p->refusal);
	if (p->status == 401 && from != NULL)
		return say(text, STEP_OK,
		    "the server requires credentials; %s provides them", from);
	if (p->status == 401 && !token && (o->headers.n > 0 || o->cert != NULL))
		return say(text, STEP_OK,
		    "the server requires credentials; %s may provide them",
		    o->headers.n > 0 ? "--header" : "--cert");
	if (p->status == 401)
		return tell_wanted(text, c, s);
	if (p->status == 403 && from == NULL)
		return say(text, STEP_WARNING,
		    "the server refuses a request without credentials (403): "
		    "pass them with --bearer-env NAME, --bearer-file FILE or "
		    "-H");
	if (p->status == 0 || p->status == 429 || p->status == 503)
		buf_adds(text,
		    "unknown: the server did not say whether it "
		    "requires one");
	else
		buf_adds(text, "not required");
	if (from != NULL)
		return say(text, STEP_OK, "; %s sends credentials", from);
	if (token) {
		buf_adds(text, "; ");
		(void)tell_token(text, c, s);
	}
	return STEP_OK;
}

bool
check_sign_in(struct check *c, const struct probe *p)
{
	struct report *r = c->report;
	enum step_state state;
	struct sign_in s;
	char *why = NULL;
	struct buf text = { 0 };

	report_step(r, "sign-in", "the store and the sign-in server");
	if (sign_in_look(&s, c->loop, c->options, p, check_time(c, SIGN_IN_MS),
		&why) != 0) {
		report_end(r, STEP_FAILED, "%s", why);
		check_skip(c, "revision");
		sign_in_free(&s);
		free(why);
		return false;
	}
	add_data(r, p, &s);
	state = tell(&text, c, p, &s);
	c->signed_in = s.record.token.access != NULL;
	if (s.store_why != NULL)
		buf_addf(&text, "; %s", s.store_why);
	if (state == STEP_OK && s.store_why != NULL)
		state = STEP_WARNING;
	report_end(r, state, "%s", buf_str(&text));
	if (state == STEP_FAILED)
		check_skip(c, "revision");
	buf_free(&text);
	sign_in_free(&s);
	return state != STEP_FAILED;
}
