/* "mcpsplice check": what the server wants of the user, and what there is. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/codec.h"
#include "signin/discovery.h"
#include "tools/check.h"
#include "tools/command.h"

enum { SIGN_IN_MS = 6 * 1000 };

/* --- what is known --- */

/* What is known of the sign-in at a server. */
struct sign_in {
	struct record record; /* of the store, or of mcp-remote */
	char *imported;       /* the file of mcp-remote; NULL: not from there */
	char *store_why;      /* why the store cannot be read, or NULL */
	/* What the server offers, if it was asked: */
	bool browser, device, registers, client_document;
	bool ticket;  /* it wants a Kerberos ticket, and no token */
	bool guessed; /* it says nothing; a login would try usual places */
	bool unnamed; /* what the user gives goes there only with --issuer */
	char *issuer; /* NULL: it is the server itself */
	char *scopes; /* blanks between; NULL: not told */
	char *why;    /* why nothing can be said of it, for users, or NULL */
};

struct looking {
	struct sign_in *out;
	struct account account;
	bool late, had;
};

static void
on_late(void *arg)
{
	struct looking *g = arg;

	g->late = true;
	loop_stop(g->account.loop, 0);
}

/* --- the offers --- */

static void
take_offers(struct sign_in *s, const struct discovered *d)
{
	s->guessed = d->legacy && d->server.issuer == NULL;
	s->browser = d->server.authorization_endpoint != NULL;
	s->device = d->server.device_authorization_endpoint != NULL;
	s->registers = d->server.registration_endpoint != NULL;
	s->client_document = d->server.client_document;
	s->issuer = string_copy(d->server.issuer);
	s->scopes = string_copy(d->scopes != NULL ? d->scopes :
						    d->server.scopes);
}

static void
discover(struct looking *g)
{
	const struct login_config *c = &g->account.login;
	const struct discovery_config config = login_place(c,
	    g->out->record.issuer, c->mode == LOGIN_BROWSER);
	struct discovered d;
	bool transient;

	if (discovery_run(g->account.fetcher, &config, &g->late, &d,
		&g->out->why, &transient)) {
		take_offers(g->out, &d);
		g->out->unnamed = c->gives_secret && c->issuer == NULL &&
		    d.server.issuer != NULL &&
		    (c->elsewhere ||
			!metadata_is_at(d.server.issuer, c->server->origin));
		discovered_free(&d);
	} else if (g->out->why == NULL) {
		g->out->why = xstrdup("the sign-in server did not answer in "
				      "time");
	}
}

/* --- the store --- */

static void
import(struct looking *g)
{
	struct sign_in *s = g->out;
	char *why = NULL;

	if (g->account.login.import != NULL)
		import_tokens(&s->record, g->account.login.import, &s->imported,
		    &why);
	free(why);
}

static void
on_record(const struct record *r, const char *why, void *arg)
{
	struct looking *g = arg;

	g->had = true;
	if (why != NULL)
		g->out->store_why = xstrdup(why);
	if (r != NULL)
		record_copy(&g->out->record, r);
	else if (why == NULL)
		import(g);
	loop_stop(g->account.loop, 0);
}

/* Returns whether it was read in time, or cannot be. */
static bool
look_into_store(struct looking *g)
{
	struct account *a = &g->account;
	char name[STORE_NAME_BYTES];
	struct store_op *get;

	if (a->store == NULL) {
		g->out->store_why = xasprintf("%s; " STORE_LACKS, a->store_why);
		import(g);
		return true;
	}
	store_name(name, a->url.text, a->options->profile);
	get = store_get(a->store, name, on_record, g);
	loop_run(a->loop);
	if (g->had)
		return true;
	store_cancel(get);
	g->out->store_why = xstrdup("the store did not answer in time");
	return false;
}

/* Finds out about it without the user, and runs the loop for limit_ms at most.
 * The server is asked for its offers if p is a 401. Returns 0, or -1 with *why
 * for users. Free s with sign_in_free in both cases. */
static int
sign_in_look(struct sign_in *s, struct loop *l, const struct options *o,
    const struct probe *p, int64_t limit_ms, char **why)
{
	struct looking g = { .out = s };
	struct loop_timer *timer;
	int rc;

	memset(s, 0, sizeof *s);
	rc = account_init(&g.account, l, o, p->peer, why);
	if (rc == 0) {
		challenge_parse(&g.account.challenge, buf_span(&p->challenge));
		s->ticket = challenge_wants_ticket(&g.account.challenge);
		timer = loop_timer_new(l, on_late, &g);
		loop_timer_set(timer, limit_ms);
		if (look_into_store(&g) && p->status == 401 && !s->ticket)
			discover(&g);
		loop_timer_free(timer);
	}
	account_free(&g.account);
	return rc;
}

static void
sign_in_free(struct sign_in *s)
{
	record_free(&s->record);
	free(s->imported);
	free(s->store_why);
	free(s->issuer);
	free(s->scopes);
	free(s->why);
}

/* --- what is said of it --- */

static void
add_remedy(struct buf *out, const struct check *c, const struct sign_in *s)
{
	check_add_login(out, c);
	if (s->device && c->options->auth != AUTH_DEVICE)
		buf_adds(out,
		    ", with --auth device if the browser is on another "
		    "machine");
}

/* Appends where one can sign in, and how. */
static void
add_offer(struct buf *out, const struct check *c, const struct sign_in *s)
{
	const char *const ways[] = { s->browser ? "browser" : NULL,
		s->device ? "device code" : NULL };
	const char *const clients[] = { s->registers ? "registers clients" :
						       NULL,
		s->client_document ? "accepts client documents" : NULL };
	size_t i, n = 0;

	buf_adds(out, s->issuer != NULL ? s->issuer : c->url.origin);
	buf_adds(out, ": sign in by ");
	for (i = 0; i < 2; i++)
		if (ways[i] != NULL)
			buf_addf(out, "%s%s", n++ > 0 ? " or " : "", ways[i]);
	for (i = 0; i < 2; i++)
		if (clients[i] != NULL)
			buf_addf(out, ", %s", clients[i]);
	if (!s->registers && !s->client_document &&
	    c->options->client_id == NULL && c->options->client_info == NULL)
		buf_adds(out, ", requires --client-id ID");
	if (s->scopes != NULL)
		buf_addf(out, ", scopes: %.200s", s->scopes);
}

static void
add_data(struct report *r, const struct probe *p, const struct sign_in *s)
{
	report_number(r, "status", p->status);
	report_flag(r, "wanted", p->status == 401);
	report_flag(r, "kerberos", s->ticket);
	if (p->status != 401 || s->why != NULL || s->guessed || s->ticket)
		return;
	report_text(r, "issuer", s->issuer);
	report_flag(r, "browser", s->browser);
	report_flag(r, "device_code", s->device);
	report_flag(r, "registration", s->registers);
	report_flag(r, "client_document", s->client_document);
	report_text(r, "scopes", s->scopes);
}

/* Returns what passes credentials instead of a sign-in, or NULL. */
static const char *
given(const struct options *o)
{
	const char *credential = options_given_credential(o);

	if (credential != NULL)
		return credential;
	if (o->auth == AUTH_GIVEN)
		return o->headers.n > 0 ? "--header" : "--cert";
	return NULL;
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
		(void)probe_send(&p, c->loop, c->options, &c->url, &why);
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
	const char *where = s->issuer != NULL ? s->issuer : c->url.origin;

	if (o->auth == AUTH_NONE) {
		buf_adds(text,
		    "the server requires you to sign in, which --auth none "
		    "prevents; remove that");
		return STEP_FAILED;
	}
	if (s->record.token.access != NULL)
		return tell_token(text, c, s);
	if (s->ticket) {
		buf_adds(text,
		    "the server requires a Kerberos ticket: run kinit, and "
		    "add --negotiate");
		return STEP_FAILED;
	}
	if (s->why != NULL || s->guessed) {
		buf_addf(text,
		    "the server requires credentials, and %s; pass a token "
		    "with --bearer-env NAME or --bearer-file FILE, or a "
		    "header with -H",
		    s->why != NULL ? s->why : "does not say where to sign in");
		return STEP_FAILED;
	}
	if (s->unnamed) {
		buf_addf(text,
		    "your secret is sent to %s only if you name it: add "
		    "--issuer %s",
		    where, browser_word(where));
		return STEP_FAILED;
	}
	if (o->auth == AUTH_CLIENT_CREDENTIALS) {
		buf_addf(text, "client credentials get a token at %s", where);
		return STEP_OK;
	}
	if (o->auth == AUTH_WORKLOAD) {
		buf_addf(text, "the platform's token gets one at %s", where);
		return STEP_OK;
	}
	if (o->auth == AUTH_ENTERPRISE) {
		buf_addf(text, "%s gives what gets a token at %s", o->idp,
		    where);
		return STEP_OK;
	}
	buf_adds(text, "not signed in; ");
	if (o->auth == AUTH_DEVICE && !s->device) {
		buf_addf(text,
		    "%s offers no device code: remove --auth device, and use "
		    "a browser",
		    where);
		return STEP_FAILED;
	}
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

	report_text(c->report, "from", from);
	if (refused != 0) {
		buf_addf(text,
		    "the server rejects %s (%d): check the token and its "
		    "permissions",
		    from != NULL ? from : "--header", refused);
		return STEP_WARNING;
	}
	if (p->status == 403 && p->refusal != NULL && from == NULL &&
	    p->challenge.n == 0) {
		buf_adds(text, p->refusal);
		return STEP_WARNING;
	}
	if (p->status == 401 && from != NULL) {
		buf_addf(text,
		    "the server requires credentials; %s provides "
		    "them",
		    from);
		return STEP_OK;
	}
	if (p->status == 401 && s->record.token.access == NULL &&
	    (c->options->headers.n > 0 || c->options->cert != NULL)) {
		buf_addf(text,
		    "the server requires credentials; %s may "
		    "provide them",
		    c->options->headers.n > 0 ? "--header" : "--cert");
		return STEP_OK;
	}
	if (p->status == 401)
		return tell_wanted(text, c, s);
	if (p->status == 403 && from == NULL) {
		buf_adds(text,
		    "the server refuses a request without credentials (403): "
		    "pass them with --bearer-env NAME, --bearer-file FILE or "
		    "-H");
		return STEP_WARNING;
	}
	if (p->status == 0 || p->status == 429 || p->status == 503)
		buf_adds(text,
		    "unknown: the server did not say whether it "
		    "requires one");
	else
		buf_adds(text, "not required");
	if (from != NULL)
		buf_addf(text, "; %s sends credentials", from);
	else if (s->record.token.access != NULL) {
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
