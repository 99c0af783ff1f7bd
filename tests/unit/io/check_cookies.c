/* io/cookies: which cookies go back to the server, by io/http. */
#include "config.h"

#include "io/http_state.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "unit/io/http_play.h"

static void
script_cookie(struct conn *c)
{
	while (read_request(c)) {
		if (strstr(c->head, "Cookie: lb=node7") != NULL)
			say_ok(c, "kept");
		else
			say(c,
			    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n"
			    "Set-Cookie: lb=node7; Path=/; HttpOnly\r\n"
			    "\r\nnew");
	}
}

/* Two calls at once use two handles: the second one of the next round may
 * only know the cookie by sharing. */
START_TEST(cookies)
{
	struct server *s = server_new(script_cookie);
	struct http_config config = defaults;
	struct client *c;
	struct call a = { 0 }, b = { 0 };

	config.no_cookies = _i == 1;
	c = client_with(&config);
	post(&a, c, url_on(s, "/"), "{}");
	is_ok(&a, "new");
	call_post(&a, c, url_on(s, "/"), "{}");
	call_post(&b, c, url_on(s, "/"), "{}");
	client_wait(c);
	is_ok(&a, _i == 1 ? "new" : "kept");
	is_ok(&b, _i == 1 ? "new" : "kept");
	buf_free(&a.body);
	buf_free(&b.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* The load balancer's cookie comes with the first answer only (variant 0), or
 * with each one (1); the server sets 49 new ones with each answer. Or (2) it
 * comes from the 20th answer on, when the request has none, beside 3 others. */
static void
script_many_cookies(struct conn *c)
{
	struct buf b;
	int i, n, variant = c->s->variant;
	bool sticky;

	buf_init(&b, 0);
	while (read_request(c)) {
		n = c->s->requests;
		sticky = strstr(c->head, "lb=node7") != NULL;
		buf_reset(&b);
		buf_addf(&b, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n");
		if (variant == 1 || (variant == 0 && n == 1) ||
		    (variant == 2 && n >= 20 && !sticky))
			buf_adds(&b, "set-cookie: lb=node7; Path=/\r\n");
		for (i = 0; i < (variant == 2 ? 3 : 49); i++)
			buf_addf(&b, "Set-Cookie: c%d_%d=%020d\r\n", n, i, 0);
		buf_adds(&b, sticky ? "\r\nkept" : "\r\nlost");
		push(c, b.p, b.n);
	}
	buf_free(&b);
}

static void
count_cookies(enum log_level level, const char *line, void *arg)
{
	int *told = arg;

	(void)level;
	*told += strstr(line, "cookies") != NULL;
}

/* The jar is bounded, which is told once, and the cookie that matters outlives
 * the others. */
START_TEST(many_cookies)
{
	struct server *s = server_new(script_many_cookies);
	struct client *c = client_new();
	struct call k = { 0 };
	int i, kept = 0, told = 0;

	s->variant = _i;
	log_sink(count_cookies, &told);
	for (i = 0; i < 400; i++) {
		get(&k, c, url_on(s, "/"));
		ended(&k, HTTP_DONE, true);
		kept += strcmp(buf_str(&k.body), "kept") == 0;
		buf_free(&k.body);
	}
	log_sink(NULL, NULL);
	ck_assert_int_eq(told, 1);
	ck_assert_int_ge(kept, _i == 2 ? 300 : 399);
	client_free(c);
	server_free(s);
}
END_TEST

/* The bytes of all cookies, as libcurl tells them, and of the first one. */
static size_t
bytes_in(CURLSH *share, size_t *first, size_t *n)
{
	CURL *easy = curl_easy_init();
	struct curl_slist *all = NULL, *at;
	size_t bytes = 0;

	curl_easy_setopt(easy, CURLOPT_SHARE, share);
	curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &all);
	*first = all == NULL ? 0 : strlen(all->data);
	*n = 0;
	for (at = all; at != NULL; at = at->next, ++*n)
		bytes += strlen(at->data);
	curl_slist_free_all(all);
	curl_easy_cleanup(easy);
	return bytes;
}

static void
set_cookie(struct cookies *c, CURLSH *share, unsigned name, size_t size)
{
	CURL *easy = curl_easy_init();
	char *value = xcalloc(1, size + 1), *line;

	memset(value, 'v', size);
	line = xasprintf("Set-Cookie: c%02u=%s; domain=a.example", name, value);
	curl_easy_setopt(easy, CURLOPT_SHARE, share);
	curl_easy_setopt(easy, CURLOPT_COOKIELIST, line);
	curl_easy_cleanup(easy);
	cookies_count(c, line, strlen(line));
	free(value);
	free(line);
}

/* So many bytes are kept; of one more, a quarter of the oldest cookies and one
 * of the newest. */
START_TEST(bytes_of_cookies)
{
	CURLSH *share = curl_share_init();
	struct cookies c = { .told = true };
	size_t around, first, n, total;
	unsigned i;

	curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
	set_cookie(&c, share, 0, 1000);
	around = bytes_in(share, &first, &n) - 1000;
	for (i = 1; i < 31; i++)
		set_cookie(&c, share, i, 1000);
	total = bytes_in(share, &first, &n);
	ck_assert_uint_eq(n, 31);
	set_cookie(&c, share, 31,
	    BOUND_COOKIES_BYTES + (size_t)_i - total - around);
	c.bytes = SIZE_MAX;
	cookies_trim(&c, share);
	total = bytes_in(share, &first, &n);
	ck_assert_uint_eq(c.n, n);
	ck_assert_uint_eq(c.bytes, total);
	ck_assert(!cookies_overflow(&c));
	if (_i == 0) {
		ck_assert_uint_eq(n, 32);
		ck_assert_uint_eq(total, BOUND_COOKIES_BYTES);
	} else {
		ck_assert_uint_lt(n, 32);
		ck_assert_uint_le(total, BOUND_COOKIES_BYTES / 2);
		ck_assert_uint_ge(total + 2 * (around + 1000),
		    BOUND_COOKIES_BYTES / 2);
	}
	curl_share_cleanup(share);
}
END_TEST

/* Sets a cookie, waits a little, and answers with the status that the body says;
 * else says whether there was a cookie. */
static void
script_refuses(struct conn *c)
{
	char text[128];

	while (read_request(c)) {
		if (strchr(c->body, 'w') != NULL)
			pause_ms(300);
		snprintf(text, sizeof text,
		    "HTTP/1.1 %d X\r\nContent-Length: 1\r\n%s\r\n%d",
		    atoi(c->body),
		    strchr(c->body, 's') != NULL ? "Set-Cookie: lb=x\r\n" : "",
		    strstr(c->head, "lb=x") != NULL);
		say(c, text);
	}
}

static const struct {
	const char *body;
	bool opens;
	bool other; /* another answer sets the cookie meanwhile */
	bool kept;
} refusals[] = {
	{ "404", true, false, false },
	{ "410", true, false, false },
	{ "500", true, false, false },
	{ "503", true, false, false },
	{ "404s", true, false, false },
	{ "404", false, false, true },
	{ "200", true, false, true },
	{ "400", true, false, true },
	{ "401", true, false, true },
	{ "404w", true, false, false },
	{ "404w", true, true, true },
};

/* A cookie does not outlive the refusal of a session that it was there for. */
START_TEST(cookie_of_a_replica_that_is_gone)
{
	struct server *s = server_new(script_refuses);
	struct client *c = client_new();
	struct call k = { 0 }, other = { 0 };
	struct http_request r = { .method = "POST" };

	post(&k, c, url_on(s, "/"), "200s");
	is_ok(&k, "0");
	r.url = url_on(s, "/");
	r.body = span_of(refusals[_i].body);
	r.opens = refusals[_i].opens;
	call_request(&k, c, &r);
	if (refusals[_i].other)
		call_post(&other, c, url_on(s, "/"), "200s");
	client_wait(c);
	ended(&k, HTTP_DONE, true);
	ck_assert_str_eq(buf_str(&k.body), "1");
	post(&k, c, url_on(s, "/"), "200");
	is_ok(&k, refusals[_i].kept ? "1" : "0");
	buf_free(&k.body);
	buf_free(&other.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
add_cookies(TCase *t)
{
	tcase_add_loop_test(t, bytes_of_cookies, 0, 2);
	tcase_add_loop_test(t, cookies, 0, 2);
	tcase_add_loop_test(t, many_cookies, 0, 3);
	tcase_add_loop_test(t, cookie_of_a_replica_that_is_gone, 0,
	    COUNT(refusals));
}

int
main(void)
{
	static const struct play_group groups[] = { { "cookies",
	    add_cookies } };

	return play_main("cookies", groups, COUNT(groups));
}
