/* Plays core/server; README has what only it has. */
#include "config.h"

#include "play/server.h"

#include <stdlib.h>

#include "core/era/era.h"
#include "core/wire/msg.h"
#include "play/message.h"
#include "play/play.h"
#include "play/words.h"

#define CLIENT                                                                 \
	"{\"roots\":{\"listChanged\":true},\"sampling\":{},"                   \
	"\"elicitation\":{\"form\":{},\"url\":{}}}"
#define SERVER                                                                  \
	"{\"tools\":{\"listChanged\":true},\"prompts\":{\"listChanged\":true}," \
	"\"resources\":{\"listChanged\":true,\"subscribe\":true},"              \
	"\"logging\":{}}"

struct own {
	struct server_config config;
	struct server *server;
	/* The tickets of the session's orders: @K is orders[K - 1 + hidden];
	 * 0: it is over. */
	uint64_t *orders;
	size_t n_orders, hidden;
	char *client, *capabilities, *version;
	bool modern;
};

/* --- options --- */

static bool
option_name(const char *word, const char *name, const char *const *names,
    size_t n, int *i)
{
	const char *value = words_value(word, name);

	*i = value == NULL ? -1 : words_index(value, names, n);
	return *i >= 0;
}

bool
server_option(struct server_config *c, const char *word)
{
	static const char *const protocols[] = { "auto", "legacy", "modern" };
	static const char *const transports[] = { "auto", "http", "sse",
		"sse-first" };
	static const char *const was[] = { "legacy", "modern", "sse" };
	int i;

	if (option_name(word, "protocol", protocols, 3, &i)) {
		c->protocol = (enum era_protocol)i;
	} else if (option_name(word, "transport", transports, 4, &i)) {
		c->transport = (enum era_transport)i;
	} else if (option_name(word, "was", was, 3, &i)) {
		c->remembered = true;
		c->was_modern = i == 1;
		c->was_sse = i == 2;
	} else {
		return false;
	}
	return true;
}

static bool
option_text(struct own *own, const char *word)
{
	struct {
		const char *name;
		char **text;
	} texts[] = {
		{ "client", &own->client },
		{ "server", &own->capabilities },
		{ "version", &own->version },
	};
	const char *value;
	size_t i;

	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		value = words_value(word, texts[i].name);
		if (value == NULL)
			continue;
		free(*texts[i].text);
		*texts[i].text = xstrdup(value);
		return true;
	}
	return false;
}

static bool
option(struct play *p, const char *word)
{
	struct own *own = p->own;

	if (strcmp(word, "modern") == 0)
		return own->modern = true;
	return option_text(own, word) || server_option(&own->config, word);
}

/* --- the reducer --- */

static void
begin(struct play *p)
{
	struct own *own = xcalloc(1, sizeof *own);

	own->config.host = "mcp.test";
	own->config.prefix = "mine";
	own->client = xstrdup(CLIENT);
	own->capabilities = xstrdup(SERVER);
	own->version = xstrdup("2025-11-25");
	p->own = own;
}

/* A modern server is there: this is not shown. */
static void
open_modern(struct play *p)
{
	struct own *own = p->own;
	char *lines = xasprintf(
	    "> initialize 0 {\"protocolVersion\":\"%s\",\"capabilities\":%s,"
	    "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}\n"
	    "send #1 POST ...\n"
	    "< #1 400 err -32022 no\n"
	    "abort #1\n"
	    "send #2 POST ...\n"
	    "< #2 200 ok {\"resultType\":\"complete\",\"supportedVersions\":["
	    "\"2026-07-28\"],\"capabilities\":%s,\"_meta\":{"
	    "\"io.modelcontextprotocol/serverInfo\":"
	    "{\"name\":\"s\",\"version\":\"1\"}}}\n",
	    own->version, own->client, own->capabilities);

	free(play_lines(p, lines));
	free(lines);
	if (memmem(p->trace.p, p->trace.n, "found modern\n", 13) == NULL)
		play_is_wrong(p, "the opening failed");
	buf_reset(&p->out);
	buf_reset(&p->trace);
	own->hidden = own->n_orders;
	p->hidden = p->n_sent;
}

static void
start(struct play *p)
{
	struct own *own = p->own;

	own->server = server_new(&own->config);
	if (own->modern)
		open_modern(p);
}

static void
end(struct play *p)
{
	struct own *own = p->own;

	server_free(own->server);
	free(own->orders);
	free(own->client);
	free(own->capabilities);
	free(own->version);
	free(own);
}

/* An order that needs no core/server is told, nothing else that passes. */
static bool
step(struct play *p, struct event *in)
{
	struct own *own = p->own;

	if (server_step(own->server, in) || in->kind != ACTION_SEND)
		return true;
	play_sent(p, in->order->ticket, in->order);
	buf_addf(&p->out, "pass @%zu ", own->n_orders - own->hidden);
	play_tell_order(p, in->order);
	return true;
}

PLAY_CALLS(server)

/* --- the session --- */

/* The tickets of two exchanges are never the same. */
static bool
order_goes(struct play *p, struct order *order)
{
	struct event in = { .kind = ACTION_SEND, .order = order };
	struct own *own = p->own;

	own->orders = xrealloc(own->orders,
	    (own->n_orders + 1) * sizeof *own->orders);
	order->ticket = 1001 + own->n_orders;
	own->orders[own->n_orders++] = order->ticket;
	play_step(p, &in);
	/* What in the order is borrowed must have been copied. */
	memset(order, 0xff, sizeof *order);
	return true;
}

static bool
post(struct play *p, const char *text)
{
	struct own *own = p->own;
	struct order order = { .verb = VERB_POST };
	enum msg_status status;
	char *version = xstrdup(own->version);
	struct frame *f;
	struct buf b;

	buf_init(&b, 0);
	if (*text == '{')
		buf_adds(&b, text);
	else
		message_of_client(&b, text);
	f = order.body = play_frame(&b, &status);
	order.interactive = f->kind == FRAME_REQUEST;
	if (span_is(f->method, "initialize")) {
		buf_reset(&p->meta);
		era_client_meta(&p->meta, f->params);
	} else {
		order.version = span_of(version);
	}
	if (status == MSG_OK)
		order_goes(p, &order);
	memset(version, 'x', strlen(version));
	free(version);
	frame_unref(f);
	return status == MSG_OK || play_is_wrong(p, "no message");
}

static bool
get(struct play *p, const char *event)
{
	struct own *own = p->own;
	struct order order = { .verb = VERB_GET,
		.listen = true,
		.version = span_of(own->version),
		.last_event_id = span_of(event) };

	return order_goes(p, &order);
}

static bool
abort_order(struct play *p, const char *text)
{
	struct event in = { .kind = ACTION_ABORT };
	struct own *own = p->own;
	size_t number = play_number(text, '@');

	if (number == 0 || number + own->hidden > own->n_orders)
		return play_is_wrong(p, "no order");
	in.ticket = own->orders[number + own->hidden - 1];
	if (in.ticket != 0)
		play_step(p, &in);
	return true;
}

static bool
session_orders(struct play *p, const char *text)
{
	struct order order = { .verb = VERB_DELETE };
	const char *rest;

	if ((rest = words_after(text, "abort")) != NULL)
		return abort_order(p, rest);
	if (strcmp(text, "get") == 0)
		return get(p, "");
	if ((rest = words_after(text, "get")) != NULL)
		return get(p, rest);
	if (strcmp(text, "delete") == 0)
		return order_goes(p, &order);
	return post(p, text);
}

/* The client is a modern one, and this is its DiscoverResult; "-": it is not
 * any more. */
static bool
client_is(struct play *p, const char *text)
{
	struct event in = { .kind = EVENT_PROBE };
	enum msg_status status = MSG_OK;
	struct buf b;

	if (strcmp(text, "-") != 0) {
		buf_init(&b, 0);
		buf_adds(&b, text);
		in.frame = play_frame(&b, &status);
	}
	if (status == MSG_OK)
		play_step(p, &in);
	frame_unref(in.frame);
	return status == MSG_OK || play_is_wrong(p, "no message");
}

static bool
input(struct play *p, const char *line, bool *bad)
{
	const char *rest = words_after(line, "! client");

	if (line[0] == '>')
		*bad = !session_orders(p, line + 2);
	else if (rest != NULL)
		*bad = !client_is(p, rest);
	return line[0] == '>' || rest != NULL;
}

/* --- what the session is told --- */

static size_t
number_of(const struct own *own, uint64_t ticket)
{
	size_t i;

	for (i = own->n_orders; i > own->hidden; i--)
		if (own->orders[i - 1] == ticket)
			return i - own->hidden;
	return 0;
}

static void
tell_end(struct buf *b, const struct facts *f)
{
	static const char *const endings[] = { "", "cut", "idle", "aborted",
		"resolve", "connect", "tls", "proxy", "config", "denied",
		"sign-in" };

	if (f->session_ended)
		buf_addf(b, " gone%s",
		    f->status == 0 || f->ran_unless_changed ? " maybe" : "");
	if (f->ending != ENDING_COMPLETE && !f->session_ended)
		buf_addf(b, " %s%s", endings[f->ending],
		    f->sent ? "" : " unsent");
	if (f->status != 0 && !f->session_ended)
		buf_addf(b, " %d", f->status);
	if (f->last_event_id.n > 0)
		buf_addf(b, " event %.*s", (int)f->last_event_id.n,
		    f->last_event_id.p);
	if (f->retry_after_ms >= 0)
		buf_addf(b, " retry-after %lld", (long long)f->retry_after_ms);
	if (f->too_large)
		buf_adds(b, " too-large");
	buf_addc(b, '\n');
}

static bool
tell(struct play *p, const struct event *e)
{
	struct own *own = p->own;
	size_t number = number_of(own, e->ticket);
	struct buf *b = &p->out;

	/* One event may tell all three; a line for each. */
	if (e->head)
		buf_addf(b, "head @%zu %d\n", number, e->facts->status);
	if ((e->kind == INPUT_MESSAGE || e->kind == INPUT_DONE) &&
	    e->frame != NULL)
		buf_addf(b, "tell @%zu %.*s\n", number, (int)e->frame->text.n,
		    e->frame->text.p);
	switch (e->kind) {
	case INPUT_HEAD:
	case INPUT_MESSAGE:
		break;
	case INPUT_SIGN_IN:
		buf_addf(b, "sign-in @%zu %s\n", number,
		    e->text == NULL ? "" : e->text);
		break;
	case INPUT_DONE:
		buf_addf(b, "done @%zu", number);
		tell_end(b, e->facts);
		/* Nothing may come after it. */
		if (number > 0)
			own->orders[number + own->hidden - 1] = 0;
		break;
	default:
		return false;
	}
	return true;
}

const struct reducer play_server = {
	.name = "server",
	.tells = TELLS_WARNINGS,
	.begin = begin,
	.option = option,
	.start = start,
	.free = end,
	.step = step,
	.next = next,
	.deadline = deadline,
	.describe = describe,
	.input = input,
	.tell = tell,
};
