/*
 * The note by which the copies that wait for the same user tell each other of a
 * pending sign-in. The one with the login lock writes where the user has to go, or
 * that a login came to nothing; the others show it.
 */
#include "config.h"

#include "signin/state.h"

#include <errno.h>
#include <stdlib.h>

#include "os/error.h"
#include "os/place.h"

enum { LOOK_MS = 1000 };

bool
login_was_ended(struct login *g)
{
	struct pending p;
	bool ended;

	if (g->store == NULL)
		return false;
	store_pending(g->store, g->name, &p);
	ended = p.url == NULL && p.failed_at > g->pending.failed_at;
	pending_free(&p);
	return ended;
}

static bool
write_pending(struct login *g)
{
	return g->store == NULL ||
	    store_set_pending(g->store, g->name, &g->pending) == 0;
}

bool
login_save_pending(struct login *g)
{
	return login_was_ended(g) || write_pending(g);
}

static void
forget_url(struct pending *p)
{
	string_wipe(&p->url);
	string_wipe(&p->user_code);
}

/* Was it told last? It counts as told from now on. */
static bool
is_shown(struct login *g, const char *url, const char *code)
{
	if (code == NULL)
		code = "";
	if (string_eq(g->shown, url) && strcmp(g->shown_code, code) == 0)
		return true;
	string_set(&g->shown, url);
	string_set(&g->shown_code, code);
	return false;
}

void
login_show(struct login *g, const char *url, const char *code)
{
	struct pending *p = &g->pending;

	forget_url(p);
	p->url = xstrdup(url);
	p->user_code = string_copy(code);
	string_set(&p->server, g->config.server->text);
	p->asked_at = g->config.browser != NULL ? login_now() : 0;
	login_save_pending(g);
	if (g->store != NULL)
		loop_timer_set(g->look, LOOK_MS);
	if (g->config.notify && !g->notified)
		notification_send(g->loop, g->config.server->host,
		    &g->config.desktop);
	g->notified = true;
	if (!is_shown(g, url, code))
		g->where(url, code, g->arg);
}

void
login_look_for_end(struct login *g)
{
	if (g->pending.url == NULL)
		return;
	if (login_was_ended(g))
		login_report(g, CAME_CANCELLED);
	else
		loop_timer_set(g->look, LOOK_MS);
}

void
login_watch(struct login *g)
{
	struct login_input in = { .came = CAME_LOOKED, .again_ms = -1 };
	struct pending p;

	in.helper = store_has_helper(g->store);
	in.stamp = store_stamp(g->store, g->name);
	store_pending(g->store, g->name, &p);
	if (p.url != NULL && !is_shown(g, p.url, p.user_code)) {
		g->where(p.url, p.user_code, g->arg);
		in.shown = p.user_code == NULL;
		in.tab_at = p.asked_at > p.opened[0] ? p.asked_at : p.opened[0];
	}
	pending_free(&p);
	login_report_all(g, &in);
}

/* What the copy before us showed is over. */
void
login_clear(struct login *g)
{
	char *why;

	forget_url(&g->pending);
	if (login_save_pending(g)) {
		login_report(g, CAME_DONE);
		return;
	}
	why = xasprintf("cannot write the token store %s: %s",
	    os_place_shown(STORE_BELOW), os_error_text(errno));
	login_report_why(g, CAME_BROKEN, why);
	free(why);
}

void
login_note_success(struct login *g)
{
	forget_url(&g->pending);
	g->pending.failed_at = 0;
	write_pending(g);
}

/* The copies that wait do not ask the user again. */
void
login_note_failure(struct login *g)
{
	forget_url(&g->pending);
	g->pending.failed_at = login_now();
	write_pending(g);
}
