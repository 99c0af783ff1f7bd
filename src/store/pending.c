/*
 * A sign-in under way, as lines of text: "server", "url", "code", "opened",
 * "asked" and "failed", each with a blank and its value. Lines of another kind
 * are ignored. The file is written beside the records even if a helper keeps
 * those: it contains nothing that gives access.
 */
#include "config.h"

#include "base/bounds.h"
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "io/file.h"
#include "store/state.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

void
pending_free(struct pending *p)
{
	free(p->server);
	free(p->url);
	free(p->user_code);
	memset(p, 0, sizeof *p);
}

/* Is the line of this kind? If so, value is the text after the blank. */
static bool
is_line(struct span line, const char *kind, struct span *value)
{
	size_t n = strlen(kind);

	if (line.n <= n || memcmp(line.p, kind, n) != 0 || line.p[n] != ' ')
		return false;
	*value = (struct span){ line.p + n + 1, line.n - n - 1 };
	return true;
}

/* Reads digits up to a blank; other characters, or too many digits, give 0. */
static int64_t
take_number(struct span *text)
{
	int64_t n = 0;
	bool ok = true;

	for (; text->n > 0 && *text->p != ' '; text->p++, text->n--) {
		ok = ok && *text->p >= '0' && *text->p <= '9' &&
		    n < INT64_MAX / 10 - 1;
		if (ok)
			n = n * 10 + (*text->p - '0');
	}
	if (text->n > 0) {
		text->p++;
		text->n--;
	}
	return ok ? n : 0;
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
	struct span line, value;
	size_t i;

	while (file_line(&text, &line)) {
		if (is_line(line, "server", &value))
			set_text(&p->server, value);
		else if (is_line(line, "url", &value))
			set_text(&p->url, value);
		else if (is_line(line, "code", &value))
			set_text(&p->user_code, value);
		else if (is_line(line, "asked", &value))
			p->asked_at = take_number(&value);
		else if (is_line(line, "failed", &value))
			p->failed_at = take_number(&value);
		else if (is_line(line, "opened", &value))
			for (i = 0; i < COUNT(p->opened); i++)
				p->opened[i] = take_number(&value);
	}
}

void
store_pending(struct store *s, const char *name, struct pending *p)
{
	char file[STORE_FILE_BYTES];
	struct buf text;
	int dir = store_folder(s, false);

	memset(p, 0, sizeof *p);
	store_file(file, PENDING_FILE, name, "");
	buf_init(&text, 0);
	if (dir >= 0 && file_read(dir, file, BOUND_PENDING_BYTES, &text) == 0)
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
	struct buf b;
	size_t i;
	int dir, rc = -1;

	buf_init(&b, 0);
	errno = EINVAL;
	if (add_text(&b, "server", p->server) == 0 &&
	    add_text(&b, "url", p->url) == 0 &&
	    add_text(&b, "code", p->user_code) == 0) {
		buf_adds(&b, "opened");
		for (i = 0; i < COUNT(p->opened); i++)
			buf_addf(&b, " %" PRId64, p->opened[i]);
		buf_addf(&b, "\nasked %" PRId64 "\nfailed %" PRId64 "\n",
		    p->asked_at, p->failed_at);
		store_file(file, PENDING_FILE, name, "");
		if (b.n > BOUND_PENDING_BYTES)
			errno = EFBIG;
		else if ((dir = store_folder(s, true)) >= 0)
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
	free(p.url);
	free(p.user_code);
	p.url = p.user_code = NULL;
	p.failed_at = p.failed_at < now ? now : p.failed_at + 1;
	rc = store_set_pending(s, name, &p);
	pending_free(&p);
	return rc;
}
