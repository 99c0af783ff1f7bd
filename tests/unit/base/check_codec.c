/* JSON strings, base64, percent-encoding, visible text and UTF-8. */
#include "config.h"

#include "base/codec.h"

#include "unit/unit.h"

/* A literal with NULs in it. */
#define TEXT(s)                                                                \
	{                                                                      \
		s, sizeof(s) - 1                                               \
	}

static const struct {
	struct span in;
	const char *want;
} strings[] = {
	{ TEXT(""), "\"\"" },
	{ TEXT("plain"), "\"plain\"" },
	{ TEXT("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"" },
	{ TEXT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"" },
	{ TEXT("\x01\x0b\x1f\x7f"), "\"\\u0001\\u000b\\u001f\x7f\"" },
	{ TEXT("a\0b"), "\"a\\u0000b\"" },
	{ TEXT("\xC3\xA9\xF0\x9F\x98\x80"), "\"\xC3\xA9\xF0\x9F\x98\x80\"" },
	{ TEXT("a\xFF"
	       "b"),
	    "\"a\xEF\xBF\xBD"
	    "b\"" },
	{ TEXT("\xC2\x85\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA\xC2\x84"),
	    "\"\\u0085\\u2028\\u2029\xE2\x80\xAA\xC2\x84\"" },
	{ TEXT("\xE2\x82"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },
	{ TEXT("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
};

START_TEST(test_json_string)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, ">");
	codec_json_string(&b, strings[_i].in);
	ck_assert_str_eq(buf_str(&b) + 1, strings[_i].want);
	buf_free(&b);
}
END_TEST

static const struct {
	struct span in;
	const char *want;
} base64s[] = {
	{ TEXT(""), "" },
	{ TEXT("f"), "Zg==" },
	{ TEXT("fo"), "Zm8=" },
	{ TEXT("foo"), "Zm9v" },
	{ TEXT("foob"), "Zm9vYg==" },
	{ TEXT("fooba"), "Zm9vYmE=" },
	{ TEXT("foobar"), "Zm9vYmFy" },
	{ TEXT("\xFB\xFF\xBF"), "+/+/" },
	{ TEXT("\0\0"), "AAA=" },
};

START_TEST(test_base64)
{
	struct buf b;

	buf_init(&b, 0);
	codec_base64(&b, base64s[_i].in);
	ck_assert_str_eq(buf_str(&b), base64s[_i].want);
	buf_free(&b);
}
END_TEST

/* RFC 4648 section 10, without the padding, and the two other digits. */
static const struct {
	struct span in;
	const char *want;
} base64urls[] = {
	{ TEXT(""), "" },
	{ TEXT("f"), "Zg" },
	{ TEXT("fo"), "Zm8" },
	{ TEXT("foo"), "Zm9v" },
	{ TEXT("foob"), "Zm9vYg" },
	{ TEXT("fooba"), "Zm9vYmE" },
	{ TEXT("foobar"), "Zm9vYmFy" },
	{ TEXT("\xFB\xFF\xBF"), "-_-_" },
	{ TEXT("\0\0"), "AAA" },
};

START_TEST(test_base64url)
{
	struct buf b;

	buf_init(&b, 0);
	codec_base64url(&b, base64urls[_i].in);
	ck_assert_str_eq(buf_str(&b), base64urls[_i].want);
	buf_reset(&b);
	ck_assert_int_eq(codec_base64url_read(&b, span_of(base64urls[_i].want)),
	    0);
	ck_assert(span_eq(buf_span(&b), base64urls[_i].in));
	buf_free(&b);
}
END_TEST

static const struct span no_base64urls[] = {
	TEXT("Z"),     /* six bits are no byte */
	TEXT("Zm9vY"), /* again, behind good ones */
	TEXT("Zh"),    /* a stray bit */
	TEXT("Zm9"),   /* two of them */
	TEXT("Zg=="),  /* padded */
	TEXT("+/+/"),  /* the other alphabet */
	TEXT("Zm9v "),
	TEXT("Zm9v\0Zm9"),
	TEXT("Zm\xC3\xA9"),
};

START_TEST(test_base64url_refused)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "before");
	ck_assert_int_eq(codec_base64url_read(&b, no_base64urls[_i]), -1);
	ck_assert_str_eq(buf_str(&b), "before");
	buf_free(&b);
}
END_TEST

static const struct {
	struct span in;
	size_t max;
	const char *want;
} visibles[] = {
	{ TEXT("plain text"), 100, "plain text" },
	{ TEXT("a\nb\r\x1b[31m\x7f"), 100, "a b \\x1b[31m\\x7f" },
	{ TEXT("\n a \t\r\n\n b\tc \n"), 100, "a b\\x09c" },
	{ TEXT("a\0b"), 100, "a\\x00b" },
	{ TEXT("\xC2\x9B"
	       "31m"),
	    100, "\\xc2\\x9b31m" },
	{ TEXT("\xC2\xA0\xC3\xA9"), 100, "\xC2\xA0\xC3\xA9" },
	{ TEXT("\xE2\x80\xAE\xE2\x81\xA6"), 100,
	    "\\xe2\\x80\\xae\\xe2\\x81\\xa6" },
	{ TEXT("\xE2\x80\x8F\xD8\x9C\xE2\x80\xA8"), 100,
	    "\\xe2\\x80\\x8f\\xd8\\x9c\\xe2\\x80\\xa8" },
	{ TEXT("\xE2\x80\x94\xE2\x81\xA5\xE2\x81\xAA"), 100,
	    "\xE2\x80\x94\xE2\x81\xA5\xE2\x81\xAA" },
	{ TEXT("\xFF\xE2\x82"), 100, "\\xff\\xe2\\x82" },
	{ TEXT("abcdef"), 6, "abcdef" },
	{ TEXT("abcdefg"), 6, "abcdef..." },
	{ TEXT("abcd\n"), 6, "abcd" },
	{ TEXT("abcdef\ng"), 6, "abcdef..." },
	{ TEXT("abcde\xC3\xA9"), 6, "abcde..." },
	{ TEXT("x"), 0, "..." },
	{ TEXT(""), 0, "" },
};

START_TEST(test_visible)
{
	struct buf b;

	buf_init(&b, 0);
	codec_visible(&b, visibles[_i].in, visibles[_i].max);
	ck_assert_str_eq(buf_str(&b), visibles[_i].want);
	buf_free(&b);
}
END_TEST

static const struct {
	struct span in;
	size_t want;
} sequences[] = {
	{ TEXT(""), 0 },
	{ TEXT("a"), 1 },
	{ TEXT("\0"), 1 },
	{ TEXT("\x7F"), 1 },
	{ TEXT("\x80"), 0 },
	{ TEXT("\xBF"), 0 },
	{ TEXT("\xC0\x80"), 0 },
	{ TEXT("\xC1\xBF"), 0 },
	{ TEXT("\xC2\x80"), 2 },
	{ TEXT("\xDF\xBF"), 2 },
	{ TEXT("\xC2"), 0 },
	{ TEXT("\xC2\x7F"), 0 },
	{ TEXT("\xC2\xC0"), 0 },
	{ TEXT("\xE0\x9F\xBF"), 0 },
	{ TEXT("\xE0\xA0\x80"), 3 },
	{ TEXT("\xED\x9F\xBF"), 3 },
	{ TEXT("\xED\xA0\x80"), 0 },
	{ TEXT("\xED\xBF\xBF"), 0 },
	{ TEXT("\xEE\x80\x80"), 3 },
	{ TEXT("\xEF\xBF\xBF"), 3 },
	{ TEXT("\xE2\x82"), 0 },
	{ TEXT("\xE2\x82\x22"), 0 },
	{ TEXT("\xF0\x8F\xBF\xBF"), 0 },
	{ TEXT("\xF0\x90\x80\x80"), 4 },
	{ TEXT("\xF4\x8F\xBF\xBF"), 4 },
	{ TEXT("\xF4\x90\x80\x80"), 0 },
	{ TEXT("\xF5\x80\x80\x80"), 0 },
	{ TEXT("\xF0\x9F\x98"), 0 },
	{ TEXT("\xF0\x9F\x98\x41"), 0 },
	{ TEXT("\xFF"), 0 },
};

START_TEST(test_utf8)
{
	ck_assert_uint_eq(codec_utf8(sequences[_i].in.p, sequences[_i].in.n),
	    sequences[_i].want);
}
END_TEST

/* Of all byte pairs and triples exactly the well-formed ones pass. */
START_TEST(test_utf8_count)
{
	unsigned long two = 0, three = 0;
	unsigned a, b, c;
	char p[3];

	for (a = 0x80; a < 256; a++) {
		for (b = 0; b < 256; b++) {
			p[0] = (char)a;
			p[1] = (char)b;
			two += codec_utf8(p, 2) == 2;
			for (c = 0; c < 256; c++) {
				p[2] = (char)c;
				three += codec_utf8(p, 3) == 3;
			}
		}
	}
	ck_assert_uint_eq(two, 0x800 - 0x80);
	ck_assert_uint_eq(three, 0x10000 - 0x800 - 0x800);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("codec");
	TCase *tc = tcase_create("codec");

	tcase_add_loop_test(tc, test_json_string, 0, COUNT(strings));
	tcase_add_loop_test(tc, test_base64, 0, COUNT(base64s));
	tcase_add_loop_test(tc, test_base64url, 0, COUNT(base64urls));
	tcase_add_loop_test(tc, test_base64url_refused, 0,
	    COUNT(no_base64urls));
	tcase_add_loop_test(tc, test_visible, 0, COUNT(visibles));
	tcase_add_loop_test(tc, test_utf8, 0, COUNT(sequences));
	tcase_add_test(tc, test_utf8_count);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
