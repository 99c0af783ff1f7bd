/*
 * The life of a call: it is sent, leaves its attempt, and ends with an answer
 * or an error.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

#include "base/codec.h"
#include "core/era/mirror.h"
#include "core/wire/edit.h"

void
session_call_state(struct session *s, struct call *c, enum call_state state)
{
	bool was = c->state != CALL_HELD, is = state != CALL_HELD;

	if (was && !is) {
		s->in_flight--;
		s->in_flight_bytes -= frame_size(c->frame);
	} else if (is && !was) {
		s->in_flight++;
		s->in_flight_bytes += frame_size(c->frame);
	}
	c->state = state;
	if (!is || state == CALL_REFUSED)
		c->again_at = ALARM_NEVER;
	if (state == CALL_REFUSED)
		c->waits_since = s->now;
	if (state == CALL_REFUSED || state == CALL_SUSPECT)
		session_call_waits(s, c);
}

/* A small call has a place however large the others are, because it may be what
 * they wait for. */
bool
session_has_place(const struct session *s, const struct frame *f)
{
	size_t size = frame_size(f), max = s->config.max_bodies;

	return s->in_flight < s->config.max_inflight &&
	    (s->in_flight_bytes == 0 || size <= max / s->config.max_inflight ||
		s->in_flight_bytes + size <= max);
}

bool
session_may_have_run(const struct call *c)
{
	if (c->repeated || c->flaps > 0 || c->if_changed ||
	    c->state == CALL_SUSPECT)
		return true;
	if (c->state == CALL_RUNNING && c->attempt != NULL)
		return (c->attempt->live && !c->attempt->waits_for_user) ||
		    c->attempt->last_event_id.n > 0;
	return c->state == CALL_ACCEPTED;
}

/* Makes the request that the call sends, unless it is the client's (NULL). It has
 * a new id if the server may still be running a request under the client's id in
 * this session, or has answered it by a page. In another session a list begins
 * again, because a cursor belongs to its session. */
static struct frame *
request_of_ours(struct session *s, struct call *c)
{
	bool pages = c->pages != NULL,
	     same = c->ran_in == s->generation->number;
	struct edit cursor = { "cursor", no_span };
	struct frame *page, *ours;

	if (!pages || c->pages_in != s->generation->number) {
		c->restarts += pages;
		return same && (c->repeated || pages) ?
		    session_with_own_id(s, c->frame) :
		    NULL;
	}
	cursor.value = buf_span(&c->pages->cursor);
	page = edit_part(c->frame, "params", c->frame->params, &cursor, 1);
	ours = session_with_own_id(s, page);
	frame_unref(page);
	return ours;
}

/* Makes a new attempt for the call, not live yet. */
static struct attempt *
new_attempt(struct session *s, struct call *c)
{
	struct frame *ours = request_of_ours(s, c);

	/* The refusal of an earlier attempt says nothing about this one. */
	keep_frame(&c->refusal, NULL);
	if (c->sent != ours)
		calls_send_as(&s->calls, c, ours);
	c->mirrored = s->mirrored.wanted;
	return calls_attempt(&s->calls, ATTEMPT_CALL, c,
	    c->sent != NULL ? c->sent : c->frame, s->generation);
}

void
session_send_call(struct session *s, struct call *c)
{
	struct buf name;

	buf_init(&name, 0);
	if (s->mirrored.wanted &&
	    mirror_unfit(s->mirrored.mirror, c->frame, &name)) {
		session_fail(s, c,
		    fault_make(FAULT_ARGUMENT_UNFIT,
			&(struct fault_args){
			    .request = c->frame, .why = buf_span(&name) }));
	} else {
		session_call_state(s, c, CALL_RUNNING);
		session_start(s, new_attempt(s, c));
	}
	buf_free(&name);
}

void
session_send_call_in(struct session *s, struct call *c, int64_t ms)
{
	session_call_state(s, c, CALL_RUNNING);
	session_start_in(s, new_attempt(s, c), ms);
}

/* Takes back what the call has asked the client: it is over, or leaves the
 * attempt that asked. */
static void
withdraw_questions(struct session *s, const struct call *c)
{
	struct frame *cancel;

	while (s->questions.n > 0 &&
	    (cancel = questions_withdraw(&s->questions, calls_origin(c))) !=
		NULL) {
		session_write(s, cancel);
		frame_unref(cancel);
	}
}

void
session_detach(struct session *s, struct call *c)
{
	struct attempt *a = c->attempt;

	if (a == NULL)
		return;
	if (c->state != CALL_ACCEPTED)
		withdraw_questions(s, c);
	c->attempt = NULL;
	a->call = NULL;
	if (!a->live || a->waits_for_user)
		session_abort(s, a);
	else
		session_linger(s, a);
}

/* --- a list in pages --- */

/* Asks for the page that is to follow, by a request of its own. */
static void
next_page(struct session *s, struct call *c)
{
	session_end_doubt(c);
	session_detach(s, c);
	c->repeated = false;
	c->flaps = 0;
	session_send_call(s, c);
}

/* Reads the list from its first page on again, once. */
static bool
begin_again(struct session *s, struct call *c)
{
	if (c->restarts > 0 || c->asked || c->state == CALL_HELD ||
	    c->state == CALL_REFUSED || s->now >= c->again_at ||
	    s->config.replay != REPLAY_SAFE || !phase_permits(s, PHASE_HOLDS))
		return false;
	session_end_doubt(c);
	session_detach(s, c);
	c->pages_in = 0;
	calls_send_as(&s->calls, c, NULL);
	if (gate_is_open(s))
		session_send_call(s, c);
	else
		session_call_state(s, c, CALL_REFUSED);
	return true;
}

struct frame *
session_page(struct session *s, struct call *c, const struct generation *g,
    struct frame *m)
{
	const struct list_kind *kind;
	bool begins = c->pages == NULL || c->pages_in != g->number;
	struct frame *list;

	if (c->cancelled || m->kind != FRAME_RESULT ||
	    (kind = list_kind_of(c->frame)) == NULL || !list_begins(c->frame))
		return frame_ref(m);
	if (begins)
		pages_free(&c->pages);
	list = pages_take(&c->pages, kind, s->config.max_result, m);
	if (list != NULL)
		return list;
	if (begins) {
		c->pages_in = g->number;
		c->again_at = alarm_sooner(c->again_at,
		    s->now + BOUND_KNOWN_START_MS);
		alarm_note(&s->alarms, c->again_at);
	}
	if (c->restarts < 2 && g == s->generation && gate_is_open(s))
		next_page(s, c);
	else if (!begin_again(s, c))
		return pages_end(&c->pages);
	return NULL;
}

/* The bit of the method in generation.worked. */
static uint64_t
method_bit(const struct call *c)
{
	struct span method = c->frame->method;
	unsigned hash = 0;
	size_t i;

	for (i = 0; i < method.n; i++)
		hash = 31 * hash + (unsigned char)method.p[i];
	return (uint64_t)1 << hash % 64;
}

void
session_note_worked(const struct call *c, struct generation *g)
{
	g->worked |= method_bit(c);
}

bool
session_lacks_id(struct generation *g, const struct call *c,
    const struct attempt *a, const struct facts *f)
{
	uint64_t bit = method_bit(c);
	bool was_named;

	if (g->session == NULL || a != c->attempt || a->last_event_id.n > 0)
		return false;
	if (f->media == MEDIA_SSE)
		bit = bit << 32 | bit >> 32;
	was_named = (g->named & bit) != 0 && (g->unnamed & bit) == 0;
	if (f->session.n == 0)
		g->unnamed |= bit;
	else if (!g->renamed)
		g->named |= bit;
	return was_named && f->session.n == 0;
}

void
session_add_history(const struct session *s, const struct call *c,
    const struct generation *g, struct facts *f)
{
	f->worked = (g->worked & method_bit(c)) != 0;
	f->idle = g->served_at != 0 && s->now - g->served_at >= IDLE_MS;
	/* Some gateways answer a lost session with a bare 401. Where the
	 * session worked without a token, there is none that could be bad. */
	if (f->status == 401 && f->stamp == 0 && f->challenge.n == 0 &&
	    f->body.n == 0 && c->refusal == NULL && g->served_at != 0)
		f->credentials_known_good = true;
}

struct ruling
session_ruling(const struct session *s, const struct attempt *a,
    const struct facts *f)
{
	return a->said.rule != NULL && f->ending == ENDING_COMPLETE ?
	    a->said :
	    verdict_bare(f, &s->config.rules);
}

/* --- its end --- */

void
session_end_doubt(struct call *c)
{
	keep_frame(&c->doubt.error, NULL);
	generation_unref(c->doubt.generation);
	c->doubt.generation = NULL;
}

/* The server may still tell the progress of a call that is over, but not of one
 * that was never sent. */
static void
note_token(struct session *s, struct call *c)
{
	struct answered *a = &s->answered;

	if (c->state != CALL_HELD && c->frame->token.p != NULL)
		a->tokens[a->n_tokens++ % BOUND_FEW] = msg_id_hash(c->frame
								       ->token);
}

/* Drops a call that is over. Its stream has BOUND_SHORT_MS to end by
 * itself. */
static void
call_forget(struct session *s, struct call *c)
{
	struct attempt *a = c->attempt;

	note_token(s, c);
	withdraw_questions(s, c);
	session_unhold(s, c);
	session_call_state(s, c, CALL_HELD);
	calls_drop(&s->calls, c);
	if (a == NULL)
		return;
	if (!a->live || a->waits_for_user)
		session_abort(s, a); /* the request must not go out any more */
	else
		session_linger(s, a);
}

static struct frame *
too_large(struct session *s, const struct call *c, size_t size)
{
	return fault_make(FAULT_RESULT_HUGE,
	    &(struct fault_args){ .request = c->frame,
		.host = s->config.host,
		.size = size,
		.limit = s->config.max_result });
}

/* Tells the client and the log, once, of a pattern that no tool matches: it is
 * probably misspelt. */
static void
warn_of_filter(struct session *s, const struct frame *request,
    const struct frame *answer)
{
	struct buf params;
	char *words = NULL;

	if (!s->filter_told && list_begins(request))
		words = tool_filter_unmatched(&s->config.filter,
		    answer->result);
	if (words == NULL)
		return;
	s->filter_told = true;
	session_log(s, LEVEL_WARN, "%s", words);
	buf_init(&params, 0);
	buf_adds(&params, "{\"level\":\"warning\",\"data\":");
	codec_json_string(&params, span_of(words));
	buf_addc(&params, '}');
	session_tell(s, "notifications/message", buf_span(&params));
	buf_free(&params);
	free(words);
}

struct frame *
session_show(struct session *s, const struct frame *request,
    struct frame *answer)
{
	const struct tool_filter *filter = &s->config.filter;
	const struct list_kind *kind = list_kind_of(request);
	struct known_list *l;
	struct frame *shown;

	if (kind == NULL || answer->kind != FRAME_RESULT)
		return frame_ref(answer);
	shown = is_early(s) && s->start.tool != NULL ?
	    frame_ref(answer) :
	    tool_filter_list(filter, answer);
	if (kind == list_kinds && !is_early(s))
		warn_of_filter(s, request, answer);
	if (filter->read_only && kind == list_kinds)
		tools_learn(s->shown, s->generation->number, request, shown);
	if (list_begins(request)) {
		l = &s->changes.lists[kind - list_kinds];
		l->shown = true;
		l->differs = false;
		l->sum = list_sum(kind, shown->result);
	}
	return shown;
}

void
session_answer(struct session *s, struct call *c, struct frame *answer)
{
	struct frame *shown, *f;

	if (answer->kind == FRAME_ERROR && c->pages != NULL && !c->cancelled) {
		if (!begin_again(s, c))
			session_fail(s, c, frame_ref(answer));
		return;
	}
	s->answered.ids[s->answered.n++ % BOUND_FEW] = c->by_id.key;
	if (!c->cancelled) {
		shown = session_show(s, c->frame, answer);
		f = msg_with_id(shown, c->frame->id);
		frame_unref(shown);
		if (s->config.max_result > 0 &&
		    f->text.n > s->config.max_result) {
			session_fail(s, c, too_large(s, c, f->text.n));
			frame_unref(f);
			return;
		}
		session_write(s, f);
		frame_unref(f);
	}
	call_forget(s, c);
}

void
session_fail(struct session *s, struct call *c, struct frame *error)
{
	struct frame *list;

	if (error != NULL && c->pages != NULL && !c->cancelled) {
		frame_unref(error);
		list = pages_end(&c->pages);
		if (list_kind_of(c->frame) == list_kinds)
			tools_learn(s->tools, c->pages_in, c->frame, list);
		session_answer(s, c, list);
		frame_unref(list);
		return;
	}
	if (error != NULL && !c->cancelled) {
		s->ending.own_errors = true;
		session_write(s, error);
	}
	frame_unref(error);
	call_forget(s, c);
}

struct frame *
session_cut_off(const struct session *s, const struct call *c,
    const struct facts *f)
{
	struct facts cut = *f;

	cut.ending = ENDING_CUT;
	cut.sent = true;
	return fault_from_facts(c->frame, &cut, s->config.host, c->refusal);
}

void
session_fail_all(struct session *s, enum fault_id id)
{
	struct call *c;

	while ((c = s->calls.first) != NULL)
		session_fail(s, c,
		    fault_make(id,
			&(struct fault_args){ .request = c->frame,
			    .host = s->config.host,
			    .maybe = session_may_have_run(c) }));
}

void
session_fail_unanswered(struct session *s, struct call *c)
{
	static const struct facts accepted = {
		.ending = ENDING_COMPLETE,
		.sent = true,
		.status = 202,
		.retry_after_ms = -1,
	};

	session_fail(s, c,
	    fault_from_facts(c->frame, &accepted, s->config.host, NULL));
}

void
session_fail_accepted(struct session *s, bool lost)
{
	struct call *c, *next;

	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		if (c->state != CALL_ACCEPTED)
			continue;
		if (lost)
			session_fail(s, c,
			    fault_make(FAULT_ACCEPTED_FORGOTTEN,
				&(struct fault_args){ .request = c->frame,
				    .host = s->config.host }));
		else
			session_fail_unanswered(s, c);
	}
}
