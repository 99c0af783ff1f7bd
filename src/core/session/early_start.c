/*
 * A start without the server. If initialize takes too long, hosts give up the
 * server for good. If the startup cache has an earlier start, the client is
 * answered from it; a client that never saw the server may get the stand-in.
 * Either way the server is opened in the background as after a loss.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/codec.h"

/* --- what the client is answered --- */

static const char sign_in[] = "sign_in";
static const char connection_status[] = "connection_status";

static void
choose_tool(struct session *s)
{
	s->start.tool = session_opening_waits(s) ? sign_in : connection_status;
}

/* Appends the stand-in's result of the client's initialize. */
static void
stand_in(struct session *s, const struct frame *initialize, struct buf *out)
{
	struct span version = json_get(initialize->params, "protocolVersion");

	buf_adds(out, "{\"protocolVersion\":");
	if (json_kind(version) == '"')
		buf_addspan(out, version);
	else
		buf_adds(out, "\"2025-11-25\"");
	buf_addf(out,
	    ",\"capabilities\":{\"tools\":{\"listChanged\":true},"
	    "\"prompts\":{\"listChanged\":true},"
	    "\"resources\":{\"listChanged\":true}},"
	    "\"serverInfo\":{\"name\":\"mcpsplice\",\"version\":\"%s\"}}",
	    s->config.version);
}

/* Says what is missing, or that nothing is. */
static void
describe(const struct session *s, struct buf *out)
{
	if (!is_early(s)) {
		if (s->start.tool == sign_in)
			buf_adds(out, "Signed in.");
		else
			buf_addf(out, "%s is connected.", s->config.host);
		buf_adds(out,
		    " If its tools are missing, reconnect this server or "
		    "start a new conversation.");
		return;
	}
	if (session_opening_waits(s) && s->sign_in != NULL) {
		buf_addf(out,
		    "%s requires you to sign in: %s. Its tools appear after "
		    "that.",
		    s->config.host, s->sign_in);
		return;
	}
	buf_addf(out, "Not connected to %s yet: ", s->config.host);
	if (s->helper_runs)
		buf_adds(out, "--auth-command has not answered");
	else if (s->renewal.setback != NULL)
		session_setback_text(&s->renewal.setback->facts, NULL, out);
	else
		buf_adds(out, "it has not answered initialize");
	buf_adds(out,
	    ". mcpsplice keeps trying; the tools appear when the server "
	    "answers.");
}

/* An answer that says how it is now, between these two raw parts, with more
 * words behind it. Owned by the caller. */
static struct frame *
tell(const struct session *s, struct span id, const char *before,
    const char *more, const char *behind)
{
	struct buf text, result;
	struct frame *f;

	buf_init(&text, 0);
	buf_init(&result, 0);
	describe(s, &text);
	buf_adds(&text, more);
	buf_adds(&result, before);
	codec_json_string(&result, buf_span(&text));
	buf_adds(&result, behind);
	f = msg_result(id, buf_str(&result));
	buf_free(&text);
	buf_free(&result);
	return f;
}

/* The list with the one tool. Owned by the caller. */
static struct frame *
list_tool(const struct session *s, struct span id)
{
	char
	    *before = xasprintf("{\"tools\":[{\"name\":\"%s\",\"description\":",
		s->start.tool);
	struct frame *f = tell(s, id, before, " Call this tool to check again.",
	    ",\"inputSchema\":{\"type\":\"object\",\"properties\":{}},"
	    "\"annotations\":{\"readOnlyHint\":true}}]}");

	free(before);
	return f;
}

/* The result of the tool. Owned by the caller. */
static struct frame *
call_tool(const struct session *s, struct span id)
{
	return tell(s, id, "{\"content\":[{\"type\":\"text\",\"text\":", "",
	    "}]}");
}

/* Has the server a tool with the name of ours? */
static bool
has_such_tool(const struct session *s)
{
	struct span tools = json_get(tools_list(s->tools), "tools"), key, tool;
	size_t at = 0;

	if (json_kind(tools) != '[')
		return false;
	while (json_next(tools, &at, &key, &tool))
		if (json_string_is(json_get(tool, "name"), s->start.tool))
			return true;
	return false;
}

/* Is this a call of our tool that can be answered now? If nobody is asked to
 * sign in at present, the call has to begin a renewal first. */
static bool
is_call(const struct session *s, const struct frame *request)
{
	return json_key_is(request->method, "tools/call") &&
	    json_string_is(json_get(request->params, "name"), s->start.tool) &&
	    (is_early(s) || !has_such_tool(s)) &&
	    !(s->start.tool == sign_in && phase_permits(s, PHASE_REVIVES));
}

/* The same for the stand-in only. */
static struct frame *
stand_in_answer(const struct session *s, const struct frame *request)
{
	const struct list_kind *k = list_kind_of(request);
	struct span caps;

	if (is_call(s, request))
		return call_tool(s, request->id);
	if (is_early(s) && json_key_is(request->method, "tools/list"))
		return list_tool(s, request->id);
	caps = is_early(s) ?
	    no_span :
	    json_get(s->handshake.answer->result, "capabilities");
	if (k == NULL || json_get(caps, era_families[k->family].name).p != NULL)
		return NULL;
	return msg_result(request->id, k->empty);
}

struct frame *
session_early_answer(struct session *s, struct frame *request)
{
	const struct list_kind *k;

	/* The server is told the level when it is there. */
	if (is_early(s) && json_key_is(request->method, "logging/setLevel") &&
	    settings_learn(&s->settings, request))
		return msg_result(request->id, "{}");
	if (s->start.tool != NULL)
		return stand_in_answer(s, request);
	if (!is_early(s) || (k = list_kind_of(request)) == NULL ||
	    !list_begins(request))
		return NULL;
	if (k == list_kinds && s->start.tools.n > 0)
		return msg_result(request->id, buf_str(&s->start.tools));
	if (alarm_is_set(&s->alarms, ALARM_EARLY_START))
		return NULL;
	/* The client of the former start had gone before it asked for them. */
	if (k == list_kinds) {
		choose_tool(s);
		return list_tool(s, request->id);
	}
	return msg_result(request->id, k->empty);
}

void
session_answer_early(struct session *s)
{
	struct call *c, *next;
	struct frame *answer;

	if (s->start.tool == NULL && !is_early(s))
		return;
	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		answer = session_early_answer(s, c->frame);
		if (answer != NULL)
			session_answer(s, c, answer);
		frame_unref(answer);
	}
}

/* --- the start --- */

/* An event about the start of this client. */
static struct event
start_event(const struct session *s, enum event_kind kind)
{
	struct span params = s->handshake.request->params;

	return (struct event){ .kind = kind,
		.version = json_get(params, "protocolVersion"),
		.capabilities = json_get(params, "capabilities") };
}

void
session_begin_start(struct session *s)
{
	struct event e;

	buf_free(&s->start.result);
	buf_free(&s->start.tools);
	s->start.tool = NULL;
	s->start.asked = false;
	/* A host gives both together as much time as one. */
	if (!s->start.of_probe || s->start.probed ||
	    s->now - s->start.began_at >= BOUND_START_MS)
		s->start.began_at = s->now;
	s->start.of_probe = s->start.probed;
	session_mind_start(s);
	if (s->config.cached_start && s->config.start != START_WAIT &&
	    s->config.start != START_ONCE) {
		e = start_event(s, ACTION_LOAD_START);
		events_add(&s->events, &e);
	}
}

void
session_cached_start(struct session *s, const struct event *in)
{
	if (!phase_permits(s, PHASE_FIRST) || in->result.n == 0)
		return;
	buf_addspan(&s->start.result, in->result);
	buf_addspan(&s->start.tools, in->tools);
	session_mind_start(s);
}

void
session_save_start(struct session *s)
{
	struct event e;

	if (!s->config.cached_start || s->handshake.answer == NULL ||
	    is_own_handshake(s))
		return;
	e = start_event(s, ACTION_SAVE_START);
	e.result = s->handshake.answer->result;
	e.tools = tools_list(s->tools);
	events_add(&s->events, &e);
}

/* --- when --- */

/* Hosts that give up after 3 s; and those that wait for a sign-in, and read the
 * tools but once. The latter may have more behind the name. */
static const char *const hasty[] = { "@cline/", "Cline", "cline", NULL };
static const char *const patient[] = { "codex-mcp-client",
	"continue-cli-client", "continue-client", "langchain-mcp-adapter",
	"qwen-cli-mcp-client", NULL };

/* Does the client call itself by the beginning of one of these names? Most give
 * a name that says nothing of them. */
static bool
is_one_of(const struct session *s, const char *const *names)
{
	struct span info = json_get(s->handshake.request->params, "clientInfo"),
		    name = json_get(info, "name");

	for (; *names != NULL; names++)
		if (json_kind(name) == '"' && name.n > strlen(*names) &&
		    memcmp(name.p + 1, *names, strlen(*names)) == 0)
			return true;
	return false;
}

/* A modern client waits for the answer to server/discover, and not for long. */
static int64_t
early_enough(const struct session *s, int64_t ms)
{
	if (s->start.probed)
		ms = alarm_sooner(ms, BOUND_KNOWN_START_MS);
	if (is_one_of(s, hasty))
		ms = alarm_sooner(ms, BOUND_HASTY_START_MS);
	return ms;
}

/* Returns the time at which the client is answered without the server, or
 * ALARM_NEVER. */
static int64_t
early_at(const struct session *s)
{
	int64_t ms;

	if (!phase_permits(s, PHASE_FIRST) || is_own_handshake(s) ||
	    s->config.start == START_WAIT || s->config.start == START_ONCE)
		return ALARM_NEVER;
	if (s->start.result.n > 0)
		ms = s->config.start == START_INSTANT ? 0 :
							BOUND_KNOWN_START_MS;
	else if (has_eof(s))
		return ALARM_NEVER; /* a script is patient */
	else if (session_opening_waits(s) && is_one_of(s, patient) &&
	    s->config.start != START_STAND_IN)
		ms = BOUND_RETRY_MS;
	else
		ms = BOUND_START_MS;
	return s->start.began_at + early_enough(s, ms);
}

void
session_mind_start(struct session *s)
{
	if (!is_early(s)) /* else the alarm is that of lists that wait */
		alarm_set(&s->alarms, ALARM_EARLY_START, early_at(s));
}

/* Do these facts say that the server is away? A server that refuses or that
 * cannot be trusted is not. */
static bool
is_away(const struct facts *f)
{
	switch (f->ending) {
	case ENDING_CONNECT:
	case ENDING_RESOLVE:
	case ENDING_CUT:
	case ENDING_IDLE:
		return true;
	case ENDING_COMPLETE:
		return f->status == 429 || f->status >= 500;
	default:
		return false;
	}
}

int64_t
session_start_fails_at(const struct session *s, const struct facts *f)
{
	if (!phase_permits(s, PHASE_FIRST) || s->start.result.n > 0 ||
	    s->config.start == START_WAIT || s->config.start == START_STAND_IN)
		return ALARM_NEVER;
	if (f->ending != ENDING_RESOLVE && !f->conn_refused &&
	    (f->ending != ENDING_CONNECT || has_eof(s)) &&
	    (s->config.start != START_ONCE || !is_away(f)))
		return ALARM_NEVER;
	/* as with http at a port of https: a try will not help */
	if (s->config.start == START_ONCE && f->ending == ENDING_CUT &&
	    f->remedy.n > 0)
		return s->now;
	return s->start.began_at + early_enough(s, BOUND_START_MS);
}

/* --- initialize is answered --- */

/* Returns the client's initialize, if it is under way, or NULL. */
static struct call *
waiting_initialize(const struct session *s)
{
	struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (c->attempt != NULL && c->attempt->kind == ATTEMPT_OPEN)
			return c;
	return NULL;
}

/* The client's initialize is not answered by its attempt any more, which goes
 * on as that of a renewal. */
static void
begin_renewal(struct session *s, struct call *c)
{
	session_call_state(s, c, CALL_RUNNING);
	keep_frame(&c->refusal, NULL);
	/* What the server said of itself comes after the answer, unless the
	 * try failed. */
	if (c->attempt->live)
		s->handshake.opener = c->attempt;
	else
		kept_clear(&s->early);
	c->attempt->call = NULL;
	c->attempt = NULL;
	session_keep_ready(s);
	s->handshake.by = HANDSHAKE_EARLY;
	s->renewal.why = "the server took too long at the start";
	s->renewal.began_at = s->renewal.window_at = s->now;
	session_phase(s, PHASE_RENEWING,
	    session_opening_waits(s) ? ALARM_NEVER :
				       s->now + session_renew_window(s));
}

/* Is this the end of an initialize whose client waits for nothing better? The
 * client of a server that was never seen gets the stand-in when its time has
 * come, and before that only if the server says when it is ready. */
static bool
is_final(const struct session *s, const struct facts *f)
{
	return !is_away(f) ||
	    (s->start.result.n == 0 && s->config.start != START_STAND_IN &&
		!session_opening_waits(s) &&
		!(verdict_is_for_now(f->status) && f->retry_after_ms > 0));
}

bool
session_start_early(struct session *s, const struct facts *f)
{
	struct call *c = waiting_initialize(s);
	struct frame *answer;
	struct kept_facts *k;
	int64_t at = early_at(s);

	alarm_set(&s->alarms, ALARM_EARLY_START, ALARM_NEVER);
	if (at == ALARM_NEVER || c == NULL || (f != NULL && is_final(s, f)))
		return false;
	if (s->start.result.n == 0) {
		choose_tool(s);
		stand_in(s, c->frame, &s->start.result);
	}
	if (f != NULL) {
		k = facts_keep(f); /* f may be the one before */
		facts_free(s->renewal.setback);
		s->renewal.setback = k;
	}
	s->start.asked = f == NULL &&
	    s->config.start ==
		(s->start.tool != NULL ? START_STAND_IN : START_INSTANT);
	session_log(s, s->start.asked ? LEVEL_INFO : LEVEL_WARN,
	    s->start.tool != NULL ?
		"no session with %s yet: until then, the client sees one tool "
		"that says why" :
		"no session with %s yet: answering the client from the startup "
		"cache; calls wait",
	    s->config.host);
	answer = msg_result(c->frame->id, buf_str(&s->start.result));
	session_learn_families(s, answer);
	begin_renewal(s, c);
	session_answer(s, c, answer);
	frame_unref(answer);
	session_answer_early(s);
	alarm_set(&s->alarms, ALARM_EARLY_START,
	    s->now + early_enough(s, BOUND_KNOWN_START_MS));
	return true;
}
