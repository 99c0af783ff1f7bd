/* A device code (RFC 8628): it is asked for, shown, and polled once. */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>

/* Only a page that a user may be sent to, as it may be shown; owned by the
 * caller. */
static char *
page_of(const struct login *g, struct json_object *doc)
{
	static const char *const names[] = { "verification_uri_complete",
		"verification_uri", "verification_url" };
	char *safe = NULL, *why;
	const char *page;
	size_t i;

	for (i = 0; i < 3 && safe == NULL; i++) {
		page = document_text(doc, names[i]);
		why = NULL;
		if (page != NULL)
			safe = browser_url(page, g->config.policy.allow_http,
			    &why);
		free(why);
	}
	return safe;
}

static void
report_refused(struct login *g, const struct fetch_answer *a)
{
	char *why = NULL;

	if (a->json != NULL && document_has(a->json, "error"))
		client_token(&g->record, a->status, a->json, NULL, login_now(),
		    login_whom(g), &why);
	login_report_why(g, CAME_REFUSED,
	    why != NULL        ? why :
		a->why != NULL ? a->why :
				 "the authorization server gave no usable "
				 "device code");
	free(why);
}

static void
take_device(struct login *g, const struct fetch_answer *a)
{
	struct login_input in = { .came = CAME_CODE_SHOWN, .again_ms = -1 };
	struct json_object *doc = a->json;
	const char *code, *user;
	char *page;

	if (login_is_unready(g, a))
		return;
	code = doc == NULL ? NULL : document_text(doc, "device_code");
	user = doc == NULL ? NULL : client_user_code(doc);
	page = doc == NULL ? NULL : page_of(g, doc);
	if (a->status >= 300 || code == NULL || user == NULL || page == NULL) {
		free(page);
		report_refused(g, a);
		return;
	}
	in.life_s = document_number(doc, "expires_in");
	in.interval_s = document_number(doc, "interval");
	string_set(&g->device_code, code);
	login_show(g, page, user);
	free(page);
	login_report_all(g, &in);
}

void
login_device(struct login *g)
{
	struct client_request r = { 0 };
	struct fetch_answer a;

	free(g->scope);
	g->scope = login_wanted_scope(g);
	client_device(&r, g->scope);
	if (!login_post(g, g->found.server.device_authorization_endpoint, &r,
		&a))
		return;
	take_device(g, &a);
	fetch_answer_free(&a);
}

void
login_poll(struct login *g)
{
	struct client_request r = { 0 };

	client_device_poll(&r, g->device_code);
	login_ask_anew(g, &r);
}
