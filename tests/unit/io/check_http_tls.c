/*
 * io/http: proxies and TLS. The TLS server is "openssl s_server".
 */
#include "config.h"

#include "io/http.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/io/http_play.h"

/* Proxies */

static void
script_proxy(struct conn *c)
{
	static const char *const refusals[] = {
		"407 Proxy Authentication Required", "403 Forbidden",
		"503 Service Unavailable"
	};
	char text[256];

	while (read_request(c)) {
		if (c->s->variant == 3)
			return;
		if (c->s->variant == 4) {
			say_ok(c, "by proxy");
			continue;
		}
		snprintf(text, sizeof text,
		    "HTTP/1.1 %s\r\n"
		    "Proxy-Authenticate: Negotiate\r\nContent-Length: 0\r\n"
		    "\r\n",
		    refusals[c->s->variant]);
		say(c, text);
	}
}

static struct client *
client_behind(const struct server *s)
{
	static char url[64];
	struct http_config config = defaults;

	snprintf(url, sizeof url, "http://127.0.0.1:%d", s->port);
	config.proxy = url;
	config.proxy_user = "me:secret";
	config.noproxy = "direct.test";
	return client_with(&config);
}

/* What the proxy says to CONNECT is its refusal, not an answer, and it sees
 * none of our headers. */
START_TEST(connect_refused_by_proxy)
{
	static const int status[] = { 407, 403, 503 };
	struct server *s = server_new(script_proxy);
	struct client *c = client_behind(s);
	struct http_request r = { .method = "POST",
		.body = span_of("{}"),
		.url = "https://nothing.test/" };
	struct headers h;
	struct call k = { 0 };

	s->variant = _i;
	headers_init(&h);
	headers_add(&h, span_of("Authorization"), span_of("Bearer x"), true);
	r.headers = &h;
	call_request(&k, c, &r);
	client_wait(c);
	ended(&k, HTTP_PROXY, false);
	ck_assert_int_eq(k.answer.proxy_status, status[_i]);
	ck_assert_int_eq(k.heads, 0);
	ck_assert_ptr_eq(strstr(s->seen, "CONNECT nothing.test:443 "), s->seen);
	ck_assert_ptr_nonnull(strstr(s->seen,
	    "Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"));
	ck_assert_ptr_null(strstr(s->seen, "Bearer"));
	/* A later failure is not taken for the proxy's. */
	r.url = "http://127.0.0.1:1/";
	call_request(&k, c, &r);
	client_wait(c);
	ended(&k, HTTP_CONNECT, false);
	ck_assert_int_eq(k.answer.proxy_status, 0);
	headers_free(&h);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(proxy_hangs_up)
{
	struct server *s = server_new(script_proxy);
	struct client *c = client_behind(s);
	struct call k = { 0 };

	s->variant = 3;
	post(&k, c, "https://nothing.test/", "{}");
	ended(&k, HTTP_CONNECT, false);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(plain_http_by_proxy)
{
	struct server *s = server_new(script_proxy);
	struct client *c = client_behind(s);
	struct call k = { .on_head = check_peer };

	post(&k, c, "http://nothing.test/", "{}");
	ended(&k, HTTP_DONE, true);
	ck_assert_int_eq(k.status, 407);
	ck_assert_int_eq(k.answer.proxy_status, 0);
	s->variant = 4;
	post(&k, c, "http://nothing.test/", "{}");
	is_ok(&k, "by proxy");
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Is this libcurl without GSS-API, and refused for that? */
static bool
cannot_negotiate(const struct http_config *config)
{
	struct loop *l = loop_new();
	const char *why = NULL;
	struct http *h = http_new(l, config, &why);

	http_free(h);
	loop_free(l);
	return h == NULL && strstr(why, "without GSS-API") != NULL;
}

/* Without credentials to give, libcurl either gives up at the 407 or asks
 * again; the request is counted once by a proxy that forwards, and head comes
 * once in any case. */
START_TEST(negotiate_gives_one_head)
{
	struct server *s = server_new(script_proxy);
	struct http_config config = defaults;
	struct client *c;
	struct call k = { 0 };
	char url[64];

	snprintf(url, sizeof url, "http://127.0.0.1:%d", s->port);
	config.proxy = url;
	config.proxy_negotiate = true;
	if (cannot_negotiate(&config)) {
		server_free(s);
		return;
	}
	c = client_with(&config);
	post(&k, c, "http://nothing.test/", "{}");
	ck_assert_int_le(k.heads, 1);
	if (k.answer.end == HTTP_DONE)
		ck_assert_int_eq(k.status, 407);
	client_free(c);
	server_free(s);
}
END_TEST

/* By option and by the environment: loopback goes direct, others do not. */
START_TEST(loopback_is_exempt_from_proxies)
{
	struct server *proxy = server_new(script_proxy);
	struct server *s = server_new(script_echo);
	struct client *c;
	struct call k = { 0 };
	char url[64];

	proxy->variant = 4;
	snprintf(url, sizeof url, "http://127.0.0.1:%d", proxy->port);
	if (_i == 0) {
		c = client_behind(proxy);
	} else {
		setenv("http_proxy", url, 1);
		unsetenv("no_proxy");
		setenv("NO_PROXY", "direct.test", 1);
		c = client_new();
	}
	post(&k, c, url_on(s, "/"), "x");
	is_ok(&k, "x");
	snprintf(url, sizeof url, "http://localhost:%d/", s->port);
	post(&k, c, url, "x");
	is_ok(&k, "x");
	snprintf(url, sizeof url, "http://a.localhost:%d/", s->port);
	post(&k, c, url, "x");
	is_ok(&k, "x");
	ck_assert_int_eq(atomic_load(&proxy->requests), 0);
	post(&k, c, "http://nothing.test/", "x");
	is_ok(&k, "by proxy");
	ck_assert_int_eq(atomic_load(&proxy->requests), 1);
	/* And back again, with the same handle. */
	post(&k, c, url_on(s, "/"), "x");
	is_ok(&k, "x");
	ck_assert_int_eq(atomic_load(&proxy->requests), 1);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
	server_free(proxy);
	unsetenv("http_proxy");
	unsetenv("NO_PROXY");
}
END_TEST

/* TLS */

struct tls {
	char dir[32];
	pid_t pid;
	int hold; /* the server ends when this is closed */
	int port;
};

static const char make_certificates[] =
    "cd \"$1\" && exec >log 2>&1 && umask 077 || exit 1\n"
    "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem"
    " -days 2 -subj '/CN=Corp Root CA' || exit 1\n"
    "openssl req -newkey rsa:2048 -nodes -keyout key.pem -out req.pem"
    " -subj /CN=localhost || exit 1\n"
    "printf 'subjectAltName=IP:127.0.0.1\\n' >ext\n"
    "openssl x509 -req -in req.pem -CA ca.pem -CAkey ca.key"
    " -CAcreateserial -days 2 -extfile ext -out cert.pem || exit 1\n";

/* Answers each GET with a page about the connection, then closes. */
static const char run_server[] =
    "cd \"$1\" || exit 1\n"
    "openssl s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem"
    " -CAfile ca.pem -www $2 >out 2>err </dev/null &\n"
    "cat >/dev/null\n"
    "kill $!\n"
    "wait\n";

static pid_t
shell(const char *script, const char *dir, const char *arg, int in)
{
	pid_t pid;

	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		if (in != -1)
			dup2(in, 0);
		execl("/bin/sh", "sh", "-c", script, "sh", dir, arg,
		    (char *)NULL);
		_exit(127);
	}
	return pid;
}

static int
status_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* The port out of "ACCEPT 127.0.0.1:41234". */
static int
read_port(const char *dir)
{
	char path[64], line[128];
	int port;
	FILE *f;

	port = 0;
	snprintf(path, sizeof path, "%s/out", dir);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "ACCEPT", 6) == 0 &&
		    strchr(line, '\n') != NULL)
			port = (int)strtol(strrchr(line, ':') + 1, NULL, 10);
	fclose(f);
	return port;
}

static void
tls_start(struct tls *t, const char *option)
{
	int64_t limit = now_ms() + GUARD_MS;
	int p[2];

	snprintf(t->dir, sizeof t->dir, "/tmp/check_http.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(t->dir));
	ck_assert_int_eq(status_of(shell(make_certificates, t->dir, "", -1)),
	    0);
	ck_assert_int_eq(pipe(p), 0);
	fcntl(p[1], F_SETFD, FD_CLOEXEC);
	t->pid = shell(run_server, t->dir, option, p[0]);
	close(p[0]);
	t->hold = p[1];
	while ((t->port = read_port(t->dir)) == 0 && now_ms() < limit)
		pause_ms(5);
	ck_assert_int_ne(t->port, 0);
}

static void
tls_stop(struct tls *t)
{
	close(t->hold);
	status_of(t->pid);
	ck_assert_int_eq(status_of(shell("rm -r \"$1\"", t->dir, "", -1)), 0);
}

static void
tls_get(struct tls *t, const struct http_config *config, struct call *k,
    int times)
{
	struct client *c = client_with(config);
	char url[64];

	snprintf(url, sizeof url, "https://127.0.0.1:%d/", t->port);
	while (times-- > 0)
		get(k, c, url);
	client_free(c);
}

/* The words are libcurl's, and nothing was sent. */
START_TEST(tls_unknown_ca)
{
	struct tls t;
	struct call k = { 0 };

	tls_start(&t, "");
	tls_get(&t, &defaults, &k, 1);
	ended(&k, HTTP_TLS, false);
	ck_assert_ptr_nonnull(strstr(k.why, "certificate"));
	tls_stop(&t);
}
END_TEST

#define BUNDLE "/etc/ssl/certs/ca-certificates.crt"

/* The CA as the only one, as an additional one, and beside a bundle. Later
 * connections take up the first one's session, on the same easy handle and on
 * another. */
START_TEST(tls_known_ca_and_resumption)
{
	struct http_config config = defaults;
	struct server *s = server_new(script_silent);
	struct client *c;
	struct tls t;
	struct call k = { 0 }, busy = { 0 };
	char ca[64], url[64];

	tls_start(&t, "");
	snprintf(ca, sizeof ca, "%s/ca.pem", t.dir);
	snprintf(url, sizeof url, "https://127.0.0.1:%d/", t.port);
	if (_i == 0)
		config.cacert = ca;
	else
		config.cacert_extra = ca;
	if (_i == 2)
		config.cacert = access(BUNDLE, R_OK) == 0 ? BUNDLE : ca;
	c = client_with(&config);
	get(&k, c, url);
	ended(&k, HTTP_DONE, true);
	ck_assert_ptr_nonnull(strstr(buf_str(&k.body), "New, TLSv1."));
	get(&k, c, url);
	ended(&k, HTTP_DONE, true);
	ck_assert_ptr_nonnull(strstr(buf_str(&k.body), "Reused, TLSv1."));
	/* With the pooled handle in use, a new one has to know it too. */
	call_get(&busy, c, url_on(s, "/"));
	c->waiting--;
	get(&k, c, url);
	c->waiting++;
	ended(&k, HTTP_DONE, true);
	ck_assert_ptr_nonnull(strstr(buf_str(&k.body), "Reused, TLSv1."));
	ck_assert_int_eq(busy.dones, 0);
	/* Forgotten connections had sessions too. */
	http_forget(c->h);
	c->waiting--;
	get(&k, c, url);
	c->waiting++;
	ended(&k, HTTP_DONE, true);
	ck_assert_ptr_nonnull(strstr(buf_str(&k.body), "Reused, TLSv1."));
	buf_free(&k.body);
	client_free(c);
	server_free(s);
	tls_stop(&t);
}
END_TEST

/* CPU of a few first handshakes, in us. */
static long
handshake_cost(struct tls *t, const char *cacert)
{
	struct http_config config = defaults;
	struct rusage before, after;
	struct call k = { 0 };
	int i;

	config.cacert = cacert;
	tls_get(t, &config, &k, 1);
	getrusage(RUSAGE_SELF, &before);
	for (i = 0; i < 5; i++)
		tls_get(t, &config, &k, 1);
	getrusage(RUSAGE_SELF, &after);
	ended(&k, HTTP_TLS, false);
	return (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000 +
	    (after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
	    (after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1000000 +
	    (after.ru_stime.tv_usec - before.ru_stime.tv_usec);
}

/* Where the system has a hashed folder, its bundle (140 certificates) is not
 * read for each handshake. */
START_TEST(tls_does_not_read_the_bundle)
{
	struct stat st;
	struct tls t;

	if (stat(BUNDLE, &st) != 0 || st.st_size < 150 * 1024 ||
	    system("ls /etc/ssl/certs/*.0 >/dev/null 2>&1") != 0)
		return;
	tls_start(&t, "");
	ck_assert_int_lt(handshake_cost(&t, NULL) * 2,
	    handshake_cost(&t, BUNDLE));
	tls_stop(&t);
}
END_TEST

START_TEST(tls_wrong_name)
{
	struct http_config config = defaults;
	const char *list[] = { NULL, NULL };
	struct client *c;
	struct tls t;
	struct call k = { 0 };
	char ca[64], entry[64], url[64];

	tls_start(&t, "");
	snprintf(ca, sizeof ca, "%s/ca.pem", t.dir);
	snprintf(entry, sizeof entry, "mcp.example:%d:127.0.0.1", t.port);
	snprintf(url, sizeof url, "https://mcp.example:%d/", t.port);
	list[0] = entry;
	config.cacert = ca;
	config.resolve = list;
	c = client_with(&config);
	get(&k, c, url);
	ended(&k, HTTP_TLS, false);
	ck_assert_ptr_nonnull(strstr(k.why, "mcp.example"));
	client_free(c);
	tls_stop(&t);
}
END_TEST

/* A server that wants a certificate: refused without, served with one. */
START_TEST(tls_client_certificate)
{
	struct http_config config = defaults;
	struct tls t;
	struct call k = { 0 };
	char ca[64], cert[64], key[64];

	tls_start(&t,
	    _i == 0 ? "-Verify 1 -verify_return_error" :
		      "-Verify 1 -verify_return_error -tls1_2");
	snprintf(ca, sizeof ca, "%s/ca.pem", t.dir);
	snprintf(cert, sizeof cert, "%s/cert.pem", t.dir);
	snprintf(key, sizeof key, "%s/key.pem", t.dir);
	config.cacert = ca;
	tls_get(&t, &config, &k, 1);
	/* TLS 1.3 tells it only after the request is on its way. */
	ended(&k, HTTP_TLS, _i == 0);
	config.cert = cert;
	config.key = key;
	tls_get(&t, &config, &k, 1);
	ended(&k, HTTP_DONE, true);
	config.key = "/nonexistent/key.pem";
	tls_get(&t, &config, &k, 1);
	ended(&k, HTTP_CONFIG, false);
	buf_free(&k.body);
	tls_stop(&t);
}
END_TEST

static const char lax[] = "openssl_conf = init\n[init]\nssl_conf = ssl\n[ssl]\n"
			  "system_default = lax\n[lax]\nMinProtocol = TLSv1\n"
			  "CipherString = ALL:@SECLEVEL=0\n";

/* TLS 1.1 is too old, even for a system that is lax. (Without a process for
 * each test, OpenSSL does not read this configuration any more.) */
START_TEST(tls_too_old)
{
	struct http_config config = defaults;
	struct tls t;
	struct call k = { 0 };
	char ca[64], path[64];
	FILE *f;

	tls_start(&t, "-tls1_1 -cipher ALL:@SECLEVEL=0");
	snprintf(ca, sizeof ca, "%s/ca.pem", t.dir);
	snprintf(path, sizeof path, "%s/lax.cnf", t.dir);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(lax, f);
	fclose(f);
	setenv("OPENSSL_CONF", path, 1);
	config.cacert = ca;
	tls_get(&t, &config, &k, 1);
	ended(&k, HTTP_TLS, false);
	unsetenv("OPENSSL_CONF");
	tls_stop(&t);
}
END_TEST

static void
script_hang_up(struct conn *c)
{
	pull(c);
}

static void
script_no_tls(struct conn *c)
{
	pull(c);
	say(c, "HTTP/1.1 400 Bad Request\r\n\r\n");
}

/* A server that is just starting or ending is no certificate problem; one
 * that speaks no TLS is. */
START_TEST(tls_broken_handshake)
{
	struct server *s = server_new(_i == 0 ? script_hang_up : script_no_tls);
	struct client *c = client_new();
	struct call k = { 0 };
	char url[64];

	snprintf(url, sizeof url, "https://127.0.0.1:%d/", s->port);
	post(&k, c, url, "{}");
	ended(&k, _i == 0 ? HTTP_CONNECT : HTTP_TLS, false);
	ck_assert_str_ne(k.why, "");
	client_free(c);
	server_free(s);
}
END_TEST

static void
add_proxy(TCase *t)
{
	tcase_add_loop_test(t, connect_refused_by_proxy, 0, 3);
	tcase_add_test(t, proxy_hangs_up);
	tcase_add_test(t, plain_http_by_proxy);
	tcase_add_test(t, negotiate_gives_one_head);
	tcase_add_loop_test(t, loopback_is_exempt_from_proxies, 0, 2);
}

static void
add_tls(TCase *t)
{
	tcase_add_loop_test(t, tls_broken_handshake, 0, 2);
	if (system("openssl version >/dev/null 2>&1") != 0) {
		fprintf(stderr, "no openssl command: TLS is not tested\n");
		return;
	}
	tcase_add_test(t, tls_unknown_ca);
	tcase_add_loop_test(t, tls_known_ca_and_resumption, 0, 3);
	tcase_add_test(t, tls_does_not_read_the_bundle);
	tcase_add_test(t, tls_wrong_name);
	tcase_add_loop_test(t, tls_client_certificate, 0, 2);
	tcase_add_test(t, tls_too_old);
}

int
main(void)
{
	static const struct play_group groups[] = { { "proxy", add_proxy },
		{ "tls", add_tls } };

	return play_main("http_tls", groups, COUNT(groups));
}
