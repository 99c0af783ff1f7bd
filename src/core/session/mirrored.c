/*
 * The headers of 2026-07-28 in a legacy session. Legacy servers ignore them, so
 * once a server has required them, every call of the process has them (order.c
 * adds them).
 *
 * While mcpsplice asks for what it must know, a refused call is held back, and
 * so are all others.
 */
#include "config.h"

#include "core/session/parts.h"

#include "core/era/mirror.h"
#include "core/wire/protocol.h"

/* Sends a request of our own, which is taken. */
static struct attempt *
ask(struct session *s, struct frame *body)
{
	struct attempt *a = calls_attempt(&s->calls, ATTEMPT_MIRROR, NULL, body,
	    s->generation);

	frame_unref(body);
	s->mirrored.ticket = a->ticket;
	session_abort_in(s, a, BOUND_LONG_MS);
	session_start(s, a);
	return a;
}

/* Asks for a page of tools, the first one if cursor is empty. */
static void
ask_tools(struct session *s, struct span cursor)
{
	ask(s, session_own_page(s, "tools/list", cursor))->list = true;
}

static void
ask_discover(struct session *s)
{
	struct frame *plain = session_own_request(s, "server/discover",
	    no_span);
	struct generation *g = generation_new(s->generation->number);
	struct attempt *a;
	struct buf meta;

	buf_init(&meta, 0);
	era_client_meta(&meta, s->handshake.request->params);
	a = ask(s, era_discover(plain->id, buf_span(&meta)));
	/* It belongs to no session. */
	g->version = xstrdup(REVISION_MODERN);
	generation_unref(a->generation);
	a->generation = g;
	s->mirrored.tried_modern = true;
	frame_unref(plain);
	buf_free(&meta);
}

static bool
is_mismatch(const struct frame *m)
{
	return m->kind == FRAME_ERROR &&
	    msg_error_code(m) == ERROR_HEADER_MISMATCH;
}

bool
session_mirror(struct session *s, struct call *c, const struct facts *f,
    const struct frame *m)
{
	struct mirrored *k = &s->mirrored;

	/* With another status a tool may have said so. */
	if (!is_mismatch(m) || f->status != 400 || c->cancelled ||
	    !gate_is_open(s) ||
	    (c->mirrored && k->tried_modern && k->ticket == 0))
		return false;
	session_log(s, LEVEL_INFO,
	    "%s requires the headers of " REVISION_MODERN
	    ": the call did not run; sending it again",
	    s->config.host);
	k->wanted = true;
	session_detach(s, c);
	session_call_state(s, c, CALL_HELD);
	session_hold(s, c->frame, c);
	if (k->ticket != 0)
		return true;
	k->pages = 0;
	if (c->mirrored)
		ask_discover(s);
	else if (json_key_is(c->frame->method, "tools/call") &&
	    !mirror_knows(k->mirror, c->frame))
		ask_tools(s, span_of(""));
	return true;
}

void
session_mirror_message(struct session *s, struct attempt *a, struct frame *m)
{
	struct mirrored *k = &s->mirrored;
	struct span cursor = json_get(m->result, "nextCursor");
	bool modern = false;

	if (a->ticket != k->ticket)
		return;
	k->ticket = 0;
	session_linger(s, a);
	if (!a->list && era_discovered(m->result, &modern) && modern) {
		keep_frame(&k->discovered, frame_ref(m));
		session_renew(s, "it speaks " REVISION_MODERN);
		if (s->in_flight == 0 && phase_permits(s, PHASE_AGAIN) &&
		    s->former != NULL && s->former->session != NULL)
			session_delete(s, s->former);
	} else if (a->list && is_mismatch(m) && !k->tried_modern) {
		ask_discover(s);
	} else if (a->list && m->kind == FRAME_RESULT) {
		frame_unref(mirror_learn(k->mirror, m, NULL, NULL));
		if (json_kind(cursor) == '"' && ++k->pages < BOUND_TOOL_PAGES)
			ask_tools(s, cursor);
	}
}

void
session_mirror_done(struct session *s, struct attempt *a)
{
	if (a->ticket == s->mirrored.ticket)
		s->mirrored.ticket = 0;
	calls_attempt_drop(&s->calls, a);
}
