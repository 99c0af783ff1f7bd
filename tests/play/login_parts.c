/* The parts of a login, which only report what they were asked to do. */
#include "config.h"

#include "play/login_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "signin/state.h"

static const struct login_player *player;
static const struct login_facts *facts; /* of the last input */
static char texts[2][16];               /* issuers */

static void
act(const struct login_action *a)
{
	player->act(a, player->arg);
}

/* clang-format off */
#define PART(name, what)                                                       \
	void                                                                   \
	name(struct login *g)                                                  \
	{                                                                      \
		(void)g;                                                       \
		act(&(struct login_action){ .kind = what });                   \
	}

PART(login_load, DO_LOAD)
PART(login_lock_token, DO_LOCK_TOKEN)
PART(login_lock_login, DO_LOCK_LOGIN)
PART(login_lock_tab, DO_LOCK_TAB)
PART(login_watch, DO_WATCH)
PART(login_clear, DO_CLEAR)
PART(login_count_failure, DO_COUNT_FAILURE)
PART(login_take_given, DO_TAKE_GIVEN)
PART(login_take_document, DO_TAKE_DOCUMENT)
PART(login_register, DO_REGISTER)
PART(login_register_by_name, DO_REGISTER_BY_NAME)
PART(login_refresh, DO_REFRESH)
PART(login_authorize, DO_AUTHORIZE)
PART(login_open, DO_OPEN)
PART(login_exchange, DO_EXCHANGE)
PART(login_device, DO_DEVICE)
PART(login_poll, DO_POLL)
PART(login_unlock_token, DO_UNLOCK_TOKEN)
PART(login_unlock_tab, DO_UNLOCK_TAB)
PART(login_open_for_other, DO_OPEN_FOR_OTHER)
PART(login_close_browser, DO_CLOSE_BROWSER)
PART(login_close_listener, DO_CLOSE_LISTENER)
PART(login_note_success, DO_NOTE_SUCCESS)
PART(login_note_failure, DO_NOTE_FAILURE)
/* clang-format on */

void
login_adopt(struct login *g, enum login_forget what)
{
	(void)g;
	act(&(struct login_action){ .kind = DO_ADOPT, .forget = what });
}

void
login_save(struct login *g, enum login_forget what)
{
	(void)g;
	act(&(struct login_action){ .kind = DO_SAVE, .forget = what });
}

void
login_forget(struct login *g, enum login_forget what)
{
	(void)g;
	act(&(struct login_action){ .kind = DO_FORGET, .forget = what });
}

void
login_listen(struct login *g, bool again)
{
	(void)g;
	act(&(struct login_action){ .kind = DO_LISTEN, .again = again });
}

void
login_discover(struct login *g, int64_t ms, bool interactive)
{
	(void)g;
	act(&(struct login_action){
	    .kind = DO_DISCOVER, .ms = ms, .interactive = interactive });
}

void
login_grant(struct login *g, int64_t ms)
{
	(void)g;
	act(&(struct login_action){ .kind = DO_CREDENTIALS, .ms = ms });
}

void
login_set_timer(struct login *g, int64_t ms)
{
	(void)g;
	act(&(struct login_action){ .kind = DO_WAIT, .ms = ms });
}

void
login_set_timeout(struct login *g, int64_t ms)
{
	(void)g;
	act(&(struct login_action){
	    .kind = ms < 0 ? DO_TIMEOUT_OFF : DO_TIMEOUT, .ms = ms });
}

static void
on_log(enum log_level level, const char *text, void *arg)
{
	(void)arg;
	act(&(struct login_action){
	    .kind = DO_LOG, .level = level, .text = text });
}

static void
drop_log(enum log_level level, const char *text, void *arg)
{
	(void)level;
	(void)text;
	(void)arg;
}

void
login_wait(struct login *g)
{
	player->wait(g, player->arg);
}

void
login_parts_begin(struct login *g, const struct login_wish *wish,
    const struct login_player *who)
{
	static char *const browser[] = { NULL };
	static char origin[] = "https://h", host[] = "mcp.test";
	static const struct url server = { .host = host, .origin = origin };
	static char store;

	memset(g, 0, sizeof *g);
	g->store = wish->shared ? (struct store *)(void *)&store : NULL;
	g->config = (struct login_config){
		.server = &server,
		.mode = wish->mode,
		.reason = wish->reason,
		.interactive = wish->may_ask,
		.unasked = wish->unasked,
		.force = wish->force,
		.device_first = wish->device_first,
		.client_id = wish->client_given ? "given" : NULL,
		.client_document = wish->client_document ? "document" : NULL,
		.gives_secret = wish->secret_given,
		.issuer = wish->issuer_given ? "issuer" : NULL,
		.browser = wish->has_browser ? browser : NULL,
		.timeout_ms = wish->timeout_ms,
		.retry_ms = wish->retry_ms,
		.rejected = wish->rejected,
	};
	if (wish->assertion)
		g->config
		    .assertion = (const struct token_source *)(void *)&store;
	player = who;
	log_sink(drop_log, NULL);
	log_tap(on_log, NULL);
}

void
login_parts_end(struct login *g)
{
	log_tap(NULL, NULL);
	log_sink(NULL, NULL);
	free(g->told);
}

/* The members are not const, but nobody writes there. */
static char there[] = "there", given[] = "given", other[] = "other";

static char *
if_so(bool is)
{
	return is ? there : NULL;
}

static char *
issuer(char to[16], const char *text)
{
	if (text == NULL)
		return NULL;
	snprintf(to, 16, "%s", text);
	return to;
}

static void
fill_record(struct record *r, const struct login_facts *x)
{
	static const enum client_source sources[] = {
		[LOGIN_CLIENT_GIVEN] = CLIENT_GIVEN,
		[LOGIN_CLIENT_DOCUMENT] = CLIENT_DOCUMENT,
		[LOGIN_CLIENT_REGISTERED] = CLIENT_REGISTERED,
		[LOGIN_CLIENT_IMPORTED] = CLIENT_IMPORTED,
	};
	bool is = x->client != LOGIN_CLIENT_NONE;

	r->token.refresh = if_so(x->refresh);
	r->token.expires_at = x->lasts ? INT64_MAX : 0;
	r->issuer = issuer(texts[0], x->issuer);
	/* at the issuer, if that is a URL */
	r->token_endpoint = !x->endpoint || r->issuer == NULL ||
		strstr(r->issuer, "://") == NULL ?
	    if_so(x->endpoint) :
	    r->issuer;
	r->client.id = !is ? NULL : x->client_as_given ? given : other;
	r->client.source = sources[x->client];
	r->client.secret_expires_at = x->client_expires;
	r->client_failures = x->client_failures;
	r->client.redirect_uri = if_so(x->client_redirect);
}

void
login_parts_fill(struct login *g, const struct login_facts *x)
{
	struct server_metadata *m = &g->found.server;

	facts = x;
	fill_record(&g->record, x);
	g->redirect_uri = there;
	g->discovered = x->found;
	g->found.legacy = x->guessed;
	g->found.listed = x->listed;
	g->found.place = there;
	m->issuer = issuer(texts[1], x->found_issuer);
	m->registration_endpoint = if_so(x->registers);
	m->client_document = x->documents;
	m->device_authorization_endpoint = if_so(x->devices);
	m->pkce_untold = x->pkce_untold;
	m->openid = x->openid;
	g->pending.failed_at = x->failed_at;
	g->pending.opened[2] = x->third_tab;
}

bool
login_is_usable(const struct login *g)
{
	(void)g;
	return facts->usable;
}

bool
login_has_scopes(const struct login *g)
{
	(void)g;
	return facts->has_scopes;
}

bool
login_prove_token(const struct login *g, char proof[PKCE_BYTES])
{
	(void)g;
	if (facts->token != NULL)
		snprintf(proof, PKCE_BYTES, "%s", facts->token);
	return facts->token != NULL;
}
