/* The explorer's client and server, and their dice. */
#include "config.h"

#include "explore_session.h"

#include <stdlib.h>

static uint64_t
chance(struct world *w)
{
	uint64_t z = (w->rng += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

unsigned
explore_below(struct world *w, unsigned n)
{
	return (unsigned)(chance(w) % n);
}

/* One of count texts; the first ones are as likely as the others. */
const char *
explore_one_of(struct world *w, const char *const *texts, unsigned count)
{
	return texts[explore_below(w, count)];
}

void
explore_input(struct world *w, const char *fmt, ...)
{
	va_list ap;
	char *line;

	va_start(ap, fmt);
	line = xvasprintf(fmt, ap);
	va_end(ap);
	if (w->broken == NULL && !play_input(w->p, line))
		explore_breaks(w, "the explorer speaks a wrong language");
	free(line);
	if (w->broken == NULL && w->p->config.max_held > 0 &&
	    play_held(w->p) > w->p->config.max_held + MAX_FRAME)
		explore_breaks(w, "more is held back than the cap allows");
}

/* --- the client --- */

static unsigned
open_calls(const struct world *w)
{
	unsigned i, n = 0;

	for (i = 0; i < w->n_calls; i++)
		if (!w->calls[i].answered && !w->calls[i].cancelled)
			n++;
	return n;
}

/* The number of an open call, or -1. */
static int
some_call(struct world *w)
{
	unsigned open = open_calls(w), which, i;

	if (open == 0)
		return -1;
	which = explore_below(w, open);
	for (i = 0; i < w->n_calls; i++)
		if (!w->calls[i].answered && !w->calls[i].cancelled &&
		    which-- == 0)
			return (int)i;
	return -1;
}

static void
client_call(struct world *w)
{
	static const char *const methods[] = { "tools/call", "tools/call",
		"tools/list", "ping" };

	if (open_calls(w) >= MAX_OPEN || w->n_calls == MAX_CALLS)
		return;
	w->n_calls++;
	explore_input(w, "> %s %u", ONE_OF(w, methods), w->n_calls + 999);
}

static void
client_cancel(struct world *w)
{
	int call = some_call(w);

	if (call < 0)
		return;
	/* That of an initialize is ignored. */
	w->calls[call].cancelled = !w->calls[call].initialize;
	explore_input(w, "> notifications/cancelled {\"requestId\":%d}",
	    call + 1000);
}

/* The calls of the session before are answered by us in this step. */
static void
client_initialize(struct world *w)
{
	if (w->n_calls == MAX_CALLS)
		return;
	w->initializes++;
	w->said_initialized = false;
	w->n_questions = 0;
	w->calls[w->n_calls++].initialize = true;
	explore_input(w, "> initialize %u {\"protocolVersion\":\"2025-11-25\"}",
	    w->n_calls + 999);
}

static void
client_answer(struct world *w)
{
	char id[32];
	unsigned i;

	if (w->n_questions == 0)
		return;
	i = explore_below(w, w->n_questions);
	memcpy(id, w->questions[i], sizeof id);
	explore_forget_question(w, i);
	explore_input(w, "> answer %s", id);
}

void
explore_client(struct world *w)
{
	unsigned dice = explore_below(w, 100);

	if (!w->p->reading)
		return;
	if (w->initializes == 0 && dice < 90)
		client_initialize(w);
	else if (!w->said_initialized && dice < 40) {
		w->said_initialized = true;
		explore_input(w, "> notifications/initialized");
	} else if (dice < 60)
		client_call(w);
	else if (dice < 72)
		client_cancel(w);
	else if (dice < 84)
		client_answer(w);
	else if (dice < 95)
		explore_input(w, "> notifications/roots/list_changed");
	else if (dice < 97)
		explore_input(w, "> {\"jsonrpc\":");
	else
		client_initialize(w);
}

/* --- the server --- */

/* Is this a reason to renew? An old session's loss is none. */
static void
told_loss(struct world *w, size_t i, const char *how)
{
	bool says = strncmp(how, "404", 3) == 0 ||
	    strstr(how, "terminated") != NULL || strstr(how, "expired") != NULL;

	if ((says && w->sends[i].generation == w->generation) ||
	    w->sends[i].initialize)
		w->lost = true;
}

/* What the server said of this call, as far as sending it again goes. */
static void
told_call(struct world *w, int call, enum again again)
{
	if (call >= 0)
		w->calls[call].again = again;
}

static void
ends(struct world *w, size_t i, const char *how)
{
	w->sends[i].ended = true;
	if (strncmp(how, "200 session", 11) != 0)
		told_loss(w, i, how);
	explore_input(w, "< #%zu %s", i + 1, how);
}

/* An answer to an initialize makes the generation, if it is still wanted:
 * the reducer sends an initialized, or calls, with the id only then. */
static void
open_ok(struct world *w, size_t i)
{
	size_t k;

	for (k = i + 1; k < w->p->n_sent; k++)
		if (w->sends[k].initialize) {
			ends(w, i, "200 session=stray ok");
			return;
		}
	free(w->session);
	w->settled = true;
	w->sends[i].ended = true;
	if (w->sends[i].headed)
		w->session = xasprintf("s%u", w->sends[i].session);
	else if (explore_below(w, 8) != 0)
		w->session = xasprintf("s%u", ++w->sessions);
	else
		w->session = NULL;
	if (w->sends[i].headed) {
		explore_input(w, "< #%zu msg ok", i + 1);
		explore_input(w, "< #%zu end", i + 1);
	} else if (w->session == NULL)
		explore_input(w,
		    "< #%zu 200 ok {\"protocolVersion\":\"2025-06-18\"}",
		    i + 1);
	else
		explore_input(w, "< #%zu 200 session=%s ok", i + 1, w->session);
}

static void
open_early(struct world *w, size_t i)
{
	w->sends[i].session = ++w->sessions;
	w->sends[i].headed = true;
	explore_input(w, "< #%zu head 200 media=sse session=s%u", i + 1,
	    w->sessions);
	explore_input(w, "< #%zu msg note notifications/message {\"early\":1}",
	    i + 1);
}

static void
answer_open(struct world *w, size_t i)
{
	static const char *const refusals[] = { "503", "429 retry-after=1",
		"connect", "resolve", "cut", "500", "404", "tls", "401",
		"200 err -32602 no", "503 retry-after=90 err -1 later" };

	if (explore_below(w, 100) < 70)
		open_ok(w, i);
	else if (explore_below(w, 4) == 0 && !w->sends[i].headed)
		open_early(w, i);
	else if (!w->sends[i].headed)
		ends(w, i, ONE_OF(w, refusals));
}

static void
answer_note(struct world *w, size_t i)
{
	static const char *const refusals[] = { "404", "404", "connect",
		"reset", "500", "503", "cut", "400 err=null -32600 no" };

	if (explore_below(w, 100) < 80)
		ends(w, i, "202");
	else
		ends(w, i, ONE_OF(w, refusals));
}

/* A message on any stream; own is the call whose stream it is, or -1. */
static void
says_something(struct world *w, size_t i, int own)
{
	int call = explore_below(w, 4) == 0 ? some_call(w) : own;
	unsigned dice = explore_below(w, 100);
	size_t k;

	if (dice < 25) {
		w->sends[i].spoke = true;
		explore_input(w, "< #%zu msg note notifications/progress {}",
		    i + 1);
	} else if (dice < 45) {
		w->sends[i].spoke = true;
		explore_input(w, "< #%zu msg ask %u ping", i + 1, ++w->asked);
	} else if (call >= 0 && dice < 80) {
		explore_input(w, "< #%zu msg ok=%d", i + 1, call + 1000);
	} else if (call >= 0 && dice < 90 && !w->calls[call].accepted) {
		/* Said once: whether it spoke is of its own stream. */
		for (k = w->p->n_sent; k > 0; k--)
			if (w->sends[k - 1].call == call)
				break;
		if (k == 0 || !explore_is_alive(w, k - 1) ||
		    w->p->sent[k - 1].session == NULL)
			return;
		told_call(w, call,
		    w->sends[k - 1].spoke ? AGAIN_NO : AGAIN_LOST);
		told_loss(w, k - 1, "terminated");
		explore_input(w, "< #%zu msg err=%d 32600 Session terminated",
		    i + 1, call + 1000);
	}
}

static void
stream_goes_on(struct world *w, size_t i)
{
	int call = w->sends[i].call;
	unsigned dice = explore_below(w, 100);

	if (dice < 70) {
		says_something(w, i, call);
	} else if (dice < 85 && call >= 0) {
		w->sends[i].ended = true;
		explore_input(w, "< #%zu %s id=e%d retry=%u", i + 1,
		    dice < 80 ? "end" : "cut", call + 1000,
		    explore_below(w, 2000));
	} else if (dice < 95) {
		ends(w, i, dice < 90 ? "cut" : "end");
	} else if (w->p->sent[i].listen) {
		ends(w, i, "cut id=x retry=500");
	}
}

static void
starts_stream(struct world *w, size_t i)
{
	w->sends[i].headed = true;
	explore_input(w, "< #%zu head 200 media=sse", i + 1);
}

static void
answer_listen(struct world *w, size_t i)
{
	static const char *const refusals[] = { "405", "404", "404", "503",
		"409", "connect", "401" };

	if (w->sends[i].headed)
		stream_goes_on(w, i);
	else if (explore_below(w, 100) < 70)
		starts_stream(w, i);
	else
		ends(w, i, ONE_OF(w, refusals));
}

static void
answer_resume(struct world *w, size_t i)
{
	static const char *const refusals[] = { "405", "404", "503", "400",
		"connect" };

	if (w->sends[i].headed)
		stream_goes_on(w, i);
	else if (explore_below(w, 100) < 70)
		starts_stream(w, i);
	else
		ends(w, i, ONE_OF(w, refusals));
}

static void
refuse_call(struct world *w, size_t i)
{
	static const char *const lost[] = { "404", "404 err=null -1 gone",
		"404 err -32001 Session not found",
		"200 err 32600 Session terminated",
		"400 media=other body=invalid_or_expired_session" };
	static const char *const unsent[] = { "connect", "resolve", "reset",
		"429 retry-after=2", "429 retry-after=1 err -1 slow" };
	static const char *const over[] = { "cut", "idle", "500", "202", "tls",
		"proxy", "denied", "401", "403", "200 media=html",
		"400 err=null -1 no", "200 err -32603 no", "302",
		"429 retry-after=60", "cut size=100",
		"200 err -1 Session terminated before the request completed" };
	int call = w->sends[i].call;
	unsigned dice = explore_below(w, 100);
	const char *how;

	if (dice < 55 && w->p->sent[i].session != NULL) {
		told_call(w, call, AGAIN_LOST);
		ends(w, i, ONE_OF(w, lost));
	} else if (dice < 75) {
		told_call(w, call, AGAIN_UNSENT);
		ends(w, i, ONE_OF(w, unsent));
	} else {
		how = ONE_OF(w, over);
		if (call >= 0)
			w->calls[call].accepted = strcmp(how, "202") == 0;
		ends(w, i, how);
	}
}

static void
answer_call(struct world *w, size_t i)
{
	unsigned dice = explore_below(w, 100);

	if (w->sends[i].headed)
		stream_goes_on(w, i);
	else if (dice < 35)
		ends(w, i, "200 ok");
	else if (dice < 50)
		starts_stream(w, i);
	else
		refuse_call(w, i);
}

static void
answer(struct world *w, size_t i)
{
	const struct sent *s = &w->p->sent[i];

	if (w->sends[i].initialize)
		answer_open(w, i);
	else if (s->listen)
		answer_listen(w, i);
	else if (s->resume)
		answer_resume(w, i);
	else if (w->sends[i].call >= 0)
		answer_call(w, i);
	else
		answer_note(w, i);
}

void
explore_server(struct world *w)
{
	size_t i, n = 0, which;

	for (i = 0; i < w->p->n_sent; i++)
		n += explore_is_alive(w, i);
	if (n == 0)
		return;
	which = explore_below(w, (unsigned)n);
	for (i = 0; i < w->p->n_sent; i++)
		if (explore_is_alive(w, i) && which-- == 0) {
			answer(w, i);
			return;
		}
}

void
explore_answer_well(struct world *w)
{
	size_t i, n = w->p->n_sent;
	unsigned k;

	for (i = 0; i < n && w->broken == NULL && w->p->status < 0; i++) {
		if (!explore_is_alive(w, i))
			continue;
		if (w->sends[i].initialize)
			open_ok(w, i);
		else if (w->p->sent[i].listen && !w->sends[i].headed)
			starts_stream(w, i);
		else if (w->p->sent[i].listen)
			for (k = 0; k < w->n_calls; k++) {
				if (w->calls[k].accepted)
					explore_input(w, "< #%zu msg ok=%u",
					    i + 1, k + 1000);
			}
		else if (w->sends[i].call >= 0 && w->p->sent[i].resume)
			ends(w, i, "405");
		else if (w->sends[i].call >= 0 && !w->sends[i].headed)
			ends(w, i, "200 ok");
		else if (w->sends[i].call >= 0)
			ends(w, i, "cut");
		else
			ends(w, i, "202");
	}
}
