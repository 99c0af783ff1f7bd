/*
 * signin/fetch: answers of every kind and what is said of them, redirects,
 * addresses that are not allowed, and fetches that are given up.
 */
#include "config.h"

#include "signin/fetch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "unit/io/http_play.h"

#define CANARY "CANARY"

/* A client with a fetcher. */
struct play {
	struct client *c;
	struct fetcher *f;
};

struct result {
	int status;
	struct json_object *json;
	char why[512]; /* "": none */
	bool refused, transient, soon;
	int64_t retry_after_ms;
};

static bool
may(const struct sockaddr *sa, void *arg)
{
	struct play *p = arg;

	return fetcher_allows(sa, p->f);
}

static void
play_open(struct play *p, const struct http_config *base,
    enum address_class allowed, bool any)
{
	struct http_config config = *base;

	config.allow = may;
	config.allow_arg = p;
	config.no_cookies = true;
	p->c = client_with(&config);
	p->f = fetcher_new(p->c->l, p->c->h, allowed, any);
}

static void
play_close(struct play *p)
{
	client_free(p->c);
	fetcher_free(p->f);
}

static void
fetch(struct play *p, const struct fetch_request *q, struct result *r)
{
	struct fetch_answer a;

	ck_assert(fetch_wait(p->f, q, NULL, &a));
	memset(r, 0, sizeof *r);
	r->status = a.status;
	r->json = json_object_get(a.json);
	r->refused = a.refused;
	r->transient = a.transient;
	r->soon = a.soon;
	r->retry_after_ms = a.retry_after_ms;
	snprintf(r->why, sizeof r->why, "%s", a.why == NULL ? "" : a.why);
	ck_assert_msg(strstr(r->why, CANARY) == NULL, "%s", r->why);
	if (a.why != NULL)
		ck_assert_str_ne(a.why, "");
	fetch_answer_free(&a);
}

static void
fetch_url(struct play *p, const char *url, struct result *r)
{
	struct fetch_request q = { .url = url };

	fetch(p, &q, r);
}

/* What it is, and not a word more or less. */
static void
expect(struct result *r, int status, bool json, const char *why)
{
	ck_assert_msg(r->status == status && (r->json != NULL) == json &&
		(why == NULL ? r->why[0] == '\0' : strstr(r->why, why) != NULL),
	    "%d %s, \"%s\"; not %d, \"%s\"", r->status,
	    r->json == NULL ? "nothing" : "JSON", r->why, status,
	    why == NULL ? "" : why);
	json_object_put(r->json);
	r->json = NULL;
}

/* Answers */

static const struct answer_case {
	const char *head, *body;
	int status;
	bool json;
	const char *why;
	bool transient;
	int64_t retry_after_ms;
} answer_cases[] = {
	{ "200 OK\r\nContent-Type: application/json", "{\"a\":\"b\"}", 200,
	    true, NULL, false, -1 },
	{ "201 Created", " {} ", 201, true, NULL, false, -1 },
	{ "200 OK\r\nContent-Type: text/html", "{\"a\":1}", 200, true, NULL,
	    false, -1 },
	{ "200 " CANARY "\r\nContent-Type: text/html; x=" CANARY,
	    "<html>" CANARY "</html>", 200, false,
	    "127.0.0.1 answered with a web page instead of JSON "
	    "(200, text/html)",
	    false, -1 },
	{ "200 OK\r\nContent-Type: TEXT/HTML", CANARY, 200, false,
	    "127.0.0.1 answered with a web page instead of JSON "
	    "(200, text/html)",
	    false, -1 },
	{ "200 OK", "<!DOCTYPE html>" CANARY, 200, false,
	    "127.0.0.1 answered with a web page instead of JSON (200)", false,
	    -1 },
	{ "200 OK\r\nContent-Type: text/plain", CANARY, 200, false,
	    "127.0.0.1 did not answer with a JSON object: it is not JSON "
	    "(200, text/plain)",
	    false, -1 },
	{ "200 OK\r\nContent-Type: " CANARY "/html", CANARY, 200, false,
	    "it is not JSON (200)", false, -1 },
	{ "200 OK\r\nContent-Type: text/plain-" CANARY, CANARY, 200, false,
	    "it is not JSON (200)", false, -1 },
	{ "200 OK", "", 200, false, "it is empty (200)", false, -1 },
	{ "200 OK", "[1]", 200, false, "not an object (200)", false, -1 },
	{ "200 OK", "{\"" CANARY "\":1,\"" CANARY "\":1}", 200, false, "twice",
	    false, -1 },
	{ "400 Bad", "{\"error\":\"invalid_grant\"}", 400, true, NULL, false,
	    -1 },
	{ "401 No\r\nRetry-After: 1", "{\"error\":\"invalid_client\"}", 401,
	    true, NULL, false, 1000 },
	{ "404 No\r\nContent-Type: text/html", CANARY, 404, false, NULL, false,
	    -1 },
	{ "304 Same", "", 304, false, NULL, false, -1 },
	{ "429 Slow\r\nRetry-After: 7", "", 429, false, NULL, true, 7000 },
	{ "500 Oops", "{\"error\":\"server_error\"}", 500, true, NULL, true,
	    -1 },
	{ "503 Later\r\nDate: Wed, 21 Oct 2020 07:28:00 GMT\r\n"
	  "Retry-After: Wed, 21 Oct 2020 07:28:09 GMT",
	    "", 503, false, NULL, true, 9000 },
	{ "503 Later\r\nRetry-After: Wednesday", CANARY, 503, false, NULL, true,
	    -1 },
	{ "503 Later\r\nRetry-After: 86401", "", 503, false, NULL, true, -1 },
	{ "503 Later\r\nRetry-After: 86400", "", 503, false, NULL, true,
	    86400000 },
	{ "503 Later\r\nRetry-After: 99999999999999999999999", "", 503, false,
	    NULL, true, -1 },
	{ "503 Later\r\nRetry-After: -1", "", 503, false, NULL, true, -1 },
	{ "503 Later\r\nRetry-After: 5s", "", 503, false, NULL, true, -1 },
	{ "302 Found", CANARY, 302, false, "redirects to nowhere (302)", false,
	    -1 },
	{ "302 Found\r\nLocation: http://" CANARY "@127.0.0.1/", "", 302, false,
	    "redirects to nowhere (302)", false, -1 },
	{ "302 Found\r\nLocation: https://" CANARY "/", "", 302, false,
	    "redirects to another origin (302)", false, -1 },
	{ "302 Found\r\nLocation: file:///etc/" CANARY, "", 302, false,
	    "redirects to nowhere (302)", false, -1 },
};

static void
script_answer(struct conn *c)
{
	const struct answer_case *a = &answer_cases[c->s->variant];
	char *text;

	while (read_request(c)) {
		text = xasprintf("HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s",
		    a->head, strlen(a->body), a->body);
		say(c, text);
		free(text);
	}
}

START_TEST(answers)
{
	const struct answer_case *a = &answer_cases[_i];
	struct server *s = server_new(script_answer);
	struct play p;
	struct result r;

	s->variant = _i;
	play_open(&p, &defaults, ADDRESS_LOOPBACK, false);
	fetch_url(&p, url_on(s, "/x?y=" CANARY), &r);
	expect(&r, a->status, a->json, a->why);
	ck_assert_int_eq(r.transient, a->transient);
	ck_assert_int_eq(r.soon, a->transient && a->status != 500);
	ck_assert_int_eq(r.retry_after_ms, a->retry_after_ms);
	ck_assert(!r.refused);
	ck_assert_int_eq(atomic_load(&s->requests), 1);
	play_close(&p);
	server_free(s);
}
END_TEST

/* Answers with what it got, as a string in JSON. */
static void
script_mirror(struct conn *c)
{
	char text[1024];
	size_t i, n;

	while (read_request(c)) {
		n = (size_t)snprintf(text, sizeof text, "{\"got\":\"%s%s\"}",
		    c->head, c->body);
		ck_assert_uint_lt(n, sizeof text);
		for (i = 0; i < n; i++)
			if (text[i] == '\r' || text[i] == '\n')
				text[i] = '|';
		if (!say_ok(c, text))
			return;
	}
}

static const char *
got(struct result *r)
{
	ck_assert_int_eq(r->status, 200);
	ck_assert_str_eq(r->why, "");
	return document_text(r->json, "got");
}

START_TEST(requests)
{
	struct server *s = server_new(script_mirror);
	struct fetch_request q = { 0 };
	struct headers h;
	struct play p;
	struct result r;
	static const char body[] = "grant_type=x&code=y";

	play_open(&p, &defaults, ADDRESS_LOOPBACK, false);
	q.url = url_on(s, "/a/b?c=d");
	q.version = "2025-06-18";
	fetch(&p, &q, &r);
	ck_assert_ptr_eq(strstr(got(&r), "GET /a/b?c=d HTTP/1.1||"), got(&r));
	ck_assert_ptr_nonnull(strstr(got(&r), "|Accept: application/json|"));
	ck_assert_ptr_nonnull(strstr(got(&r),
	    "|MCP-Protocol-Version: 2025-06-18|"));
	ck_assert_ptr_null(strstr(got(&r), "Content-Type"));
	ck_assert_ptr_null(strstr(got(&r), "Authorization"));
	ck_assert_ptr_null(strstr(got(&r), "Cookie"));
	json_object_put(r.json);

	headers_init(&h);
	headers_add(&h, span_of("Authorization"), span_of("Basic eA=="), true);
	q.headers = &h;
	q.version = NULL;
	q.body = span_of(body);
	q.content_type = "application/x-www-form-urlencoded";
	fetch(&p, &q, &r);
	headers_free(&h);
	ck_assert_ptr_eq(strstr(got(&r), "POST /a/b?c=d HTTP/1.1||"), got(&r));
	ck_assert_ptr_nonnull(strstr(got(&r), "||grant_type=x&code=y"));
	ck_assert_ptr_nonnull(strstr(got(&r), "|Authorization: Basic eA==|"));
	ck_assert_ptr_nonnull(strstr(got(&r),
	    "|Content-Type: application/x-www-form-urlencoded|"));
	ck_assert_ptr_null(strstr(got(&r), "MCP-Protocol-Version"));
	json_object_put(r.json);

	q.headers = NULL;
	q.body = (struct span){ "", 0 };
	fetch(&p, &q, &r);
	ck_assert_ptr_eq(strstr(got(&r), "POST "), got(&r));
	ck_assert_ptr_null(strstr(got(&r), "Authorization"));
	json_object_put(r.json);
	play_close(&p);
	server_free(s);
}
END_TEST

/* Size */

/* A document of so many bytes; -1: without end. */
static void
script_large(struct conn *c)
{
	static const char end[] = "\"}";
	char filler[4096];
	size_t n, left;

	memset(filler, 'x', sizeof filler);
	while (read_request(c)) {
		left = c->s->variant < 0 ? SIZE_MAX : (size_t)c->s->variant;
		say(c, "HTTP/1.1 ");
		say(c, wants(c, "/error") ? "500 No" : "200 OK");
		say(c, "\r\nConnection: close\r\n\r\n{\"a\":\"");
		for (left -= 8; left > 0; left -= n) {
			n = left < sizeof filler ? left : sizeof filler;
			if (!push(c, filler, n))
				return;
		}
		say(c, end);
		return;
	}
}

START_TEST(large_answers)
{
	static const int sizes[] = { 256 * 1024, 256 * 1024 + 1, -1 };
	struct server *s = server_new(script_large);
	struct play p;
	struct result r;

	s->variant = sizes[_i];
	play_open(&p, &defaults, ADDRESS_LOOPBACK, false);
	fetch_url(&p, url_on(s, "/"), &r);
	expect(&r, 200, _i == 0, _i == 0 ? NULL : "it is too large");
	ck_assert(!r.transient);
	fetch_url(&p, url_on(s, "/error"), &r);
	expect(&r, 500, _i == 0, NULL);
	ck_assert(r.transient);
	play_close(&p);
	server_free(s);
}
END_TEST

/* Ends */

static void
script_cut(struct conn *c)
{
	if (!read_request(c))
		return;
	if (c->s->variant > 0)
		say(c, "HTTP/1.1 200 " CANARY "\r\nContent-Length: 99\r\n");
	if (c->s->variant > 1)
		say(c, "\r\n{\"a\":1}");
	if (c->s->variant > 2)
		say(c, "HTTP/1.1 " CANARY);
}

START_TEST(cut)
{
	struct server *s = server_new(script_cut);
	struct play p;
	struct result r;

	s->variant = _i;
	play_open(&p, &defaults, ADDRESS_LOOPBACK, false);
	fetch_url(&p, url_on(s, "/"), &r);
	expect(&r, 0, false, "127.0.0.1 cut off its answer");
	ck_assert(r.transient && r.soon);
	ck_assert(!r.refused);
	play_close(&p);
	server_free(s);
}
END_TEST

START_TEST(unreachable)
{
	struct play p;
	struct result r;

	play_open(&p, &defaults, ADDRESS_LOOPBACK, false);
	fetch_url(&p, "http://127.0.0.1:1/" CANARY, &r);
	expect(&r, 0, false, "127.0.0.1 cannot be reached: ");
	ck_assert(r.transient && r.soon);
	fetch_url(&p, "http://" CANARY " x/", &r);
	expect(&r, 0, false, "is not a URL");
	ck_assert(!r.transient);
	ck_assert(!r.refused);
	play_close(&p);
}
END_TEST

static void
add_answers(TCase *t)
{
	tcase_add_loop_test(t, answers, 0, COUNT(answer_cases));
	tcase_add_test(t, requests);
	tcase_add_loop_test(t, large_answers, 0, 3);
	tcase_add_loop_test(t, cut, 0, 4);
	tcase_add_test(t, unreachable);
}

/* Redirects */

static const int codes[] = { 301, 302, 303, 307, 308 };

static void
say_redirect(struct conn *c, int code, const char *to)
{
	char text[512];

	snprintf(text, sizeof text,
	    "HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 7\r\n\r\n"
	    "{\"b\":2}",
	    code, to);
	say(c, text);
}

/* "/n" leads to "/n-1", and "/0" answers. */
static void
script_hops(struct conn *c)
{
	char to[64];
	long n;

	while (read_request(c)) {
		n = strtol(strchr(c->head, '/') + 1, NULL, 10);
		if (n == 0) {
			say_ok(c, "{\"a\":1}");
			continue;
		}
		if (c->s->variant < COUNT(codes))
			snprintf(to, sizeof to, "/%ld", n - 1);
		else
			snprintf(to, sizeof to, "http://127.0.0.1:%d/%ld",
			    c->s->port, n - 1);
		say_redirect(c, codes[c->s->variant % COUNT(codes)], to);
	}
}

START_TEST(redirects)
{
	struct server *s = server_new(script_hops);
	struct fetch_request q = { .body = span_of("x") };
	int code = codes[_i % COUNT(codes)];
	char words[200];
	struct play p;
	struct result r;

	s->variant = _i;
	play_open(&p, &defaults, ADDRESS_LOOPBACK, false);
	fetch_url(&p, url_on(s, "/3"), &r);
	ck_assert_int_eq(document_number(r.json, "a"), 1);
	expect(&r, 200, true, NULL);
	ck_assert_int_eq(atomic_load(&s->requests), 4);
	fetch_url(&p, url_on(s, "/4"), &r);
	expect(&r, code, false, "127.0.0.1 redirects too often (30");
	ck_assert_int_eq(atomic_load(&s->requests), 8);
	q.url = url_on(s, "/1");
	fetch(&p, &q, &r);
	snprintf(words, sizeof words,
	    "127.0.0.1 redirects (%d) a request that must not be redirected",
	    code);
	ck_assert_str_eq(r.why, words);
	expect(&r, code, false, words);
	q.option = "--token-endpoint";
	fetch(&p, &q, &r);
	snprintf(words, sizeof words,
	    "must not be redirected; if the new address is right, add --token-endpoint http://127.0.0.1:%d/0",
	    s->port);
	expect(&r, code, false, words);
	ck_assert_int_eq(atomic_load(&s->requests), 10);
	play_close(&p);
	server_free(s);
}
END_TEST

static char elsewhere[64];

static void
script_away(struct conn *c)
{
	while (read_request(c))
		say_redirect(c, codes[c->s->variant % COUNT(codes)], elsewhere);
}

/* Another port, another name, another scheme, all of the same machine. */
START_TEST(redirects_to_another_origin)
{
	static const char *const starts[] = { "http://127.0.0.1", "//127.0.0.1",
		"http://localhost", "https://127.0.0.1" };
	struct server *other = server_new(script_mirror);
	struct server *s = server_new(script_away);
	struct play p;
	struct result r;

	s->variant = _i;
	snprintf(elsewhere, sizeof elsewhere, "%s:%d/" CANARY,
	    starts[_i % COUNT(starts)],
	    _i % COUNT(starts) < 2 ? other->port : s->port);
	play_open(&p, &defaults, ADDRESS_LOOPBACK, false);
	fetch_url(&p, url_on(s, "/"), &r);
	expect(&r, codes[_i % COUNT(codes)], false,
	    "127.0.0.1 redirects to another origin (30");
	ck_assert_int_eq(atomic_load(&s->accepted), 1);
	ck_assert_int_eq(atomic_load(&other->accepted), 0);
	play_close(&p);
	server_free(s);
	server_free(other);
}
END_TEST

static void
add_redirects(TCase *t)
{
	tcase_add_loop_test(t, redirects, 0, 2 * COUNT(codes));
	tcase_add_loop_test(t, redirects_to_another_origin, 0, 20);
}

/* Addresses */

static const struct class_case {
	const char *text;
	enum address_class class;
} class_cases[] = {
	{ "8.8.8.8", ADDRESS_PUBLIC },
	{ "10.1.2.3", ADDRESS_PRIVATE },
	{ "192.168.1.1", ADDRESS_PRIVATE },
	{ "127.0.0.1", ADDRESS_LOOPBACK },
	{ "169.254.169.254", ADDRESS_FORBIDDEN },
	{ "0.0.0.0", ADDRESS_FORBIDDEN },
};

/* By the rule in words: public always, forbidden never, the others where the
 * server itself is of that class, or by the option. */
START_TEST(classes)
{
	const struct class_case *c = &class_cases[_i];
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct fetcher *f;
	int allowed;
	bool any, want;

	ck_assert_int_eq(inet_pton(AF_INET, c->text, &in.sin_addr), 1);
	for (allowed = ADDRESS_PUBLIC; allowed <= ADDRESS_FORBIDDEN * 2 + 1;
	     allowed++) {
		any = allowed > ADDRESS_FORBIDDEN;
		f = fetcher_new(NULL, NULL,
		    (enum address_class)(allowed % (ADDRESS_FORBIDDEN + 1)),
		    any);
		want = c->class == ADDRESS_PUBLIC ||
		    (c->class != ADDRESS_FORBIDDEN &&
			(any || (int)c->class == allowed));
		ck_assert_int_eq(fetcher_allows((const struct sockaddr *)(void
							*)&in,
				     f),
		    want);
		fetcher_free(f);
	}
}
END_TEST

#define OPTION "(--allow-private-auth allows"

static const struct refused_case {
	const char *url; /* up to the port */
	const char *why;
	bool any; /* is it refused with the option, too? */
} refused_cases[] = {
	{ "http://127.0.0.1:", "127.0.0.1 has a private or reserved", false },
	{ "http://2130706433:", "127.0.0.1 has a private", false },
	{ "http://0x7f.1:", "127.0.0.1 has a private", false },
	{ "http://localhost:", "localhost has a private or reserved", false },
	{ "http://auth.test:", "auth.test has a private or reserved", false },
	{ "http://[::ffff:127.0.0.1]:", "127.0.0.1] has a private", false },
	{ "http://169.254.169.254:", "is a reserved address", true },
	{ "http://[fe80::1]:", "is a reserved address", true },
	{ "http://0.0.0.0:", "is a reserved address", true },
	{ "http://meta.test:", "meta.test has a private or reserved", true },
};

START_TEST(refused)
{
	const struct refused_case *c = &refused_cases[_i];
	struct server *s = server_new(script_mirror);
	struct http_config config = defaults;
	const char *names[3] = { NULL, NULL, NULL };
	char *url = xasprintf("%s%d/" CANARY, c->url, s->port);
	char *auth = xasprintf("auth.test:%d:127.0.0.1", s->port);
	char *meta = xasprintf("meta.test:%d:169.254.169.254", s->port);
	struct play p;
	struct result r;

	names[0] = auth;
	names[1] = meta;
	config.resolve = names;
	play_open(&p, &config, ADDRESS_PRIVATE, false);
	fetch_url(&p, url, &r);
	ck_assert_int_eq(strstr(r.why, OPTION) != NULL,
	    strstr(c->why, "is a reserved") == NULL);
	expect(&r, 0, false, c->why);
	ck_assert(r.refused);
	ck_assert(!r.transient);
	play_close(&p);
	ck_assert_int_eq(atomic_load(&s->accepted), 0);

	play_open(&p, &config, ADDRESS_PUBLIC, true);
	fetch_url(&p, url, &r);
	ck_assert_int_eq(r.refused, c->any);
	ck_assert_int_eq(r.status, c->any ? 0 : 200);
	json_object_put(r.json);
	play_close(&p);
	ck_assert_int_eq(atomic_load(&s->accepted), c->any ? 0 : 1);
	server_free(s);
	free(url);
	free(auth);
	free(meta);
}
END_TEST

/* Each connect is checked, also to an address that was allowed before. */
START_TEST(names_flip)
{
	struct server *s = server_new(script_mirror);
	struct http_config config = defaults;
	const char *names[2] = { NULL, NULL };
	char *name = xasprintf("auth.test:%d:127.0.0.1", s->port);
	char *url = xasprintf("http://auth.test:%d/", s->port);
	struct play p;
	struct result r;

	names[0] = name;
	config.resolve = names;
	play_open(&p, &config, ADDRESS_LOOPBACK, false);
	fetch_url(&p, url, &r);
	expect(&r, 200, true, NULL);
	http_forget(p.c->h);
	fetcher_free(p.f);
	p.f = fetcher_new(p.c->l, p.c->h, ADDRESS_PUBLIC, false);
	fetch_url(&p, url, &r);
	expect(&r, 0, false, OPTION);
	ck_assert_int_eq(atomic_load(&s->accepted), 1);
	play_close(&p);
	server_free(s);
	free(name);
	free(url);
}
END_TEST

/* Behind a proxy only a literal address can be checked, not a name. */
START_TEST(behind_a_proxy)
{
	struct server *s = server_new(script_mirror);
	struct http_config config = defaults;
	struct play p;
	struct result r;
	char *url = xasprintf("http://127.0.0.1:%d", s->port);

	config.proxy = url;
	play_open(&p, &config, ADDRESS_PUBLIC, false);
	fetch_url(&p, "http://10.0.0.1/", &r);
	ck_assert(r.refused);
	expect(&r, 0, false, "10.0.0.1 has a private or reserved");
	fetch_url(&p, "http://[fd00::1]/", &r);
	ck_assert(r.refused);
	expect(&r, 0, false, OPTION);
	ck_assert_int_eq(atomic_load(&s->accepted), 0);
	fetch_url(&p, "http://auth.test/", &r);
	expect(&r, 200, true, NULL);
	fetch_url(&p, "http://8.8.8.8/", &r);
	expect(&r, 200, true, NULL);
	play_close(&p);
	server_free(s);
	free(url);
}
END_TEST

static void
add_addresses(TCase *t)
{
	tcase_add_loop_test(t, classes, 0, COUNT(class_cases));
	tcase_add_loop_test(t, refused, 0, COUNT(refused_cases));
	tcase_add_test(t, names_flip);
	tcase_add_test(t, behind_a_proxy);
}

/* Life */

struct ending {
	struct loop *l;
	bool over;
};

static void
on_over(void *arg)
{
	struct ending *e = arg;

	e->over = true;
	loop_stop(e->l, 0);
}

static void
on_stop(void *arg)
{
	struct ending *e = arg;

	loop_stop(e->l, 0);
}

/* Begins one that is given up after ms. */
static void
give_up(struct play *p, const char *url, loop_cb *how, int64_t ms)
{
	struct fetch_request q = { .url = url,
		.body = span_of("secret=" CANARY) };
	struct ending e = { .l = p->c->l };
	struct loop_timer *t = loop_timer_new(p->c->l, how, &e);
	struct fetch_answer a;

	loop_timer_set(t, ms);
	ck_assert(!fetch_wait(p->f, &q, &e.over, &a));
	loop_timer_free(t);
}

/* Cancelled before it begins, on its way, and as the loop is stopped. */
START_TEST(given_up)
{
	struct server *s = server_new(script_silent);
	struct server *other = server_new(script_mirror);
	struct fetch_request q = { .body = span_of("x") };
	struct fetch_answer a;
	struct play p;
	struct result next;
	bool over = true;

	play_open(&p, &defaults, ADDRESS_LOOPBACK, false);
	q.url = url_on(s, "/");
	if (_i == 0)
		ck_assert(!fetch_wait(p.f, &q, &over, &a));
	else
		give_up(&p, q.url, _i == 1 ? on_over : on_stop, 50);
	fetch_url(&p, url_on(other, "/"), &next);
	expect(&next, 200, true, NULL);
	client_nap(p.c, 20);
	ck_assert_int_eq(atomic_load(&s->accepted), _i != 0);
	play_close(&p);
	server_free(s);
	server_free(other);
}
END_TEST

/* A refused fetch is reported at once, even if its caller has given up. */
START_TEST(refused_when_it_is_over)
{
	struct fetch_request q = { .url = "http://10.0.0.1/" };
	struct fetch_answer a;
	struct play p;
	bool over = true;

	play_open(&p, &defaults, ADDRESS_LOOPBACK, false);
	ck_assert(fetch_wait(p.f, &q, &over, &a));
	ck_assert(a.refused);
	fetch_answer_free(&a);
	play_close(&p);
}
END_TEST

/* All is freed right after a fetch was cancelled, in either order. */
START_TEST(freed)
{
	struct server *s = server_new(script_silent);
	struct play p;

	play_open(&p, &defaults, ADDRESS_LOOPBACK, false);
	give_up(&p, url_on(s, "/"), on_over, 50);
	if (_i == 0)
		fetcher_free(p.f);
	http_free(p.c->h);
	if (_i == 1)
		fetcher_free(p.f);
	p.c->h = NULL;
	p.f = NULL;
	client_nap(p.c, 20);
	play_close(&p);
	server_free(s);
}
END_TEST

static void
add_life(TCase *t)
{
	tcase_add_loop_test(t, given_up, 0, 3);
	tcase_add_test(t, refused_when_it_is_over);
	tcase_add_loop_test(t, freed, 0, 2);
}

int
main(void)
{
	static const struct play_group groups[] = {
		{ "answers", add_answers },
		{ "redirects", add_redirects },
		{ "addresses", add_addresses },
		{ "life", add_life },
	};

	return play_main("fetch", groups, COUNT(groups));
}
