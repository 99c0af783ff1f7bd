/* "mcpsplice check": one step after the other, until one fails that the next
 * ones need. */
#include "config.h"

#include "tools/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/append.h"
#include "base/codec.h"
#include "core/wire/json.h"
#include "core/wire/protocol.h"
#include "core/wire/redact.h"
#include "os/file.h"
#include "proxy/proxy.h"

/* "mcpsplice check": a session by way of the proxy, as a host has it. */

enum {
	OPEN_MS = 13 * 1000,
	CUT_MS = 3 * 1000, /* ... of a server that has just cut a request */
	LISTEN_MS = 2 * 1000,
	LIST_MS = 10 * 1000,
	PING_MS = 8 * 1000
};

static void
tell_revision(struct report *r, const struct proxy_child_session *now)
{
	const char *revision = now->modern ? REVISION_MODERN : now->version;
	const char *transport = now->sse ? "HTTP+SSE of 2024-11-05" :
					   "Streamable HTTP";

	report_told(r, "revision", -1);
	report_text(r, "revision", revision);
	report_text(r, "transport", transport);
	report_end(r, STEP_OK, "the server speaks MCP %s over %s", revision,
	    transport);
}

/* us: how long initialize took. */
static void
tell_session(struct report *r, const struct proxy_child_session *now,
    int64_t us)
{
	struct span info = json_get(now->hello->result, "serverInfo");
	struct buf name = { 0 }, version = { 0 };

	report_told(r, "session", us);
	json_shown(json_get(info, "name"), &name, 80);
	json_shown(json_get(info, "version"), &version, 80);
	report_text(r, "server", buf_str(&name));
	report_text(r, "version", buf_str(&version));
	report_flag(r, "has_id", now->has_id && !now->modern);
	report_end(r, STEP_OK, "%s%s%s; %s",
	    name.n > 0 ? buf_str(&name) : "a server without a name",
	    version.n > 0 ? " " : "", buf_str(&version),
	    now->modern     ? "this revision needs no session, so a server "
			      "restart is harmless" :
		now->sse    ? "the session is the stream" :
		now->has_id ? "the server gave a session id" :
			      "the server gives no session id, so a server "
			      "restart is harmless");
	buf_free(&name);
	buf_free(&version);
}

static void
tell_listen(struct check *c, struct proxy_child *p)
{
	struct report *r = c->report;
	const struct proxy_child_session *now;

	report_step(r, "listen stream", "the server to open it");
	now = proxy_child_session(p, check_time(c, LISTEN_MS));
	report_flag(r, "open", now->listens);
	report_end(r,
	    now->sse || now->listens || now->never_will ? STEP_OK :
							  STEP_WARNING,
	    "%s",
	    now->sse            ? "the stream is the session" :
		now->listens    ? "open" :
		now->never_will ? "none: this server sends no notifications" :
				  "not open yet; some servers open it with "
				  "their first message");
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

static void
tell_list(struct check *c, struct proxy_child *p, const char *family,
    const char *method)
{
	struct span caps = json_get(proxy_child_session(p, 0)->hello->result,
	    "capabilities");
	struct report *r = c->report;
	const char *filter = "";
	char *why = NULL;
	struct buf list = { 0 };
	struct span key, item;
	size_t at = 0, n = 0;

	report_step(r, family, method);
	if (json_get(caps, family).n == 0) {
		report_took(r, -1);
		report_number(r, "count", 0);
		report_end(r, STEP_OK,
		    "not asked: the server does not offer "
		    "any");
		return;
	}
	proxy_child_within(p, check_time(c, LIST_MS));
	if (list_all(p, method, family, &list, &why) == 0) {
		while (json_next(buf_span(&list), &at, &key, &item))
			n++;
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
tell_ping(struct check *c, struct proxy_child *p, bool modern)
{
	char *why = NULL;
	struct frame *f;

	report_step(c->report, "ping", "the server to answer");
	if (modern) {
		report_took(c->report, -1);
		report_end(c->report, STEP_OK,
		    "not asked: this revision has no ping");
		return;
	}
	proxy_child_within(p, check_time(c, PING_MS));
	f = proxy_child_ask(p, "ping", no_span, &why);
	if (f != NULL && f->kind == FRAME_ERROR)
		proxy_child_explain(f, &why);
	report_end(c->report, why == NULL ? STEP_OK : STEP_FAILED, "%s",
	    why == NULL ? "answered" : why);
	frame_unref(f);
	free(why);
}

/* The user has chosen what the server is thought to speak. */
static void
add_doubt(struct buf *out, const struct check *c, const char *option)
{
	char *by = options_set_by(c->options, option);

	buf_addf(out,
	    "%s If you are not sure of its %s, remove that option (%s).",
	    out->p[out->n - 1] == '.' ? "" : ".", option, by);
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
	struct buf text = { 0 };

	if (at != NULL && (given_ms == 0 || given_ms > limit_ms))
		memmove(at, at + strlen(option),
		    strlen(at + strlen(option)) + 1);
	buf_adds(&text, why);
	if (c->signed_in && refused) {
		buf_adds(&text, "; ");
		check_add_login(&text, c);
	}
	if (c->options->transport != TRANSPORT_AUTO && !refused)
		add_doubt(&text, c, "transport");
	if (c->options->protocol != PROTOCOL_AUTO && !refused)
		add_doubt(&text, c, "protocol");
	report_end(c->report, STEP_FAILED, "%s", buf_str(&text));
	buf_free(&text);
}

/* A session, the lists of the server, a ping: the last part. */
static void
check_session(struct check *c, const struct probe *seen)
{
	struct report *r = c->report;
	const struct proxy_child_session *now;
	char *why = NULL;
	struct proxy_child *p;
	int64_t limit_ms, us;

	report_step(r, "session", "the answer to initialize");
	limit_ms = check_time(c, seen->end == HTTP_CUT ? CUT_MS : OPEN_MS);
	p = proxy_child_start(c->options, limit_ms, &why);
	if (p == NULL) {
		fail(c, why, limit_ms);
		free(why);
		check_skip(c, "listen stream");
		return;
	}
	us = report_elapsed(r);
	now = proxy_child_session(p, 0);
	tell_revision(r, now);
	tell_session(r, now, us);
	tell_listen(c, p);
	tell_list(c, p, "tools", "tools/list");
	tell_list(c, p, "prompts", "prompts/list");
	tell_list(c, p, "resources", "resources/list");
	tell_ping(c, p, now->modern);
	proxy_child_end(p);
}

/* "mcpsplice check": where the options come from. */

struct places {
	struct strings from, options; /* those that come from each place */
	struct buf json;
};

static void
add_origin(const char *name, const char *from, void *arg)
{
	struct places *p = arg;
	size_t i, n = strlen(from);
	/* a variable of other programs has no option */
	const char *dashes = name[0] >= 'A' && name[0] <= 'Z' ? "" : "--";
	char *place, *options;

	buf_addf(&p->json,
	    "%s{\"option\":\"%s\",\"from\":", p->json.n > 1 ? "," : "", name);
	codec_json_string(&p->json, span_of(from));
	buf_adds(&p->json, "}");
	/* "FILE:LINE": all lines of a file are one place */
	while (n > 0 && is_digit(from[n - 1]))
		n--;
	n = n > 0 && from[n - 1] == ':' ? n - 1 : strlen(from);
	place = xstrndup(from, n);
	i = string_index(place, (const char *const *)p->from.list, p->from.n);
	if (i == p->from.n) {
		strings_add(&p->from, place);
		strings_add(&p->options, xasprintf("%s%s", dashes, name));
		return;
	}
	free(place);
	options = xasprintf("%s, %s%s", p->options.list[i], dashes, name);
	free(p->options.list[i]);
	p->options.list[i] = options;
}

static void
add_strings(struct report *r, const char *name, const struct strings *list)
{
	struct buf json = { 0 };
	size_t i;

	for (i = 0; i < list->n; i++) {
		buf_adds(&json, i > 0 ? "," : "[");
		codec_json_string(&json, span_of(list->list[i]));
	}
	buf_adds(&json, list->n > 0 ? "]" : "[]");
	report_raw(r, name, buf_span(&json));
	buf_free(&json);
}

/* Opens a file as a start does, which goes on without it. */
static void
try_file(struct strings *faults, const char *option, const char *path, bool own)
{
	struct append a;

	if (path == NULL)
		return;
	if (append_open(&a, path, INT64_MAX, own) != 0)
		strings_add(faults,
		    xasprintf("%s %s cannot be opened: %s", option, path,
			strerror(errno)));
	append_close(&a);
}

/* Does not open the file: a pipe can be read once only. */
static void
try_read(struct strings *faults, const char *option, const char *path)
{
	if (path != NULL && !os_file_may(path, OS_MAY_READ))
		strings_add(faults,
		    xasprintf("%s %s cannot be read: %s", option, path,
			strerror(errno)));
}

/* Finds what stops no start, and is wrong all the same. */
static void
find_faults(struct strings *faults, const struct options *o)
{
	size_t i;

	for (i = 0; i < o->warnings.n; i++)
		strings_add(faults, xstrdup(o->warnings.list[i]));
	try_file(faults, "--log-file", o->log_file, false);
	try_file(faults, "--trace", o->trace, true);
	try_read(faults, "--client-secret-file", o->client_secret_file);
	try_read(faults, "--client-key", o->client_key);
	try_read(faults, "--assertion-file", o->assertion_file);
	try_read(faults, "--idp-client-secret-file", o->idp_client_secret_file);
	try_read(faults, "--idp-key", o->idp_key);
	try_read(faults, "--idp-token-file", o->idp_token_file);
	strings_add(faults, network_extra_why(o));
	for (i = 0; i < faults->n; i++)
		faults->list[i] = redact_tokens(faults->list[i]);
}

/* Where the options come from, and whether a start would take them. */
static bool
check_configuration(struct check *c)
{
	const struct options *o = c->options;
	struct report *r = c->report;
	struct strings faults = { 0 };
	struct places p = { 0 };
	char *why = NULL;
	bool good = proxy_check(o, &why) == 0;
	struct buf text = { 0 };
	size_t i;

	if (!good)
		why = redact_tokens(why);
	report_told(r, "configuration", -1);
	buf_adds(&p.json, "[");
	options_origins(o, add_origin, &p);
	buf_adds(&p.json, "]");
	report_raw(r, "options", buf_span(&p.json));
	add_strings(r, "ignored", &o->notes);
	find_faults(&faults, o);
	add_strings(r, "warnings", &faults);
	if (p.from.n == 0)
		buf_adds(&text, "all options have their default values");
	for (i = 0; i < p.from.n; i++)
		buf_addf(&text, "%s%s (%s)", i > 0 ? "; " : "",
		    p.options.list[i], p.from.list[i]);
	for (i = 0; i < o->notes.n; i++)
		buf_addf(&text, "; ignored: %s", o->notes.list[i]);
	for (i = 0; i < faults.n; i++)
		buf_addf(&text, "; %s", faults.list[i]);
	report_end(r,
	    !good            ? STEP_FAILED :
		faults.n > 0 ? STEP_WARNING :
			       STEP_OK,
	    "%s", good ? buf_str(&text) : why);
	if (!good)
		check_skip(c, "name");
	free(why);
	strings_free(&faults);
	strings_free(&p.from);
	strings_free(&p.options);
	buf_free(&p.json);
	buf_free(&text);
	return good;
}

/* Returns the exit status. */
static int
try_all(struct check *c)
{
	const struct options *o = c->options;
	struct probe p = { .watched = true };
	struct buf shown = { 0 };
	bool usable;
	int status;

	redact_path(&shown, span_of(o->url), "...");
	c->shown = buf_str(&shown);
	c->report = report_new(o->json, c->shown);
	usable = check_configuration(c);
	if (usable && check_network(c, &p) && check_sign_in(c, &p))
		check_session(c, &p);
	probe_free(&p);
	status = report_close(c->report);
	if (status != 0 && o->hint != NULL && !o->json)
		printf("Hint: %s\n", o->hint);
	buf_free(&shown);
	return usable ? status : 2;
}

int
command_check(const struct options *o, char **why)
{
	struct check c = { .options = o };
	int status;

	setup_log(o, LEVEL_ERROR);
	if ((c.loop = setup_loop(why)) == NULL)
		return 1;
	url_parse(&c.url, o->url); /* which the options have checked */
	if (o->save_certificate != NULL)
		status = check_save_certificate(&c, o->save_certificate, why);
	else
		status = try_all(&c);
	loop_free(c.loop);
	url_free(&c.url);
	return status;
}
