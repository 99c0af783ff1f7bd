/*
 * The times of base/bound_rows.h that are waited for on the clock of the loop.
 * The loop is that of unit/fake_loop.h: so it is known to the millisecond when
 * something ends, and no test waits.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/login_process.h"
#include "base/bounds.h"
#include "io/child.h"
#include "proxy/credentials/authorize.h"
#include "proxy/credentials/command.h"
#include "proxy/transport/streamable.h"
#include "signin/fetch.h"
#include "signin/state.h"
#include "unit/fake_loop.h"
#include "unit/home.h"
#include "unit/io/http_play.h"

#define URL "https://a.example/mcp"

static struct loop *l;
static int64_t ended_at; /* -1: not yet */
static char *said;

static void
setup(void)
{
	home_begin();
	l = loop_new();
	ended_at = -1;
	said = NULL;
}

static void
teardown(void)
{
	loop_free(l);
	free(said);
	home_end();
}

static void
end(const char *why)
{
	ended_at = loop_now(l);
	free(said);
	said = why == NULL ? NULL : xstrdup(why);
	loop_stop(l, 0);
}

static void
on_nap(void *arg)
{
	(void)arg;
	loop_stop(l, 0);
}

/* Lets ms pass, with all that happens in them. */
static void
pass(int64_t ms)
{
	struct loop_timer *nap = loop_timer_new(l, on_nap, NULL);

	loop_timer_set(nap, ms);
	loop_run(l);
	loop_timer_free(nap);
}

/* Expects the end so many ms after begin, with these words in its text. */
static void
ends_at(int64_t begin, int64_t ms, const char *words)
{
	if (ended_at == -1)
		loop_run(l);
	ck_assert_int_eq(ended_at - begin, ms);
	if (words != NULL)
		ck_assert_msg(said != NULL && strstr(said, words) != NULL, "%s",
		    said);
}

/* --- programs --- */

static void
on_child_done(enum child_end how, int value, void *arg)
{
	(void)arg;
	ck_assert_int_eq(how, CHILD_EXIT);
	ck_assert_int_eq(value, 0);
	end(NULL);
}

/* The child ends at once, but a grandchild keeps its output open. */
START_TEST(child_linger)
{
	static const struct child_ops ops = { .done = on_child_done };
	static const char *const argv[] = { "/bin/sh", "-c", "sleep 5 & exit 0",
		NULL };
	struct child_config config = {
		.argv = argv, .output = true, .max_output = 1
	};

	child_new(l, &config, &ops, NULL);
	ends_at(loop_now(l), BOUND_END_MS, NULL);
}
END_TEST

static void
on_headers(uint64_t ticket, const struct headers *h, const char *why, void *arg)
{
	(void)ticket;
	(void)arg;
	ck_assert_ptr_null(h);
	end(why);
}

START_TEST(auth_command)
{
	struct command_auth *c;
	char *why;

	c = command_new(l, "/bin/sh -c 'exec sleep 600'", URL, NULL, false,
	    on_headers, NULL, &why);
	ck_assert_ptr_null(command_headers(c, 1, 0, false));
	ends_at(loop_now(l), BOUND_LONG_MS, "did not answer within");
	command_free(c);
}
END_TEST

static void
on_record(const struct record *r, const char *why, void *arg)
{
	(void)arg;
	ck_assert_ptr_null(r);
	end(why);
}

START_TEST(token_command)
{
	char *words[] = { "/bin/sh", "-c", "exec sleep 600", NULL };
	const struct token_source from = { .option = "--assertion-command",
		.command = words };

	struct login g = { .loop = l,
		.timer = loop_timer_new(l, on_nap, NULL),
		.config = { .mode = LOGIN_CREDENTIALS, .assertion = &from } };
	int64_t begin = loop_now(l);

	login_grant(&g, BOUND_LONG_MS);
	ck_assert_int_eq(g.in.came, CAME_TRANSIENT);
	end(g.why);
	ends_at(begin, BOUND_STEP_MS, "did not answer within");
	loop_timer_free(g.timer);
	record_free(&g.record);
	free(g.why);
}
END_TEST

START_TEST(helper)
{
	struct store_config config = { .home = home,
		.helper = "/bin/sh -c 'exec sleep 600'" };
	char name[STORE_NAME_BYTES], *why;
	struct store *s = store_new(l, &config, &why);

	ck_assert_ptr_nonnull(s);
	store_name(name, URL, NULL);
	store_get(s, name, on_record, NULL);
	ends_at(loop_now(l), BOUND_LONG_MS, "did not answer within");
	store_free(s);
}
END_TEST

/* --- the port of the redirect --- */

static bool
on_request(struct span so_far, struct buf *reply, void *arg)
{
	(void)arg;
	if (so_far.n < 3)
		return false;
	buf_adds(reply, "reply");
	return true;
}

/* A connection to the port. */
static int
browser(const struct listener *s)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port = htons((uint16_t)listener_port(s));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	return fd;
}

/* Is the connection open, with nothing to read? */
static bool
is_open(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == -1 &&
	    (errno == EAGAIN || errno == EWOULDBLOCK);
}

START_TEST(browser_time)
{
	struct listener *s = login_open_port(l, 0, "127.0.0.1", on_request,
	    NULL);
	int fd = browser(s);

	pass(1);
	/* Another byte does not make the time longer. */
	ck_assert_int_eq(send(fd, "a", 1, 0), 1);
	pass(BOUND_STEP_MS - 2);
	ck_assert(is_open(fd));
	pass(1);
	ck_assert(!is_open(fd));
	close(fd);
	listener_free(s, false);
}
END_TEST

START_TEST(browser_close)
{
	struct listener *s = login_open_port(l, 0, "127.0.0.1", on_request,
	    NULL);
	int fd = browser(s);
	char reply[6] = "";

	ck_assert_int_eq(send(fd, "GET", 3, 0), 3);
	pass(0);
	ck_assert_int_eq(recv(fd, reply, 5, 0), 5);
	ck_assert_str_eq(reply, "reply");
	pass(BOUND_END_MS - 1);
	ck_assert(is_open(fd));
	pass(1);
	ck_assert(!is_open(fd));
	close(fd);
	listener_free(s, false);
}
END_TEST

START_TEST(browser_connections)
{
	struct listener *s = login_open_port(l, 0, "127.0.0.1", on_request,
	    NULL);
	int fds[BOUND_CONNECTIONS + 1], i;

	for (i = 0; i < BOUND_CONNECTIONS; i++) {
		fds[i] = browser(s);
		pass(1);
	}
	for (i = 0; i < BOUND_CONNECTIONS; i++)
		ck_assert(is_open(fds[i]));
	fds[i] = browser(s);
	pass(1);
	ck_assert(!is_open(fds[0]));
	for (i = 1; i <= BOUND_CONNECTIONS; i++)
		ck_assert(is_open(fds[i]));
	for (i = 0; i <= BOUND_CONNECTIONS; i++)
		close(fds[i]);
	listener_free(s, false);
}
END_TEST

/* --- HTTP --- */

static struct http *
make_http(void)
{
	const char *why;
	struct http *h = http_new(l, &defaults, &why);

	ck_assert_ptr_nonnull(h);
	return h;
}

/* A port that accepts connections, and never says anything. */
static const char *
silent_url(int *fd)
{
	static char url[64];
	int port;

	*fd = bound_socket(&port);
	ck_assert_int_eq(listen(*fd, 8), 0);
	snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
	return url;
}

START_TEST(fetch)
{
	struct http *h = make_http();
	struct fetcher *f = fetcher_new(l, h, ADDRESS_LOOPBACK, true);
	struct fetch_request r = { 0 };
	int64_t begin = loop_now(l);
	struct fetch_answer a;
	int fd;

	r.url = silent_url(&fd);
	ck_assert(fetch_wait(f, &r, NULL, &a));
	end(a.why);
	fetch_answer_free(&a);
	ends_at(begin, BOUND_LONG_MS, "did not answer within");
	http_free(h);
	fetcher_free(f);
	close(fd);
}
END_TEST

static int64_t head_at;

static void
on_event(struct event *e, void *arg)
{
	(void)arg;
	if (e->kind == INPUT_HEAD)
		head_at = loop_now(l);
	else if (e->kind == INPUT_DONE)
		end(NULL);
}

static void
on_authorize(uint64_t ticket, bool last, void *arg)
{
	(void)last;
	(void)arg;
	ck_abort_msg("%d asks for credentials", (int)ticket);
}

static void
on_prove(const char *method, const char *url, struct headers *to, void *arg)
{
	(void)to;
	(void)arg;
	ck_abort_msg("a proof is wanted for %s %s", method, url);
}

static void
on_heard(const char *nonce, void *arg)
{
	(void)arg;
	ck_abort_msg("the nonce %s is told", nonce);
}

static void
on_accepted(uint64_t stamp, void *arg)
{
	(void)stamp;
	(void)arg;
}

/* A message goes to url, and this ends after so many ms: from when it is out,
 * or from the head of the answer. */
static void
exchange(const char *url, const char *message, enum frame_kind kind,
    int64_t call_timeout_ms, int64_t ms)
{
	static const struct credentials_ops keeper = { on_authorize, on_prove,
		on_heard, on_accepted };
	static const struct credentials credentials = { .until = INT64_MAX };
	struct streamable_config config = { .url = url,
		.max_message = 1000,
		.max_depth = 10,
		.call_timeout_ms = call_timeout_ms,
		.credentials = &credentials,
		.keeper = &keeper };
	struct http *h = make_http();
	struct streamable *u = streamable_new(l, h, &config, on_event, NULL);
	struct order order = { .ticket = 1, .verb = VERB_POST };

	order.body = frame_copy(span_of(message));
	order.body->kind = kind;
	ended_at = -1;
	head_at = loop_now(l);
	streamable_send(u, &order);
	frame_unref(order.body);
	loop_run(l);
	ck_assert_int_eq(ended_at - head_at, ms);
	http_free(h);
	streamable_free(u);
}

/* An answer waits for its receipt, however long a call may be silent. */
START_TEST(receipt)
{
	static const char result[] = "{\"jsonrpc\":\"2.0\",\"id\":1,"
				     "\"result\":{}}";
	int fd;
	const char *url = silent_url(&fd);

	exchange(url, result, FRAME_RESULT, 0, BOUND_MINUTE_MS);
	exchange(url, result, FRAME_RESULT, BOUND_MINUTE_MS + 1,
	    BOUND_MINUTE_MS);
	exchange(url, result, FRAME_RESULT, BOUND_MINUTE_MS - 1,
	    BOUND_MINUTE_MS - 1);
	exchange(url, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}",
	    FRAME_REQUEST, BOUND_MINUTE_MS + 1, BOUND_MINUTE_MS + 1);
	close(fd);
}
END_TEST

static void
script_half(struct conn *c)
{
	while (read_request(c))
		say(c,
		    "HTTP/1.1 400 Bad\r\nContent-Type: text/plain\r\n"
		    "Content-Length: 100\r\n\r\nhalf");
}

START_TEST(decided)
{
	struct server *s = server_new(script_half);

	exchange(url_on(s, "/"), "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}",
	    FRAME_NOTIFICATION, 0, BOUND_BRIEF_MS);
	server_free(s);
}
END_TEST

/* --- logins --- */

static struct authorize *authorize;
static const struct credentials *now; /* of authorize */
static unsigned finals;

static void
on_ready(uint64_t ticket, void *arg)
{
	(void)ticket;
	(void)arg;
	end(NULL);
}

static void
on_final(uint64_t ticket, const char *why, bool credentials_known_good,
    void *arg)
{
	(void)ticket;
	(void)credentials_known_good;
	(void)arg;
	finals++;
	end(why);
}

static void
on_sign_in(struct event *e, void *arg)
{
	(void)e;
	(void)arg;
}

static const char *
on_peer(void *arg)
{
	(void)arg;
	return "203.0.113.7";
}

/* Without a store. The login process says what is in "answer", and notes in
 * "runs" that it ran. */
static void
make_oauth(void)
{
	static const struct oauth_ops ops = { on_ready, on_final, on_sign_in,
		on_peer };
	static char login[128];
	static const char *const program[] = { "/bin/sh", login, NULL };
	static const char *const argv[] = { URL, NULL };
	static const char *const headers[] = { NULL };
	static struct oauth_config oauth;
	struct given_config given = { .headers = headers };
	struct authorize_config config = {
		.given = &given, .url = URL, .oauth = &oauth
	};
	char *why;

	home_puts("login",
	    "cd \"${0%/*}\"\ncat >/dev/null\necho >>runs\ncat answer\n");
	home_puts("runs", "");
	snprintf(login, sizeof login, "%s", home_path("login"));
	oauth = (struct oauth_config){ .host = "a.example",
		.url = URL,
		.login_process = program,
		.argv = argv };
	authorize = authorize_new(l, &config, &ops, NULL, &why);
	now = authorize_credentials(authorize);
	finals = 0;
	authorize_ops.ask(1, false, authorize);
	ck_assert_int_ne(ended_at, -1);
}

/* What the next login process says: where to sign in, unless it is NULL, and
 * the end. */
static void
answer(const char *where, enum login_end how, int64_t again_ms,
    const char *token)
{
	struct record r;
	struct buf b;

	buf_init(&b, 0);
	record_init(&r);
	r.url = xstrdup(URL);
	r.token.access = token == NULL ? NULL : xstrdup(token);
	if (where != NULL)
		login_process_say_where(&b, where, NULL);
	login_process_say_end(&b, how, how == LOGIN_DONE ? NULL : "said so",
	    again_ms, token == NULL ? NULL : &r);
	home_puts("answer", buf_str(&b));
	record_free(&r);
	buf_free(&b);
}

/* The server refuses the token at hand. Returns whether a login process ran. */
static bool
refuse(void)
{
	struct facts f = { .status = 401, .sent = true, .interactive = true };
	struct buf before = home_get("runs"), after;
	bool ran;

	f.stamp = now->stamp;
	ended_at = -1;
	authorize_refused(authorize, 1, &f, span_of(NULL));
	if (ended_at == -1)
		loop_run(l);
	after = home_get("runs");
	ran = after.n > before.n;
	buf_free(&before);
	buf_free(&after);
	return ran;
}

/* Expects the next login process after this many ms, and not before. */
static void
next_login_after(int64_t ms)
{
	fake_loop_pass(l, ms - 1);
	ck_assert_msg(!refuse(), "%lld", (long long)ms);
	fake_loop_pass(l, 1);
	ck_assert_msg(refuse(), "%lld", (long long)ms);
}

static void
brake_grows(enum login_end how, int64_t first, int64_t most)
{
	int64_t ms;

	make_oauth();
	answer(NULL, how, -1, NULL);
	ck_assert(refuse());
	for (ms = first; ms < most; ms *= 2)
		next_login_after(ms);
	next_login_after(most);
	next_login_after(most);
	authorize_free(authorize);
}

START_TEST(bad_login)
{
	brake_grows(LOGIN_FAILED, 15000, BOUND_PARKED_MS);
}
END_TEST

START_TEST(weak_login)
{
	brake_grows(LOGIN_LATER, 1000, BOUND_MINUTE_MS);
}
END_TEST

/* The server takes each new token once, and refuses it then. */
static void
new_token(const char *where)
{
	static unsigned n;
	char *token = xasprintf("token%u", n++);

	answer(where, LOGIN_DONE, -1, token);
	free(token);
	if (now->stamp != 0)
		authorize_ops.accepted(now->stamp, authorize);
}

/* A token that has expired. */
static void
make_expired(void)
{
	struct record r;
	struct buf b;

	make_oauth();
	buf_init(&b, 0);
	record_init(&r);
	r.url = xstrdup(URL);
	r.token.access = xstrdup("old");
	r.token.refresh = xstrdup("again");
	r.token.obtained_at = 1;
	r.token.expires_at = 2;
	login_process_say_end(&b, LOGIN_DONE, NULL, -1, &r);
	home_puts("answer", buf_str(&b));
	record_free(&r);
	buf_free(&b);
	ck_assert(refuse());
	ck_assert_uint_ne(now->stamp, 0);
	authorize_ops.accepted(now->stamp, authorize);
}

/* The authorization server cannot be reached: the request goes out with the old
 * token. Its 401 starts one more login at once, because the network is back. */
START_TEST(login_unreached)
{
	make_expired();
	answer(NULL, LOGIN_UNREACHED, -1, NULL);
	ended_at = -1;
	authorize_ops.ask(1, false, authorize);
	loop_run(l);
	ck_assert_ptr_null(said);
	ck_assert(refuse());
	ck_assert_str_eq(said, "said so");
	ck_assert(!refuse());
	fake_loop_pass(l, 2000);
	new_token(NULL);
	ck_assert(refuse());
	ck_assert_ptr_null(said);
	authorize_free(authorize);
}
END_TEST

/* It is tried again for each request, once: a server that is back shall not see
 * the old token first. */
START_TEST(login_unreached_again)
{
	uint64_t old;
	int i;

	make_expired();
	old = now->stamp;
	for (i = 0; i < 3; i++) {
		if (i == 2)
			new_token(NULL);
		else
			answer(NULL, LOGIN_UNREACHED, -1, NULL);
		ended_at = -1;
		authorize_ops.ask(1, false, authorize);
		if (ended_at == -1)
			loop_run(l);
		ck_assert_int_eq(i == 2, now->stamp != old);
	}
	authorize_free(authorize);
}
END_TEST

/* A Retry-After is obeyed up to this time. */
START_TEST(login_retry)
{
	make_oauth();
	answer(NULL, LOGIN_LATER, BOUND_TAB_MS - 1, NULL);
	ck_assert(refuse());
	answer(NULL, LOGIN_LATER, BOUND_TAB_MS + 1, NULL);
	next_login_after(BOUND_TAB_MS - 1);
	next_login_after(BOUND_TAB_MS);
	authorize_free(authorize);
}
END_TEST

START_TEST(login_process)
{
	int i;

	make_oauth();
	for (i = 0; i < BOUND_IN_A_ROW; i++) {
		new_token(NULL);
		ck_assert_msg(refuse(), "%d: %s", i, said);
		ck_assert_uint_eq(finals, 0);
	}
	new_token(NULL);
	ck_assert(!refuse());
	ck_assert_str_eq(said, "it rejects new tokens too soon");
	next_login_after(BOUND_STEP_MS);
	new_token(NULL);
	next_login_after(BOUND_STEP_MS);
	authorize_free(authorize);
}
END_TEST

START_TEST(sign_ins)
{
	int i;

	make_oauth();
	for (i = 0; i < 3; i++) {
		new_token("https://b.example/");
		ck_assert_msg(refuse(), "%d: %s", i, said);
		fake_loop_pass(l, 60000);
	}
	new_token("https://b.example/");
	next_login_after(BOUND_TABS_MS - INT64_C(3) * 60000);
	new_token("https://b.example/");
	next_login_after(60000);
	authorize_free(authorize);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("times");
	TCase *t = tcase_create("times");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, child_linger);
	tcase_add_test(t, auth_command);
	tcase_add_test(t, token_command);
	tcase_add_test(t, helper);
	tcase_add_test(t, browser_time);
	tcase_add_test(t, browser_close);
	tcase_add_test(t, browser_connections);
	tcase_add_test(t, fetch);
	tcase_add_test(t, receipt);
	tcase_add_test(t, decided);
	tcase_add_test(t, bad_login);
	tcase_add_test(t, weak_login);
	tcase_add_test(t, login_retry);
	tcase_add_test(t, login_unreached);
	tcase_add_test(t, login_unreached_again);
	tcase_add_test(t, login_process);
	tcase_add_test(t, sign_ins);
	suite_add_tcase(s, t);
	return unit_run(s);
}
