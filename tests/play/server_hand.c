/* Exchanges by hand; see server_hand.h. */
#include "config.h"

#include "play/server_hand.h"

#include <check.h>

#include "core/wire/msg.h"

enum { DEPTH = 64 };

static void
copy(char *to, size_t size, struct span s)
{
	ck_assert(s.n < size);
	memset(to, 0, size);
	if (s.n > 0)
		memcpy(to, s.p, s.n);
}

static void
see(struct seen *s, const struct event *a)
{
	s->told++;
	s->facts = *a->facts;
	copy(s->why, sizeof s->why, a->facts->why);
	copy(s->session, sizeof s->session, a->facts->session);
}

static void
look(struct hand *h, const struct event *a)
{
	bool has_message = (a->kind == INPUT_MESSAGE ||
			       a->kind == INPUT_DONE) &&
	    a->frame != NULL;

	if (a->head)
		see(&h->head, a);
	if (has_message) {
		see(&h->message, a);
		buf_reset(&h->text);
		buf_addspan(&h->text, a->frame->text);
	}
	switch (a->kind) {
	case ACTION_SEND:
		h->order = a->order->ticket;
		h->verb = a->order->verb;
		break;
	case INPUT_DONE:
		see(&h->done, a);
		h->done_of = a->ticket;
		break;
	default:
		break;
	}
}

void
hand_step(struct hand *h, struct event *in)
{
	struct event a;

	in->now = h->now;
	h->head.told = h->message.told = h->done.told = 0;
	server_step(h->era, in);
	while (server_next(h->era, &a))
		look(h, &a);
}

static struct frame *
parsed(const char *text)
{
	struct frame *f = frame_copy(span_of(text));

	ck_assert_msg(msg_parse(f, DEPTH) == MSG_OK, "no message: %s", text);
	return f;
}

void
hand_post(struct hand *h, uint64_t ticket, const char *message)
{
	struct frame *f = parsed(message);
	struct order order = { .ticket = ticket, .verb = VERB_POST, .body = f };
	struct event in = { .kind = ACTION_SEND, .order = &order };

	hand_step(h, &in);
	frame_unref(f);
}

void
hand_open(struct hand *h, const struct server_config *config)
{
	memset(h, 0, sizeof *h);
	buf_init(&h->text, 0);
	h->now = 1000;
	h->era = server_new(config);
	hand_post(h, 7,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
	    "\"params\":{}}");
}

void
hand_free(struct hand *h)
{
	server_free(h->era);
	buf_free(&h->text);
}

void
hand_answer(struct hand *h, uint64_t ticket, const struct facts *f,
    const char *message)
{
	struct event in = {
		.kind = message != NULL ? INPUT_MESSAGE : INPUT_DONE,
		.ticket = ticket,
		.facts = f,
		.frame = message != NULL ? parsed(message) : NULL,
	};

	hand_step(h, &in);
	frame_unref(in.frame);
}
