/* Both ends of the pipe between a proxy and its login process. */
#include "config.h"

#include "auth/login_process.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "io/child.h"

struct login_process {
	struct child *child;
	struct login_process_ops ops;
	void *arg;
	struct buf line;   /* the last, incomplete line */
	struct buf errors; /* the beginning of its stderr */
	struct record record;
	enum login_end end;
	char *why;
	int64_t again_ms; /* wait before the next try; -1: not known */
	bool ended, has_record;
};

/* --- names used in the messages --- */

static const char *const reasons[] = { "none", "expired", "rejected", "scope" };
static const char *const ends[] = { "done", "person", "later", "failed",
	"unreached" };
static const char *const levels[] = { "error", "warn", "info", "debug" };

/* Returns the index of text in a list of n; otherwise for any other text. */
static unsigned
word_of(const char *text, const char *const *list, unsigned n,
    unsigned otherwise)
{
	size_t i = string_index(text, list, n);

	return i < n ? (unsigned)i : otherwise;
}

static void
set_bool(struct json_object *o, const char *name, bool value)
{
	document_put(o, name, json_object_new_boolean(value));
}

static void
set_record(struct json_object *o, const struct record *r)
{
	struct json_object *json;
	const char *why;
	struct buf text = { 0 };

	record_print(r, &text);
	json = document_parse(buf_span(&text), &why);
	buf_wipe(&text);
	if (json != NULL)
		document_put(o, "record", json);
}

/* Reads the member "record". Returns false if there is none. */
static bool
get_record(struct json_object *o, struct record *r)
{
	struct json_object *json;
	const char *why;
	struct buf text = { 0 };
	int status;

	if (!json_object_object_get_ex(o, "record", &json))
		return false;
	document_print(json, &text);
	status = record_parse(r, buf_span(&text), &why);
	buf_wipe(&text);
	return status == 0;
}

static void
say(struct buf *out, struct json_object *o)
{
	document_print(o, out);
	buf_addc(out, '\n');
	json_object_put(o);
}

/* --- the proxy's side --- */

static void
add_word(struct json_object *list, const char *word)
{
	struct buf text = { 0 };

	codec_base64url(&text, span_of(word));
	document_append(list, buf_str(&text));
	buf_wipe(&text);
}

static void
print_request(struct buf *out, const struct login_process_request *r)
{
	struct json_object *o = document_new();
	struct json_object *argv = document_new_list();
	size_t i;

	for (i = 0; r->argv[i] != NULL; i++)
		add_word(argv, r->argv[i]);
	document_put(o, "argv", argv);
	document_set(o, "reason", reasons[r->reason]);
	set_bool(o, "person", r->interactive);
	if (r->challenge != NULL && strlen(r->challenge) <= BOUND_HEADER_BYTES)
		document_set(o, "challenge", r->challenge);
	document_set(o, "rejected", r->rejected);
	document_set(o, "peer", r->peer);
	if (r->record != NULL)
		set_record(o, r->record);
	say(out, o);
}

static void
take_line(struct login_process *a, struct span text)
{
	const char *why;
	struct json_object *o = document_parse(text, &why);

	if (o == NULL) {
		log_debug("the login process wrote something other than JSON");
	} else if (document_has(o, "log")) {
		log_put((enum log_level)word_of(document_text(o, "log"), levels,
			    4, LEVEL_DEBUG),
		    "sign-in: %s", document_text(o, "text"));
	} else if (document_has(o, "url")) {
		a->ops.where(document_text(o, "url"), document_text(o, "code"),
		    a->arg);
	} else if (document_has(o, "end")) {
		a->ended = true;
		a->end = (enum login_end)word_of(document_text(o, "end"), ends,
		    5, LOGIN_FAILED);
		string_set(&a->why, document_text(o, "why"));
		a->again_ms = document_number(o, "again");
		a->has_record = get_record(o, &a->record);
	}
	json_object_put(o);
}

static void
on_output(const char *p, size_t n, void *arg)
{
	struct login_process *a = arg;
	const char *end;
	size_t part;

	while (n > 0) {
		end = memchr(p, '\n', n);
		part = end == NULL ? n : (size_t)(end - p);
		buf_add(&a->line, p, part);
		if (end == NULL)
			return;
		take_line(a, buf_span(&a->line));
		buf_wipe(&a->line);
		p += part + 1;
		n -= part + 1;
	}
}

/* Keeps the first BOUND_NAME_BYTES bytes of stderr. */
static void
on_errors(const char *p, size_t n, void *arg)
{
	struct login_process *a = arg;
	size_t room = BOUND_NAME_BYTES - a->errors.n;

	buf_add(&a->errors, p, n < room ? n : room);
}

/* Handles a login process that ended without an answer. Its stderr may tell
 * why, for example if the dynamic linker or a broken configuration file ended
 * it. */
static void
give_up(struct login_process *a, enum child_end end, int value)
{
	struct span said = buf_span(&a->errors);
	char *how = end == CHILD_TOO_LARGE ? xstrdup("wrote too much") :
					     child_fate(end, value);
	struct buf words = { 0 };

	while (said.n > 0 && said.p[said.n - 1] == '\n')
		said.n--;
	codec_visible(&words, said, BOUND_NAME_BYTES);
	a->end = LOGIN_LATER;
	a->why = xasprintf("the login process %s%s%s", how,
	    words.n > 0 ? ": " : "", buf_str(&words));
	log_warn("%s", a->why);
	buf_free(&words);
	free(how);
}

static void
on_done(enum child_end end, int value, void *arg)
{
	struct login_process *a = arg;

	a->child = NULL;
	if (!a->ended)
		give_up(a, end, value);
	a->ops.done(a->end, a->why, a->again_ms,
	    a->has_record ? &a->record : NULL, a->arg);
	login_process_free(a);
}

struct login_process *
login_process_start(struct loop *l, const char *path, const char *const *argv,
    const struct login_process_request *request,
    const struct login_process_ops *ops, void *arg)
{
	static const struct child_ops child_ops = { on_output, on_errors,
		on_done };
	struct login_process *a = xcalloc(1, sizeof *a);
	struct child_config c = {
		.argv = argv,
		.path = path,
		.output = true,
		.errors = true,
		.detached = true,
		.max_output = BOUND_QUEUE_BYTES,
	};
	struct buf text = { 0 };

	a->ops = *ops;
	a->arg = arg;
	a->again_ms = -1;
	buf_init(&a->line, BOUND_QUEUE_BYTES);
	buf_init(&a->errors, BOUND_NAME_BYTES);
	print_request(&text, request);
	c.input = buf_span(&text);
	a->child = child_new(l, &c, &child_ops, a);
	buf_wipe(&text);
	return a;
}

void
login_process_free(struct login_process *a)
{
	if (a == NULL)
		return;
	if (a->child != NULL)
		child_free(a->child, false);
	buf_wipe(&a->line);
	buf_free(&a->errors);
	record_free(&a->record);
	free(a->why);
	free(a);
}

/* --- the login process's side --- */

/* Returns one word of the command line, owned by the caller; NULL if it is not
 * valid base64url. */
static char *
read_word(struct json_object *list, size_t i)
{
	const char
	    *text = json_object_get_string(json_object_array_get_idx(list, i));
	char *word = NULL;
	struct buf b = { 0 };

	if (codec_base64url_read(&b, span_of(text)) == 0)
		word = xstrdup(buf_str(&b));
	buf_wipe(&b);
	return word;
}

static int
read_argv(struct login_process_task *t)
{
	struct json_object *list = document_list(t->json, "argv");

	if (list == NULL)
		return -1;
	t->argv = xcalloc(json_object_array_length(list) + 1, sizeof *t->argv);
	while (t->argc < json_object_array_length(list)) {
		t->argv[t->argc] = read_word(list, t->argc);
		if (t->argv[t->argc] == NULL)
			return -1;
		t->argc++;
	}
	return 0;
}

int
login_process_task_read(struct login_process_task *t, struct span text,
    const char **why)
{
	memset(t, 0, sizeof *t);
	t->json = document_parse(text, why);
	if (t->json == NULL)
		return -1;
	if (read_argv(t) != 0) {
		*why = "it has no command line";
		login_process_task_free(t);
		return -1;
	}
	t->request.reason = (enum login_reason)word_of(document_text(t->json,
							   "reason"),
	    reasons, 4, LOGIN_NONE);
	t->request.interactive = document_true(t->json, "person");
	t->request.challenge = document_text(t->json, "challenge");
	t->request.rejected = document_text(t->json, "rejected");
	t->request.peer = document_text(t->json, "peer");
	if (get_record(t->json, &t->record))
		t->request.record = &t->record;
	return 0;
}

void
login_process_task_free(struct login_process_task *t)
{
	size_t i;

	for (i = 0; i < t->argc; i++)
		free(t->argv[i]);
	free(t->argv);
	record_free(&t->record);
	json_object_put(t->json);
	memset(t, 0, sizeof *t);
}

void
login_process_say_where(struct buf *out, const char *url, const char *code)
{
	struct json_object *o = document_new();

	document_set(o, "url", url);
	document_set(o, "code", code);
	say(out, o);
}

void
login_process_say_log(struct buf *out, enum log_level level, const char *text)
{
	struct json_object *o = document_new();

	document_set(o, "log", levels[level]);
	document_set(o, "text", text);
	say(out, o);
}

void
login_process_say_end(struct buf *out, enum login_end end, const char *why,
    int64_t again_ms, const struct record *record)
{
	struct json_object *o = document_new();

	document_set(o, "end", ends[end]);
	document_set(o, "why", why);
	if (again_ms >= 0)
		document_set_number(o, "again", again_ms);
	if (record != NULL)
		set_record(o, record);
	say(out, o);
}
