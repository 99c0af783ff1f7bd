/* proxy/trace: what is known to be secret is not in the file, however a server
 * spells it and wherever it is cut. */
#include "config.h"

#include "proxy/trace.h"

#include <stdio.h>
#include <time.h>

#include "base/frame.h"
#include "core/wire/msg.h"
#include "unit/home.h"
#include "unit/unit.h"

#define TOKEN "tkA9zQ7-Lm3~xY5.Vb8_cR2pW6sD4fG1hJ0k"

static struct credentials credentials;
static struct trace *trace;

static void
setup(void)
{
	home_begin();
	headers_init(&credentials.headers);
	credentials.version = 1;
	trace = trace_open(home_path("trace"), "https://a.test/mcp",
	    &credentials);
	ck_assert_ptr_nonnull(trace);
}

static void
teardown(void)
{
	trace_close(trace);
	headers_free(&credentials.headers);
	home_end();
}

static void
add_header(const char *name, const char *value)
{
	ck_assert_int_eq(headers_add(&credentials.headers, span_of(name),
			     span_of(value), true),
	    0);
	credentials.version++;
}

/* The server answers with an error and this text. */
static void
refuse(const char *text)
{
	struct facts f = { .status = 500, .body = span_of(text) };
	struct event in = { .kind = INPUT_DONE, .ticket = 1, .facts = &f };

	trace_input(trace, &in);
}

/* The server gives the session this id. */
static void
give_session(const char *id)
{
	struct facts f = { .status = 200, .session = span_of(id) };
	struct event in = { .kind = INPUT_HEAD, .ticket = 1, .facts = &f };

	in.head = true;
	trace_input(trace, &in);
}

/* The server sends a message. Returns how long that took, in microseconds. */
static int64_t
say(const char *message)
{
	struct timespec from, to;
	struct frame *f = frame_copy(span_of(message));
	struct event in = { .kind = INPUT_MESSAGE, .ticket = 1, .frame = f };
	struct facts facts = { .status = 200 };

	in.facts = &facts;
	msg_parse(f, 100);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	trace_input(trace, &in);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	frame_unref(f);
	return (to.tv_sec - from.tv_sec) * (int64_t)1000000 +
	    (to.tv_nsec - from.tv_nsec) / 1000;
}

static bool
file_has(const char *text)
{
	struct buf file = home_get("trace");
	bool has = strstr(buf_str(&file), text) != NULL;

	buf_free(&file);
	return has;
}

static const struct {
	const char *name, *value, *said, *secret;
} spellings[] = {
	{ "Authorization", "Bearer " TOKEN, "[\"" TOKEN "\"]", "Lm3" },
	{ "Authorization", "Bearer " TOKEN,
	    "[\"\\u0074kA9zQ7-Lm3~xY5.Vb8_cR2pW6sD4fG1hJ0k\"]", "Lm3" },
	/* base64 and base64url behind 0, 1 and 2 bytes */
	{ "K", "~~~~~~~~~~?\?\?\?\?\?>>>>",
	    "[\"fn5+fn5+fn5+fn4/Pz8/Pz8+Pj4+\"]", "fn5+" },
	{ "K", "~~~~~~~~~~?\?\?\?\?\?>>>>",
	    "[\"fn5-fn5-fn5-fn4_Pz8_Pz8-Pj4-\"]", "fn5-" },
	{ "K", "~~~~~~~~~~?\?\?\?\?\?>>>>",
	    "[\"LX5+fn5+fn5+fn5+Pz8\\/Pz8/Pj4+Pg==\"]", "5+fn5" },
	{ "K", "~~~~~~~~~~?\?\?\?\?\?>>>>",
	    "[\"LS1+fn5+fn5+fn5+fj8/Pz8/Pz4+Pj4=\"]", "fn5+" },
	/* what JSON escapes */
	{ "K", "pa\"ss\"word12345678", "[\"pa\\\"ss\\\"word12345678\"]",
	    "word" },
	{ "K", "pa\"ss\"word12345678", "[\"pa\\u0022ss\\u0022word12345678\"]",
	    "word" },
	{ "K", "pa\\ss\\word12345678", "[\"pa\\\\ss\\\\word12345678\"]",
	    "word" },
	{ "K", "pa\\ss\\word12345678", "no JSON: pa\\ss\\word12345678",
	    "word" },
	{ "K", "p\u00e4ssw\u00f6rt-geheim-12345",
	    "[\"p\\u00e4ssw\\u00F6rt-geheim-12345\"]", "geheim" },
	{ "K", "geheim-\U0001F600-wort", "[\"geheim-\\uD83d\\ude00-wort\"]",
	    "geheim" },
	/* parts of a value */
	{ "Authorization", "Token token=\"abc123def456\", x=\"\"",
	    "[\"it is abc123def456\"]", "abc123" },
	{ "Cookie", "a=1; sid=abcdef0123456789; b=2",
	    "[\"it is abcdef0123456789\"]", "abcdef" },
	/* cut by another */
	{ "K", TOKEN, "[\"you sent tkA9zQ7-Lm3...\"]", "tkA9" },
	{ "K", TOKEN, "[\"you sent tkA9zQ7-Lm3\"]", "tkA9" },
	{ "K", TOKEN, "[\"you sent 'tkA9zQ7-Lm3\\n\"]", "tkA9" },
	{ "K", TOKEN, "no JSON: tkA9zQ7-Lm3", "tkA9" },
	/* one that ends with its own beginning */
	{ "K", "abcabcabcX", "[\"abcabcabcabcabcX\"]", "abcX" },
	{ "K", "abcabcabc", "[\"abcabcabcabc.\"]", "abc" },
};

START_TEST(test_spelling)
{
	add_header(spellings[_i].name, spellings[_i].value);
	say(spellings[_i].said);
	ck_assert(!file_has(spellings[_i].secret));
	ck_assert(file_has("(redacted)"));
}
END_TEST

/* What is no secret stays, also next to one. */
START_TEST(test_rest)
{
	add_header("Accept", "application/json, text/event-stream");
	add_header("K", TOKEN);
	say("[\"application/json\",\"tkA9zQ7\",\"tkA9zQ7-Lm3 x\"," TOKEN
	    ",\"-" TOKEN TOKEN ".\"]");
	ck_assert(file_has("[\\\"application/json\\\",\\\"tkA9zQ7\\\","
			   "\\\"tkA9zQ7-Lm3 x\\\",(redacted),"
			   "\\\"-(redacted).\\\"]"));
}
END_TEST

/* Whatever the length of a text is, no part of a secret is left at its end. */
START_TEST(test_cut)
{
	struct buf text;
	size_t i, n;

	add_header("K", TOKEN);
	buf_init(&text, 0);
	for (n = 512 - strlen(TOKEN); n <= 512; n++) {
		buf_reset(&text);
		for (i = 0; i < n; i++)
			buf_addc(&text, 'x');
		buf_adds(&text, TOKEN);
		refuse(buf_str(&text));
	}
	ck_assert(!file_has("xt"));
	ck_assert(file_has("x(redacted)\""));
	buf_free(&text);
}
END_TEST

/* However many headers there are, and whatever the server does: they stay
 * known, and so do those before. */
START_TEST(test_many)
{
	enum { HEADERS = 300 };
	char text[64];
	int i;

	add_header("K", "the-older-value");
	refuse("the-older-value");
	headers_free(&credentials.headers);
	for (i = 0; i < HEADERS; i++) {
		snprintf(text, sizeof text, "secret%03dvalue%03d", i, i);
		add_header("K", text);
	}
	refuse("the-older-value");
	for (i = 0; i < 600; i++) {
		snprintf(text, sizeof text, "session-%d-id", i);
		give_session(text);
	}
	for (i = 0; i < HEADERS; i++) {
		snprintf(text, sizeof text, "secret%03dvalue%03d", i, i);
		refuse(text);
	}
	refuse("the-older-value");
	refuse("session-599-id, session-400-id");
	ck_assert(!file_has("secret"));
	ck_assert(!file_has("older"));
	ck_assert(!file_has("-id"));
	ck_assert(file_has("\"(session "));
}
END_TEST

/* Makes the id of a session from its number and the label of the one before. */
typedef void make_id(char *id, size_t size, int i, const char *label);

static void
usual_id(char *id, size_t size, int i, const char *label)
{
	(void)label;
	snprintf(id, size, "%032d", i);
}

/* An id that is part of the label for the id before it. */
static void
chained_id(char *id, size_t size, int i, const char *label)
{
	snprintf(id, size, "%s", i == 0 ? "AAAAAAAA" : label);
}

/* An id that is almost equal to the text. */
static void
alike_id(char *id, size_t size, int i, const char *label)
{
	(void)label;
	snprintf(id, size, "%0*d", 8 + 3 * i, 1);
	while (*id == '0')
		*id++ = 'A';
}

/* Returns the time that a message takes when the server has given many ids. */
static int64_t
cost(make_id *make)
{
	char id[1024], label[16] = "";
	struct buf text, file;
	const char *at;
	int64_t took;
	int i;

	setup();
	for (i = 0; i < 250; i++) {
		make(id, sizeof id, i, label);
		give_session(id);
		file = home_get("trace");
		at = strstr(buf_str(&file), "\"session\":\"");
		while (strstr(at + 1, "\"session\":\"") != NULL)
			at = strstr(at + 1, "\"session\":\"");
		snprintf(label, sizeof label, "%.8s", at + 11);
		buf_free(&file);
	}
	buf_init(&text, 0);
	buf_adds(&text, "[\"");
	while (text.n < 65000)
		buf_addc(&text, 'A');
	buf_adds(&text, "\"]");
	took = say(buf_str(&text));
	buf_free(&text);
	teardown();
	return took;
}

/* Ids that a server chose do not make it slow. */
START_TEST(test_linear)
{
	int64_t usual = cost(usual_id);

	ck_assert_int_lt(cost(chained_id), 10 * usual + 100000);
	ck_assert_int_lt(cost(alike_id), 10 * usual + 3000000);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("trace");
	TCase *tc = tcase_create("secrets"), *linear = tcase_create("linear");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_spelling, 0, COUNT(spellings));
	tcase_add_test(tc, test_rest);
	tcase_add_test(tc, test_cut);
	tcase_add_test(tc, test_many);
	suite_add_tcase(s, tc);
	tcase_add_test(linear, test_linear);
	suite_add_tcase(s, linear);
	return unit_run(s);
}
