/* What looks like a secret in a message, and what does not. */
#include "config.h"

#include "core/wire/redact.h"

#include <limits.h>
#include <time.h>

#include "core/wire/json.h"
#include "unit/unit.h"

static const struct {
	const char *in, *want; /* want NULL: unchanged */
} cases[] = {
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", NULL },
	{ "{\"token\":\"abc\",\"x\":1}", "{\"token\":\"(redacted)\",\"x\":1}" },
	{ "{\"a\":[{\"Client-Secret\" : {\"b\":[1,\"}\"]} , \"c\":2}]}",
	    "{\"a\":[{\"Client-Secret\" : \"(redacted)\" , \"c\":2}]}" },
	{ "{\"access_token\":12,\"refreshToken\":\"\",\"token\":null}",
	    "{\"access_token\":\"(redacted)\",\"refreshToken\":\"(redacted)\","
	    "\"token\":null}" },
	{ "{\"\\u0070assword\":\"x\"}", "{\"\\u0070assword\":\"(redacted)\"}" },
	{ "{\"X-API-Key\":\"x\",\"Set-Cookie\":[\"a=b\"],\"pwd\":\"q\"}",
	    "{\"X-API-Key\":\"(redacted)\",\"Set-Cookie\":\"(redacted)\","
	    "\"pwd\":\"(redacted)\"}" },
	{ "{\"_meta\":{\"progressToken\":\"a\"},\"maxTokens\":100}", NULL },
	{ "{\"progressToken\":7,\"tokens\":[\"x\"]}",
	    "{\"progressToken\":7,\"tokens\":\"(redacted)\"}" },
	{ "{\"error\":{\"code\":-32602,\"message\":\"a token: b\"}}", NULL },
	/* URLs */
	{ "[\"see https://a.test/b?c=d&e#f now\"]",
	    "[\"see https://a.test/b?(redacted) now\"]" },
	{ "[\"https://u:p@a.test/@x\",\"a://b#c\"]",
	    "[\"https://(redacted)@a.test/@x\",\"a://b#(redacted)\"]" },
	{ "[\"https:\\/\\/a.test\\/b?c\\/d\\nnext\"]",
	    "[\"https://a.test/b?(redacted)\\nnext\"]" },
	{ "[\"http://a/?x=1\\u0026code=2\",\"what?yes\"]",
	    "[\"http://a/?(redacted)\",\"what?yes\"]" },
	{ "[\"Authorization: Bearer 0123456789.abcdef, or basic "
	  "dXNlcjpwYXNzd29yZA== too\",\"basic English\"]",
	    "[\"Authorization: Bearer (redacted), or basic (redacted) "
	    "too\",\"basic English\"]" },
	{ "[\"DPoP 0123456789.abcdef, Negotiate YIIGhgYGKwYBBQUCoA==\"]",
	    "[\"DPoP (redacted), Negotiate (redacted)\"]" },
	/* JSON in a string */
	{ "[\"{\\\"token\\\":\\\"a\\\",\\\"b\\\":\\\"c\\\"}\"]",
	    "[\"{\\\"token\\\":\\\"(redacted)\\\",\\\"b\\\":\\\"c\\\"}\"]" },
	{ "[\"{\\\"api_key\\\" : 12, \\\"secret\\\": [1,2],\\\"b\\\":1}\"]",
	    "[\"{\\\"api_key\\\" : \\\"(redacted)\\\", \\\"secret\\\": "
	    "\\\"(redacted)\\\",\\\"b\\\":1}\"]" },
	{ "[\"{\\\"a\\\":\\\"{\\\\\\\"token\\\\\\\":\\\\\\\"x\\\\\\\"}\\\"}\"]",
	    "[\"{\\\"a\\\":\\\"{\\\\\\\"token\\\\\\\":\\\\\\\"(redacted)"
	    "\\\\\\\"}\\\"}\"]" },
	{ "[\"{\\\"token\\\":\\\"a\\\\\\\"b\\\"}\"]",
	    "[\"{\\\"token\\\":\\\"(redacted)\\\"}\"]" },
	{ "[\"{\\\"token\\\":12\",\"\\\"token\\\":\\\"a\"]",
	    "[\"{\\\"token\\\":\\\"(redacted)\\\"\",\"\\\"token\\\":"
	    "\\\"(redacted)\\\"\"]" },
	{ "[\"{\\\"tokens\\\": [[\\\"a]\\\"], {\\\"b\\\":\\\"}\\\"}, \\\"c\\\"]}\"]",
	    "[\"{\\\"tokens\\\": \\\"(redacted)\\\"}\"]" },
	{ "[\"\\\"secret\\\"\\n:\\n\\t{\\\"a\\\":{\\\"b\\\":1},\\\"c\\\":2},3\"]",
	    "[\"\\\"secret\\\"\\n:\\n\\t\\\"(redacted)\\\",3\"]" },
	{ "[\"\\\"\\\\\\\"token\\\\\\\":[[1],\\\\\\\"]\\\\\\\",2] 3\\\"\"]",
	    "[\"\\\"\\\\\\\"token\\\\\\\":\\\\\\\"(redacted)\\\\\\\" "
	    "3\\\"\"]" },
	{ "[\"\\\"secret\\\":[{1,2\"]",
	    "[\"\\\"secret\\\":\\\"(redacted)\\\"\"]" },
	{ "[\"{\\u0022token\\u0022:\\u0022a\\u0022}\"]",
	    "[\"{\\\"token\\\":\\\"(redacted)\\\"}\"]" },
	{ "[\"{\\\\u0022token\\\\u0022:\\\\u0022a\\\\u0022}\"]",
	    "[\"{\\\\u0022token\\\\u0022:\\\\u0022(redacted)\\\\u0022}\"]" },
	{ "[\"a \\\"token\\\" is\",\"\\\\\",\"\\\"\"]", NULL },
	{ "\"\"", NULL },
	{ "[]", NULL },
	/* Escapes that are not needed */
	{ "[\"\\u0073\\u006B-a\\/b\\u0022\\u005c\\u0009\\u00e9\\\\u0061\"]",
	    "[\"sk-a/b\\\"\\\\\\t\u00e9\\\\u0061\"]" },
	{ "[\"\\ud83d\\ude00\\u2028\"]", "[\"\U0001F600\\u2028\"]" },
	{ "[\"\\\\\\u0061\\\\\\/\"]", "[\"\\\\a\\\\/\"]" },
};

/* Texts that were read again and again. */
static const struct {
	const char *part;
	unsigned quotes; /* add an escaped quote of each length up to this */
} hostile[] = {
	{ "\\\\", 0 },
	{ "\\\\\\n", 0 },
	{ "\\", 1000 },
	{ "", 40 },
	{ "x", 300 },
	{ "\\\"", 0 },
	{ "\\\"a\\\":", 0 },
	{ "\\\"token\\\":", 0 },
	{ "\\\"token\\\":[", 0 },
	{ "\\\"token\\\":[]", 0 },
	{ "\\\"token\\\":[\\\"", 0 },
	{ "\\\"a\\\"\\n\\n\\n\\n\\n\\n\\n\\n", 0 },
	{ "\\u0022", 0 },
	{ "\\u0022token\\u0022:{", 0 },
	{ "\\\"a\\\"                                         ", 0 },
	{ "://", 0 },
	{ "a://@", 0 },
	{ "://\\\\\\\\", 0 },
	{ "Bearer ", 0 },
	{ "Bearer \\\\\\\\\\\\", 0 },
	{ "\",\"a\":1,\"b\":\"", 0 },
	{ "\\u0061", 0 },
};

enum { HOSTILE_BYTES = 1 << 20 };

/* Fills out with the parts, in a string of JSON. */
static void
fill_hostile(struct buf *out, const char *part, unsigned quotes)
{
	unsigned i, length;

	buf_adds(out, "[\"");
	while (out->n < HOSTILE_BYTES) {
		buf_adds(out, part);
		for (length = 0; length < quotes; length++) {
			for (i = 0; i < 2 * length + 1; i++)
				buf_addc(out, '\\');
			buf_adds(out, "\"x");
		}
	}
	buf_adds(out, "\"]");
}

/* Returns the processor time of one redaction, in microseconds. */
static int64_t
cost(const struct buf *text)
{
	struct timespec from, to;
	struct buf out;

	buf_init(&out, 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	redact_json(&out, buf_span(text), SIZE_MAX / 2);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	buf_free(&out);
	return (to.tv_sec - from.tv_sec) * (int64_t)1000000 +
	    (to.tv_nsec - from.tv_nsec) / 1000;
}

/* No text costs much more than another of its size. */
START_TEST(test_linear)
{
	struct buf plain, text;
	int64_t usual;

	buf_init(&plain, 0);
	buf_init(&text, 0);
	fill_hostile(&plain, "some words ", 0);
	fill_hostile(&text, hostile[_i].part, hostile[_i].quotes);
	usual = cost(&plain);
	ck_assert_int_lt(cost(&text), 10 * usual + 20000);
	buf_free(&plain);
	buf_free(&text);
}
END_TEST

START_TEST(redacted)
{
	const char *want = cases[_i].want;
	struct buf out;

	buf_init(&out, 0);
	ck_assert(redact_json(&out, span_of(cases[_i].in), 4096));
	ck_assert_str_eq(buf_str(&out), want == NULL ? cases[_i].in : want);
	ck_assert_int_eq(json_check(buf_span(&out), 64, NULL, NULL, NULL),
	    JSON_OK);
	buf_free(&out);
}
END_TEST

/* Whatever the length is, no part of a secret is left. */
START_TEST(cut)
{
	static const char
	    text[] = "{\"a\":\"http://x/?hidden\",\"token\":"
		     "\"hidden\",\"b\":\"Bearer hidden-hidden-hidden\"}";
	struct buf out;
	size_t max;

	buf_init(&out, 0);
	for (max = 0; max < sizeof text + 40; max++) {
		buf_reset(&out);
		buf_adds(&out, "-");
		redact_json(&out, span_of(text), max);
		ck_assert_uint_le(out.n, max + 1);
		ck_assert_ptr_null(strstr(buf_str(&out), "hid"));
	}
	buf_free(&out);
}
END_TEST

static const struct {
	const char *in, *out;
} paths[] = {
	{ "https://h/mcp", "https://h/mcp" },
	{ "https://h", "https://h" },
	{ "https://h/", "https://h/" },
	{ "https://u:p@h:1/x?key=1#f", "https://*@h:1/x?*" },
	{ "https://h/x#f", "https://h/x#*" },
	{ "https://h/s/Zm9vYmFyMTIzNDU2Nzg5MGFi/mcp", "https://h/s/*/mcp" },
	{ "https://h/0f8fad5b-d9cb-469f-a165-70867728950e/", "https://h/*/" },
	{ "https://h/abcdefghijklmnopqrstuvwxyzabcdef", "https://h/*" },
	{ "https://h/mcp/sk-abcdefgh1/x", "https://h/mcp/*/x" },
	{ "https://h/mcp/sk-learn/x", "https://h/mcp/sk-learn/x" },
	{ "https://h/token/abc/mcp", "https://h/token/*/mcp" },
	{ "https://h/api-key/abc?x", "https://h/api-key/*?*" },
	{ "https://h/key/a/key", "https://h/key/*/key" },
	{ "https://h/mcp;token=abc/x", "https://h/mcp;token=*/x" },
	{ "https://h/key=sk-abcdefgh1&a=b;c/x", "https://h/key=*&a=b;c/x" },
	{ "https://h/secret/mcp", "https://h/secret/mcp" },
	{ "https://h/auth/callback", "https://h/auth/callback" },
	{ "https://h/model-context-protocol-server/v1/sse",
	    "https://h/model-context-protocol-server/v1/sse" },
	{ "https://h/2025-11-25-release/mcp",
	    "https://h/2025-11-25-release/mcp" },
	{ "https://h/accounts/123456789012345678/mcp",
	    "https://h/accounts/123456789012345678/mcp" },
	{ "no URL", "no URL" },
};

START_TEST(path)
{
	struct buf out;

	buf_init(&out, 0);
	redact_path(&out, span_of(paths[_i].in), "*");
	ck_assert_str_eq(buf_str(&out), paths[_i].out);
	buf_free(&out);
}
END_TEST

#define HEX "0123456789abcdef0123456789abcdef"

static const struct {
	const char *in, *out;
} messages[] = {
	{ "the variable sk-live-0123456789 is not set",
	    "the variable (redacted) is not set" },
	{ "unknown option \"--ghp_AbCdEf0123\"; try",
	    "unknown option \"--(redacted)\"; try" },
	{ "\"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2ln\"", "\"(redacted)\"" },
	{ "-H=" HEX ": no, " HEX, "-H=(redacted): no, (redacted)" },
	{ HEX, "(redacted)" },
	{ "\"h/sk-abcdefgh1\" has no scheme; did you mean "
	  "https://h/sk-abcdefgh1?",
	    "\"h/(redacted)\" has no scheme; did you mean "
	    "https://h/(redacted)?" },
	{ "did you mean https://" HEX "?", "did you mean https://(redacted)?" },
	/* names that people need to see */
	{ "cannot read /nix/store/" HEX "-x/a1: no", NULL },
	{ "./" HEX "/a, ~/" HEX "/b, https://" HEX ".test/", NULL },
	{ "C:\\Users\\anna-7\\AppData\\Roaming\\mcpsplice\\config:1: no",
	    NULL },
	{ "C:\\" HEX ": no", "C:\\(redacted): no" },
	{ "--api-token-file, api-production, key-of-team", NULL },
	{ "--bearer-env: the variable MY_API_KEY_2 is not set", NULL },
	{ "sk-learn-tools, hf_transfer, upstream_unreachable", NULL },
	{ "127.0.0.1:8080 cannot be reached (2026-11-27T10:00:00Z)", NULL },
	{ "", NULL },
};

START_TEST(test_tokens)
{
	const char *want = messages[_i].out;
	char *out = redact_tokens(xstrdup(messages[_i].in));

	ck_assert_str_eq(out, want == NULL ? messages[_i].in : want);
	free(out);
}
END_TEST

static void
add_found(struct span secret, void *arg)
{
	buf_addspan(arg, secret);
	buf_addc(arg, ' ');
}

START_TEST(test_find)
{
	struct buf out;

	buf_init(&out, 0);
	redact_find(
	    span_of("https://sk-abcdefgh0/s/sk-abcdefgh1/mcp?token=abc&x=yz"
		    "&=&k=AKIA12345678#key=q"),
	    add_found, &out);
	redact_find(span_of("https://h/token/mcp?a#"), add_found, &out);
	redact_find(span_of("https://h"), add_found, &out);
	redact_find(span_of("/sk-abcdefgh1"), add_found, &out);
	ck_assert_str_eq(buf_str(&out), "sk-abcdefgh1 abc AKIA12345678 q ");
	buf_free(&out);
}
END_TEST

static const char *const proxy_cases[][2] = {
	{ "http://127.0.0.1:3128", "http://127.0.0.1:3128" },
	{ "http://u:p@h:1", "http://h:1" },
	{ "http://u:p@q@h:1/path?query", "http://h:1" },
	{ "u:p@h:1", "h:1" },
	{ "socks5h://u@[::1]:1/", "socks5h://[::1]:1" },
	/* whatever the password has */
	{ "http://u:p#q@h:1", "http://h:1" },
	{ "http://u:p/q?r@s@h:1/", "http://h:1" },
	{ "u:p://q@h:1", "h:1" },
	{ "http://u:p#q", "http://" },
	{ "u:p:127.0.0.1:1", "" },
	{ "http://[::1]:1/", "http://[::1]:1" },
	{ "h:", "h:" },
	{ "", "" },
};

START_TEST(test_proxy)
{
	struct buf out;

	buf_init(&out, 0);
	redact_proxy(&out, proxy_cases[_i][0]);
	ck_assert_str_eq(buf_str(&out), proxy_cases[_i][1]);
	buf_free(&out);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("redact");
	TCase *tc = tcase_create("redact");

	tcase_add_loop_test(tc, redacted, 0, sizeof cases / sizeof *cases);
	tcase_add_test(tc, cut);
	tcase_add_loop_test(tc, test_linear, 0, COUNT(hostile));
	tcase_add_loop_test(tc, path, 0, COUNT(paths));
	tcase_add_loop_test(tc, test_tokens, 0, COUNT(messages));
	tcase_add_test(tc, test_find);
	tcase_add_loop_test(tc, test_proxy, 0, COUNT(proxy_cases));
	suite_add_tcase(s, tc);
	return unit_run(s);
}
