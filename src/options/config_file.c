/*
 * Reads configuration files: `name = value`, `name: value`, `name value`, with
 * or without dashes before the name, values in quotes with escapes, comments
 * after "#", and [pattern] lines that start a section. Each option becomes a
 * setting that knows its file, line and section.
 */
#include "config.h"

#include "options/set.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "io/private_file.h"
#include "os/file.h"
#include "os/place.h"

/* --- who could have written it --- */

struct findings {
	char *foreign;     /* first path that belongs to another user */
	struct buf opened; /* paths that others can write to, with a blank
			    * before each */
};

/* Whoever may write to a folder can put another file there, but not one that
 * belongs to this user or to root. So a group may write to a folder, which has
 * uses: Homebrew's etc is open to a group. */
static void
look(struct findings *f, const char *path, const struct os_file *is)
{
	if (f->foreign == NULL && is->owner == OS_FOREIGN)
		f->foreign = xstrdup(path);
	if (is->kind == OS_FOLDER ? is->all_replace : is->others_write) {
		buf_addc(&f->opened, ' ');
		buf_adds(&f->opened, path);
	}
}

/* Checks this number of folders above path. Nobody can put a file into a
 * read-only folder. A ConfigMap of Kubernetes is mounted that way: its folder
 * has mode 0777, and chmod cannot change that. */
static void
look_above(struct findings *f, const char *path, unsigned folders)
{
	char *at = xstrdup(path), *above;
	struct os_file is;

	for (; folders > 0; folders--) {
		above = os_path_folder(at);
		free(at);
		at = above;
		if (os_file_look_at(OS_HERE, at, true, &is) != 0)
			continue;
		if (os_file_on_read_only(at))
			is.all_replace = false;
		look(f, at, &is);
	}
	free(at);
}

/* Checks the owner of a link, and the folder of the file that it leads to:
 * dotfiles are often kept elsewhere. */
static void
look_at_link(struct findings *f, const char *path)
{
	struct os_file is;
	char *real;

	if (os_file_look_at(OS_HERE, path, false, &is) < 0 ||
	    is.kind != OS_LINK)
		return;
	is.others_write = false; /* meaningless for a link */
	look(f, path, &is);
	real = os_file_real(path);
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
	struct os_file is;

	if (os_file_look(fd, &is) < 0 || is.kind == OS_DEVICE)
		return NULL;
	look(&f, path, &is);
	look_at_link(&f, path);
	look_above(&f, path, folders);
	if (f.foreign != NULL)
		why = xasprintf("refusing the configuration file %s: %s "
				"belongs to another user, who could use it "
				"to run programs. %s, or use a copy%s",
		    path, strcmp(f.foreign, path) == 0 ? "it" : f.foreign,
		    os_how_own,
		    os_user_is_root() ? "; sudo -H uses root's own HOME" : "");
	else if (f.opened.n > 0)
		why = xasprintf("refusing the configuration file %s: others "
				"can write to it or its folder, and could "
				"use it to run programs; %s%s%s",
		    path, os_how_shut[0], buf_str(&f.opened), os_how_shut[1]);
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
	return fail_why(r->why, "%s:%u: %s", r->path, r->line, what);
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
	size_t i = 0;

	while (i < s.n && (s.p[i] != '#' || (i > 0 && !blank(s.p[i - 1]))))
		i++;
	return span_trim((struct span){ s.p, i }, blanks);
}

/* Returns the text in quotes, owned by the caller; s starts after the first
 * quote. Returns NULL with *r->why if the closing quote is missing or anything
 * but a comment follows. */
static char *
quoted(struct reader *r, struct span s)
{
	static const char from[] = "nrtv", to[] = "\n\r\t\v";
	char *value = xmalloc(s.n + 1);
	const char *escape;
	size_t i, n = 0;

	for (i = 0; i < s.n && s.p[i] != '"'; i++) {
		escape = s.p[i] == '\\' && i + 1 < s.n ?
		    strchr(from, s.p[++i]) :
		    NULL;
		value[n++] = escape == NULL ? s.p[i] : to[escape - from];
	}
	value[n] = '\0';
	if (i < s.n &&
	    without_comment((struct span){ s.p + i + 1, s.n - i - 1 }).n == 0)
		return value;
	mem_wipe(value, n);
	free(value);
	fail(r,
	    i == s.n ? "unclosed quotes" :
		       "text after the closing quote; write one value on each "
		       "line");
	return NULL;
}

static int
read_section(struct reader *r, struct span line)
{
	static const char form[] = "write a section as [https://HOST/*]";
	const char *odd, *rest;
	struct span scheme;

	line = without_comment(line);
	if (line.n < 3 || line.p[line.n - 1] != ']')
		return fail(r, form);
	free(r->section);
	r->section = xstrndup(line.p + 1, line.n - 2);
	odd = strpbrk(r->section, "\"'`, \t");
	rest = strstr(r->section, "://");
	scheme = (struct span){ r->section,
		rest == NULL ? 0 : (size_t)(rest - r->section) };
	if (odd != NULL && *odd == ',')
		return fail(r, "write one pattern for each section");
	if (odd != NULL && !blank(*odd))
		return fail(r, "a section has no quotes; remove them");
	if (odd != NULL ||
	    (rest != NULL && !span_glob(scheme, span_of("http"), GLOB_NOCASE) &&
		!span_glob(scheme, span_of("https"), GLOB_NOCASE)))
		return fail(r, form);
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
		*r->why = mistype_option(prefix, letter ? "-" : "", name);
		free(prefix);
		return NULL;
	}
	if ((row->flags & OPTION_ARGV_ONLY) != 0 || row->kind == OPTION_CONFIG)
		fail_why(r->why, "%s:%u: \"%s\" cannot be set in a file",
		    r->path, r->line, row->name);
	else if (row->offset == offsetof(struct options, url) &&
	    row->kind == OPTION_STRING && r->section != NULL &&
	    strcmp(r->section, "*") != 0)
		fail(r, "a section cannot set the URL that selects it");
	return *r->why == NULL ? row : NULL;
}

static void
add(struct reader *r, const struct option_row *row, char *value, bool off)
{
	struct span secret;

	option_set_add(r->out,
	    (struct option_setting){ .row = row,
		.weight = r->weight,
		.value = value,
		.from = xasprintf("%s:%u", r->path, r->line),
		.label = xasprintf("%s:%u: %s", r->path, r->line, row->name),
		.off = off,
		.section = string_copy(r->section) });
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
		return fail(r, "the line names no option");
	row = find_option(r, name, dashes == 1 && name.n == 1, &off);
	if (row == NULL)
		return -1;
	line = span_trim((struct span){ line.p + name.n, line.n - name.n },
	    blanks);
	if (line.n > 0 && (line.p[0] == '=' || line.p[0] == ':'))
		line = span_trim((struct span){ line.p + 1, line.n - 1 },
		    blanks);
	if (line.n > 0 && line.p[0] == '"') {
		value = quoted(r, (struct span){ line.p + 1, line.n - 1 });
		if (value == NULL)
			return -1;
	} else {
		if ((row->flags & OPTION_SENTENCE) == 0)
			line = without_comment(line);
		if (line.n > 0)
			value = xstrndup(line.p, line.n);
	}
	if (row->arg != NULL && value == NULL)
		return fail(r,
		    "the value is missing; write \"\" for an empty value");
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
		return fail(r, "the line contains a NUL byte");
	return line.p[0] == '[' ? read_section(r, line) : read_option(r, line);
}

/* Reads the whole file. Returns 0, or an errno; EPERM with *why, owned by the
 * caller, if another user could have written the file. */
static int
slurp(struct reader *r, struct buf *out, bool *others)
{
	unsigned folders = r->weight == WEIGHT_HOME ? FOLDERS_HOME : FOLDERS;
	struct os_file is;
	int fd, error;

	fd = os_file_open(OS_HERE, r->path, OS_READ);
	if (fd < 0)
		return errno;
	error = os_file_look(fd, &is) < 0 ? errno : 0;
	if (error == 0 &&
	    (*r->why = option_trust(r->path, fd, folders)) != NULL)
		error = EPERM;
	if (error == 0 && file_get_all(fd, out) < 0)
		error = errno;
	file_close(fd);
	*others = error == 0 && is.others_read;
	return error;
}

/* Is one of these a link to nothing: the file, which is not there, or its
 * folder? */
static bool
dangles(const char *path)
{
	char *folder = os_path_folder(path);
	struct os_file is;
	bool does = os_file_look_at(OS_HERE, path, false, &is) == 0 ||
	    (os_file_look_at(OS_HERE, folder, false, &is) == 0 &&
		os_file_look_at(OS_HERE, folder, true, &is) < 0 &&
		errno == ENOENT);

	free(folder);
	return does;
}

int
option_file_read(struct option_settings *out, const char *path,
    enum option_weight weight, struct strings *warnings, char **why)
{
	struct reader r = {
		.out = out, .path = path, .weight = weight, .why = why
	};
	struct buf text;
	struct span rest;
	bool others = false, home, lost;
	int error, rc = 0;

	if (path == NULL)
		return 0;
	buf_init(&text, BOUND_QUEUE_BYTES);
	error = slurp(&r, &text, &others);
	lost = error == ENOENT && dangles(path);
	if (error != 0 &&
	    (weight == WEIGHT_CONFIG || lost ||
		(error != ENOENT && error != ENOTDIR))) {
		home = weight == WEIGHT_HOME && error == EACCES;
		if (*why == NULL)
			*why = xasprintf("cannot read the configuration file "
					 "%s: %s%s%s%s",
			    string_shown(path),
			    lost ? "a link leads nowhere" : strerror(error),
			    home ? "; set " : "",
			    home ? os_place_variable(OS_PLACE_CONFIG) : "",
			    home ? " to a folder of your own" : "");
		rc = -1;
	}
	if (rc == 0 && span_is_utf16(buf_span(&text))) {
		r.line = 1;
		rc = fail(&r, "the file is UTF-16; save it as UTF-8");
	}
	rest = span_unmarked(buf_span(&text));
	for (r.line = 1; rc == 0 && error == 0 && rest.n > 0; r.line++)
		rc = read_line(&r, span_take(&rest, '\n'));
	if (rc == 0 && r.secret && others)
		strings_add(warnings,
		    xasprintf("%s holds a secret and other users can read "
			      "it; %s",
			path, os_how_private));
	free(r.section);
	buf_wipe(&text);
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
