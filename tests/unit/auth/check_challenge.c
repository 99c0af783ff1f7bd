/*
 * WWW-Authenticate: whose parameter is whose, every way to write a value,
 * what is no challenge of ours, and what is none at all.
 */
#include "config.h"

#include "auth/challenge.h"
#include "base/bounds.h"

#include "unit/unit.h"

#define META "https://h.example/.well-known/oauth-protected-resource/mcp"

/* Parameters in the order metadata, scope, error, description. */
struct challenge_case {
	const char *text;
	bool bearer, dpop;
	const char *metadata, *scope, *error, *description, *schemes;
	const char *dpop_error, *algs;
};

static const struct challenge_case cases[] = {
	/* one challenge */
	{ .text = "Bearer", .bearer = true },
	{ .text = "Bearer resource_metadata=\"" META "\"",
	    .bearer = true,
	    .metadata = META },
	{ .text = "bearer resource_metadata=\"" META "\"",
	    .bearer = true,
	    .metadata = META },
	{ .text = "BEARER RESOURCE_METADATA=\"" META "\"",
	    .bearer = true,
	    .metadata = META },
	{ .text = "Bearer realm=\"mcp\", error=\"invalid_token\", "
		  "error_description=\"The token expired\", scope=\"a b\"",
	    .bearer = true,
	    .scope = "a b",
	    .error = "invalid_token",
	    .description = "The token expired" },
	{ .text = "Bearer Error=invalid_token , Scope = \"a\"",
	    .bearer = true,
	    .scope = "a",
	    .error = "invalid_token" },
	{ .text = "Bearer error=\"insufficient_scope\",scope=\"mcp:write\"",
	    .bearer = true,
	    .scope = "mcp:write",
	    .error = "insufficient_scope" },
	{ .text = "  \t Bearer \t scope=\"a\" \t ",
	    .bearer = true,
	    .scope = "a" },
	{ .text = "DPoP algs=\"ES256 PS256\", scope=\"a\"",
	    .dpop = true,
	    .algs = "ES256 PS256",
	    .scope = "a" },
	{ .text = "dpop error=\"use_dpop_nonce\"",
	    .dpop = true,
	    .dpop_error = "use_dpop_nonce" },
	/* values */
	{ .text = "Bearer scope=\"a, b\", error=\"c=d, e=\"",
	    .bearer = true,
	    .scope = "a, b",
	    .error = "c=d, e=" },
	{ .text = "Bearer error_description=\"say \\\"no\\\" \\\\ \\a\"",
	    .bearer = true,
	    .description = "say \"no\" \\ a" },
	{ .text = "Bearer error_description=\"Basic realm=x, Bearer scope=y\"",
	    .bearer = true,
	    .description = "Basic realm=x, Bearer scope=y" },
	{ .text = "Bearer resource_metadata=" META,
	    .bearer = true,
	    .metadata = META },
	{ .text = "Bearer resource_metadata=https://h:90/x?a=b&c=/d;e, "
		  "scope=mcp:read",
	    .bearer = true,
	    .metadata = "https://h:90/x?a=b&c=/d;e",
	    .scope = "mcp:read" },
	{ .text = "Bearer resource_metadata =\t" META " ,error = x",
	    .bearer = true,
	    .metadata = META,
	    .error = "x" },
	{ .text = "Bearer scope=\"a\tb\"", .bearer = true, .scope = "a\tb" },
	{ .text = "Bearer scope=\"\", error=", .bearer = true },
	{ .text = "Bearer scope=, error=x", .bearer = true, .error = "x" },
	{ .text = "Bearer scope=\"a\", scope=\"b\"",
	    .bearer = true,
	    .scope = "a" },
	{ .text = "Bearer scope=\"\", scope=\"b\"",
	    .bearer = true,
	    .scope = "b" },
	{ .text = "Bearer scope=\"\xc3\xa4\", error=\"x\"",
	    .bearer = true,
	    .error = "x" },
	{ .text = "Bearer scopes=\"a\", xscope=b, error_uri=\"http://x\", "
		  "max_age=\"1\", scope=\"c\"",
	    .bearer = true,
	    .scope = "c" },
	{ .text = "Bearer err=x, sco=y, resource_metadata_=z", .bearer = true },
	/* empty elements */
	{ .text = ",, Bearer ,, scope=\"a\",,error=\"x\" , ,",
	    .bearer = true,
	    .scope = "a",
	    .error = "x" },
	/* several challenges, on a line or on lines that were joined */
	{ .text = "Basic realm=\"a\", Bearer scope=\"b\"",
	    .bearer = true,
	    .scope = "b",
	    .schemes = "Basic" },
	{ .text = "Bearer scope=\"b\", Basic realm=\"a\", scope=\"c\", "
		  "error=\"x\"",
	    .bearer = true,
	    .scope = "b",
	    .schemes = "Basic" },
	{ .text = "Basic scope=\"c\", error=\"x\", Bearer",
	    .bearer = true,
	    .schemes = "Basic" },
	{ .text = "Bearer, Basic scope=\"c\"",
	    .bearer = true,
	    .schemes = "Basic" },
	{ .text = "Negotiate, Bearer scope=\"b\"",
	    .bearer = true,
	    .scope = "b",
	    .schemes = "Negotiate" },
	{ .text = "Negotiate YIIa+/b==, Bearer scope=\"b\", NTLM",
	    .bearer = true,
	    .scope = "b",
	    .schemes = "Negotiate, NTLM" },
	{ .text = "Digest realm=\"a, Bearer scope=\\\"z\\\"\", "
		  "qop=\"auth,auth-int\", "
		  "nonce=abc==, Bearer scope=\"b\"",
	    .bearer = true,
	    .scope = "b",
	    .schemes = "Digest" },
	{ .text = "Bearer error=\"x\", Bearer scope=\"b\", error=\"y\"",
	    .bearer = true,
	    .error = "x" },
	{ .text = "DPoP scope=\"d\", Bearer scope=\"b\"",
	    .bearer = true,
	    .dpop = true,
	    .scope = "d" },
	/* Bearer and DPoP beside each other (RFC 9449 7.2): what one does not
	 * have the other may; each has its own error */
	{ .text = "Bearer, DPoP algs=\"ES256\", scope=\"d\"",
	    .bearer = true,
	    .dpop = true,
	    .scope = "d",
	    .algs = "ES256" },
	{ .text = "Bearer error=\"invalid_token\", DPoP "
		  "error=\"use_dpop_nonce\"",
	    .bearer = true,
	    .dpop = true,
	    .error = "invalid_token",
	    .dpop_error = "use_dpop_nonce" },
	{ .text = "DPoP error=\"x\", Bearer error=\"y\", DPoP algs=\"ES256\", "
		  "error=\"z\"",
	    .bearer = true,
	    .dpop = true,
	    .error = "y",
	    .dpop_error = "x" },
	{ .text = "Bearer algs=\"ES256\", Basic realm=\"a\", algs=\"b\"",
	    .bearer = true,
	    .schemes = "Basic" },
	{ .text = "Bearer abc==, Basic realm=x",
	    .bearer = true,
	    .schemes = "Basic" },
	{ .text = "Bearer realm, scope=\"a\"", .bearer = true, .scope = "a" },
	/* none of ours */
	{ .text = "Basic realm=\"x\"", .schemes = "Basic" },
	{ .text = "Basic", .schemes = "Basic" },
	{ .text = "Negotiate", .schemes = "Negotiate" },
	{ .text = "Negotiate oYG=", .schemes = "Negotiate" },
	{ .text = "Negotiate, NTLM, Basic realm=\"x\"",
	    .schemes = "Negotiate, NTLM, Basic" },
	{ .text = "BearerX scope=\"a\"", .schemes = "BearerX" },
	{ .text = "Bear scope=\"a\"", .schemes = "Bear" },
	{ .text = "Basic Bearer=\"a\", scope=\"b\"", .schemes = "Basic" },
	/* no challenge */
	{ .text = "" },
	{ .text = " \t " },
	{ .text = ", ,," },
	/* broken: as if absent, whatever was right before */
	{ .text = "scope=\"a\"" },
	{ .text = "resource_metadata=\"" META "\"" },
	{ .text = "scope=\"a\", Bearer error=\"x\"" },
	{ .text = "Bearer/abc" },
	{ .text = "=x" },
	{ .text = "\"Bearer\" scope=\"a\"" },
	{ .text = "Bearer \"abc\"" },
	{ .text = "Bearer scope=\"a" },
	{ .text = "Bearer scope=\"a\\" },
	{ .text = "Bearer scope=\"a\\\"" },
	{ .text = "Bearer scope=\"a\" error=\"x\"" },
	{ .text = "Bearer scope=\"a\"; error=\"x\"" },
	{ .text = "Bearer scope=\"a\"error=\"x\"" },
	{ .text = "Bearer scope=a b" },
	{ .text = "Bearer scope=a\"b\"" },
	{ .text = "Bearer Digest realm=\"x\"" },
	{ .text = "Bearer error=\"x\", Basic realm"
		  " \"y\"" },
	{ .text = "Bearer: scope=\"a\"" },
	{ .text = "Bearer/scope=\"a\"" },
	{ .text = "Bearer (scope)" },
	{ .text = "Bearer sc(ope=\"a\"" },
	{ .text = "Bearer scope=\"a\r\nX: y\"" },
	{ .text = "Bearer scope=\"a\\\x01\"" },
	{ .text = "Bearer scope=\"a\x7f\"" },
	{ .text = "Bearer scope=a\x1b[0m" },
	{ .text = "Bearer scope=\"a\", \xff" },
	{ .text = "Bearer scope=\"a\", Basic realm=\"x" },
};

static void
is_text(const char *where, const char *got, const char *want)
{
	ck_assert_msg((got == NULL) == (want == NULL) &&
		(got == NULL || strcmp(got, want) == 0),
	    "%s: %s instead of %s", where, got == NULL ? "NULL" : got,
	    want == NULL ? "NULL" : want);
}

/* In memory of its own, so that a step beyond its end is seen. */
static void
is_case(struct span text, const struct challenge_case *want)
{
	struct challenge c;
	char *copy;

	copy = text.n == 0 ? NULL : xmalloc(text.n);
	if (text.n > 0)
		memcpy(copy, text.p, text.n);
	challenge_parse(&c, (struct span){ copy, text.n });
	free(copy);
	ck_assert_msg(c.bearer == want->bearer && c.dpop == want->dpop, "%s",
	    want->text);
	is_text(want->text, c.resource_metadata, want->metadata);
	is_text(want->text, c.scope, want->scope);
	is_text(want->text, c.error, want->error);
	is_text(want->text, c.error_description, want->description);
	is_text(want->text, c.schemes, want->schemes);
	is_text(want->text, c.dpop_error, want->dpop_error);
	is_text(want->text, c.algs, want->algs);
	challenge_free(&c);
	ck_assert(!c.bearer && !c.dpop && c.scope == NULL && c.schemes == NULL);
}

START_TEST(table)
{
	is_case(span_of(cases[_i].text), &cases[_i]);
}
END_TEST

/* The error that counts for a token of either scheme, and whether ours may be
 * bound to a key. */
static const struct {
	const char *text, *as_bearer, *as_dpop;
	bool offers;
} schemes[] = {
	{ "Bearer error=\"a\"", "a", "a", false },
	{ "DPoP error=\"a\"", "a", "a", true },
	{ "Bearer error=\"a\", DPoP error=\"b\"", "a", "b", true },
	{ "DPoP error=\"b\", Bearer", "b", "b", true },
	{ "Bearer, DPoP algs=\"PS256 ES256\"", NULL, NULL, true },
	{ "DPoP algs=\"PS256 ES256K\"", NULL, NULL, false },
	{ "Basic realm=\"a\"", NULL, NULL, false },
};

START_TEST(two_schemes)
{
	struct challenge c;

	challenge_parse(&c, span_of(schemes[_i].text));
	is_text(schemes[_i].text, challenge_error(&c, false),
	    schemes[_i].as_bearer);
	is_text(schemes[_i].text, challenge_error(&c, true),
	    schemes[_i].as_dpop);
	ck_assert(challenge_offers_dpop(&c) == schemes[_i].offers);
	challenge_free(&c);
}
END_TEST

/* The value is a span: what is behind it is not looked at. */
START_TEST(ends_where_it_ends)
{
	static const char text[] = "Bearer scope=abc, error=x";
	static const struct challenge_case abc = { .text = "abc",
		.bearer = true,
		.scope = "abc" },
					   ab = { .text = "ab",
						   .bearer = true,
						   .scope = "ab" },
					   none = { .text = "none" };

	is_case((struct span){ text, 16 }, &abc);
	is_case((struct span){ text, 15 }, &ab);
	is_case((struct span){ NULL, 0 }, &none);
	/* a NUL inside is no end, but broken */
	is_case((struct span){ "Bearer\0", 7 }, &none);
	is_case((struct span){ "Bearer scope=\"a\0b\"", 18 }, &none);
	is_case((struct span){ "Bearer scope=a\0b", 16 }, &none);
}
END_TEST

/* A whole challenge of n bytes. */
static void
filled(struct buf *b, size_t n)
{
	buf_init(b, 0);
	buf_adds(b, "Bearer scope=\"a\", realm=\"");
	while (b->n + 1 < n)
		buf_addc(b, 'x');
	buf_addc(b, '"');
	ck_assert_uint_eq(b->n, n);
}

START_TEST(bound)
{
	static const struct challenge_case whole = { .text = "whole",
		.bearer = true,
		.scope = "a" },
					   none = { .text = "too long" };
	struct buf b;

	filled(&b, BOUND_HEADER_BYTES);
	is_case(buf_span(&b), &whole);
	buf_free(&b);
	filled(&b, BOUND_HEADER_BYTES + 1);
	is_case(buf_span(&b), &none);
	buf_free(&b);
}
END_TEST

/* The names of other schemes are for a message: not all 8 KiB of them. */
START_TEST(schemes_are_bounded)
{
	struct challenge c;
	struct buf b;
	int i;

	buf_init(&b, 0);
	for (i = 0; i < 1000; i++)
		buf_adds(&b, "Basic,");
	buf_adds(&b, "Bearer scope=a");
	challenge_parse(&c, buf_span(&b));
	ck_assert(c.bearer);
	ck_assert_str_eq(c.scope, "a");
	ck_assert_uint_le(strlen(c.schemes), 200);
	ck_assert_int_eq(strncmp(c.schemes, "Basic, Basic", 12), 0);
	challenge_free(&c);
	buf_free(&b);
}
END_TEST

/* What a client is told of a challenge, and whether another token may help. */
static const struct {
	const char *text;
	bool stands;
	const char *json, *says;
} denials[] = {
	{ "Bearer", false, "", NULL },
	{ "Bearer scope=\"a\", resource_metadata=\"" META "\"", false, "",
	    NULL },
	{ "Basic realm=\"x\", error=\"insufficient_rights\"", false, "", NULL },
	{ "Bearer error=\"invalid_token\"", false,
	    "{\"error\":\"invalid_token\"}", NULL },
	{ "Bearer error=\"insufficient_scope\", scope=\"w\"", false,
	    "{\"error\":\"insufficient_scope\",\"scope\":\"w\"}", NULL },
	{ "Bearer error=\"insufficient\"", false,
	    "{\"error\":\"insufficient\"}", NULL },
	{ "Bearer acr_values=\"a\"", false, "{\"acr_values\":\"a\"}", NULL },
	{ "Bearer error=\"access_denied\", error_uri=\"https://h/x\"", true,
	    "{\"error\":\"access_denied\",\"error_uri\":\"https://h/x\"}",
	    "the token is valid but lacks a permission this needs (access_denied). Ask whoever grants permissions" },
	{ "Bearer error=\"insufficient_user_authentication\", "
	  "error_description=\"too \\\"weak\\\"\", acr_values=\"gold silver\", "
	  "max_age=5",
	    true,
	    "{\"error\":\"insufficient_user_authentication\","
	    "\"error_description\":\"too \\\"weak\\\"\","
	    "\"acr_values\":\"gold silver\",\"max_age\":\"5\"}",
	    "the token is valid but lacks a permission this needs (insufficient_user_authentication: too \"weak\"). It requires another sign-in, with acr_values=gold silver max_age=5: run \"mcpsplice "
	    "login URL\" with --authorize-param for each" },
	{ "DPoP error=\"insufficient_authorization_details\", "
	  "authorization_details=\"[{\\\"type\\\":\\\"t\\\"}]\", claims=e30",
	    true,
	    "{\"error\":\"insufficient_authorization_details\","
	    "\"authorization_details\":\"[{\\\"type\\\":\\\"t\\\"}]\","
	    "\"claims\":\"e30\"}",
	    "the token is valid but lacks a permission this needs (insufficient_authorization_details). It requires another sign-in, with authorization_details=[{\"type\":\"t\"}]: run \"mcpsplice login "
	    "URL\" with --authorize-param for each" },
};

START_TEST(denial)
{
	struct challenge c;
	struct buf b;

	buf_init(&b, 0);
	denial_json(span_of(denials[_i].text), &b);
	ck_assert_str_eq(buf_str(&b), denials[_i].json);
	challenge_parse(&c, span_of(denials[_i].text));
	ck_assert(denial_stands(&c) == denials[_i].stands);
	if (denials[_i].says != NULL) {
		buf_reset(&b);
		denial_say(&c, &b);
		ck_assert_str_eq(buf_str(&b), denials[_i].says);
	}
	challenge_free(&c);
	buf_free(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("challenge");
	TCase *t = tcase_create("challenge");

	tcase_add_loop_test(t, table, 0, COUNT(cases));
	tcase_add_loop_test(t, two_schemes, 0, COUNT(schemes));
	tcase_add_test(t, ends_where_it_ends);
	tcase_add_test(t, bound);
	tcase_add_test(t, schemes_are_bounded);
	tcase_add_loop_test(t, denial, 0, COUNT(denials));
	suite_add_tcase(s, t);
	return unit_run(s);
}
