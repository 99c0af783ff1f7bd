/* auth/claims: for whom a token is, and whose. */
#include "config.h"

#include "auth/claims.h"

#include "base/codec.h"
#include "unit/unit.h"

/* base64url of {"sub":"a","exp":1}, {"sub":"a","exp":2,"jti":"x"},
 * {"sub":"a","exp":1,"org":"o"}, {"exp":1} */
static const struct {
	const char *one, *other;
	bool same;
} whose[] = {
	{ "h.eyJzdWIiOiJhIiwiZXhwIjoxfQ.x",
	    "h.eyJzdWIiOiJhIiwiZXhwIjoyLCJqdGkiOiJ4In0.y", true },
	{ "h.eyJzdWIiOiJhIiwiZXhwIjoxfQ.x",
	    "h.eyJzdWIiOiJhIiwiZXhwIjoxLCJvcmciOiJvIn0.x", false },
	{ "h.eyJzdWIiOiJhIiwiZXhwIjoxfQ.x", "i.eyJzdWIiOiJhIiwiZXhwIjoxfQ.x",
	    false },
	{ "a:h.eyJzdWIiOiJhIiwiZXhwIjoxfQ.x",
	    "b:h.eyJzdWIiOiJhIiwiZXhwIjoxfQ.x", false },
	{ "h.eyJzdWIiOiJhIiwiZXhwIjoxfQ.x;a",
	    "h.eyJzdWIiOiJhIiwiZXhwIjoxfQ.x;b", false },
	{ "h.eyJleHAiOjF9.x", "h.eyJleHAiOjF9.y", false },
	/* the same with "kubernetes.io":{"uid":"u","warnafter":1} and others */
	{ "h.eyJzdWIiOiJhIiwiZXhwIjoxLCJrdWJlcm5ldGVzLmlvIjp7InVpZCI6InUiLCJ3YXJuYWZ0ZXIiOjF9fQ.x",
	    "h.eyJzdWIiOiJhIiwiZXhwIjoyLCJrdWJlcm5ldGVzLmlvIjp7InVpZCI6InUiLCJ3YXJuYWZ0ZXIiOjJ9fQ.x",
	    true },
	{ "h.eyJzdWIiOiJhIiwiZXhwIjoxLCJrdWJlcm5ldGVzLmlvIjp7InVpZCI6InUiLCJ3YXJuYWZ0ZXIiOjF9fQ.x",
	    "h.eyJzdWIiOiJhIiwiZXhwIjoxLCJrdWJlcm5ldGVzLmlvIjp7InVpZCI6InYiLCJ3YXJuYWZ0ZXIiOjF9fQ.x",
	    false },
	{ "h.eyJzdWIiOiJhIiwia3ViZXJuZXRlcy5pbyI6MX0.x",
	    "h.eyJzdWIiOiJhIiwiZXhwIjoxLCJrdWJlcm5ldGVzLmlvIjoxfQ.x", true },
	{ "opaque-1", "opaque-2", false },
	{ "opaque-1", "opaque-1", true },
};

START_TEST(whose_tokens)
{
	struct buf a, b;

	buf_init(&a, 0);
	buf_init(&b, 0);
	claims_whose(whose[_i].one, &a);
	claims_whose(whose[_i].other, &b);
	ck_assert_int_eq(span_eq(buf_span(&a), buf_span(&b)), whose[_i].same);
	buf_free(&a);
	buf_free(&b);
}
END_TEST

/* The audience of claims. Claims with a name twice have no audience. */
START_TEST(audiences)
{
	static const struct {
		const char *claims, *who;
		bool is;
	} cases[] = {
		{ "{\"aud\":\"https://a\"}", "https://a", true },
		{ "{\"aud\":[1,\"x\",\"https://a\"]}", "https://a", true },
		{ "{\"aud\":\"https://a\"}", "https://a/", false },
		{ "{\"aud\":\"https://a.evil\"}", "https://a", false },
		{ "{\"aud\":\"https://A\"}", "https://a", false },
		{ "{\"aud\":\"https://a\\u0000\"}", "https://a", false },
		{ "{\"aud\":[]}", "https://a", false },
		{ "{\"aud\":{\"https://a\":1}}", "https://a", false },
		{ "{\"aud\":[[\"https://a\"]]}", "https://a", false },
		{ "{\"aud\":null}", "https://a", false },
		{ "{}", "https://a", false },
		{ "{\"aud\":\"https://a\"}", NULL, false },
		{ "{\"aud\":\"https://a\",\"aud\":\"https://a\"}", "https://a",
		    false },
		{ "{\"aud\":\"https://a\",\"\\u0061ud\":\"x\"}", "https://a",
		    false },
		{ "{\"aud\":\"https://a\",\"x\":[{\"y\":1,\"y\":1}]}",
		    "https://a", false },
		/* a reader that ignores case takes the other one */
		{ "{\"aud\":\"https://a\",\"AUD\":\"x\"}", "https://a", false },
		{ "{\"Aud\":\"x\",\"aud\":\"https://a\"}", "https://a", false },
		{ "{\"aud\":\"https://a\",\"i\xC5\xBFs\":\"x\"}", "https://a",
		    false },
		{ "{\"aud\":\"https://a\",\"Client_Id\":\"x\"}", "https://a",
		    false },
		{ "{\"aud\":\"https://a\",\"x\":{\"AUD\":1},"
		  "\"Audit\":1}",
		    "https://a", true },
	};
	struct json_object *claims;
	struct buf jwt;

	buf_init(&jwt, 0);
	buf_adds(&jwt, "e30.");
	codec_base64url(&jwt, span_of(cases[_i].claims));
	buf_adds(&jwt, ".x");
	claims = claims_of(buf_str(&jwt));
	ck_assert_msg(claims_are_for(claims, cases[_i].who) == cases[_i].is,
	    "%s", cases[_i].claims);
	json_object_put(claims);
	buf_free(&jwt);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("claims");
	TCase *t = tcase_create("claims");

	tcase_add_loop_test(t, whose_tokens, 0, COUNT(whose));
	tcase_add_loop_test(t, audiences, 0, 20);
	suite_add_tcase(s, t);
	return unit_run(s);
}
