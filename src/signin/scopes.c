/*
 * Which scopes are asked for: those of --scope, of the challenge, of the resource,
 * of the issuer, or of the registration.
 */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>

/* Are the scopes of --scope more than those that are listed? */
static bool
adds_scopes(const struct login_config *c)
{
	return c->scope != NULL && c->scope[0] == '+';
}

/* Adds those of --scope, without the "+" in front of them. */
static char *
add_scopes(char *scope, const char *option)
{
	char *names = xstrdup(option), *all, *p;

	for (p = names; *p != '\0'; p++)
		if (*p == '+' && (p == names || p[-1] == ' '))
			*p = ' ';
	all = scope_union(scope, names);
	free(names);
	free(scope);
	return all;
}

/* What challenge or resource say. */
static const char *
listed_scope(const struct login *g)
{
	const struct challenge *c = g->config.challenge;

	return c != NULL && c->scope != NULL ? c->scope : g->found.scopes;
}

/* What is asked for where nobody names anything; borrowed. */
static const char *
unnamed_scope(const struct login *g)
{
	const struct record *r = &g->record;

	if (g->config.mode == LOGIN_CREDENTIALS)
		return NULL;
	return r->client.id != NULL && r->client.source == CLIENT_REGISTERED ?
	    r->client.scope :
	    g->found.server.scopes;
}

char *
login_named_scope(const struct login *g)
{
	const struct login_config *c = &g->config;
	bool adds = adds_scopes(c);
	const char *base = c->scope == NULL || adds ? listed_scope(g) :
						      c->scope;
	char *scope, *more;

	if (base == NULL && adds)
		base = unnamed_scope(g);
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
	if (adds)
		scope = add_scopes(scope, c->scope);
	if (scope == NULL || c->mode == LOGIN_CREDENTIALS ||
	    !g->found.server.offline_access)
		return scope;
	more = scope_union(scope, "offline_access");
	free(scope);
	return more;
}

char *
login_wanted_scope(const struct login *g)
{
	char *named = login_named_scope(g);

	return named != NULL ? named : string_copy(unnamed_scope(g));
}
