/*
 * Reads and writes records. With files this is done at once, and the callback
 * follows a moment later; a helper takes longer. A helper is run for each
 * operation, as
 *
 *   CMD get | store | erase
 *
 * and gets lines on stdin: "name=NAME", for store also "url=URL", then an empty
 * line, and for store the record as JSON up to the end. get prints the record,
 * or nothing if there is none. An exit status other than 0 is a failure. The
 * helper has 30 s. Its arguments contain no secret.
 *
 * Invariant: an op is in the store's list until its callback is called.
 */
#include "config.h"

#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bounds.h"
#include "io/child.h"
#include "io/file.h"
#include "store/state.h"

/* a line end may follow the record */
#define HELPER_BYTES (BOUND_DOCUMENT_BYTES + 1)

struct store_op {
	struct store *store;
	struct store_op *next;
	store_get_cb *get; /* get or done is set */
	store_done_cb *done;
	void *arg;
	struct record record;
	bool found; /* record was found */
	bool newer; /* it is of a newer mcpsplice */
	char *why;
	struct child *child; /* the running helper; NULL: op_tell is deferred */
	struct buf output;
};

/* May the folder be made? The deepest existing part of its path has to be
 * writable. */
static bool
may_be_made(const char *home)
{
	char *path = xasprintf("%s/%s", home, STORE_BELOW);
	bool may = false;

	while (strlen(path) >= strlen(home)) {
		may = access(path, W_OK | X_OK) == 0;
		if (may || errno != ENOENT)
			break;
		*strrchr(path, '/') = '\0';
	}
	free(path);
	return may;
}

struct store *
store_new(struct loop *l, const struct store_config *config, char **why)
{
	struct store *s = xcalloc(1, sizeof *s);
	char *reason;

	s->loop = l;
	s->unset = config->unset;
	s->dir = file_dir(config->home, STORE_BELOW, config->make, &reason);
	if (s->dir < 0 && errno == ENOENT && !config->make &&
	    may_be_made(config->home)) {
		free(reason); /* the folder is made with the first record */
	} else if (s->dir < 0) {
		*why = reason;
		store_free(s);
		return NULL;
	}
	s->home = xstrdup(config->home);
	s->path = xasprintf("%s/%s", s->home, STORE_BELOW);
	if (config->helper != NULL) {
		s->helper = child_words(config->helper, &reason);
		if (s->helper == NULL) {
			*why = xasprintf("--auth-store helper: %s", reason);
			free(reason);
			store_free(s);
			return NULL;
		}
		while (s->helper[s->helper_words] != NULL)
			s->helper_words++;
	}
	if (s->dir >= 0)
		file_sweep(s->dir);
	return s;
}

bool
store_has_helper(const struct store *s)
{
	return s->helper != NULL;
}

void
store_free(struct store *s)
{
	if (s == NULL)
		return;
	while (s->ops != NULL)
		store_cancel(s->ops);
	if (s->dir >= 0)
		file_close(s->dir);
	string_list_free(s->helper);
	free(s->home);
	free(s->path);
	free(s);
}

static struct store_op *
op_new(struct store *s, void *arg)
{
	struct store_op *op = xcalloc(1, sizeof *op);

	op->store = s;
	op->arg = arg;
	op->next = s->ops;
	s->ops = op;
	record_init(&op->record);
	buf_init(&op->output, 0);
	return op;
}

static void
op_unlink(struct store_op *op)
{
	struct store_op **at;

	for (at = &op->store->ops; *at != op; at = &(*at)->next)
		;
	*at = op->next;
}

static void
op_free(struct store_op *op)
{
	record_free(&op->record);
	buf_wipe(&op->output);
	free(op->why);
	free(op);
}

/* Calls back and frees the op. The callback may free the store. */
static void
op_tell(void *arg)
{
	struct store_op *op = arg;

	op_unlink(op);
	op->store->newer = op->newer;
	if (op->get != NULL)
		op->get(op->found ? &op->record : NULL, op->why, op->arg);
	else
		op->done(op->why, op->arg);
	op_free(op);
}

static void
op_tell_later(struct store_op *op)
{
	loop_defer(op->store->loop, op_tell, op);
}

/* The helper is killed: one that was interrupted before it has read a whole
 * record must not take the beginning for the whole. */
void
store_cancel(struct store_op *op)
{
	if (op == NULL)
		return;
	if (op->child != NULL)
		child_free(op->child, true);
	else
		loop_undefer(op->store->loop, op_tell, op);
	op_unlink(op);
	op_free(op);
}

/* Parses the text of a record; where names its place for users. */
static void
op_parse(struct store_op *op, struct span text, const char *where)
{
	const char *reason;
	int rc = record_parse(&op->record, text, &reason);

	op->found = rc == 0;
	op->newer = rc == RECORD_NEWER;
	if (op->newer)
		op->why = xasprintf("%s was written by a newer mcpsplice, so "
				    "this one leaves it alone: use the newer "
				    "one, or give this one a sign-in of its "
				    "own with --profile",
		    where);
	else if (!op->found)
		op->why = xasprintf("%s cannot be used: %s; \"mcpsplice "
				    "logout URL\" removes it",
		    where, reason);
}

static const char *
reason_of(int error)
{
	switch (error) {
	case EPERM:
		return "it belongs to another user, or others can read or "
		       "write it; if it is yours, \"chmod 600\" it";
	case ELOOP:
		return "it is a link";
	case EINVAL:
		return "it is no regular file";
	case EFBIG:
		return "it is too large";
	default:
		return strerror(error);
	}
}

static char *
path_of(const struct store *s, const char *name)
{
	return xasprintf("%s/%s.json", s->path, name);
}

static void
file_load(struct store_op *op, const char *name)
{
	struct store *s = op->store;
	char file[STORE_FILE_BYTES], *path = path_of(s, name);
	struct buf text;
	int dir = store_folder(s, false);

	store_file(file, "", name, ".json");
	buf_init(&text, 0);
	if (dir >= 0 && file_read(dir, file, BOUND_DOCUMENT_BYTES, &text) == 0)
		op_parse(op, buf_span(&text), path);
	else if (errno != ENOENT)
		op->why = xasprintf("%s cannot be used: %s", path,
		    reason_of(errno));
	buf_wipe(&text);
	free(path);
}

static void
file_save(struct store_op *op, const char *name, struct span text)
{
	struct store *s = op->store;
	char file[STORE_FILE_BYTES], *path;
	int dir = store_folder(s, true);

	store_file(file, "", name, ".json");
	if (dir >= 0 && file_write(dir, file, text, true) == 0)
		return;
	path = path_of(s, name);
	op->why = xasprintf("%s cannot be written: %s", path, strerror(errno));
	free(path);
}

static void
file_erase(struct store_op *op, const char *name)
{
	struct store *s = op->store;
	char file[STORE_FILE_BYTES], *path;
	int dir = store_folder(s, false);

	store_file(file, "", name, ".json");
	if ((dir >= 0 && file_remove(dir, file) == 0) || errno == ENOENT)
		return;
	path = path_of(s, name);
	op->why = xasprintf("%s cannot be removed: %s", path, strerror(errno));
	free(path);
}

static char *
helper_failure(enum child_end end, int value)
{
	switch (end) {
	case CHILD_EXIT:
		return xasprintf("it failed with status %d", value);
	case CHILD_SIGNAL:
		return xasprintf("it was ended by signal %d", value);
	case CHILD_TIMEOUT:
		return xasprintf("it did not answer within %d s",
		    BOUND_HELPER_MS / 1000);
	case CHILD_TOO_LARGE:
		return xstrdup("it printed too much");
	case CHILD_NO_START:
	default:
		return xasprintf("it cannot be started: %s", strerror(value));
	}
}

static void
helper_output(const char *p, size_t n, void *arg)
{
	struct store_op *op = arg;

	buf_add(&op->output, p, n);
}

static void
helper_done(enum child_end end, int value, void *arg)
{
	struct store_op *op = arg;
	struct span text = span_trim(buf_span(&op->output), " \t\r\n");
	char *failure;

	op->child = NULL;
	if (end != CHILD_EXIT || value != 0) {
		failure = helper_failure(end, value);
		op->why = xasprintf("the helper of --auth-store: %s", failure);
		free(failure);
	} else if (op->get != NULL && text.n > 0) {
		op_parse(op, text, "what the helper of --auth-store printed");
	}
	op_tell(op);
}

static void
helper_run(struct store_op *op, const char *verb, const char *name,
    const char *url, struct span text)
{
	static const struct child_ops ops = { .output = helper_output,
		.done = helper_done };
	struct store *s = op->store;
	const char **argv = xcalloc(s->helper_words + 2, sizeof *argv);
	struct child_config config = { .argv = argv,
		.unset = s->unset,
		.output = op->get != NULL,
		.max_output = HELPER_BYTES,
		.timeout_ms = BOUND_HELPER_MS };
	struct buf input;
	size_t i;

	for (i = 0; i < s->helper_words; i++)
		argv[i] = s->helper[i];
	argv[i] = verb;
	buf_init(&input, 0);
	/* reserved at once, because a growing buffer leaves copies of its
	 * content behind */
	buf_reserve(&input, text.n + (url == NULL ? 0 : strlen(url)) + 256);
	buf_addf(&input, "name=%s\n", name);
	if (url != NULL)
		buf_addf(&input, "url=%s\n", url);
	buf_addc(&input, '\n');
	buf_addspan(&input, text);
	config.input = buf_span(&input);
	op->child = child_new(s->loop, &config, &ops, op);
	buf_wipe(&input);
	free(argv);
}

bool
store_found_newer(const struct store *s)
{
	return s->newer;
}

struct store_op *
store_get(struct store *s, const char *name, store_get_cb *cb, void *arg)
{
	struct store_op *op = op_new(s, arg);

	op->get = cb;
	if (s->helper != NULL) {
		buf_reserve(&op->output, HELPER_BYTES);
		helper_run(op, "get", name, NULL, (struct span){ NULL, 0 });
	} else {
		file_load(op, name);
		op_tell_later(op);
	}
	return op;
}

/* Returns why the record could not be read again, or NULL. Such a record must
 * not be written, because the loss would be noticed too late. */
static char *
unfit(struct span text)
{
	struct record again;
	const char *reason;

	if (record_parse(&again, text, &reason) < 0)
		return xasprintf("this record cannot be kept: %s", reason);
	record_free(&again);
	return NULL;
}

struct store_op *
store_put(struct store *s, const char *name, struct record *r,
    store_done_cb *cb, void *arg)
{
	struct store_op *op = op_new(s, arg);
	struct buf text;

	op->done = cb;
	r->generation++;
	buf_init(&text, 0);
	record_print(r, &text);
	op->why = unfit(buf_span(&text));
	if (op->why == NULL && s->helper == NULL)
		file_save(op, name, buf_span(&text));
	if (op->why == NULL && s->helper != NULL)
		helper_run(op, "store", name, r->url, buf_span(&text));
	else
		op_tell_later(op);
	buf_wipe(&text);
	return op;
}

struct store_op *
store_erase(struct store *s, const char *name, store_done_cb *cb, void *arg)
{
	struct store_op *op = op_new(s, arg);

	op->done = cb;
	if (s->helper != NULL) {
		helper_run(op, "erase", name, NULL, (struct span){ NULL, 0 });
	} else {
		file_erase(op, name);
		op_tell_later(op);
	}
	return op;
}
