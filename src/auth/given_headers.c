/*
 * Credentials that the user passes by options. The configuration becomes a list
 * of sources in the order of the command line, each with its current headers; a
 * request gets the sum of all sources. A file is read again when its inode,
 * time or size changes. If the new content is wrong, one warning is logged and
 * the old content stays in use.
 *
 * Invariant: the sum has no header that mcpsplice sets itself, and at most one
 * Authorization.
 */
#include "config.h"

#include "auth/given_headers.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/log.h"
#include "io/private_file.h"

#define GIVEN_LOOK_MS 1000

struct source {
	char *path;  /* NULL: the header is in the option */
	bool bearer; /* the file holds a token, not header lines */
	bool regular;
	bool complained;      /* the user was warned about the current file */
	struct os_file seen;  /* state of the file when it was last read */
	struct os_file tried; /* state at the latest attempt to read it
			       * again */
	struct headers headers;
};

struct given {
	struct source *sources;
	size_t n;
	struct headers all;
	uint64_t version;
	bool looked;
	int64_t looked_ms;
	struct variables env;
};

/* Reads a source's file into to. A file that is read again is opened without
 * blocking, because it may have become a pipe. The look comes before the
 * content, so that a change in between is noticed at the next look. */
static int
read_source(const struct given *a, struct source *s, struct headers *to,
    bool first, char **why)
{
	struct span content;
	struct os_file f;
	struct buf text = { .max = BOUND_TEXT_BYTES };
	int fd, rc;

	fd = os_file_open(OS_HERE, s->path, OS_READ | (first ? 0 : OS_NO_WAIT));
	if (fd < 0)
		return fail_why(why, "cannot read it: %s", strerror(errno));
	rc = os_file_look(fd, &f) < 0 ? -1 : file_get_all(fd, &text);
	file_close(fd);
	if (rc != 0) {
		*why = xasprintf("cannot read it: %s", strerror(errno));
	} else {
		s->seen = f;
		s->regular = f.kind == OS_REGULAR;
		if (first)
			file_warn_if_open(s->path, &f);
		content = span_unmarked(buf_span(&text));
		if (span_is_utf16(content))
			rc = fail_why(why, "it is UTF-16; save it as UTF-8");
		else
			rc = s->bearer ?
			    headers_add_bearer(to, content, why) :
			    headers_add_lines(to, content, &a->env, why);
	}
	buf_wipe(&text);
	return rc;
}

/* Makes the sum of all sources, with other in place of the headers of s. If
 * there would be two Authorization headers, returns -1 and leaves the sum as it
 * was. */
static int
sum_up(struct given *a, const struct source *s, const struct headers *other,
    char **why)
{
	struct headers sum = { 0 };
	size_t i, n = 0;

	for (i = 0; i < a->n; i++)
		headers_append(&sum,
		    &a->sources[i] == s ? other : &a->sources[i].headers);
	for (i = 0; i < sum.n; i++)
		if (strcasecmp(sum.list[i].name, "Authorization") == 0)
			n++;
	if (n > 1) {
		headers_free(&sum);
		return fail_why(why,
		    "more than one credential; give only one of "
		    "--bearer-file, --bearer-env and an Authorization header");
	}
	headers_free(&a->all);
	a->all = sum;
	return 0;
}

/* Reads a file again. A wrong content gives one warning for each change. */
static void
reread(struct given *a, struct source *s)
{
	struct headers fresh = { 0 };
	char *why = NULL;

	if (read_source(a, s, &fresh, false, &why) < 0 ||
	    sum_up(a, s, &fresh, &why) < 0) {
		if (!s->complained)
			log_warn("%s: %s; keeping the previous content",
			    s->path, why);
		s->complained = true;
		free(why);
		headers_free(&fresh);
		return;
	}
	if (!headers_same(&fresh, &s->headers)) {
		log_info("%s has changed: reading it again", s->path);
		a->version++;
	}
	s->complained = false;
	headers_free(&s->headers);
	s->headers = fresh;
}

/* Reads a file again if it changed, or if force is set: a time stamp may be too
 * coarse to show a change. */
static void
look(struct given *a, struct source *s, bool force)
{
	struct os_file now;

	if (s->path == NULL || !s->regular)
		return;
	if (os_file_look_at(OS_HERE, s->path, true, &now) < 0) {
		if (!s->complained)
			log_warn("%s cannot be read: %s; keeping the "
				 "previous content",
			    s->path, strerror(errno));
		s->complained = true;
		return;
	}
	if (now.kind != OS_REGULAR || (!force && os_file_same(&now, &s->seen)))
		return;
	if (!os_file_same(&now, &s->tried))
		s->complained = false;
	s->tried = now;
	reread(a, s);
}

static struct source *
new_source(struct given *a, const char *path, bool bearer)
{
	struct source *s;

	a->sources = xgrow(a->sources, a->n, sizeof *a->sources);
	s = &a->sources[a->n++];
	*s = (struct source){ .path = string_copy(path), .bearer = bearer };
	return s;
}

static int
add_file(struct given *a, const char *path, bool bearer, char **why)
{
	struct source *s = new_source(a, path, bearer);
	char *what = NULL;

	if (read_source(a, s, &s->headers, true, &what) == 0)
		return 0;
	*why = xasprintf("%s \"%s\": %s",
	    bearer ? "--bearer-file" : "the header file",
	    s->regular ? path : string_shown(path), what);
	free(what);
	return -1;
}

static int
add_bearer_env(struct given *a, const char *name, char **why)
{
	struct source *s = new_source(a, NULL, true);
	const char *token = a->env.get(name, a->env.arg);
	char *what = NULL;

	if (token == NULL)
		return fail_why(why, "--bearer-env: the variable %s is not set",
		    string_shown(name));
	if (headers_add_bearer(&s->headers, span_of(token), &what) == 0)
		return 0;
	*why = xasprintf("--bearer-env %s: %s", name, what);
	free(what);
	return -1;
}

static int
add_header(struct given *a, const char *header, char **why)
{
	struct source *s;
	char *what = NULL;

	if (header[0] == '@')
		return add_file(a, header + 1, false, why);
	s = new_source(a, NULL, false);
	if (headers_add_line(&s->headers, span_of(header), &a->env, &what) == 0)
		return 0;
	*why = xasprintf("--header: %s", what);
	free(what);
	return -1;
}

static int
configure(struct given *a, const struct given_config *config, char **why)
{
	const char *const *h;

	for (h = config->headers; h != NULL && *h != NULL; h++)
		if (add_header(a, *h, why) < 0)
			return -1;
	if (config->bearer_file != NULL &&
	    add_file(a, config->bearer_file, true, why) < 0)
		return -1;
	if (config->bearer_env != NULL &&
	    add_bearer_env(a, config->bearer_env, why) < 0)
		return -1;
	return sum_up(a, NULL, NULL, why);
}

struct given *
given_new(const struct given_config *config, char **why)
{
	struct given *a = xcalloc(1, sizeof *a);

	a->env = (struct variables){ config->env, config->env_arg };
	a->version = 1;
	if (configure(a, config, why) == 0)
		return a;
	given_free(a);
	return NULL;
}

const struct headers *
given_headers(struct given *a, int64_t now_ms)
{
	size_t i;

	if (!a->looked || now_ms - a->looked_ms >= GIVEN_LOOK_MS) {
		a->looked = true;
		a->looked_ms = now_ms;
		for (i = 0; i < a->n; i++)
			look(a, &a->sources[i], false);
	}
	return &a->all;
}

const struct headers *
given_at_hand(const struct given *a)
{
	return &a->all;
}

void
given_fill(struct given *a, struct credentials *to, int64_t now_ms,
    const struct headers *more, uint64_t stamp, int64_t until)
{
	struct headers fresh = { 0 };
	size_t i;

	headers_append(&fresh, given_headers(a, now_ms));
	if (more != NULL)
		headers_append(&fresh, more);
	if (!headers_same(&fresh, &to->headers))
		to->version++;
	headers_free(&to->headers);
	to->headers = fresh;
	to->stamp = more == NULL ? a->version : stamp;
	to->until = until;
	for (i = 0; i < a->n; i++)
		if (a->sources[i].regular &&
		    to->until > a->looked_ms + GIVEN_LOOK_MS)
			to->until = a->looked_ms + GIVEN_LOOK_MS;
}

bool
given_reread(struct given *a)
{
	uint64_t before = a->version;
	size_t i;

	for (i = 0; i < a->n; i++)
		look(a, &a->sources[i], true);
	return a->version != before;
}

uint64_t
given_version(const struct given *a)
{
	return a->version;
}

bool
given_has_authorization(const struct given *a)
{
	return headers_get(&a->all, "Authorization") != NULL;
}

void
given_free(struct given *a)
{
	size_t i;

	if (a == NULL)
		return;
	for (i = 0; i < a->n; i++) {
		free(a->sources[i].path);
		headers_free(&a->sources[i].headers);
	}
	free(a->sources);
	headers_free(&a->all);
	free(a);
}
