/* Redirects: which are followed, and what is told of those that are not. */
#include "config.h"

#include "proxy/transport/state.h"

#include <stdlib.h>

#include "base/bounds.h"

/* Do these URLs differ only by a slash at the end of the path? */
static bool
is_slash_apart(const char *a, const char *b)
{
	const char *longer = strlen(a) > strlen(b) ? a : b;
	const char *other = longer == a ? b : a;
	size_t n = strcspn(other, "?");

	return strncmp(longer, other, n) == 0 && longer[n] == '/' &&
	    strcmp(longer + n + 1, other + n) == 0;
}

/* A temporary redirect that is remembered may have lost its sense: the next
 * request finds out. */
static void
forget_slash(struct streamable *u)
{
	if (!u->slash)
		return;
	u->slash = false;
	string_set(&u->url, u->config.url);
}

/* A server behind a gateway that ends TLS redirects to itself by http. Where only
 * a slash is other, https is what it means; else the user is told. */
static void
secure_redirect(struct exchange *t, const struct url *target, bool may)
{
	const struct url *base = &t->u->base;
	const char *path = target->text + strcspn(target->text, "/") + 2;
	char *url;

	if (strcmp(base->scheme, "https") != 0 ||
	    strcmp(target->scheme, "http") != 0 ||
	    strcmp(base->host, target->host) != 0)
		return;
	path += strcspn(path, "/?");
	url = xasprintf("%s%s", base->origin, path);
	if (may && is_slash_apart(request_url(t), url)) {
		t->redirect = url;
		return;
	}
	t->secure = xasprintf("That leaves https, which it may not know of: if "
			      "the path is right, use %s%.*s",
	    base->origin, (int)strcspn(path, "?"), path);
	free(url);
}

void
redirect_check(struct exchange *t)
{
	bool may = t->facts.status == 307 || t->facts.status == 308;
	struct url target;

	if (t->order.verb == VERB_POST &&
	    (t->facts.status == 404 || t->facts.status == 405))
		forget_slash(t->u);
	if (t->location == NULL || t->location[0] == '\0' ||
	    t->redirects >= BOUND_TRIES)
		return;
	if (url_resolve(&target, &t->u->base, t->location) != URL_OK)
		return;
	if (!url_same_origin(&target, &t->u->base))
		secure_redirect(t, &target, may);
	else if (may)
		t->redirect = xstrdup(target.text);
	url_free(&target);
}

void
redirect_follow(struct exchange *t)
{
	char **moved = t->order.endpoint ? &t->u->endpoint : &t->u->url;
	bool slash = t->order.verb == VERB_POST && t->url == NULL &&
	    is_slash_apart(request_url(t), t->redirect);

	/* A permanent redirect: later requests go there at once. So do they
	 * after one that many frameworks make for each request. */
	if (t->facts.status == 308 || slash) {
		t->u->slash |= slash && !t->order.endpoint &&
		    t->facts.status == 307;
		free(*moved);
		*moved = xstrdup(t->redirect);
	}
	free(t->url);
	t->url = t->redirect;
	t->redirect = NULL;
	t->redirects++;
	exchange_clear_answer(t);
	request_start(t);
}
