/* What the session does, as lines of text; see session_play.h. */
#include "config.h"

#include "play/session_play.h"

#include <stdlib.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"

void
play_facts_clear(struct sent *s)
{
	while (s->n_values > 0)
		free(s->values[--s->n_values]);
	memset(&s->facts, 0, sizeof s->facts);
	s->facts.verb = s->verb;
	s->facts.had_session = s->session != NULL;
	s->facts.retry_after_ms = s->facts.retry_ms = -1;
}

static char *
dup_span(struct span s)
{
	return s.n == 0 ? NULL : xstrndup(s.p, s.n);
}

static void
add_word(struct buf *b, struct span s)
{
	if (s.n == 0)
		return;
	buf_addc(b, ' ');
	buf_addspan(b, s);
}

static void
tell_message(struct buf *b, const struct frame *f)
{
	if (f->method.p != NULL)
		add_word(b, f->method);
	else
		buf_adds(b, f->error.p != NULL ? " error" : " answer");
	add_word(b, f->id);
}

static void
tell_send(struct play *p, const struct event *a)
{
	static const char *const verbs[] = { "POST", "GET", "DELETE" };
	struct sent *s;

	if (p->n_sent == p->cap_sent) {
		p->cap_sent = p->cap_sent * 2 + 16;
		p->sent = xrealloc(p->sent, p->cap_sent * sizeof *p->sent);
	}
	s = &p->sent[p->n_sent++];
	memset(s, 0, sizeof *s);
	s->ticket = s->was = a->ticket;
	s->verb = a->order->verb;
	s->session = dup_span(a->order->session);
	s->version = dup_span(a->order->version);
	s->listen = a->order->listen;
	s->resume = a->order->verb == VERB_GET && !a->order->listen;
	if (a->order->verb == VERB_POST && a->order->body != NULL)
		s->frame = frame_ref(a->order->body);
	play_facts_clear(s);
	buf_addf(&p->out, "send #%zu %s", p->n_sent, verbs[a->order->verb]);
	if (s->frame != NULL)
		tell_message(&p->out, s->frame);
	else if (a->order->verb == VERB_GET)
		buf_adds(&p->out, a->order->listen ? " listen" : " resume");
	add_word(&p->out, a->order->last_event_id);
	if (s->session != NULL)
		buf_addf(&p->out, " @%s", s->session);
	if (p->details && s->version != NULL)
		buf_addf(&p->out, " v=%s", s->version);
	if (p->person && a->order->interactive)
		buf_adds(&p->out, " person");
	buf_addc(&p->out, '\n');
}

static void
tell_raw(struct buf *b, struct span raw)
{
	if (raw.n > 120)
		buf_addf(b, " (%zu bytes)", raw.n);
	else
		add_word(b, raw);
}

/* Our own: "! REASON RAN [status N] [retry N] [server {...}]", with the code
 * in front when it is not -32603; the server's: "! CODE TEXT". */
static void
tell_error(struct buf *b, const struct frame *f, bool words)
{
	struct span data = json_get(f->error, "data"), v;
	long code = msg_error_code(f);
	struct buf word;

	buf_adds(b, " !");
	if (!span_is(json_get(data, "source"), "\"mcpsplice\"")) {
		buf_addf(b, " %ld ", code);
		msg_error_text(f, b);
		return;
	}
	if (code != -32603)
		buf_addf(b, " %ld", code);
	buf_init(&word, 0);
	if (json_string(json_get(data, "reason"), &word) == 0)
		add_word(b, buf_span(&word));
	buf_reset(&word);
	json_string(json_get(data, "ran"), &word);
	add_word(b, buf_span(&word));
	buf_free(&word);
	if ((v = json_get(data, "httpStatus")).n > 0)
		buf_addf(b, " status %.*s", (int)v.n, v.p);
	if ((v = json_get(data, "retryAfter")).n > 0)
		buf_addf(b, " retry %.*s", (int)v.n, v.p);
	if ((v = json_get(data, "server")).n > 0)
		buf_addf(b, " server %.*s", (int)v.n, v.p);
	if (words) {
		buf_adds(b, ": ");
		msg_error_text(f, b);
	}
}

static void
tell_write(struct buf *b, const struct frame *f, bool words)
{
	buf_adds(b, "write");
	switch (f->kind) {
	case FRAME_REQUEST:
		buf_adds(b, " ask");
		add_word(b, f->id);
		add_word(b, f->method);
		break;
	case FRAME_NOTIFICATION:
		buf_adds(b, " note");
		add_word(b, f->method);
		tell_raw(b, f->params);
		break;
	case FRAME_RESULT:
		add_word(b, f->id);
		buf_adds(b, " =");
		tell_raw(b, f->result);
		break;
	case FRAME_ERROR:
		add_word(b, f->id.p != NULL ? f->id : span_of("-"));
		tell_error(b, f, words);
		break;
	case FRAME_RAW:
		buf_adds(b, " RAW");
		break;
	}
	buf_addc(b, '\n');
}

static struct sent *
by_ticket(const struct play *p, uint64_t ticket)
{
	size_t i;

	for (i = p->n_sent; i > 0; i--)
		if (p->sent[i - 1].ticket == ticket)
			return &p->sent[i - 1];
	return NULL;
}

void
play_tell(struct play *p, const struct event *a)
{
	struct sent *s;

	switch (a->kind) {
	case ACTION_SEND:
		tell_send(p, a);
		break;
	case ACTION_ABORT:
		s = by_ticket(p, a->ticket);
		if (s == NULL) {
			buf_adds(&p->out, "abort ?\n");
			break;
		}
		if (s->aborted || s->ending)
			break;
		s->aborted = true;
		buf_addf(&p->out, "abort #%zu\n", (size_t)(s - p->sent) + 1);
		break;
	case ACTION_WRITE:
		tell_write(&p->out, a->frame, p->words);
		break;
	case ACTION_READ:
		p->reading = a->ok;
		buf_addf(&p->out, "read %s\n", a->ok ? "on" : "off");
		break;
	case ACTION_LOG:
		if (p->warnings && a->level == LEVEL_WARN)
			buf_addf(&p->out, "warn %s\n", a->text);
		break;
	case ACTION_EXIT:
		p->status = a->status;
		p->exit_at = p->now;
		buf_addf(&p->out, "exit %d\n", a->status);
		break;
	case ACTION_LOAD_START:
		buf_adds(&p->out, "recall\n");
		break;
	case ACTION_SAVE_START:
		buf_adds(&p->out,
		    a->tools.n > 0 ? "remember tools\n" : "remember\n");
		break;
	case ACTION_SAVE_SESSION:
		if (p->config.cached_start)
			buf_addf(&p->out, "keep %s%.*s\n",
			    a->session.n > 0 ? "@" : "-", (int)a->session.n,
			    a->session.n > 0 ? a->session.p : "");
		break;
	case ACTION_CHECK_PEERS:
		buf_adds(&p->out, "look\n");
		break;
	default:
		buf_adds(&p->out, "NONE\n");
		break;
	}
}
