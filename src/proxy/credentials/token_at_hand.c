/* The token that requests are sent with, and whether it is still good. */
#include "config.h"

#include "proxy/credentials/state.h"

#include <time.h>

#include "auth/dpop.h"

static void
take_token(struct oauth *o)
{
	const struct record *r = &o->record;
	const char *token = r->token.access;
	struct buf value = { 0 };

	if (o->config.use_id_token && r->token.id_token != NULL)
		token = r->token.id_token;
	headers_free(&o->headers);
	o->stamp = 0;
	o->attended = false;
	o->bound = token == r->token.access && dpop_is_bound(r);
	if (token == NULL)
		return;
	dpop_set_key(o->dpop, o->bound ? r->dpop_key : NULL);
	buf_adds(&value, o->bound ? "DPoP " : "Bearer ");
	buf_adds(&value, token);
	if (headers_add(&o->headers, span_of("Authorization"), buf_span(&value),
		true) == 0)
		o->stamp = ++o->stamps;
	buf_wipe(&value);
}

bool
oauth_adopt(struct oauth *o, const struct record *r)
{
	const char *now = o->record.token.access;
	const char *then = r == NULL ? NULL : r->token.access;
	bool same = string_eq(now, then);

	record_free(&o->record);
	if (r != NULL)
		record_copy(&o->record, r);
	if (same)
		return false;
	take_token(o);
	/* The first token is not a change: the session began with it. */
	if (o->read || o->config.store == NULL)
		o->changed_at = loop_now(o->loop);
	return true;
}

bool
oauth_can_refresh(const struct oauth *o)
{
	return (o->config.alone && !o->attended) ||
	    o->record.token.refresh != NULL;
}

bool
oauth_is_over(const struct oauth *o, int64_t in_s)
{
	return o->stamp != 0 &&
	    !record_usable(&o->record, (int64_t)time(NULL) + in_s) &&
	    oauth_can_refresh(o);
}

bool
oauth_is_too_early(const struct oauth *o)
{
	return o->config.needs_peer && !o->record.server_public &&
	    o->ops.peer(o->arg) == NULL;
}

/* Requests need not ask until the next look at the store, but not while the
 * store is read, nor when the token is about to expire. */
static void
fill(struct oauth *o)
{
	int64_t now = loop_now(o->loop), until = 0;

	if (o->get == NULL && !oauth_is_over(o, LAST_S))
		until = LOOK_MS +
		    (o->config.store == NULL ? now : o->looked_at);
	given_fill(o->given, o->credentials, now, &o->headers, o->stamp, until);
	o->credentials->bound = o->bound;
	o->credentials->early = oauth_is_over(o, 0) && oauth_is_too_early(o);
}

void
oauth_tell_where(struct oauth *o, const struct waiter *w, const char *where)
{
	struct event e = { .kind = INPUT_SIGN_IN, .ticket = w->ticket };

	e.text = where;
	o->ops.event(&e, o->arg);
}

bool
oauth_ready(struct oauth *o, const struct waiter *w)
{
	if (w->waited)
		oauth_tell_where(o, w, NULL);
	fill(o);
	o->ops.credentials_ready(w->ticket, o->arg);
	return true;
}
