/* The DELETE that ends a session at the server, unless it would end others. */
#include "config.h"

#include "core/session/parts.h"

#include <string.h>

bool
session_same_id(const struct generation *a, const struct generation *b)
{
	return a->session != NULL && b->session != NULL &&
	    strcmp(a->session, b->session) == 0;
}

bool
session_is_fragile(const struct session *s, const struct generation *g)
{
	enum { DIGITS = 32 };
	/* A spare session was not asked for its revision. */
	const char *version = g->version != NULL ? g->version :
						   s->generation->version;

	return version != NULL && strcmp(version, "2025-03-26") <= 0 &&
	    g->session != NULL && strlen(g->session) == DIGITS &&
	    strspn(g->session, "0123456789abcdef") == DIGITS;
}

bool
session_delete(struct session *s, struct generation *g)
{
	struct attempt *a;

	if (g != s->generation && session_same_id(g, s->generation))
		return false;
	if (session_is_fragile(s, g)) {
		session_log(s, LEVEL_INFO,
		    "not deleting the session: at servers like %s, a DELETE "
		    "may end everybody's",
		    s->config.host);
		if (g == s->generation)
			session_save(s, NULL);
		return false;
	}
	a = calls_attempt(&s->calls, ATTEMPT_DELETE, NULL, NULL, g);
	g->ended = true;
	session_abort_in(s, a, BOUND_END_MS);
	session_start(s, a);
	return true;
}
