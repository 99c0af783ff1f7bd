/*
 * What one HTTP answer means.
 *
 * The words of the answer (core/exchange/server_words) and its status select
 * the first rule of a table that fits. An answer that no rule fits is
 * delivered, or ends the call. A request that carried no session id cannot lose
 * a session, but may need one now; the answer to a DELETE means nothing. The
 * numbers of JSON-RPC errors and the id of the answer never decide that a
 * session is gone, because each server has numbers of its own. The exception is
 * the two numbers by which a later revision refuses an earlier one.
 */
#include "config.h"

#include "core/exchange/verdict.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/exchange/fault.h"
#include "core/exchange/loss_phrases.h"
#include "core/exchange/server_words.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "core/wire/protocol.h"

/* Marks of an answer; they share a word with the phrases of its text. */
#define MARK_FRESH (1u << 16)    /* the session was renewed a moment ago */
#define MARK_PATTERN (1u << 17)  /* a pattern of the user matches */
#define MARK_ORDINARY (1u << 18) /* the code of a missing method or tool */
#define MARK_PAGE (1u << 19)     /* a web page */
#define MARK_ANY (1u << 20)      /* every answer has it */
#define MARK_CREDENTIALS_GOOD (1u << 21) /* the credentials are not the cause */
#define MARK_GET (1u << 22)              /* the request was a GET */
#define MARK_WORKED (1u << 23)   /* such a request worked in this session */
#define MARK_IDLE (1u << 24)     /* the session answered no call for a while */
#define MARK_NO_SENSE (1u << 25) /* an error that tells nothing but a code */

#define LOST_WORDS (PHRASE_LOST | PHRASE_GATE)
#define DOUBTS (PHRASE_DOUBT | PHRASE_MISSING)

/* One row: it fits an answer with a status in from..to that has at least one of
 * the marks in one, and all marks in all. */
struct rule {
	int from, to;
	unsigned one, all;
	enum verdict verdict; /* VERDICT_ANSWER: nothing is lost, the plain
			       * verdict stands */
	const char *text;
};

static const struct rule rules[] = {
	{ 0, 999, PHRASE_VETO, 0, VERDICT_ANSWER,
	    "the text is not about a lost session" },
	{ 0, 999, PHRASE_INTERRUPTED, 0, VERDICT_LOST_MAYBE,
	    "the session ended while the request ran" },
	{ 0, 999, MARK_PATTERN, 0, VERDICT_WORDS,
	    "a --session-lost-pattern matches" },
	{ 404, 404, MARK_PAGE, 0, VERDICT_SUSPECT, "404, a web page" },
	{ 0, 999, MARK_PAGE, 0, VERDICT_ANSWER, "the body is a web page" },
	/* Whatever the text is. */
	{ 401, 401, PHRASE_LOGIN, 0, VERDICT_ANSWER, "401, sign in again" },
	{ 403, 403, PHRASE_LOGIN, 0, VERDICT_ANSWER, "403, sign in again" },
	{ 405, 405, MARK_ANY, 0, VERDICT_ANSWER,
	    "405, the method is not offered" },
	{ 407, 407, MARK_ANY, 0, VERDICT_ANSWER, "407, of a proxy" },
	/* To a GET it says that there is another stream. */
	{ 409, 409, MARK_GET, 0, VERDICT_ANSWER, "409 to a GET" },
	{ 429, 429, MARK_ANY, 0, VERDICT_ANSWER, "429" },
	{ 502, 502, MARK_ANY, 0, VERDICT_ANSWER, "502" },
	{ 504, 504, MARK_ANY, 0, VERDICT_ANSWER, "504" },
	{ 520, 530, MARK_ANY, 0, VERDICT_ANSWER, "520 to 530" },
	/* The text speaks of a lost session. */
	{ 200, 299, PHRASE_GATE | PHRASE_PARAMS, MARK_FRESH, VERDICT_UNREADY,
	    "the new session is not ready" },
	{ 200, 299, PHRASE_PARAMS, 0, VERDICT_GATE,
	    "in-band: invalid request parameters" },
	{ 200, 299, PHRASE_GATE, 0, VERDICT_GATE, "in-band: not initialized" },
	{ 200, 299, PHRASE_LOST, 0, VERDICT_WORDS,
	    "in-band: the session is unknown" },
	{ 300, 599, PHRASE_GATE, 0, VERDICT_GATE, "refused, not initialized" },
	{ 404, 404, PHRASE_LOST, 0, VERDICT_WORDS,
	    "404, the session is unknown" },
	{ 300, 599, PHRASE_LOST, 0, VERDICT_WORDS,
	    "refused, the session is unknown" },
	{ 401, 403, PHRASE_OWNER, 0, VERDICT_WORDS,
	    "refused, the session is another user's" },
	{ 401, 403, PHRASE_MISSING, 0, VERDICT_SUSPECT,
	    "refused, a session id is required" },
	{ 401, 403, MARK_CREDENTIALS_GOOD, 0, VERDICT_WORDS,
	    "401 or 403 to good credentials" },
	{ 401, 401, MARK_ANY, 0, VERDICT_ANSWER, "401" },
	{ 403, 403, MARK_ANY, 0, VERDICT_ANSWER, "403" },
	/* It may be about another session, or about none. */
	{ 200, 299, PHRASE_DOUBT | PHRASE_CONNECTION, 0, VERDICT_SUSPECT,
	    "in-band: a session or connection is gone" },
	/* What worked before is no longer understood. */
	{ 200, 299, MARK_NO_SENSE, MARK_WORKED | MARK_IDLE, VERDICT_SUSPECT,
	    "in-band: an error that makes no sense, after a pause" },
	{ 413, 413, MARK_ANY, 0, VERDICT_ANSWER, "413" },
	{ 415, 415, MARK_ANY, 0, VERDICT_ANSWER, "415" },
	{ 400, 499, DOUBTS, 0, VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
	{ 400, 499, MARK_ORDINARY, 0, VERDICT_ANSWER,
	    "refused, method, tool or resource not found" },
	{ 404, 404, MARK_ANY, 0, VERDICT_SUSPECT,
	    "404, no text about a session" },
	{ 410, 410, MARK_ANY, 0, VERDICT_SUSPECT, "410" },
	{ 400, 499, MARK_GET, 0, VERDICT_ANSWER, "the stream is refused" },
	/* Not all servers speak English. */
	{ 400, 499, MARK_ANY, 0, VERDICT_SUSPECT, "refused" },
	{ 503, 503, MARK_ANY, 0, VERDICT_ANSWER, "503" },
	{ 500, 599, PHRASE_DOUBT, 0, VERDICT_SUSPECT,
	    "refused, the text mentions a session" },
};

/* Is it a code that servers which map errors to 404 use for a missing method,
 * tool or resource? */
static bool
is_ordinary(long code)
{
	return code == -32601 || code == -32602 ||
	    (code <= -32002 && code >= -32004);
}

const char verdict_other_era[] =
    "400, the server speaks another revision of the protocol";

/* Does this error say nothing but that the server failed, or that it took the
 * message for none? */
static bool
makes_no_sense(const struct frame *error, long code, struct span text)
{
	text = span_trim(text, "\n");
	if (code == FAULT_INTERNAL)
		return text.n == 0 || span_is_nocase(text, "internal error");
	return code == FAULT_REQUEST && span_is(error->id, "null") &&
	    span_is_nocase(text, "invalid request");
}

/* Does a pattern of the user match the text? A NUL in the text becomes a blank,
 * because regexec would stop there. */
static bool
is_pattern(const struct verdict_rules *more, struct span text)
{
	size_t i;
	char *copy;
	bool hit = false;

	if (more->n == 0 || text.n == 0)
		return false;
	if (text.n > BOUND_NOTE_BYTES)
		text.n = BOUND_NOTE_BYTES;
	copy = xmalloc(text.n + 1);
	for (i = 0; i < text.n; i++)
		copy[i] = text.p[i] == '\0' ? ' ' : text.p[i];
	copy[text.n] = '\0';
	for (i = 0; i < more->n && !hit; i++)
		hit = regexec(&more->lost[i], copy, 0, NULL, 0) == 0;
	free(copy);
	return hit;
}

static unsigned
marks_of(const struct facts *facts, const struct server_words *said,
    const struct verdict_rules *more)
{
	unsigned marks = MARK_ANY | said->phrases;
	struct span text = buf_span(&said->text);

	if (facts->fresh)
		marks |= MARK_FRESH;
	if (facts->verb == VERB_GET)
		marks |= MARK_GET;
	if (facts->worked)
		marks |= MARK_WORKED;
	if (facts->idle)
		marks |= MARK_IDLE;
	if (is_pattern(more, text))
		marks |= MARK_PATTERN;
	if (is_ordinary(said->code))
		marks |= MARK_ORDINARY;
	if (said->page)
		marks = (marks & ~(unsigned)PHRASE_INTERRUPTED) | MARK_PAGE;
	if (said->no_sense)
		marks |= MARK_NO_SENSE;
	if (facts->credentials_known_good)
		marks |= MARK_CREDENTIALS_GOOD;
	return marks;
}

/* Returns the ruling of the first rule that fits, or plain if none does. */
static struct ruling
rule_for(const struct facts *facts, unsigned marks, struct ruling plain)
{
	const struct rule *r;
	size_t i;

	for (i = 0; i < sizeof rules / sizeof *rules; i++) {
		r = &rules[i];
		if (facts->status < r->from || facts->status > r->to ||
		    (marks & r->one) == 0 || (marks & r->all) != r->all)
			continue;
		plain.rule = r->text;
		if (r->verdict != VERDICT_ANSWER)
			plain.verdict = r->verdict;
		break;
	}
	return plain;
}

/* Returns the ruling for an answer that has nothing to do with the session. */
static struct ruling
plain_ruling(const struct facts *facts, enum verdict verdict, const char *rule)
{
	if (verdict_is_for_now(facts->status))
		return (struct ruling){ VERDICT_RETRY, "refused for now" };
	return (struct ruling){ verdict, rule };
}

/* A server that gave no session id may have a session all the same, as a
 * gateway in front of a server with sessions has, or may want one by now. Words
 * that would tell of a loss then only make the session suspect. But a 401 or 403
 * is about credentials: initialize carries no session id either. */
static struct ruling
rule_without_id(const struct facts *facts, const struct server_words *said,
    const struct verdict_rules *more, struct ruling plain)
{
	unsigned words = LOST_WORDS | MARK_PATTERN;
	unsigned marks = marks_of(facts, said, more);
	struct ruling r = rule_for(facts, marks, plain);

	if (facts->status == 401 || facts->status == 403)
		return plain;
	if (facts->status == 400 || facts->status == 404)
		words |= PHRASE_MISSING;
	if ((marks & words) == 0 ||
	    (r.verdict != VERDICT_WORDS && r.verdict != VERDICT_GATE &&
		r.verdict != VERDICT_SUSPECT))
		return plain;
	return (struct ruling){
		VERDICT_SUSPECT,
		"the text mentions a session, but the server gave no session id"
	};
}

static struct ruling
rule_said(const struct facts *facts, const struct server_words *said,
    const struct verdict_rules *more, struct ruling plain)
{
	if (!facts->had_session)
		return rule_without_id(facts, said, more, plain);
	return rule_for(facts, marks_of(facts, said, more), plain);
}

static const struct ruling other_revision = { VERDICT_SUSPECT,
	"400, the revision of the session is refused" };

struct ruling
verdict_error(const struct facts *facts, const struct frame *error,
    const struct verdict_rules *more)
{
	struct ruling r = plain_ruling(facts, VERDICT_ANSWER, "an error");
	long code = msg_error_code(error);
	struct server_words said;

	/* A server of 2026-07-28 refuses a request that does not name a revision
	 * which it speaks, before it runs anything (streamable HTTP, protocol
	 * version header). */
	if (facts->status == 400 && code == ERROR_UNSUPPORTED_VERSION)
		return (struct ruling){ VERDICT_LOST, verdict_other_era };
	/* Else these numbers speak of one request, whatever the words are. */
	if (code <= ERROR_HEADER_MISMATCH && code >= ERROR_UNSUPPORTED_VERSION)
		return r;
	if (facts->other_revision)
		return other_revision;
	server_words_of_error(&said, error->error);
	said.no_sense = makes_no_sense(error, code, buf_span(&said.text));
	r = rule_said(facts, &said, more, r);
	server_words_free(&said);
	return r;
}

/* Many results have neither an E nor an escape, and then no isError. */
static bool
is_error(struct span result)
{
	return (memchr(result.p, 'E', result.n) != NULL ||
		   memchr(result.p, '\\', result.n) != NULL) &&
	    span_is(json_get(result, "isError"), "true");
}

/* A tool may speak of sessions of its own: only the user can know, by
 * in_results. */
struct ruling
verdict_result(const struct facts *facts, const struct frame *result,
    const struct verdict_rules *more, bool *hint)
{
	const struct verdict_rules none = { NULL, 0, false };
	struct ruling r = { VERDICT_ANSWER, "a result" };
	struct server_words said;
	unsigned marks;

	*hint = false;
	if (!facts->had_session || result->result.n > BOUND_HEADER_BYTES ||
	    !is_error(result->result))
		return r;
	server_words_of_result(&said, result->result);
	marks = marks_of(facts, &said, more->in_results ? more : &none);
	server_words_free(&said);
	if (marks & PHRASE_VETO)
		return r;
	if (marks & PHRASE_INTERRUPTED)
		r = (struct ruling){ VERDICT_LOST_MAYBE,
			"a result: the session ended while the request ran" };
	else if (marks & (LOST_WORDS | MARK_PATTERN))
		r = (struct ruling){ VERDICT_LOST,
			"a result mentions a lost session" };
	if (more->in_results || r.verdict == VERDICT_ANSWER)
		return r;
	*hint = true;
	r.verdict = VERDICT_ANSWER;
	return r;
}

/* Sets *r if the ending of the exchange alone decides. */
static bool
is_cut(const struct facts *facts, struct ruling *r)
{
	enum ending ending = facts->ending;

	if (ending == ENDING_COMPLETE)
		return false;
	if (ending == ENDING_RESOLVE || ending == ENDING_CONNECT ||
	    (ending == ENDING_CUT && !facts->sent))
		*r = (struct ruling){ VERDICT_RETRY, "nothing was sent" };
	else if (ending == ENDING_CUT)
		*r = (struct ruling){ VERDICT_FAIL, "cut before the answer" };
	else
		*r = (struct ruling){ VERDICT_FAIL, "no answer" };
	return true;
}

const char verdict_elsewhere[] =
    "404 or 405 to a POST, the server may speak another transport";

/* Without an id there is no session to lose, but there may be another server
 * now, one that takes POSTs at another URL. Its 404 is empty, or a web page as
 * frameworks send for a missing route, and has no PHRASE_VETO. */
static bool
is_elsewhere(const struct facts *facts, const struct server_words *said)
{
	return facts->status == 404 && facts->verb == VERB_POST &&
	    !facts->had_session && (said->page || facts->body.n == 0) &&
	    (said->phrases & PHRASE_VETO) == 0;
}

/* Some frameworks label every text as HTML; a real page has at least one
 * tag. */
struct ruling
verdict_bare(const struct facts *facts, const struct verdict_rules *more)
{
	struct ruling r;
	struct server_words said;
	bool page = facts->media == MEDIA_HTML && facts->body.n > 0 &&
	    memchr(facts->body.p, '<', facts->body.n) != NULL;

	if (facts->session_ended)
		return (struct ruling){
			facts->status == 0 || facts->ran_unless_changed ?
			    VERDICT_LOST_MAYBE :
			    VERDICT_LOST,
			"the stream of the session ended, or the server changed"
		};
	if (is_cut(facts, &r))
		return r;
	if (facts->other_revision)
		return other_revision;
	if (facts->status == 405 && facts->verb == VERB_POST)
		return (struct ruling){ VERDICT_SUSPECT, verdict_elsewhere };
	r = plain_ruling(facts, VERDICT_FAIL, "no message in the answer");
	if (facts->verb == VERB_DELETE)
		return r;
	server_words_of_body(&said, facts->body, page);
	r = rule_said(facts, &said, more, r);
	if (is_elsewhere(facts, &said))
		r = (struct ruling){ VERDICT_SUSPECT, verdict_elsewhere };
	server_words_free(&said);
	return r;
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
	n = strcspn(content_type, ";, \t");
	if (n == 0)
		return MEDIA_NONE;
	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (span_is_nocase((struct span){ content_type, n },
			known[i].name))
			return known[i].media;
	return MEDIA_OTHER;
}

/* Does text begin with want? Sets *more if it ends before that is known. */
static bool
begins(struct span text, const char *want, bool *more)
{
	size_t n = strlen(want);
	bool same = memcmp(text.p, want, text.n < n ? text.n : n) == 0;

	*more = *more || (same && text.n < n);
	return same && text.n >= n;
}

bool
verdict_body(struct span start, enum media *media)
{
	static const char *const fields[] = { ":",
		"data:", "event:", "id:", "retry:" };
	static const char bom[] = "\xEF\xBB\xBF";
	bool more = start.n == 0;
	size_t i;

	if (!more && begins(start, bom, &more))
		start = (struct span){ start.p + sizeof bom - 1,
			start.n - (sizeof bom - 1) };
	if (more || start.n == 0)
		return false;
	if (start.p[0] == '{' || start.p[0] == '[') {
		*media = MEDIA_JSON;
		return true;
	}
	for (i = 0; i < sizeof fields / sizeof *fields && !more; i++) {
		if (begins(start, fields[i], &more)) {
			*media = MEDIA_SSE;
			return true;
		}
	}
	return !more;
}

bool
verdict_session_ok(struct span id)
{
	return id.n > 0 && id.n <= BOUND_HEADER_BYTES &&
	    span_is_printable(id, '!');
}
