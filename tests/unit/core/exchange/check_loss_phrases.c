/*
 * What a text says about a session: each expression finds its texts and leaves
 * their near misses alone; how text becomes clauses and words.
 */
#include "config.h"

#include "core/exchange/loss_phrases.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "unit/unit.h"

enum {
	NONE = 0,
	VETO = PHRASE_VETO,
	INTERRUPTED = PHRASE_INTERRUPTED,
	LOST = PHRASE_LOST,
	GATE = PHRASE_GATE,
	MISSING = PHRASE_MISSING,
	DOUBT = PHRASE_DOUBT,
	CONNECTION = PHRASE_CONNECTION,
	OWNER = PHRASE_OWNER,
	LOGIN = PHRASE_LOGIN,
	PARAMS = PHRASE_PARAMS
};

/* What is LOST or GATE may be DOUBT or MISSING as well. */
static const struct {
	const char *text;
	unsigned want;
} texts[] = {
	{ "", NONE },
	{ "session", NONE },
	/* Behind the noun. */
	{ "SESSION NOT FOUND", LOST },
	{ "The session was not found.", LOST },
	{ "session may have expired", LOST },
	{ "session with that id does not exist", LOST },
	{ "session is not present", LOST },
	{ "session does not correspond to an active session", LOST },
	{ "session object not found", LOST },
	{ "session abc12 expired", LOST },
	{ "session (abc12) expired", LOST },
	{ "session 'x' not found", LOST },
	{ "session: expired", LOST },
	{ "session timed out", LOST },
	{ "session timeout", LOST },
	{ "session timeout value", NONE },
	{ "session is no longer active", LOST },
	{ "session that you asked for is gone", LOST },
	{ "session for one two three four five six gone", NONE },
	{ "session id provided is stale", LOST },
	{ "Error: session terminated by x", LOST },
	{ "it ended when the session terminated", LOST },
	{ "session one gone", NONE },
	{ "session will be closed", NONE },
	{ "session was not closed", NONE },
	{ "session found, file expired", NONE },
	{ "session is a valid one", NONE },
	{ "session limit expired", NONE },
	{ "session request not found", NONE },
	{ "sessions terminated", NONE },
	{ "obsession terminated", NONE },
	{ "transport not found", LOST },
	{ "mcp-session-id must be a valid UUID", LOST },
	{ "sessionId must be a valid UUID", NONE },
	{ "session id mismatch", LOST | OWNER },
	/* In front of it. */
	{ "unknown mcp session", LOST },
	{ "invalid or expired session", LOST },
	{ "missing or invalid session id", LOST },
	{ "unknown or missing session id", LOST },
	{ "lost your session", LOST },
	{ "expired session cookie", LOGIN },
	{ "unknown session type", NONE },
	{ "unknown value for session", NONE },
	{ "unknown, session", NONE },
	{ "no such session", LOST },
	{ "no session", LOST },
	{ "no session was found", LOST },
	{ "no valid session id provided", LOST },
	{ "no active transport", LOST },
	{ "no session needs this", MISSING },
	{ "no session id provided", MISSING },
	{ "not a valid session", LOST },
	{ "not this session", NONE },
	{ "unable to resume the session", LOST },
	{ "we no longer know that session", LOST },
	{ "could find session", NONE },
	/* A foreign one, or somebody else's words. */
	{ "browser session not found", DOUBT },
	{ "unknown browser session", DOUBT },
	{ "could not find tmux session", DOUBT },
	{ "browser session closed before the call completed", DOUBT },
	{ "LSP server not initialized", DOUBT },
	{ "said: \"session terminated\"", DOUBT },
	{ "said 'session isn't valid'", DOUBT },
	{ "tool session not found", NONE },
	{ "argument 'session terminated' is long", NONE },
	{ "unknown tool: session_terminated", NONE },
	{ "error of tool x: session terminated", LOST },
	/* It was running. */
	{ "session terminated before the request completed", INTERRUPTED },
	{ "session was closed while running a call", INTERRUPTED },
	{ "lost session during execution", INTERRUPTED },
	{ "session terminated before noon", LOST },
	{ "session terminated, before the request", LOST },
	/* Reinitialize, initialize. */
	{ "reinitialize", LOST },
	{ "requiresReinitialize", LOST },
	{ "please re-initialize the session", LOST },
	{ "you need to reinitialize", LOST },
	{ "failed to reinitialize", NONE },
	{ "please not to reinitialize", NONE },
	{ "server is not yet initialised", GATE },
	{ "Bad Request: client session not initialized", GATE },
	{ "x: not initialized", GATE },
	{ "repository not initialized", NONE },
	{ "server is initialized", NONE },
	{ "uninitialized session", GATE },
	{ "uninitialized variable", NONE },
	{ "is invalid during session initialization", GATE },
	{ "request received before initialization", GATE },
	{ "error during session initialization", NONE },
	{ "initialize first", GATE },
	{ "please initialize", GATE },
	{ "you have to initialize again", GATE },
	{ "initialize a new session", GATE },
	{ "failed to initialize session", NONE },
	{ "first message must be \"initialize\"", GATE },
	{ "expect an initialize request", GATE },
	{ "created only by an initialize request", NONE },
	{ "invalid request parameters.", PARAMS },
	{ "invalid request parameters: x", NONE },
	{ "invalid request parameter", NONE },
	/* A session id is wanted. */
	{ "session is required", MISSING },
	{ "session id was not sent", MISSING },
	{ "session id was sent", NONE },
	{ "missing \"Mcp-Session-Id\" header", MISSING },
	{ "include a session id", MISSING },
	/* Connections. */
	{ "the mcp connection was lost", CONNECTION },
	{ "transport closed", CONNECTION },
	{ "connection open", NONE },
	{ "database connection closed", NONE },
	{ "said 'connection closed'", NONE },
	{ "failed to forward the call", CONNECTION },
	{ "forward the call", NONE },
	/* Never. */
	{ "code rest_no_route", VETO },
	{ "no route", NONE },
	{ "has already been initialized", VETO },
	{ "already exists", VETO },
	{ "already there", NONE },
	{ "404 page not found", VETO },
	{ "404 not found", NONE },
	{ "does not support multiple GET", VETO },
	{ "does not support one GET", NONE },
	{ "session terminated: already initialized", VETO | LOST },
	/* Owners and logins. */
	{ "session user mismatch", OWNER },
	{ "session access denied", OWNER },
	{ "session belongs to another user", OWNER },
	{ "access denied for this session", NONE },
	{ "user does not match the user who initiated the session", OWNER },
	{ "user does match the session", NONE },
	{ "please sign in", LOGIN },
	{ "significant", NONE },
	/* Clauses and words. */
	{ "session. not found", NONE },
	{ "session; not found", NONE },
	{ "session! not found", NONE },
	{ "session? not found", NONE },
	{ "session\nnot found", NONE },
	{ "session {not found", NONE },
	{ "session\\nnot found", NONE },
	{ "x\\nsession not found", LOST },
	{ "session not found.Please", LOST },
	{ "session\tnot\rfound", LOST },
	{ "session isn\xE2\x80\x99t valid", LOST },
	{ "session expired\xE2\x80\x94retry", LOST },
	{ "session\xC2\xA0not found", LOST },
	{ "session not\xE2\x80", NONE },
	{ "session_not_found", LOST },
	{ "SessionNotFoundError", LOST },
	{ "unknown sessionId", LOST },
	{ "unknown session/x", NONE },
	{ "x.session not found", NONE },
	{ "/session not found", NONE },
	{ "http://x/session not found", NONE },
	{ "9session not found", NONE },
	{ "session /x/y not found", LOST },
};

static unsigned
find(const char *text)
{
	return phrases_find(span_of(text));
}

START_TEST(test_phrases)
{
	unsigned found = find(texts[_i].text), want = texts[_i].want;

	if (want & (LOST | GATE | INTERRUPTED))
		found &= ~(unsigned)(DOUBT | MISSING);
	if (want & INTERRUPTED)
		found &= ~(unsigned)LOST;
	ck_assert_msg(found == want, "%s: %x, not %x", texts[_i].text, found,
	    want);
}
END_TEST

/* Wherever it stands in a long clause, and however long a word is; a part is no
 * beginning of a sentence. */
START_TEST(test_long)
{
	struct buf b;
	int before, i;

	for (before = 0; before < 400; before++) {
		buf_init(&b, 0);
		for (i = 0; i < before; i++)
			buf_adds(&b, "of ");
		buf_adds(&b, "if session was not found of ");
		for (i = 0; i < 130; i++)
			buf_adds(&b, "browser ");
		buf_adds(&b, "session closed");
		ck_assert_msg((phrases_find(buf_span(&b)) & LOST) != 0, "%d",
		    before);
		buf_free(&b);
		buf_init(&b, 0);
		for (i = 0; i < before; i++)
			buf_adds(&b, "of ");
		buf_adds(&b, "browser session closed");
		ck_assert_msg((phrases_find(buf_span(&b)) & LOST) == 0, "%d",
		    before);
		buf_free(&b);
	}
	buf_init(&b, 0);
	for (i = 0; i < 100000; i++)
		buf_adds(&b, "session");
	buf_adds(&b, " not found");
	ck_assert_uint_eq(phrases_find(buf_span(&b)), NONE);
	buf_free(&b);
}
END_TEST

/* Every prefix and every byte of noise: nothing is read outside. */
START_TEST(test_bytes)
{
	static const char
	    text[] = "session \"isn't\" 'x' \xE2\x80\x99 http://a "
		     "\\n\xC2\xA0 A_B: sess\xE2\x80\x99s -_'";
	char *copy;
	size_t n;
	int c;

	for (n = 0; n < sizeof text; n++) {
		copy = xmalloc(n);
		memcpy(copy, text, n);
		phrases_find((struct span){ copy, n });
		free(copy);
	}
	for (c = 0; c < 256; c++) {
		copy = xmalloc(2);
		copy[0] = 'a';
		copy[1] = (char)c;
		phrases_find((struct span){ copy, 2 });
		phrases_find((struct span){ copy + 1, 1 });
		free(copy);
	}
	ck_assert_uint_eq(phrases_find((struct span){ NULL, 0 }), NONE);
}
END_TEST

/* Text that leads an expression on costs linear time, too. The bound has room
 * for slow machines and checkers. */
START_TEST(test_time)
{
	static const char *const pieces[] = { "a\n", "unknown or expired or ",
		"session for that which with ", "user session not match ",
		"session is closed a b before a b c d e ", "the ",
		"no session ", "initialize a b ",
		"request x before the session ", "tool 'a b c ",
		"failed no longer find any browser session " };
	double start = unit_cpu();
	struct buf b;
	int i;

	for (i = 0; i < COUNT(pieces); i++) {
		buf_init(&b, 0);
		while (b.n < BOUND_LOSS_TEXT_BYTES)
			buf_adds(&b, pieces[i]);
		phrases_find(buf_span(&b));
		buf_free(&b);
	}
	ck_assert_double_lt(unit_cpu() - start, 20);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("phrases");
	TCase *tc = tcase_create("phrases");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_phrases, 0, COUNT(texts));
	tcase_add_test(tc, test_long);
	tcase_add_test(tc, test_bytes);
	tcase_add_test(tc, test_time);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
