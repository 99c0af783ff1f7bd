/*
 * This file keeps what mcpsplice believes of the server. Every change of
 * struct belief stands here. An answer that contradicts the belief makes the
 * session renew once: if the same server is found again, the same answer is
 * taken as it is.
 */
#include "config.h"

#include "core/server/parts.h"

#include <string.h>

#include "core/exchange/loss_phrases.h"
#include "core/exchange/server_words.h"

void
server_belief_init(struct server *s)
{
	const struct server_config *c = &s->config;
	struct belief *b = &s->belief;

	if (c->remembered)
		b->last = c->was_modern ? MODE_MODERN :
		    c->was_sse          ? MODE_SSE :
					  MODE_LEGACY;
	b->modern_only = b->last == MODE_MODERN;
	b->doubt_until = b->refuse_until = b->named_until = UINT64_MAX;
}

void
server_belief_forget(struct server *s)
{
	s->belief.mode = MODE_UNKNOWN;
}

/* --- what was found --- */

static const char *
mode_name(enum server_mode mode)
{
	static const char *const names[] = { "?",
		"the legacy protocol (Streamable HTTP)",
		"the legacy protocol (HTTP+SSE)",
		"the modern protocol (" REVISION_MODERN ")" };

	return names[mode];
}

/* Queues ACTION_FOUND, for the proxy to remember what the server speaks. A server
 * that speaks both eras is worth no note unless another kind was remembered:
 * then the note is deleted. */
static void
tell_found(struct server *s, bool was_other)
{
	const struct belief *b = &s->belief;
	bool dual = b->mode == MODE_MODERN && !b->modern_only;
	struct event out = { .kind = ACTION_FOUND,
		.modern = b->modern_only,
		.sse = b->mode == MODE_SSE,
		.dual = dual };

	if (dual && !was_other)
		return;
	events_add(&s->events, &out);
}

bool
server_belief_found(struct server *s, enum server_mode mode, bool refused)
{
	struct belief *b = &s->belief;
	bool known = b->last != MODE_UNKNOWN;
	bool changed = mode != b->last;

	if (changed) {
		server_log(s,
		    mode == MODE_LEGACY && !known ? LEVEL_DEBUG : LEVEL_INFO,
		    "%s speaks %s", s->config.host, mode_name(mode));
		b->doubt_until = UINT64_MAX;
		b->listen_unknown = false;
	}
	b->mode = b->last = mode;
	b->met = true;
	b->modern_only = mode == MODE_MODERN && (b->modern_only || refused);
	tell_found(s, known && changed);
	return changed;
}

/* --- is it a modern server? --- */

/* Tells whether the words of an error are about a session, or about the
 * versions that a legacy server knows. */
static bool
speaks_legacy(struct span error)
{
	const unsigned session = PHRASE_INTERRUPTED | PHRASE_LOST |
	    PHRASE_GATE | PHRASE_MISSING;
	struct server_words said;
	bool does;

	server_words_of_error(&said, error);
	does = (said.phrases & session) != 0 ||
	    strcasestr(buf_str(&said.text), "protocol version") != NULL;
	server_words_free(&said);
	return does;
}

/* Both eras use -32600, so for that code the words of the error decide. */
static bool
is_legacy_error(const struct frame *m)
{
	static const int modern[] = { ERROR_HEADER_MISMATCH,
		ERROR_MISSING_CAPABILITY, ERROR_UNSUPPORTED_VERSION,
		FAULT_METHOD, FAULT_PARAMS, FAULT_INTERNAL, FAULT_PARSE };
	long code = msg_error_code(m);
	size_t i;

	for (i = 0; i < sizeof modern / sizeof *modern; i++)
		if (code == modern[i])
			return false;
	if (code != FAULT_REQUEST && (m->id.p == NULL || *m->id.p == 'n'))
		return true;
	return speaks_legacy(m->error);
}

/* An answer about credentials or overload, or one that broke, says nothing
 * about the era. A web page counts like an answer without a body, because
 * frameworks write one for a route that does not exist. */
bool
server_belief_contradicts(const struct facts *f, const struct frame *m)
{
	if (f->ending != ENDING_COMPLETE || f->too_large || f->status < 400 ||
	    f->status > 499)
		return false;
	switch (f->status) {
	case 401:
	case 403:
	case 407:
	case 408:
	case 413:
	case 429:
		return false;
	default:
		break;
	}
	if (m != NULL)
		return m->kind == FRAME_ERROR && is_legacy_error(m);
	return f->status == 400 || f->status == 404 || f->status == 405 ||
	    f->status == 406 || f->status == 415;
}

/* Returns the ticket of the newest attempt. The doubt does not
 * concern attempts that come later. */
static uint64_t
newest(const struct server *s)
{
	return s->attempts->ticket;
}

bool
server_belief_may_doubt(const struct server *s, const struct server_attempt *a)
{
	return a->ticket <= s->belief.doubt_until;
}

void
server_belief_doubt(struct server *s)
{
	if (s->belief.doubt_until == UINT64_MAX)
		s->belief.doubt_until = newest(s);
}

void
server_belief_confirm(struct server *s)
{
	s->belief.doubt_until = UINT64_MAX;
}

bool
server_belief_refused_version(struct server *s, const struct server_attempt *a)
{
	struct belief *b = &s->belief;

	if (a->ticket > b->refuse_until)
		return false;
	if (b->refuse_until == UINT64_MAX)
		b->refuse_until = newest(s);
	return true;
}

void
server_belief_took_version(struct server *s, const struct server_attempt *a)
{
	if (a->ticket > s->belief.refuse_until)
		s->belief.refuse_until = UINT64_MAX;
}

/* --- does a legacy server still take the revision? --- */

/* Returns the revision that a refusal of another one names, or NULL. Dates are
 * in other texts, too. */
static const char *
named_by(const struct server *s, const struct facts *f, const struct frame *m)
{
	const unsigned flags = GLOB_NOCASE | GLOB_ONE;
	struct span text = m != NULL ? m->error : f->body;

	if (!span_glob(span_of("*supported*"), text, flags) &&
	    !span_glob(span_of("*protocol?version*"), text, flags))
		return NULL;
	return era_named_version(text, buf_span(&s->taken));
}

bool
server_belief_refuses(const struct server *s, uint64_t ticket,
    const struct facts *f, const struct frame *m)
{
	return f->status == 400 && f->verb == VERB_POST &&
	    ticket < s->belief.named_until && named_by(s, f, m) != NULL;
}

void
server_belief_name(struct server *s, const struct facts *f,
    const struct frame *m)
{
	if (s->belief.named != NULL)
		return;
	s->belief.named = named_by(s, f, m);
	server_log(s, LEVEL_INFO,
	    "%s refused the session's protocol version and named %s",
	    s->config.host, s->belief.named);
}

const char *
server_belief_named(struct server *s, const struct server_order *o)
{
	struct belief *b = &s->belief;

	if (b->named != NULL && b->named_until == UINT64_MAX)
		b->named_until = o->ticket;
	return span_eq(json_get(o->body->params, "protocolVersion"),
		   buf_span(&s->taken)) ?
	    b->named :
	    NULL;
}

/* --- does it know subscriptions/listen? --- */

bool
server_belief_listen_contradicts(const struct server *s, const struct facts *f,
    const struct frame *m)
{
	return !s->belief.listen_doubted && server_belief_contradicts(f, m);
}

void
server_belief_listen_doubt(struct server *s)
{
	s->belief.listen_contradicted = true;
}

void
server_belief_listen_confirm(struct server *s)
{
	s->belief.listen_contradicted = s->belief.listen_doubted = false;
}

void
server_belief_listen_leave(struct server *s)
{
	s->belief.listen_doubted = s->belief.listen_contradicted;
	s->belief.listen_contradicted = false;
}

bool
server_belief_listen_unknown(struct server *s)
{
	if (s->belief.listen_unknown)
		return false;
	s->belief.listen_unknown = true;
	return true;
}
