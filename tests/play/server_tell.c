/* What core/server does, as lines of text; see server_play.h. */
#include "config.h"

#include "play/server_play.h"

#include <stdlib.h>

static void
tell_message(struct buf *b, const struct frame *f)
{
	buf_addc(b, ' ');
	if (f->method.p != NULL)
		buf_addspan(b, f->method);
	else
		buf_adds(b, f->error.p != NULL ? "error" : "answer");
	if (f->id.p != NULL) {
		buf_addc(b, ' ');
		buf_addspan(b, f->id);
	}
}

/* The text with <meta> for the members of _meta. */
static void
tell_body(struct buf *b, const struct server_play *p, struct span text)
{
	const char *meta = NULL;

	buf_addc(b, ' ');
	if (p->meta.n > 0)
		meta = memmem(text.p, text.n, p->meta.p, p->meta.n);
	if (meta == NULL) {
		buf_addspan(b, text);
		return;
	}
	buf_add(b, text.p, (size_t)(meta - text.p));
	buf_adds(b, "<meta>");
	meta += p->meta.n;
	buf_add(b, meta, (size_t)(text.p + text.n - meta));
}

static void
tell_headers(struct buf *b, const struct order *order)
{
	const struct headers *h = order->mirrored;
	size_t i;

	buf_adds(b, " [");
	if (order->version.n > 0)
		buf_addspan(b, order->version);
	for (i = 0; h != NULL && i < h->n; i++)
		buf_addf(b, "; %s: %s", h->list[i].name, h->list[i].value);
	buf_addc(b, ']');
}

static void
tell_flags(struct buf *b, const struct order *order)
{
	if (order->announces && order->verb == VERB_POST)
		buf_adds(b, " announces");
	if (order->endpoint)
		buf_adds(b, " endpoint");
	if (order->control)
		buf_adds(b, " control");
	if (order->interactive)
		buf_adds(b, " person");
}

static void
add_played(struct server_play *p, uint64_t ticket, const struct order *order)
{
	struct played *s;

	p->ours = xrealloc(p->ours, (p->n_ours + 1) * sizeof *p->ours);
	s = &p->ours[p->n_ours++];
	memset(s, 0, sizeof *s);
	s->ticket = ticket;
	s->verb = order->verb;
	if (order->body != NULL)
		s->frame = frame_ref(order->body);
	s->facts.verb = order->verb;
	s->facts.had_session = order->session.n > 0;
	s->facts.retry_after_ms = s->facts.retry_ms = -1;
}

void
server_play_order(struct server_play *p, uint64_t ticket,
    const struct order *order)
{
	static const char *const verbs[] = { "POST", "GET", "DELETE" };

	buf_adds(&p->out, verbs[order->verb]);
	if (order->body != NULL && p->bodies)
		tell_body(&p->out, p, order->body->text);
	else if (order->body != NULL)
		tell_message(&p->out, order->body);
	if (order->listen)
		buf_adds(&p->out, " listen");
	if (order->announces && order->verb == VERB_GET)
		buf_adds(&p->out, " announces");
	if (order->last_event_id.n > 0) {
		buf_addc(&p->out, ' ');
		buf_addspan(&p->out, order->last_event_id);
	}
	if (p->headers)
		tell_headers(&p->out, order);
	if (p->flags)
		tell_flags(&p->out, order);
	buf_addc(&p->out, '\n');
	add_played(p, ticket, order);
}

/* --- what the session is told --- */

static size_t
number_of(const struct server_play *p, uint64_t ticket)
{
	size_t i;

	for (i = p->n_orders; i > p->hidden_orders; i--)
		if (p->orders[i - 1].ticket == ticket)
			return i - p->hidden_orders;
	return 0;
}

static void
tell_end(struct buf *b, const struct facts *f)
{
	static const char *const endings[] = { "", "cut", "idle", "aborted",
		"resolve", "connect", "tls", "proxy", "config", "denied",
		"sign-in" };

	if (f->session_ended)
		buf_addf(b, " gone%s", f->status == 0 ? " maybe" : "");
	if (f->ending != ENDING_COMPLETE && !f->session_ended)
		buf_addf(b, " %s%s", endings[f->ending],
		    f->sent ? "" : " unsent");
	if (f->status != 0 && !f->session_ended)
		buf_addf(b, " %d", f->status);
	if (f->last_event_id.n > 0)
		buf_addf(b, " event %.*s", (int)f->last_event_id.n,
		    f->last_event_id.p);
	if (f->retry_after_ms >= 0)
		buf_addf(b, " retry-after %lld", (long long)f->retry_after_ms);
	if (f->too_large)
		buf_adds(b, " too-large");
}

/* An exchange is over when its end is told: nothing may come after it. */
static void
tell_done(struct server_play *p, const struct event *a)
{
	size_t number = number_of(p, a->ticket);

	buf_addf(&p->out, "done @%zu", number);
	tell_end(&p->out, a->facts);
	buf_addc(&p->out, '\n');
	if (number > 0)
		p->orders[number + p->hidden_orders - 1].ticket = 0;
}

static void
tell_drop(struct server_play *p, uint64_t ticket)
{
	size_t i;

	for (i = p->n_ours; i > 0; i--)
		if (p->ours[i - 1].ticket == ticket)
			break;
	if (i == 0 || i <= p->hidden_ours) {
		buf_addf(&p->out, "drop ?\n");
		return;
	}
	p->ours[i - 1].ticket = 0;
	buf_addf(&p->out, "drop #%zu\n", i - p->hidden_ours);
}

void
server_play_tell(struct server_play *p, const struct event *a)
{
	size_t number = number_of(p, a->ticket);
	struct buf *b = &p->out;

	switch (a->kind) {
	case ACTION_SEND:
		buf_addf(b, "order #%zu ", p->n_ours + 1 - p->hidden_ours);
		server_play_order(p, a->order->ticket, a->order);
		break;
	case ACTION_ABORT:
		tell_drop(p, a->ticket);
		break;
	case INPUT_HEAD:
		buf_addf(b, "head @%zu %d\n", number, a->facts->status);
		break;
	case INPUT_MESSAGE:
		buf_addf(b, "tell @%zu %.*s\n", number, (int)a->frame->text.n,
		    a->frame->text.p);
		break;
	case INPUT_SIGN_IN:
		buf_addf(b, "sign-in @%zu %.*s\n", number,
		    (int)strlen(a->text == NULL ? "" : a->text),
		    a->text == NULL ? "" : a->text);
		break;
	case INPUT_DONE:
		tell_done(p, a);
		break;
	case ACTION_FOUND:
		buf_addf(b, "found %s\n",
		    a->dual       ? "dual" :
			a->modern ? "modern" :
			a->sse    ? "sse" :
				    "legacy");
		break;
	case ACTION_LOG:
		if (a->level <= LEVEL_WARN || p->notes)
			buf_addf(b, "%s %s\n",
			    a->level <= LEVEL_WARN ? "warn" : "note", a->text);
		break;
	default:
		buf_adds(b, "NONE\n");
		break;
	}
}
