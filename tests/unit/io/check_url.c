/*
 * io/url: what is taken for a URL, its normal form, references, origins and
 * loopback.
 */
#include "config.h"

#include "io/url.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "unit/unit.h"

struct parse_case {
	const char *text;
	enum url_status status;
	const char *normal, *scheme, *host, *port, *origin;
};

static const struct parse_case parse_cases[] = {
	{ "http://example.com/mcp", URL_OK, "http://example.com/mcp", "http",
	    "example.com", "80", "http://example.com" },
	{ "HTTPS://Example.COM:443/Mcp?a=B#frag", URL_OK,
	    "https://example.com/Mcp?a=B", "https", "example.com", "443",
	    "https://example.com" },
	{ "https://h:80", URL_OK, "https://h:80/", "https", "h", "80",
	    "https://h:80" },
	{ "http://h:/?x", URL_OK, "http://h/?x", "http", "h", "80",
	    "http://h" },
	{ "http://h#x", URL_OK, "http://h/", "http", "h", "80", "http://h" },
	{ "http://[::1]:90/x", URL_OK, "http://[::1]:90/x", "http", "[::1]",
	    "90", "http://[::1]:90" },
	{ "http://[FE80::1%25eth0]:8080/x", URL_OK,
	    "http://[fe80::1%25eth0]:8080/x", "http", "[fe80::1]", "8080",
	    "http://[fe80::1%25eth0]:8080" },
	{ "http://127.1/", URL_OK, "http://127.0.0.1/", "http", "127.0.0.1",
	    "80", "http://127.0.0.1" },
	{ "http://0x7f.1", URL_OK, "http://127.0.0.1/", "http", "127.0.0.1",
	    "80", "http://127.0.0.1" },
	{ "http://2130706433/", URL_OK, "http://127.0.0.1/", "http",
	    "127.0.0.1", "80", "http://127.0.0.1" },
	{ "http://h/a/../b/./c", URL_OK, "http://h/b/c", "http", "h", "80",
	    "http://h" },
	{ "http://h/?u=http://u@x/", URL_OK, "http://h/?u=http://u@x/", "http",
	    "h", "80", "http://h" },
	/* names of files come from these, so each libcurl gives the same */
	{ "http://h/\xc3\xa4", URL_OK, "http://h/%c3%a4", "http", "h", "80",
	    "http://h" },
	{ "http://h/%c3%A9/%C3%a9?%aF=%Fa", URL_OK,
	    "http://h/%c3%A9/%C3%a9?%aF=%Fa", "http", "h", "80", "http://h" },
	{ "http://h?\xc3\xa4=%c3", URL_OK, "http://h/?%c3%a4=%c3", "http", "h",
	    "80", "http://h" },
	{ "http://h/%c3/../%e9/./\xff#\xff", URL_OK, "http://h/%e9/%ff", "http",
	    "h", "80", "http://h" },
	{ .text = "example.com/mcp", .status = URL_NO_SCHEME },
	{ .text = "example.com", .status = URL_NO_SCHEME },
	{ .text = "localhost:8000/mcp", .status = URL_NO_SCHEME },
	{ .text = "127.0.0.1:8000", .status = URL_NO_SCHEME },
	{ .text = "[::1]:8000/", .status = URL_NO_SCHEME },
	{ .text = "e.com/?u=http://x/", .status = URL_NO_SCHEME },
	{ .text = "ftp://x/y", .status = URL_SCHEME },
	{ .text = "file:///etc/passwd", .status = URL_SCHEME },
	{ .text = "ws://x/y", .status = URL_SCHEME },
	{ .text = "httpss://x/y", .status = URL_SCHEME },
	{ .text = "http://u:p@h/", .status = URL_USERINFO },
	{ .text = "http://u@h", .status = URL_USERINFO },
	{ .text = "http://@h/", .status = URL_USERINFO },
	{ .text = "http://a\\@b/", .status = URL_USERINFO },
	{ .text = "u:p@h/x", .status = URL_USERINFO },
	{ .text = "", .status = URL_BAD },
	{ .text = "https://xamp%e/", .status = URL_BAD },
	{ .text = "http://a%20b/x", .status = URL_BAD },
	{ .text = "/mcp", .status = URL_BAD },
	{ .text = "//h/x", .status = URL_BAD },
	{ .text = "://h/x", .status = URL_BAD },
	{ .text = "http:/h/x", .status = URL_BAD },
	{ .text = "http:h", .status = URL_BAD },
	{ .text = "HTTPS:h", .status = URL_BAD },
	{ .text = "http:///h/x", .status = URL_BAD },
	{ .text = "http://", .status = URL_BAD },
	{ .text = "http://?x", .status = URL_BAD },
	{ .text = "http://h:0/", .status = URL_BAD },
	{ .text = "http://h:65536/", .status = URL_BAD },
	{ .text = "http://h:x/", .status = URL_BAD },
	{ .text = "http://[::1/", .status = URL_BAD },
	{ .text = "http://a b/", .status = URL_BAD },
	{ .text = "http://h/a b", .status = URL_BAD },
	{ .text = " http://h/", .status = URL_BAD },
	{ .text = "http://h/\n", .status = URL_BAD },
	{ .text = "http://h/\r\nX: y", .status = URL_BAD },
	{ .text = "http://h/\x7f", .status = URL_BAD },
	{ .text = "http://a%2fb/", .status = URL_BAD },
	{ .text = "x\ty", .status = URL_BAD },
};

static void
is_empty(const struct url *u)
{
	ck_assert_ptr_null(u->text);
	ck_assert_ptr_null(u->scheme);
	ck_assert_ptr_null(u->host);
	ck_assert_ptr_null(u->port);
	ck_assert_ptr_null(u->origin);
}

START_TEST(parse)
{
	const struct parse_case *c = &parse_cases[_i];
	struct url u;

	ck_assert_msg(url_parse(&u, c->text) == c->status, "%s", c->text);
	if (c->status != URL_OK) {
		is_empty(&u);
		return;
	}
	ck_assert_str_eq(u.text, c->normal);
	ck_assert_str_eq(u.scheme, c->scheme);
	ck_assert_str_eq(u.host, c->host);
	ck_assert_str_eq(u.port, c->port);
	ck_assert_str_eq(u.origin, c->origin);
	url_free(&u);
	is_empty(&u);
}
END_TEST

/* The normal form is its own normal form. */
START_TEST(parse_again)
{
	const struct parse_case *c = &parse_cases[_i];
	struct url u;

	if (c->status != URL_OK)
		return;
	ck_assert_int_eq(url_parse(&u, c->normal), URL_OK);
	ck_assert_str_eq(u.text, c->normal);
	url_free(&u);
}
END_TEST

START_TEST(too_long)
{
	static char text[BOUND_TEXT_BYTES + 2];
	struct url u;

	memset(text, 'a', sizeof text - 1);
	memcpy(text, "http://h/", 9);
	ck_assert_int_eq(url_parse(&u, text), URL_BAD);
	is_empty(&u);
	text[BOUND_TEXT_BYTES] = '\0';
	ck_assert_int_eq(url_parse(&u, text), URL_OK);
	url_free(&u);
}
END_TEST

struct resolve_case {
	const char *reference;
	enum url_status status;
	const char *text;
};

/* RFC 3986 section 5.4, and what a Location may hold besides. */
static const struct resolve_case resolve_cases[] = {
	{ "g", URL_OK, "http://a/b/c/g" },
	{ "./g", URL_OK, "http://a/b/c/g" },
	{ "g/", URL_OK, "http://a/b/c/g/" },
	{ "/g", URL_OK, "http://a/g" },
	{ "//g", URL_OK, "http://g/" },
	{ "//G:80/x", URL_OK, "http://g/x" },
	{ "?y", URL_OK, "http://a/b/c/d;p?y" },
	{ "g?y", URL_OK, "http://a/b/c/g?y" },
	{ "#s", URL_OK, "http://a/b/c/d;p?q" },
	{ "g#s", URL_OK, "http://a/b/c/g" },
	{ "", URL_OK, "http://a/b/c/d;p?q" },
	{ ".", URL_OK, "http://a/b/c/" },
	{ "..", URL_OK, "http://a/b/" },
	{ "../../g", URL_OK, "http://a/g" },
	{ "../../../g", URL_OK, "http://a/g" },
	{ "/./g", URL_OK, "http://a/g" },
	{ "/../g", URL_OK, "http://a/g" },
	{ "g.", URL_OK, "http://a/b/c/g." },
	{ "..g", URL_OK, "http://a/b/c/..g" },
	{ "g?y/../x", URL_OK, "http://a/b/c/g?y/../x" },
	{ "a?u=http://z", URL_OK, "http://a/b/c/a?u=http://z" },
	{ "./x:y", URL_OK, "http://a/b/c/x:y" },
	{ "https://B/x#f", URL_OK, "https://b/x" },
	{ "HTTP://Q:80/z", URL_OK, "http://q/z" },
	{ .reference = "http:g", .status = URL_BAD },
	{ .reference = "http://", .status = URL_BAD },
	{ .reference = " g", .status = URL_BAD },
	{ .reference = "g\r\nX: y", .status = URL_BAD },
	{ .reference = "mailto:x", .status = URL_SCHEME },
	{ .reference = "localhost:80/x", .status = URL_SCHEME },
	{ .reference = "ftp://h/", .status = URL_SCHEME },
	{ .reference = "https://u@h/", .status = URL_USERINFO },
	{ .reference = "//u:p@h/", .status = URL_USERINFO },
};

START_TEST(resolve)
{
	const struct resolve_case *c = &resolve_cases[_i];
	struct url base, u;

	ck_assert_int_eq(url_parse(&base, "http://a/b/c/d;p?q"), URL_OK);
	ck_assert_msg(url_resolve(&u, &base, c->reference) == c->status, "%s",
	    c->reference);
	if (c->status == URL_OK)
		ck_assert_str_eq(u.text, c->text);
	else
		is_empty(&u);
	url_free(&u);
	url_free(&base);
}
END_TEST

struct pair {
	const char *a, *b;
	bool same;
};

static const struct pair pairs[] = {
	{ "http://h/a", "HTTP://H:80/b?c", true },
	{ "https://h:443/", "https://h/x", true },
	{ "http://127.0.0.1:1/", "http://127.1:1/", true },
	{ "http://h/", "https://h/", false },
	{ "http://h/", "http://h:8080/", false },
	{ "http://h/", "http://i/", false },
	{ "http://h/", "http://h.example/", false },
	{ "http://[fe80::1%25a]/", "http://[fe80::1%25b]/", false },
};

START_TEST(same_origin)
{
	struct url a, b;

	ck_assert_int_eq(url_parse(&a, pairs[_i].a), URL_OK);
	ck_assert_int_eq(url_parse(&b, pairs[_i].b), URL_OK);
	ck_assert_int_eq(url_same_origin(&a, &b), pairs[_i].same);
	ck_assert_int_eq(url_same_origin(&b, &a), pairs[_i].same);
	url_free(&a);
	url_free(&b);
	/* Two empty ones are no origin. */
	ck_assert(!url_same_origin(&a, &b));
}
END_TEST

struct loopback_case {
	const char *text;
	bool loopback;
};

static const struct loopback_case loopback_cases[] = {
	{ "http://127.0.0.1:8000/", true },
	{ "http://127.255.0.9/", true },
	{ "http://127.1/", true },
	{ "http://0x7f000001/", true },
	{ "http://[::1]/", true },
	{ "http://[0:0:0:0:0:0:0:1]/", true },
	{ "http://localhost/", true },
	{ "http://LocalHost:1/", true },
	{ "http://a.b.localhost/", true },
	{ "http://128.0.0.1/", false },
	{ "http://127.0.0.1.example.com/", false },
	{ "http://127.example.com/", false },
	{ "http://localhost.example.com/", false },
	{ "http://xlocalhost/", false },
	{ "http://[::2]/", false },
	{ "http://example.com/localhost", false },
};

START_TEST(loopback)
{
	const struct loopback_case *c = &loopback_cases[_i];
	struct url u;

	ck_assert_int_eq(url_parse(&u, c->text), URL_OK);
	ck_assert_msg(url_is_loopback(&u) == c->loopback, "%s", c->text);
	url_free(&u);
	ck_assert(!url_is_loopback(&u));
}
END_TEST

#define SPAN(s)                                                                \
	{                                                                      \
		s, sizeof(s) - 1                                               \
	}

static const struct {
	struct span in;
	const char *want;
} escapes[] = {
	{ SPAN(""), "" },
	{ SPAN("azAZ09-._~"), "azAZ09-._~" },
	{ SPAN(" +&=%?#/:"), "%20%2B%26%3D%25%3F%23%2F%3A" },
	{ SPAN("a\0\n\x7f\xC3\xA9"), "a%00%0A%7F%C3%A9" },
};

START_TEST(escape)
{
	struct buf b;

	buf_init(&b, 0);
	url_escape(&b, escapes[_i].in);
	ck_assert_str_eq(buf_str(&b), escapes[_i].want);
	buf_free(&b);
}
END_TEST

static const struct {
	struct span in;
	const char *want;
} unescapes[] = {
	{ SPAN(""), "" },
	{ SPAN("a+b%20c%2B"), "a b c+" },
	{ SPAN("%41%6a%6A"), "Ajj" },
	{ SPAN("%2541"), "%41" },
	{ SPAN("%"), NULL },
	{ SPAN("a%2"), NULL },
	{ SPAN("%g0"), NULL },
	{ SPAN("%0"), NULL },
	{ SPAN("a%00b"), NULL },
	{ SPAN("%c3%a9"), "\xC3\xA9" },
};

START_TEST(unescape)
{
	char *s = url_unescape(unescapes[_i].in);

	if (unescapes[_i].want == NULL)
		ck_assert_ptr_null(s);
	else
		ck_assert_str_eq(s, unescapes[_i].want);
	free(s);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("url");
	TCase *t = tcase_create("url");

	tcase_add_loop_test(t, parse, 0, COUNT(parse_cases));
	tcase_add_loop_test(t, parse_again, 0, COUNT(parse_cases));
	tcase_add_test(t, too_long);
	tcase_add_loop_test(t, resolve, 0, COUNT(resolve_cases));
	tcase_add_loop_test(t, same_origin, 0, COUNT(pairs));
	tcase_add_loop_test(t, loopback, 0, COUNT(loopback_cases));
	tcase_add_loop_test(t, escape, 0, COUNT(escapes));
	tcase_add_loop_test(t, unescape, 0, COUNT(unescapes));
	suite_add_tcase(s, t);
	return unit_run(s);
}
