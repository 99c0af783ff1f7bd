/*
 * Collects the texts of an answer.
 *
 * In JSON only the members count in which servers put their words; other
 * members (stack traces, echoed arguments) are ignored. Objects are searched
 * two levels deep. If a text of a result is itself JSON, it is searched too,
 * once. The amount of text that is kept is bounded.
 */
#include "config.h"

#include "core/exchange/server_words.h"

#include <stdlib.h>

#include <strings.h>

#include "base/bounds.h"
#include "core/exchange/loss_phrases.h"
#include "core/wire/json.h"

/* Keeps one text for the user's patterns and searches it for phrases. */
static void
add_text(struct server_words *s, struct span text)
{
	if (buf_addspan(&s->text, text) != 0 || buf_addc(&s->text, '\n') != 0)
		return;
	s->phrases |= phrases_find(text);
}

/* Decodes a JSON string into s->text and searches it for phrases. */
static void
add_string(struct server_words *s, struct span value)
{
	size_t start = s->text.n;

	if (json_string(value, &s->text) != 0 || s->text.n == start)
		return;
	s->phrases |= phrases_find((struct span){
	    s->text.p + start, s->text.n - start });
	buf_addc(&s->text, '\n');
}

enum member { M_OTHER, M_WORDS, M_ERROR, M_DATA, M_CODE };

/* Finds the kind of a member by its name. */
static enum member
member_of(struct span key)
{
	static const struct {
		const char *name;
		enum member member;
	} known[] = { { "message", M_WORDS }, { "detail", M_WORDS },
		{ "error_description", M_WORDS }, { "title", M_WORDS },
		{ "reason", M_WORDS }, { "recovery", M_WORDS },
		{ "condition", M_WORDS }, { "error", M_ERROR },
		{ "jsonRpcError", M_ERROR }, { "data", M_DATA },
		{ "code", M_CODE } };
	size_t i;

	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (json_key_is(key, known[i].name))
			return known[i].member;
	return M_OTHER;
}

/* Adds the members of error.data, or of an object in the place of a text. A
 * member that is true speaks by its name: requiresReinitialize. */
static void
add_inner(struct server_words *s, struct span object)
{
	struct span key, value;
	size_t at = 0;

	while (json_next(object, &at, &key, &value))
		if (span_is(value, "true"))
			add_text(s, key);
		else if (member_of(key) != M_OTHER)
			add_string(s, value);
}

/* Adds the error object of JSON-RPC, or a similar object. */
static void
add_error(struct server_words *s, struct span error)
{
	struct span key, value;
	enum member member;
	size_t at = 0;

	while (json_next(error, &at, &key, &value)) {
		member = member_of(key);
		if (member == M_CODE && json_kind(value) != '"')
			s->code = strtol(value.p, NULL, 10);
		else if (member == M_DATA && json_kind(value) == '{')
			add_inner(s, value);
		else if (member != M_OTHER)
			add_string(s, value);
	}
}

/* Adds one member of a body that is a JSON object. */
static void
add_member(struct span key, struct span value, void *arg)
{
	struct server_words *s = arg;
	enum member member = member_of(key);

	if (member == M_OTHER || member == M_DATA)
		return;
	if (json_kind(value) == '"')
		add_string(s, value);
	else if (member == M_ERROR)
		add_error(s, value);
	else
		add_inner(s, value);
}

/* Adds a body that is JSON with words in it: an object, or one string. If the
 * check fails in the end, as for a body that was cut, s is restored. Returns
 * false if the body is not such JSON. */
static bool
add_json(struct server_words *s, struct span text)
{
	enum json_status status;
	struct server_words was;
	size_t n = s->text.n;

	if (json_kind(text) != '{' && json_kind(text) != '"')
		return false;
	was = *s;
	status = json_check(text, BOUND_SOME, add_member, s, NULL);
	if (status != JSON_OK && status != JSON_UTF8) {
		was.text = s->text;
		was.text.n = n;
		*s = was;
		return false;
	}
	if (json_kind(text) == '"')
		add_string(s, text);
	return true;
}

/* Does the tag at p (after its "<") have this name? */
static bool
is_tag(const char *p, const char *end, const char *name)
{
	size_t n = strlen(name);

	return (size_t)(end - p) > n && strncasecmp(p, name, n) == 0 &&
	    memchr(" \t\r\n>/", p[n], 6) != NULL;
}

/* Returns the end of the tag at p, including the content of a script or style
 * element; or the end of a comment. */
static const char *
pass_tag(const char *p, const char *end)
{
	const char *close = NULL;

	p++;
	if (end - p > 3 && memcmp(p, "!--", 3) == 0) {
		for (p += 3; end - p > 2 && memcmp(p, "-->", 3) != 0; p++)
			;
		return end - p > 2 ? p + 3 : end;
	}
	if (is_tag(p, end, "script"))
		close = "/script";
	else if (is_tag(p, end, "style"))
		close = "/style";
	for (; close != NULL && p < end; p++)
		if (*p == '<' && is_tag(p + 1, end, close))
			break;
	p = p == end ? NULL : memchr(p, '>', (size_t)(end - p));
	return p == NULL ? end : p + 1;
}

/* Adds the text of a page that a reader would see; every tag ends a line. */
static void
add_page(struct server_words *s, struct span body)
{
	const char *p = body.p, *end = body.p + body.n, *stop;
	struct buf text;

	buf_init(&text, BOUND_LOSS_TEXT_BYTES);
	while (p < end) {
		stop = memchr(p, '<', (size_t)(end - p));
		if (stop == NULL)
			stop = end;
		if (stop > p &&
		    (buf_add(&text, p, (size_t)(stop - p)) != 0 ||
			buf_addc(&text, '\n') != 0))
			break;
		p = stop == end ? end : pass_tag(stop, end);
	}
	add_text(s, buf_span(&text));
	buf_free(&text);
}

static struct span
trim(struct span text)
{
	if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0) {
		text.p += 3;
		text.n -= 3;
	}
	return span_trim(text, " \t\r\n");
}

void
server_words_of_error(struct server_words *s, struct span error)
{
	memset(s, 0, sizeof *s);
	buf_init(&s->text, BOUND_LOSS_TEXT_BYTES);
	add_error(s, error);
}

void
server_words_of_body(struct server_words *s, struct span body, bool page)
{
	memset(s, 0, sizeof *s);
	buf_init(&s->text, BOUND_LOSS_TEXT_BYTES);
	body = trim(body);
	if (body.n == 0 || add_json(s, body))
		return;
	s->page = page || json_kind(body) == '<';
	if (s->page)
		add_page(s, body);
	else
		add_text(s, body);
}

void
server_words_of_result(struct server_words *s, struct span result)
{
	struct span content = json_get(result, "content"), key, item;
	struct buf text;
	size_t at = 0;

	memset(s, 0, sizeof *s);
	buf_init(&s->text, BOUND_LOSS_TEXT_BYTES);
	while (json_next(content, &at, &key, &item)) {
		buf_init(&text, BOUND_LOSS_TEXT_BYTES);
		if (json_string(json_get(item, "text"), &text) == 0 &&
		    !add_json(s, trim(buf_span(&text))))
			add_text(s, buf_span(&text));
		buf_free(&text);
	}
}

void
server_words_free(struct server_words *s)
{
	buf_free(&s->text);
}
