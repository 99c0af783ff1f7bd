/* auth/pkce: random strings, and S256 against the RFC's example. */
#include "config.h"

#include "auth/pkce.h"

#include <string.h>

#include "base/codec.h"
#include "unit/unit.h"

#define BASE64URL                                                              \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

START_TEST(random_strings)
{
	char a[PKCE_BYTES], b[PKCE_BYTES];
	struct buf raw;

	ck_assert_int_eq(pkce_random(a), 0);
	ck_assert_int_eq(pkce_random(b), 0);
	ck_assert_uint_eq(strlen(a), 43);
	ck_assert_uint_eq(strspn(a, BASE64URL), 43);
	ck_assert_str_ne(a, b);
	buf_init(&raw, 0);
	ck_assert_int_eq(codec_base64url_read(&raw, span_of(a)), 0);
	ck_assert_uint_eq(raw.n, 32);
	buf_free(&raw);
}
END_TEST

/* RFC 7636 appendix B */
START_TEST(challenge_of_the_rfc)
{
	char out[PKCE_BYTES];

	ck_assert_int_eq(pkce_challenge(out,
			     "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
	    0);
	ck_assert_str_eq(out, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("pkce");
	TCase *t = tcase_create("pkce");

	tcase_add_test(t, random_strings);
	tcase_add_test(t, challenge_of_the_rfc);
	suite_add_tcase(s, t);
	return unit_run(s);
}
