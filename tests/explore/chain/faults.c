/* What a server, a gateway or a network does wrong. */
#include "config.h"

#include "explore/chain/world.h"

#include "core/wire/json.h"

#define COUNT(list) ((unsigned)(sizeof(list) / sizeof *(list)))

/* Words are a refusal so soon after the request, and after the head. */
enum { SOON_MS = 500, HEAD_MS = 150, HEAD_SAFE_MS = 2000 };

struct shape {
	const char *line;
	const char *words; /* of an error in it, or NULL */
	int code;
	bool null_id;
};

/* The tool that asked goes on if it has the answer, or if its server does not
 * want it. Otherwise it waits. */
static void
note_delivery(struct world *w, size_t i, enum fate fate, const char *line)
{
	int k = w->exchanges[i].answers;
	bool wanted = line[0] != '4' || strncmp(line, "429", 3) == 0;

	if (k != NOBODY && fate == FATE_REFUSED && wanted)
		w->questions[k].since = w->p->now;
	else if (k != NOBODY)
		w->exchanges[w->questions[k].exchange].question = NOBODY;
}

void
end_with(struct world *w, size_t i, enum fate fate, const char *line)
{
	struct exchange *x = &w->exchanges[i];

	if (x->fate == FATE_OPEN || x->fate == FATE_UNASKED)
		x->fate = fate;
	x->heard_at = w->p->now;
	note_delivery(w, i, fate, line);
	input(w, "< #%zu %s", i + 1, line);
}

void
tell_error(struct world *w, size_t i, const char *before, bool null_id,
    int code, const char *text)
{
	w->exchanges[i].heard_at = w->p->now;
	input(w,
	    "< #%zu %s {$J,'id':%s,'error':{'code':%d,'message':'%s',"
	    "'data':{'x':%zu}}}",
	    i + 1, before, null_id ? "null" : "$", code, text, i);
}

static void
tell_shape(struct world *w, size_t i, enum fate fate, const struct shape *s)
{
	if (s->words == NULL) {
		end_with(w, i, fate, s->line);
		return;
	}
	w->exchanges[i].fate = fate;
	note_delivery(w, i, fate, s->line);
	tell_error(w, i, s->line, s->null_id, s->code, s->words);
}

void
refuse_session(struct world *w, size_t i)
{
	static const struct shape shapes[] = {
		{ "404", "Session not found", -32001, false },
		{ "404", "Session not found", -32001, true },
		{ "404 media=other body=session_not_found", NULL, 0, false },
		{ "400", "Bad Request: No valid session ID provided", -32000,
		    true },
		{ "404", NULL, 0, false },
		{ "401", "Invalid or expired session", -32000, true },
	};

	tell_shape(w, i, FATE_REFUSED, &shapes[below(w, COUNT(shapes))]);
}

/* Words of a loss that come later may be those of a tool that ran. */
static bool
came_soon(const struct world *w, const struct exchange *x)
{
	int64_t since_head = x->headed ? w->p->now - x->headed_at : 0;

	if (x->spoke)
		return false;
	if (w->things[x->thing].method != METHOD_UNSAFE)
		return since_head < HEAD_SAFE_MS;
	return w->p->now - x->sent_at <= SOON_MS && since_head <= HEAD_MS;
}

void
tell_words(struct world *w, size_t i)
{
	static const struct shape shapes[] = {
		{ "200", "Session terminated", 32600, false },
		{ "200", "Session not found", -32001, false },
		{ "500", "Session not found", -32603, false },
		{ "200", "Server not initialized", 0, false },
	};
	struct exchange *x = &w->exchanges[i];
	bool soon = came_soon(w, x);
	const struct shape *s = &shapes[below(w, COUNT(shapes))];

	if (w->kind == SERVER_SSE) {
		end_with(w, i, FATE_REFUSED,
		    "404 media=other body=session_not_found");
	} else if (x->headed) {
		x->fate = soon ? FATE_REFUSED : FATE_RAN;
		x->told = true;
		tell_error(w, i, "msg", false, s->code, s->words);
	} else {
		tell_shape(w, i, soon ? FATE_REFUSED : FATE_RAN, s);
	}
}

void
fail_unsent(struct world *w, size_t i)
{
	static const struct shape shapes[] = {
		{ "connect", NULL, 0, false },
		{ "resolve", NULL, 0, false },
		{ "reset", NULL, 0, false },
		{ "tls", NULL, 0, false },
		{ "429 retry-after=2", NULL, 0, false },
		{ "429", "slow down", -1, false },
		{ "429", NULL, 0, false },
		{ "302", NULL, 0, false },
		{ "404 media=html", NULL, 0, false },
	};

	tell_shape(w, i, FATE_REFUSED, &shapes[below(w, COUNT(shapes))]);
}

/* The second and later rounds at a modern server go on after it. */
static void
fail_busy(struct world *w, size_t i)
{
	bool again = json_get(w->p->sent[i].frame->params, "requestState").n >
	    0;

	end_with(w, i, again ? FATE_REFUSED : FATE_BUSY,
	    percent(w, 50) ? "503 retry-after=1" : "503");
}

void
fail_maybe(struct world *w, size_t i)
{
	static const struct shape shapes[] = {
		{ "cut", NULL, 0, false },
		{ "cut", NULL, 0, false },
		{ "502", NULL, 0, false },
		{ "504", "gateway", -1, false },
		{ "500", "boom", -32603, false },
		{ "cut size=100", NULL, 0, false },
		{ "200", "no", -32602, false },
	};

	/* An exchange whose head was sent already has a stream. */
	if (w->exchanges[i].headed)
		end_with(w, i, FATE_RAN, percent(w, 50) ? "cut" : "end");
	else if (w->kind == SERVER_SSE)
		end_with(w, i, FATE_RAN, percent(w, 50) ? "cut" : "502");
	else if (percent(w, 20))
		fail_busy(w, i);
	else
		tell_shape(w, i, FATE_RAN, &shapes[below(w, COUNT(shapes))]);
}

/* --- the user --- */

/* With other credentials, or after the user has signed in. */
static void
goes_out(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];

	x->fate = FATE_OPEN;
	x->asked_again = false;
	x->sent_at = x->heard_at = w->p->now;
}

static void
user_is_awaited(struct world *w, size_t i)
{
	w->exchanges[i].asked_again = false;
	input(w, "< #%zu sign-in open_http://a/", i + 1);
}

static void
user_comes(struct world *w, size_t i)
{
	goes_out(w, i);
	input(w, "< #%zu sign-in", i + 1);
	if (percent(w, 30))
		input(w, "! signed-in");
}

void
user_turn(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];
	unsigned dice = below(w, 10);

	if (x->fate != FATE_UNASKED) {
		x->fate = FATE_UNASKED;
		input(w, "< #%zu refused %u", i + 1, dice < 8 ? 401 : 403);
	} else if (x->asked_again && dice < 3) {
		end_with(w, i, FATE_REFUSED, "401");
	} else if (x->asked_again && dice < 6) {
		goes_out(w, i);
	} else if (x->asked_again || dice < 2) {
		user_is_awaited(w, i);
	} else if (dice < 6) {
		user_comes(w, i);
	} else if (dice < 8) {
		end_with(w, i, FATE_REFUSED, "denied");
	}
}
