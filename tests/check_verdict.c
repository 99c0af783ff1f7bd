/*
 * What one HTTP answer means: error responses and bare answers by the rules
 * of a lost session, words in any case, media types, session ids.
 */
#include "config.h"

#include "wire/verdict.h"

#include <stdlib.h>

#include <check.h>

#include "wire/msg.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

enum { SESSION = 1, NO_SESSION = 0 };

/* The request has the id 7. */
static const struct {
	int status;
	int had_session;
	const char *id; /* of the error, NULL: none */
	int code;
	const char *message;
	enum verdict want;
} errors[] = {
	/* The words, whatever the status is and whatever is around them. */
	{ 200, SESSION, "7", 32600, "Session terminated", VERDICT_LOST },
	{ 200, SESSION, "7", 0, "SESSION TERMINATED", VERDICT_LOST },
	{ 200, SESSION, "null", -1, "session terminated", VERDICT_LOST },
	{ 200, SESSION, NULL, -1, "xsession terminatedx", VERDICT_LOST },
	{ 200, SESSION, "7", -32603,
	    "MCP error 32600: Session terminated (remote)", VERDICT_LOST },
	{ 200, SESSION, "7", -32603, "Invalid or expired session",
	    VERDICT_LOST },
	{ 400, SESSION, "null", -1, "invalid OR expired Session.",
	    VERDICT_LOST },
	{ 401, SESSION, "null", -1, "Invalid or expired session",
	    VERDICT_LOST },
	{ 403, SESSION, "7", -1, "Session terminated", VERDICT_LOST },
	{ 500, SESSION, "7", -1, "Session terminated", VERDICT_LOST },
	{ 503, SESSION, "7", -1, "Session terminated", VERDICT_LOST },
	{ 404, SESSION, "7", -32602, "Session terminated", VERDICT_LOST },
	{ 200, SESSION, "7", -1, "Session \\u0074erminated", VERDICT_LOST },
	/* Not quite. */
	{ 200, SESSION, "7", -1, "Session terminate", VERDICT_ANSWER },
	{ 200, SESSION, "7", -1, "Session  terminated", VERDICT_ANSWER },
	{ 200, SESSION, "7", -1, "Invalid session", VERDICT_ANSWER },
	{ 200, SESSION, "7", -1, "Session not found", VERDICT_ANSWER },
	{ 200, SESSION, "7", -1, "Tool execution failed", VERDICT_ANSWER },
	{ 200, SESSION, "7", 32600, "", VERDICT_ANSWER },
	/* It was executing. */
	{ 200, SESSION, "7", -1,
	    "Session terminated before the request completed",
	    VERDICT_LOST_MAYBE },
	{ 404, SESSION, "7", -1,
	    "SESSION was Terminated Before The Request Completed",
	    VERDICT_LOST_MAYBE },
	/* What carried no session can lose none. */
	{ 200, NO_SESSION, "7", 32600, "Session terminated", VERDICT_ANSWER },
	{ 404, NO_SESSION, "null", 32600, "Session terminated",
	    VERDICT_ANSWER },
	{ 404, NO_SESSION, NULL, -1, "gone", VERDICT_ANSWER },
	{ 200, NO_SESSION, "7", -1,
	    "Session terminated before the request completed", VERDICT_ANSWER },
	/* 404: ordinary codes are answers unless they speak of the session. */
	{ 404, SESSION, "7", -32601, "Method not found", VERDICT_ANSWER },
	{ 404, SESSION, "null", -32601, "Method not found", VERDICT_ANSWER },
	{ 404, SESSION, "7", -32602, "Unknown tool: x", VERDICT_ANSWER },
	{ 404, SESSION, "7", -32002, "Resource not found", VERDICT_ANSWER },
	{ 404, SESSION, "7", -32003, "no", VERDICT_ANSWER },
	{ 404, SESSION, "7", -32004, "no", VERDICT_ANSWER },
	{ 404, SESSION, "7", -32602, "Unknown session", VERDICT_LOST },
	{ 404, SESSION, "7", -32602, "Session not found", VERDICT_LOST },
	{ 404, SESSION, "7", -32601, "session EXPIRED", VERDICT_LOST },
	{ 404, SESSION, "7", -32002, "Expired session", VERDICT_LOST },
	{ 404, SESSION, "7", -32602, "Invalid session id", VERDICT_LOST },
	{ 404, SESSION, "7", -32602, "No valid session ID provided",
	    VERDICT_LOST },
	{ 404, SESSION, "7", -32602, "The session does not exist",
	    VERDICT_LOST },
	{ 404, SESSION, "7", -32602, "bad session_name", VERDICT_ANSWER },
	/* 404, any other code: with our id and nothing about sessions. */
	{ 404, SESSION, "7", -32000, "No such user", VERDICT_ANSWER },
	{ 404, SESSION, "7.0", -32000, "No such user", VERDICT_ANSWER },
	{ 404, SESSION, "\"7\"", -32000, "No such user", VERDICT_LOST },
	{ 404, SESSION, "8", -32000, "No such user", VERDICT_LOST },
	{ 404, SESSION, "null", -32000, "Not Found", VERDICT_LOST },
	{ 404, SESSION, NULL, -32000, "Not Found", VERDICT_LOST },
	{ 404, SESSION, "7", -32000, "Your Session is not here", VERDICT_LOST },
	{ 404, SESSION, "null", -32001, "Session not found", VERDICT_LOST },
	/* Other statuses with words of an unknown session are answers. */
	{ 400, SESSION, "null", -32000, "Session not found", VERDICT_ANSWER },
	{ 400, SESSION, "null", -32000, "Bad Request", VERDICT_ANSWER },
	/* Refused for now. */
	{ 429, SESSION, "7", -1, "slow down", VERDICT_RETRY },
	{ 502, SESSION, "7", -1, "x", VERDICT_RETRY },
	{ 503, NO_SESSION, "null", -1, "starting", VERDICT_RETRY },
	{ 504, NO_SESSION, NULL, -1, "", VERDICT_RETRY },
	{ 500, SESSION, "7", -1, "x", VERDICT_ANSWER },
	{ 501, SESSION, "7", -1, "x", VERDICT_ANSWER },
};

static struct frame *
error_frame(const char *id, int code, const char *message)
{
	char *text = xasprintf("{\"jsonrpc\":\"2.0\"%s%s,\"error\":{\"code\":"
			       "%d,\"message\":\"%s\"}}",
	    id == NULL ? "" : ",\"id\":", id == NULL ? "" : id, code, message);
	struct frame *f = frame_copy(span_of(text));

	ck_assert_int_eq(msg_parse(f, 10), MSG_OK);
	free(text);
	return f;
}

START_TEST(test_errors)
{
	struct facts facts = { .status = errors[_i].status,
		.had_session = errors[_i].had_session == SESSION,
		.media = MEDIA_JSON,
		.sent = true };
	struct frame *f = error_frame(errors[_i].id, errors[_i].code,
	    errors[_i].message);

	ck_assert_int_eq(verdict_error(&facts, f, span_of("7")),
	    errors[_i].want);
	frame_unref(f);
}
END_TEST

static const struct {
	enum ending ending;
	bool sent;
	int status;
	int had_session;
	enum media media;
	const char *body;
	enum verdict want;
} bare[] = {
	/* Nothing was sent. */
	{ ENDING_RESOLVE, false, 0, SESSION, MEDIA_NONE, "", VERDICT_RETRY },
	{ ENDING_CONNECT, false, 0, SESSION, MEDIA_NONE, "", VERDICT_RETRY },
	{ ENDING_CUT, false, 0, SESSION, MEDIA_NONE, "", VERDICT_RETRY },
	/* It may have been. */
	{ ENDING_CUT, true, 0, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	{ ENDING_CUT, true, 404, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	{ ENDING_IDLE, true, 200, SESSION, MEDIA_SSE, "", VERDICT_FAIL },
	{ ENDING_ABORTED, true, 404, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	/* Not worth a second try. */
	{ ENDING_TLS, false, 0, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	{ ENDING_PROXY, false, 407, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	{ ENDING_CONFIG, false, 0, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	{ ENDING_DENIED, false, 0, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	/* 404 with a session, in any dress. */
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_NONE, "", VERDICT_LOST },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_HTML, "<p>Not Found",
	    VERDICT_LOST },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_JSON, "{\"detail\":1}",
	    VERDICT_LOST },
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_NONE, "",
	    VERDICT_FAIL },
	{ ENDING_COMPLETE, true, 404, SESSION, MEDIA_OTHER,
	    "session terminated before the request completed",
	    VERDICT_LOST_MAYBE },
	{ ENDING_COMPLETE, true, 404, NO_SESSION, MEDIA_OTHER,
	    "session terminated before the request completed", VERDICT_FAIL },
	/* Plain words. */
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_OTHER,
	    "Invalid or expired session", VERDICT_LOST },
	{ ENDING_COMPLETE, true, 422, SESSION, MEDIA_NONE,
	    "{\"m\":\"SESSION TERMINATED\"}", VERDICT_LOST },
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_HTML,
	    "Invalid or expired session", VERDICT_FAIL },
	{ ENDING_COMPLETE, true, 400, NO_SESSION, MEDIA_OTHER,
	    "Invalid or expired session", VERDICT_FAIL },
	{ ENDING_COMPLETE, true, 400, SESSION, MEDIA_OTHER, "Bad Request",
	    VERDICT_FAIL },
	{ ENDING_COMPLETE, true, 500, SESSION, MEDIA_OTHER,
	    "Session terminated", VERDICT_FAIL },
	/* The rest. */
	{ ENDING_COMPLETE, true, 429, SESSION, MEDIA_NONE, "", VERDICT_RETRY },
	{ ENDING_COMPLETE, true, 502, SESSION, MEDIA_HTML, "", VERDICT_RETRY },
	{ ENDING_COMPLETE, true, 503, NO_SESSION, MEDIA_NONE, "",
	    VERDICT_RETRY },
	{ ENDING_COMPLETE, true, 504, SESSION, MEDIA_NONE, "", VERDICT_RETRY },
	{ ENDING_COMPLETE, true, 500, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	{ ENDING_COMPLETE, true, 501, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	{ ENDING_COMPLETE, true, 200, SESSION, MEDIA_SSE, "", VERDICT_FAIL },
	{ ENDING_COMPLETE, true, 202, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	{ ENDING_COMPLETE, true, 401, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
	{ ENDING_COMPLETE, true, 410, SESSION, MEDIA_NONE, "", VERDICT_FAIL },
};

START_TEST(test_bare)
{
	struct facts facts = { .ending = bare[_i].ending,
		.sent = bare[_i].sent,
		.status = bare[_i].status,
		.had_session = bare[_i].had_session == SESSION,
		.media = bare[_i].media,
		.body = span_of(bare[_i].body) };

	ck_assert_int_eq(verdict_bare(&facts), bare[_i].want);
}
END_TEST

/* Only the span counts, not what is behind it. */
START_TEST(test_says_lost)
{
	static const char text[] = "Session terminated";
	struct span s = { text, sizeof text - 1 };

	ck_assert(verdict_says_lost(s));
	s.n--;
	ck_assert(!verdict_says_lost(s));
	ck_assert(!verdict_says_lost((struct span){ NULL, 0 }));
	ck_assert(!verdict_says_lost(span_of("session")));
	ck_assert(verdict_says_lost((struct span){
	    "a\0session terminated", 20 }));
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

START_TEST(test_session_ok)
{
	char id[1025];
	int c;

	memset(id, 'a', sizeof id);
	ck_assert(!verdict_session_ok((struct span){ NULL, 0 }));
	ck_assert(!verdict_session_ok((struct span){ id, 0 }));
	ck_assert(verdict_session_ok((struct span){ id, 1 }));
	ck_assert(verdict_session_ok((struct span){ id, 1024 }));
	ck_assert(!verdict_session_ok((struct span){ id, 1025 }));
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
	SRunner *sr;
	int failures;

	tcase_add_loop_test(tc, test_errors, 0, COUNT(errors));
	tcase_add_loop_test(tc, test_bare, 0, COUNT(bare));
	tcase_add_test(tc, test_says_lost);
	tcase_add_loop_test(tc, test_media, 0, COUNT(types));
	tcase_add_test(tc, test_session_ok);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failures = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failures > 0;
}
