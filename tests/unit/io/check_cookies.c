/* io/cookies: which cookies go back to the server, by io/http. */
#include "config.h"

#include "io/cookies.h"

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

static void
add_cookies(TCase *t)
{
	tcase_add_loop_test(t, cookies, 0, 2);
	tcase_add_loop_test(t, many_cookies, 0, 3);
}

int
main(void)
{
	static const struct play_group groups[] = { { "cookies",
	    add_cookies } };

	return play_main("cookies", groups, COUNT(groups));
}
