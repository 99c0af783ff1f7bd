/*
 * The rules that hold for every schedule, checked action by action: which
 * exchange is begun, in the name of which session, how many at a time. What
 * is sent again is again.c's, what comes in which order after a
 * renewal order.c's, what the client is told writes.c's.
 */
#include "config.h"

#include <stdio.h>

#include "explore/session/world.h"

#include <stdlib.h>

#include "core/wire/json.h"

enum {
	MINUTE_MS = 60 * 1000,
	USELESS = 12, /* renewals in a minute that helped nobody */
	SPARE_MS = 10 * 60 * 1000,
	NOTES = 64 /* notifications under way */
};

/* Calls have the ids 1000 and on; -1: another id. */
int
explore_number(struct span id)
{
	char text[32];
	long n;

	if (id.n == 0 || id.n >= sizeof text)
		return -1;
	memcpy(text, id.p, id.n);
	text[id.n] = '\0';
	n = strtol(text, NULL, 10);
	return n >= 1000 && n < 1000 + MAX_CALLS ? (int)n - 1000 : -1;
}

int
explore_call_of(const struct frame *f)
{
	struct span meta = json_get(f->params, "_meta");

	return explore_number(json_get(meta, "progressToken"));
}

static bool
is_list(const struct frame *f)
{
	return f->method.n > 5 &&
	    memcmp(f->method.p + f->method.n - 5, "/list", 5) == 0;
}

static enum send_kind
kind_of(const struct event *a)
{
	const struct frame *f = a->order->body;

	if (a->order->verb == VERB_DELETE)
		return SEND_DELETE;
	if (a->order->verb == VERB_GET)
		return a->order->listen ? SEND_LISTEN : SEND_RESUME;
	if (f->kind == FRAME_NOTIFICATION)
		return span_is(f->method, "notifications/initialized") ?
		    SEND_READY :
		    SEND_NOTE;
	if (f->kind != FRAME_REQUEST)
		return SEND_ANSWER;
	if (span_is(f->method, "initialize"))
		return SEND_OPEN;
	if (!a->order->control)
		return SEND_CALL;
	if (strcmp(a->order->why, "list") == 0)
		return SEND_LIST;
	return span_is(f->method, "ping") || is_list(f) ? SEND_PING :
							  SEND_RESTORE;
}

/* --- initialize --- */

/* Renewals whose session helped nobody, in a minute. */
static void
check_budget(struct world *w)
{
	unsigned i, n = 0;

	for (i = 1; i <= w->n_generations; i++)
		n += w->generations[i].useless &&
		    w->p->now - w->generations[i].begun_at < MINUTE_MS;
	if (n > USELESS)
		explore_breaks(w, "a storm of renewals");
}

static void
note_open(struct seen_generation *g, struct span id)
{
	snprintf(g->opens[g->n_opens++ % OPENS], sizeof g->opens[0], "%.*s",
	    (int)id.n, id.p);
}

/* The generation that has this initialize among its latest, or 0. */
static unsigned
find_open(const struct world *w, struct span id)
{
	const struct seen_generation *g;
	unsigned n, i;

	for (n = w->n_generations; n > 0; n--) {
		g = &w->generations[n];
		for (i = 0; i < OPENS && i < g->n_opens; i++)
			if (span_is(id, g->opens[i]))
				return n;
	}
	return 0;
}

/* Makes this generation the current one. */
static void
begin(struct world *w, unsigned n, bool own)
{
	struct seen_generation *g = &w->generations[n];

	g->own = own && n > 1;
	/* The budget begins anew with the client's initialize. */
	g->useless = g->own && explore_now(w)->own;
	w->generation = n;
	w->renewing = w->reason = false;
	g->spare = false;
	g->ordered = g->own && g->settled && w->ready_known;
	g->begun_at = w->p->now;
	if (w->initializes == 0)
		w->ready_known = true;
	if (own)
		check_budget(w);
}

/* A spare session that has not failed takes the place. */
void
explore_renewed(struct world *w)
{
	struct seen_generation *g = &w->generations[w->n_generations];
	size_t i;

	if (w->generation > 0 && !w->reason) {
		/* Who refuses calls and answers witnesses may be a door. */
		if (w->distrusted || explore_now(w)->n_refused < 2)
			explore_breaks(w, "a renewal without a loss");
		w->distrusted = true;
	}
	w->renewing = true;
	if (!g->spare || g->deleted)
		return;
	for (i = w->first_alive; i < w->p->n_sent && !g->settled; i++)
		if (w->sends[i].generation == w->n_generations &&
		    explore_is_alive(w, i))
			break;
	if (!g->settled && i == w->p->n_sent)
		return;
	begin(w, w->n_generations, true);
	g->taken = true;
}

/* A session that is opened in doubt, if nobody gave up the one of now. */
static bool
is_spare(struct world *w, bool own)
{
	return own && w->generation > 0 && !w->renewing &&
	    explore_now(w)->settled;
}

/* One that was of no use is enough for a while. */
static void
check_spare(struct world *w)
{
	const struct seen_generation *g;
	unsigned i;

	for (i = 1; i < w->n_generations; i++) {
		g = &w->generations[i];
		if (g->spare && g->settled &&
		    w->p->now - g->begun_at < SPARE_MS)
			explore_breaks(w, "too many spare sessions");
	}
	if (explore_now(w)->doubts == 0)
		explore_breaks(w, "a spare session without a doubt");
}

static void
begin_generation(struct world *w, struct span id, bool own)
{
	struct seen_generation *g;
	bool spare = is_spare(w, own);

	if (w->n_generations + 1 == MAX_GENERATIONS) {
		explore_breaks(w, "too many generations");
		return;
	}
	/* A spare one that was given up before only seemed to be taken. */
	if (w->generation > 0 && explore_now(w)->taken &&
	    !explore_now(w)->settled)
		explore_now(w)->spare = true;
	g = &w->generations[++w->n_generations];
	g->ready_at = g->restore_at = -1;
	g->level = -1;
	g->begun_at = g->asked_at = w->p->now;
	g->door = explore_some_door(w);
	memset(g->subs, -1, sizeof g->subs);
	note_open(g, id);
	g->spare = spare;
	if (spare)
		check_spare(w);
	else
		begin(w, w->n_generations, own);
}

/* A renewal that is silent is asked for once more, on another connection, and
 * each initialize that had its time has another one in its place. */
static bool
is_hedge(struct world *w, const struct event *a)
{
	const struct seen_generation *g = explore_now(w);

	return w->generation > 0 && a->order->fresh && !g->settled &&
	    w->p->now - g->asked_at >= HEDGE_MS;
}

static void
check_open(struct world *w, size_t i, const struct event *a)
{
	struct seen_send *n = &w->sends[i];
	struct span id = a->order->body->id;
	unsigned known = find_open(w, id), others = 0;
	size_t k;

	if (known == 0 && is_hedge(w, a))
		note_open(&w->generations[known = w->generation], id);
	if (known == 0)
		begin_generation(w, id, id.n > 0 && id.p[0] == '"');
	n->generation = known != 0 ? known : w->n_generations;
	for (k = w->first_alive; k < i; k++)
		others += explore_is_alive(w, k) &&
		    w->sends[k].kind == SEND_OPEN &&
		    w->sends[k].epoch == w->initializes &&
		    w->sends[k].generation == n->generation;
	if (!w->generations[n->generation].settled &&
	    others >= (w->generations[n->generation].n_opens > 1 ? 2 : 1))
		explore_breaks(w, "two renewals at a time");
	if (a->order->session.n > 0)
		explore_breaks(w, "an initialize with a session id");
}

/* --- sessions --- */

/* Is it the session of now with another last digit? So asks the ping that finds
 * out whether a server takes any id. */
static bool
is_stranger(const struct world *w, size_t i, struct span session)
{
	const char *now = w->generations[w->generation].session;

	return w->sends[i].kind == SEND_PING && session.n == strlen(now) &&
	    session.n > 1 && memcmp(session.p, now, session.n - 1) == 0 &&
	    !span_is(session, now);
}

/* What goes out in the name of a session is that of now; a witness asks in the
 * one that is in doubt. */
static void
check_session(struct world *w, size_t i, struct span session)
{
	unsigned g = w->generation, k;

	for (k = 1; w->sends[i].kind == SEND_PING && k <= w->n_generations; k++)
		if (w->generations[k].settled &&
		    span_is(session, w->generations[k].session))
			g = k;
	w->sends[i].generation = g;
	if (g == 0 || !w->generations[g].settled)
		explore_breaks(w, "something is sent without a session");
	else if (g == w->generation && is_stranger(w, i, session))
		w->sends[i].stranger = true;
	else if (!span_is(session, w->generations[g].session))
		explore_breaks(w,
		    "something is sent with another session's id");
	else if (w->generations[g].deleted && w->sends[i].kind != SEND_PING)
		explore_breaks(w, "something is sent to a deleted session");
}

static void
check_witness(struct world *w, size_t i, const struct frame *f)
{
	struct seen_generation *g = &w->generations[w->sends[i].generation];
	int64_t age = w->p->now - g->begun_at;

	w->sends[i].list = is_list(f);
	if (++g->witnesses > WITNESSES * g->doubts + CONTROLS + w->n_calls +
		    age / SILENT_MS &&
	    w->config->ping_interval_ms == 0)
		explore_breaks(w, "too many witnesses");
}

/* The session of now is deleted only at the end, and before the client opens
 * another one. */
static void
check_delete(struct world *w, struct span session)
{
	struct seen_generation *g;
	unsigned i;

	for (i = 1; i <= w->n_generations; i++) {
		g = &w->generations[i];
		if (!span_is(session, g->session))
			continue;
		if (i == w->generation && g->taken && g->ready_at < 0)
			g->spare = w->renewing = true; /* it was not taken */
		else if (i == w->generation && !w->ending && !w->eof &&
		    !w->opening_open)
			explore_breaks(w, "the session of now is deleted");
		if (g->deleted && g->spare)
			explore_breaks(w, "a session is deleted twice");
		g->deleted = true;
		return;
	}
	if (session.n == 0 ||
	    (session.p[0] != 'x' && session.p[0] != 'o' && session.p[0] != 's'))
		explore_breaks(w, "a session that never was is deleted");
}

/* --- the rest --- */

/* A resuming GET is of the call whose stream ended before it: the reducer
 * does not say which, the event id does (it is the call's number). */
static void
check_resume(struct world *w, size_t i, const struct event *a)
{
	struct seen_send *n = &w->sends[i];
	struct seen_call *c;

	n->call = explore_number((struct span){
	    a->order->last_event_id.p + 1, a->order->last_event_id.n - 1 });
	if (n->call < 0) {
		explore_breaks(w, "a stream is resumed that nobody knows");
		return;
	}
	c = &w->calls[n->call];
	n->spoke = true;
	n->letter = a->order->last_event_id.p[0];
	n->resumed_at = w->sends[c->last].kind == SEND_RESUME ?
	    w->sends[c->last].resumed_at :
	    w->p->now;
	n->heard_at = w->sends[c->last].heard_at; /* no sign of life yet */
	n->generation = c->generation;
	if (!explore_is_open(w, (unsigned)n->call))
		explore_breaks(w, "a stream is resumed for nobody");
	if (!span_is(a->order->session, w->generations[c->generation].session))
		explore_breaks(w,
		    "a stream is resumed with another session's id");
	if (explore_is_alive(w, c->last) ||
	    (c->outcome != RUNS && c->outcome != BROKEN && !explore_flaps(w)))
		explore_breaks(w, "a stream is resumed that did not break");
	c->last = i;
	c->outcome = RUNS;
}

static void
check_listen(struct world *w, size_t i)
{
	size_t k;

	for (k = w->first_alive; k < i; k++)
		if (explore_is_alive(w, k) && w->sends[k].kind == SEND_LISTEN)
			explore_breaks(w, "two listen streams at a time");
}

static void
check_note(struct world *w, size_t i, const struct frame *f)
{
	const struct seen_call *c;
	unsigned n = 0;
	size_t k;

	if (span_is(f->method, "notifications/cancelled")) {
		if (w->cancelling < 0)
			return;
		w->cancel_sent = true;
		c = &w->calls[w->cancelling];
		/* If a call was repeated, both of its runs are cancelled. */
		if (!span_eq(json_get(f->params, "requestId"),
			w->p->sent[c->posted].frame->id) &&
		    !(c->repeated &&
			explore_number(json_get(f->params, "requestId")) ==
			    w->cancelling))
			explore_breaks(w,
			    "a cancel names what the server does not know");
		return;
	}
	for (k = w->first_alive; k < i; k++)
		n += explore_is_alive(w, k) && w->sends[k].kind == SEND_NOTE &&
		    !span_is(w->p->sent[k].frame->method,
			"notifications/cancelled");
	if (n >= NOTES)
		explore_breaks(w, "too many notifications under way");
}

/* An answer of the client goes to the session that asked, under its id. */
static void
check_answer(struct world *w, size_t i, const struct frame *f)
{
	const struct question *q;
	unsigned k;

	if (w->config->handshake || w->eof)
		return; /* we answer ourselves */
	if (w->answering.client[0] != '\0')
		w->given[w->n_given++ % MAX_ASKED] = w->answering;
	for (k = 0; k < MAX_ASKED; k++) {
		q = &w->given[k];
		if (q->generation != w->generation ||
		    !span_is(f->id, q->server))
			continue;
		w->sends[i].question = q->call;
		return;
	}
	explore_breaks(w, "an answer to what this session did not ask");
}

static void
check_send(struct world *w, size_t i, const struct event *a)
{
	switch (w->sends[i].kind) {
	case SEND_OPEN:
		check_open(w, i, a);
		return;
	case SEND_RESUME:
		check_resume(w, i, a);
		return;
	case SEND_DELETE:
		check_delete(w, a->order->session);
		return;
	default:
		break;
	}
	check_session(w, i, a->order->session);
	if (w->broken != NULL)
		return;
	if (w->sends[i].kind == SEND_PING)
		check_witness(w, i, a->order->body);
	explore_check_order(w, i, a->order->body);
	if (w->sends[i].kind == SEND_LISTEN)
		check_listen(w, i);
	else if (w->sends[i].kind == SEND_NOTE)
		check_note(w, i, a->order->body);
	else if (w->sends[i].kind == SEND_ANSWER)
		check_answer(w, i, a->order->body);
}

/* --- the user --- */

/* Only where a request of the client waits, and wherever one does. */
static void
check_user(struct world *w, size_t i, const struct event *a)
{
	const struct seen_send *n = &w->sends[i];
	int own = a->order->body == NULL ? -1 :
					   explore_number(a->order->body->id);
	bool may = false, must = false;
	unsigned k;

	if (n->kind == SEND_CALL || n->kind == SEND_RESUME)
		may = must = n->call >= 0 &&
		    explore_is_open(w, (unsigned)n->call);
	else if (n->kind == SEND_OPEN)
		may = must = own >= 0 && explore_is_open(w, (unsigned)own);
	for (k = 0; n->kind == SEND_OPEN && k < w->n_calls; k++) {
		may |= explore_is_held(w, k);
		must |= explore_is_held(w, k) && w->calls[k].sent == 0 &&
		    n->generation == w->generation;
	}
	if (a->order->interactive && !may)
		explore_breaks(w,
		    "the user may be asked, and no request waits for it");
	if (!a->order->interactive && must)
		explore_breaks(w,
		    "a request waits, and the user may not be asked");
}

/* Has the server of this session served within the last minute, and shown no
 * break since? */
static bool
is_warm(const struct world *w)
{
	const struct seen_generation *g = &w->generations[w->generation];
	int64_t since = g->served_at > g->begun_at ? g->served_at : g->begun_at;

	return !g->broke && w->p->now - since < MINUTE_MS;
}

static void
watch_send(struct world *w, const struct event *a)
{
	size_t i = w->p->n_sent, k;
	struct seen_send *n = &w->sends[i];

	memset(n, 0, sizeof *n);
	n->kind = kind_of(a);
	n->call = n->question = -1;
	n->generation = w->generation;
	n->epoch = w->initializes;
	n->sent_at = n->heard_at = w->p->now;
	n->warm = is_warm(w);
	if (a->ticket == 0)
		explore_breaks(w, "a send without a ticket");
	for (k = w->first_alive; k < i; k++)
		if (w->p->sent[k].ticket == a->ticket)
			explore_breaks(w, "a ticket is used twice");
	check_send(w, i, a);
	if (n->kind == SEND_CALL && w->broken == NULL) {
		n->call = explore_call_of(a->order->body);
		if (n->call < 0) {
			explore_breaks(w, "a call that nobody made is sent");
			return;
		}
		explore_check_again(w, i, a->order->body);
	}
	check_user(w, i, a);
}

/* An initialize that took too long: the next call may try again. A witness:
 * nobody knows. */
static void
watch_abort(struct world *w, uint64_t ticket)
{
	size_t i;

	for (i = w->first_alive; i < w->p->n_sent; i++)
		if (w->p->sent[i].ticket != ticket || w->sends[i].ended)
			continue;
		else if (w->sends[i].kind == SEND_OPEN)
			explore_failed(w, i);
		else if (w->sends[i].kind == SEND_PING &&
		    w->sends[i].generation == w->generation)
			w->reason = true;
}

void
explore_watch(struct play *p, const struct event *a)
{
	struct world *w = p->arg;

	if (p->status >= 0 && a->kind != ACTION_LOG)
		explore_breaks(w, "an action after exit");
	if (p->n_sent == MAX_SENDS - 1)
		explore_breaks(w, "too many sends");
	if (w->broken != NULL)
		return;
	switch (a->kind) {
	case ACTION_SEND:
		watch_send(w, a);
		break;
	case ACTION_ABORT:
		watch_abort(w, a->ticket);
		break;
	case ACTION_WRITE:
		explore_check_write(w, a->frame);
		break;
	case ACTION_AUTHORIZE:
	case ACTION_TAKE_REFUSAL:
		w->judged++;
		break;
	case ACTION_LOG:
		if (strstr(a->text, "accepts and refuses") != NULL &&
		    !explore_flaps(w))
			explore_breaks(w, "replicas are blamed that agree");
		if (strstr(a->text, "): renewing") != NULL ||
		    strstr(a->text, "is asked for a session again") != NULL)
			explore_renewed(w);
		break;
	case ACTION_LOAD_START:
		w->recalled = true;
		break;
	case ACTION_CHECK_PEERS:
		w->looks = true;
		break;
	case ACTION_SAVE_SESSION:
		if (a->session.n > 0 &&
		    !span_is(a->session, explore_now(w)->session))
			explore_breaks(w, "another session is kept");
		break;
	default:
		break;
	}
}
