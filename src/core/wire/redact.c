/*
 * Redaction: one pass over the text, and no tree. A string is a name if a colon
 * follows it.
 *
 * JSON in a string has its quotes escaped once or more. There a quote is a run
 * of backslashes with the quote mark behind it, and the quote that ends a text
 * is a run of the same length.
 */
#include "config.h"

#include "core/wire/redact.h"

#include <ctype.h>

#include "base/codec.h"
#include "core/wire/json.h"

#define REDACTED "(redacted)"
#define NAME_BYTES 128  /* of a name that is looked at */
#define INNER_BYTES 512 /* of one in JSON that stands in a string */
#define TOKEN_BYTES 16  /* a shorter word behind "Basic" may be English */

static bool
ends_with(const char *text, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n >= m && memcmp(text + n - m, end, m) == 0;
}

/* Copies the letters and digits of a name, in lower case. */
static size_t
plain_name(struct span name, char plain[NAME_BYTES + 1])
{
	struct buf text;
	size_t i, n = 0;

	buf_init(&text, 0);
	if (json_string((struct span){ name.p - 1, name.n + 2 }, &text) != 0)
		buf_addspan(&text, name);
	for (i = 0; i < text.n && n < NAME_BYTES; i++)
		if (isalnum((unsigned char)text.p[i]))
			plain[n++] = (char)tolower((unsigned char)text.p[i]);
	plain[n] = '\0';
	buf_free(&text);
	return n;
}

/* Is a member with this name (raw, between its quotes) a secret? */
static bool
is_secret(struct span name)
{
	static const char *const parts[] = { "secret", "password", "passwd",
		"passphrase", "authorization", "apikey", "accesskey",
		"privatekey", "cookie", "credential", "bearer",
		"clientassertion", "codeverifier" };
	static const char *const words[] = { "auth", "pwd", "jwt", "sessionid",
		"mcpsessionid" };
	char plain[NAME_BYTES + 1];
	size_t i, n = plain_name(name, plain);

	for (i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(plain, parts[i]) != NULL)
			return true;
	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(plain, words[i]) == 0)
			return true;
	return (ends_with(plain, n, "token") ||
		   ends_with(plain, n, "tokens")) &&
	    strcmp(plain, "progresstoken") != 0;
}

/* Is the value of such a member to be hidden? Words and the numbers of tokens
 * ("maxTokens") are no secrets. */
static bool
is_hidden(struct span name, char kind)
{
	if (kind == 't' || kind == 'f' || kind == 'n')
		return false;
	if (kind == '-' || isdigit((unsigned char)kind))
		return !(name.n > 0 && (name.p[name.n - 1] | 32) == 's') &&
		    is_secret(name);
	return is_secret(name);
}

static const char *
skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p;
}

/* Does the text at p begin with this word, whatever its case is? */
static bool
begins(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - p) >= n &&
	    span_is_nocase((struct span){ p, n }, word);
}

/* --- texts --- */

/* Returns where a word of a URL ends: at a blank, a quote or an escape that is
 * not that of a slash or of a character ("\/", "\u0026"). */
static const char *
url_end(const char *p, const char *end, const char *stops)
{
	const char *next;

	for (; p < end; p++) {
		if ((unsigned char)*p <= ' ' || strchr("\"<>", *p) != NULL ||
		    strchr(stops, *p) != NULL)
			return p;
		if (*p != '\\')
			continue;
		for (next = p; next < end && *next == '\\'; next++)
			;
		if (next == end || (*next != 'u' && *next != '/'))
			return p;
		p = next;
	}
	return end;
}

/* Copies a URL from behind "://", without its user, query and fragment. */
static const char *
redact_url(struct buf *out, const char *p, const char *end)
{
	const char *rest = url_end(p, end, "/?#"), *at;

	for (at = rest; at > p && at[-1] != '@'; at--)
		;
	if (at > p) {
		buf_adds(out, REDACTED "@");
		p = at;
	}
	rest = url_end(p, end, "?#");
	buf_add(out, p, (size_t)(rest - p));
	if (rest == end || (*rest != '?' && *rest != '#'))
		return rest;
	buf_addc(out, *rest);
	buf_adds(out, REDACTED);
	return url_end(rest, end, "");
}

/* Looks at the run of backslashes at p. Returns the length of the escaped quote
 * that it is, or 0, and the length of all that is to be passed. After an even
 * number of backslashes a quote is not escaped: it ends the string. "\u0022" is
 * how .NET escapes one. */
static size_t
quote_at(const char *p, const char *end, size_t *pass)
{
	size_t n = 0;
	bool odd;

	while (p + n < end && p[n] == '\\')
		n++;
	if (n > 0 && begins(p + n, end, "u0022"))
		return *pass = n + 5;
	odd = n % 2 == 1 && p + n < end;
	*pass = n + odd;
	return odd && p[n] == '"' ? n + 1 : 0;
}

/* Finds the next quote of this length; end: there is none. */
static const char *
find_quote(const char *p, const char *end, size_t length)
{
	size_t pass;

	while (p < end) {
		if (quote_at(p, end, &pass) == length)
			return p;
		p += pass > 0 ? pass : 1;
	}
	return end;
}

/* Returns where the value ends in JSON inside of a string. */
static const char *
inner_value_end(const char *p, const char *end, size_t quote)
{
	size_t pass, depth = 0;
	const char *stop;

	do {
		if (quote_at(p, end, &pass) == quote) {
			stop = find_quote(p + quote, end, quote);
			p = stop == end ? end : stop + quote;
			continue;
		}
		if (depth == 0 && *p != '[' && *p != '{') {
			while (p < end && strchr(",]}\\ ", *p) == NULL)
				p++;
			return p;
		}
		depth += *p == '[' || *p == '{';
		depth -= *p == ']' || *p == '}';
		p += pass > 0 ? pass : 1;
	} while (depth > 0 && p < end);
	return p;
}

/* Passes white space, also where it is escaped as the quotes are. */
static const char *
skip_escaped_space(const char *p, const char *end)
{
	const char *next;

	for (;;) {
		p = skip_space(p, end);
		for (next = p; next < end && *next == '\\'; next++)
			;
		if (next == p || next == end || strchr("nrt", *next) == NULL)
			return p;
		p = next + 1;
	}
}

/* Copies the escaped quote at p and, if it begins the name of a secret, all up
 * to the end of its value. A longer name is not looked for: a text of quotes
 * that have no fellow would be read again for each. */
static const char *
redact_inner(struct buf *out, const char *p, const char *end, size_t quote)
{
	const char *name = p + quote, *value;
	const char *last = end - name > INNER_BYTES ? name + INNER_BYTES : end;
	const char *stop = find_quote(name, last, quote);
	struct span key = { name, (size_t)(stop - name) }, mark = { p, quote };

	value = stop == last ? end : skip_escaped_space(stop + quote, end);
	if (value < end && *value == ':') {
		value = skip_escaped_space(value + 1, end);
		if (value < end &&
		    is_hidden(key, *value == '\\' ? '"' : *value)) {
			buf_add(out, p, (size_t)(value - p));
			buf_addspan(out, mark);
			buf_adds(out, REDACTED);
			buf_addspan(out, mark);
			return inner_value_end(value, end, quote);
		}
	}
	buf_addspan(out, mark);
	return name;
}

/* Copies the name of a scheme without the token behind it. Returns p if none
 * begins there. */
static const char *
redact_scheme(struct buf *out, const char *p, const char *end)
{
	static const char *const schemes[] = { "bearer ", "basic ", "dpop ",
		"negotiate " };
	const char *token, *stop;
	size_t i;

	for (i = 0; i < sizeof schemes / sizeof *schemes; i++) {
		if (!begins(p, end, schemes[i]))
			continue;
		token = p + strlen(schemes[i]);
		stop = url_end(token, end, ",");
		if (stop - token < TOKEN_BYTES)
			return p;
		buf_add(out, p, (size_t)(token - p));
		buf_adds(out, REDACTED);
		return stop;
	}
	return p;
}

/* Copies the backslashes at p with what they escape. */
static const char *
redact_escape(struct buf *out, const char *p, const char *end)
{
	size_t pass, quote = quote_at(p, end, &pass);

	if (quote > 0)
		return redact_inner(out, p, end, quote);
	buf_add(out, p, pass);
	return p + pass;
}

/* Copies text, such as the inside of a string, up to a little beyond limit. */
static void
redact_string(struct buf *out, const char *p, const char *end, size_t limit)
{
	const char *next;
	size_t n;

	while (p < end && out->n <= limit) {
		n = begins(p, end, "://")     ? 3 :
		    begins(p, end, ":\\/\\/") ? 5 :
						0;
		if (n > 0) {
			buf_add(out, p, n);
			p = redact_url(out, p + n, end);
			continue;
		}
		next = *p == '\\' ? redact_escape(out, p, end) :
				    redact_scheme(out, p, end);
		if (next == p)
			buf_addc(out, *p++);
		else
			p = next;
	}
}

void
redact_words(struct buf *out, struct span text, size_t max)
{
	if (text.n > 0)
		redact_string(out, text.p, text.p + text.n, out->n + max);
}

/* --- messages --- */

/* Copies a string (with its quotes). A secret may be spelled with escapes, so
 * those that are not needed go. */
static void
redact_value(struct buf *out, struct span string, size_t limit)
{
	struct buf plain, quoted;
	const char *last;

	buf_init(&plain, 0);
	buf_init(&quoted, 0);
	if (json_string(string, &plain) == 0) {
		codec_json_string(&quoted, buf_span(&plain));
		string = buf_span(&quoted);
	}
	/* Whatever is hidden, its quotes stay. */
	buf_addc(out, '"');
	last = string.p + string.n;
	last -= string.n > 1 && last[-1] == '"';
	redact_string(out, string.p + 1, last, limit);
	buf_add(out, last, (size_t)(string.p + string.n - last));
	buf_free(&plain);
	buf_free(&quoted);
}

/* Copies the name at p (to stop) and its colon, and a value that is hidden.
 * Returns what follows. */
static const char *
redact_member(struct buf *out, const char *p, const char *stop, const char *end)
{
	struct span name = { p + 1, (size_t)(stop - p) - 2 };
	const char *value = skip_space(stop, end);

	value = skip_space(value + 1, end);
	buf_add(out, p, (size_t)(value - p));
	if (value == end || !is_hidden(name, *value))
		return value;
	buf_adds(out, "\"" REDACTED "\"");
	return json_pass_value(value, end);
}

bool
redact_json(struct buf *out, struct span text, size_t max)
{
	const char *p = text.p, *end = text.p + text.n, *stop, *after;
	size_t limit = out->n + max;

	while (p < end && out->n <= limit) {
		if (*p != '"') {
			stop = memchr(p, '"', (size_t)(end - p));
			stop = stop == NULL ? end : stop;
			buf_add(out, p, (size_t)(stop - p));
			p = stop;
			continue;
		}
		stop = json_pass_string(p, end);
		after = skip_space(stop, end);
		if (after < end && *after == ':') {
			p = redact_member(out, p, stop, end);
		} else {
			redact_value(out,
			    (struct span){ p, (size_t)(stop - p) }, limit);
			p = stop;
		}
	}
	if (out->n <= limit)
		return true;
	out->n = limit;
	return false;
}

/* --- the path of a URL --- */

/* Do the letters and digits of a segment look as if a machine had drawn them?
 * They do if they change often between letters and digits, or if they are many
 * without a word's end. */
static bool
is_random(struct span s)
{
	enum { SHORT = 16, UNBROKEN = 32, CHANGES = 4 };
	size_t i, changes = 0, digits = 0, run = 0, longest = 0;
	bool digit, last = false;

	for (i = 0; i < s.n; i++) {
		if (!isalnum((unsigned char)s.p[i])) {
			run = 0;
			continue;
		}
		digit = isdigit((unsigned char)s.p[i]) != 0;
		changes += run > 0 && digit != last;
		digits += digit;
		last = digit;
		if (++run > longest)
			longest = run;
	}
	return longest >= UNBROKEN ||
	    (s.n >= SHORT && digits >= 3 && changes >= CHANGES);
}

static bool
is_key(struct span s)
{
	static const char *const begins_with[] = { "sk-", "sk_", "pk_", "rk_",
		"ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-",
		"xoxb-", "xoxp-", "eyJ", "AKIA", "AIza", "key-", "key_", "api-",
		"api_", "tok_", "npm_", "hf_" };
	enum { SHORTEST = 8 }; /* behind the prefix: it may be a word */
	size_t i, n;

	for (i = 0; i < sizeof begins_with / sizeof *begins_with; i++) {
		n = strlen(begins_with[i]);
		if (s.n >= n + SHORTEST && memcmp(s.p, begins_with[i], n) == 0)
			return true;
	}
	return false;
}

/* What stands between words. */
#define BETWEEN " \t\n\"'(),;=:@?/\\"

char *
redact_tokens(char *message)
{
	const char *text = message;
	struct span word;
	struct buf out;
	bool path;
	size_t n;

	buf_init(&out, 0);
	while (*text != '\0') {
		n = strspn(text, BETWEEN);
		n += strspn(text + n, "-");
		buf_add(&out, text, n);
		text += n;
		word = span_of(text);
		word.n = strcspn(text, BETWEEN);
		path = text[word.n] == '/' ||
		    (n == 1 && text[-1] == '/' && text - 1 > message);
		if ((is_key(word) &&
			strcspn(text, "0123456789" BETWEEN) < word.n) ||
		    (!path && is_random(word)))
			buf_adds(&out, REDACTED);
		else
			buf_addspan(&out, word);
		text += word.n;
	}
	string_wipe(&message);
	return buf_take(&out);
}

/* Is this segment the name of what follows it? "auth" is not: it stands in the
 * paths of many servers. */
static bool
names_secret(struct span s)
{
	return span_is_nocase(s, "key") ||
	    (s.n > 0 && !span_is_nocase(s, "auth") && is_secret(s));
}

static bool
is_endpoint(struct span s)
{
	return s.n == 0 || span_is_nocase(s, "mcp") || span_is_nocase(s, "sse");
}

/* Is this part of a URL a secret? before is the part in front of it. */
static bool
is_secret_part(struct span part, struct span before)
{
	return is_key(part) || is_random(part) ||
	    (names_secret(before) && !is_endpoint(part));
}

void
redact_find(struct span url, redact_found *found, void *arg)
{
	const char *end = url.p + url.n, *p = span_find(url, "://"), *stop;
	struct span part, before = no_span;

	if (p == NULL)
		return;
	for (p = url_end(p + 3, end, "/?#"); p < end; p = stop) {
		stop = url_end(p + 1, end, "/?#&=;");
		part = (struct span){ p + 1, (size_t)(stop - p) - 1 };
		if (is_secret_part(part, before))
			found(part, arg);
		before = part;
	}
}

bool
redact_proxy_user(const char *url, struct span *user)
{
	size_t n = strcspn(url, ":/?#@[");
	const char *start = url +
	    (begins(url + n, url + strlen(url), "://") ? n + 3 : 0);
	const char *end = strrchr(start, '@'), *port;

	if (end == NULL || strchr("/?#", end[1]) != NULL) {
		port = start + (*start == '[' ? strcspn(start, "]") : 0);
		port += strcspn(port, ":/?#");
		if (*port == ':')
			port += 1 + strspn(port + 1, "0123456789");
		end = strchr("/?#", *port) != NULL ? start :
						     start + strlen(start);
	}
	*user = (struct span){ start, (size_t)(end - start) };
	return user->n > 0;
}

void
redact_proxy(struct buf *out, const char *url)
{
	const char *host;
	struct span user;

	redact_proxy_user(url, &user);
	host = user.p + user.n;
	host += *host == '@';
	buf_add(out, url, (size_t)(user.p - url));
	buf_add(out, host, strcspn(host, "/?#"));
}

void
redact_path(struct buf *out, struct span url, const char *mask)
{
	const char *end = url.p + url.n, *p = url.p, *stop, *at;
	struct span segment, before = { NULL, 0 };

	for (; p < end && !begins(p, end, "://"); p++)
		;
	if (p == end) {
		buf_addspan(out, url);
		return;
	}
	p += 3;
	stop = url_end(p, end, "/?#");
	for (at = stop; at > p && at[-1] != '@'; at--)
		;
	buf_add(out, url.p, (size_t)(p - url.p));
	if (at > p)
		buf_addf(out, "%s@", mask);
	buf_add(out, at, (size_t)(stop - at));
	for (p = stop; p < end && strchr("/;=&", *p) != NULL; p = stop) {
		stop = url_end(p + 1, end, "/?#;=&");
		segment = (struct span){ p + 1, (size_t)(stop - p) - 1 };
		buf_addc(out, *p);
		if (is_secret_part(segment, before))
			buf_adds(out, mask);
		else
			buf_addspan(out, segment);
		before = segment;
	}
	if (p < end)
		buf_addf(out, "%c%s", *p, mask);
}
