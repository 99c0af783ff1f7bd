/* Events as lines of text; README has the language. */
#include "config.h"

#include "play/play.h"

#include "core/wire/json.h"
#include "core/wire/msg.h"

static void
add_word(struct buf *b, struct span s)
{
	if (s.n == 0)
		return;
	buf_addc(b, ' ');
	buf_addspan(b, s);
}

/* --- orders --- */

static void
add_message(struct buf *b, const struct frame *f)
{
	if (f->method.p != NULL)
		add_word(b, f->method);
	else
		buf_adds(b, f->error.p != NULL ? " error" : " answer");
	add_word(b, f->id);
}

/* The text with <meta> for the members of _meta. */
static void
add_body(struct buf *b, const struct play *p, struct span text)
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
add_headers(struct buf *b, const struct headers *h)
{
	size_t i;

	buf_adds(b, " [");
	for (i = 0; h != NULL && i < h->n; i++)
		buf_addf(b, "%s%s: %s", i == 0 ? "" : "; ", h->list[i].name,
		    h->list[i].value);
	buf_addc(b, ']');
}

static void
add_flag(struct buf *b, unsigned tells, bool is, const char *name)
{
	if (tells != 0 && is)
		buf_addf(b, " %s", name);
}

void
play_tell_order(struct play *p, const struct order *o)
{
	static const char *const verbs[] = { "POST", "GET", "DELETE" };
	bool posts = o->verb == VERB_POST && o->body != NULL;
	struct buf *b = &p->out;

	buf_adds(b, verbs[o->verb]);
	if (posts && (p->tells & TELLS_BODIES) != 0)
		add_body(b, p, o->body->text);
	else if (posts)
		add_message(b, o->body);
	if (o->listen)
		buf_adds(b, " listen");
	else if (o->verb == VERB_GET)
		buf_adds(b, " resume");
	if (o->announces &&
	    (o->verb == VERB_GET || (p->tells & TELLS_FLAGS) != 0))
		buf_adds(b, " announces");
	add_word(b, o->last_event_id);
	if (o->session.n > 0)
		buf_addf(b, " @%.*s", (int)o->session.n, o->session.p);
	if (o->version.n > 0 && (p->tells & TELLS_VERSIONS) != 0)
		buf_addf(b, " v=%.*s", (int)o->version.n, o->version.p);
	if ((p->tells & TELLS_HEADERS) != 0)
		add_headers(b, o->mirrored);
	add_flag(b, p->tells & TELLS_MIRRORED, o->mirrored != NULL, "mirrored");
	add_flag(b, p->tells & (TELLS_FLAGS | TELLS_ENDPOINT), o->endpoint,
	    "endpoint");
	add_flag(b, p->tells & TELLS_FLAGS, o->control, "control");
	add_flag(b, p->tells & (TELLS_FLAGS | TELLS_INTERACTIVE),
	    o->interactive, "interactive");
	add_flag(b, p->tells & TELLS_FLAGS, o->wary, "wary");
	add_flag(b, o->fresh, true, "fresh");
	buf_addc(b, '\n');
}

static void
tell_send(struct play *p, const struct event *e)
{
	play_sent(p, e->ticket, e->order);
	buf_addf(&p->out, "send #%zu ", p->n_sent - p->hidden);
	play_tell_order(p, e->order);
}

static void
tell_abort(struct play *p, uint64_t ticket)
{
	size_t i = p->n_sent;

	while (i > 0 && p->sent[i - 1].ticket != ticket)
		i--;
	if (i == 0 && !p->reducer->aborts_anything)
		buf_adds(&p->out, "abort ?\n");
	if (i == 0 || p->sent[i - 1].aborted || p->sent[i - 1].ending)
		return;
	p->sent[i - 1].aborted = true;
	buf_addf(&p->out, "abort #%zu\n", i - p->hidden);
}

/* What is to be done about a refusal, perhaps of an exchange that is over. */
static void
tell_refused(struct play *p, const struct event *e)
{
	size_t i = p->n_sent;

	while (i > 0 && p->sent[i - 1].was != e->ticket)
		i--;
	buf_addf(&p->out, "%s #%zu",
	    e->kind == ACTION_AUTHORIZE ? "credentials" : "refusal",
	    i - p->hidden);
	if (e->session.n > 0)
		buf_addf(&p->out, " @%.*s", (int)e->session.n, e->session.p);
	buf_addc(&p->out, '\n');
}

/* --- messages to the client --- */

static void
add_raw(struct play *p, struct span raw)
{
	if (raw.n > 120 && (p->tells & TELLS_TEXTS) == 0)
		buf_addf(&p->out, " (%zu bytes)", raw.n);
	else
		add_word(&p->out, raw);
}

static void
add_member(struct buf *b, const char *name, struct span data,
    const char *member)
{
	struct span value = json_get(data, member);

	if (value.n > 0)
		buf_addf(b, " %s %.*s", name, (int)value.n, value.p);
}

/* Our own: "! REASON RAN [status N] [retry N] [server {...}]", with the code
 * in front if it is not -32603; the server's: "! CODE TEXT". */
static void
add_error(struct buf *b, const struct frame *f, bool texts)
{
	struct span data = json_get(f->error, "data");
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
	add_member(b, "status", data, "httpStatus");
	add_member(b, "retry", data, "retryAfter");
	add_member(b, "server", data, "server");
	if (texts) {
		buf_adds(b, ": ");
		msg_error_text(f, b);
	}
}

static void
tell_write(struct play *p, const struct frame *f)
{
	struct buf *b = &p->out;

	buf_adds(b, "write");
	if ((p->tells & TELLS_WRITES) != 0) {
		add_word(b, f->text);
	} else if (f->kind == FRAME_REQUEST) {
		buf_adds(b, " ask");
		add_word(b, f->id);
		add_word(b, f->method);
	} else if (f->kind == FRAME_NOTIFICATION) {
		buf_adds(b, " note");
		add_word(b, f->method);
		add_raw(p, f->params);
	} else if (f->kind == FRAME_RESULT) {
		add_word(b, f->id);
		buf_adds(b, " =");
		add_raw(p, f->result);
	} else if (f->kind == FRAME_ERROR) {
		add_word(b, f->id.p != NULL ? f->id : span_of("-"));
		add_error(b, f, (p->tells & TELLS_TEXTS) != 0);
	} else {
		buf_adds(b, " RAW");
	}
	buf_addc(b, '\n');
}

/* --- the rest --- */

static void
tell_log(struct play *p, const struct event *e)
{
	bool warns = e->level <= LEVEL_WARN;

	if ((p->tells & (warns ? TELLS_WARNINGS : TELLS_NOTES)) != 0)
		buf_addf(&p->out, "%s %s\n", warns ? "warn" : "note", e->text);
}

/* The version is JSON. */
static void
tell_start(struct play *p, const char *what, const struct event *e)
{
	buf_adds(&p->out, what);
	if (e->version.n > 1 && (p->tells & TELLS_VERSIONS) != 0)
		buf_addf(&p->out, " %.*s", (int)e->version.n - 2,
		    e->version.p + 1);
	buf_adds(&p->out, e->tools.n > 0 ? " tools\n" : "\n");
}

static void
tell_cache(struct play *p, const struct event *e)
{
	if ((p->tells & TELLS_CACHE) == 0)
		return;
	if (e->kind == ACTION_LOAD_START)
		tell_start(p, "recall", e);
	else if (e->kind == ACTION_SAVE_START)
		tell_start(p, "remember", e);
	else if (e->session.n > 0)
		buf_addf(&p->out, "keep @%.*s\n", (int)e->session.n,
		    e->session.p);
	else
		buf_adds(&p->out, "keep -\n");
}

static void
tell_found(struct play *p, const struct event *e)
{
	const char *what = "legacy";

	if (e->dual)
		what = "dual";
	else if (e->modern)
		what = "modern";
	else if (e->sse)
		what = "sse";
	buf_addf(&p->out, "found %s\n", what);
}

void
play_tell(struct play *p, const struct event *e)
{
	if (p->reducer->tell != NULL && p->reducer->tell(p, e))
		return;
	switch (e->kind) {
	case ACTION_SEND:
		tell_send(p, e);
		break;
	case ACTION_ABORT:
		tell_abort(p, e->ticket);
		break;
	case ACTION_AUTHORIZE:
	case ACTION_TAKE_REFUSAL:
		tell_refused(p, e);
		break;
	case ACTION_WRITE:
		tell_write(p, e->frame);
		break;
	case ACTION_READ:
		p->reading = e->ok;
		buf_addf(&p->out, "read %s\n", e->ok ? "on" : "off");
		break;
	case ACTION_LOG:
		tell_log(p, e);
		break;
	case ACTION_LOAD_START:
	case ACTION_SAVE_START:
	case ACTION_SAVE_SESSION:
		tell_cache(p, e);
		break;
	case ACTION_FOUND:
		tell_found(p, e);
		break;
	case ACTION_CHECK_PEERS:
		buf_adds(&p->out, "look\n");
		break;
	case ACTION_EXIT:
		p->status = e->status;
		buf_addf(&p->out, "exit %d\n", e->status);
		break;
	default:
		buf_addf(&p->out, "event %d\n", (int)e->kind);
		break;
	}
}
