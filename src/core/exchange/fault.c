/*
 * Makes the errors of the table: fills the holes of a row's text, and chooses
 * the row for the facts of an exchange.
 */
#include "config.h"

#include "core/exchange/fault.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "core/exchange/server_words.h"
#include "core/exchange/verdict.h"
#include "core/wire/edit.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "core/wire/protocol.h"
#include "core/wire/redact.h"

enum { LABEL_MAX = 64, WORDS_MAX = 200 };

const struct fault_row fault_rows[FAULT_COUNT] = {
#define FAULT(id, code, reason, ran, text) [id] = { code, reason, ran, text },
#include "core/exchange/fault_rows.h"
};

void
fault_label(const struct frame *request, struct buf *out)
{
	struct buf name;

	if (json_key_is(request->method, "tools/call")) {
		buf_init(&name, 0);
		if (json_string(json_get(request->params, "name"), &name) ==
			0 &&
		    name.n > 0) {
			buf_addc(out, '"');
			codec_visible(out, buf_span(&name), LABEL_MAX);
			buf_addc(out, '"');
			buf_free(&name);
			return;
		}
		buf_free(&name);
	}
	codec_visible(out, request->method, LABEL_MAX);
}

/* --- one error --- */

/* Appends the value of the hole with this name. Returns false if there is no
 * such hole. */
static bool
value(struct buf *out, struct span hole, const void *arg)
{
	const struct fault_args *args = arg;

	if (span_is(hole, "host"))
		buf_adds(out, args->host);
	else if (span_is(hole, "call"))
		fault_label(args->request, out);
	else if (span_is(hole, "why"))
		buf_addf(out, "%.*s", (int)args->why.n,
		    args->why.n == 0 ? "" : args->why.p);
	else if (span_is(hole, "remedy"))
		buf_addspan(out, args->remedy);
	else if (span_is(hole, "name"))
		codec_visible(out, args->name, LABEL_MAX);
	else if (span_is(hole, "count"))
		buf_addf(out, "%llu", (unsigned long long)args->count);
	else if (span_is(hole, "size"))
		buf_addf(out, "%llu", (unsigned long long)args->size);
	else if (span_is(hole, "limit"))
		buf_addf(out, "%llu", (unsigned long long)args->limit);
	else if (span_is(hole, "status"))
		buf_addf(out, "%d", args->status);
	else if (span_is(hole, "sent"))
		buf_adds(out, args->sent ? "sent" : "");
	else if (span_is(hole, "maybe"))
		buf_adds(out, args->maybe ? "maybe" : "");
	else if (span_is(hole, "ran"))
		buf_adds(out,
		    args->maybe ? "The call may have run: check before calling "
				  "it again. mcpsplice did not repeat it." :
				  "The call did not run.");
	else
		return false;
	return true;
}

static void
add_data(struct buf *data, const char *reason, const struct fault_args *args)
{
	buf_adds(data, "{\"source\":\"mcpsplice\"");
	if (reason != NULL)
		buf_addf(data, ",\"reason\":\"%s\"", reason);
	buf_addf(data, ",\"ran\":\"%s\"", args->maybe ? "maybe" : "no");
	if (args->status != 0)
		buf_addf(data, ",\"httpStatus\":%d", args->status);
	if (args->retry_after_ms > 0)
		buf_addf(data, ",\"retryAfter\":%lld",
		    (long long)((args->retry_after_ms + 999) / 1000));
	if (args->challenge.n > 0) {
		buf_adds(data, ",\"challenge\":");
		buf_addspan(data, args->challenge);
	}
	if (args->refusal != NULL && args->refusal->error.n > 0 &&
	    args->refusal->error.n <= BOUND_TEXT_BYTES) {
		buf_adds(data, ",\"server\":");
		buf_addspan(data, args->refusal->error);
	}
	buf_addc(data, '}');
}

static bool
is_retry(const struct frame *request)
{
	return request != NULL &&
	    (json_get(request->params, "requestState").p != NULL ||
		json_get(request->params, "inputResponses").p != NULL);
}

/* Takes a response. If it is an error of ours that says that the request did
 * not run, and the request is a retry with the user's input, it says "maybe",
 * because of the request before. Returns the response. */
static struct frame *
doubt(struct frame *f, const struct frame *request)
{
	static const char words[] = " The request before it may have run in "
				    "part: check before calling it again.\"";
	struct span message = json_get(f->error, "message");
	struct span data = json_get(f->error, "data");
	struct edit ran = { "ran", span_of("\"maybe\"") };
	struct edit edits[2] = { { "message", no_span }, { "data", no_span } };
	struct buf new_message, new_data;
	struct frame *edited;

	if (!json_string_is(json_get(data, "source"), "mcpsplice") ||
	    !json_string_is(json_get(data, "ran"), "no") || !is_retry(request))
		return f;
	buf_init(&new_message, 0);
	buf_init(&new_data, 0);
	buf_add(&new_message, message.p, message.n - 1);
	buf_adds(&new_message, words);
	edit_object(&new_data, data, &ran, 1);
	edits[0].value = buf_span(&new_message);
	edits[1].value = buf_span(&new_data);
	edited = edit_part(f, "error", f->error, edits, 2);
	buf_free(&new_message);
	buf_free(&new_data);
	frame_unref(f);
	return edited;
}

bool
fault_is_ours(const struct frame *error)
{
	return json_string_is(json_get(json_get(error->error, "data"),
				  "source"),
	    "mcpsplice");
}

struct frame *
fault_make(enum fault_id id, const struct fault_args *args)
{
	const struct fault_row *row = &fault_rows[id];
	struct fault_args a = *args;
	struct buf message, data;
	struct frame *f;

	if (row->ran != RAN_AS_GIVEN)
		a.maybe = row->ran == RAN_MAYBE;
	if (a.request != NULL)
		a.id = a.request->id;
	buf_init(&message, 0);
	buf_init(&data, 0);
	buf_fill(&message, row->text, value, &a);
	if (a.waited_ms >= 1000)
		buf_addf(&message,
		    " mcpsplice waited %lld s for it (--retry-window).",
		    (long long)a.waited_ms / 1000);
	add_data(&data,
	    a.reason_of != FAULT_NONE ? fault_rows[a.reason_of].reason :
					row->reason,
	    &a);
	f = msg_error(a.id, row->code, buf_str(&message), buf_span(&data));
	buf_free(&message);
	buf_free(&data);
	return doubt(f, a.request);
}

struct frame *
fault_with_hint(struct frame *f, const char *hint)
{
	struct span data = json_get(f->error, "data");
	struct edit edit = { "message", no_span };
	struct buf text, message;
	struct frame *edited;

	if (!json_string_is(json_get(data, "source"), "mcpsplice") ||
	    strtol(json_get(f->error, "code").p, NULL, 10) != FAULT_INTERNAL)
		return frame_ref(f);
	buf_init(&text, 0);
	buf_init(&message, 0);
	(void)json_string(json_get(f->error, "message"), &text);
	buf_addf(&text, " (%s)", hint);
	codec_json_string(&message, buf_span(&text));
	edit.value = buf_span(&message);
	edited = edit_part(f, "error", f->error, &edit, 1);
	buf_free(&text);
	buf_free(&message);
	return edited;
}

struct frame *
fault_pass_on(struct frame *answer, const struct frame *request)
{
	return doubt(msg_with_id(answer, request->id), request);
}

/* --- an error from facts --- */

/* For an exchange that broke before a complete answer: the row, and the reason
 * and the remedy if the transport gives none. */
static const struct {
	enum fault_id row;
	const char *why, *remedy;
} of_ending[] = {
	[ENDING_COMPLETE] = { FAULT_CUT, "it did not answer", "" },
	[ENDING_CUT] = { FAULT_CUT, "the connection was cut", "" },
	[ENDING_IDLE] = { FAULT_SILENT, "it did not answer in time", "" },
	[ENDING_ABORTED] = { FAULT_CUT, "the connection was closed", "" },
	[ENDING_RESOLVE] = { FAULT_UNREACHABLE, "host name not found",
	    "Check the host in the URL" },
	[ENDING_CONNECT] = { FAULT_UNREACHABLE, "the connection failed",
	    "Check the network and the URL, and that the server is up" },
	[ENDING_TLS] = { FAULT_TLS, "the TLS handshake failed",
	    "Check that the server speaks https on this port" },
	[ENDING_PROXY] = { FAULT_PROXY, "the proxy cannot connect",
	    "Check --proxy, or add --noproxy HOST" },
	[ENDING_CONFIG] = { FAULT_SETTING, "libcurl rejects them",
	    "To see all settings, run: mcpsplice --show-config URL" },
	[ENDING_DENIED] = { FAULT_DENIED, "none are set", "" },
	[ENDING_SIGN_IN] = { FAULT_SIGN_IN, "you are not signed in", "" },
};

struct span
fault_why(const struct facts *facts)
{
	if (facts->too_large)
		return span_of("its answer is too large");
	return facts->why.n > 0 ? facts->why :
				  span_of(of_ending[facts->ending].why);
}

struct span
fault_remedy(const struct facts *facts)
{
	return facts->remedy.n > 0 ? facts->remedy :
				     span_of(of_ending[facts->ending].remedy);
}

/* What servers say about TLS over plain http, or without a client certificate:
 * Go, nginx, Apache httpd, Tomcat, HAProxy. */
static const struct {
	const char *words;
	enum fault_id row;
} of_tls[] = {
	{ "HTTP request to an HTTPS server", FAULT_WANTS_HTTPS },
	{ "plain HTTP request was sent to HTTPS port", FAULT_WANTS_HTTPS },
	{ "plain HTTP to an SSL-enabled server port", FAULT_WANTS_HTTPS },
	{ "host and port requires TLS", FAULT_WANTS_HTTPS },
	{ "No required SSL certificate was sent", FAULT_WANTS_CERT },
	{ "The SSL certificate error", FAULT_CERT_REFUSED },
};

/* Returns the row for an answer that is about TLS, or FAULT_NONE. */
static enum fault_id
of_tls_words(const struct facts *facts)
{
	size_t i;

	if (facts->status < 400 || facts->status > 499)
		return FAULT_NONE;
	for (i = 0; i < sizeof of_tls / sizeof *of_tls; i++)
		if (span_find(facts->body, of_tls[i].words) != NULL)
			return of_tls[i].row;
	return FAULT_NONE;
}

/* Appends the words of a page in one line. */
static void
add_page(struct buf *out, struct span page)
{
	struct server_words said;
	size_t i;
	char c;

	server_words_of_body(&said, page, true);
	for (i = 0; i < said.text.n; i++) {
		c = said.text.p[i];
		if (strchr(" \t\r\n", c) == NULL)
			buf_addc(out, c);
		else if (out->n > 0 && out->p[out->n - 1] != ' ')
			buf_addc(out, ' ');
	}
	server_words_free(&said);
}

/* Appends what the answer says. A server may repeat the credentials that it got,
 * and an error reaches the client and its model. */
static void
quote(struct buf *words, const struct facts *facts)
{
	struct buf text, page;

	buf_init(&text, 0);
	buf_init(&page, 0);
	if (facts->location.n > 0) {
		buf_addspan(&text, facts->location);
	} else if (facts->media == MEDIA_HTML) {
		add_page(&page, facts->body);
		redact_words(&text, span_trim(buf_span(&page), " "), WORDS_MAX);
	} else {
		redact_words(&text, span_trim(facts->body, " \t\r\n"),
		    WORDS_MAX);
	}
	buf_free(&page);
	codec_visible(words, buf_span(&text), WORDS_MAX);
	buf_free(&text);
}

/* Is the word in the text, perhaps with an ending, such as "hosts"? */
static bool
has_word(const char *text, const char *word)
{
	const char *at = text;
	size_t n = strlen(word);

	for (; (at = strcasestr(at, word)) != NULL; at++)
		if ((at == text || !isalpha((unsigned char)at[-1])) &&
		    (!isalpha((unsigned char)at[n]) ||
			strchr("ns", at[n]) != NULL))
			return true;
	return false;
}

/* What to do about a server that checks the host name of the URL, if its text
 * speaks of host or origin: a sentence without its full stop. */
static struct span
host_hint(const char *text)
{
	return span_of(has_word(text, "host") || has_word(text, "origin") ||
		    has_word(text, "only allowed at") ?
		"It checks the host name in the URL: use one that it allows" :
		NULL);
}

/* Appends which scopes a refusal wants, or what its challenge says of them, unless
 * words has it already, in quotes. */
static void
add_scopes(struct buf *words, const struct facts *facts)
{
	struct span value = json_get(facts->denial, "scope");
	const char *what = "it requires the scope";
	struct buf text;

	if (!json_string_is(json_get(facts->denial, "error"),
		"insufficient_scope"))
		return;
	if (value.n == 0) {
		value = json_get(facts->denial, "error_description");
		what = "it says";
	}
	buf_init(&text, 0);
	buf_addc(&text, '"');
	if (json_string(value, &text) == 0 && buf_addc(&text, '"') == 0 &&
	    strstr(buf_str(words), buf_str(&text)) == NULL) {
		buf_addf(words, " (%s ", what);
		codec_visible(words, buf_span(&text), WORDS_MAX);
		buf_addc(words, ')');
	}
	buf_free(&text);
}

/* Is a page with this status one of another place than the server: of a wrong
 * path, or of a network that wants a sign-in? 511 says so. */
static bool
is_of_elsewhere(int status)
{
	return status < 300 || status == 404 || status == 405 ||
	    status == 410 || status == 511;
}

/* Does it say that the server has no such method? 404 or 405 without a word may
 * be about the path. */
static bool
is_of_method(const struct facts *f)
{
	return f->undeclared && f->media != MEDIA_HTML &&
	    (f->status == 400 || f->status == 415 || f->status == 422 ||
		((f->status == 404 || f->status == 405) && f->body.n > 0));
}

/* Chooses the row for a complete answer with an error status and no JSON-RPC
 * message, and the words that it quotes, which are put in words. */
static enum fault_id
of_status(const struct facts *facts, struct fault_args *args, struct buf *words)
{
	int status = facts->status;
	bool page = facts->media == MEDIA_HTML;
	enum fault_id tls = of_tls_words(facts);
	bool unknown;

	if (tls != FAULT_NONE)
		return tls;
	/* A tool may have made any status, but not these: the server says that
	 * it did not look at the request (RFC 9110 15.5.20, RFC 8470). */
	args->maybe = facts->sent && status != 421 && status != 425;
	if ((status == 401 || status == 403) && facts->why.n > 0) {
		buf_addspan(words, facts->why);
		add_scopes(words, facts);
		args->why = buf_span(words);
		if (status == 401)
			args->reason_of = FAULT_401;
		return FAULT_REFUSED;
	}
	if (facts->signature) {
		buf_adds(words, "it refused the signature: ");
		quote(words, facts);
		args->why = buf_span(words);
		return FAULT_REFUSED;
	}
	if (status == 407 && facts->remedy.n > 0) {
		args->remedy = facts->remedy; /* the transport knows more */
		return FAULT_PROXY;
	}
	unknown = is_of_method(facts);
	if (!unknown && (status == 404 || status == 405))
		return FAULT_WRONG_PATH;
	quote(words, facts);
	add_scopes(words, facts);
	args->why = buf_span(words);
	args->sent = facts->credentials;
	if (!args->sent && facts->challenge.n == 0 && status < 500) {
		args->remedy = host_hint(buf_str(words));
		if (status == 403)
			args->reason_of = FAULT_STATUS;
	}
	if (facts->location.n > 0)
		args->remedy = facts->remedy;
	return unknown    ? FAULT_UNKNOWN_METHOD :
	    status == 401 ? FAULT_401 :
	    status == 403 ? (page ? FAULT_403_PAGE : FAULT_403) :
	    status == 407 ? FAULT_407 :
	    status == 413 ? FAULT_413 :
	    status >= 300 && status < 400   ? FAULT_REDIRECT :
	    status == 429 || status == 503  ? FAULT_NOT_READY :
	    verdict_is_gateway(status)      ? FAULT_GATEWAY :
	    page && is_of_elsewhere(status) ? FAULT_WEB_PAGE :
	    status >= 500                   ? FAULT_FAILED :
					      FAULT_STATUS;
}

static enum fault_id
of_facts(const struct facts *facts, struct fault_args *args, struct buf *words)
{
	bool success = facts->status >= 200 && facts->status <= 299;

	if (facts->too_large)
		return FAULT_ANSWER_HUGE;
	if (facts->ending != ENDING_COMPLETE) {
		args->maybe = facts->sent && facts->ending != ENDING_SIGN_IN;
		args->why = fault_why(facts);
		args->remedy = fault_remedy(facts);
		args->name = facts->coding;
		return facts->coding.n > 0 ? FAULT_CODING :
					     of_ending[facts->ending].row;
	}
	if (success && facts->verb == VERB_GET && facts->why.n > 0)
		return FAULT_NOT_SSE2024;
	if (!success || facts->media == MEDIA_HTML)
		return of_status(facts, args, words);
	args->maybe = facts->sent;
	args->name = facts->coding.n > 0 ? facts->coding : facts->type;
	return facts->media == MEDIA_SSE ? FAULT_STREAM_ENDED :
	    facts->body.n == 0           ? FAULT_NO_ANSWER :
	    facts->coding.n > 0          ? FAULT_CODING :
					   FAULT_NO_RPC;
}

/* Is there something that may have run? */
static bool
runs(const struct frame *request)
{
	return request == NULL || !json_key_is(request->method, "initialize");
}

struct frame *
fault_from_facts(const struct frame *request, const struct facts *facts,
    const char *host, const struct frame *refusal)
{
	struct fault_args args = { .request = request,
		.host = host,
		.why = facts->why,
		.size = facts->size,
		.status = facts->status,
		.retry_after_ms = facts->retry_after_ms,
		.waited_ms = facts->waited_ms,
		.challenge = facts->denial,
		.refusal = refusal };
	struct buf words;
	struct frame *f;
	enum fault_id id;

	buf_init(&words, 0);
	id = of_facts(facts, &args, &words);
	args.maybe = args.maybe && runs(request);
	f = fault_make(id, &args);
	buf_free(&words);
	return f;
}

/* Returns the row whose reason an answer of the client has that was not
 * delivered. */
static enum fault_id
undelivered_reason(const struct facts *facts)
{
	enum fault_id id = of_ending[facts->ending].row;

	if (facts->ending == ENDING_COMPLETE)
		return facts->status == 401                    ? FAULT_401 :
		    facts->status == 413                       ? FAULT_413 :
		    facts->status == 403 && facts->credentials ? FAULT_403 :
		    verdict_is_for_now(facts->status) ? FAULT_NOT_READY :
							FAULT_STATUS;
	if (id == FAULT_UNREACHABLE || id == FAULT_SETTING || id == FAULT_CUT)
		return facts->sent ? FAULT_CUT : FAULT_UNREACHABLE;
	return id;
}

struct frame *
fault_undelivered(const struct frame *request, const struct facts *facts,
    const char *host)
{
	struct fault_args args = { .request = request, .host = host };
	char status[sizeof "-2147483648"];

	if (facts == NULL)
		return fault_make(FAULT_ASKER_FORGOTTEN, &args);
	args.reason_of = undelivered_reason(facts);
	args.status = facts->status;
	args.challenge = facts->denial;
	args.sent = facts->sent;
	(void)snprintf(status, sizeof status, "%d", facts->status);
	args.why = facts->ending == ENDING_COMPLETE ? span_of(status) :
						      fault_why(facts);
	return fault_make(FAULT_UNDELIVERED, &args);
}
