/*
 * What a text says about a session: words in front of it and behind it, what
 * only looks like it, quotations, names, how text becomes clauses.
 */
#include "config.h"

#include "core/exchange/loss_phrases.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/exchange/words.h"
#include "unit/unit.h"

enum {
	NONE = 0,
	VETO = PHRASE_VETO,
	INTERRUPTED = PHRASE_INTERRUPTED,
	TERMINATED = PHRASE_TERMINATED,
	EXPIRED = PHRASE_EXPIRED,
	LOST = PHRASE_LOST,
	UNREADY = PHRASE_UNREADY,
	EARLY = PHRASE_EARLY,
	MISSING = PHRASE_MISSING,
	DOUBT = PHRASE_DOUBT,
	CONNECTION = PHRASE_CONNECTION,
	OWNER = PHRASE_OWNER,
	LOGIN = PHRASE_LOGIN,
	WHOLE = PHRASE_WHOLE
};

static const struct {
	const char *text;
	unsigned want;
} texts[] = {
	{ "", NONE },
	{ "session", NONE },
	/* Behind the noun. */
	{ "session not found", LOST },
	{ "SESSION NOT FOUND", LOST },
	{ "The session was not found.", LOST },
	{ "session has expired", LOST },
	{ "session does not correspond to an active session", LOST },
	{ "session does not seem to exist", LOST },
	{ "session object not found", LOST },
	{ "session may have expired", LOST },
	{ "session id invalid", LOST },
	{ "session is now unknown", LOST },
	{ "session abc12 expired", LOST },
	{ "session (abc12) expired", LOST },
	{ "session: expired", LOST },
	{ "session timed out", LOST },
	{ "session timed", NONE },
	{ "session timeout", LOST },
	{ "session timeout: 7", LOST },
	{ "session timeout value", NONE },
	{ "session is no longer active", LOST },
	{ "session with that id does not exist", LOST },
	{ "session that you asked for is gone", LOST },
	{ "session for one two three four gone", LOST },
	{ "session for one two three four five gone", NONE },
	{ "session one gone", NONE },
	{ "session is one gone", NONE },
	{ "session is not a known one", LOST },
	{ "session has a closed door", NONE },
	{ "session will be closed", NONE },
	{ "session sent tenant gone", LOST },
	{ "session of the big red very fat gone", LOST },
	{ "session for big red very fat id gone", LOST },
	{ "session is or was expired", LOST },
	{ "session was not closed", NONE },
	{ "session found", NONE },
	{ "session found, file expired", NONE },
	{ "session is a valid one", NONE },
	{ "session must be active", MISSING },
	{ "session is required", MISSING },
	{ "session id missing", MISSING },
	{ "session id must be provided", MISSING },
	{ "session id was not sent", MISSING },
	{ "session id was sent", NONE },
	{ "session id provided is stale", LOST },
	{ "mcp-session-id must be a valid UUID", LOST },
	{ "sessionId must be a valid UUID", MISSING },
	{ "mcp-session-id is not supported", LOST },
	{ "session id is not supported", LOST },
	{ "session is not supported", NONE },
	{ "session id mismatch", LOST | OWNER },
	{ "session mismatch", OWNER },
	{ "session now now now now now now now now now now now gone", LOST },
	{ "session now now now now now now now now now now now now gone",
	    NONE },
	/* The noun describes another one. */
	{ "session limit expired", NONE },
	{ "session name not found", NONE },
	{ "session parameter is required", NONE },
	{ "expired session cookie", LOGIN },
	{ "session user not found", NONE },
	{ "session request not found", NONE },
	{ "session page not found", NONE },
	{ "session connection not found", NONE },
	{ "session header not found", LOST },
	{ "session transport not found", LOST },
	{ "unknown session parameter", NONE },
	{ "unknown session user", NONE },
	{ "unknown session request", NONE },
	{ "unknown session page", NONE },
	{ "unknown session connection", NONE },
	{ "session transport closed", LOST | DOUBT },
	/* In front of the noun. */
	{ "unknown session", LOST },
	{ "unknown mcp session", LOST },
	{ "unknown or expired session", LOST },
	{ "unknown value for session", NONE },
	{ "unknown, session", NONE },
	{ "no such session", LOST },
	{ "no session", LOST },
	{ "no session.", LOST },
	{ "no session, sorry", LOST },
	{ "no session for you", LOST },
	{ "no session was found", LOST },
	{ "no session abc12 here", LOST },
	{ "could not now yet find session", LOST },
	{ "could not now yet since find session", NONE },
	{ "no session is limited", MISSING },
	{ "no session needs this", MISSING },
	{ "no session id provided", MISSING },
	{ "no valid session id provided", LOST },
	{ "no session found", LOST },
	{ "not a valid session", LOST },
	{ "not this session", NONE },
	{ "could not find session", LOST },
	{ "could find session", NONE },
	{ "unable to resume the session", LOST },
	{ "we no longer know that session", LOST },
	{ "failed to find session", LOST },
	{ "failed, we may now find session", NONE },
	{ "missing session id", MISSING },
	{ "missing or invalid session id", LOST },
	{ "invalid or missing session id", LOST },
	{ "request requires a session id", MISSING },
	{ "include a session id", MISSING },
	{ "any session", NONE },
	{ "lost your session", LOST },
	/* All that the text says, but for a wrapper. */
	{ "MCP error 32600: session terminated", TERMINATED | WHOLE },
	{ "your session terminated.", TERMINATED | WHOLE },
	{ "error: invalid or expired session", EXPIRED | WHOLE },
	{ "session terminated by user", TERMINATED },
	{ "error: session terminated (exit code 1)", TERMINATED },
	{ "it ended when the session terminated", TERMINATED },
	{ "session terminated. Exit code 1", TERMINATED },
	{ "exited; session terminated", TERMINATED },
	{ "invalid or expired session: log in again", EXPIRED | LOGIN },
	{ "browser session terminated.", DOUBT },
	/* Another's session, or a name. */
	{ "browser session not found", DOUBT },
	{ "unknown browser session", DOUBT },
	{ "unknown big web session", DOUBT },
	{ "unknown very big fat web session", NONE },
	{ "user session expired", DOUBT },
	{ "login session expired", DOUBT | LOGIN },
	{ "for browser, session expired", LOST },
	{ "browser when session expired", LOST },
	{ "browser session id is required", MISSING },
	{ "abc12 session expired", DOUBT },
	{ "tool session not found", NONE },
	{ "argument session not found", NONE },
	{ "argument of session not found", MISSING },
	{ "browser session terminated", DOUBT },
	{ "browser session closed before the call completed", NONE },
	{ "transport not found", LOST },
	{ "no active transport", LOST },
	{ "transport closed", DOUBT },
	{ "unknown transport", DOUBT },
	/* The product's own. */
	{ "session terminated", TERMINATED | WHOLE },
	{ "Error: session terminated by x", TERMINATED },
	{ "session, terminated", LOST },
	{ "session was terminated", LOST },
	{ "session id terminated", LOST },
	{ "mcpsession terminated", TERMINATED | WHOLE },
	{ "invalid or expired session", EXPIRED | WHOLE },
	{ "invalid or expired session id", EXPIRED },
	{ "invalid or expired session token", DOUBT },
	{ "invalid and expired session", EXPIRED | WHOLE },
	{ "expired or invalid session", LOST },
	{ "invalid or stale session", LOST },
	{ "unknown or expired session", LOST },
	{ "or expired session", LOST },
	{ "obsession terminated", NONE },
	{ "sessions terminated", NONE },
	/* It was running. */
	{ "session terminated before the request completed", INTERRUPTED },
	{ "session was closed while running a call", INTERRUPTED },
	{ "session terminated before noon", TERMINATED },
	{ "session terminated, before the request", TERMINATED },
	{ "session terminated one two three before request", TERMINATED },
	{ "session terminated before a b c d e f request", TERMINATED },
	{ "lost session during execution", INTERRUPTED },
	{ "session terminated one two before request", INTERRUPTED },
	{ "session has now been terminated before the request", INTERRUPTED },
	/* Not initialized. */
	{ "server not initialized", UNREADY },
	{ "server is not yet initialised", UNREADY },
	{ "session has not been initialized", UNREADY },
	{ "Bad Request: client session not initialized", UNREADY },
	{ "mcp server not initialized", UNREADY },
	{ "when server not initialized", UNREADY },
	{ "not initialized", EARLY },
	{ "x: not initialized", EARLY },
	{ "x, server not initialized", UNREADY },
	{ "LSP server not initialized", DOUBT },
	{ "repository not initialized", NONE },
	{ "server initialized", NONE },
	{ "server is initialized", NONE },
	{ "uninitialized session", UNREADY },
	{ "uninitialized variable", NONE },
	{ "is invalid during session initialization", UNREADY },
	{ "request received before initialization", EARLY },
	{ "invalid during initialization", EARLY },
	{ "error during session initialization", NONE },
	{ "cannot be called during server initialization", UNREADY },
	{ "request before the initialization", EARLY },
	{ "request before http initialization", EARLY },
	{ "during session initialization", NONE },
	{ "session id not initialized", UNREADY },
	{ "uninitialized server", UNREADY },
	{ "invalid session initialization", NONE },
	{ "initialize first", EARLY },
	{ "please initialize", EARLY },
	{ "must initialize", EARLY },
	{ "initialize before use", EARLY },
	{ "initialize a new session", EARLY },
	{ "failed to initialize session", NONE },
	{ "cannot initialize first", NONE },
	{ "initialize", NONE },
	{ "first message must be initialize", UNREADY },
	{ "first must be initialize", NONE },
	{ "expected initialize", MISSING },
	{ "expect an initialize request", MISSING },
	{ "new session can only be created by an initialize request", MISSING },
	{ "created only by an initialize request", NONE },
	{ "reinitialize", LOST },
	{ "please re-initialize", LOST },
	{ "now, reinitialize", LOST },
	{ "you reinitialize", NONE },
	{ "should reinitialize", LOST },
	{ "and reinitialize", LOST },
	{ "please not to reinitialize", NONE },
	{ "failed to reinitialize", NONE },
	/* Connections. */
	{ "connection closed", CONNECTION },
	{ "Connection is closed", CONNECTION },
	{ "the mcp connection was lost", CONNECTION },
	{ "connection open", NONE },
	{ "old connection closed", CONNECTION },
	{ "a connection closed", CONNECTION },
	{ "for connection closed", CONNECTION },
	{ "or connection closed", CONNECTION },
	{ "database connection closed", NONE },
	{ "failed to forward the call", CONNECTION },
	{ "forward the call", NONE },
	/* Never. */
	{ "code rest_no_route", VETO },
	{ "server already initialized", VETO },
	{ "has already been initialized", VETO },
	{ "already exists", VETO },
	{ "already there", NONE },
	{ "404 page not found", VETO },
	{ "404 page found", NONE },
	{ "404 not found", NONE },
	{ "does not support multiple GET", VETO },
	{ "does not support multiple POST", NONE },
	{ "does not support one GET", NONE },
	{ "session terminated: already initialized", TERMINATED | VETO },
	/* Owners and logins. */
	{ "session user mismatch", OWNER },
	{ "session access denied", OWNER },
	{ "session belongs to another user", OWNER },
	{ "access denied", NONE },
	{ "session denied", OWNER },
	{ "access denied for this session", NONE },
	{ "session was then denied", NONE },
	{ "user does not match the user who initiated the session", OWNER },
	{ "user does match the session", NONE },
	{ "please sign in", LOGIN },
	/* Quotations, and names behind words that say so. */
	{ "said: 'session not found'", DOUBT },
	{ "said: \"session terminated\"", DOUBT },
	{ "said: `session terminated`", DOUBT },
	{ "said 'invalid or expired session'", DOUBT },
	{ "said 'server not initialized'", DOUBT },
	{ "said 'not initialized'", DOUBT },
	{ "said 'connection closed'", NONE },
	{ "tool \"session terminated\"", NONE },
	{ "argument 'session terminated'", NONE },
	{ "tool. \"session terminated\"", DOUBT },
	{ "session 'x' not found", LOST },
	{ "'session' not found", NONE },
	{ "missing \"Mcp-Session-Id\" header", MISSING },
	{ "missing \"sessionId\" header", NONE },
	{ "first message must be \"initialize\"", UNREADY },
	{ "said \"x initialize\" first", NONE },
	{ "\"session terminated", TERMINATED | WHOLE },
	{ "session isn't valid", LOST },
	{ "session isn\xE2\x80\x99t valid", LOST },
	{ "session 'isn't' x 'found'", NONE },
	{ "said 'session isn't valid'", DOUBT },
	/* Clauses. */
	{ "session. not found", NONE },
	{ "session; not found", NONE },
	{ "session! not found", NONE },
	{ "session? not found", NONE },
	{ "session\nnot found", NONE },
	{ "session\\nnot found", NONE },
	{ "x\\nsession not found", LOST },
	{ "session {not found", NONE },
	{ "session not found.Please", LOST },
	{ "session \xE2\x80\x93 not found", LOST },
	{ "session\xC2\xA0not found", LOST },
	{ "session\xC2\xA0limit expired", NONE },
	{ "session\xE2\x80\x94limit expired", NONE },
	{ "session not\xE2\x80", NONE },
	{ "session\xE2\x80\x94not found", LOST },
	{ "unknown \xE2\x80\x94 session", NONE },
	{ "session\xC2\xB5 not found", NONE },
	{ "session\xE2\x82\xAC not found", NONE },
	{ "x\\rsession not found", LOST },
	{ "x\\tsession not found", LOST },
	{ "session (not found)", LOST },
	{ "session\tlimit expired", NONE },
	{ "unknown\rsession", LOST },
	{ "unknown\tsession", LOST },
	{ "Zsession not found", NONE },
	{ "9session not found", NONE },
	{ "/the session not found", DOUBT },
	{ "session-not-found is it", NONE },
	/* One word in many dresses; parts of names. */
	{ "unknown Mcp-Session-Id", LOST },
	{ "unknown session_id", LOST },
	{ "unknown sessionId", LOST },
	{ "unknown session/x", NONE },
	{ "unknown session.x", NONE },
	{ "unknown session()", NONE },
	{ "/ session not found", LOST },
	{ "x/session not found", NONE },
	{ "x.session not found", NONE },
	{ "?session not found", NONE },
	{ "/session not found", NONE },
	{ "http://x/session not found", NONE },
	{ "session http://x/y?z not found", LOST },
	{ "session aReallyLongWordWithoutDigits not found", LOST },
	{ "session abcdefghijklmnopqrst not found", LOST },
	{ "session abcdefghijklmnopqrs not found", NONE },
	{ "session \xC3\xA9t\xC3\xA9 not found", NONE },
	/* Error codes. */
	{ "SESSION_NOT_FOUND", LOST },
	{ "error SESSION_NOT_FOUND here", LOST },
	{ "tool SESSION_NOT_FOUND here", NONE },
	{ "session_not_found", LOST },
	{ "session_not_found \n", LOST },
	{ "session_not_found: x", LOST },
	{ "session_not_found here", NONE },
	{ "session_not_found(x)", NONE },
	{ "argument SESSION_EXPIRED here", NONE },
	{ "x session_not_found", NONE },
	{ "sessionNotFound", LOST },
	{ "SessionNotFoundError", LOST },
	{ "InvalidSessionException: x", LOST },
	{ "session-expired", LOST },
	{ "session_terminated", TERMINATED },
	{ "said 'SESSION_EXPIRED'", DOUBT },
	{ "Mcp-Session-Id: not found", LOST },
};

START_TEST(test_phrases)
{
	unsigned found = phrases_find((struct span){
	    texts[_i].text, strlen(texts[_i].text) });

	ck_assert_msg(found == texts[_i].want, "%s: %x, not %x", texts[_i].text,
	    found, texts[_i].want);
}
END_TEST

/* Wherever it stands in a long clause, and however long a word is. */
START_TEST(test_long)
{
	struct buf b;
	int before, i;

	for (before = 0; before < 3 * CLAUSE_WORDS; before++) {
		buf_init(&b, 0);
		for (i = 0; i < before; i++)
			buf_adds(&b, "if ");
		buf_adds(&b, "session was not found if ");
		for (i = 0; i < 70; i++)
			buf_adds(&b, "if ");
		ck_assert_msg(phrases_find(buf_span(&b)) == LOST, "%d", before);
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

/* A pair of marks is no more than 256 bytes apart. */
START_TEST(test_quote_bytes)
{
	static const char words[] = "session terminated";
	struct buf b;
	size_t n;

	for (n = 255; n <= 257; n++) {
		buf_init(&b, 0);
		buf_adds(&b, "x \"");
		buf_adds(&b, words);
		while (b.n < 2 + n)
			buf_addc(&b, ' ');
		buf_adds(&b, "\"");
		ck_assert_msg(phrases_find(buf_span(&b)) ==
			(n <= 256 ? DOUBT : TERMINATED | WHOLE),
		    "%zu", n);
		buf_free(&b);
	}
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

/* Words are found whole only. */
START_TEST(test_roles)
{
	ck_assert(words_roles("session", 7) == W_SESSION);
	ck_assert(words_roles("404", 3) == W_404);
	ck_assert(words_roles("a", 1) == W_ARTICLE);
	ck_assert(words_roles("your", 4) == W_DET);
	ck_assert(words_roles("yourx", 5) == 0);
	ck_assert(words_roles("you", 2) == 0);
	ck_assert(words_roles("zz", 2) == 0);
	ck_assert(words_roles("q", 1) == 0);
	ck_assert(words_roles("4", 1) == 0);
	ck_assert(words_roles("", 0) == 0);
	ck_assert(words_roles("{x", 2) == 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("phrases");
	TCase *tc = tcase_create("phrases");

	tcase_add_loop_test(tc, test_phrases, 0, COUNT(texts));
	tcase_add_test(tc, test_long);
	tcase_add_test(tc, test_quote_bytes);
	tcase_add_test(tc, test_bytes);
	tcase_add_test(tc, test_roles);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
