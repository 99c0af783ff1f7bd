/* The parts of a login that only say what they are to do. */
#include "config.h"

#include "play/login_parts.h"

#include <stdlib.h>

#include "login/client.h"
#include "login/device.h"
#include "login/grant.h"
#include "login/locks.h"
#include "login/records.h"
#include "login/redirect.h"
#include "login/report.h"
#include "login/run_discovery.h"
#include "login/token.h"
#include "login/waiting.h"

static const struct login_player *player;

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

void
login_say(struct login *g, enum log_level level, const char *fmt, ...)
{
	struct login_action a = { .kind = DO_LOG, .level = level };
	va_list ap;

	(void)g;
	va_start(ap, fmt);
	a.text = xvasprintf(fmt, ap);
	va_end(ap);
	act(&a);
	free(a.text);
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
	static const struct url server = { .host = "mcp.test" };
	static char store;

	memset(g, 0, sizeof *g);
	g->store = wish->shared ? (struct store *)(void *)&store : NULL;
	g->facts.helper = wish->helper;
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
		.issuer = wish->issuer_given ? "issuer" : NULL,
		.browser = wish->has_browser ? browser : NULL,
		.timeout_ms = wish->timeout_ms,
		.rejected = wish->rejected,
	};
	if (wish->assertion)
		g->config
		    .assertion = (const struct token_source *)(void *)&store;
	player = who;
}

void
login_parts_end(struct login *g)
{
	free(g->told);
}
