/*
 * What the copies that wait for a user are told: where the user has to go, or
 * that a login came to nothing.
 */
#include "config.h"

#include "login/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "login/steps.h"

/* false with errno: it cannot be written. */
bool
login_save_pending(struct login *g)
{
	return g->store == NULL ||
	    store_set_pending(g->store, g->name, &g->pending) == 0;
}

void
login_forget_url(struct pending *p)
{
	free(p->url);
	free(p->user_code);
	p->url = p->user_code = NULL;
}

bool
login_is_shown(struct login *g, const char *url, const char *code)
{
	if (code == NULL)
		code = "";
	if (g->shown != NULL && strcmp(g->shown, url) == 0 &&
	    strcmp(g->shown_code, code) == 0)
		return true;
	free(g->shown);
	free(g->shown_code);
	g->shown = xstrdup(url);
	g->shown_code = xstrdup(code);
	return false;
}

void
login_show(struct login *g, const char *url, const char *code)
{
	struct pending *p = &g->pending;

	login_forget_url(p);
	p->url = xstrdup(url);
	p->user_code = code == NULL ? NULL : xstrdup(code);
	login_save_pending(g);
	if (!login_is_shown(g, url, code))
		g->ops.where(url, code, g->arg);
}

/* The copies that wait do not ask the person again. */
void
login_note_failure(struct login *g)
{
	login_forget_url(&g->pending);
	g->pending.failed_at = login_now();
	login_save_pending(g);
}

void
login_failed(struct login *g, enum login_end end, const char *why)
{
	if (g->login_lock >= 0)
		login_note_failure(g);
	login_end(g, end, "%s", why);
}

char *
login_wanted_scope(const struct login *g)
{
	const struct login_config *c = &g->config;
	const char *base = c->scope;
	char *scope, *more;

	if (base == NULL && c->challenge != NULL)
		base = c->challenge->scope;
	if (base == NULL)
		base = g->found.scopes;
	scope = scope_union(c->reason == LOGIN_SCOPE ?
		g->record.token.scope_requested :
		NULL,
	    base);
	/* A step-up widens what the user chose. */
	if (c->reason == LOGIN_SCOPE && c->challenge != NULL) {
		more = scope_union(scope, c->challenge->scope);
		free(scope);
		scope = more;
	}
	if (scope == NULL || c->mode == LOGIN_CREDENTIALS ||
	    !g->found.server.offline_access)
		return scope;
	more = scope_union(scope, "offline_access");
	free(scope);
	return more;
}
