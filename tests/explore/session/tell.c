/*
 * What the server tells, and with what outcome: the truth by which the rules
 * judge is put down before the session hears of it.
 */
#include "config.h"

#include <stdio.h>

#include "explore/session/world.h"

#include <stdlib.h>

#include "base/hash.h"

/* --- outcomes --- */

/* A reason to renew: a witness of the session of now was not answered, or
 * something else says that it is gone; but not mere words to a call, nor to one
 * that nobody wants any more. */
static void
note_loss(struct world *w, size_t i, const struct shape *shape)
{
	const struct seen_send *n = &w->sends[i];
	bool call = n->kind == SEND_CALL || n->kind == SEND_RESUME;

	if (n->generation != w->generation)
		return;
	if (call &&
	    (!shape->loss || !w->told_call ||
		!explore_is_open(w, (unsigned)n->call)))
		return;
	if (n->kind == SEND_LISTEN && !explore_now(w)->listened)
		return;
	if (n->kind != SEND_PING && !shape->loss && shape->outcome != REFUSED)
		return;
	w->reason = true;
	/* A cancel begins no renewal, but it tells. */
	if (n->kind == SEND_NOTE && explore_now(w)->door->words)
		explore_now(w)->gone = true;
	if (n->kind != SEND_PING)
		return;
	explore_settle(w, w->generation);
	explore_now(w)->gone = true;
}

/* An answer shows that the server knows the session. */
static void
note_served(struct world *w, unsigned call)
{
	struct seen_generation *g = &w->generations[w->calls[call].generation];

	g->served_at = w->p->now;
	g->useless = g->broke = false;
}

static void
note_call(struct world *w, size_t i, enum outcome outcome)
{
	struct seen_send *n = &w->sends[i];
	struct seen_call *c = &w->calls[n->call];

	n->outcome = outcome;
	w->told_call = false;
	if (c->last != i || c->outcome != RUNS)
		return; /* the call has left it */
	w->told_call = true;
	c->outcome = outcome;
	c->told_at = w->p->now;
	c->was_safe |= explore_is_safe(w, c);
}

/* The new session will have none of it, at once or after many tries. */
static void
note_unrestored(struct world *w, size_t i, bool at_once)
{
	int call = explore_call_of(w->p->sent[i].frame);
	unsigned thing = w->calls[call].thing;

	if (w->calls[call].method == METHOD_LEVEL &&
	    explore_is_restoring_late(w, explore_now(w)))
		w->level_in_doubt = true;
	else if (w->calls[call].method == METHOD_LEVEL && at_once)
		w->level = -1;
	else if (w->calls[call].method == METHOD_SUBSCRIBE && at_once) {
		w->vague_subs[thing] = w->subs[thing];
		w->subs[thing] = -1;
	}
}

/* A renewal may be tried again when it failed. A server that is away costs
 * nothing of the budget. */
void
explore_failed(struct world *w, size_t i)
{
	w->reason |= w->sends[i].generation == w->generation;
	w->generations[w->sends[i].generation].useless = false;
}

static void
note_failed_open(struct world *w, size_t i, const char *how)
{
	bool useless = w->generations[w->sends[i].generation].useless;

	explore_failed(w, i);
	w->generations[w->sends[i].generation].useless = useless &&
	    how[0] >= '1' && how[0] <= '5';
}

/* Does this ending mean that the connection broke? */
static bool
is_break(const struct seen_send *n, const char *text)
{
	return *text < '1' || *text > '5' || strncmp(text, "50", 2) == 0 ||
	    n->kind == SEND_LISTEN;
}

/* Who asks again after this asks no more than once. */
static bool
is_of_a_moment(enum outcome outcome)
{
	return outcome == UNSENT || outcome == LATER || outcome == AWAY ||
	    outcome == MAYBE;
}

static void
count_doubt(struct seen_generation *g, const struct seen_send *n)
{
	if (n->kind != SEND_PING)
		g->doubts += n->outcome != FINAL;
	else if (is_of_a_moment(n->outcome) && g->witnesses > 0)
		g->witnesses--;
}

/* Is it a door that does not speak of sessions to a GET? */
static bool
is_listen_refused(const struct seen_generation *g, struct shape shape)
{
	return shape.outcome == FINAL || !g->listened ||
	    g->session[0] == '\0' || *shape.text == '2' ||
	    (!g->door->words && *shape.text == '4' &&
		strncmp(shape.text, "404", 3) != 0);
}

static void
note_outcome(struct world *w, size_t i, struct shape shape)
{
	struct seen_send *n = &w->sends[i];
	struct seen_generation *g = &w->generations[n->generation];

	n->outcome = shape.outcome;
	if (n->kind == SEND_CALL || n->kind == SEND_RESUME)
		note_call(w, i, shape.outcome);
	g->broke |= is_break(n, shape.text);
	count_doubt(g, n);
	if (n->kind == SEND_READY)
		g->unready |= *shape.text == '4' || *shape.text == '5';
	if (n->kind == SEND_RESTORE && n->generation == w->generation &&
	    strstr(shape.text, "err") != NULL)
		note_unrestored(w, i, shape.outcome == FINAL);
	if (n->kind == SEND_LISTEN && n->generation == w->generation &&
	    is_listen_refused(g, shape))
		w->listen_refused = true; /* for good, as far as we know */
	if (shape.outcome != FINAL || shape.loss)
		note_loss(w, i, &shape);
	if (n->kind == SEND_OPEN)
		note_failed_open(w, i, shape.text);
}

/* The transport asks whether other credentials may help. */
static void
tell_refused(struct world *w, size_t i, const char *status)
{
	unsigned judged = w->judged;

	explore_input(w, "< #%zu refused %.3s%s", i + 1, status,
	    strstr(status, "challenge") != NULL ? " challenge=Bearer" : "");
	if (w->broken == NULL && w->judged != judged + 1)
		explore_breaks(w, "a refusal is not judged once");
}

/* A refusal to resume a stream that says nothing of a session is asked for once
 * more. */
static struct shape
as_resumed(const struct world *w, size_t i, struct shape shape)
{
	const struct seen_send *n = &w->sends[i];

	if (n->kind == SEND_RESUME && shape.outcome == FAILED &&
	    w->generations[n->generation].session[0] == '\0')
		shape.outcome = BROKEN;
	return shape;
}

void
explore_tell(struct world *w, size_t i, const struct shape *shape)
{
	if (strncmp(shape->text, "401", 3) == 0 ||
	    strncmp(shape->text, "403", 3) == 0)
		tell_refused(w, i, shape->text);
	w->sends[i].waits = false;
	note_outcome(w, i, as_resumed(w, i, *shape));
	w->sends[i].ended = true;
	if (w->sends[i].kind == SEND_READY &&
	    w->sends[i].generation == w->generation &&
	    w->p->now < explore_now(w)->ready_at + READY_MS)
		explore_begin(w);
	w->telling = i + 1;
	explore_input(w, "< #%zu %s", i + 1, shape->text);
}

void
explore_end(struct world *w, size_t i, enum outcome outcome, const char *text)
{
	struct shape shape = { text, outcome, false };

	explore_tell(w, i, &shape);
}

/* --- refusals --- */

#define WORDS "media=other body="

/* How servers refuse a session that they do not know: each has one way. */
static const struct refusal doors[] = {
	{ "404", WORDS "session_not_found", 0, NULL, false, true },
	{ "404", "", -32001, "Session not found", true, true },
	{ "404", "", -32001, "Session not found", false, true },
	{ "404", "", -32602, "Unknown session", false, true },
	{ "400", "", -32000, "invalid or expired session", false, true },
	{ "400", WORDS "Invalid_or_expired_session", 0, NULL, false, true },
	{ "500", "", -32603, "Session terminated", true, true },
	{ "401", "", -32000, "Invalid or expired session", false, true },
	{ "401 trusted", "", 0, NULL, false, true },
	{ "403 trusted", "", -32001, "no", true, true },
	{ "200", "", 32600, "Session terminated", true, true },
	{ "200", "", -32000, "Session not found", true, true },
	{ "404", "", 0, NULL, false, false },
	{ "410", "", 0, NULL, false, false },
	{ "404", "media=html body=<p>404</p>", 0, NULL, false, false },
	{ "404", "", -32000, "Sitzung unbekannt", false, false },
	/* These say less than one that a ping passes. */
	{ "400", "", -32000, "Sitzung unbekannt", true, false },
	{ "400", "", 0, NULL, false, false },
	{ "409", "", 0, NULL, false, false },
	{ "400", "", -32000, "Mcp-Session-Id header is required", false,
	    false },
};

/* What tools say that failed, and what stands in front of servers. */
static const struct refusal failures[] = {
	{ "500", "", -32603, "Session not found: tab-3", true, true },
	{ "422", "", -32000, "Session not found: tab-3", true, true },
	{ "404", "", -32001, "Session not found: tab-3", false, true },
	{ "404", WORDS "Session_expired", 0, NULL, false, true },
	{ "404", "", 0, NULL, false, false },
	{ "400", "", -32000, "session terminated", true, true },
	{ "400", "", 0, NULL, false, false },
	{ "200", "", -32000, "Session expired", true, true },
	{ "200", "", -32000, "Session not found: tab-3", true, true },
	{ "200", "", -32603, "no", true, false },
	{ "401", "", 0, NULL, false, true }, /* with good credentials */
	{ "403", "", -32000, "no", true, false },
	{ "404", "", -32601, "Method not found", true, false },
	{ "404", "", -32000, "no such file", true, false },
	{ "409", "", 0, NULL, false, false },
	{ "410", "", 0, NULL, false, false },
	{ "429", "", 0, NULL, false, false },
	{ "500", "", 0, NULL, false, false },
};

const struct refusal *
explore_some_door(struct world *w)
{
	enum { VAGUE = 4 };
	unsigned n = sizeof doors / sizeof *doors;

	return &doors[explore_below(w, w->lets_pings ? n - VAGUE : n)];
}

static bool
is_same(const struct refusal *a, const struct refusal *b)
{
	if (strncmp(a->status, b->status, 3) != 0 ||
	    strcmp(a->body, b->body) != 0 ||
	    (a->text == NULL) != (b->text == NULL))
		return false;
	return a->text == NULL ||
	    (a->code == b->code && strcmp(a->text, b->text) == 0 &&
		a->own_id == b->own_id);
}

/* The data of an error tells whose it is. */
static char *
error_text(struct world *w, size_t i, const struct refusal *r)
{
	const struct frame *f = w->p->sent[i].frame;
	bool own = r->own_id && f != NULL && f->id.n > 0;

	return xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":"
			 "{\"code\":%d,\"message\":\"%s\",\"data\":%zu}}",
	    own ? (int)f->id.n : 4, own ? f->id.p : "null", r->code, r->text,
	    i + 1);
}

void
explore_refuse(struct world *w, size_t i, const struct refusal *r,
    enum outcome outcome)
{
	char *error = r->text != NULL ? error_text(w, i, r) : xstrdup(r->body);
	char *text = xasprintf("%s%s%s", r->status, *error != '\0' ? " " : "",
	    error);

	w->generations[w->sends[i].generation].n_refused++;
	/* What says nothing of the session is tried once more. */
	if (w->sends[i].kind == SEND_RESUME && !r->words)
		outcome = BROKEN;
	explore_end(w, i, outcome, text);
	free(text);
	free(error);
}

/* The tool of this call fails. It may have passed on what another door says, or
 * this one: then this session does not die any more, or nobody could tell. */
static enum outcome
failure(struct world *w, size_t i, const struct refusal *r)
{
	struct seen_generation *g = &w->generations[w->sends[i].generation];
	bool same = is_same(r, g->door);

	g->mimicked |= same;
	/* A safe call waits for a server that is busy. */
	if (strcmp(r->status, "429") == 0)
		return AWAY;
	return explore_flaps(w) && same ? PASSED : FAILED;
}

void
explore_fail(struct world *w, size_t i)
{
	struct seen_generation *g = &w->generations[w->sends[i].generation];
	struct refusal
	    r = failures[explore_below(w, sizeof failures / sizeof *failures)];

	if (explore_chance(w, 20)) {
		r = *g->door;
		r.own_id = true;
	}
	explore_refuse(w, i, &r, failure(w, i, &r));
}

/* --- messages for a call --- */

/* Mere words of a loss, for the call's latest exchange whatever stream it is
 * on. */
void
explore_words(struct world *w, size_t i, unsigned call)
{
	static const struct refusal texts[] = {
		{ "200", "", 32600, "Session terminated", true, true },
		{ "200", "", -32000, "Session not found", true, true },
		{ "200", "", -1,
		    "Session terminated before the request completed", true,
		    true },
	};
	const struct refusal *r = &texts[explore_below(w, 3)];
	struct seen_call *c = &w->calls[call];
	bool own = c->last == i || w->sends[i].call != (int)call;
	bool ended = r->code == -1;
	struct shape shape = { r->status,
		ended ? MAYBE : failure(w, c->last, r), ended };
	char *text;

	if (own)
		note_outcome(w, c->last, shape);
	w->telling = c->last + 1;
	text = error_text(w, c->posted, r);
	explore_input(w, "< #%zu msg %s", i + 1, text);
	free(text);
}

/* --- results --- */

static void
learn_subscription(struct world *w, unsigned call, bool on)
{
	int *sub = &w->subs[w->calls[call].thing];

	if (!on)
		*sub = -1;
	else if (*sub < 0)
		*sub = (int)call;
}

static void
note_level(struct world *w, int call)
{
	w->level = call;
	w->level_in_doubt = false;
}

/* The session learns from a result that the client waits for. */
static void
learn(struct world *w, unsigned call)
{
	const struct seen_call *c = &w->calls[call];

	if (!explore_is_open(w, call))
		return;
	if (c->method == METHOD_LEVEL)
		note_level(w, (int)call);
	else if (c->method == METHOD_SUBSCRIBE)
		learn_subscription(w, call, true);
	else if (c->method == METHOD_UNSUBSCRIBE)
		learn_subscription(w, call, false);
}

/* A page of a list, which says nothing of the tools that are called. */
static void
turn_page(struct seen_call *c, char *text, size_t n)
{
	snprintf(text, n,
	    ",\"tools\":[{\"name\":\"p%u\"}],\"nextCursor\":\"%u\"", c->pages,
	    c->pages);
	c->pages++;
}

static void
note_safe(struct world *w)
{
	unsigned i;

	for (i = 0; i < w->n_calls; i++)
		w->calls[i].was_safe |= explore_is_safe(w, &w->calls[i]);
}

void
explore_forget_safe(struct world *w)
{
	note_safe(w);
	memset(w->safe, 0, sizeof w->safe);
}

/* A list of tools of this generation; some are safe. What nobody waits for
 * changes nothing. */
static void
describe_tools(struct world *w, bool wanted, unsigned generation, char *text,
    size_t n)
{
	static const char *const hints[] = { "readOnlyHint", "idempotentHint" };
	size_t used = (size_t)snprintf(text, n, ",\"tools\":[");
	unsigned i;

	note_safe(w);
	for (i = 0; i < TOOLS; i++) {
		if (wanted)
			w->safe[i] = explore_chance(w, 50) ? generation : 0;
		used += (size_t)snprintf(text + used, n - used,
		    "%s{\"name\":\"t%u\",\"annotations\":{\"%s\":%s}}",
		    i > 0 ? "," : "", i, hints[i % 2],
		    w->safe[i] != 0 ? "true" : "false");
	}
	snprintf(text + used, n - used, "]");
}

/* Does the session learn from a result? */
static bool
is_stateful(enum method method)
{
	return method == METHOD_LEVEL || method == METHOD_SUBSCRIBE ||
	    method == METHOD_UNSUBSCRIBE || method == METHOD_TOOLS;
}

void
explore_result(struct world *w, size_t i, unsigned call, bool whole)
{
	struct seen_call *c = &w->calls[call];
	struct span id = w->p->sent[c->posted].frame->id;
	char tools[400] = "";
	bool page = c->method == METHOD_TOOLS && c->pages < PAGES &&
	    explore_is_open(w, call) && explore_chance(w, 30);

	/* A server that was told of a cancel does not do it any more. */
	if (c->cancelled && is_stateful(c->method))
		return;
	/* An answer under the id of a page that came before changes nothing. */
	if (whole && c->pages > 0 &&
	    !msg_id_same(w->p->sent[i].frame->id, id)) {
		w->sends[i].ended = true;
		explore_input(w, "< #%zu 200 ok {\"n\":%u}", i + 1,
		    call + 1000);
		return;
	}
	if (page)
		turn_page(c, tools, sizeof tools);
	else if (c->method == METHOD_TOOLS)
		describe_tools(w, explore_is_open(w, call), c->generation,
		    tools, sizeof tools);
	explore_begin_late(w);
	learn(w, call);
	note_served(w, call);
	note_call(w, c->last, page ? PAGED : FINAL);
	/* It counts, whatever was said of the exchange before: a 202, or words
	 * of a loss that are still in doubt. */
	if (page)
		c->outcome = PAGED;
	c->turned |= page;
	w->telling = c->last + 1;
	if (whole)
		w->sends[i].ended = true;
	if (whole)
		explore_input(w, "< #%zu 200 ok {\"n\":%u%s}", i + 1,
		    call + 1000, tools);
	else
		explore_input(w, "< #%zu msg ok=%.*s {\"n\":%u%s}", i + 1,
		    (int)id.n, id.p, call + 1000, tools);
}

void
explore_listed(struct world *w, size_t i)
{
	const struct seen_send *n = &w->sends[i];
	bool wanted = n->generation == w->generation && w->reading == i + 1;
	char tools[400], *text;
	struct span list;

	describe_tools(w, wanted, n->generation, tools, sizeof tools);
	list = span_of(strchr(tools, '['));
	if (wanted)
		w->reads = hash_bytes(HASH_START, list.p, list.n);
	text = xasprintf("200 ok {\"m\":1%s}", tools);
	explore_end(w, i, FINAL, text);
	free(text);
}

/* --- initialize --- */

void
explore_opened(struct world *w, size_t i)
{
	struct seen_send *n = &w->sends[i];
	struct seen_generation *g = &w->generations[n->generation];
	static const char *const results[] = {
		"{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}",
		"{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
		"{\"tools\":{\"listChanged\":true}}}",
	};
	/* Where the door lets pings pass, only a list tells. */
	const char *result = results[w->lets_pings ? 1 : explore_below(w, 2)];

	n->outcome = FINAL;
	n->ended = true;
	if ((n->generation != w->generation && !g->spare) || g->settled ||
	    n->epoch != w->initializes) {
		explore_input(w, "< #%zu 200 session=x%u ok %s", i + 1,
		    ++w->strays, result);
		return;
	}
	g->settled = true;
	if (n->headed)
		snprintf(g->session, sizeof g->session, "s%u", n->session);
	else if (explore_below(w, 10) != 0 || g->spare)
		snprintf(g->session, sizeof g->session, "s%u", ++w->sessions);
	if (n->generation == w->generation) {
		w->from_cache = w->reason = false;
		g->ordered = g->own && w->ready_known;
	}
	if (n->headed) {
		explore_input(w, "< #%zu msg ok %s", i + 1, result);
		explore_input(w, "< #%zu end", i + 1);
	} else if (g->session[0] == '\0')
		explore_input(w, "< #%zu 200 ok %s", i + 1, result);
	else
		explore_input(w, "< #%zu 200 session=%s ok %s", i + 1,
		    g->session, result);
}
