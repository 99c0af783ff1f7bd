/*
 * Reads configuration files: `name = value`, `name: value`, `name value`, with
 * or without dashes before the name, values in quotes with escapes, comments
 * after "#", and [pattern] lines that start a section. Each option becomes a
 * setting that knows its file, line and section.
 */
#include "config.h"

#include "options/file.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/mem.h"
#include "io/file.h"
#include "options/argv.h"

/* --- who could have written it --- */

struct findings {
	char *foreign;     /* first path that belongs to another user */
	struct buf opened; /* paths that others can write to, with a blank
			    * before each */
};

/* Returns the write bits of mode that are dangerous. Whoever may write to a
 * folder can put another file there, but not one that belongs to this user or
 * to root. So a group may write to a folder, which has uses: Homebrew's etc is
 * open to a group. */
static mode_t
too_much(mode_t mode)
{
	if (!S_ISDIR(mode))
		return S_IWGRP | S_IWOTH;
	return (mode & S_ISVTX) != 0 ? 0 : S_IWOTH;
}

static void
look(struct findings *f, const char *path, const struct stat *st)
{
	if (f->foreign == NULL && st->st_uid != geteuid() && st->st_uid != 0)
		f->foreign = xstrdup(path);
	if ((st->st_mode & too_much(st->st_mode)) != 0) {
		buf_addc(&f->opened, ' ');
		buf_adds(&f->opened, path);
	}
}

static char *
folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return xstrdup(".");
	return slash == path ? xstrdup("/") :
			       xstrndup(path, (size_t)(slash - path));
}

/* Nobody can put a file into a read-only folder. A ConfigMap of Kubernetes is
 * mounted that way: its folder has mode 0777, and chmod cannot change that. */
static bool
is_read_only(const char *path)
{
	struct statvfs fs;

	return statvfs(path, &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0;
}

/* Checks this number of folders above path. */
static void
look_above(struct findings *f, const char *path, unsigned folders)
{
	char *at = xstrdup(path), *above;
	struct stat st;

	for (; folders > 0; folders--) {
		above = folder_of(at);
		free(at);
		at = above;
		if (stat(at, &st) != 0)
			continue;
		if (is_read_only(at))
			st.st_mode &= ~(mode_t)S_IWOTH;
		look(f, at, &st);
	}
	free(at);
}

/* Checks the owner of a link, and the folder of the file that it leads to:
 * dotfiles are often kept elsewhere. */
static void
look_at_link(struct findings *f, const char *path)
{
	struct stat st;
	char *real;

	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
		return;
	st.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH); /* meaningless for a link */
	look(f, path, &st);
	real = realpath(path, NULL);
	if (real != NULL)
		look_above(f, real, 1);
	free(real);
}

/* Checks the file that was opened as path: its owner, who else may write to it,
 * and the same for this number of folders above it. A folder may be writable
 * for its group, and for all if it is sticky or mounted read-only. A device is
 * accepted, because nobody can plant its content. Returns NULL, or why the file
 * is refused and how to correct that, owned by the caller. */
static char *
option_trust(const char *path, int fd, unsigned folders)
{
	struct findings f = { 0 };
	char *why = NULL;
	struct stat st;

	if (fstat(fd, &st) < 0 || S_ISCHR(st.st_mode))
		return NULL;
	buf_init(&f.opened, 0);
	look(&f, path, &st);
	look_at_link(&f, path);
	look_above(&f, path, folders);
	if (f.foreign != NULL)
		why = xasprintf("the configuration file %s is refused: %s "
				"belongs to another user, who could have "
				"programs run by it. Make it yours or root's "
				"with chown, or use a copy%s",
		    path, strcmp(f.foreign, path) == 0 ? "it" : f.foreign,
		    geteuid() == 0 ? "; sudo takes root's own HOME with -H" :
				     "");
	else if (f.opened.n > 0)
		why = xasprintf("the configuration file %s is refused: others "
				"can write it or its folder, and have programs "
				"run by it; \"chmod go-w%s\"",
		    path, buf_str(&f.opened));
	free(f.foreign);
	buf_free(&f.opened);
	return why;
}

/* --- what it says --- */

/* The number of folders above a file that have to be safe. For the user's own
 * file these are all folders up to HOME. */
enum { FOLDERS = 1, FOLDERS_HOME = 3 };

struct reader {
	struct option_settings *out;
	const char *path;
	unsigned line;
	enum option_weight weight;
	char *section; /* the current section, or NULL */
	bool secret;   /* a literal secret was read */
	char **why;
};

static int
fail(struct reader *r, const char *what)
{
	*r->why = xasprintf("%s:%u: %s", r->path, r->line, what);
	return -1;
}

static const char blanks[] = " \t\r"; /* around what counts */

static bool
blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cuts off a comment, which starts with "#" at the beginning or after a
 * blank. */
static struct span
without_comment(struct span s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] == '#' && (i == 0 || blank(s.p[i - 1]))) {
			s.n = i;
			break;
		}
	return span_trim(s, blanks);
}

/* Returns the text in quotes, owned by the caller; s starts after the first
 * quote. Returns NULL if the closing quote is missing or anything but a comment
 * follows. */
static char *
quoted(struct span s)
{
	static const char from[] = "nrtv", to[] = "\n\r\t\v";
	char *value = xmalloc(s.n + 1);
	const char *escape;
	size_t i, n = 0;
	char c;

	for (i = 0; i < s.n && s.p[i] != '"'; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n) {
			i++;
			escape = strchr(from, s.p[i]);
			c = escape == NULL ? s.p[i] : to[escape - from];
		} else {
			c = s.p[i];
		}
		value[n++] = c;
	}
	value[n] = '\0';
	if (i < s.n &&
	    without_comment((struct span){ s.p + i + 1, s.n - i - 1 }).n == 0)
		return value;
	mem_wipe(value, n);
	free(value);
	return NULL;
}

static int
read_section(struct reader *r, struct span line)
{
	line = without_comment(line);
	if (line.n < 3 || line.p[line.n - 1] != ']')
		return fail(r, "a section is written as [https://HOST/*]");
	free(r->section);
	r->section = xstrndup(line.p + 1, line.n - 2);
	return 0;
}

/* Finds the option of a line, and checks that it is allowed here. */
static const struct option_row *
find_option(struct reader *r, struct span name, bool letter, bool *off)
{
	const struct option_row *row;
	char *prefix;

	*off = false;
	row = letter ? option_table_letter(name.p[0]) :
		       option_table_find(name, off);
	if (row == NULL) {
		prefix = xasprintf("%s:%u: ", r->path, r->line);
		*r->why = option_argv_unknown(prefix, letter ? "-" : "", name);
		free(prefix);
		return NULL;
	}
	if ((row->flags & OPTION_ARGV_ONLY) != 0 ||
	    row->kind == OPTION_CONFIG) {
		*r->why = xasprintf("%s:%u: \"%s\" cannot stand in a file",
		    r->path, r->line, row->name);
		return NULL;
	}
	if (row->offset == offsetof(struct options, url) &&
	    row->kind == OPTION_STRING && r->section != NULL &&
	    strcmp(r->section, "*") != 0) {
		fail(r,
		    "the URL chooses the section, so a section cannot set it");
		return NULL;
	}
	return row;
}

static void
add(struct reader *r, const struct option_row *row, char *value, bool off)
{
	struct option_setting *s;
	struct span secret;

	s = option_set_add(r->out, row, r->weight, value,
	    xasprintf("%s:%u", r->path, r->line),
	    xasprintf("%s:%u: %s", r->path, r->line, row->name));
	s->off = off;
	s->section = string_copy(r->section);
	if (value != NULL && option_table_secret(row, value, &secret))
		r->secret = true;
}

/* Returns the text before a blank, "=" or ":". */
static struct span
name_of(struct span line)
{
	size_t n = 0;

	while (n < line.n && !blank(line.p[n]) && line.p[n] != '=' &&
	    line.p[n] != ':')
		n++;
	return (struct span){ line.p, n };
}

static int
read_option(struct reader *r, struct span line)
{
	const struct option_row *row;
	struct span name;
	char *value = NULL;
	size_t dashes = 0;
	bool off;

	while (dashes < 2 && line.n > 0 && line.p[0] == '-') {
		line.p++;
		line.n--;
		dashes++;
	}
	name = name_of(line);
	if (name.n == 0)
		return fail(r, "the line has no name of an option");
	row = find_option(r, name, dashes == 1 && name.n == 1, &off);
	if (row == NULL)
		return -1;
	line = span_trim((struct span){ line.p + name.n, line.n - name.n },
	    blanks);
	if (line.n > 0 && (line.p[0] == '=' || line.p[0] == ':'))
		line = span_trim((struct span){ line.p + 1, line.n - 1 },
		    blanks);
	if (line.n > 0 && line.p[0] == '"') {
		value = quoted((struct span){ line.p + 1, line.n - 1 });
		if (value == NULL)
			return fail(r, "the quotes do not close at the end");
	} else {
		if ((row->flags & OPTION_SENTENCE) == 0)
			line = without_comment(line);
		if (line.n > 0)
			value = xstrndup(line.p, line.n);
	}
	if (row->arg != NULL && value == NULL)
		return fail(r, "the value is missing; \"\" is an empty one");
	add(r, row, value, off);
	return 0;
}

static int
read_line(struct reader *r, struct span line)
{
	line = span_trim(line, blanks);
	if (line.n == 0 || line.p[0] == '#')
		return 0;
	if (memchr(line.p, '\0', line.n) != NULL)
		return fail(r, "the line has a NUL byte");
	return line.p[0] == '[' ? read_section(r, line) : read_option(r, line);
}

/* Reads the whole file. Returns 0, or an errno; EPERM with *why, owned by the
 * caller, if another user could have written the file. */
static int
slurp(struct reader *r, struct buf *out, bool *others)
{
	unsigned folders = r->weight == WEIGHT_HOME ? FOLDERS_HOME : FOLDERS;
	struct stat st;
	int fd, error;

	fd = open(r->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	error = fstat(fd, &st) < 0 ? errno : 0;
	if (error == 0 &&
	    (*r->why = option_trust(r->path, fd, folders)) != NULL)
		error = EPERM;
	if (error == 0 && file_get_all(fd, out) < 0)
		error = errno;
	close(fd);
	*others = error == 0 && (st.st_mode & (S_IRGRP | S_IROTH)) != 0;
	return error;
}

int
option_file_read(struct option_settings *out, const char *path,
    enum option_weight weight, bool needed, bool *exposed, char **why)
{
	struct reader r = {
		.out = out, .path = path, .weight = weight, .why = why
	};
	struct buf text;
	struct span line;
	const char *lf;
	size_t at = 0;
	bool others;
	int error, rc = 0;

	buf_init(&text, BOUND_QUEUE_BYTES);
	error = slurp(&r, &text, &others);
	if (error != 0 && (needed || (error != ENOENT && error != ENOTDIR))) {
		if (*why == NULL)
			*why = xasprintf("cannot read the configuration file "
					 "%s: %s%s",
			    string_shown(path), strerror(error),
			    weight == WEIGHT_HOME && error == EACCES ?
				"; set HOME to a folder of your own" :
				"");
		rc = -1;
	}
	while (rc == 0 && error == 0 && at < text.n) {
		lf = memchr(text.p + at, '\n', text.n - at);
		line.p = text.p + at;
		line.n = lf == NULL ? text.n - at : (size_t)(lf - line.p);
		at += line.n + 1;
		r.line++;
		rc = read_line(&r, line);
	}
	*exposed = rc == 0 && r.secret && others;
	free(r.section);
	if (text.n > 0)
		mem_wipe(text.p, text.n);
	buf_free(&text);
	return rc;
}

/* Returns a copy in which each "%2e" is a dot, as servers read it. The caller
 * owns it. */
static char *
decode_dots(const char *text)
{
	char *copy = xstrdup(text), *p = copy;

	while ((p = strcasestr(p, "%2e")) != NULL) {
		*p++ = '.';
		memmove(p, p + 2, strlen(p + 2) + 1);
	}
	return copy;
}

bool
option_file_match(const char *pattern, const struct url *url)
{
	struct span scheme = { "*", 1 }, host, rest;
	const char *at = strstr(pattern, "://"), *path;
	char *full, *dots;
	struct url plain;
	bool hit;

	if (strcmp(pattern, "*") == 0)
		return true;
	if (url == NULL)
		return false;
	if (strcasestr(url->text, "%2e") != NULL) {
		full = decode_dots(url->text);
		dots = decode_dots(pattern);
		hit = url_parse(&plain, full) == URL_OK &&
		    option_file_match(dots, &plain);
		url_free(&plain);
		free(dots);
		free(full);
		return hit;
	}
	if (at != NULL) {
		scheme = (struct span){ pattern, (size_t)(at - pattern) };
		pattern = at + 3;
	}
	host = (struct span){ pattern, strcspn(pattern, "/?") };
	rest = span_of(pattern + host.n);
	path = strstr(url->text, "://") + 3;
	path += strcspn(path, "/?");
	full = xasprintf("%s:%s", url->host, url->port);
	hit = span_glob(scheme, span_of(url->scheme), GLOB_NOCASE) &&
	    (span_glob(host, span_of(url_authority(url)), GLOB_NOCASE) ||
		span_glob(host, span_of(full), GLOB_NOCASE)) &&
	    (rest.n == 0 || span_glob(rest, span_of(path), 0));
	free(full);
	return hit;
}
