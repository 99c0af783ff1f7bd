/*
 * Our own errors: code, data and words for every way an exchange can end. A
 * message names the host; what the network said in it is escaped and short.
 */
#include "config.h"

#include "core/exchange/fault.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "unit/unit.h"

#define HOST "mcp.test"

static struct frame *
tool_call(const char *name)
{
	char *params = xasprintf("{\"name\":\"%s\",\"arguments\":{}}", name);
	struct frame *f = msg_call(span_of("7"), "tools/call", span_of(params));

	free(params);
	return f;
}

static char *
message_of(const struct frame *f)
{
	struct buf b;
	char *text;

	buf_init(&b, 0);
	msg_error_text(f, &b);
	text = xstrdup(buf_str(&b));
	buf_free(&b);
	return text;
}

#define OWN "{\"source\":\"mcpsplice\""

static const struct {
	struct facts facts;
	const char *reason; /* with ran and httpStatus, as in data */
	const char *says[3];
} cases[] = {
	{ { .ending = ENDING_CONNECT },
	    ",\"reason\":\"upstream_unreachable\",\"ran\":\"no\"}",
	    { "cannot be reached", "Nothing was sent" } },
	{ { .ending = ENDING_RESOLVE },
	    ",\"reason\":\"upstream_unreachable\",\"ran\":\"no\"}",
	    { "cannot be reached", "Nothing was sent" } },
	{ { .ending = ENDING_TLS },
	    ",\"reason\":\"tls_refused\",\"ran\":\"no\"}",
	    { "No secure connection", "Nothing was sent", "https" } },
	{ { .ending = ENDING_PROXY },
	    ",\"reason\":\"proxy_refused\",\"ran\":\"no\"}",
	    { "Nothing was sent", "will not retry", "--noproxy" } },
	{ { .ending = ENDING_CONFIG },
	    ",\"reason\":\"upstream_unreachable\",\"ran\":\"no\"}",
	    { "Nothing was sent" } },
	{ { .ending = ENDING_DENIED },
	    ",\"reason\":\"auth_failed\",\"ran\":\"no\"}",
	    { "credentials", "Nothing was sent" } },
	{ { .ending = ENDING_SIGN_IN },
	    ",\"reason\":\"auth_required\",\"ran\":\"no\"}",
	    { "requires you to sign in: a reason.", "not sent", "try again" } },
	{ { .ending = ENDING_IDLE, .sent = true, .status = 200 },
	    ",\"reason\":\"upstream_timeout\",\"ran\":\"maybe\","
	    "\"httpStatus\":200}",
	    { "silent", "\"make\"", "did not repeat it" } },
	{ { .ending = ENDING_CUT, .sent = true },
	    ",\"reason\":\"stream_lost\",\"ran\":\"maybe\"}",
	    { "cut the connection before it answered \"make\"",
		"check before calling it again", "did not repeat it" } },
	{ { .ending = ENDING_CUT },
	    ",\"reason\":\"stream_lost\",\"ran\":\"no\"}", { "did not run" } },
	{ { .status = 200, .sent = true, .media = MEDIA_SSE },
	    ",\"reason\":\"stream_lost\",\"ran\":\"maybe\","
	    "\"httpStatus\":200}",
	    { "\"make\"", "The call may have run" } },
	{ { .status = 202, .sent = true },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":202}",
	    { "sent no answer", "202" } },
	{ { .status = 200, .sent = true, .media = MEDIA_JSON },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":200}",
	    { "sent no answer" } },
	{ { .status = 200,
	      .sent = true,
	      .media = MEDIA_OTHER,
	      .type = { "image/png\033", 10 },
	      .body = { "x", 1 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":200}",
	    { "not a JSON-RPC message (200, image/png" } },
	{ { .status = 200, .sent = true, .body = { "x", 1 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":200}",
	    { "not a JSON-RPC message (200, no Content-Type)" } },
	{ { .status = 401, .sent = true },
	    ",\"reason\":\"auth_required\",\"ran\":\"maybe\","
	    "\"httpStatus\":401}",
	    { "--bearer-env", "--bearer-file", "-H" } },
	{ { .status = 403,
	      .sent = true,
	      .credentials = true,
	      .body = { "no \033[1m", 7 } },
	    ",\"reason\":\"auth_failed\",\"ran\":\"maybe\","
	    "\"httpStatus\":403}",
	    { "refused these credentials (403): no ",
		"Check the token and its permissions. The call" } },
	{ { .status = 403,
	      .sent = true,
	      .credentials = true,
	      .denial = { "{\"error\":\"insufficient_scope\","
			  "\"scope\":\"gist repo\"}",
		  50 },
	      .body = { "Forbidden: insufficient scopes\n", 31 } },
	    ",\"reason\":\"auth_failed\",\"ran\":\"maybe\","
	    "\"httpStatus\":403,\"challenge\":",
	    { "(403): Forbidden: insufficient scopes (it requires the scope \"gist "
	      "repo\"). Check the token and its permissions. The call" } },
	{ { .status = 403,
	      .sent = true,
	      .credentials = true,
	      .denial = { "{\"error\":\"insufficient_scope\","
			  "\"error_description\":\"Required: a\"}",
		  64 },
	      .why = { "no rights", 9 } },
	    ",\"reason\":\"auth_failed\",\"ran\":\"maybe\","
	    "\"httpStatus\":403,\"challenge\":",
	    { "(403): no rights (it says \"Required: a\")" } },
	{ { .status = 403,
	      .sent = true,
	      .credentials = true,
	      .denial = { "{\"error\":\"insufficient_scope\","
			  "\"scope\":\"gist repo\"}",
		  50 },
	      .why = { "no gist repo", 12 } },
	    ",\"reason\":\"auth_failed\",\"ran\":\"maybe\","
	    "\"httpStatus\":403,\"challenge\":",
	    { "(403): no gist repo (it requires the scope \"gist repo\")" } },
	/* Nobody sent any: the text is the server's own. */
	{ { .status = 403, .sent = true, .body = { "no\n \nway\n\n", 9 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":403}",
	    { "refused the request (403): no way. The call may" } },
	{ { .status = 403,
	      .sent = true,
	      .body = { "Origin not allowed\r\n ", 21 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":403}",
	    { "(403): Origin not allowed. It checks the host name" } },
	{ { .status = 403,
	      .sent = true,
	      .challenge = { "Bearer", 6 },
	      .body = { "no host", 7 } },
	    ",\"reason\":\"auth_failed\",\"ran\":\"maybe\","
	    "\"httpStatus\":403}",
	    { "refused the request (403): no host. The call" } },
	{ { .status = 421,
	      .sent = true,
	      .body = { "Invalid Host header", 19 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"no\","
	    "\"httpStatus\":421}",
	    { "answered 421, not MCP: Invalid Host header. It checks" } },
	{ { .status = 400, .sent = true, .body = { "localhost ghosts", 16 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":400}",
	    { "not MCP: localhost ghosts (The call may" } },
	{ { .status = 407, .sent = true },
	    ",\"reason\":\"proxy_refused\",\"ran\":\"maybe\","
	    "\"httpStatus\":407}",
	    { "407", "--proxy-user", "--proxy-negotiate" } },
	{ { .ending = ENDING_TLS, .remedy = { "Renew it", 8 } },
	    ",\"reason\":\"tls_refused\",\"ran\":\"no\"}",
	    { "a reason. Nothing was sent. Renew it." } },
	{ { .ending = ENDING_CUT, .sent = true, .remedy = { "Mend it", 7 } },
	    ",\"reason\":\"stream_lost\",\"ran\":\"maybe\"}",
	    { "did not repeat it. Mend it." } },
	{ { .status = 400,
	      .sent = true,
	      .body = { "The plain HTTP request was sent to HTTPS port", 45 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"no\","
	    "\"httpStatus\":400}",
	    { "speaks https on this port", "Write https://" } },
	{ { .status = 400,
	      .sent = true,
	      .media = MEDIA_HTML,
	      .body = { "<h1>No required SSL certificate was sent", 40 } },
	    ",\"reason\":\"tls_refused\",\"ran\":\"no\","
	    "\"httpStatus\":400}",
	    { "requires a client certificate", "--cert FILE" } },
	{ { .status = 400,
	      .sent = true,
	      .body = { "The SSL certificate error", 25 } },
	    ",\"reason\":\"tls_refused\",\"ran\":\"no\","
	    "\"httpStatus\":400}",
	    { "rejected the client certificate given with --cert" } },
	{ { .status = 302, .sent = true, .location = { "http://x/", 9 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":302}",
	    { "redirects (302)", "http://x/" } },
	{ { .status = 302,
	      .sent = true,
	      .location = { "http://x/", 9 },
	      .remedy = { "Use https", 9 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":302}",
	    { "http://x/\". Use https. The call" } },
	{ { .status = 404, .sent = true },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":404}",
	    { "at this path (404; a reason)", "a trailing slash matters." } },
	{ { .status = 405, .sent = true },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":405}",
	    { "at this path (405; a reason)" } },
	{ { .status = 404, .sent = true, .media = MEDIA_HTML },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":404}",
	    { "no MCP server at this path (404" } },
	{ { .status = 200, .sent = true, .media = MEDIA_HTML },
	    ",\"reason\":\"bad_upstream\"",
	    { "web page, not MCP (200, text/html)", "open it in a browser" } },
	{ { .status = 429, .sent = true, .retry_after_ms = 61001 },
	    ",\"reason\":\"upstream_unreachable\",\"ran\":\"maybe\","
	    "\"httpStatus\":429,\"retryAfter\":62}",
	    { "429", "check before calling it again" } },
	{ { .status = 503, .sent = true, .retry_after_ms = -1 },
	    ",\"reason\":\"upstream_unreachable\",\"ran\":\"maybe\","
	    "\"httpStatus\":503}",
	    { "503" } },
	{ { .status = 502, .sent = true },
	    ",\"reason\":\"upstream_unreachable\",\"ran\":\"maybe\","
	    "\"httpStatus\":502}",
	    { "may have run" } },
	{ { .status = 410, .sent = true, .media = MEDIA_HTML },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":410}",
	    { "web page, not MCP (410, text/html)" } },
	{ { .status = 511, .sent = true, .media = MEDIA_HTML },
	    ",\"reason\":\"bad_upstream\"",
	    { "(511, text/html)", "the network wants you to log in" } },
	{ { .status = 403,
	      .sent = true,
	      .media = MEDIA_HTML,
	      .body = { "<h1>Blocked hosts: a</h1>", 25 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":403}",
	    { "web page (403): Blocked hosts: a.",
		"ask whoever runs the server. It checks the host name" } },
	{ { .status = 403,
	      .sent = true,
	      .credentials = true,
	      .media = MEDIA_HTML,
	      .body = { "<h1>No</h1>\n \n<p>entry.", 23 } },
	    ",\"reason\":\"auth_failed\",\"ran\":\"maybe\","
	    "\"httpStatus\":403}",
	    { "web page (403): No entry.", "This may be a firewall" } },
	{ { .status = 413, .sent = true, .media = MEDIA_HTML },
	    ",\"reason\":\"too_large\",\"ran\":\"maybe\",\"httpStatus\":413}",
	    { "too large for", "(413)", "Send less" } },
	{ { .status = 422,
	      .sent = true,
	      .media = MEDIA_HTML,
	      .body = { "<title>Unlucky</title>", 22 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":422}",
	    { "answered 422, not MCP: Unlucky" } },
	{ { .status = 500,
	      .sent = true,
	      .media = MEDIA_HTML,
	      .body = { "<html><title>Oops</title>", 25 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":500}",
	    { "failed (500): Oops (The call may have run" } },
	{ { .status = 500, .media = MEDIA_HTML, .body = { "<br>", 4 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"no\",\"httpStatus\":500}",
	    { "failed (500)." } },
	{ { .status = 504, .sent = true, .media = MEDIA_HTML },
	    ",\"reason\":\"upstream_unreachable\",\"ran\":\"maybe\","
	    "\"httpStatus\":504}",
	    { "gateway", "(504)", "may have run" } },
	{ { .status = 519, .sent = true, .media = MEDIA_HTML },
	    ",\"reason\":\"bad_upstream\"", { "failed (519)" } },
	{ { .status = 520, .sent = true, .media = MEDIA_HTML },
	    ",\"reason\":\"upstream_unreachable\"", { "gateway", "(520)" } },
	{ { .status = 530, .sent = true },
	    ",\"reason\":\"upstream_unreachable\"", { "gateway", "(530)" } },
	{ { .status = 531, .sent = true }, ",\"reason\":\"bad_upstream\"",
	    { "failed (531)" } },
	{ { .status = 500, .sent = true, .body = { "oops", 4 } },
	    ",\"reason\":\"bad_upstream\",\"ran\":\"maybe\","
	    "\"httpStatus\":500}",
	    { "500", "oops", "The call may have run" } },
	{ { .status = 500,
	      .sent = true,
	      .body = { "you sent bearer 0123456789abcdef", 32 } },
	    ",\"reason\":\"bad_upstream\"", { "you sent bearer (redacted)" } },
	{ { .status = 200,
	      .sent = true,
	      .too_large = true,
	      .size = 12345,
	      .ending = ENDING_CUT },
	    ",\"reason\":\"too_large\",\"ran\":\"maybe\",\"httpStatus\":200}",
	    { "12345 bytes", "--max-message", "The call did run" } },
};

START_TEST(test_facts)
{
	struct frame *request = tool_call("make"), *f;
	struct facts facts = cases[_i].facts;
	char *want = xasprintf("%s%s", OWN, cases[_i].reason), *message;
	struct span data;
	size_t k;

	/* A refusal has none but those of whoever gives the credentials. */
	if (facts.status != 401 && facts.status != 403)
		facts.why = span_of("a reason");
	f = fault_from_facts(request, &facts, HOST, NULL);
	ck_assert_int_eq(f->kind, FRAME_ERROR);
	ck_assert(span_is(f->id, "7"));
	ck_assert_int_eq(msg_error_code(f), FAULT_INTERNAL);
	data = json_get(f->error, "data");
	ck_assert_msg(data.n >= strlen(want) &&
		memcmp(data.p, want, strlen(want)) == 0,
	    "data is %.*s", (int)data.n, data.p);
	message = message_of(f);
	ck_assert_msg(strstr(message, HOST) != NULL, "%s", message);
	for (k = 0; k < 3 && cases[_i].says[k] != NULL; k++)
		ck_assert_msg(strstr(message, cases[_i].says[k]) != NULL,
		    "\"%s\" is not in: %s", cases[_i].says[k], message);
	for (k = 0; message[k] != '\0'; k++)
		ck_assert_msg((unsigned char)message[k] >= ' ',
		    "a control byte in: %s", message);
	if (facts.ending == ENDING_CONNECT || facts.ending == ENDING_TLS)
		ck_assert_ptr_nonnull(strstr(message, "a reason"));
	free(message);
	free(want);
	frame_unref(f);
	frame_unref(request);
}
END_TEST

/* Whoever gives the credentials knows more than the status. */
START_TEST(test_refused_credentials)
{
	static const char why[] = "the token is rejected. Sign in: %n \"x\"";
	struct facts facts = { .status = _i == 0 ? 401 : 403,
		.sent = true,
		.body = span_of("the server's words") };
	struct frame *request = tool_call("x"), *f;
	char *message, *want;
	struct span data;

	/* Not only up to a NUL, which a span need not have. */
	facts.why = (struct span){ why, sizeof why - 2 };
	f = fault_from_facts(request, &facts, HOST, NULL);
	data = json_get(f->error, "data");
	ck_assert(span_is(json_get(data, "reason"),
	    _i == 0 ? "\"auth_required\"" : "\"auth_failed\""));
	ck_assert(span_is(json_get(data, "ran"), "\"maybe\""));
	ck_assert(span_is(json_get(data, "httpStatus"),
	    _i == 0 ? "401" : "403"));
	message = message_of(f);
	want = xasprintf("%s refused the request (%d): %.*s", HOST,
	    facts.status, (int)facts.why.n, why);
	ck_assert_str_eq(message, want);
	free(want);
	free(message);
	frame_unref(f);
	frame_unref(request);
}
END_TEST

/* The server's own error is inside, byte for byte. */
START_TEST(test_server)
{
	static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":null,"
				   "\"error\":{ \"code\" : 1e0,\"x\":[1.50]}}";
	struct facts facts = { .status = 401, .sent = true };
	struct frame *request = tool_call("x"), *f;
	struct frame *refusal = frame_copy(span_of(text));

	ck_assert_int_eq(msg_parse(refusal, 10), MSG_OK);
	f = fault_from_facts(request, &facts, HOST, refusal);
	ck_assert(span_is(json_get(json_get(f->error, "data"), "server"),
	    "{ \"code\" : 1e0,\"x\":[1.50]}"));
	frame_unref(f);
	frame_unref(refusal);
	frame_unref(request);
}
END_TEST

/* A longer one is left out. */
START_TEST(test_large_server)
{
	struct facts facts = { .status = 401, .sent = true };
	struct frame *request = tool_call("x"), *f, *refusal;
	struct span shown;
	struct buf b;
	char *text;

	buf_init(&b, 0);
	buf_adds(&b, "{\"code\":1,\"message\":\"");
	while (b.n < BOUND_TEXT_BYTES + (size_t)_i - 2)
		buf_addc(&b, 'x');
	buf_adds(&b, "\"}");
	text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":%s}",
	    buf_str(&b));
	refusal = frame_copy(span_of(text));
	ck_assert_int_eq(msg_parse(refusal, 10), MSG_OK);
	free(text);
	f = fault_from_facts(request, &facts, HOST, refusal);
	shown = json_get(json_get(f->error, "data"), "server");
	ck_assert_uint_eq(shown.n, _i == 0 ? BOUND_TEXT_BYTES : 0);
	frame_unref(f);
	frame_unref(refusal);
	frame_unref(request);
	buf_free(&b);
}
END_TEST

/* What a server sends to be quoted is neither long nor dangerous. */
START_TEST(test_words_are_short_and_escaped)
{
	struct frame *request = tool_call("x"), *f;
	struct facts facts = { .status = 500, .sent = true };
	static char body[100000];
	size_t i;

	for (i = 0; i < sizeof body; i++)
		body[i] = (char)(i * 7);
	facts.body = (struct span){ body, sizeof body };
	f = fault_from_facts(request, &facts, HOST, NULL);
	ck_assert_uint_lt(f->text.n, 2500);
	for (i = 0; i < f->text.n; i++)
		ck_assert((unsigned char)f->text.p[i] >= ' ' &&
		    (unsigned char)f->text.p[i] < 0x7f);
	frame_unref(f);
	frame_unref(request);
}
END_TEST

static const struct {
	const char *method, *params, *want;
} labels[] = {
	{ "tools/call", "{\"name\":\"create_invoice\"}", "\"create_invoice\"" },
	{ "tools/call", "{\"name\":\"\"}", "tools/call" },
	{ "tools/call", "{\"name\":7}", "tools/call" },
	{ "tools/call", "{}", "tools/call" },
	{ "tools/call", NULL, "tools/call" },
	{ "tools/call", "[1]", "tools/call" },
	{ "resources/read", "{\"name\":\"x\"}", "resources/read" },
};

START_TEST(test_label)
{
	struct frame *f = msg_call(span_of("1"), labels[_i].method,
	    span_of(labels[_i].params));
	struct buf b;

	buf_init(&b, 0);
	fault_label(f, &b);
	ck_assert_str_eq(buf_str(&b), labels[_i].want);
	buf_free(&b);
	frame_unref(f);
}
END_TEST

/* A name is shortened and made visible. */
/* Some write a slash like that. */
START_TEST(test_label_with_an_escape)
{
	struct frame *f = frame_copy(
	    span_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
		    "\"tools\\/call\",\"params\":{\"name\":\"n\"}}"));
	struct buf b;

	buf_init(&b, 0);
	ck_assert_int_eq(msg_parse(f, 2), MSG_OK);
	fault_label(f, &b);
	ck_assert_str_eq(buf_str(&b), "\"n\"");
	buf_free(&b);
	frame_unref(f);
}
END_TEST

START_TEST(test_label_is_short)
{
	static char name[5000];
	struct frame *f;
	struct buf b;
	size_t i;

	memset(name, 'n', sizeof name - 1);
	memcpy(name, "a\\u001b[31m\\n", 12);
	f = tool_call(name);
	buf_init(&b, 0);
	fault_label(f, &b);
	ck_assert_uint_lt(b.n, 100);
	for (i = 0; i < b.n; i++)
		ck_assert((unsigned char)b.p[i] >= ' ' &&
		    (unsigned char)b.p[i] < 0x7f);
	buf_free(&b);
	frame_unref(f);
}
END_TEST

static const struct frame refusal = { .error = { "{\"c\":1}", 7 } };

/* The holes are filled as the message is made, and data has its order. */
static const struct {
	enum fault_id id;
	struct fault_args args;
	const char *want;
} frames[] = {
	{ FAULT_NO_JSON, { 0 },
	    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":"
	    "\"Parse error: this line is not valid JSON in UTF-8. Not sent.\","
	    "\"data\":" OWN ",\"ran\":\"no\"}}}" },
	{ FAULT_HELD_FULL,
	    { .id = { "\"x\"", 3 }, .host = "a \"b\"", .size = 7 },
	    "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32603,"
	    "\"message\":\"Too many requests are waiting for a \\\"b\\\" (7 bytes "
	    "held back). Not sent. Wait for answers, then try again.\","
	    "\"data\":" OWN ",\"reason\":\"busy\",\"ran\":\"no\"}}}" },
	{ FAULT_NO_SESSION,
	    { .id = { "1.50", 4 },
		.host = HOST,
		.why = { "why", 2 },
		.maybe = true,
		.status = 418,
		.retry_after_ms = 1000,
		.refusal = &refusal,
		.reason_of = FAULT_VERSION_REFUSED },
	    "{\"jsonrpc\":\"2.0\",\"id\":1.50,\"error\":{\"code\":-32603,"
	    "\"message\":\"Cannot open a session with " HOST ": wh. The "
	    "call may have run: check before calling it again. Try "
	    "again later.\",\"data\":" OWN
	    ",\"reason\":\"version_changed\",\"ran\":\"maybe\","
	    "\"httpStatus\":418,\"retryAfter\":1,\"server\":{\"c\":1}}}}" },
	{ FAULT_START, { .id = { "1", 1 }, .retry_after_ms = 1, .maybe = true },
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,"
	    "\"message\":\"mcpsplice cannot start: \",\"data\":" OWN
	    ",\"ran\":\"no\",\"retryAfter\":1}}}" },
};

START_TEST(test_frame)
{
	struct frame *f = fault_make(frames[_i].id, &frames[_i].args);

	ck_assert_int_eq(f->kind, FRAME_ERROR);
	ck_assert_msg(span_is(f->text, frames[_i].want), "%.*s", (int)f->text.n,
	    f->text.p);
	frame_unref(f);
}
END_TEST

/* The server began with the request before a retry, which no error of ours may
 * deny. */
START_TEST(test_retry)
{
	static const struct {
		const char *params, *ran;
		bool doubted;
	} retries[] = {
		{ "{\"name\":\"t\",\"requestState\":null}", "\"maybe\"", true },
		{ "{\"name\":\"t\",\"inputResponses\":{}}", "\"maybe\"", true },
		{ "{\"name\":\"t\",\"arguments\":{\"requestState\":1}}",
		    "\"no\"", false },
	};
	struct frame *request = msg_call(span_of("7"), "tools/call",
	    span_of(retries[_i].params));
	struct frame *f = fault_make(FAULT_NO_SESSION,
	    &(struct fault_args){ .request = request, .host = HOST });
	char *message = message_of(f);

	ck_assert(span_is(json_get(json_get(f->error, "data"), "ran"),
	    retries[_i].ran));
	ck_assert_ptr_nonnull(strstr(message, "The call did not run."));
	ck_assert_msg(retries[_i].doubted ==
		(strstr(message,
		     " The request before it may have run in part: "
		     "check before calling it again.") != NULL),
	    "%s", message);
	free(message);
	frame_unref(f);
	frame_unref(request);
}
END_TEST

/* Is there a row for each, and a value for each of its holes? A value is what
 * no row has in its own words. */
START_TEST(test_row)
{
	static const struct {
		const char *hole, *value;
	} holes[] = { { "{host}", "HOST" }, { "{call}", "\"CALL\"" },
		{ "{why}", "WHY" }, { "{name}", "a_name" },
		{ "{count}", "987" }, { "{size}", "654" }, { "{limit}", "321" },
		{ "{status}", "599" } };
	const struct fault_row *row = &fault_rows[_i];
	struct frame *request = tool_call("CALL"), *f;
	struct fault_args args = { .request = request,
		.host = "HOST",
		.why = span_of("WHY"),
		.name = span_of("a_name"),
		.count = 987,
		.size = 654,
		.limit = 321,
		.status = 599,
		.maybe = true };
	char *message;
	size_t k;

	ck_assert_ptr_nonnull(row->text);
	ck_assert_int_ne(row->code, 0);
	f = fault_make((enum fault_id)_i, &args);
	ck_assert(span_is(f->id, "7"));
	ck_assert_int_eq(msg_error_code(f), row->code);
	ck_assert(span_is(json_get(json_get(f->error, "data"), "ran"),
	    row->ran == RAN_NO ? "\"no\"" : "\"maybe\""));
	message = message_of(f);
	ck_assert_msg(strpbrk(message, "{|}") == NULL, "a hole is left: %s",
	    message);
	for (k = 0; k < COUNT(holes); k++)
		ck_assert_msg((strstr(row->text, holes[k].hole) != NULL) ==
			(strstr(message, holes[k].value) != NULL),
		    "%s and %s: %s", holes[k].hole, holes[k].value, message);
	free(message);
	frame_unref(f);
	frame_unref(request);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("fault");
	TCase *tc = tcase_create("fault");

	tcase_add_loop_test(tc, test_facts, 0, COUNT(cases));
	tcase_add_loop_test(tc, test_refused_credentials, 0, 2);
	tcase_add_test(tc, test_server);
	tcase_add_loop_test(tc, test_large_server, 0, 2);
	tcase_add_test(tc, test_words_are_short_and_escaped);
	tcase_add_loop_test(tc, test_label, 0, COUNT(labels));
	tcase_add_test(tc, test_label_with_an_escape);
	tcase_add_test(tc, test_label_is_short);
	tcase_add_loop_test(tc, test_frame, 0, COUNT(frames));
	tcase_add_loop_test(tc, test_retry, 0, 3);
	tcase_add_loop_test(tc, test_row, FAULT_NONE + 1, FAULT_COUNT);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
