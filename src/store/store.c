/*
 * The folder of the store, which is checked once and opened again if somebody
 * removed it. NAME.json is a record, pending-NAME a sign-in under way, lock-*
 * are locks. Locks are empty files that only their holder removes, when there is
 * no record for long: a lock on a file that lost its name would exclude nobody.
 * A NAME ends in 16 hex digits, so these cannot be confused.
 *
 * Records are read and written with files at once, and the callback follows a
 * moment later; a helper takes longer. A helper is run for each operation, as
 *
 *   CMD get | store | erase
 *
 * and gets lines on stdin: "name=NAME", for store also "url=URL", then an empty
 * line, and for store the record as JSON up to the end. get prints the record,
 * or nothing if there is none. An exit status other than 0 is a failure. The
 * helper has 30 s. Its arguments contain no secret.
 *
 * A sign-in under way is lines of text: "server", "url", "code", "opened",
 * "asked" and "failed", each with a blank and its value. Lines of another kind
 * are ignored. The file is written beside the records even if a helper keeps
 * those: it contains nothing that gives access.
 *
 * Invariant: an op is in the store's list until its callback is called.
 */
#include "config.h"

#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <openssl/evp.h>

#include "base/bounds.h"
#include "base/queue.h"
#include "io/child.h"
#include "io/private_file.h"
#include "io/url.h"
#include "os/place.h"
#include "os/secret.h"

#define HOST_BYTES 64 /* with its NUL */
#define HASH_DIGITS 16
#define LOCK_TRIES 3
#define RECORD_END ".json"
#define TOKEN_LOCK "lock-token-"
#define LOGIN_LOCK "lock-login-"
#define PENDING_FILE "pending-"

/* Room for a NAME with a prefix and a suffix. */
#define STORE_FILE_BYTES (STORE_NAME_BYTES + 16)
/* a line end may follow the record */
#define HELPER_BYTES (BOUND_PART_BYTES + 1)
#define COUNT(a) (sizeof(a) / sizeof *(a))

struct store {
	struct loop *loop;
	char *home;
	char *path;    /* of the folder, for users */
	int dir;       /* the folder; -1: it does not exist */
	char **helper; /* words of its command line, or NULL */
	size_t helper_words;
	bool newer; /* see store_found_newer */
	const char *const *unset;
	struct store_op *first, *last; /* operations under way */
};

struct store_op {
	struct store *store;
	struct store_op *next, *prev;
	store_get_cb *get; /* get or done is set */
	store_done_cb *done;
	void *arg;
	char name[STORE_NAME_BYTES]; /* of the record, for a helper */
	struct record record;
	bool found; /* record was found */
	bool newer; /* it is of a newer mcpsplice */
	char *why;
	struct child *child; /* the running helper; NULL: op_tell is deferred */
	struct buf output;
};

/* --- the folder: names, lists, stamps, locks --- */

/* Returns the folder, opened again if necessary. make: it is made if it is
 * missing. Returns -1 with errno on failure. */
static int
open_folder(struct store *s, bool make)
{
	char *why;

	if (s->dir >= 0 && file_linked(s->dir))
		return s->dir;
	file_close(s->dir);
	s->dir = file_dir(s->home, STORE_BELOW, make, &why);
	if (s->dir < 0)
		free(why);
	return s->dir;
}

/* Makes the name of a file: before, NAME, behind. */
static void
name_file(char file[STORE_FILE_BYTES], const char *before, const char *name,
    const char *behind)
{
	snprintf(file, STORE_FILE_BYTES, "%s%s%s", before, name, behind);
}

/* Adds the hash of URL and profile. Different pairs give different texts: each
 * part has its length in front, and no profile differs from an empty one. */
static void
add_hash(char *to, const char *url, const char *profile)
{
	unsigned char sum[EVP_MAX_MD_SIZE] = { 0 };
	struct buf b = { 0 };
	size_t i;

	buf_addf(&b, "%zu:%s,", strlen(url), url);
	if (profile != NULL)
		buf_addf(&b, "%zu:%s,", strlen(profile), profile);
	if (EVP_Digest(b.p, b.n, sum, NULL, EVP_sha256(), NULL) != 1)
		abort(); /* there is no SHA-256 */
	buf_free(&b);
	for (i = 0; i < HASH_DIGITS / 2; i++)
		snprintf(to + 2 * i, 3, "%02x", sum[i]);
}

void
store_name(char name[STORE_NAME_BYTES], const char *url, const char *profile)
{
	struct url parts;
	size_t n;

	n = url_host_name(name, HOST_BYTES,
	    url_parse(&parts, url) == URL_OK ? parts.host : "_");
	url_free(&parts);
	name[n++] = '-';
	add_hash(name + n, url, profile);
}

/* Is text, of n bytes, a NAME? */
static bool
is_name(const char *text, size_t n)
{
	return n >= HASH_DIGITS + 2 && n < STORE_NAME_BYTES &&
	    text[n - HASH_DIGITS - 1] == '-' &&
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-_") >= n &&
	    strspn(text + n - HASH_DIGITS, "0123456789abcdef") >= HASH_DIGITS;
}

struct listing {
	bool helper;
	store_list_cb *each;
	void *arg;
};

static bool
list_one(const char *file, void *arg)
{
	const struct listing *l = arg;
	char name[STORE_NAME_BYTES];
	size_t n = strlen(file), skip = 0, end = strlen(RECORD_END);

	if (strncmp(file, PENDING_FILE, strlen(PENDING_FILE)) == 0) {
		skip = strlen(PENDING_FILE);
		end = 0;
	} else if (l->helper) {
		skip = strlen(TOKEN_LOCK);
		if (strncmp(file, TOKEN_LOCK, skip) != 0)
			return true;
		end = 0;
	} else if (n < end || strcmp(file + n - end, RECORD_END) != 0) {
		return true;
	}
	n -= skip + end;
	if (!is_name(file + skip, n))
		return true;
	memcpy(name, file + skip, n);
	name[n] = '\0';
	return l->each(name, l->arg);
}

void
store_list(struct store *s, store_list_cb *each, void *arg)
{
	struct listing l = { s->helper != NULL, each, arg };
	int dir = open_folder(s, false);

	if (dir >= 0)
		os_folder_list(dir, BOUND_FILES, list_one, &l);
}

uint64_t
store_stamp(struct store *s, const char *name)
{
	char file[STORE_FILE_BYTES];
	int dir;

	if (s->helper != NULL || (dir = open_folder(s, false)) < 0)
		return 0;
	name_file(file, "", name, RECORD_END);
	return file_stamp(dir, file);
}

/* Makes an empty file. io/private_file makes a file by moving it into place, which
 * would take the name from a lock that another process has just made and holds.
 * So only the process that holds a lock on the folder makes one. If a folder
 * cannot be locked (NFS), this gap remains for the first use of a lock. */
static int
make_lock_file(struct store *s, const char *file)
{
	int dir = open_folder(s, false), mutex, fd, rc = 0;

	mutex = dir < 0 ? -1 : os_folder_lock(dir);
	if (mutex < 0)
		return -1;
	fd = file_open(dir, file, true);
	if (fd >= 0)
		file_close(fd);
	else if (errno == ENOENT)
		rc = file_write(dir, file, (struct span){ NULL, 0 }, false);
	else
		rc = -1;
	file_close(mutex);
	return rc;
}

/* Does the name still belong to the open file? */
static bool
is_same(int dir, const char *file, int fd)
{
	struct os_file a, b;

	return os_file_look(fd, &a) == 0 &&
	    os_file_look_at(dir, file, false, &b) == 0 &&
	    a.device == b.device && a.id == b.id;
}

static int
try_lock(struct store *s, const char *file)
{
	int dir, fd;

	dir = open_folder(s, true);
	if (dir < 0)
		return -1;
	fd = file_open(dir, file, true);
	if (fd < 0)
		return -1;
	if (os_file_lock(fd) == 0) {
		if (is_same(dir, file, fd))
			return fd;
		errno = ENOENT;
	}
	file_close(fd);
	return -1;
}

int
store_lock(struct store *s, enum store_lock what, const char *name)
{
	char file[STORE_FILE_BYTES];
	int i, fd;

	if (what == STORE_TAB)
		name_file(file, "lock-tab", "", "");
	else
		name_file(file, what == STORE_TOKEN ? TOKEN_LOCK : LOGIN_LOCK,
		    name, "");
	for (i = 0; i < LOCK_TRIES; i++) {
		fd = try_lock(s, file);
		if (fd >= 0 || errno != ENOENT)
			return fd;
		if (make_lock_file(s, file) < 0)
			return -1;
	}
	errno = EWOULDBLOCK;
	return -1;
}

void
store_unlock(int fd)
{
	file_close(fd);
}

/* --- records --- */

/* May the folder be made? The deepest existing part of its path has to be
 * writable. */
static bool
may_be_made(const char *home)
{
	char *path = os_path_join(home, os_place_below(STORE_BELOW));
	bool may = false;

	while (strlen(path) >= strlen(home)) {
		may = os_file_may(path, OS_MAY_ADD);
		if (may || errno != ENOENT)
			break;
		path[os_path_name(path) - path - 1] = '\0';
	}
	free(path);
	return may;
}

static bool
forget_one(const char *file, void *arg)
{
	static const char *const kinds[] = { PENDING_FILE, TOKEN_LOCK,
		LOGIN_LOCK, NULL };
	const char *const *kind = kinds;
	struct store *s = arg;
	int fd;

	while (*kind != NULL && strncmp(file, *kind, strlen(*kind)) != 0)
		kind++;
	if (*kind == NULL || store_stamp(s, file + strlen(*kind)) != 0 ||
	    (fd = file_open(s->dir, file, true)) < 0)
		return true;
	if (file_age(fd) > BOUND_WEEK_MS / 1000 && os_file_lock(fd) == 0)
		os_file_remove(s->dir, file);
	file_close(fd);
	return true;
}

/* Removes what is left of old sign-ins without a record. Not for a store with a
 * helper, whose records cannot be seen; and this process must hold no lock. */
static void
forget_old(struct store *s)
{
	os_folder_list(s->dir, SIZE_MAX, forget_one, s);
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
	s->path = os_path_join(s->home, os_place_below(STORE_BELOW));
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
	if (s->dir >= 0 && s->helper == NULL)
		forget_old(s);
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
	while (s->first != NULL)
		store_cancel(s->first);
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
	QUEUE_ADD_FIRST(s, op);
	return op;
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

	QUEUE_REMOVE(op->store, op);
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
	QUEUE_REMOVE(op->store, op);
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
		op->why = xasprintf("%s was written by a newer mcpsplice, "
				    "which this one must not change: use the "
				    "newer one, or give this one its own "
				    "sign-in: --profile NAME",
		    where);
	else if (!op->found)
		op->why = xasprintf("%s cannot be used: %s; \"mcpsplice "
				    "logout URL\" removes it",
		    where, reason);
}

/* Lasts until the next call. */
static const char *
reason_of(int error)
{
	static char text[200];

	switch (error) {
	case EPERM:
		snprintf(text, sizeof text,
		    "it belongs to another user, or others can read or write "
		    "it; if it is yours, %s",
		    os_how_private);
		return text;
	case ELOOP:
		return "it is a link";
	case EINVAL:
		return "it is not a regular file";
	case EFBIG:
		return "it is too large";
	default:
		return strerror(error);
	}
}

/* Opens what was sealed. A record of before that is taken as it is. */
static int
unseal(struct buf *text)
{
	size_t n;
	char *plain = os_secret_open(text->p, text->n, &n);

	if (plain == NULL)
		return errno == 0 ? 0 : -1;
	buf_wipe(text);
	buf_init(text, 0);
	buf_reserve(text, n);
	buf_add(text, plain, n);
	mem_wipe(plain, n);
	free(plain);
	return 0;
}

static void
file_load(struct store_op *op, const char *name)
{
	struct store *s = op->store;
	char file[STORE_FILE_BYTES],
	    *path = xasprintf("%s%c%s.json", s->path, *os_path_separators,
		name);
	struct buf text = { 0 };
	int dir = open_folder(s, false);

	name_file(file, "", name, RECORD_END);
	if (dir >= 0 && file_read(dir, file, BOUND_PART_BYTES, &text) == 0 &&
	    unseal(&text) == 0)
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
	char file[STORE_FILE_BYTES], *sealed;
	int dir, rc = -1;
	size_t n;

	name_file(file, "", name, RECORD_END);
	sealed = os_secret_seal(text.p, text.n, &n);
	if (sealed != NULL && n <= BOUND_PART_BYTES)
		text = (struct span){ sealed, n };
	if ((dir = open_folder(s, true)) >= 0)
		rc = file_write(dir, file, text, true);
	free(sealed);
	if (rc == 0)
		return;
	op->why = xasprintf("%s%c%s cannot be written: %s", s->path,
	    *os_path_separators, file, strerror(errno));
}

static void
file_erase(struct store_op *op, const char *name)
{
	struct store *s = op->store;
	char file[STORE_FILE_BYTES];
	int dir = open_folder(s, false);

	name_file(file, "", name, RECORD_END);
	if ((dir >= 0 && os_file_remove(dir, file) == 0) || errno == ENOENT)
		return;
	op->why = xasprintf("%s%c%s cannot be removed: %s", s->path,
	    *os_path_separators, file, strerror(errno));
}

static char *
helper_fate(enum child_end end, int value)
{
	if (end == CHILD_EXIT)
		return xasprintf("failed with status %d", value);
	if (end == CHILD_TOO_LARGE)
		return xstrdup("printed too much");
	return child_fate(end, value);
}

/* A helper that has one record for all names would give the token of one server
 * to another. The name of an identity provider's record is not made of its
 * URL. */
static void
check_name(struct store_op *op)
{
	char own[STORE_NAME_BYTES];

	if (!op->found || *op->name == '_')
		return;
	store_name(own, op->record.url, op->record.profile);
	op->found = strcmp(own, op->name) == 0;
	if (!op->found)
		op->why = xstrdup("the --auth-store helper printed the record "
				  "of another server or profile");
}

static void
helper_done(enum child_end end, int value, void *arg)
{
	struct store_op *op = arg;
	struct span text = span_trim(buf_span(&op->output), " \t\r\n");
	char *fate;

	op->child = NULL;
	if (end != CHILD_EXIT || value != 0) {
		fate = helper_fate(end, value);
		op->why = xasprintf("the --auth-store helper %s", fate);
		free(fate);
	} else if (op->get != NULL && text.n > 0) {
		op_parse(op, text, "the output of the --auth-store helper");
		check_name(op);
	}
	op_tell(op);
}

static void
helper_run(struct store_op *op, const char *verb, const char *name,
    const char *url, struct span text)
{
	static const struct child_ops ops = { .done = helper_done };
	struct store *s = op->store;
	const char **argv = xcalloc(s->helper_words + 2, sizeof *argv);
	struct child_config config = { .argv = argv,
		.unset = s->unset,
		.output = op->get != NULL,
		.all = &op->output,
		.max_output = HELPER_BYTES,
		.timeout_ms = BOUND_LONG_MS };
	struct buf input = { 0 };
	size_t i;

	for (i = 0; i < s->helper_words; i++)
		argv[i] = s->helper[i];
	argv[i] = verb;
	/* reserved at once, because a growing buffer leaves copies of its
	 * content behind */
	buf_reserve(&input, text.n + (url == NULL ? 0 : strlen(url)) + 256);
	snprintf(op->name, sizeof op->name, "%s", name);
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
	struct buf text = { 0 };

	op->done = cb;
	r->generation++;
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

/* --- a sign-in under way --- */

void
pending_free(struct pending *p)
{
	free(p->server);
	free(p->url);
	free(p->user_code);
	memset(p, 0, sizeof *p);
}

/* Takes a number up to a blank; other text, or too many digits, give 0. */
static int64_t
take_number(struct span *text)
{
	int64_t n = span_number(span_take(text, ' '));

	return n < 0 ? 0 : n;
}

/* Sets a text once: the first line of a kind counts. */
static void
set_text(char **to, struct span value)
{
	if (*to == NULL && value.n > 0 && memchr(value.p, 0, value.n) == NULL)
		*to = xstrndup(value.p, value.n);
}

static void
parse_pending(struct pending *p, struct span text)
{
	struct span kind, value;
	size_t i;

	while (file_line(&text, &value)) {
		kind = span_take(&value, ' ');
		if (value.p == NULL)
			continue;
		if (span_is(kind, "server"))
			set_text(&p->server, value);
		else if (span_is(kind, "url"))
			set_text(&p->url, value);
		else if (span_is(kind, "code"))
			set_text(&p->user_code, value);
		else if (span_is(kind, "asked"))
			p->asked_at = take_number(&value);
		else if (span_is(kind, "failed"))
			p->failed_at = take_number(&value);
		else if (span_is(kind, "opened"))
			for (i = 0; i < COUNT(p->opened); i++)
				p->opened[i] = take_number(&value);
	}
}

void
store_pending(struct store *s, const char *name, struct pending *p)
{
	char file[STORE_FILE_BYTES];
	struct buf text = { 0 };
	int dir = open_folder(s, false);

	memset(p, 0, sizeof *p);
	name_file(file, PENDING_FILE, name, "");
	if (dir >= 0 && file_read(dir, file, BOUND_TEXT_BYTES, &text) == 0)
		parse_pending(p, buf_span(&text));
	buf_free(&text);
}

/* Adds one line. Returns -1 if the value contains a control byte, such as a
 * line end. */
static int
add_text(struct buf *b, const char *kind, const char *value)
{
	const char *p;

	if (value == NULL)
		return 0;
	for (p = value; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return -1;
	buf_addf(b, "%s %s\n", kind, value);
	return 0;
}

int
store_set_pending(struct store *s, const char *name, const struct pending *p)
{
	char file[STORE_FILE_BYTES];
	struct buf b = { 0 };
	size_t i;
	int dir, rc = -1;

	errno = EINVAL;
	if (add_text(&b, "server", p->server) == 0 &&
	    add_text(&b, "url", p->url) == 0 &&
	    add_text(&b, "code", p->user_code) == 0) {
		buf_adds(&b, "opened");
		for (i = 0; i < COUNT(p->opened); i++)
			buf_addf(&b, " %" PRId64, p->opened[i]);
		buf_addf(&b, "\nasked %" PRId64 "\nfailed %" PRId64 "\n",
		    p->asked_at, p->failed_at);
		name_file(file, PENDING_FILE, name, "");
		if (b.n > BOUND_TEXT_BYTES)
			errno = EFBIG;
		else if ((dir = open_folder(s, true)) >= 0)
			rc = file_write(dir, file, buf_span(&b), false);
	}
	buf_free(&b);
	return rc;
}

int
store_end_pending(struct store *s, const char *name)
{
	int64_t now = (int64_t)time(NULL);
	struct pending p;
	int rc;

	store_pending(s, name, &p);
	string_set(&p.url, NULL);
	string_set(&p.user_code, NULL);
	p.failed_at = p.failed_at < now ? now : p.failed_at + 1;
	rc = store_set_pending(s, name, &p);
	pending_free(&p);
	return rc;
}
