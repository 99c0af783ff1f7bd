/*
 * A token without the user: by client credentials, or by an assertion. The
 * assertion is one that the user passes, or an ID-JAG that an identity provider
 * gives for an ID token:
 *
 *   ID token > the provider's metadata > exchange > ID-JAG > token
 *
 * The ID token goes to the provider's token endpoint, the assertion to that of
 * the authorization server, and neither anywhere else: each request has the
 * client, the proof and the endpoint of its own side.
 */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>
#include <time.h>

#include "auth/assertion.h"
#include "auth/claims.h"
#include "base/bounds.h"
#include "options/from_options.h"

/* --- a JWT that the user passes --- */

/* A program that prints it. */
struct program {
	struct login *login;
	struct child *child; /* NULL: it has ended */
	enum child_end end;
	char *fate; /* NULL: it ended well */
	struct buf output;
};

static void
on_done(enum child_end end, int value, void *arg)
{
	struct program *p = arg;

	p->child = NULL;
	p->end = end;
	if (end != CHILD_EXIT || value != 0)
		p->fate = child_fate(end, value);
	login_set_done(p->login);
}

/* Returns what the program prints, owned by the caller. NULL: it is reported why
 * not. */
static char *
run(struct login *g, const struct token_source *from)
{
	static const struct child_ops ops = { .done = on_done };
	struct program p = { .login = g };
	const struct child_config config = {
		.argv = (const char *const *)from->command,
		.unset = from->unset,
		.output = true,
		.all = &p.output,
		.max_output = BOUND_TEXT_BYTES,
		.timeout_ms = BOUND_STEP_MS,
	};
	char *why;

	g->done = false;
	p.child = child_new(g->loop, &config, &ops, &p);
	if (login_await(g) && p.fate == NULL)
		return buf_take(&p.output);
	if (p.fate != NULL) {
		/* what it wrote is not told: it may be a part of the token */
		why = xasprintf("%s: the program %s", from->option, p.fate);
		login_report_why(g,
		    p.end == CHILD_NO_START ? CAME_UNABLE : CAME_TRANSIENT,
		    why);
		free(why);
	}
	child_free(p.child, true);
	free(p.fate);
	buf_wipe(&p.output);
	return NULL;
}

/* What is no JWT, or has expired, is not sent: the authorization server would say
 * less about it than can be said here. */

/* Returns why the token is not sent, owned by the caller; NULL: it is. */
static char *
fault_of(const char *option, const char *token)
{
	struct json_object *claims;
	time_t at;
	struct tm tm;
	char date[64] = "?";
	int64_t exp;

	claims = strlen(token) <= BOUND_TEXT_BYTES ? claims_of(token) : NULL;
	if (claims == NULL)
		return xasprintf("%s: not a JWT, which has three parts "
				 "separated by dots, and no claim twice",
		    option);
	exp = document_number(claims, "exp");
	json_object_put(claims);
	if (exp < 0 || exp > login_now())
		return NULL;
	at = (time_t)exp;
	if (localtime_r(&at, &tm) != NULL)
		strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &tm);
	return xasprintf("%s: the JWT expired at %s; whoever makes it has to "
			 "renew it",
	    option, date);
}

/* Takes the token in text, without the blanks around it. Returns what is wrong
 * with it, owned by the caller, or NULL. */
static char *
take_given(struct login *g, const char *option, struct span text)
{
	text = span_trim(text, " \t\r\n");
	string_wipe(&g->assertion);
	g->assertion = xstrndup(text.p, text.n);
	return text.n == 0 ? xasprintf("%s: it contains no token", option) :
			     fault_of(option, g->assertion);
}

/* Reads it into g->assertion. false: it is reported why not. */
static bool
read_given(struct login *g, const struct token_source *from)
{
	char *text, *why = NULL;
	bool good;

	text = from->command != NULL ?
	    run(g, from) :
	    from->file != NULL ?
	    secret_platform_file(from->option, from->file, &why) :
	    secret_env(from->option, from->variable, &why);
	if (text != NULL)
		why = take_given(g, from->option, span_of(text));
	if (why != NULL)
		login_report_why(g, CAME_UNABLE, why);
	good = text != NULL && why == NULL;
	string_wipe(&text);
	free(why);
	return good;
}

/* Each token is a new one for the client, and for whom the assertion or the ID
 * token names. */
static void
name_account(struct login *g, const char *token)
{
	char hash[PKCE_BYTES];
	struct buf b = { 0 };

	claims_whose(token, &b);
	if (pkce_challenge(hash, buf_str(&b)) == 0)
		string_set(&g->record.token.account, hash);
	buf_wipe(&b);
}

static void
send_assertion(struct login *g, const char *assertion)
{
	struct client_request form = { 0 };

	client_jwt_bearer(&form, assertion, g->scope);
	login_ask_credentials(g, &form);
}

/* Does the platform's token name the authorization server that was found, by
 * the comparison of RFC 7523 3? Else it may open another one, and the user has
 * to name that which gets it. If not, it is reported. */
static bool
is_addressed(struct login *g, const char *token)
{
	const struct record *r = &g->record;
	struct json_object *claims = claims_of(token);
	bool named = g->config.issuer != NULL ||
	    claims_are_for(claims, r->issuer) ||
	    claims_are_for(claims, r->token_endpoint);
	char *why;

	json_object_put(claims);
	if (named)
		return true;
	why = xasprintf("%s: the token is not for its authorization server "
			"(aud), and is sent there only if you name it: add "
			"--issuer %s",
	    g->config.assertion->option, browser_word(r->issuer));
	login_report_why(g, CAME_UNABLE, why);
	free(why);
	return false;
}

/* --- the exchange at the identity provider --- */

static struct id_jag_for
wanted(const struct login *g)
{
	return (struct id_jag_for){
		.host = g->config.server->host,
		.audience = g->record.issuer,
		.resource = g->record.resource,
		.client = g->record.client.id,
	};
}

/* An ID token that the user passes is renewed by whoever makes it, one of the
 * store by a sign-in. */
static void
report_exchange(struct login *g, enum login_outcome came, const char *why)
{
	if (came == CAME_DEAD_GRANT)
		came = g->config.provider->id_token == NULL ? CAME_NO_IDENTITY :
							      CAME_REFUSED;
	login_report_why(g, came, why);
}

static void
take_exchanged(struct login *g, const struct fetch_answer *a)
{
	struct id_jag_for to = wanted(g);
	enum login_outcome came;
	char *jag, *why = NULL;

	if (login_is_unready(g, a))
		return;
	came = id_jag_answer(&g->identity, a->status, a->json, &to, &jag, &why);
	if (came == CAME_TOKEN)
		send_assertion(g, jag);
	else
		report_exchange(g, came, why);
	string_wipe(&jag);
	free(why);
}

/* Makes the proof of our client at the provider. Returns false if it cannot be
 * made, which is reported. */
static bool
prove(struct login *g, const struct server_metadata *m, char **proof)
{
	const struct login_provider *p = g->config.provider;
	char *why = NULL;

	*proof = NULL;
	if (g->identity.client.method != CLIENT_JWT)
		return true;
	*proof = assertion_make(p->client_key, p->client_id, m->issuer,
	    m->jwt_algs, login_now(), &why);
	if (*proof == NULL)
		login_report_why(g, CAME_UNABLE, why);
	free(why);
	return *proof != NULL;
}

static void
exchange(struct login *g, const struct server_metadata *m)
{
	const struct login_provider *p = g->config.provider;
	struct record *r = &g->identity;
	struct client_request form = { 0 };
	struct fetch_request f = {
		.url = m->token_endpoint,
		.content_type = "application/x-www-form-urlencoded",
		.headers = &form.headers,
	};
	struct fetch_answer a;
	char *proof;

	r->client.source = CLIENT_GIVEN;
	string_set(&r->client.id, p->client_id);
	string_set(&r->client.secret, p->client_secret);
	r->client.method = client_method(m, p->client_secret != NULL,
	    p->client_key != NULL);
	if (!prove(g, m, &proof))
		return;
	name_account(g, r->token.id_token);
	client_exchange(&form, r->token.id_token, g->record.issuer,
	    g->record.resource, g->scope);
	string_set(&r->resource, NULL); /* it is in the form already */
	client_finish(&form, r, proof, false);
	free(proof);
	f.body = buf_span(&form.form);
	if (login_fetch(g, p->fetcher, &f, &a)) {
		if (a.why == NULL && a.transient)
			a.why = xasprintf(CLIENT_PROVIDER " is not ready (%d)",
			    a.status);
		take_exchanged(g, &a);
		fetch_answer_free(&a);
	}
	client_request_free(&form);
}

static void
find_provider(struct login *g)
{
	const struct login_provider *p = g->config.provider;
	const struct discovery_config d = {
		.server = g->config.server,
		.issuer = p->issuer,
		.policy = p->policy,
		.direct = true,
	};
	struct discovered found;

	if (g->record.issuer == NULL) {
		login_report_why(g, CAME_UNABLE,
		    "its authorization server publishes no issuer, so no "
		    "identity provider can issue a token for it");
	} else if (login_find(g, p->fetcher, &d, &found)) {
		exchange(g, &found.server);
		discovered_free(&found);
	}
}

/* --- what the user passes, or has --- */

static void
on_identity(const struct record *r, const char *why, void *arg)
{
	struct login *g = arg;

	g->op = NULL;
	record_free(&g->identity);
	if (r != NULL)
		record_copy(&g->identity, r);
	if (why != NULL)
		login_report_why(g, CAME_BROKEN, why);
	login_set_done(g);
}

/* Reads the record of the provider. false: it is reported why not. */
static bool
read_identity(struct login *g)
{
	const struct login_provider *p = g->config.provider;

	if (p->record != NULL || g->store == NULL) {
		on_identity(p->record, NULL, g);
		return true;
	}
	g->done = false;
	g->op = store_get(g->store, p->name, on_identity, g);
	return login_await(g) && !g->came;
}

static void
exchange_identity(struct login *g)
{
	const struct login_provider *p = g->config.provider;

	if (p->id_token != NULL) {
		if (!read_given(g, p->id_token))
			return;
		string_set(&g->identity.token.id_token, g->assertion);
	} else if (!read_identity(g)) {
		return;
	} else if (!id_token_usable(&g->identity, login_now())) {
		login_report_why(g, CAME_NO_IDENTITY,
		    "the user has to sign in at the identity provider");
		return;
	}
	find_provider(g);
}

void
login_grant(struct login *g, int64_t ms)
{
	const struct login_config *c = &g->config;

	login_set_timer(g, ms);
	if (c->assertion == NULL && c->provider == NULL) {
		login_credentials(g);
		return;
	}
	login_take_client(g);
	if (c->provider != NULL)
		exchange_identity(g);
	else if (read_given(g, c->assertion) && is_addressed(g, g->assertion)) {
		name_account(g, g->assertion);
		send_assertion(g, g->assertion);
	}
}
