/*
 * The two eras: each message of data/era-golden.txt becomes what stands there,
 * byte for byte; no method is missing there. What is not a message (which way
 * a method goes, what a client declares, versions) is checked here.
 */
#include "config.h"

#include "core/era/era.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/edit.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "unit/unit.h"

#define META                                                                   \
	"\"" META_PREFIX "protocolVersion\":\"2026-07-28\","                   \
	"\"" META_PREFIX "clientInfo\":{\"name\":\"c\",\"version\":\"1\"},"    \
	"\"" META_PREFIX "clientCapabilities\":{}"
#define SERVER "{\"name\":\"s\",\"version\":\"1\"}"

enum { ROWS_MAX = 400, OPERATION_BYTES = 32 };

struct row {
	const char *title; /* operation and argument */
	char *in, *out;    /* out NULL: the same frame */
};

static struct row rows[ROWS_MAX];
static int n_rows;
static char *text;

static const struct span absent = { NULL, 0 };

static char *
read_golden(void)
{
	const char *srcdir = getenv("srcdir");
	char *path = xasprintf("%s/data/era-golden.txt",
	    srcdir == NULL ? "." : srcdir);
	FILE *f = fopen(path, "r");
	char piece[4096];
	struct buf b;
	size_t n;

	if (f == NULL) {
		fprintf(stderr, "%s: cannot open\n", path);
		exit(1);
	}
	buf_init(&b, 0);
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		buf_add(&b, piece, n);
	fclose(f);
	free(path);
	return buf_take(&b);
}

/* With the two abbreviations of the file written out. */
static char *
expand(const char *s)
{
	struct buf b;

	buf_init(&b, 0);
	while (*s != '\0') {
		if (strncmp(s, "@META", 5) == 0) {
			buf_adds(&b, META);
			s += 5;
		} else if (strncmp(s, "@/", 2) == 0) {
			buf_adds(&b, META_PREFIX);
			s += 2;
		} else {
			buf_addc(&b, *s++);
		}
	}
	return buf_take(&b);
}

static void
add_line(char *line)
{
	struct row *r = &rows[n_rows];

	if (*line == '\0' || *line == '#')
		return;
	if (strncmp(line, "< ", 2) == 0) {
		r->in = expand(line + 2);
	} else if (strncmp(line, "> ", 2) == 0) {
		r->out = expand(line + 2);
		n_rows++;
	} else if (strcmp(line, "=") == 0) {
		n_rows++;
	} else {
		r->title = line;
	}
}

static void
load(void)
{
	char *line, *next;

	text = read_golden();
	for (line = text; *line != '\0' && n_rows < ROWS_MAX; line = next) {
		next = strchr(line, '\n');
		*next++ = '\0';
		add_line(line);
	}
}

static void
unload(void)
{
	int i;

	for (i = 0; i < n_rows; i++) {
		free(rows[i].in);
		free(rows[i].out);
	}
	free(text);
}

/* Operations. Those that make a frame out of a frame: */

static struct frame *
request_to_modern(struct frame *f, struct span level)
{
	return era_request_to_modern(f, span_of(META), level);
}

static struct frame *
request_to_legacy(struct frame *f, struct span arg)
{
	(void)arg;
	return era_request_to_legacy(f);
}

static struct frame *
answer_to_modern(struct frame *f, struct span method)
{
	return era_answer_to_modern(f, method, span_of(SERVER));
}

static struct frame *
nameless_to_modern(struct frame *f, struct span method)
{
	return era_answer_to_modern(f, method, absent);
}

static struct frame *
answer_to_legacy(struct frame *f, struct span method)
{
	return era_answer_to_legacy(f, method, false);
}

static struct frame *
wrapped_to_legacy(struct frame *f, struct span method)
{
	return era_answer_to_legacy(f, method, true);
}

static struct frame *
notification_to_legacy(struct frame *f, struct span arg)
{
	(void)arg;
	return era_notification_to_legacy(f);
}

static const struct {
	const char *name;
	struct frame *(*run)(struct frame *, struct span);
} frame_operations[] = {
	{ "request-to-modern", request_to_modern },
	{ "request-to-legacy", request_to_legacy },
	{ "answer-to-modern", answer_to_modern },
	{ "nameless-to-modern", nameless_to_modern },
	{ "answer-to-legacy", answer_to_legacy },
	{ "wrapped-to-legacy", wrapped_to_legacy },
	{ "notification-to-modern", era_notification_to_modern },
	{ "notification-to-legacy", notification_to_legacy },
};

static struct frame *
parsed(const char *s)
{
	struct frame *f = frame_copy(span_of(s));

	ck_assert_msg(msg_parse(f, 300) == MSG_OK, "%s", s);
	return f;
}

/* What was made is located as if it had come from outside. */
static void
check_located(const struct frame *f)
{
	struct frame *again = frame_copy(f->text);

	ck_assert_int_eq(msg_parse(again, 300), MSG_OK);
	ck_assert_int_eq(f->kind, again->kind);
	ck_assert(span_eq(f->id, again->id));
	ck_assert(span_eq(f->method, again->method));
	ck_assert(span_eq(f->params, again->params));
	ck_assert(span_eq(f->result, again->result));
	ck_assert(span_eq(f->error, again->error));
	ck_assert_int_eq(f->text.p[f->text.n], '\n');
	frame_unref(again);
}

static void
check_text(const struct row *r, struct span got)
{
	char *s = xstrndup(got.p, got.n);

	ck_assert_msg(strcmp(s, r->out) == 0,
	    "%s\nin:   %s\nwant: %s\ngot:  %s", r->title, r->in, r->out, s);
	free(s);
}

static bool
run_frame_operation(const struct row *r, const char *name, struct span arg)
{
	struct frame *f, *made;
	int i;

	for (i = 0; i < COUNT(frame_operations); i++) {
		if (strcmp(frame_operations[i].name, name) == 0)
			break;
	}
	if (i == COUNT(frame_operations))
		return false;
	f = parsed(r->in);
	made = frame_operations[i].run(f, arg);
	check_located(made);
	if (r->out == NULL) {
		ck_assert_msg(made == f, "%s: %s", r->title, r->in);
		ck_assert_uint_eq(f->refs, 2);
	} else {
		check_text(r, made->text);
		ck_assert_uint_eq(made->refs, 1);
	}
	frame_unref(made);
	frame_unref(f);
	return true;
}

/* Those that append text, or make a frame of values: */

static void
add_frame(struct buf *out, struct frame *f)
{
	if (f == NULL) {
		buf_adds(out, "none");
		return;
	}
	check_located(f);
	buf_addspan(out, f->text);
	frame_unref(f);
}

static void
client_meta(struct buf *out, struct span in, struct span arg)
{
	(void)arg;
	buf_addc(out, '{');
	era_client_meta(out, in);
	buf_addc(out, '}');
}

static void
initialize(struct buf *out, struct span in, struct span arg)
{
	(void)arg;
	add_frame(out,
	    era_initialize(span_of("\"i\""), json_get(in, "info"),
		json_get(in, "capabilities"), "9.9"));
}

static void
discover_result(struct buf *out, struct span in, struct span arg)
{
	(void)arg;
	era_discover_result(out, in);
}

static void
initialize_result(struct buf *out, struct span in, struct span wanted)
{
	era_initialize_result(out, in, wanted, "h.example");
}

static void
question(struct buf *out, struct span in, struct span version)
{
	add_frame(out, era_question(in, span_of("\"q\""), version, "uuid-1"));
}

static void
input_request(struct buf *out, struct span in, struct span arg)
{
	struct frame *f = frame_copy(in);

	(void)arg;
	ck_assert_int_eq(msg_parse(f, 20), MSG_OK);
	era_input_request(out, f);
	frame_unref(f);
}

static void
retry(struct buf *out, struct span in, struct span arg)
{
	struct frame *f;

	(void)arg;
	f = parsed("{\"jsonrpc\":\"2.0\",\"id\":\"r1\",\"method\":\"tools/"
		   "call\",\"params\":{\"name\":\"n\",\"inputResponses\":{"
		   "\"old\":{}},\"requestState\":\"old\",\"_meta\":{" META
		   "}}}");
	add_frame(out,
	    era_retry(f, span_of("\"r2\""), json_get(in, "responses"),
		json_get(in, "state")));
	frame_unref(f);
}

static void
input_required(struct buf *out, struct span in, struct span arg)
{
	struct buf state;

	(void)arg;
	buf_init(&state, 0);
	json_string(json_get(in, "state"), &state);
	add_frame(out,
	    era_input_required(span_of("\"a\""), json_get(in, "requests"),
		buf_span(&state)));
	buf_free(&state);
}

static void
discover(struct buf *out, struct span in, struct span arg)
{
	(void)in;
	(void)arg;
	add_frame(out, era_discover(span_of("\"d\""), span_of(META)));
}

static void
listen_to(struct buf *out, struct span in, struct span arg)
{
	(void)arg;
	add_frame(out, era_listen(span_of("\"d\""), span_of(META), in));
}

static const struct {
	const char *name;
	void (*run)(struct buf *, struct span, struct span);
} text_operations[] = {
	{ "client-meta", client_meta },
	{ "initialize", initialize },
	{ "discover-result", discover_result },
	{ "initialize-result", initialize_result },
	{ "question", question },
	{ "input-request", input_request },
	{ "retry", retry },
	{ "input-required", input_required },
	{ "discover", discover },
	{ "listen", listen_to },
};

static bool
run_text_operation(const struct row *r, const char *name, struct span arg)
{
	struct buf out;
	int i;

	for (i = 0; i < COUNT(text_operations); i++) {
		if (strcmp(text_operations[i].name, name) == 0)
			break;
	}
	if (i == COUNT(text_operations) || r->out == NULL)
		return false;
	buf_init(&out, 0);
	text_operations[i].run(&out, span_of(r->in), arg);
	check_text(r, buf_span(&out));
	buf_free(&out);
	return true;
}

START_TEST(test_golden)
{
	const struct row *r = &rows[_i];
	char name[OPERATION_BYTES];
	struct span arg = absent;
	size_t n = strcspn(r->title, " ");

	ck_assert_uint_lt(n, sizeof name);
	memcpy(name, r->title, n);
	name[n] = '\0';
	if (r->title[n] == ' ')
		arg = span_of(r->title + n + 1);
	ck_assert_msg(run_frame_operation(r, name, arg) ||
		run_text_operation(r, name, arg),
	    "unknown: %s", r->title);
}
END_TEST

/* The methods, which way they go, and whether their translation must be among
 * the golden rows. */
static const struct {
	const char *method;
	enum era_way to_modern, to_legacy;
	bool asks, cacheable;
	const char *golden; /* u, d: up and down, as a request; U, D: its
			     * result; n: a notification of a server */
} methods[] = {
	{ "completion/complete", ERA_BOTH, ERA_BOTH, false, false, "udUD" },
	{ "initialize", ERA_LOCAL, ERA_NONE, false, false, "" },
	{ "logging/setLevel", ERA_LOCAL, ERA_NONE, false, false, "" },
	{ "logging\\/setLevel", ERA_LOCAL, ERA_NONE, false, false, "" },
	{ "ping", ERA_LOCAL, ERA_NONE, false, false, "" },
	{ "prompts/get", ERA_BOTH, ERA_BOTH, true, false, "udUD" },
	{ "prompts/list", ERA_BOTH, ERA_BOTH, false, true, "udUD" },
	{ "resources/list", ERA_BOTH, ERA_BOTH, false, true, "udUD" },
	{ "resources/read", ERA_BOTH, ERA_BOTH, true, true, "udUD" },
	{ "resources/subscribe", ERA_LOCAL, ERA_NONE, false, false, "" },
	{ "resources/templates/list", ERA_BOTH, ERA_BOTH, false, true, "udUD" },
	{ "resources/unsubscribe", ERA_LOCAL, ERA_NONE, false, false, "" },
	{ "server/discover", ERA_BOTH, ERA_LOCAL, false, true, "D" },
	{ "subscriptions/listen", ERA_BOTH, ERA_LOCAL, false, false, "" },
	{ "tasks/cancel", ERA_NONE, ERA_NONE, false, false, "" },
	{ "tasks/get", ERA_NONE, ERA_NONE, false, false, "" },
	{ "tasks/list", ERA_NONE, ERA_NONE, false, false, "" },
	{ "tasks/result", ERA_NONE, ERA_NONE, false, false, "" },
	{ "tasks/update", ERA_BOTH, ERA_NONE, false, false, "" },
	{ "tools/call", ERA_BOTH, ERA_BOTH, true, false, "udUD" },
	{ "tools/list", ERA_BOTH, ERA_BOTH, false, true, "udUD" },
	{ "tools\\u002flist", ERA_BOTH, ERA_BOTH, false, true, "" },
	{ "tools/lis", ERA_BOTH, ERA_BOTH, false, false, "" },
	{ "vendor/extra", ERA_BOTH, ERA_BOTH, false, false, "udUD" },
	{ "", ERA_BOTH, ERA_BOTH, false, false, "" },
	{ "notifications/cancelled", ERA_LOCAL, ERA_LOCAL, false, false, "n" },
	{ "notifications/initialized", ERA_LOCAL, ERA_NONE, false, false, "" },
	{ "notifications/progress", ERA_LOCAL, ERA_BOTH, false, false, "nd" },
	{ "notifications/roots/list_changed", ERA_LOCAL, ERA_BOTH, false, false,
	    "d" },
	{ "notifications/tasks/status", ERA_LOCAL, ERA_BOTH, false, false,
	    "n" },
	{ "notifications/vendor", ERA_BOTH, ERA_BOTH, false, false, "udn" },
	{ "notifications/message", ERA_BOTH, ERA_BOTH, false, false, "n" },
	{ "notifications/tools/list_changed", ERA_BOTH, ERA_BOTH, false, false,
	    "n" },
	{ "notifications/prompts/list_changed", ERA_BOTH, ERA_BOTH, false,
	    false, "n" },
	{ "notifications/resources/list_changed", ERA_BOTH, ERA_BOTH, false,
	    false, "n" },
	{ "notifications/resources/updated", ERA_BOTH, ERA_BOTH, false, false,
	    "n" },
	{ "notifications/elicitation/complete", ERA_BOTH, ERA_BOTH, false,
	    false, "n" },
};

START_TEST(test_way)
{
	struct span name = span_of(methods[_i].method);
	char *s = xasprintf("{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}",
	    methods[_i].method);
	struct frame *f = parsed(s);

	ck_assert_int_eq(era_to_modern(f), methods[_i].to_modern);
	ck_assert_int_eq(era_to_legacy(f), methods[_i].to_legacy);
	ck_assert_int_eq(era_may_ask(f->method), methods[_i].asks);
	ck_assert_int_eq(era_is_cacheable(f->method), methods[_i].cacheable);
	if (strchr(methods[_i].method, '\\') == NULL)
		ck_assert_int_eq(era_may_ask(name), methods[_i].asks);
	frame_unref(f);
	free(s);
}
END_TEST

/* Is there a row of this operation for this method? */
static bool
has_row(const char *operation, const char *method, bool answer)
{
	char *needle = answer ? xasprintf("%s %s", operation, method) :
				xasprintf("\"method\":\"%s\"", method);
	bool found = false;
	int i;

	for (i = 0; i < n_rows && !found; i++) {
		if (answer)
			found = strcmp(rows[i].title, needle) == 0;
		else
			found = strncmp(rows[i].title, operation,
				    strlen(operation)) == 0 &&
			    strstr(rows[i].in, needle) != NULL;
	}
	free(needle);
	return found;
}

START_TEST(test_complete)
{
	const char *method = methods[_i].method, *c;

	for (c = methods[_i].golden; *c != '\0'; c++) {
		if (*c == 'u')
			ck_assert(has_row("request-to-modern", method, false));
		else if (*c == 'd')
			ck_assert(has_row("request-to-legacy", method, false));
		else if (*c == 'U')
			ck_assert(has_row("answer-to-modern", method, true));
		else if (*c == 'D')
			ck_assert(has_row("answer-to-legacy", method, true));
		else
			ck_assert(has_row("notification-to-modern", method,
				      false) &&
			    has_row("notification-to-legacy", method, false));
	}
}
END_TEST

static const struct {
	const char *capabilities, *method, *params;
	bool want;
} declared[] = {
	{ "{\"sampling\":{}}", "sampling/createMessage", "{}", true },
	{ "{\"sampling\":{\"tools\":{}}}", "sampling/createMessage", "", true },
	{ "{\"sampling\":null}", "sampling/createMessage", "{}", false },
	{ "{\"sampling\":true}", "sampling/createMessage", "{}", false },
	{ "{\"roots\":{}}", "sampling/createMessage", "{}", false },
	{ "{\"roots\":{}}", "roots/list", "", true },
	{ "{\"roots\":{}}", "roots\\/list", "", true },
	{ "{}", "roots/list", "", false },
	{ "", "roots/list", "", false },
	{ "[]", "roots/list", "", false },
	{ "{\"roots\":{}}", "ping", "", false },
	{ "{\"elicitation\":{}}", "elicitation/create", "{}", true },
	{ "{\"elicitation\":{}}", "elicitation/create", "", true },
	{ "{\"elicitation\":{}}", "elicitation/create", "{\"mode\":\"form\"}",
	    true },
	{ "{\"elicitation\":{}}", "elicitation/create", "{\"mode\":\"url\"}",
	    false },
	{ "{\"elicitation\":{\"form\":{}}}", "elicitation/create", "{}", true },
	{ "{\"elicitation\":{\"form\":{}}}", "elicitation/create",
	    "{\"mode\":\"url\"}", false },
	{ "{\"elicitation\":{\"url\":{}}}", "elicitation/create",
	    "{\"mode\":\"url\"}", true },
	{ "{\"elicitation\":{\"url\":{}}}", "elicitation/create", "{}", false },
	{ "{\"elicitation\":{\"url\":{}}}", "elicitation/create",
	    "{\"mode\":\"f\\u006frm\"}", false },
	{ "{\"elicitation\":{\"url\":{},\"form\":{}}}", "elicitation/create",
	    "{\"mode\":\"f\\u006frm\"}", true },
	{ "{\"elicitation\":{\"url\":null}}", "elicitation/create",
	    "{\"mode\":\"url\"}", false },
	{ "{\"elicitation\":{\"url\":null}}", "elicitation/create", "{}",
	    true },
	{ "{\"elicitation\":{\"x\":{}}}", "elicitation/create",
	    "{\"mode\":\"x\"}", false },
	{ "{\"elicitation\":{}}", "elicitation/create", "{\"mode\":5}", false },
	{ "{\"elicitation\":[]}", "elicitation/create", "{}", false },
	{ "{}", "elicitation/create", "{}", false },
};

START_TEST(test_declares)
{
	ck_assert_int_eq(era_declares(span_of(declared[_i].capabilities),
			     span_of(declared[_i].method),
			     span_of(declared[_i].params)),
	    declared[_i].want);
}
END_TEST

/* Every row of the file was read. */
START_TEST(test_rows)
{
	ck_assert_int_gt(n_rows, 250);
	ck_assert_int_lt(n_rows, ROWS_MAX);
}
END_TEST

static const struct {
	const char *result;
	bool is, modern;
} discovered[] = {
	{ "{\"supportedVersions\":[\"2026-07-28\"]}", true, true },
	{ "{\"supportedVersions\":[\"2025-11-25\",\"2026-07-28\"]}", true,
	    true },
	{ "{\"supportedVersions\":[\"2024-11-05\"]}", true, false },
	{ "{\"supportedVersions\":[\"2026-07-2\\u0038\",1]}", true, true },
	{ "{\"supportedVersions\":[\"2030-01-01\"]}", true, false },
	{ "{\"supportedVersions\":[]}", true, false },
	{ "{\"supportedVersions\":\"2026-07-28\"}", false, false },
	{ "{\"supportedVersions\":{\"a\":\"2026-07-28\"}}", false, false },
	{ "{}", false, false },
	{ "null", false, false },
};

START_TEST(test_discovered)
{
	struct span result = span_of(discovered[_i].result);
	bool modern = true;

	ck_assert_int_eq(era_discovered(result, &modern), discovered[_i].is);
	ck_assert_int_eq(modern, discovered[_i].modern);
}
END_TEST

static const struct {
	const char *wanted, *text, *best;
} named[] = {
	{ "\"2025-11-25\"", "2024-11-05, 2025-06-18, 2025-03-26",
	    "2025-06-18" },
	{ "\"2025-11-25\"", "2025-11-25 and 2026-07-28", NULL },
	{ "\"2025-03-26\"", "[\"2025-11-25\",\"2025-06-18\",\"2024-11-05\"]",
	    "2024-11-05" },
	{ "\"2024-11-05\"", "2025-11-25 2025-06-18", "2025-06-18" },
	{ "\"2025-1\\u0031-25\"", "2025-11-25", NULL },
	{ "\"2027-01-01\"", "2025-03-26 2025-11-25", "2025-11-25" },
	{ "5", "2025-03-26", "2025-03-26" },
	{ "", "", NULL },
};

START_TEST(test_named)
{
	const char *best = era_named_version(span_of(named[_i].text),
	    span_of(named[_i].wanted));

	ck_assert_pstr_eq(best, named[_i].best);
}
END_TEST

START_TEST(test_levels)
{
	static const char *const levels[] = { "\"debug\"", "\"info\"",
		"\"notice\"", "\"w\\u0061rning\"", "\"error\"", "\"critical\"",
		"\"alert\"", "\"emergency\"" };
	static const char *const none[] = { "", "\"", "\"\"", "5", "null",
		"\"Info\"", "info", "\"warn\"" };
	int i;

	for (i = 0; i < COUNT(levels); i++)
		ck_assert_int_eq(era_level(span_of(levels[i])), i);
	for (i = 0; i < COUNT(none); i++)
		ck_assert_int_eq(era_level(span_of(none[i])), -1);
}
END_TEST

static void
check_meta(const char *params, const char *want)
{
	char *s = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\""
			    "%s%s}",
	    *params == '\0' ? "" : ",\"params\":", params);
	struct frame *f = parsed(s);
	struct span got = era_request_version(f);

	if (want == NULL) {
		ck_assert_ptr_null(got.p);
	} else {
		ck_assert(span_is(got, want));
	}
	frame_unref(f);
	free(s);
}

START_TEST(test_meta)
{
	static const char call[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
				   "\"m\",\"params\":{\"_meta\":{" META "}}}";
	struct frame *f = parsed(call);

	ck_assert(span_is(era_meta(f, META_CAPABILITIES), "{}"));
	ck_assert_ptr_null(era_meta(f, META_LEVEL).p);
	ck_assert_ptr_null(era_meta(f, META_PREFIX "").p);
	frame_unref(f);
	check_meta("{\"_meta\":{" META "}}", "\"2026-07-28\"");
	check_meta("{\"_meta\":{\"" META_PREFIX "protocolVersion\":5}}", "5");
	check_meta("{\"_meta\":{\"io.modelcontextprotocol\\/protocolVersion\":"
		   "null}}",
	    "null");
	check_meta("{\"_meta\":{\"protocolVersion\":\"2026-07-28\"}}", NULL);
	check_meta("{\"" META_PREFIX "protocolVersion\":5}", NULL);
	check_meta("{\"_meta\":5}", NULL);
	check_meta("[1]", NULL);
	check_meta("null", NULL);
	check_meta("", NULL);
}
END_TEST

static void
check_wraps(const char *schema)
{
	char *s = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"
			    "{\"tools\":[{\"outputSchema\":%s}]}}",
	    schema);
	struct frame *f = parsed(s);
	struct frame *made = era_answer_to_legacy(f, span_of("tools/list"),
	    false);
	char *shown = xstrndup(made->text.p, made->text.n);
	bool wrapped = strstr(shown, "\"properties\":{\"result\":") != NULL;

	ck_assert_msg(era_wraps(span_of(schema)) == wrapped, "%s", schema);
	free(shown);
	frame_unref(made);
	frame_unref(f);
	free(s);
}

/* era_wraps says of each schema what the list of tools does with it. */
START_TEST(test_wraps)
{
	static const char *const schemas[] = { "{\"type\":\"object\"}",
		"{\"type\":\"array\"}", "{}", "true", "false", "null", "5",
		"\"x\"", "[]", "{\"$id\":\"x\",\"$recursiveRef\":\"#\"}",
		"{\"$id\":\"#x\"}", "{\"$recursiveRef\":\"#\"}",
		"{\"not\":{\"$id\":\"x\"}}", "{\"not\":{\"$id\":\"#x\"}}",
		"{\"$schema\":\"s\",\"type\":\"string\"}" };
	struct span none = absent;
	int i;

	ck_assert(!era_wraps(none));
	for (i = 0; i < COUNT(schemas); i++)
		check_wraps(schemas[i]);
}
END_TEST

START_TEST(test_server_info)
{
	struct buf b;

	buf_init(&b, 0);
	era_server_info(&b, span_of("{\"serverInfo\":null}"));
	era_server_info(&b, span_of("{\"serverInfo\":\"x\"}"));
	era_server_info(&b, span_of("{}"));
	era_server_info(&b, absent);
	ck_assert_uint_eq(b.n, 0);
	era_server_info(&b, span_of("{\"serverInfo\":{ \"name\":\"s\"}}"));
	ck_assert(span_is(buf_span(&b), "{ \"name\":\"s\"}"));
	buf_free(&b);
}
END_TEST

/* Without answers the retry has no such member, not an empty one. */
START_TEST(test_retry_without)
{
	struct frame *f = parsed("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
				 "\"m\",\"params\":{\"a\":1}}");
	struct frame *made;

	made = era_retry(f, span_of("2"), span_of(""), absent);
	ck_assert(span_is(made->params, "{\"a\":1}"));
	check_located(made);
	frame_unref(made);
	frame_unref(f);
}
END_TEST

/* A method that was copied has no quotes around it to look at. */
START_TEST(test_copied_method)
{
	char *copy = xstrdup("tools\\/call");

	ck_assert(era_may_ask(span_of(copy)));
	copy[strlen(copy) - 1] = '\\';
	ck_assert(!era_may_ask(span_of(copy)));
	free(copy);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("era");
	TCase *t = tcase_create("era");
	int status;

	load();
	tcase_add_loop_test(t, test_golden, 0, n_rows);
	tcase_add_loop_test(t, test_complete, 0, COUNT(methods));
	tcase_add_loop_test(t, test_way, 0, COUNT(methods));
	tcase_add_loop_test(t, test_declares, 0, COUNT(declared));
	tcase_add_loop_test(t, test_discovered, 0, COUNT(discovered));
	tcase_add_test(t, test_rows);
	tcase_add_loop_test(t, test_named, 0, COUNT(named));
	tcase_add_test(t, test_levels);
	tcase_add_test(t, test_meta);
	tcase_add_test(t, test_wraps);
	tcase_add_test(t, test_server_info);
	tcase_add_test(t, test_retry_without);
	tcase_add_test(t, test_copied_method);
	suite_add_tcase(s, t);
	status = unit_run(s);
	unload();
	return status;
}
