/* A token without the user: by client credentials, or by an assertion. */
#include "config.h"

#include "login/grant.h"

#include "login/report.h"
#include "login/token.h"

/* The assertion goes to the authorization server's token endpoint, and nowhere
 * else. */
static void
send_assertion(struct login *g, const char *assertion)
{
	struct client_request form = { 0 };

	client_jwt_bearer(&form, assertion, g->scope);
	login_post(g, g->record.token_endpoint, &form, login_on_credentials);
}

static void
on_assertion(const char *token, const char *why, bool transient, void *arg)
{
	struct login *g = arg;

	g->given = NULL;
	if (token != NULL)
		send_assertion(g, token);
	else
		login_report_why(g, transient ? CAME_TRANSIENT : CAME_UNABLE,
		    why);
}

void
login_do_grant(struct login *g)
{
	loop_timer_set(g->timer, g->action.ms);
	if (g->config.assertion == NULL) {
		login_do_credentials(g);
		return;
	}
	login_take_client(g);
	g->given = given_token_get(g->loop, g->config.assertion, login_now(),
	    on_assertion, g);
}
