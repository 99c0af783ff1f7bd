/*
 * How much of an answer is read: its challenges, an event that is no message,
 * and the answer to a request of mcpsplice's own while the others pause.
 */
#include "config.h"

#include <stdio.h>

#include "base/bounds.h"
#include "proxy/transport/streamable.h"
#include "unit/io/http_play.h"

#define MESSAGE "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}"

/* What came of the exchange. */
static struct {
	struct client *c;
	struct streamable *u;
	int done;
	size_t challenge, body;
} seen;

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

static void
on_event(struct event *e, void *arg)
{
	(void)arg;
	if (e->kind == INPUT_REFUSED)
		streamable_refusal_final(seen.u, 1, NULL, false);
	if (e->kind != INPUT_DONE)
		return;
	seen.done = 1;
	seen.challenge = e->facts->challenge.n;
	seen.body = e->facts->body.n;
}

/* Begins an exchange with a server of this script. */
static struct server *
begin(void (*script)(struct conn *c), int variant, bool control)
{
	static const struct credentials_ops keeper = { on_authorize, on_prove,
		on_heard, on_accepted };
	static const struct credentials credentials = { .until = INT64_MAX };
	struct server *s = server_new(script);
	struct streamable_config config = { .url = url_on(s, "/"),
		.max_message = 1 << 20,
		.max_depth = 10,
		.credentials = &credentials,
		.keeper = &keeper };
	struct order order = { .ticket = 1, .verb = VERB_POST };

	s->variant = variant;
	memset(&seen, 0, sizeof seen);
	seen.c = client_new();
	seen.u = streamable_new(seen.c->l, seen.c->h, &config, on_event, NULL);
	order.body = frame_copy(span_of(MESSAGE));
	order.body->kind = FRAME_REQUEST;
	order.control = control;
	streamable_send(seen.u, &order);
	frame_unref(order.body);
	return s;
}

static void
finish(struct server *s)
{
	http_free(seen.c->h);
	seen.c->h = NULL;
	streamable_free(seen.u);
	client_free(seen.c);
	server_free(s);
}

static void
push_many(struct conn *c, size_t n)
{
	char *text = xcalloc(1, n);

	memset(text, 'x', n);
	push(c, text, n);
	free(text);
}

/* Three headers, which become so many bytes when they are one. */
static void
script_challenges(struct conn *c)
{
	size_t part = 5000;

	while (read_request(c)) {
		say(c, "HTTP/1.1 401 No\r\nWWW-Authenticate: ");
		push_many(c, part);
		say(c, "\r\nWWW-Authenticate: ");
		push_many(c, part);
		say(c, "\r\nWWW-Authenticate: ");
		push_many(c,
		    BOUND_NOTE_BYTES - 2 * part - 4 + (size_t)c->s->variant);
		say(c, "\r\nContent-Length: 0\r\n\r\n");
	}
}

START_TEST(challenges)
{
	struct server *s = begin(script_challenges, _i, false);

	client_until(seen.c, &seen.done);
	ck_assert_uint_eq(seen.challenge, _i == 0 ? BOUND_NOTE_BYTES : 0);
	finish(s);
}
END_TEST

static void
script_event(struct conn *c)
{
	while (read_request(c)) {
		say(c,
		    "HTTP/1.1 404 No\r\nContent-Type: text/event-stream\r\n"
		    "Connection: close\r\n\r\ndata: ");
		push_many(c, BOUND_TEXT_BYTES + (size_t)c->s->variant);
		say(c, "\n\n");
		return;
	}
}

START_TEST(words_of_an_event)
{
	struct server *s = begin(script_event, _i - 1, false);

	client_until(seen.c, &seen.done);
	ck_assert_uint_eq(seen.body,
	    _i == 0 ? BOUND_TEXT_BYTES - 1 : BOUND_TEXT_BYTES);
	finish(s);
}
END_TEST

/* The end of the answer comes later. */
static void
script_control(struct conn *c)
{
	char head[100];

	while (read_request(c)) {
		snprintf(head, sizeof head,
		    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		    "Content-Length: %d\r\n\r\n",
		    BOUND_PART_BYTES + 2);
		say(c, head);
		push_many(c, BOUND_PART_BYTES + (size_t)c->s->variant);
		pause_ms(100);
		push_many(c, 2 - (size_t)c->s->variant);
	}
}

START_TEST(answer_while_others_pause)
{
	struct server *s = begin(script_control, _i, true);

	streamable_pause(seen.u, true);
	if (_i == 1) {
		client_nap(seen.c, 400);
		ck_assert_int_eq(seen.done, 0);
		streamable_pause(seen.u, false);
	}
	client_until(seen.c, &seen.done);
	finish(s);
}
END_TEST

static void
add_all(TCase *t)
{
	tcase_add_loop_test(t, challenges, 0, 2);
	tcase_add_loop_test(t, words_of_an_event, 0, 3);
	tcase_add_loop_test(t, answer_while_others_pause, 0, 2);
}

int
main(void)
{
	static const struct play_group groups[] = { { "bounds", add_all } };

	return play_main("bounds", groups, COUNT(groups));
}
