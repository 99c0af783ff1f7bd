/*
 * The errors that mcpsplice makes. All texts are in one place, so that they
 * read alike: what happened, to which host, whether the call may have run, what
 * to do.
 */
#include "config.h"

#include "core/exchange/fault.h"

#include <stdlib.h>

#include "base/codec.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

enum { LABEL_MAX = 64, WORDS_MAX = 200, SERVER_MAX = 64 * 1024 };

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

static void
add_data(struct buf *data, const struct fault *fault)
{
	buf_adds(data, "{\"source\":\"mcpsplice\"");
	if (fault->reason != NULL)
		buf_addf(data, ",\"reason\":\"%s\"", fault->reason);
	buf_addf(data, ",\"ran\":\"%s\"", fault->maybe ? "maybe" : "no");
	if (fault->status != 0)
		buf_addf(data, ",\"httpStatus\":%d", fault->status);
	if (fault->retry_after_ms > 0)
		buf_addf(data, ",\"retryAfter\":%lld",
		    (long long)((fault->retry_after_ms + 999) / 1000));
	if (fault->server.n > 0 && fault->server.n <= SERVER_MAX) {
		buf_adds(data, ",\"server\":");
		buf_addspan(data, fault->server);
	}
	buf_addc(data, '}');
}

struct frame *
fault_frame(struct span id, const struct fault *fault, const char *fmt, ...)
{
	struct buf data;
	struct frame *f;
	char *message;
	va_list ap;

	va_start(ap, fmt);
	message = xvasprintf(fmt, ap);
	va_end(ap);
	buf_init(&data, 0);
	add_data(&data, fault);
	f = msg_error(id, fault->code == 0 ? FAULT_INTERNAL : fault->code,
	    message, buf_span(&data));
	buf_free(&data);
	free(message);
	return f;
}

/* Tells whether the call ran, and what that means for the next one. */
static const char *
advice(bool maybe)
{
	return maybe ? "It may have run: check before calling it again. "
		       "mcpsplice did not repeat it." :
		       "It did not run.";
}

/* Makes the error for an exchange that broke before a complete answer. */
static struct frame *
broken(const struct frame *request, const struct facts *facts, const char *host,
    const char *label, struct fault *fault)
{
	char *owned = xstrndup(facts->why.n == 0 ? "" : facts->why.p,
	    facts->why.n);
	struct frame *f;

	switch (facts->ending) {
	case ENDING_RESOLVE:
	case ENDING_CONNECT:
		fault->reason = "upstream_unreachable";
		f = fault_frame(request->id, fault,
		    "%s cannot be reached: %s. Nothing was sent. Check the "
		    "network, the URL, and whether the server is up.",
		    host, owned);
		break;
	case ENDING_TLS:
		fault->reason = "tls_refused";
		f = fault_frame(request->id, fault,
		    "No secure connection to %s: %s. Nothing was sent. If its "
		    "certificate is signed by an authority of your own, add "
		    "--cacert FILE.",
		    host, owned);
		break;
	case ENDING_PROXY:
		fault->reason = "proxy_refused";
		f = fault_frame(request->id, fault,
		    "The proxy refused the way to %s: %s. Nothing was sent, "
		    "not tried again. Check --proxy; for 407 add --proxy-user "
		    "or --proxy-negotiate.",
		    host, owned);
		break;
	case ENDING_CONFIG:
		fault->reason = "upstream_unreachable";
		f = fault_frame(request->id, fault,
		    "A setting cannot be used on the way to %s: %s. Nothing "
		    "was sent.",
		    host, owned);
		break;
	case ENDING_DENIED:
		fault->reason = "auth_failed";
		f = fault_frame(request->id, fault,
		    "No credentials for %s: %s. Nothing was sent.", host,
		    owned);
		break;
	case ENDING_SIGN_IN:
		fault->reason = "auth_required";
		f = fault_frame(request->id, fault,
		    "%s wants a sign-in first: %s. This was not sent: try "
		    "again when you have signed in.",
		    host, owned);
		break;
	case ENDING_IDLE:
		fault->reason = "upstream_timeout";
		fault->maybe = facts->sent;
		f = fault_frame(request->id, fault,
		    "%s was silent for too long while %s was running. %s", host,
		    label, advice(fault->maybe));
		break;
	default:
		fault->reason = "stream_lost";
		fault->maybe = facts->sent;
		f = fault_frame(request->id, fault,
		    "%s cut the connection while %s was running. %s", host,
		    label, advice(fault->maybe));
		break;
	}
	free(owned);
	return f;
}

/* Makes the error for a complete answer with an error status and no JSON-RPC
 * message. */
static struct frame *
wrong_status(const struct frame *request, const struct facts *facts,
    const char *host, struct fault *fault)
{
	struct buf words;
	struct frame *f;

	fault->maybe = facts->sent && facts->status >= 500 &&
	    facts->status != 503;
	fault->reason = "bad_upstream";
	buf_init(&words, 0);
	codec_visible(&words,
	    facts->location.n > 0 ? facts->location : facts->body, WORDS_MAX);
	if ((facts->status == 401 || facts->status == 403) &&
	    facts->why.n > 0) {
		fault->reason = facts->status == 401 ? "auth_required" :
						       "auth_failed";
		f = fault_frame(request->id, fault, "%s refused it (%d): %.*s",
		    host, facts->status, (int)facts->why.n, facts->why.p);
	} else if (facts->status == 401) {
		fault->reason = "auth_required";
		f = fault_frame(request->id, fault,
		    "%s wants credentials (401). Pass a token with "
		    "--bearer-env NAME or --bearer-file FILE, or a header with "
		    "-H.",
		    host);
	} else if (facts->status == 403) {
		fault->reason = "auth_failed";
		f = fault_frame(request->id, fault,
		    "%s refused these credentials (403)%s%s. Check the token "
		    "and its rights.",
		    host, words.n > 0 ? ": " : "", buf_str(&words));
	} else if (facts->status == 407) {
		fault->reason = "proxy_refused";
		f = fault_frame(request->id, fault,
		    "The proxy refused the way to %s: 407. Nothing was sent, "
		    "not tried again. Add --proxy-user or --proxy-negotiate.",
		    host);
	} else if (facts->status >= 300 && facts->status < 400) {
		f = fault_frame(request->id, fault,
		    "%s redirects (%d) to \"%s\". mcpsplice follows 307 and "
		    "308 on the same origin only: use the new URL if you trust "
		    "it.",
		    host, facts->status, buf_str(&words));
	} else if (facts->status == 429 ||
	    (facts->status >= 502 && facts->status <= 504)) {
		fault->reason = "upstream_unreachable";
		f = fault_frame(request->id, fault,
		    "%s is not ready to answer (%d). %sTry again later.", host,
		    facts->status,
		    fault->maybe ? "The call may have run. " : "");
	} else if (facts->media == MEDIA_HTML) {
		f = fault_frame(request->id, fault,
		    "%s answered with a web page, not MCP (%d, text/html). "
		    "Usually a network sign-in page or a wrong path: open a "
		    "browser, or check the URL.",
		    host, facts->status);
	} else if (facts->status == 404 || facts->status == 405) {
		f = fault_frame(request->id, fault,
		    "%s has no MCP server at this path (%d%s%.*s). Check the "
		    "URL.",
		    host, facts->status, facts->why.n > 0 ? "; " : "",
		    (int)facts->why.n, facts->why.n > 0 ? facts->why.p : "");
	} else {
		f = fault_frame(request->id, fault,
		    "%s answered %d, not MCP%s%s", host, facts->status,
		    words.n > 0 ? ": " : ".", buf_str(&words));
	}
	buf_free(&words);
	return f;
}

/* Makes the error for an answer with status 2xx that holds no JSON-RPC
 * answer. */
static struct frame *
no_answer(const struct frame *request, const struct facts *facts,
    const char *host, const char *label, struct fault *fault)
{
	fault->maybe = facts->sent;
	if (facts->verb == VERB_GET && facts->why.n > 0) {
		fault->maybe = false;
		fault->reason = "bad_upstream";
		return fault_frame(request->id, fault,
		    "%s is no HTTP+SSE server: %.*s. Check the URL, or leave "
		    "--transport out.",
		    host, (int)facts->why.n, facts->why.p);
	}
	if (facts->media == MEDIA_SSE) {
		fault->reason = "stream_lost";
		return fault_frame(request->id, fault,
		    "%s ended the answer while %s was running. %s", host, label,
		    advice(fault->maybe));
	}
	fault->reason = "bad_upstream";
	if (facts->media == MEDIA_HTML)
		return wrong_status(request, facts, host, fault);
	if (facts->media == MEDIA_JSON)
		return fault_frame(request->id, fault,
		    "%s answered %s with something that is no JSON-RPC message "
		    "(%d). %s",
		    host, label, facts->status, advice(fault->maybe));
	return fault_frame(request->id, fault,
	    "%s accepted %s (%d) but sent no answer. %s", host, label,
	    facts->status, advice(fault->maybe));
}

struct frame *
fault_from_facts(const struct frame *request, const struct facts *facts,
    const char *host, const struct frame *refusal)
{
	struct fault fault = { 0 };
	struct buf label;
	struct frame *f;

	fault.status = facts->status;
	fault.retry_after_ms = facts->retry_after_ms;
	if (refusal != NULL)
		fault.server = refusal->error;
	buf_init(&label, 0);
	fault_label(request, &label);
	if (facts->too_large) {
		fault.reason = "too_large";
		fault.maybe = true;
		f = fault_frame(request->id, &fault,
		    "The answer of %s to %s is too large: more than %llu "
		    "bytes. It did run. Ask for less, or raise --max-message.",
		    host, buf_str(&label), (unsigned long long)facts->size);
	} else if (facts->ending != ENDING_COMPLETE) {
		f = broken(request, facts, host, buf_str(&label), &fault);
	} else if (facts->status < 200 || facts->status > 299) {
		f = wrong_status(request, facts, host, &fault);
	} else {
		f = no_answer(request, facts, host, buf_str(&label), &fault);
	}
	buf_free(&label);
	return f;
}

/* Returns the reason token for an answer of the client that was not
 * delivered. */
static const char *
undelivered_reason(const struct facts *facts)
{
	switch (facts->ending) {
	case ENDING_COMPLETE:
		break;
	case ENDING_TLS:
		return "tls_refused";
	case ENDING_PROXY:
		return "proxy_refused";
	case ENDING_DENIED:
		return "auth_failed";
	case ENDING_SIGN_IN:
		return "auth_required";
	case ENDING_IDLE:
		return "upstream_timeout";
	default:
		return facts->sent ? "stream_lost" : "upstream_unreachable";
	}
	if (facts->status == 401 || facts->status == 403)
		return facts->status == 401 ? "auth_required" : "auth_failed";
	return facts->status == 429 ||
		(facts->status >= 502 && facts->status <= 504) ?
	    "upstream_unreachable" :
	    "bad_upstream";
}

/* Returns the same in words for users. The caller owns the string. */
static char *
undelivered_words(const struct facts *facts)
{
	if (facts->ending == ENDING_COMPLETE)
		return xasprintf("%d", facts->status);
	if (facts->why.n > 0)
		return xasprintf("%.*s", (int)facts->why.n, facts->why.p);
	return xstrdup(facts->ending == ENDING_IDLE ?
		"it did not acknowledge it in time" :
		"the connection was cut");
}

struct frame *
fault_undelivered(const struct frame *request, const struct facts *facts,
    const char *host)
{
	struct fault fault = { .reason = "session_lost", .maybe = true };
	struct buf label;
	struct frame *f;
	char *why;

	buf_init(&label, 0);
	fault_label(request, &label);
	if (facts == NULL) {
		f = fault_frame(request->id, &fault,
		    "%s forgot the session in which %s asked a question. The "
		    "answer was not delivered. It may have run in part: check "
		    "before calling it again.",
		    host, buf_str(&label));
	} else {
		fault.reason = undelivered_reason(facts);
		fault.status = facts->status;
		why = undelivered_words(facts);
		f = fault_frame(request->id, &fault,
		    "%s asked a question, and %s did not take the answer (%s). "
		    "It %s delivered. The call may have run in part: check "
		    "before calling it again.",
		    buf_str(&label), host, why,
		    facts->sent ? "may not have been" : "was not");
		free(why);
	}
	buf_free(&label);
	return f;
}

struct frame *
fault_duplicate(struct span id)
{
	struct fault fault = { .code = FAULT_REQUEST,
		.reason = "duplicate_id" };

	return fault_frame(id, &fault,
	    "Duplicate request id: the request before it with the same id has "
	    "no answer yet. Not sent.");
}
