/*
 * io/http where credentials are at stake: which addresses may be connected
 * to, who gets a password out of a netrc file, keys with a password, and
 * headers that come several times.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/io/http_play.h"

/* Which addresses may be connected to */

/* Remembers what it was asked, and denies what is on the list. */
struct door {
	const char *const *denied; /* NULL-ended; NULL: all */
	int asked;
	char seen[8][64];
};

static bool
may(const struct sockaddr *sa, void *arg)
{
	struct door *d = arg;
	char text[64] = "?";
	struct sockaddr_in in;
	size_t i;

	if (sa->sa_family == AF_INET) {
		memcpy(&in, sa, sizeof in);
		inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
	} else if (sa->sa_family == AF_UNIX) {
		snprintf(text, sizeof text, "unix");
	}
	ck_assert_int_lt(d->asked, 8);
	snprintf(d->seen[d->asked++], sizeof *d->seen, "%s", text);
	if (d->denied == NULL)
		return false;
	for (i = 0; d->denied[i] != NULL; i++)
		if (strcmp(d->denied[i], text) == 0)
			return false;
	return true;
}

static struct http_config
behind(struct door *d)
{
	struct http_config config = defaults;

	config.allow = may;
	config.allow_arg = d;
	return config;
}

static const char *const nobody[] = { NULL };

START_TEST(denied_is_not_connected)
{
	struct door d = { 0 };
	struct http_config config = behind(&d);
	struct server *s = server_new(script_echo);
	struct client *c = client_with(&config);
	struct call k = { 0 };

	if (_i == 0)
		post(&k, c, url_on(s, "/"), "x");
	else
		get(&k, c, url_on(s, "/"));
	ended(&k, HTTP_REFUSED, false);
	ck_assert_int_eq(k.heads, 0);
	ck_assert_ptr_nonnull(strstr(k.why, "not allowed"));
	ck_assert_int_eq(d.asked, 1);
	ck_assert_str_eq(d.seen[0], "127.0.0.1");
	/* The same handle again, with another answer, and back. */
	d.denied = nobody;
	post(&k, c, url_on(s, "/"), "x");
	is_ok(&k, "x");
	http_forget(c->h);
	d.denied = NULL;
	post(&k, c, url_on(s, "/"), "x");
	ended(&k, HTTP_REFUSED, false);
	ck_assert_int_eq(d.asked, 3);
	ck_assert_int_eq(atomic_load(&s->accepted), 1);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(a_connection_is_asked_about_once)
{
	struct door d = { .denied = nobody };
	struct http_config config = behind(&d);
	struct server *s = server_new(script_echo);
	struct client *c = client_with(&config);
	struct call k = { .on_head = check_peer };
	int i;

	for (i = 0; i < 3; i++) {
		post(&k, c, url_on(s, "/"), "x");
		is_ok(&k, "x");
	}
	ck_assert_int_eq(d.asked, 1);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* A name with two addresses, of which the first has no server. */
static void
two_addresses(struct call *k, struct door *d, int port)
{
	struct http_config config = behind(d);
	const char *list[2] = { NULL, NULL };
	char entry[64], url[64];
	struct client *c;

	snprintf(entry, sizeof entry, "two.test:%d:127.0.0.2,127.0.0.1", port);
	snprintf(url, sizeof url, "http://two.test:%d/", port);
	list[0] = entry;
	config.resolve = list;
	c = client_with(&config);
	post(k, c, url, "x");
	client_free(c);
}

START_TEST(the_allowed_ones_are_tried)
{
	static const char *const first[] = { "127.0.0.2", NULL };
	struct door d = { .denied = first };
	struct server *s = server_new(script_echo);
	struct call k = { .on_head = check_peer };

	two_addresses(&k, &d, s->port);
	is_ok(&k, "x");
	ck_assert_int_eq(d.asked, 2);
	ck_assert_str_eq(d.seen[0], "127.0.0.2");
	ck_assert_str_eq(d.seen[1], "127.0.0.1");
	d.denied = NULL;
	d.asked = 0;
	two_addresses(&k, &d, s->port);
	ended(&k, HTTP_REFUSED, false);
	ck_assert_int_eq(d.asked, 2);
	ck_assert_int_eq(atomic_load(&s->accepted), 1);
	buf_free(&k.body);
	server_free(s);
}
END_TEST

/* What may be connected to and is not there is the better reason. */
START_TEST(allowed_but_not_there)
{
	static const char *const second[] = { "127.0.0.1", NULL };
	struct door d = { .denied = second };
	struct server *s = server_new(script_echo);
	struct call k = { 0 };

	two_addresses(&k, &d, s->port);
	ended(&k, HTTP_CONNECT, false);
	ck_assert_int_eq(d.asked, 2);
	ck_assert_int_eq(atomic_load(&s->accepted), 0);
	server_free(s);
}
END_TEST

START_TEST(a_unix_socket_is_asked_about)
{
	struct door d = { 0 };
	struct http_config config = behind(&d);
	struct client *c;
	struct call k = { 0 };

	config.unix_socket = "/nonexistent/socket";
	c = client_with(&config);
	get(&k, c, "http://nothing.test/");
	ended(&k, HTTP_REFUSED, false);
	ck_assert_int_eq(d.asked, 1);
	ck_assert_str_eq(d.seen[0], "unix");
	client_free(c);
}
END_TEST

static void
script_by_proxy(struct conn *c)
{
	while (read_request(c))
		say_ok(c, "by proxy");
}

static const struct proxy_case {
	const char *option, *variable; /* where the proxy is told */
	const char *noproxy, *no_proxy;
	const char *url;
	bool by_proxy;
} proxy_cases[] = {
	{ "http://127.0.0.1", NULL, NULL, NULL, "http://a.test/", true },
	{ "http://127.0.0.1", NULL, NULL, NULL, "http://a.test./", true },
	{ "http://127.0.0.1", NULL, NULL, NULL, "http://10.0.0.1/", true },
	{ "http://127.0.0.1", NULL, NULL, NULL, "http://[fd00::1]/", true },
	{ "http://px.test", NULL, NULL, NULL, "http://a.test/", true },
	{ "127.0.0.1", NULL, NULL, NULL, "http://a.test/", true },
	{ NULL, "http_proxy", NULL, NULL, "http://a.test/", true },
	{ NULL, "ALL_PROXY", NULL, NULL, "http://10.0.0.1/", true },
	{ NULL, "http_proxy", "b.test", NULL, "http://a.test/", true },
	{ NULL, "http_proxy", "", "*", "http://a.test/", true },
	/* Around the proxy */
	{ NULL, NULL, NULL, NULL, "http://127.0.0.9/", false },
	{ NULL, NULL, NULL, NULL, "http://a.test/", false },
	{ NULL, NULL, NULL, NULL, "http://a.test./", false },
	{ NULL, NULL, NULL, NULL, "http://A.TEST/", false },
	{ NULL, NULL, NULL, NULL, "http://2130706433/", false },
	{ NULL, NULL, NULL, NULL, "http://[::ffff:127.0.0.1]/", false },
	{ "http://127.0.0.1", NULL, "a.test", NULL, "http://a.test/", false },
	{ "http://127.0.0.1", NULL, "*", NULL, "http://a.test/", false },
	{ "http://127.0.0.1", NULL, "10.0.0.0/8", NULL, "http://10.0.0.1/",
	    false },
	{ "http://127.0.0.1", NULL, "fd00::1", NULL, "http://[fd00::1]/",
	    false },
	{ "http://127.0.0.1", NULL, NULL, NULL, "http://127.0.0.1:1/", false },
	{ "http://127.0.0.1", NULL, NULL, NULL, "http://localhost:1/", false },
	{ NULL, "http_proxy", NULL, ".test", "http://a.test/", false },
	{ NULL, "http_proxy", NULL, "10.0.0.1", "http://10.0.0.1/", false },
	{ NULL, "https_proxy", NULL, NULL, "http://a.test/", false },
};

/* The user's own proxy may be anywhere; whatever does not go there is asked
 * about. Nothing is looked up here that is not in the list. */
START_TEST(proxies_are_not_asked_about)
{
	const struct proxy_case *p = &proxy_cases[_i];
	static const char *const list[] = { "a.test:80:127.0.0.9",
		"a.test.:80:127.0.0.9", NULL, NULL };
	struct door d = { 0 };
	struct http_config config = behind(&d);
	struct server *s = server_new(script_by_proxy);
	const char *names[4];
	struct client *c;
	struct call k = { 0 };
	char proxy[64], named[64];

	memcpy(names, list, sizeof names);
	snprintf(named, sizeof named, "px.test:%d:127.0.0.1", s->port);
	names[2] = named;
	config.resolve = names;
	config.noproxy = p->noproxy;
	snprintf(proxy, sizeof proxy, "%s:%d",
	    p->option != NULL ? p->option : "http://127.0.0.1", s->port);
	if (p->option != NULL)
		config.proxy = proxy;
	if (p->variable != NULL)
		setenv(p->variable, proxy, 1);
	if (p->no_proxy != NULL)
		setenv("no_proxy", p->no_proxy, 1);
	c = client_with(&config);
	get(&k, c, p->url);
	if (p->by_proxy) {
		is_ok(&k, "by proxy");
		ck_assert_int_eq(d.asked, 0);
	} else {
		ended(&k, HTTP_REFUSED, false);
		ck_assert_int_gt(d.asked, 0);
		ck_assert_int_eq(atomic_load(&s->accepted), 0);
	}
	client_free(c);
	server_free(s);
	buf_free(&k.body);
	if (p->variable != NULL)
		unsetenv(p->variable);
	unsetenv("no_proxy");
}
END_TEST

/* One handle, to and fro. */
START_TEST(by_proxy_and_not)
{
	struct door d = { 0 };
	struct http_config config = behind(&d);
	struct server *s = server_new(script_by_proxy);
	struct client *c;
	struct call k = { 0 };
	char proxy[64];

	snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", s->port);
	config.proxy = proxy;
	config.noproxy = "10.0.0.1";
	c = client_with(&config);
	get(&k, c, "http://10.0.0.2/");
	is_ok(&k, "by proxy");
	get(&k, c, "http://10.0.0.1/");
	ended(&k, HTTP_REFUSED, false);
	get(&k, c, "http://10.0.0.2/");
	is_ok(&k, "by proxy");
	ck_assert_int_eq(d.asked, 1);
	client_free(c);
	server_free(s);
	buf_free(&k.body);
}
END_TEST

static void
add_addresses(TCase *t)
{
	tcase_add_loop_test(t, denied_is_not_connected, 0, 2);
	tcase_add_test(t, a_connection_is_asked_about_once);
	tcase_add_test(t, the_allowed_ones_are_tried);
	tcase_add_test(t, allowed_but_not_there);
	tcase_add_test(t, a_unix_socket_is_asked_about);
	tcase_add_loop_test(t, proxies_are_not_asked_about, 0,
	    COUNT(proxy_cases));
	tcase_add_test(t, by_proxy_and_not);
}

/* netrc */

/* Answers with the Authorization headers it got. */
static void
script_tell(struct conn *c)
{
	char text[512], *p, *end;

	while (read_request(c)) {
		text[0] = '\0';
		for (p = c->head; (p = strstr(p, "\r\nAuthorization: "));) {
			p += strlen("\r\nAuthorization: ");
			end = strstr(p, "\r\n");
			snprintf(text + strlen(text),
			    sizeof text - strlen(text), "%.*s;", (int)(end - p),
			    p);
		}
		say_ok(c, text);
	}
}

struct place {
	char netrc[64];
	char entries[3][64];
	const char *names[4];
	struct server *s;
	struct client *c;
};

static void
place_open(struct place *p, const char *text)
{
	static const char *const hosts[] = { "a.test", "b.test", "xa.test" };
	struct http_config config = defaults;
	int i, fd;

	snprintf(p->netrc, sizeof p->netrc, "/tmp/check_http.XXXXXX");
	fd = mkstemp(p->netrc);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	p->s = server_new(script_tell);
	for (i = 0; i < COUNT(hosts); i++) {
		snprintf(p->entries[i], sizeof *p->entries, "%s:%d:127.0.0.1",
		    hosts[i], p->s->port);
		p->names[i] = p->entries[i];
	}
	p->names[i] = NULL;
	config.resolve = p->names;
	config.netrc_file = p->netrc;
	p->c = client_with(&config);
}

static void
place_close(struct place *p)
{
	client_free(p->c);
	server_free(p->s);
	unlink(p->netrc);
}

/* What the server was told by a request to that host. */
static void
told(struct place *p, const char *host, const char *own, const char *want)
{
	struct call k = { 0 };
	char *url = xasprintf("http://%s:%d/mcp/", host, p->s->port);
	struct http_request r = {
		.method = "POST", .url = url, .body = span_of("{}")
	};
	struct headers h;

	headers_init(&h);
	if (own != NULL)
		headers_add(&h, span_of("Authorization"), span_of(own), true);
	r.headers = &h;
	call_request(&k, p->c, &r);
	client_wait(p->c);
	is_ok(&k, want);
	headers_free(&h);
	buf_free(&k.body);
	free(url);
}

#define ME "Basic bWU6Q0FOQVJZ;"

START_TEST(netrc_is_for_its_host)
{
	struct place p;
	int i;

	place_open(&p, "machine a.test login me password CANARY\n");
	/* The second round has the handle of the first. */
	for (i = 0; i < 2; i++) {
		told(&p, "a.test", NULL, ME);
		told(&p, "b.test", NULL, "");
		told(&p, "xa.test", NULL, "");
		told(&p, "127.0.0.1", NULL, "");
		told(&p, "a.test", "Bearer x", "Bearer x;");
		told(&p, "b.test", "Bearer x", "Bearer x;");
		told(&p, "b.test", NULL, "");
	}
	/* One connection, of which the host is what differs. */
	http_forget(p.c->h);
	told(&p, "b.test", NULL, "");
	told(&p, "a.test", NULL, ME);
	place_close(&p);
}
END_TEST

/* It is read for each request. */
START_TEST(netrc_changes)
{
	struct place p;
	FILE *f;

	place_open(&p, "machine a.test login me password old\n");
	told(&p, "a.test", NULL, "Basic bWU6b2xk;");
	f = fopen(p.netrc, "w");
	ck_assert_ptr_nonnull(f);
	fputs("machine a.test\nlogin me\npassword CANARY\n", f);
	fclose(f);
	told(&p, "a.test", NULL, ME);
	ck_assert_int_eq(truncate(p.netrc, 0), 0);
	told(&p, "a.test", NULL, "");
	unlink(p.netrc);
	told(&p, "a.test", NULL, "");
	place_close(&p);
}
END_TEST

START_TEST(netrc_is_broken)
{
	struct place p;
	struct call k = { 0 };
	char url[64];

	place_open(&p, "machine a.test login me password \"CANARY\n");
	snprintf(url, sizeof url, "http://a.test:%d/", p.s->port);
	get(&k, p.c, url);
	ended(&k, HTTP_CONFIG, false);
	ck_assert_ptr_null(strstr(k.why, "CANARY"));
	ck_assert_int_eq(atomic_load(&p.s->requests), 0);
	place_close(&p);
}
END_TEST

static void
add_netrc(TCase *t)
{
	tcase_add_test(t, netrc_is_for_its_host);
	tcase_add_test(t, netrc_changes);
	tcase_add_test(t, netrc_is_broken);
}

/* Keys with a password */

static const char make_key[] =
    "umask 077 && openssl req -x509 -newkey rsa:2048 -days 2 -subj /CN=me"
    " -passout pass:CANARY -keyout \"$1/key\" -out \"$1/cert\" 2>/dev/null";

static int
shell(const char *script, const char *dir)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", script, "sh", dir, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void
script_one_read(struct conn *c)
{
	pull(c);
}

/* With the right one the handshake begins, and the server ends it. */
START_TEST(keys)
{
	static const char *const passwords[] = { "CANARY", "CANARYX", "",
		NULL };
	struct http_config config = defaults;
	struct server *s = server_new(script_one_read);
	char dir[32], key[64], cert[64], url[64];
	struct client *c;
	struct call k = { 0 };

	snprintf(dir, sizeof dir, "/tmp/check_http.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(shell(make_key, dir), 0);
	snprintf(key, sizeof key, "%s/key", dir);
	snprintf(cert, sizeof cert, "%s/cert", dir);
	snprintf(url, sizeof url, "https://127.0.0.1:%d/", s->port);
	config.key = key;
	config.cert = cert;
	config.key_password = passwords[_i];
	c = client_with(&config);
	get(&k, c, url);
	ended(&k, _i == 0 ? HTTP_CONNECT : HTTP_CONFIG, false);
	ck_assert_ptr_null(strstr(k.why, "CANARY"));
	client_free(c);
	server_free(s);
	ck_assert_int_eq(shell("rm -r \"$1\"", dir), 0);
}
END_TEST

static void
add_keys(TCase *t)
{
	tcase_add_loop_test(t, keys, 0, 4);
}

/* Headers that come several times */

static void
script_challenges(struct conn *c)
{
	while (read_request(c))
		say(c,
		    "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"a\"\r\n"
		    "Content-Length: 0\r\nwww-authenticate: Bearer\r\n"
		    "WWW-Authenticate:\r\nOther: x\r\n"
		    "WWW-Authenticate:   Negotiate  \r\n\r\n");
}

#define ALL "Basic realm=\"a\", Bearer, , Negotiate"

static void
check_all(struct call *k)
{
	struct buf b;
	size_t max;

	for (max = 0; max <= strlen(ALL) + 2; max++) {
		buf_init(&b, max);
		buf_adds(&b, "=");
		if (max == 0 || max > strlen(ALL)) {
			ck_assert_int_eq(http_headers_all(k->x,
					     "WWW-Authenticate", &b),
			    0);
			ck_assert_str_eq(buf_str(&b), "=" ALL);
		} else {
			ck_assert_int_eq(http_headers_all(k->x,
					     "WWW-Authenticate", &b),
			    -1);
			ck_assert_str_eq(buf_str(&b), "=");
		}
		buf_free(&b);
	}
	buf_init(&b, 0);
	ck_assert_int_eq(http_headers_all(k->x, "other", &b), 0);
	ck_assert_int_eq(http_headers_all(k->x, "absent", &b), -1);
	ck_assert_str_eq(buf_str(&b), "x");
	buf_free(&b);
}

START_TEST(headers_come_several_times)
{
	struct server *s = server_new(script_challenges);
	struct client *c = client_new();
	struct call k = { .on_head = check_all, .on_done = check_all };

	get(&k, c, url_on(s, "/"));
	ck_assert_int_eq(k.status, 401);
	client_free(c);
	server_free(s);
}
END_TEST

static void
add_headers(TCase *t)
{
	tcase_add_test(t, headers_come_several_times);
}

int
main(void)
{
	static const struct play_group groups[] = {
		{ "addresses", add_addresses },
		{ "netrc", add_netrc },
		{ "keys", add_keys },
		{ "headers", add_headers },
	};

	return play_main("http_auth", groups, COUNT(groups));
}
