/* The server of a life: which of its habits answers an exchange. */
#include "config.h"

#include "explore/chain/world.h"

#define COUNT(list) ((unsigned)(sizeof(list) / sizeof *(list)))

enum { WINDOW = 200 };

static bool
is_initialize(const struct world *w, size_t i)
{
	return span_is(w->p->sent[i].frame->method, "initialize");
}

/* Is the request in the form that this kind of server accepts? */
static bool
fits(const struct world *w, size_t i)
{
	const struct exchange *x = &w->exchanges[i];

	if (w->kind == SERVER_MODERN)
		return x->modern;
	return !x->modern && x->endpoint == (w->kind == SERVER_SSE);
}

static void
refuse_form(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];
	unsigned dice = below(w, 4);

	x->fate = FATE_REFUSED;
	if (w->kind == SERVER_SSE || x->endpoint)
		end_with(w, i, FATE_REFUSED, dice < 2 ? "404" : "405");
	else if (w->kind == SERVER_MODERN && dice < 2)
		input(w,
		    "< #%zu 400 {$J,'id':$,'error':{'code':-32022,'message':"
		    "'v','data':{'supported':['2026-07-28'],'x':%zu}}}",
		    i + 1, i);
	else if (dice < 2)
		tell_error(w, i, "400", true, -32000,
		    "Bad Request: Mcp-Session-Id header is required");
	else
		tell_error(w, i, dice < 3 ? "200" : "404", false, -32601,
		    "Method not found");
}

/* --- GET --- */

static void
announce(struct world *w, size_t i)
{
	w->exchanges[i].headed = w->exchanges[i].endpoint = true;
	w->exchanges[i].listen = true;
	input(w, "< #%zu head 200 media=sse", i + 1);
	if (is_alive(w, i))
		input(w, "< #%zu endpoint ok", i + 1);
}

static void
get_turn(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];

	if (x->headed)
		stream_turn(w, i);
	else if (x->announces && w->kind == SERVER_SSE)
		announce(w, i);
	else if (w->kind >= SERVER_SSE || x->announces)
		end_with(w, i, FATE_REFUSED, percent(w, 50) ? "405" : "404");
	else if (x->session != w->session && w->kind == SERVER_LEGACY)
		refuse_session(w, i);
	else if (!w->well && percent(w, w->climate->unsent))
		fail_unsent(w, i);
	else if (!w->well && x->listen && percent(w, 20))
		end_with(w, i, FATE_REFUSED, "405");
	else
		stream_turn(w, i);
}

/* --- POST --- */

/* Returns true if something went wrong, or nothing is done. */
static bool
goes_wrong(struct world *w, size_t i)
{
	const struct climate *c = w->climate;
	struct exchange *x = &w->exchanges[i];
	unsigned dice = below(w, 100);

	if (dice < c->flap && x->session > 0)
		refuse_session(w, i);
	else if ((dice -= dice < c->flap ? dice : c->flap) < c->unsent)
		fail_unsent(w, i);
	else if ((dice -= c->unsent) < c->maybe)
		fail_maybe(w, i);
	else if ((dice -= c->maybe) < c->user)
		user_turn(w, i);
	else if ((dice -= c->user) < c->words && x->thing >= 0)
		tell_words(w, i);
	else
		return percent(w, c->silent);
	return true;
}

/* The first answers decide what is found: most are good. */
static void
opening_turn(struct world *w, size_t i)
{
	if (!w->well && percent(w, 50) && goes_wrong(w, i))
		return;
	if (!fits(w, i))
		refuse_form(w, i);
	else if (w->kind != SERVER_SSE || !accept_message(w, i))
		answer(w, i);
}

/* The server wants other headers, or the user at a URL, before it runs. */
static void
want_more(struct world *w, size_t i)
{
	w->exchanges[i].fate = FATE_REFUSED;
	if (w->kind == SERVER_MODERN || percent(w, 50))
		tell_error(w, i, "400", false, -32020, "header mismatch");
	else
		input(w,
		    "< #%zu 200 {$J,'id':$,'error':{'code':-32042,'message':"
		    "'m','data':{'elicitations':[{'url':'http://a/','message':"
		    "'m','elicitationId':'e'}],'x':%zu}}}",
		    i + 1, i);
}

static void
call_post_turn(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];
	bool listen = span_is(w->p->sent[i].frame->method,
	    "subscriptions/listen");

	if (!w->well && goes_wrong(w, i))
		return;
	if (!w->well && w->kind != SERVER_SSE && x->thing >= 0 &&
	    w->things[x->thing].method <= METHOD_SAFE && percent(w, 4)) {
		want_more(w, i);
		return;
	}
	if (w->kind == SERVER_SSE) {
		if (!accept_message(w, i))
			end_with(w, i, FATE_REFUSED, "404");
	} else if (listen || (!w->well && percent(w, w->climate->stream))) {
		stream_turn(w, i);
	} else if (w->well || x->modern || percent(w, 90) ||
	    !accept_message(w, i)) {
		answer(w, i);
	}
}

static void
one_way_turn(struct world *w, size_t i)
{
	if (w->well || percent(w, 50) || !goes_wrong(w, i))
		end_with(w, i, FATE_RAN, "202");
}

static void
post_turn(struct world *w, size_t i)
{
	const struct frame *f = w->p->sent[i].frame;
	struct exchange *x = &w->exchanges[i];

	if (x->headed)
		stream_turn(w, i);
	else if (f->kind == FRAME_REQUEST &&
	    (is_initialize(w, i) || span_is(f->method, "server/discover")))
		opening_turn(w, i);
	else if (!fits(w, i))
		refuse_form(w, i);
	else if (w->kind == SERVER_LEGACY && x->session != w->session)
		refuse_session(w, i);
	else if (f->kind != FRAME_REQUEST)
		one_way_turn(w, i);
	else
		call_post_turn(w, i);
}

/* --- all --- */

static void
delete_turn(struct world *w, size_t i)
{
	static const char *const ends[] = { "200", "404", "405", "connect" };

	if (w->exchanges[i].session == w->session)
		w->session = 0;
	end_with(w, i, FATE_RAN, ends[below(w, 4)]);
}

static void
serve(struct world *w, size_t i)
{
	if (w->exchanges[i].fate == FATE_UNASKED)
		user_turn(w, i);
	else if (w->p->sent[i].verb == VERB_DELETE)
		delete_turn(w, i);
	else if (w->p->sent[i].verb == VERB_GET)
		get_turn(w, i);
	else
		post_turn(w, i);
}

/* What was accepted is answered on the stream that all share. */
static bool
settle_debt(struct world *w)
{
	size_t i;

	for (i = w->n_exchanges; i-- > 0 && w->n_exchanges - i < WINDOW;)
		if (w->exchanges[i].owes && (w->well || percent(w, 50))) {
			answer(w, i);
			return !w->exchanges[i].owes;
		}
	return false;
}

/* Another server replaces this one, and all open exchanges break. */
static void
is_replaced(struct world *w)
{
	size_t n = w->n_exchanges, i;

	w->kind = (enum server_kind)below(w, 4);
	w->session = 0;
	for (i = w->first_alive; i < n; i++)
		if (is_alive(w, i) && w->exchanges[i].fate != FATE_UNASKED)
			end_with(w, i, FATE_RAN, "cut");
}

static void
change(struct world *w)
{
	if (percent(w, w->climate->forget))
		w->session = 0;
	if (percent(w, w->climate->change) && percent(w, 20))
		is_replaced(w);
}

void
server_turn(struct world *w)
{
	size_t n = w->n_exchanges - w->first_alive, i;

	change(w);
	if (n == 0 || (percent(w, 30) && settle_debt(w)))
		return;
	i = w->first_alive + below(w, n > WINDOW ? WINDOW : (unsigned)n);
	while (i < w->n_exchanges && !is_alive(w, i))
		i++;
	if (i < w->n_exchanges)
		serve(w, i);
}

void
server_is_good(struct world *w)
{
	size_t n = w->n_exchanges, i;

	for (i = w->first_alive; i < n; i++)
		if (is_alive(w, i) && w->p->status < 0)
			serve(w, i);
	while (settle_debt(w) && w->p->status < 0 && w->broken == NULL)
		;
}
