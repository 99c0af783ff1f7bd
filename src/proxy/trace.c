/*
 * The lines of --trace.
 *
 * A line is built in memory, and the secrets that are known are taken out of
 * it before it is written: the values of our own headers and the session ids,
 * wherever a server or a client may repeat them.
 */
#include "config.h"

#include "proxy/trace.h"

#include <openssl/evp.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include "base/append.h"
#include "base/bounds.h"
#include "base/codec.h"
#include "base/hash.h"
#include "base/queue.h"
#include "core/wire/json.h"
#include "core/wire/redact.h"
#include "os/clock.h"
#include "os/process.h"

enum {
	SECRETS = 256,        /* that grow old together */
	SECRET_LEAST = 8,     /* bytes; a shorter one may be any word */
	SECRET_MOST = 8192,   /* bytes that are read beyond a cut, so that no
			     * part of a secret is left there */
	READ_BYTES = 8 << 20, /* of a message, as what is hidden may be long */
	SHOWN_BYTES = 256,    /* of an id or a method */
	REASON_BYTES = 512,   /* of a text about an exchange */
	LABEL_BYTES = 8       /* hex digits that stand for a session id */
};

/* A text that is never written. */
struct secret {
	char *text, *instead;
	size_t n;
	size_t *shorter; /* of each beginning of the text: how long the next
			  * shorter one is that it ends with */
};

struct secrets {
	struct secret *list;
	size_t n;
};

/* Behind the values and the ids are the older ones of each. */
enum { LIST_URL, LIST_VALUES, LIST_SESSIONS = LIST_VALUES + 2, LISTS = 5 };

/* What stands at a byte, or ends there. */
struct hit {
	const struct secret *secret;
	size_t n;
};

/* An exchange that is under way. */
struct running {
	struct running *next, *prev;
	struct hash_entry by_ticket;
	uint64_t ticket;
	int64_t since; /* monotonic, in microseconds */
	size_t bytes;  /* of the messages of its answer */
};

struct trace {
	struct append file; /* closed: nothing more is traced */
	const struct credentials *credentials;
	uint64_t credentials_seen; /* the version that is in secrets */
	bool credentials_known;
	/* Parts of the server's URL, values of our headers and older ones,
	 * session ids and older ones. */
	struct secrets secrets[LISTS];
	struct running *first, *last; /* exchanges under way */
	struct hash by_ticket;
	char *session; /* the latest session id */
	char label[LABEL_BYTES + 1];
	struct session_brief state;
	bool signing_in; /* the user is asked to sign in */
	struct buf line;
};

/* --- secrets --- */

/* A text that is short is not looked for. */
static void
keep_text(struct secrets *all, struct span text, const char *instead)
{
	struct secret new = { .n = text.n };
	size_t i, k = 0;

	if (text.n < SECRET_LEAST)
		return;
	for (i = 0; i < all->n; i++)
		if (span_eq(text,
			(struct span){ all->list[i].text, all->list[i].n }))
			return;
	new.text = xstrndup(text.p, text.n);
	new.instead = xstrdup(instead);
	new.shorter = xcalloc(text.n, sizeof *new.shorter);
	for (i = 1; i < text.n; i++) {
		while (k > 0 && text.p[i] != text.p[k])
			k = new.shorter[k - 1];
		k += text.p[i] == text.p[k];
		new.shorter[i] = k;
	}
	all->list = xgrow(all->list, all->n, sizeof *all->list);
	all->list[all->n++] = new;
}

/* Notes a text, also as JSON writes it. */
static void
keep_secret(struct secrets *all, struct span text, const char *instead)
{
	struct buf quoted = { 0 };

	keep_text(all, text, instead);
	codec_json_string(&quoted, text);
	keep_text(all, (struct span){ quoted.p + 1, quoted.n - 2 }, instead);
	buf_wipe(&quoted);
}

static void
free_secrets(struct secrets *all)
{
	while (all->n > 0) {
		string_wipe(&all->list[--all->n].text);
		free(all->list[all->n].instead);
		free(all->list[all->n].shorter);
	}
	free(all->list);
	*all = (struct secrets){ 0 };
}

/* Makes room in this list: if it is long, those of it are the older ones. */
static void
grow_old(struct secrets *all)
{
	if (all->n >= SECRETS) {
		free_secrets(&all[1]);
		all[1] = all[0];
		all[0] = (struct secrets){ 0 };
	}
}

/* Notes a value, and how it looks in base64 if 0, 1 or 2 bytes stand before it
 * in a group of three: without the letters that are also of what is around. */
static void
keep_encoded(struct span value, void *all)
{
	struct buf text = { 0 }, code = { 0 };
	size_t i, before, from;

	buf_adds(&text, "--");
	buf_addspan(&text, value);
	keep_secret(all, value, "(redacted)");
	for (i = 0; i < 6; i++) {
		before = i / 2;
		from = (before * 4 + 2) / 3;
		buf_reset(&code);
		(i % 2 == 0 ? codec_base64url : codec_base64)(&code,
		    (struct span){
			buf_str(&text) + 2 - before, value.n + before });
		if (value.n >= SECRET_LEAST)
			keep_text(all,
			    (struct span){ code.p + from,
				(value.n + before) * 4 / 3 - from },
			    "(redacted)");
	}
	buf_wipe(&text);
	buf_wipe(&code);
}

/* Notes the value of a header: all of it, what follows "Bearer" in it, what
 * stands in quotes behind a "=", and each cookie. */
static void
keep_header(struct secrets *all, const struct header *h)
{
	struct span rest = span_of(h->value), part;
	const char *at = h->value;

	keep_encoded(rest, all);
	span_take(&rest, ' ');
	keep_encoded(rest, all);
	while ((at = strstr(at, "=\"")) != NULL) {
		at += 2;
		keep_encoded((struct span){ at, strcspn(at, "\"") }, all);
	}
	rest = span_of(h->value);
	while (rest.n > 0 && span_is_nocase(span_of(h->name), "cookie")) {
		part = span_take(&rest, ';');
		span_take(&part, '=');
		keep_encoded(part, all);
	}
}

/* Notes the values of our headers when they have changed. */
static void
keep_credentials(struct trace *t)
{
	const struct headers *h = &t->credentials->headers;
	size_t i;

	if (t->credentials_known &&
	    t->credentials_seen == t->credentials->version)
		return;
	t->credentials_known = true;
	t->credentials_seen = t->credentials->version;
	grow_old(&t->secrets[LIST_VALUES]);
	for (i = 0; i < h->n; i++)
		keep_header(&t->secrets[LIST_VALUES], &h->list[i]);
}

/* Returns eight hex digits that stand for this session id. */
static const char *
session_label(struct trace *t, struct span session)
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	char *instead;

	if (t->session != NULL && span_is(session, t->session))
		return t->label;
	EVP_Digest(session.p, session.n, hash, NULL, EVP_sha256(), NULL);
	snprintf(t->label, sizeof t->label, "%02x%02x%02x%02x", hash[0],
	    hash[1], hash[2], hash[3]);
	free(t->session);
	t->session = xstrndup(session.p, session.n);
	instead = xasprintf("(session %s)", t->label);
	grow_old(&t->secrets[LIST_SESSIONS]);
	keep_secret(&t->secrets[LIST_SESSIONS], session, instead);
	free(instead);
	return t->label;
}

/* May the text have been cut here, and a word of a secret with it? */
static bool
is_cut(const char *p, const char *end, char next)
{
	return (p == end || *p == '"' || *p == '\\' ||
		   (end - p >= 3 && memcmp(p, "...", 3) == 0)) &&
	    strchr(" ,;", next) == NULL;
}

/* Notes where the secret ends in the text, or its beginning if that is cut
 * (Knuth, Morris and Pratt). */
static void
find_secret(const struct secret *s, struct span text, struct hit *hits)
{
	const char *p, *end = text.p + text.n;
	size_t k = 0; /* bytes of the secret that stand before p */

	for (p = text.p; p < end; p++) {
		if (k == 0)
			p = memmem(p, (size_t)(end - p), s->text, SECRET_LEAST);
		if (p == NULL)
			return;
		while (k > 0 && s->text[k] != *p)
			k = s->shorter[k - 1];
		k += s->text[k] == *p;
		if (k > hits[p - text.p].n &&
		    (k == s->n ||
			(k >= SECRET_LEAST && is_cut(p + 1, end, s->text[k]))))
			hits[p - text.p] = (struct hit){ s, k };
		if (k == s->n)
			k = s->shorter[k - 1];
	}
}

/* Hides them all at once: nothing is looked for in what stands for another. */
static void
hide_secrets(struct trace *t, struct buf *b)
{
	struct hit *hits = xcalloc(b->n + 1, sizeof *hits), cover = { 0 };
	const struct secret *last = NULL;
	struct buf out = { 0 };
	size_t i, j;

	keep_credentials(t);
	for (i = 0; i < LISTS; i++)
		for (j = 0; j < t->secrets[i].n; j++)
			find_secret(&t->secrets[i].list[j], buf_span(b), hits);
	for (i = b->n; i-- > 0; cover.n -= cover.n > 0) {
		if (hits[i].n > cover.n)
			cover = hits[i];
		hits[i].secret = cover.n > 0 ? cover.secret : NULL;
	}
	for (i = 0; i < b->n; last = hits[i++].secret)
		if (hits[i].secret == NULL)
			buf_addc(&out, b->p[i]);
		else if (hits[i].secret != last)
			buf_adds(&out, hits[i].secret->instead);
	free(hits);
	buf_wipe(b);
	*b = out;
}

/* --- lines --- */

static void
begin(struct trace *t, const char *dir, const char *event)
{
	int64_t now = os_clock_us(OS_CLOCK_WALL),
		ms = os_clock_us(OS_CLOCK_STEADY);
	time_t second = (time_t)(now / 1000000);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&second, &tm) != NULL)
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	buf_reset(&t->line);
	buf_addf(&t->line,
	    "{\"t\":\"%s.%06dZ\",\"ms\":%" PRId64 ".%03d,\"pid\":%ld,"
	    "\"dir\":\"%s\",\"event\":\"%s\"",
	    text, (int)(now % 1000000), ms / 1000, (int)(ms % 1000),
	    os_process_id(), dir, event);
}

static void
end_line(struct trace *t)
{
	int error;

	buf_addc(&t->line, '}');
	if (t->file.fd < 0 || append_line(&t->file, &t->line) == 0)
		return;
	error = errno;
	append_close(&t->file);
	log_warn("--trace: cannot write the file (%s): tracing has stopped",
	    strerror(error));
}

/* Is it JSON? A secret that stood in a number left something else there. */
static bool
is_json(const struct buf *b)
{
	return json_check(buf_span(b), UINT_MAX, NULL, NULL, NULL) == JSON_OK;
}

/* Adds raw JSON, such as an id. */
static void
add_raw(struct trace *t, const char *name, struct span value)
{
	struct buf raw = { 0 };

	if (value.n == 0 || value.n > SHOWN_BYTES)
		return;
	buf_addspan(&raw, value);
	hide_secrets(t, &raw);
	if (is_json(&raw)) {
		buf_addf(&t->line, ",\"%s\":", name);
		buf_addspan(&t->line, buf_span(&raw));
	}
	buf_wipe(&raw);
}

static void
add_number(struct trace *t, const char *name, int64_t value)
{
	buf_addf(&t->line, ",\"%s\":%" PRId64, name, value);
}

static void
add_word(struct trace *t, const char *name, const char *word)
{
	buf_addf(&t->line, ",\"%s\":\"%s\"", name, word);
}

/* Adds text that a peer may have made. It is cut when its secrets are hidden,
 * because a part of one would not be found. */
static void
add_text(struct trace *t, const char *name, struct span value, size_t most)
{
	struct buf text = { 0 }, body = { 0 };

	if (value.n == 0)
		return;
	if (value.n > most + SECRET_MOST)
		value.n = most + SECRET_MOST;
	codec_json_string(&text, value);
	redact_json(&body, buf_span(&text), SIZE_MAX / 2);
	hide_secrets(t, &body);
	buf_reset(&text);
	if (!is_json(&body) || json_string(buf_span(&body), &text) != 0)
		buf_addspan(&text, buf_span(&body));
	if (text.n > most)
		text.n = most;
	buf_addf(&t->line, ",\"%s\":", name);
	codec_json_string(&t->line, buf_span(&text));
	buf_wipe(&text);
	buf_wipe(&body);
}

static void
add_session(struct trace *t, struct span session)
{
	if (session.n > 0)
		add_word(t, "session", session_label(t, session));
}

/* Adds the message: as JSON, or, if it is not or is too long, as text. */
static void
add_body(struct trace *t, const struct frame *f)
{
	bool whole = f->text.n <= READ_BYTES;
	struct span text = { f->text.p, whole ? f->text.n : READ_BYTES };
	struct buf body = { 0 };

	whole &= redact_json(&body, text, BOUND_TEXT_BYTES + SECRET_MOST);
	hide_secrets(t, &body);
	if (whole && body.n <= BOUND_TEXT_BYTES && is_json(&body)) {
		buf_adds(&t->line, ",\"message\":");
		buf_addspan(&t->line, buf_span(&body));
	} else {
		if (body.n > BOUND_TEXT_BYTES) {
			body.n = BOUND_TEXT_BYTES;
			whole = false;
		}
		if (!whole)
			buf_adds(&t->line, ",\"cut\":true");
		buf_adds(&t->line, ",\"text\":");
		codec_json_string(&t->line, buf_span(&body));
	}
	buf_wipe(&body);
}

static void
add_frame(struct trace *t, const struct frame *f)
{
	static const char *const kinds[] = { "invalid", "request",
		"notification", "result", "error" };

	add_word(t, "kind", kinds[f->kind]);
	add_raw(t, "id", f->id);
	add_text(t, "method", f->method, SHOWN_BYTES);
	add_number(t, "bytes", (int64_t)f->text.n);
	add_body(t, f);
}

static void
add_us(struct trace *t, const char *name, int64_t us)
{
	buf_addf(&t->line, ",\"%s\":%" PRId64 ".%03d", name, us / 1000,
	    (int)(us % 1000));
}

/* --- exchanges --- */

static struct running *
find(const struct trace *t, uint64_t ticket)
{
	struct hash_entry *e = hash_first(&t->by_ticket, ticket);

	return e == NULL ? NULL : HASH_THING(e, struct running, by_ticket);
}

static void
forget(struct trace *t, struct running *r)
{
	QUEUE_REMOVE(t, r);
	hash_remove(&t->by_ticket, &r->by_ticket);
	free(r);
}

static void
begin_exchange(struct trace *t, const char *dir, const char *event,
    uint64_t ticket)
{
	begin(t, dir, event);
	/* The tickets of core/server have their highest bit set. */
	buf_addf(&t->line, ",\"exchange\":\"%" PRIx64 "\"", ticket);
}

static void
add_took(struct trace *t, const struct running *r)
{
	if (r != NULL)
		add_us(t, "took", os_clock_us(OS_CLOCK_STEADY) - r->since);
}

static void
trace_send(struct trace *t, const struct event *a)
{
	static const char *const verbs[] = { "POST", "GET", "DELETE" };
	const struct order *o = a->order;
	struct running *r = xcalloc(1, sizeof *r);

	r->ticket = o->ticket;
	r->since = os_clock_us(OS_CLOCK_STEADY);
	QUEUE_ADD_FIRST(t, r);
	hash_add(&t->by_ticket, &r->by_ticket, r->ticket);
	begin_exchange(t, ">server", "send", o->ticket);
	add_word(t, "why", o->why == NULL ? "server" : o->why);
	if (o->generation > 0)
		add_number(t, "generation", (int64_t)o->generation);
	add_word(t, "verb", verbs[o->verb]);
	add_session(t, o->session);
	add_text(t, "version", o->version, SHOWN_BYTES);
	if (a->related != NULL)
		add_raw(t, "call", a->related->id);
	if (o->fresh)
		buf_adds(&t->line, ",\"fresh\":true");
	if (o->wary)
		buf_adds(&t->line, ",\"wary\":true");
	if (o->verb == VERB_POST && o->body != NULL)
		add_frame(t, o->body);
	end_line(t);
}

static void
add_facts(struct trace *t, const struct facts *f)
{
	static const char *const media[] = { "none", "json", "event-stream",
		"html", "other" };

	if (f->status > 0) {
		add_number(t, "status", f->status);
		add_word(t, "media", media[f->media]);
	}
	add_session(t, f->session);
}

static void
trace_end(struct trace *t, const struct event *in, struct running *r)
{
	static const char *const endings[] = { "complete", "cut", "idle",
		"aborted", "not resolved", "not connected", "tls failed",
		"proxy failed", "not possible", "denied", "sign-in" };
	const struct facts *f = in->facts;

	begin_exchange(t, "server>", "end", in->ticket);
	add_word(t, "ending", endings[f->ending]);
	add_facts(t, f);
	add_took(t, r);
	buf_addf(&t->line, ",\"sent\":%s", f->sent ? "true" : "false");
	add_number(t, "received",
	    (int64_t)((r == NULL ? 0 : r->bytes) + f->body.n));
	add_text(t, "reason", f->why, REASON_BYTES);
	add_text(t, "words", f->body, REASON_BYTES);
	end_line(t);
	if (r != NULL)
		forget(t, r);
}

/* One event may tell the head, a message and the end. */
static void
trace_answer(struct trace *t, const struct event *in)
{
	struct running *r = find(t, in->ticket);

	if (in->head && in->facts->status > 0) {
		begin_exchange(t, "server>", "head", in->ticket);
		add_facts(t, in->facts);
		add_took(t, r);
		end_line(t);
	}
	if (in->frame != NULL) {
		if (r != NULL)
			r->bytes += in->frame->text.n;
		begin_exchange(t, "server>", "message", in->ticket);
		add_frame(t, in->frame);
		end_line(t);
	}
	if (in->kind == INPUT_DONE) {
		trace_end(t, in, r);
	} else if (in->kind == INPUT_REFUSED) {
		begin_exchange(t, "server>", "refused", in->ticket);
		add_facts(t, in->facts);
		add_took(t, r);
		add_text(t, "words", in->facts->body, REASON_BYTES);
		end_line(t);
	}
}

/* --- events --- */

static void
simple_note(struct trace *t, const char *event)
{
	begin(t, "note", event);
	end_line(t);
}

/* text: how the user has to sign in; NULL: nobody has to, or not any more. */
static void
trace_sign_in(struct trace *t, const char *text)
{
	if (text == NULL && !t->signing_in)
		return;
	t->signing_in = text != NULL;
	begin(t, "note", text != NULL ? "sign-in wanted" : "sign-in over");
	if (text != NULL)
		add_text(t, "text", span_of(text), BOUND_LINE_BYTES);
	end_line(t);
}

static void
trace_too_long(struct trace *t, const struct event *in)
{
	begin(t, "client>", "message");
	add_word(t, "kind", "invalid");
	add_raw(t, "id", in->id);
	add_number(t, "bytes", (int64_t)in->size);
	buf_adds(&t->line, ",\"cut\":true");
	end_line(t);
}

void
trace_input(struct trace *t, const struct event *in)
{
	if (t->file.fd < 0)
		return;
	switch (in->kind) {
	case INPUT_CLIENT:
	case INPUT_INVALID:
		begin(t, "client>", "message");
		add_frame(t, in->frame);
		end_line(t);
		break;
	case INPUT_TOO_LONG:
		trace_too_long(t, in);
		break;
	case INPUT_EOF:
		simple_note(t, "stdin ended");
		break;
	case INPUT_STOP:
		simple_note(t, "stop");
		break;
	case INPUT_BROKEN:
		simple_note(t, "stdout broke");
		break;
	case INPUT_HEAD:
	case INPUT_MESSAGE:
	case INPUT_REFUSED:
	case INPUT_DONE:
		trace_answer(t, in);
		break;
	case INPUT_ENDPOINT:
		begin_exchange(t, "server>", "endpoint", in->ticket);
		end_line(t);
		break;
	case INPUT_SIGN_IN:
		trace_sign_in(t, in->text);
		break;
	case INPUT_SIGNED_IN:
		simple_note(t, "signed in");
		break;
	case INPUT_HELPER:
		simple_note(t,
		    in->ok ? "requests wait for --auth-command" :
			     "--auth-command is over");
		break;
	case INPUT_WAKE:
		simple_note(t, "wake");
		break;
	default:
		break; /* what else there is comes out as a decision */
	}
}

void
trace_action(struct trace *t, const struct event *a)
{
	if (t->file.fd < 0)
		return;
	switch (a->kind) {
	case ACTION_SEND:
		trace_send(t, a);
		break;
	case ACTION_ABORT:
		begin_exchange(t, ">server", "abort", a->ticket);
		end_line(t);
		break;
	case ACTION_AUTHORIZE:
		begin_exchange(t, "note", "credentials wanted", a->ticket);
		end_line(t);
		break;
	case ACTION_WRITE:
		begin(t, ">client", "message");
		add_frame(t, a->frame);
		end_line(t);
		break;
	case ACTION_FOUND:
		if (a->dual)
			break;
		begin(t, "note", "found");
		add_word(t, "server",
		    a->modern  ? "modern" :
			a->sse ? "sse" :
				 "legacy");
		end_line(t);
		break;
	case ACTION_EXIT:
		begin(t, "note", "exit");
		add_number(t, "status", a->status);
		end_line(t);
		break;
	default:
		break; /* a decision is traced when it is logged */
	}
}

void
trace_state(struct trace *t, struct session_brief now)
{
	if (t->file.fd < 0 ||
	    (now.phase == t->state.phase &&
		now.generation == t->state.generation))
		return;
	t->state = now;
	begin(t, "note", "state");
	add_word(t, "phase", now.phase);
	add_number(t, "generation", (int64_t)now.generation);
	end_line(t);
}

static void
on_log(enum log_level level, const char *text, void *arg)
{
	static const char *const levels[] = { "error", "warn", "info",
		"debug" };
	struct trace *t = arg;

	if (t->file.fd < 0)
		return;
	begin(t, "note", "log");
	add_word(t, "level", levels[level]);
	add_text(t, "text", span_of(text), BOUND_LINE_BYTES);
	end_line(t);
}

struct trace *
trace_open(const char *path, const char *url,
    const struct credentials *credentials)
{
	struct trace *t = xcalloc(1, sizeof *t);
	struct buf shown = { 0 };

	t->credentials = credentials;
	if (append_open(&t->file, path, BOUND_ALL_BYTES, true) != 0) {
		log_warn("cannot open --trace %s: %s", path, strerror(errno));
		trace_close(t);
		return NULL;
	}
	redact_find(span_of(url), keep_encoded, &t->secrets[LIST_URL]);
	redact_path(&shown, span_of(url), "(redacted)");
	begin(t, "note", "start");
	add_word(t, "version", PACKAGE_VERSION);
	add_text(t, "url", buf_span(&shown), BOUND_LINE_BYTES);
	end_line(t);
	buf_free(&shown);
	log_tap(on_log, t);
	return t;
}

void
trace_close(struct trace *t)
{
	size_t i;

	if (t == NULL)
		return;
	log_tap(NULL, NULL);
	if (t->file.fd >= 0)
		simple_note(t, "end");
	append_close(&t->file);
	while (t->first != NULL)
		forget(t, t->first);
	hash_free(&t->by_ticket);
	for (i = 0; i < LISTS; i++)
		free_secrets(&t->secrets[i]);
	string_wipe(&t->session);
	buf_wipe(&t->line);
	free(t);
}
