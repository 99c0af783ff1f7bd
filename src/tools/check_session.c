/* "mcpsplice check": a session by way of the proxy, as a host has it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "core/wire/json.h"
#include "core/wire/protocol.h"
#include "tools/check.h"
#include "tools/peer.h"

enum {
	OPEN_MS = 13 * 1000,
	LISTEN_MS = 2 * 1000,
	LIST_MS = 10 * 1000,
	PING_MS = 8 * 1000
};

/* Appends a string of the server. */
static void
add_string(struct buf *out, struct span value)
{
	struct buf text;

	buf_init(&text, 0);
	if (json_string(value, &text) == 0)
		codec_visible(out, buf_span(&text), 80);
	buf_free(&text);
}

static void
tell_revision(struct report *r, const struct peer_session *now)
{
	const char *revision = now->modern ? REVISION_MODERN : now->version;
	const char *transport = now->sse ? "HTTP+SSE of 2024-11-05" :
					   "Streamable HTTP";

	report_told(r, "revision", -1);
	report_text(r, "revision", revision);
	report_text(r, "transport", transport);
	report_end(r, STEP_OK, "the server speaks MCP %s, by %s", revision,
	    transport);
}

/* us: how long initialize took. */
static void
tell_session(struct report *r, const struct frame *hello,
    const struct peer_session *now, int64_t us)
{
	struct span info = json_get(hello->result, "serverInfo");
	struct buf name, version;

	buf_init(&name, 0);
	buf_init(&version, 0);
	report_told(r, "session", us);
	add_string(&name, json_get(info, "name"));
	add_string(&version, json_get(info, "version"));
	report_text(r, "server", buf_str(&name));
	report_text(r, "version", buf_str(&version));
	report_flag(r, "has_id", now->has_id && !now->modern);
	report_end(r, STEP_OK, "%s%s%s; %s",
	    name.n > 0 ? buf_str(&name) : "a server without a name",
	    version.n > 0 ? " " : "", buf_str(&version),
	    now->modern     ? "this revision needs no session, so a restart is "
			      "harmless" :
		now->sse    ? "the session is the stream" :
		now->has_id ? "it gave a session id" :
			      "it gives no session id, so a restart is "
			      "harmless");
	buf_free(&name);
	buf_free(&version);
}

static void
tell_listen(struct check *c, struct peer *p)
{
	struct report *r = c->report;
	struct peer_session now;

	report_step(r, "listen stream", "the server to open it");
	peer_session(p, &now, check_time(c, LISTEN_MS));
	report_flag(r, "open", now.listens);
	if (now.sse)
		report_end(r, STEP_OK, "it is the stream of the session");
	else if (now.listens)
		report_end(r, STEP_OK, "the server has opened it");
	else if (now.never_will)
		report_end(r, STEP_OK,
		    "the server has none, so it tells nothing on its own");
	else
		report_end(r, STEP_WARNING,
		    "not open yet; some servers open it with their first "
		    "message");
}

/* Tells which options keep tools from the client. */
static const char *
filter_of(const struct options *o)
{
	return o->only_tools.n > 0 ? " (with --only-tool)" :
	    o->ignore_tools.n > 0  ? " (with --ignore-tool)" :
	    o->read_only           ? " (with --read-only)" :
				     "";
}

static size_t
count_of(struct span list)
{
	struct span key, item;
	size_t at = 0, n = 0;

	while (json_next(list, &at, &key, &item))
		n++;
	return n;
}

static void
tell_list(struct check *c, struct peer *p, const char *family,
    const char *method)
{
	struct span caps = json_get(peer_hello(p)->result, "capabilities");
	struct report *r = c->report;
	const char *filter = "";
	char *why = NULL;
	struct buf list;
	size_t n;

	report_step(r, family, method);
	if (json_get(caps, family).n == 0) {
		report_took(r, -1);
		report_number(r, "count", 0);
		report_end(r, STEP_OK, "not asked: the server declares none");
		return;
	}
	buf_init(&list, 0);
	peer_within(p, check_time(c, LIST_MS));
	if (list_all(p, method, family, &list, &why) == 0) {
		n = count_of(buf_span(&list));
		if (strcmp(family, "tools") == 0)
			filter = filter_of(c->options);
		report_number(r, "count", (int64_t)n);
		report_end(r, STEP_OK, "%zu %.*s%s", n,
		    (int)strlen(family) - (n == 1), family, filter);
	} else {
		report_end(r, STEP_FAILED, "%s", why);
	}
	free(why);
	buf_free(&list);
}

static void
tell_ping(struct check *c, struct peer *p, bool modern)
{
	char *why = NULL;
	struct frame *f;

	report_step(c->report, "ping", "the server to answer");
	if (modern) {
		report_took(c->report, -1);
		report_end(c->report, STEP_OK,
		    "not asked: this revision has none");
		return;
	}
	peer_within(p, check_time(c, PING_MS));
	f = peer_ask(p, "ping", no_span, &why);
	if (f != NULL && f->kind == FRAME_ERROR)
		peer_explain(f, &why);
	if (why == NULL)
		report_end(c->report, STEP_OK, "answered");
	else
		report_end(c->report, STEP_FAILED, "%s", why);
	frame_unref(f);
	free(why);
}

/* The user has chosen what the server is thought to speak. */
static void
add_doubt(struct buf *out, const struct check *c, const char *option)
{
	char *by = options_set_by(c->options, option);

	buf_addf(out,
	    " If you are not sure which %s it speaks, leave it out (%s).",
	    option, by);
	free(by);
}

/* The words of a start; a refusal of the token needs a remedy besides. A limit
 * of the check itself is no option's. */
static void
fail(struct check *c, char *why, int64_t limit_ms)
{
	static const char option[] = " (--init-timeout)";
	int64_t given_ms = c->options->init_timeout_ms;
	char *at = strstr(why, option);
	bool refused = strstr(why, "(401)") != NULL;
	struct buf remedy;

	buf_init(&remedy, 0);
	if (at != NULL && (given_ms == 0 || given_ms > limit_ms))
		memmove(at, at + strlen(option),
		    strlen(at + strlen(option)) + 1);
	if (c->signed_in && refused) {
		buf_adds(&remedy, "; ");
		check_add_login(&remedy, c);
	}
	if (c->options->transport != TRANSPORT_AUTO && !refused)
		add_doubt(&remedy, c, "transport");
	if (c->options->protocol != PROTOCOL_AUTO && !refused)
		add_doubt(&remedy, c, "protocol");
	report_end(c->report, STEP_FAILED, "%s%s", why, buf_str(&remedy));
	buf_free(&remedy);
}

void
check_session(struct check *c)
{
	struct report *r = c->report;
	struct peer_session now;
	char *why = NULL;
	struct peer *p;
	int64_t limit_ms, us;

	report_step(r, "session", "the answer to initialize");
	limit_ms = check_time(c, OPEN_MS);
	p = peer_start_within(c->options, limit_ms, &why);
	if (p == NULL) {
		fail(c, why, limit_ms);
		free(why);
		check_skip(c, "listen stream");
		return;
	}
	us = report_elapsed(r);
	peer_session(p, &now, 0);
	tell_revision(r, &now);
	tell_session(r, peer_hello(p), &now, us);
	tell_listen(c, p);
	tell_list(c, p, "tools", "tools/list");
	tell_list(c, p, "prompts", "prompts/list");
	tell_list(c, p, "resources", "resources/list");
	tell_ping(c, p, now.modern);
	peer_end(p);
}
