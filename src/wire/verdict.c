/*
 * What one HTTP answer means. The rules are few on purpose, first match
 * wins; a request that carried no session id can lose none.
 */
#include "config.h"

#include "wire/verdict.h"

#include <strings.h>

#include "wire/msg.h"

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Is the lower-case phrase anywhere in text, whatever text's case is? */
static bool
says(struct span text, const char *phrase)
{
	size_t n = strlen(phrase), i, k;

	for (i = 0; i + n <= text.n; i++) {
		for (k = 0; k < n && lower(text.p[i + k]) == phrase[k]; k++)
			;
		if (k == n)
			return true;
	}
	return false;
}

bool
verdict_says_lost(struct span text)
{
	return says(text, "session terminated") ||
	    says(text, "invalid or expired session");
}

/* It was executing when the session ended: it may have run. */
static bool
says_interrupted(struct span text)
{
	return says(text, "terminated before the request completed");
}

/* Words of a session that cannot be found, for answers that are 404. */
static bool
says_unknown_session(struct span text)
{
	static const char *const phrases[] = {
		"session not found",
		"unknown session",
		"session expired",
		"expired session",
		"invalid session",
		"no valid session",
		"session does not exist",
	};
	size_t i;

	for (i = 0; i < sizeof phrases / sizeof *phrases; i++)
		if (says(text, phrases[i]))
			return true;
	return false;
}

/*
 * A 404 whose body is a JSON-RPC error: some servers map "no such method,
 * tool or resource" to 404. Those codes are answers unless the words are
 * about the session; any other error is one only when it bears our id and
 * does not speak of sessions.
 */
static bool
is_ordinary_404(const struct frame *error, struct span text,
    struct span request_id)
{
	switch (msg_error_code(error)) {
	case -32601:
	case -32602:
	case -32002:
	case -32003:
	case -32004:
		return !says_unknown_session(text);
	default:
		return error->id.p != NULL &&
		    msg_id_same(error->id, request_id) &&
		    !says(text, "session");
	}
}

static bool
is_refused_for_now(int status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

enum verdict
verdict_error(const struct facts *facts, const struct frame *error,
    struct span request_id)
{
	enum verdict verdict = VERDICT_ANSWER;
	struct buf words;
	struct span text;

	if (is_refused_for_now(facts->status))
		verdict = VERDICT_RETRY;
	if (!facts->had_session)
		return verdict;
	buf_init(&words, 0);
	msg_error_text(error, &words);
	text = buf_span(&words);
	if (says_interrupted(text))
		verdict = VERDICT_LOST_MAYBE;
	else if (verdict_says_lost(text))
		verdict = VERDICT_LOST;
	else if (facts->status == 404 &&
	    !is_ordinary_404(error, text, request_id))
		verdict = VERDICT_LOST;
	buf_free(&words);
	return verdict;
}

enum verdict
verdict_bare(const struct facts *facts)
{
	if (facts->ending == ENDING_RESOLVE || facts->ending == ENDING_CONNECT)
		return VERDICT_RETRY;
	if (facts->ending == ENDING_CUT && !facts->sent)
		return VERDICT_RETRY;
	if (facts->ending != ENDING_COMPLETE)
		return VERDICT_FAIL;
	if (facts->had_session && says_interrupted(facts->body))
		return VERDICT_LOST_MAYBE;
	if (facts->had_session && facts->status == 404)
		return VERDICT_LOST;
	/* In plain words, where a server has no JSON-RPC for it. */
	if (facts->had_session && facts->media != MEDIA_HTML &&
	    (facts->status == 400 || facts->status == 422) &&
	    verdict_says_lost(facts->body))
		return VERDICT_LOST;
	if (is_refused_for_now(facts->status))
		return VERDICT_RETRY;
	return VERDICT_FAIL;
}

enum media
verdict_media(const char *content_type)
{
	static const struct {
		const char *name;
		enum media media;
	} known[] = {
		{ "application/json", MEDIA_JSON },
		{ "text/event-stream", MEDIA_SSE },
		{ "text/html", MEDIA_HTML },
		{ "application/xhtml+xml", MEDIA_HTML },
	};
	size_t n, i;

	if (content_type == NULL)
		return MEDIA_NONE;
	content_type += strspn(content_type, " \t");
	n = strcspn(content_type, "; \t");
	if (n == 0)
		return MEDIA_NONE;
	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].name) == n &&
		    strncasecmp(known[i].name, content_type, n) == 0)
			return known[i].media;
	return MEDIA_OTHER;
}

bool
verdict_session_ok(struct span id)
{
	size_t i;

	if (id.n == 0 || id.n > 1024)
		return false;
	for (i = 0; i < id.n; i++)
		if (id.p[i] < 0x21 || id.p[i] > 0x7e)
			return false;
	return true;
}
