/* io/http: pausing, ending and sending at any moment, silence, the end. */
#include "config.h"

#include "io/http.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/bounds.h"
#include "unit/io/http_play.h"

enum { BIG = 20 * 1024 * 1024 };

/* Pause */

static void
fill_pattern(char *p, size_t n, size_t at)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (char)(((at + i) * 2654435761u) >> 13);
}

static uint32_t
pattern_sum(size_t total)
{
	uint32_t sum;
	size_t i;

	sum = 0;
	for (i = 0; i < total; i++)
		sum = sum * 31 + (unsigned char)((i * 2654435761u) >> 13);
	return sum;
}

static void
script_big(struct conn *c)
{
	char part[16384];
	size_t at;
	int n;

	n = 64 * 1024;
	setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof n);
	while (read_request(c)) {
		snprintf(part, sizeof part,
		    "HTTP/1.1 200 OK\r\n"
		    "Content-Length: %d\r\n\r\n",
		    BIG);
		say(c, part);
		for (at = 0; at < BIG; at += sizeof part) {
			fill_pattern(part, sizeof part, at);
			if (!push(c, part, sizeof part))
				return;
			atomic_fetch_add(&c->s->pushed, (long)sizeof part);
		}
	}
}

/* Resident bytes of this process, or 0 where that cannot be asked. */
static long
resident(void)
{
	long total, pages;
	FILE *f;
	int n;

	f = fopen("/proc/self/statm", "r");
	if (f == NULL)
		return 0;
	n = fscanf(f, "%ld %ld", &total, &pages);
	fclose(f);
	return n == 2 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

static bool
pause_now(struct call *k)
{
	if (k->round++ == 0)
		http_pause(k->x, true);
	return true;
}

static void
pause_in_head(struct call *k)
{
	http_pause(k->x, true);
}

/* Paused in data, before the answer, or in head: the server is kept waiting,
 * we hold nothing, and later each byte arrives once. */
START_TEST(pause_is_flat_and_loses_nothing)
{
	struct server *s = server_new(script_big);
	struct client *c = client_new();
	struct call k = { .discard = true };
	size_t bytes;
	long before;

	if (_i == 0)
		k.on_data = pause_now;
	if (_i == 2)
		k.on_head = pause_in_head;
	call_get(&k, c, url_on(s, "/"));
	if (_i == 1)
		http_pause(k.x, true);
	client_until(c, &k.heads);
	client_nap(c, 100);
	bytes = k.bytes;
	before = resident();
	client_nap(c, 200);
	ck_assert_uint_eq(k.bytes, bytes);
	ck_assert_uint_le(k.bytes, _i == 0 ? 65536 : 0);
	ck_assert_int_eq(k.heads, 1);
	ck_assert_int_lt(atomic_load(&s->pushed), BIG * 3 / 4);
	ck_assert_int_lt(resident() - before, 1024 * 1024);
	http_pause(k.x, false);
	client_wait(c);
	ended(&k, HTTP_DONE, true);
	ck_assert_uint_eq(k.bytes, BIG);
	ck_assert_uint_eq(k.sum, pattern_sum(BIG));
	client_free(c);
	server_free(s);
}
END_TEST

static void
on_resume(void *arg)
{
	struct call *k = arg;

	http_pause(k->x, false);
}

/* Pauses at each piece; resuming gives the next one, which pauses again while
 * libcurl is still inside curl_easy_pause. */
static bool
pause_each(struct call *k)
{
	http_pause(k->x, true);
	loop_defer(k->c->l, on_resume, k);
	return true;
}

static bool
pause_and_go_on(struct call *k)
{
	http_pause(k->x, true);
	http_pause(k->x, false);
	return true;
}

START_TEST(pause_at_each_piece)
{
	struct server *s = server_new(script_big);
	struct client *c = client_new();
	struct call k = { .discard = true,
		.on_data = _i == 0 ? pause_each : pause_and_go_on };

	get(&k, c, url_on(s, "/"));
	ended(&k, HTTP_DONE, true);
	ck_assert_uint_eq(k.bytes, BIG);
	ck_assert_uint_eq(k.sum, pattern_sum(BIG));
	client_free(c);
	server_free(s);
}
END_TEST

/* The most bytes of a turn of the loop, which has one time. */
static struct {
	int64_t at;
	size_t before, most;
} turn;

/* The server is quicker. */
static bool
work_slowly(struct call *k)
{
	if (turn.at != loop_now(k->c->l)) {
		turn.at = loop_now(k->c->l);
		turn.before = k->bytes;
	}
	if (k->bytes - turn.before > turn.most)
		turn.most = k->bytes - turn.before;
	pause_ms(1);
	return true;
}

/* A transfer that always has something to read ends the turn after some of it,
 * so that others have theirs. */
START_TEST(a_turn_is_short)
{
	struct server *s = server_new(script_big);
	struct client *c = client_new();
	struct call k = { .discard = true, .on_data = work_slowly };

	memset(&turn, 0, sizeof turn);
	get(&k, c, url_on(s, "/"));
	ended(&k, HTTP_DONE, true);
	ck_assert_uint_eq(k.bytes, BIG);
	ck_assert_uint_eq(k.sum, pattern_sum(BIG));
	ck_assert_uint_le(turn.most, BOUND_PART_BYTES);
	client_free(c);
	server_free(s);
}
END_TEST

/* Other calls go on while one is paused; an abort ends a paused one. */
START_TEST(abort_while_paused)
{
	struct server *s = server_new(script_big);
	struct server *s2 = server_new(script_echo);
	struct client *c = client_new();
	struct call k = { .discard = true, .on_data = pause_now }, k2 = { 0 };

	call_get(&k, c, url_on(s, "/"));
	client_until(c, &k.round);
	c->waiting--;
	post(&k2, c, url_on(s2, "/"), "x");
	is_ok(&k2, "x");
	c->waiting++;
	http_abort(k.x);
	http_pause(k.x, false);
	client_wait(c);
	ended(&k, HTTP_ABORTED, true);
	buf_free(&k2.body);
	client_free(c);
	server_free(s);
	server_free(s2);
}
END_TEST

/* Abort */

static bool
abort_in_data(struct call *k)
{
	ck_assert_int_eq(k->round++, 0);
	http_abort(k->x);
	return true;
}

static bool
refuse_data(struct call *k)
{
	ck_assert_int_eq(k->round++, 0);
	return false;
}

static void
abort_in_head(struct call *k)
{
	http_abort(k->x);
	http_abort(k->x);
}

START_TEST(abort_in_callbacks)
{
	struct server *s = server_new(script_big);
	struct client *c = client_new();
	struct call k = { .discard = true };

	if (_i == 0)
		k.on_data = abort_in_data;
	else if (_i == 1)
		k.on_data = refuse_data;
	else
		k.on_head = abort_in_head;
	get(&k, c, url_on(s, "/"));
	ended(&k, HTTP_ABORTED, true);
	ck_assert_int_eq(k.heads, 1);
	if (_i == 2)
		ck_assert_uint_eq(k.bytes, 0);
	client_free(c);
	server_free(s);
}
END_TEST

static void
on_abort(void *arg)
{
	struct call *k = arg;

	http_abort(k->x);
	ck_assert_int_eq(k->dones, 0);
}

START_TEST(abort_from_a_timer)
{
	struct server *s = server_new(script_silent);
	struct client *c = client_new();
	struct call k = { 0 };
	struct loop_timer *t = loop_timer_new(c->l, on_abort, &k);

	call_post(&k, c, url_on(s, "/"), "{}");
	loop_timer_set(t, 50);
	client_wait(c);
	ended(&k, HTTP_ABORTED, true);
	ck_assert_int_eq(k.heads, 0);
	loop_timer_free(t);
	client_free(c);
	server_free(s);
}
END_TEST

static void
check_no_headers(struct call *k)
{
	ck_assert_ptr_null(http_header(k->x, "Content-Type", 0));
}

/* Nothing is sent, and the pooled handle shows nothing of its last answer. */
START_TEST(abort_before_start)
{
	struct server *s = server_new(script_echo);
	struct client *c = client_new();
	struct call k = { 0 };

	post(&k, c, url_on(s, "/"), "x");
	k.on_done = check_no_headers;
	call_post(&k, c, url_on(s, "/"), "y");
	http_abort(k.x);
	client_wait(c);
	ended(&k, HTTP_ABORTED, false);
	client_nap(c, 50);
	ck_assert_int_eq(atomic_load(&s->requests), 1);
	client_free(c);
	server_free(s);
}
END_TEST

static void
abort_other(struct call *k)
{
	if (k->other->dones == 0)
		http_abort(k->other->x);
}

/* Two answers that are read in one turn: the first done aborts the other,
 * whose end libcurl has already noted, perhaps. */
START_TEST(abort_another_in_done)
{
	struct server *s = server_new(script_slow_echo);
	struct client *c = client_new();
	struct call a = { .on_done = abort_other };
	struct call b = { .on_done = abort_other };
	int i, aborted;

	a.other = &b;
	b.other = &a;
	aborted = 0;
	for (i = 0; i < 20; i++) {
		call_post(&a, c, url_on(s, "/"), "a");
		call_post(&b, c, url_on(s, "/"), "b");
		client_wait(c);
		aborted += a.answer.end == HTTP_ABORTED;
		aborted += b.answer.end == HTTP_ABORTED;
	}
	ck_assert_int_eq(aborted, 20);
	buf_free(&a.body);
	buf_free(&b.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Sending inside of callbacks */

static struct server *chain_server;

static void
send_next(struct call *k)
{
	if (k->other != NULL && k->other->c == NULL)
		call_post(k->other, k->c, url_on(chain_server, "/"), "next");
}

static bool
send_next_in_data(struct call *k)
{
	send_next(k);
	return true;
}

START_TEST(send_in_callbacks)
{
	struct client *c = client_new();
	struct call next[3] = { { 0 } }, k = { .on_head = send_next };
	int i;

	/* From head, data and done, in that order along the chain. */
	chain_server = server_new(script_echo);
	k.other = &next[0];
	next[0].on_data = send_next_in_data;
	next[0].other = &next[1];
	next[1].on_done = send_next;
	next[1].other = &next[2];
	post(&k, c, url_on(chain_server, "/"), "first");
	is_ok(&k, "first");
	for (i = 0; i < 3; i++) {
		is_ok(&next[i], "next");
		buf_free(&next[i].body);
	}
	buf_free(&k.body);
	client_free(c);
	server_free(chain_server);
}
END_TEST

/* Silence */

static void
get_idle(struct call *k, struct client *c, const char *url, int64_t ms)
{
	struct http_request r = { .method = "GET", .url = url, .idle_ms = ms };

	call_request(k, c, &r);
}

/* How long a call without a word, or without a word after its head, lasts. */
static int64_t
time_silent_call(int heads)
{
	struct server *s = server_new(heads == 0 ? script_silent :
						   script_stream);
	struct client *c = client_new();
	struct call k = { 0 };
	int64_t start = now_ms(), took;

	get_idle(&k, c, url_on(s, "/stream"), 400);
	client_wait(c);
	took = now_ms() - start;
	ended(&k, HTTP_IDLE, true);
	ck_assert_int_eq(k.heads, heads);
	ck_assert_int_ge(took, 400);
	client_free(c);
	server_free(s);
	return took;
}

/* A busy machine may hold a call up, but not each of them. */
START_TEST(idle_ends_a_silent_call)
{
	int tries = 5;
	int64_t took;

	do
		took = time_silent_call(_i);
	while (took >= 790 && --tries > 0);
	ck_assert_int_lt(took, 790);
}
END_TEST

static void
others_are_open(struct call *k)
{
	for (k = k->other; k != NULL; k = k->other)
		ck_assert_int_eq(k->dones, 0);
}

static void
last_is_open(struct call *k)
{
	others_are_open(k);
	http_abort(k->other->x);
}

/* Limits at once: the shortest one started later, another is none. */
START_TEST(idle_limits_are_kept_apart)
{
	struct server *s = server_new(script_silent);
	struct client *c = client_new();
	struct call never = { 0 };
	struct call slow = { .other = &never, .on_done = last_is_open };
	struct call fast = { .other = &slow, .on_done = others_are_open };
	int64_t start = now_ms();

	get_idle(&slow, c, url_on(s, "/"), 3000);
	get_idle(&never, c, url_on(s, "/"), 0);
	client_nap(c, 20);
	get_idle(&fast, c, url_on(s, "/"), 100);
	client_until(c, &fast.dones);
	ck_assert_int_lt(now_ms() - start, 2900);
	client_wait(c);
	ended(&fast, HTTP_IDLE, true);
	ended(&slow, HTTP_IDLE, true);
	ended(&never, HTTP_ABORTED, true);
	client_free(c);
	server_free(s);
}
END_TEST

static void
script_drip(struct conn *c)
{
	int i;

	while (read_request(c)) {
		say(c, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n");
		for (i = 0; i < 8; i++) {
			pause_ms(100);
			say(c, "x");
		}
	}
}

START_TEST(bytes_reset_idle)
{
	struct server *s = server_new(script_drip);
	struct client *c = client_new();
	struct call k = { 0 };

	get_idle(&k, c, url_on(s, "/"), 500);
	client_wait(c);
	is_ok(&k, "xxxxxxxx");
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(a_pause_is_not_idle)
{
	struct server *s = server_new(script_big);
	struct client *c = client_new();
	struct call k = { .discard = true, .on_data = pause_now };

	get_idle(&k, c, url_on(s, "/"), 500);
	client_nap(c, 1300);
	ck_assert_int_eq(k.dones, 0);
	http_pause(k.x, false);
	client_wait(c);
	ended(&k, HTTP_DONE, true);
	ck_assert_uint_eq(k.bytes, BIG);
	client_free(c);
	server_free(s);
}
END_TEST

/* The time of a pause does not count afterwards either. */
START_TEST(idle_starts_anew_after_a_pause)
{
	struct server *s = server_new(script_stream);
	struct client *c = client_new();
	struct call k = { .on_head = pause_in_head };
	int64_t resumed;

	get_idle(&k, c, url_on(s, "/stream"), 500);
	client_until(c, &k.heads);
	client_nap(c, 350);
	ck_assert_int_eq(k.dones, 0);
	resumed = now_ms();
	http_pause(k.x, false);
	client_wait(c);
	ended(&k, HTTP_IDLE, true);
	ck_assert_int_ge(now_ms() - resumed, 490);
	client_free(c);
	server_free(s);
}
END_TEST

/* Reads the body slowly. */
static void
script_slow_reader(struct conn *c)
{
	char part[65536];
	size_t left;
	ssize_t r;

	read_head(c);
	left = content_length(c->head) - c->n;
	while (left > 0) {
		pause_ms(10);
		r = recv(c->fd, part, sizeof part, 0);
		if (r <= 0)
			return;
		left -= (size_t)r;
	}
	say_ok(c, "read");
}

static int64_t written_at;

static void
note_written(struct call *k)
{
	written_at = http_written_at(k->x);
}

/* The request counts as written when its last byte went out. */
START_TEST(an_upload_is_not_idle)
{
	struct server *s;
	struct client *c = client_new();
	struct http_request r = { .method = "POST", .idle_ms = 1500 };
	struct call k = { 0 };
	char *body = xcalloc(1, BIG);
	int fd, n, port;
	int64_t start = now_ms(), began = loop_now(c->l);

	/* A small window, so that the sender sees the reader's speed. */
	fd = bound_socket(&port);
	n = 64 * 1024;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &n, sizeof n);
	s = server_on(fd, script_slow_reader);
	s->port = port;
	r.url = url_on(s, "/");
	r.body = (struct span){ body, BIG };
	k.on_head = note_written;
	call_request(&k, c, &r);
	client_wait(c);
	is_ok(&k, "read");
	ck_assert_int_gt(written_at - began, 1500);
	ck_assert_int_gt(now_ms() - start, 2500);
	free(body);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* The end of it all */

static void
not_called_head(struct transfer *x, int status, void *arg)
{
	(void)x;
	(void)arg;
	ck_abort_msg("head %d after http_free", status);
}

static bool
not_called_data(struct transfer *x, const char *p, size_t n, void *arg)
{
	(void)x;
	(void)p;
	(void)n;
	(void)arg;
	ck_abort_msg("data after http_free");
	return false;
}

static void
not_called_done(struct transfer *x, const struct http_answer *a, void *arg)
{
	(void)x;
	(void)a;
	(void)arg;
	ck_abort_msg("done after http_free");
}

/* Calls that run, are paused, ended or not yet begun: none is told. */
START_TEST(free_with_calls_open)
{
	static const struct http_ops silent = { not_called_head,
		not_called_data, not_called_done };
	struct server *s = server_new(script_silent);
	struct server *big = server_new(script_big);
	struct client *c = client_new();
	struct http_request r = {
		.method = "POST", .body = span_of("x"), .idle_ms = 20
	};
	struct call k = { .discard = true, .on_data = pause_now };
	struct transfer *x;

	call_get(&k, c, url_on(big, "/"));
	r.url = url_on(s, "/");
	client_until(c, &k.round);
	http_pause(k.x, false);
	x = http_send(c->h, &r, &silent, NULL);
	http_send(c->h, &r, &silent, NULL);
	http_abort(x);
	http_free(c->h);
	c->h = NULL;
	client_nap(c, 50);
	ck_assert_int_eq(k.dones, 0);
	client_free(c);
	server_free(s);
	server_free(big);
}
END_TEST

START_TEST(free_nothing)
{
	http_free(NULL);
	client_free(client_new());
	ck_assert_ptr_eq(strstr(http_version(), "libcurl/"), http_version());
}
END_TEST

static void
add_control(TCase *t)
{
	tcase_add_loop_test(t, pause_is_flat_and_loses_nothing, 0, 3);
	tcase_add_loop_test(t, pause_at_each_piece, 0, 2);
	tcase_add_test(t, a_turn_is_short);
	tcase_add_test(t, abort_while_paused);
	tcase_add_loop_test(t, abort_in_callbacks, 0, 3);
	tcase_add_test(t, abort_from_a_timer);
	tcase_add_test(t, abort_before_start);
	tcase_add_test(t, abort_another_in_done);
	tcase_add_test(t, send_in_callbacks);
	tcase_add_loop_test(t, idle_ends_a_silent_call, 0, 2);
	tcase_add_test(t, idle_limits_are_kept_apart);
	tcase_add_test(t, bytes_reset_idle);
	tcase_add_test(t, a_pause_is_not_idle);
	tcase_add_test(t, idle_starts_anew_after_a_pause);
	tcase_add_test(t, an_upload_is_not_idle);
	tcase_add_test(t, free_with_calls_open);
	tcase_add_test(t, free_nothing);
}

int
main(void)
{
	static const struct play_group groups[] = { { "control",
	    add_control } };

	return play_main("http_control", groups, COUNT(groups));
}
