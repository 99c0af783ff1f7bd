/*
 * The locks of the store by which copies share a login: those of the token, of
 * the sign-in by the user, and of the browser tabs. Each is tried once here.
 */
#include "config.h"

#include "signin/state.h"

#include <errno.h>
#include <stdlib.h>

#include "os/place.h"
#include "os/random.h"

void
login_unlock(int *fd)
{
	store_unlock(*fd);
	*fd = -1;
}

static void
report_busy(struct login *g)
{
	struct login_input in = { .came = CAME_BUSY, .again_ms = -1 };

	if (os_random(&in.random, sizeof in.random) != 0)
		in.random = 0;
	login_report_all(g, &in);
}

static void
report_broken(struct login *g, int error)
{
	char *why = xasprintf("cannot use the token store %s: %s",
	    os_place_shown(STORE_BELOW), strerror(error));

	login_report_why(g, CAME_BROKEN, why);
	free(why);
}

/* Tries it, and reports what came of it. */
static void
lock(struct login *g, int *fd, enum store_lock what, const char *name)
{
	if (g->store != NULL)
		*fd = store_lock(g->store, what, name);
	if (g->store == NULL || *fd >= 0)
		login_report(g, CAME_LOCKED);
	else if (errno == EWOULDBLOCK)
		report_busy(g);
	else
		report_broken(g, errno);
}

void
login_lock_token(struct login *g)
{
	lock(g, &g->token_lock, STORE_TOKEN, g->name);
}

/* What the copy noted that had it before comes with the lock. */
void
login_lock_login(struct login *g)
{
	lock(g, &g->login_lock, STORE_LOGIN, g->name);
	if (g->login_lock >= 0)
		store_pending(g->store, g->name, &g->pending);
}

void
login_lock_tab(struct login *g)
{
	lock(g, &g->tab_lock, STORE_TAB, NULL);
}

void
login_unlock_token(struct login *g)
{
	login_unlock(&g->token_lock);
}

void
login_unlock_tab(struct login *g)
{
	login_unlock(&g->tab_lock);
}
