/*
 * What one HTTP answer means: each rule, status, shape and ending by itself,
 * the patterns of users, results. Whole answers are in check_losses.c.
 */
#include "config.h"

#include "core/exchange/verdict.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/wire/msg.h"
#include "unit/unit.h"

enum { SESSION = 1, NO_SESSION = 0 };

static const struct verdict_rules no_rules = { NULL, 0, false };

static const char *const verdict_names[] = { [VERDICT_ANSWER] = "answer",
	[VERDICT_LOST] = "lost",
	[VERDICT_LOST_MAYBE] = "lost_maybe",
	[VERDICT_WORDS] = "words",
	[VERDICT_GATE] = "gate",
	[VERDICT_SUSPECT] = "suspect",
	[VERDICT_UNREADY] = "unready",
	[VERDICT_RETRY] = "retry",
	[VERDICT_FAIL] = "fail" };

/* Every rule by itself, as an error message to a request with the id 7. */
static const struct {
	int status;
	int code;
	const char *message;
	enum verdict want;
	const char *rule;
} errors[] = {
	/* Whatever the status is. */
	{ 200, -1, "Session terminated: already initialized", VERDICT_ANSWER,
	    "the text is not about a lost session" },
	{ 404, -1, "Session not found: it already exists", VERDICT_ANSWER,
	    "the text is not about a lost session" },
	{ 200, 32600, "Session terminated", VERDICT_WORDS,
	    "in-band: the session is unknown" },
	{ 200, 0, "SESSION  TERMINATED", VERDICT_WORDS,
	    "in-band: the session is unknown" },
	{ 299, -32603, "MCP error 32600: Session terminated", VERDICT_WORDS,
	    "in-band: the session is unknown" },
	/* A tool's error may have the same words, so a witness decides. */
	{ 200, -32603, "MCP error 32600: Session terminated (remote)",
	    VERDICT_WORDS, "in-band: the session is unknown" },
	{ 200, -1, "Session terminated by user", VERDICT_WORDS,
	    "in-band: the session is unknown" },
	{ 200, -1, "Session terminated. The shell exited with status 3",
	    VERDICT_WORDS, "in-band: the session is unknown" },
	{ 200, -1, "Invalid or expired session: log in to the bank again",
	    VERDICT_WORDS, "in-band: the session is unknown" },
	{ 400, -1, "Session terminated by user", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 200, -32602, "Invalid params: Invalid or expired session",
	    VERDICT_WORDS, "in-band: the session is unknown" },
	{ 300, -1, "Session terminated", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 400, -1, "Session terminated", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 401, -1, "Session terminated", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 409, -1, "Session terminated", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 502, -1, "Session terminated", VERDICT_RETRY, "502" },
	{ 520, -1, "Session terminated", VERDICT_RETRY, "520 to 530" },
	{ 503, -1, "Session terminated", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 404, -32602, "Session terminated", VERDICT_WORDS,
	    "404, the session is unknown" },
	{ 500, -1, "invalid OR expired session.", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 200, -1, "Session terminated before the request completed",
	    VERDICT_LOST_MAYBE, "the session ended while the request ran" },
	{ 404, -1, "Session expired while processing the request",
	    VERDICT_LOST_MAYBE, "the session ended while the request ran" },
	/* In-band. */
	{ 200, -1, "Server not initialized", VERDICT_GATE,
	    "in-band: not initialized" },
	{ 200, -1, "Session not found", VERDICT_WORDS,
	    "in-band: the session is unknown" },
	{ 299, -1, "initialize first", VERDICT_GATE,
	    "in-band: not initialized" },
	{ 200, -1, "Browser session is closed", VERDICT_SUSPECT,
	    "in-band: a session or connection is gone" },
	{ 200, -1, "Connection closed", VERDICT_SUSPECT,
	    "in-band: a session or connection is gone" },
	{ 200, -1, "Failed to forward the call", VERDICT_SUSPECT,
	    "in-band: a session or connection is gone" },
	{ 200, -1, "Session ID is required", VERDICT_ANSWER, "an error" },
	{ 200, -1, "The session belongs to another user", VERDICT_ANSWER,
	    "an error" },
	{ 200, -1, "Session terminate", VERDICT_ANSWER, "an error" },
	{ 200, -32001, "", VERDICT_ANSWER, "an error" },
	{ 199, -1, "Session not found", VERDICT_ANSWER, "an error" },
	{ 300, -1, "Session not found", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 200, -32602, "Invalid request parameters", VERDICT_GATE,
	    "in-band: invalid request parameters" },
	{ 400, -32602, "Invalid request parameters", VERDICT_ANSWER,
	    "refused, method, tool or resource not found" },
	/* 404. */
	{ 404, -32601, "Session not found", VERDICT_WORDS,
	    "404, the session is unknown" },
	{ 404, -1, "Server not initialized", VERDICT_GATE,
	    "refused, not initialized" },
	{ 404, -1, "initialize first", VERDICT_GATE,
	    "refused, not initialized" },
	{ 404, -32601, "Not Found", VERDICT_ANSWER,
	    "refused, method, tool or resource not found" },
	{ 404, -32602, "", VERDICT_ANSWER,
	    "refused, method, tool or resource not found" },
	{ 404, -32002, "no", VERDICT_ANSWER,
	    "refused, method, tool or resource not found" },
	{ 404, -32003, "no", VERDICT_ANSWER,
	    "refused, method, tool or resource not found" },
	{ 404, -32004, "a session id is required", VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
	{ 404, -32001, "no", VERDICT_SUSPECT, "404, no text about a session" },
	{ 404, -32005, "no", VERDICT_SUSPECT, "404, no text about a session" },
	{ 404, -32600, "no", VERDICT_SUSPECT, "404, no text about a session" },
	{ 404, -32603, "no", VERDICT_SUSPECT, "404, no text about a session" },
	{ 404, 32601, "no", VERDICT_SUSPECT, "404, no text about a session" },
	{ 404, -1, "Connection closed", VERDICT_SUSPECT,
	    "404, no text about a session" },
	{ 404, -1, "Session ID is required", VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
	{ 404, -1, "Browser session is closed", VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
	/* 401 and 403. */
	{ 401, -1, "Session not found", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 403, -1, "Session not found", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 401, -1, "Session terminated, log in", VERDICT_ANSWER,
	    "401, sign in again" },
	{ 403, -1, "Session expired, sign in", VERDICT_ANSWER,
	    "403, sign in again" },
	{ 401, -1, "session user mismatch", VERDICT_WORDS,
	    "refused, the session is another user's" },
	{ 403, -1, "session access denied", VERDICT_WORDS,
	    "refused, the session is another user's" },
	{ 401, -1, "Session ID is required", VERDICT_SUSPECT,
	    "refused, a session id is required" },
	{ 403, -1, "Session ID is required", VERDICT_SUSPECT,
	    "refused, a session id is required" },
	{ 401, -1, "Browser session is closed", VERDICT_ANSWER, "401" },
	{ 401, -1, "no", VERDICT_ANSWER, "401" },
	{ 403, -1, "no", VERDICT_ANSWER, "403" },
	/* The other refusals. */
	{ 400, -1, "Session not found", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 400, -1, "Session ID is required", VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
	{ 422, -1, "Session ID is required", VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
	{ 400, -1, "Browser session is closed", VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
	{ 422, -1, "Browser session is closed", VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
	{ 400, -1, "session user mismatch", VERDICT_SUSPECT, "refused" },
	{ 400, -1, "no", VERDICT_SUSPECT, "refused" },
	{ 407, -1, "Session not found", VERDICT_ANSWER, "407, of a proxy" },
	{ 405, -1, "Session not found", VERDICT_ANSWER,
	    "405, the method is not offered" },
	{ 409, -1, "Session not found", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 409, -1, "Conflict", VERDICT_SUSPECT, "refused" },
	/* These error codes are about a single request. */
	{ 200, -32020, "Session not found", VERDICT_ANSWER, "an error" },
	{ 404, -32021, "Session not found", VERDICT_ANSWER, "an error" },
	{ 200, -32022, "Session terminated", VERDICT_ANSWER, "an error" },
	/* A second hop wraps the refusal of the first in its message. */
	{ 200, -32603,
	    "Error POSTing to endpoint (HTTP 404): "
	    "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"error\\\":{\\\"code\\\":-32001,"
	    "\\\"message\\\":\\\"Session not found\\\"},\\\"id\\\":null}",
	    VERDICT_SUSPECT, "in-band: a session or connection is gone" },
	{ 500, -32603,
	    "upstream: {\\\"error\\\":{\\\"code\\\":-32600,"
	    "\\\"message\\\":\\\"Session not found\\\"}}",
	    VERDICT_SUSPECT, "refused, the text mentions a session" },
	{ 429, -1, "Session not found", VERDICT_RETRY, "429" },
	{ 410, -1, "Session not found", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 422, -1, "Session not found", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 499, -1, "Server not initialized", VERDICT_GATE,
	    "refused, not initialized" },
	{ 410, -1, "Session ID is required", VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
	{ 410, -1, "no", VERDICT_SUSPECT, "410" },
	/* Server errors. */
	{ 500, -1, "Session not found", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 503, -1, "Session not found", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 599, -1, "initialize first", VERDICT_GATE,
	    "refused, not initialized" },
	{ 502, -1, "Session not found", VERDICT_RETRY, "502" },
	{ 504, -1, "Session not found", VERDICT_RETRY, "504" },
	{ 503, -1, "Browser session is closed", VERDICT_RETRY, "503" },
	{ 500, -1, "Browser session is closed", VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
	{ 500, -1, "Session ID is required", VERDICT_ANSWER, "an error" },
	{ 501, -1, "no", VERDICT_ANSWER, "an error" },
};

static struct frame *
parsed(char *text)
{
	struct frame *f = frame_copy(span_of(text));

	ck_assert_msg(msg_parse(f, 10) == MSG_OK, "%s", text);
	free(text);
	return f;
}

static struct frame *
error_frame(const char *id, int code, const char *message)
{
	return parsed(
	    xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,"
		      "\"message\":\"%s\"}}",
		id, code, message));
}

static struct frame *
result_frame(const char *result)
{
	return parsed(xasprintf("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":%s}",
	    result));
}

static struct facts
answered(int status)
{
	return (struct facts){ .ending = ENDING_COMPLETE,
		.sent = true,
		.had_session = true,
		.status = status,
		.media = MEDIA_JSON,
		.retry_after_ms = -1 };
}

/* The id of the answer never counts. */
START_TEST(test_errors)
{
	static const char *const ids[] = { "7", "null", "\"server-error\"",
		"8" };
	struct facts facts = answered(errors[_i].status);
	struct frame *f;
	struct ruling r;
	int i;

	for (i = 0; i < COUNT(ids); i++) {
		f = error_frame(ids[i], errors[_i].code, errors[_i].message);
		r = verdict_error(&facts, f, &no_rules);
		ck_assert_msg(r.verdict == errors[_i].want, "%d %s: %s",
		    facts.status, errors[_i].message, verdict_names[r.verdict]);
		ck_assert_str_eq(r.rule, errors[_i].rule);
		frame_unref(f);
	}
}
END_TEST

/* What a session did before makes a doubt of an answer that says nothing. */
static const struct {
	int status;
	enum verb verb;
	bool worked, idle;
	const char *id;
	int code;
	const char *message;
	enum verdict want;
} histories[] = {
	{ 400, VERB_POST, true, false, "null", -32000,
	    "\\u4f1a\\u8bdd\\u4e0d\\u5b58\\u5728", VERDICT_SUSPECT },
	{ 400, VERB_POST, true, false, "null", -32000, "Sitzung unbekannt",
	    VERDICT_SUSPECT },
	{ 400, VERB_POST, true, false, "7", -32000, "Sitzung unbekannt",
	    VERDICT_SUSPECT },
	{ 400, VERB_POST, true, false, "\"server-error\"", -32000,
	    "\\u30bb\\u30c3\\u30b7\\u30e7\\u30f3\\u304c\\u3042"
	    "\\u308a\\u307e\\u305b\\u3093",
	    VERDICT_SUSPECT },
	{ 400, VERB_POST, true, false, "null", -32600,
	    "La session n'existe pas ou a expir\\u00e9", VERDICT_SUSPECT },
	{ 400, VERB_POST, true, false, "null", -32000,
	    "Bad Request: Sesi\\u00f3n "
	    "no encontrada",
	    VERDICT_SUSPECT },
	{ 400, VERB_POST, false, true, "null", -32000, "Sitzung unbekannt",
	    VERDICT_SUSPECT },
	{ 400, VERB_POST, false, false, "7", -32603, "", VERDICT_SUSPECT },
	{ 422, VERB_POST, true, true, "7", -32000, "no", VERDICT_SUSPECT },
	/* The error is about the request, not about the session. */
	{ 400, VERB_POST, true, true, "7", -32602, "no such argument",
	    VERDICT_ANSWER },
	{ 422, VERB_POST, false, false, "null", -32601, "no", VERDICT_ANSWER },
	{ 200, VERB_POST, true, true, "null", -32600, "Invalid Request",
	    VERDICT_SUSPECT },
	{ 200, VERB_POST, true, false, "null", -32600, "Invalid Request",
	    VERDICT_ANSWER },
	{ 200, VERB_POST, false, true, "null", -32600, "Invalid Request",
	    VERDICT_ANSWER },
	{ 200, VERB_POST, true, true, "7", -32600, "Invalid Request",
	    VERDICT_ANSWER },
	{ 200, VERB_POST, true, true, "7", -32603, "", VERDICT_SUSPECT },
	{ 200, VERB_POST, true, true, "7", -32603, "Internal error",
	    VERDICT_SUSPECT },
	{ 200, VERB_POST, true, true, "7", -32603, "Internal error: disk",
	    VERDICT_ANSWER },
	{ 409, VERB_GET, false, false, "null", -32000, "Conflict",
	    VERDICT_ANSWER },
	{ 409, VERB_GET, false, false, "null", -32000, "Session not found",
	    VERDICT_ANSWER },
};

START_TEST(test_histories)
{
	struct facts facts = answered(histories[_i].status);
	struct frame *f = error_frame(histories[_i].id, histories[_i].code,
	    histories[_i].message);

	facts.verb = histories[_i].verb;
	facts.worked = histories[_i].worked;
	facts.idle = histories[_i].idle;
	ck_assert_int_eq(verdict_error(&facts, f, &no_rules).verdict,
	    histories[_i].want);
	frame_unref(f);
}
END_TEST

/* Right after a renewal, "not initialized" does not mean a lost session. */
static const struct {
	int status;
	const char *message;
	enum verdict want;
} fresh[] = {
	{ 200, "Server not initialized", VERDICT_UNREADY },
	{ 200, "initialize first", VERDICT_UNREADY },
	{ 299, "Invalid request parameters", VERDICT_UNREADY },
	{ 200, "INVALID request parameters", VERDICT_UNREADY },
	{ 200, "Invalid request parameters: x", VERDICT_ANSWER },
	{ 200, "Invalid request parameter", VERDICT_ANSWER },
	{ 200, "Session not found", VERDICT_WORDS },
	{ 200, "Session terminated", VERDICT_WORDS },
	{ 400, "Server not initialized", VERDICT_GATE },
	{ 400, "Invalid request parameters", VERDICT_ANSWER },
	{ 404, "initialize first", VERDICT_GATE },
};

START_TEST(test_fresh)
{
	struct facts facts = answered(fresh[_i].status);
	struct frame *f = error_frame("7", -32602, fresh[_i].message);

	facts.fresh = true;
	ck_assert_msg(verdict_error(&facts, f, &no_rules).verdict ==
		fresh[_i].want,
	    "%s", fresh[_i].message);
	frame_unref(f);
}
END_TEST

/* The credentials are good as far as is known: a 401 or 403 that says nothing
 * else may be the session's. */
static const struct {
	int status;
	const char *text;
	enum verdict want; /* of an error; */
	const char *rule;  /* the same of a body */
} credentials_known_good[] = {
	{ 401, "", VERDICT_WORDS, "401 or 403 to good credentials" },
	{ 401, "unauthorized", VERDICT_WORDS,
	    "401 or 403 to good credentials" },
	{ 403, "", VERDICT_WORDS, "401 or 403 to good credentials" },
	{ 401, "Session not found", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 401, "Session ID is required", VERDICT_SUSPECT,
	    "refused, a session id is required" },
	{ 401, "Session expired, sign in", VERDICT_ANSWER,
	    "401, sign in again" },
	{ 403, "Session expired, sign in", VERDICT_ANSWER,
	    "403, sign in again" },
	{ 404, "", VERDICT_SUSPECT, "404, no text about a session" },
	{ 429, "", VERDICT_RETRY, "429" },
};

START_TEST(test_trusted)
{
	struct facts facts = answered(credentials_known_good[_i].status);
	struct frame *f = error_frame("7", -32001,
	    credentials_known_good[_i].text);
	enum verdict want = credentials_known_good[_i].want;
	struct ruling r;

	facts.credentials_known_good = true;
	r = verdict_error(&facts, f, &no_rules);
	ck_assert_msg(r.verdict == want, "%s", verdict_names[r.verdict]);
	ck_assert_str_eq(r.rule, credentials_known_good[_i].rule);
	facts.body = span_of(credentials_known_good[_i].text);
	r = verdict_bare(&facts, &no_rules);
	if (want == VERDICT_ANSWER)
		want = VERDICT_FAIL; /* there is none to pass on */
	ck_assert_msg(r.verdict == want, "%s", verdict_names[r.verdict]);
	ck_assert_str_eq(r.rule, credentials_known_good[_i].rule);
	/* A request without a session cannot show that one was lost. */
	facts.had_session = false;
	ck_assert_int_ne(verdict_bare(&facts, &no_rules).verdict,
	    VERDICT_WORDS);
	ck_assert_int_ne(verdict_error(&facts, f, &no_rules).verdict,
	    VERDICT_WORDS);
	frame_unref(f);
}
END_TEST

/* Where the words of an error may stand, and where not. */
static const struct {
	const char *error;
	enum verdict want;
} members[] = {
	{ "{\"code\":1,\"message\":\"Session not found\"}", VERDICT_WORDS },
	{ "{\"code\":1,\"message\":\"\\u0053ession not f\\u006fund\"}",
	    VERDICT_WORDS },
	{ "{\"code\":1,\"mess\\u0061ge\":\"Session not found\"}",
	    VERDICT_WORDS },
	{ "{\"code\":1,\"message\":\"x\",\"data\":{\"message\":"
	  "\"Session not found\"}}",
	    VERDICT_WORDS },
	{ "{\"code\":1,\"message\":\"x\",\"data\":"
	  "\"Session not found\"}",
	    VERDICT_WORDS },
	{ "{\"code\":1,\"message\":\"x\",\"data\":"
	  "{\"requiresReinitialize\":true}}",
	    VERDICT_WORDS },
	{ "{\"code\":1,\"message\":\"x\",\"data\":"
	  "{\"requiresReinitialize\":\"true\"}}",
	    VERDICT_SUSPECT },
	{ "{\"code\":1,\"message\":\"x\",\"data\":"
	  "{\"session_expired\":true}}",
	    VERDICT_WORDS },
	{ "{\"code\":1,\"message\":\"x\",\"data\":"
	  "{\"recovery\":\"reinitialize\"}}",
	    VERDICT_WORDS },
	{ "{\"code\":1,\"message\":\"x\",\"data\":"
	  "{\"recovery\":\"initialize\"}}",
	    VERDICT_GATE },
	{ "{\"code\":1,\"message\":\"x\",\"data\":"
	  "{\"condition\":\"session_expired\"}}",
	    VERDICT_WORDS },
	{ "{\"code\":1,\"message\":\"x\",\"data\":"
	  "{\"recovery\":\"retry\",\"retryable\":true}}",
	    VERDICT_SUSPECT },
	{ "{\"code\":1,\"message\":\"x\",\"data\":{\"input\":"
	  "\"Session not found\"}}",
	    VERDICT_SUSPECT },
	{ "{\"code\":1,\"message\":\"x\",\"data\":[\"Session not "
	  "found\"]}",
	    VERDICT_SUSPECT },
	{ "{\"code\":1,\"message\":\"x\",\"data\":{\"a\":{\"message\":"
	  "\"Session not found\"}}}",
	    VERDICT_SUSPECT },
	{ "{\"code\":1,\"message\":\"Session not\",\"data\":\"found\"}",
	    VERDICT_SUSPECT },
	{ "{\"code\":1,\"message\":\"\"}", VERDICT_SUSPECT },
};

START_TEST(test_members)
{
	struct facts facts = answered(400);
	struct frame
	    *f = parsed(xasprintf("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":%s}",
		members[_i].error));

	ck_assert_msg(verdict_error(&facts, f, &no_rules).verdict ==
		members[_i].want,
	    "%s", members[_i].error);
	frame_unref(f);
}
END_TEST

/* Endings, shapes and verbs of an answer that is no message. */
static const struct {
	enum ending ending;
	bool sent;
	int status;
	int had_session;
	enum media media;
	enum verb verb;
	const char *body;
	enum verdict want;
	const char *rule;
} bare[] = {
	/* Nothing was sent. */
	{ ENDING_RESOLVE, false, 0, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_RETRY, "nothing was sent" },
	{ ENDING_CONNECT, false, 0, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_RETRY, "nothing was sent" },
	{ ENDING_CUT, false, 0, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_RETRY, "nothing was sent" },
	/* It may have been: not even the words count. */
	{ ENDING_CUT, true, 0, SESSION, MEDIA_NONE, VERB_POST, "", VERDICT_FAIL,
	    "cut before the answer" },
	{ ENDING_CUT, true, 404, SESSION, MEDIA_NONE, VERB_POST,
	    "Session not found", VERDICT_FAIL, "cut before the answer" },
	{ ENDING_IDLE, true, 200, SESSION, MEDIA_SSE, VERB_POST, "",
	    VERDICT_FAIL, "no answer" },
	{ ENDING_ABORTED, true, 404, SESSION, MEDIA_NONE, VERB_POST,
	    "Session not found", VERDICT_FAIL, "no answer" },
	{ ENDING_TLS, false, 0, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_FAIL, "no answer" },
	{ ENDING_PROXY, false, 407, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_FAIL, "no answer" },
	{ ENDING_CONFIG, false, 0, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_FAIL, "no answer" },
	{ ENDING_DENIED, false, 0, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_FAIL, "no answer" },
	/* 404. */
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_SUSPECT, "404, no text about a session" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_NONE, VERB_GET, "",
	    VERDICT_SUSPECT, "404, no text about a session" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_NONE, VERB_GET,
	    "no such session", VERDICT_WORDS, "404, the session is unknown" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_NONE, VERB_DELETE,
	    "no such session", VERDICT_FAIL, "no message in the answer" },
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_NONE, VERB_POST,
	    "no such session", VERDICT_SUSPECT,
	    "the text mentions a session, but the server gave no session id" },
	/* No session could be lost, but the server may be another. */
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_SUSPECT, verdict_elsewhere },
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_HTML, VERB_POST,
	    "<pre>Cannot POST /mcp</pre>", VERDICT_SUSPECT, verdict_elsewhere },
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_OTHER, VERB_POST,
	    "<h1>404 Not Found</h1>", VERDICT_SUSPECT, verdict_elsewhere },
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_HTML, VERB_POST,
	    "<p>404 page not found</p>", VERDICT_FAIL,
	    "no message in the answer" },
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_HTML, VERB_POST,
	    "no such tool", VERDICT_FAIL, "no message in the answer" },
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_JSON, VERB_POST,
	    "{\"detail\":\"Not Found\"}", VERDICT_FAIL,
	    "no message in the answer" },
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_NONE, VERB_GET, "",
	    VERDICT_FAIL, "no message in the answer" },
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_NONE, VERB_DELETE, "",
	    VERDICT_FAIL, "no message in the answer" },
	{ ENDING_CUT, true, 404, NO_SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_FAIL, "cut before the answer" },
	{ ENDING_COMPLETE, true, 405, NO_SESSION, MEDIA_HTML, VERB_POST,
	    "<p>no", VERDICT_SUSPECT, verdict_elsewhere },
	{ ENDING_COMPLETE, true, 400, NO_SESSION, MEDIA_HTML, VERB_POST,
	    "<p>no", VERDICT_FAIL, "no message in the answer" },
	{ ENDING_COMPLETE, true, 200, NO_SESSION, MEDIA_HTML, VERB_POST,
	    "<p>sign in", VERDICT_FAIL, "no message in the answer" },
	{ ENDING_COMPLETE, true, 503, NO_SESSION, MEDIA_HTML, VERB_POST,
	    "<p>no", VERDICT_RETRY, "refused for now" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<p>Session terminated", VERDICT_SUSPECT, "404, a web page" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_JSON, VERB_POST,
	    "{\"detail\":1}", VERDICT_SUSPECT, "404, no text about a session" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_OTHER, VERB_POST,
	    "{\"error\":{\"code\":-32601,\"message\":\"no\"}}", VERDICT_FAIL,
	    "refused, method, tool or resource not found" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_OTHER, VERB_POST,
	    "{\"jsonRpcError\":{\"code\":-32601,\"message\":\"no\"}}",
	    VERDICT_FAIL, "refused, method, tool or resource not found" },
	/* Web pages. */
	{ ENDING_COMPLETE, true, 200, SESSION, MEDIA_HTML, VERB_POST,
	    "<p>Session terminated", VERDICT_FAIL, "the body is a web page" },
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_NONE, VERB_POST,
	    " \n<p>Session terminated", VERDICT_FAIL,
	    "the body is a web page" },
	{ ENDING_COMPLETE, true, 502, SESSION, MEDIA_HTML, VERB_POST, "<p>x",
	    VERDICT_RETRY, "the body is a web page" },
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_HTML, VERB_POST,
	    "{\"error\":\"Session not found\"}", VERDICT_WORDS,
	    "refused, the session is unknown" },
	/* Only what one can see of it counts, and that only against it. */
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<p>404 page not found</p>", VERDICT_FAIL,
	    "the text is not about a lost session" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "404 page not found", VERDICT_FAIL,
	    "the text is not about a lost session" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<i>404</i> page not found", VERDICT_SUSPECT, "404, a web page" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<SCRIPT a>404 page not found</script >", VERDICT_SUSPECT,
	    "404, a web page" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<style>x</style><p>404 page not found", VERDICT_FAIL,
	    "the text is not about a lost session" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<script>a<b> 404 page not found</script>", VERDICT_SUSPECT,
	    "404, a web page" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<style>404 page not found", VERDICT_SUSPECT, "404, a web page" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<scripts>404 page not found", VERDICT_FAIL,
	    "the text is not about a lost session" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<!-- > 404 page not found -->", VERDICT_SUSPECT,
	    "404, a web page" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<!-- 404 page not found", VERDICT_SUSPECT, "404, a web page" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST,
	    "<!-- x -->404 page not found", VERDICT_FAIL,
	    "the text is not about a lost session" },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, VERB_POST, "<",
	    VERDICT_SUSPECT, "404, a web page" },
	/* Plain text, and text that begins like JSON but is not JSON. */
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_OTHER, VERB_POST,
	    "\xEF\xBB\xBF \r\nSession not found\r\n", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_JSON, VERB_POST,
	    "\xEF\xBB\xBF{\"error\":\"Session not found\"}\n", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_JSON, VERB_POST,
	    "{\"error\":\"Session not found \xFF\"}", VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_JSON, VERB_POST,
	    "{\"error\":\"Session not found\",\"stackTrace\":[\"x",
	    VERDICT_SUSPECT, "refused, the text mentions a session" },
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_JSON, VERB_POST,
	    "{\"error\":{\"code\":-32601,\"data\":{\"x\":true}},\"x\":",
	    VERDICT_SUSPECT, "refused" },
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_JSON, VERB_POST,
	    "{\"stackTrace\":\"Session not found\"}", VERDICT_SUSPECT,
	    "refused" },
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_JSON, VERB_POST,
	    "{\"data\":\"Session not found\"}", VERDICT_SUSPECT, "refused" },
	{ ENDING_COMPLETE, true, 400, NO_SESSION, MEDIA_OTHER, VERB_POST,
	    "Invalid or expired session", VERDICT_SUSPECT,
	    "the text mentions a session, but the server gave no session id" },
	{ ENDING_COMPLETE, true, 500, NO_SESSION, MEDIA_OTHER, VERB_POST,
	    "Session not found", VERDICT_SUSPECT,
	    "the text mentions a session, but the server gave no session id" },
	{ ENDING_COMPLETE, true, 503, NO_SESSION, MEDIA_OTHER, VERB_POST,
	    "Session not found", VERDICT_SUSPECT,
	    "the text mentions a session, but the server gave no session id" },
	{ ENDING_COMPLETE, true, 401, NO_SESSION, MEDIA_OTHER, VERB_POST,
	    "Session expired", VERDICT_FAIL, "no message in the answer" },
	{ ENDING_COMPLETE, true, 403, NO_SESSION, MEDIA_OTHER, VERB_POST,
	    "Unknown session", VERDICT_FAIL, "no message in the answer" },
	{ ENDING_COMPLETE, true, 200, SESSION, MEDIA_SSE, VERB_POST,
	    "{\"error\":\"Session not found\"}", VERDICT_WORDS,
	    "in-band: the session is unknown" },
	/* The server has another transport, or requires sessions now. */
	{ ENDING_COMPLETE, true, 405, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_SUSPECT, verdict_elsewhere },
	{ ENDING_COMPLETE, true, 405, NO_SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_SUSPECT, verdict_elsewhere },
	{ ENDING_COMPLETE, true, 405, SESSION, MEDIA_NONE, VERB_GET, "",
	    VERDICT_FAIL, "405, the method is not offered" },
	{ ENDING_COMPLETE, true, 400, NO_SESSION, MEDIA_OTHER, VERB_POST,
	    "No valid session ID provided", VERDICT_SUSPECT,
	    "the text mentions a session, but the server gave no session id" },
	{ ENDING_COMPLETE, true, 401, NO_SESSION, MEDIA_OTHER, VERB_POST,
	    "No valid session ID provided", VERDICT_FAIL,
	    "no message in the answer" },
	/* The rest. */
	{ ENDING_COMPLETE, true, 429, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_RETRY, "429" },
	{ ENDING_COMPLETE, true, 503, NO_SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_RETRY, "refused for now" },
	{ ENDING_COMPLETE, true, 502, NO_SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_RETRY, "refused for now" },
	{ ENDING_COMPLETE, true, 504, NO_SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_RETRY, "refused for now" },
	{ ENDING_COMPLETE, true, 429, NO_SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_RETRY, "refused for now" },
	{ ENDING_COMPLETE, true, 519, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_FAIL, "no message in the answer" },
	{ ENDING_COMPLETE, true, 520, SESSION, MEDIA_HTML, VERB_POST,
	    "<h1>Web server is returning an unknown error</h1>", VERDICT_RETRY,
	    "the body is a web page" },
	{ ENDING_COMPLETE, true, 530, NO_SESSION, MEDIA_OTHER, VERB_POST,
	    "error code: 1033", VERDICT_RETRY, "refused for now" },
	{ ENDING_COMPLETE, true, 531, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_FAIL, "no message in the answer" },
	{ ENDING_COMPLETE, true, 500, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_FAIL, "no message in the answer" },
	{ ENDING_COMPLETE, true, 202, SESSION, MEDIA_NONE, VERB_POST, "",
	    VERDICT_FAIL, "no message in the answer" },
};

START_TEST(test_bare)
{
	struct facts facts = { .ending = bare[_i].ending,
		.sent = bare[_i].sent,
		.status = bare[_i].status,
		.had_session = bare[_i].had_session == SESSION,
		.media = bare[_i].media,
		.verb = bare[_i].verb,
		.body = span_of(bare[_i].body) };
	struct ruling r = verdict_bare(&facts, &no_rules);

	ck_assert_msg(r.verdict == bare[_i].want, "%d %s: %s", facts.status,
	    bare[_i].body, verdict_names[r.verdict]);
	ck_assert_str_eq(r.rule, bare[_i].rule);
}
END_TEST

/* A body is a span: nothing behind it counts, and NULs do not end it. */
START_TEST(test_spans)
{
	static const char text[] = "a\0Session terminated\0x";
	struct facts facts = answered(400);

	facts.body = (struct span){ text, sizeof text - 1 };
	ck_assert_int_eq(verdict_bare(&facts, &no_rules).verdict,
	    VERDICT_WORDS);
	facts.body.n = 19;
	ck_assert_int_eq(verdict_bare(&facts, &no_rules).verdict,
	    VERDICT_SUSPECT);
	facts.body = (struct span){ NULL, 0 };
	ck_assert_int_eq(verdict_bare(&facts, &no_rules).verdict,
	    VERDICT_SUSPECT);
}
END_TEST

/* A result only counts when it is a short error, and only for those who said
 * that it does. */
static const struct {
	const char *result;
	bool had_session;
	enum verdict want; /* with in_results */
	bool hint;         /* without */
} results[] = {
	{ "{\"content\":[{\"type\":\"text\",\"text\":\"Session terminated\"}],"
	  "\"isError\":true}",
	    true, VERDICT_LOST, true },
	{ "{\"isError\":true,\"content\":[{\"text\":\"x\"},{\"text\":"
	  "\"invalid or expired session\"}]}",
	    true, VERDICT_LOST, true },
	{ "{\"isError\":true,\"content\":[{\"text\":\"MCP session not "
	  "found\"}]}",
	    true, VERDICT_LOST, true },
	{ "{\"isError\":true,\"content\":[{\"text\":\"Server not "
	  "initialized\"}]}",
	    true, VERDICT_LOST, true },
	{ "{\"isError\":true,\"content\":[{\"text\":\"{\\\"error\\\":"
	  "\\\"Session not found\\\"}\"}]}",
	    true, VERDICT_LOST, true },
	{ "{\"isError\":true,\"content\":[{\"text\":\"{\\\"data\\\":"
	  "\\\"Session not found\\\"}\"}]}",
	    true, VERDICT_ANSWER, false },
	{ "{\"isError\":true,\"content\":[{\"text\":\"Session terminated "
	  "before the request completed\"}]}",
	    true, VERDICT_LOST_MAYBE, true },
	{ "{\"isError\":true,\"content\":[{\"text\":\"Session not found\"}]}",
	    false, VERDICT_ANSWER, false },
	{ "{\"isError\":false,\"content\":[{\"text\":\"Session not found\"}]}",
	    true, VERDICT_ANSWER, false },
	{ "{\"isError\":\"true\",\"content\":[{\"text\":\"Session not "
	  "found\"}]}",
	    true, VERDICT_ANSWER, false },
	{ "{\"content\":[{\"text\":\"Session not found\"}]}", true,
	    VERDICT_ANSWER, false },
	{ "{\"isError\":true,\"content\":[{\"text\":\"browser session not "
	  "found\"}]}",
	    true, VERDICT_ANSWER, false },
	{ "{\"isError\":true,\"content\":[{\"text\":\"Session not found, it "
	  "already exists\"}]}",
	    true, VERDICT_ANSWER, false },
	{ "{\"isError\":true,\"content\":[{\"text\":\"Session id is "
	  "required\"}]}",
	    true, VERDICT_ANSWER, false },
	{ "{\"isError\":true,\"structuredContent\":{\"text\":\"Session not "
	  "found\"}}",
	    true, VERDICT_ANSWER, false },
	{ "{\"isError\":true,\"content\":\"Session not found\"}", true,
	    VERDICT_ANSWER, false },
	{ "{\"isError\":true,\"content\":[1,null,{\"text\":7}]}", true,
	    VERDICT_ANSWER, false },
	{ "{\"isError\":true,\"content\":[{\"text\":\"our word: void\"}]}",
	    true, VERDICT_ANSWER, false },
	{ "[]", true, VERDICT_ANSWER, false },
	{ "\"Session terminated\"", true, VERDICT_ANSWER, false },
};

START_TEST(test_results)
{
	const struct verdict_rules in = { NULL, 0, true };
	struct facts facts = answered(200);
	struct frame *f = result_frame(results[_i].result);
	bool hint = !results[_i].hint;
	struct ruling r;

	facts.had_session = results[_i].had_session;
	r = verdict_result(&facts, f, &no_rules, &hint);
	ck_assert_int_eq(r.verdict, VERDICT_ANSWER);
	ck_assert_msg(hint == results[_i].hint, "%s", results[_i].result);
	hint = true;
	r = verdict_result(&facts, f, &in, &hint);
	ck_assert_msg(r.verdict == results[_i].want, "%s: %s",
	    results[_i].result, verdict_names[r.verdict]);
	ck_assert(!hint);
	ck_assert(*r.rule != '\0');
	frame_unref(f);
}
END_TEST

/* 8 KiB may be a refusal; a byte more is content. */
START_TEST(test_result_size)
{
	static const char start[] = "{\"isError\":true,\"content\":[{\"text\":"
				    "\"Session terminated\",\"x\":\"";
	static const char end[] = "\"}]}";
	struct facts facts = answered(200);
	struct frame *f;
	struct buf b;
	bool hint;
	int over;

	for (over = 0; over < 2; over++) {
		buf_init(&b, 0);
		buf_adds(&b, start);
		while (b.n + sizeof end - 1 < 8192 + (size_t)over)
			buf_addc(&b, 'x');
		buf_adds(&b, end);
		f = result_frame(buf_str(&b));
		verdict_result(&facts, f, &no_rules, &hint);
		ck_assert_int_eq(hint, over == 0);
		frame_unref(f);
		buf_free(&b);
	}
}
END_TEST

static regex_t patterns[2];

static void
compile(void)
{
	const int flags = REG_EXTENDED | REG_ICASE | REG_NOSUB;

	ck_assert_int_eq(regcomp(&patterns[0], "^our word: (void|null)", flags),
	    0);
	ck_assert_int_eq(regcomp(&patterns[1], "tenant .* asleep", flags), 0);
}

static void
release(void)
{
	regfree(&patterns[0]);
	regfree(&patterns[1]);
}

START_TEST(test_patterns)
{
	static const struct {
		int status;
		const char *message;
		enum verdict want;
	} cases[] = {
		{ 200, "OUR word: void", VERDICT_WORDS },
		{ 500, "Tenant 7 is asleep", VERDICT_WORDS },
		{ 429, "tenant 7 is asleep", VERDICT_WORDS },
		{ 401, "tenant 7 is asleep, log in", VERDICT_WORDS },
		{ 200, "our word: avoid", VERDICT_ANSWER },
		{ 200, "", VERDICT_ANSWER },
		{ 404, "tenant asleep, already initialized", VERDICT_ANSWER },
		{ 200,
		    "tenant x asleep: session terminated before the request "
		    "completed",
		    VERDICT_LOST_MAYBE },
	};
	const struct verdict_rules mine = { patterns, 2, false };
	struct facts facts;
	struct frame *f;
	int i;

	compile();
	for (i = 0; i < COUNT(cases); i++) {
		facts = answered(cases[i].status);
		f = error_frame("7", 1, cases[i].message);
		ck_assert_msg(verdict_error(&facts, f, &mine).verdict ==
			cases[i].want,
		    "%s", cases[i].message);
		facts.had_session = false;
		ck_assert_int_ne(verdict_error(&facts, f, &mine).verdict,
		    VERDICT_WORDS);
		frame_unref(f);
	}
	release();
}
END_TEST

START_TEST(test_patterns_bare)
{
	static const char nul[] = "\0tenant\0x asleep";
	const struct verdict_rules mine = { patterns, 2, false };
	struct facts facts = answered(400);
	struct buf b;
	size_t over;

	compile();
	facts.body = span_of("<p>tenant <b>7</b> is asleep</p>");
	ck_assert_int_eq(verdict_bare(&facts, &mine).verdict, VERDICT_WORDS);
	facts.body = (struct span){ nul, sizeof nul - 1 };
	ck_assert_int_eq(verdict_bare(&facts, &mine).verdict, VERDICT_WORDS);
	/* 16 KiB are looked at: the last byte decides. */
	for (over = 0; over < 2; over++) {
		buf_init(&b, 0);
		while (b.n < 16 * 1024 - 15 + over)
			buf_addc(&b, 'x');
		buf_adds(&b, "tenant 7 asleep");
		facts.body = buf_span(&b);
		ck_assert_int_eq(verdict_bare(&facts, &mine).verdict,
		    over == 0 ? VERDICT_WORDS : VERDICT_SUSPECT);
		buf_free(&b);
	}
	release();
}
END_TEST

START_TEST(test_patterns_results)
{
	struct verdict_rules mine = { patterns, 2, false };
	struct facts facts = answered(200);
	struct frame *f = result_frame(
	    "{\"isError\":true,\"content\":[{\"text\":\"our word: void\"}]}");
	bool hint = true;

	compile();
	ck_assert_int_eq(verdict_result(&facts, f, &mine, &hint).verdict,
	    VERDICT_ANSWER);
	ck_assert(!hint);
	mine.in_results = true;
	ck_assert_int_eq(verdict_result(&facts, f, &mine, &hint).verdict,
	    VERDICT_LOST);
	frame_unref(f);
	release();
}
END_TEST

static void
add_times(struct buf *b, const char *text, size_t bytes)
{
	size_t start = b->n;

	while (b->n - start < bytes)
		buf_adds(b, text);
}

/* So much text is looked at, here of two members, with a line end between. */
START_TEST(test_text_size)
{
	static const char words[] = "Session not found";
	struct facts facts = answered(400);
	struct buf b;
	size_t n = BOUND_LOSS_TEXT_BYTES - (sizeof words - 1) - 1;

	buf_init(&b, 0);
	buf_adds(&b, "{\"message\":\"");
	add_times(&b, "x", n + (size_t)_i);
	buf_addf(&b, "\",\"error\":\"%s\"}", words);
	facts.body = buf_span(&b);
	ck_assert_int_eq(verdict_bare(&facts, &no_rules).verdict,
	    _i == 0 ? VERDICT_WORDS : VERDICT_SUSPECT);
	buf_free(&b);
}
END_TEST

/* JSON of so many levels is JSON; one that is deeper is text, in which the
 * name of a member says nothing. */
START_TEST(test_text_depth)
{
	struct facts facts = answered(400);
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "{\"stackTrace\":\"Session not found\",\"x\":");
	add_times(&b, "[", BOUND_SOME - 1 + (size_t)_i);
	add_times(&b, "]", BOUND_SOME - 1 + (size_t)_i);
	buf_addc(&b, '}');
	facts.body = buf_span(&b);
	ck_assert_str_eq(verdict_bare(&facts, &no_rules).rule,
	    _i == 0 ? "refused" : "refused, the text mentions a session");
	buf_free(&b);
}
END_TEST

/* What a hostile server may send up to the cap costs little: linear time.
 * The bound has room for slow machines and checkers; a scan that is not
 * linear takes minutes. */
START_TEST(test_time)
{
	static const char *const pieces[] = { "a ", "session ", "\"", "'a ",
		"' ", "'a'", "A_", "a.b ", "{\"a\":", "[", "<", "<a>",
		"<script>", "<!--", "http://a ", "no session is found ",
		"initialize ", "\xE2\x80\x99", "{\"error\":", "x-x ", "X_x    ",
		"\"error\":\"a\"," };
	struct facts facts = answered(404);
	struct buf b;
	double start = unit_cpu();
	int i;

	for (i = 0; i < COUNT(pieces); i++) {
		buf_init(&b, 0);
		buf_addc(&b, i % 2 == 0 ? '{' : ' ');
		add_times(&b, pieces[i], 256 * 1024);
		facts.body = buf_span(&b);
		verdict_bare(&facts, &no_rules);
		buf_free(&b);
	}
	ck_assert_double_lt(unit_cpu() - start, 20);
}
END_TEST

static const struct {
	const char *type;
	enum media want;
} types[] = {
	{ NULL, MEDIA_NONE },
	{ "", MEDIA_NONE },
	{ " \t", MEDIA_NONE },
	{ ";charset=utf-8", MEDIA_NONE },
	{ "application/json", MEDIA_JSON },
	{ "Application/JSON;charset=utf-8", MEDIA_JSON },
	{ " application/json ; x", MEDIA_JSON },
	{ "application/json\t", MEDIA_JSON },
	{ "application/jsonp", MEDIA_OTHER },
	{ "application/json-rpc", MEDIA_OTHER },
	{ "application/jso", MEDIA_OTHER },
	{ "application/problem+json", MEDIA_OTHER },
	{ "text/event-stream", MEDIA_SSE },
	{ "TEXT/EVENT-STREAM; charset=UTF-8", MEDIA_SSE },
	{ "application/json, application/json", MEDIA_JSON },
	{ "text/event-stream,text/plain", MEDIA_SSE },
	{ ", text/plain", MEDIA_NONE },
	{ "text/html", MEDIA_HTML },
	{ "text/html; charset=x", MEDIA_HTML },
	{ "application/xhtml+xml", MEDIA_HTML },
	{ "text/plain", MEDIA_OTHER },
	{ "x", MEDIA_OTHER },
};

START_TEST(test_media)
{
	ck_assert_int_eq(verdict_media(types[_i].type), types[_i].want);
}
END_TEST

/* A body, and the shortest beginning of it that tells what it is; -1: the label
 * stands. */
static const struct {
	const char *body;
	size_t takes;
	int want;
} bodies[] = {
	{ "{\"a\"", 1, MEDIA_JSON },
	{ "[{", 1, MEDIA_JSON },
	{ "\xEF\xBB\xBF{", 4, MEDIA_JSON },
	{ "data: x", 5, MEDIA_SSE },
	{ "data:{", 5, MEDIA_SSE },
	{ "event: x", 6, MEDIA_SSE },
	{ "id:1", 3, MEDIA_SSE },
	{ "retry:1", 6, MEDIA_SSE },
	{ ": hi", 1, MEDIA_SSE },
	{ "\xEF\xBB\xBF:", 4, MEDIA_SSE },
	{ "\xEF\xBB\xBF"
	  "data:",
	    8, MEDIA_SSE },
	{ "<html>", 1, -1 },
	{ "null", 1, -1 },
	{ "17", 1, -1 },
	{ "\"x\"", 1, -1 },
	{ "Data:", 1, -1 },
	{ "data : x", 5, -1 },
	{ "date: x", 4, -1 },
	{ "ideal", 3, -1 },
	{ "reply:", 3, -1 },
	{ "\xEF\xBC\x81", 2, -1 },
	{ "\xEF\xBB\xBFno", 4, -1 },
	{ "oops", 1, -1 },
};

START_TEST(test_bodies)
{
	int label;
	size_t n;
	enum media media;

	for (label = MEDIA_NONE; label <= MEDIA_OTHER; label++) {
		for (n = 0; n <= strlen(bodies[_i].body); n++) {
			media = (enum media)label;
			ck_assert_int_eq(verdict_body((struct span){ bodies[_i]
									 .body,
							  n },
					     &media),
			    n >= bodies[_i].takes);
			ck_assert_int_eq(media,
			    n < bodies[_i].takes || bodies[_i].want < 0 ?
				label :
				bodies[_i].want);
		}
	}
}
END_TEST

START_TEST(test_session_ok)
{
	char id[BOUND_HEADER_BYTES + 1];
	int c;

	memset(id, 'a', sizeof id);
	ck_assert(!verdict_session_ok((struct span){ NULL, 0 }));
	ck_assert(!verdict_session_ok((struct span){ id, 0 }));
	ck_assert(verdict_session_ok((struct span){ id, 1 }));
	ck_assert(verdict_session_ok((struct span){ id, sizeof id - 1 }));
	ck_assert(!verdict_session_ok((struct span){ id, sizeof id }));
	for (c = 0; c < 256; c++) {
		id[1] = (char)c;
		ck_assert_int_eq(verdict_session_ok((struct span){ id, 3 }),
		    c >= 0x21 && c <= 0x7e);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("verdict");
	TCase *tc = tcase_create("verdict");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_errors, 0, COUNT(errors));
	tcase_add_loop_test(tc, test_histories, 0, COUNT(histories));
	tcase_add_loop_test(tc, test_fresh, 0, COUNT(fresh));
	tcase_add_loop_test(tc, test_trusted, 0, COUNT(credentials_known_good));
	tcase_add_loop_test(tc, test_members, 0, COUNT(members));
	tcase_add_loop_test(tc, test_bare, 0, COUNT(bare));
	tcase_add_test(tc, test_spans);
	tcase_add_loop_test(tc, test_results, 0, COUNT(results));
	tcase_add_test(tc, test_result_size);
	tcase_add_test(tc, test_patterns);
	tcase_add_test(tc, test_patterns_bare);
	tcase_add_test(tc, test_patterns_results);
	tcase_add_loop_test(tc, test_text_size, 0, 2);
	tcase_add_loop_test(tc, test_text_depth, 0, 2);
	tcase_add_test(tc, test_time);
	tcase_add_loop_test(tc, test_media, 0, COUNT(types));
	tcase_add_loop_test(tc, test_bodies, 0, COUNT(bodies));
	tcase_add_test(tc, test_session_ok);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
