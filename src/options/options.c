/*
 * Loads the options. Every source is first read into settings, in rising
 * weight; then the URL is found, because sections of files depend on it; then
 * the settings that apply are applied, and contradictions are refused. Nothing
 * here prints or exits. This is the only room that reads the environment.
 */
#include "config.h"

#include "options/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "core/wire/redact.h"
#include "io/file.h"
#include "options/check.h"
#include "options/set.h"
#include "options/table.h"
#include "os/file.h"
#include "os/place.h"

/*
 * Reads the command line with GNU's conventions: --name=value and --name value,
 * bundled letters, "--" ends the options, operands and options in any order.
 * The first operand is a command or the URL; those of wrap are files. A port
 * after the URL comes from mcp-remote's syntax, and so do "-y mcp-remote" in
 * front, which are left when only the command "npx" is replaced.
 *
 * A literal secret is copied and then overwritten in argv, as curl does, so
 * that other users see it in the list of processes only for a moment.
 */

struct option_argv {
	struct option_settings settings;
	enum command command;
	int command_at;          /* the index of its word; 0: none was given */
	struct strings operands; /* of a command, behind the URL */
	bool help_all;           /* help is wanted about all options */
	const char *help_option; /* about this one */
	/* A literal secret was given, and is overwritten now. */
	bool secret;                       /* of the server */
	const struct option_row *password; /* of a proxy: by this option */
	bool port;                         /* a port stood after the URL */
	int leftover; /* so many arguments in front were not meant for us */
	bool remote;  /* the last one is mcp-remote's name */
};

struct argv_state {
	struct option_argv *out;
	int argc;
	char **argv;
	int at;       /* index of the current argument */
	bool operand; /* an operand was read, maybe the command */
	bool help;    /* help is asked for: operands say about what */
	bool topic;   /* by the word, which must not be followed by others */
	bool url;
	bool port;
	int torn; /* index of a header that ends too early, or 0 */
	char **why;
};

/* Returns "unknown option ..." with the name that the user may have meant; the
 * caller owns the text. prefix stands in front, like "file:3: "; dashes stands
 * before names. */
static char *
option_argv_unknown(const char *prefix, const char *dashes, struct span name)
{
	char *why, *answer = mistype_option(name, *dashes == '\0' ? "" : "--");

	if (answer == NULL)
		/* a file may have been written for a newer copy */
		answer = xasprintf("; \"mcpsplice help all\" lists %s",
		    *prefix == '\0' ? "them" :
				      "those of mcpsplice " PACKAGE_VERSION);
	why = xasprintf("%sunknown option \"%s%.*s\"%s", prefix, dashes,
	    name.n > 60 ? 60 : (int)name.n, name.p, answer);
	free(answer);
	return why;
}

/* Adds a setting and overwrites the secret part of value, which lies in argv.
 * value may be NULL. */
static void
add_word(struct argv_state *st, const struct option_row *row, char *value,
    bool off)
{
	bool keeps_blanks = row->kind == OPTION_LIST ||
	    row->kind == OPTION_HEADER || (row->flags & OPTION_SECRET) != 0;
	/* a script may have the line ends of Windows */
	struct span text = span_trim(span_of(value != NULL ? value : ""),
	    keeps_blanks ? "\r\n" : " \t\r\n");
	struct option_setting *s;
	struct span secret;

	s = option_set_add(&st->out->settings, row, WEIGHT_ARGV,
	    value == NULL ? NULL : xstrndup(text.p, text.n),
	    xstrdup("command line"), xasprintf("--%s", row->name));
	s->off = off;
	s->behind = st->url;
	st->help = st->help || strcmp(row->name, "help") == 0;
	if (row->kind == OPTION_HEADER && *mistype_token(value) == '\0')
		st->torn = st->at;
	if (value != NULL && option_table_secret(row, value, &secret)) {
		memset(value + (secret.p - value), 'x', secret.n);
		if (row->kind == OPTION_HEADER ||
		    (row->flags & OPTION_HIDDEN) != 0)
			st->out->secret = true;
		else
			st->out->password = row;
	}
}

/* Returns the next argument as the value of an option, or NULL with *why. */
static char *
next_value(struct argv_state *st, const struct option_row *row)
{
	if (st->at + 1 < st->argc)
		return st->argv[++st->at];
	*st->why = xasprintf("--%s needs a value: --%s %s", row->name,
	    row->name, row->arg);
	return NULL;
}

/* Overwrites the value of an option that does not exist, because it may be a
 * secret: the text after "=", or the next argument. */
static void
blank_secret(struct argv_state *st, char *value)
{
	if (value == NULL && st->at + 1 < st->argc)
		value = st->argv[st->at + 1];
	if (value != NULL)
		memset(value, 'x', strlen(value));
}

static int
read_long(struct argv_state *st, char *arg)
{
	size_t n = strcspn(arg, "=: \t\r\n");
	size_t blanks = strspn(arg + n, ": \t\r\n");
	char *value = arg[n] == '=' ? arg + n + 1 : NULL;
	const struct option_row *row;
	bool off;

	row = option_table_find((struct span){ arg, n }, &off);
	if (row == NULL || (row->flags & OPTION_NO_ARGV) != 0) {
		blank_secret(st, value);
		*st->why = st->out->operands.n > 0 ?
		    xasprintf("unknown option \"--%.*s\"; to pass it to the "
			      "tool, write %.*s=VALUE",
			(int)n, arg, (int)n, arg) :
		    option_argv_unknown("", "--", (struct span){ arg, n });
		return -1;
	}
	if (blanks > 0 && arg[n + blanks] != '\0') {
		*st->why = xasprintf("write --%s and its value as two "
				     "words",
		    row->name);
		blank_secret(st, arg + n); /* maybe */
		return -1;
	}
	if (row->arg == NULL && value != NULL &&
	    (row->kind != OPTION_FAIL || off || strcmp(value, "any") != 0)) {
		*st->why = xasprintf("--%.*s takes no value%s", (int)n, arg,
		    row->kind == OPTION_FAIL && !off ? " except \"any\"" : "");
		return -1;
	}
	if (row->arg != NULL && value == NULL)
		value = next_value(st, row);
	if (row->arg != NULL && value == NULL)
		return -1;
	add_word(st, row, value, off);
	return 0;
}

static int
read_letters(struct argv_state *st, char *arg)
{
	struct span word = { arg, strcspn(arg, "= \t\r\n") };
	const struct option_row *row;
	char *value;

	/* or a long name with one dash */
	if (word.n < 3 ||
	    (mistype_meant(word) == NULL && option_table_nearest(word) == NULL))
		word.n = 1;
	for (; *arg != '\0'; arg++) {
		row = option_table_letter(*arg);
		if (row == NULL) {
			*st->why = option_argv_unknown("", "-",
			    word.n > 1 ? word : (struct span){ arg, 1 });
			return -1;
		}
		if (row->arg == NULL) {
			add_word(st, row, NULL, false);
			continue;
		}
		value = arg[1] != '\0' ? arg + 1 : next_value(st, row);
		if (value == NULL)
			return -1;
		add_word(st, row, value, false);
		return 0;
	}
	return 0;
}

static bool
is_port(const char *s)
{
	size_t n = strspn(s, "0123456789");
	long port = n == 0 || n > 5 || s[n] != '\0' ? 0 : strtol(s, NULL, 10);

	return port >= 1 && port <= 65535;
}

/* Returns COMMAND_PROXY if the word is no command. */
static enum command
command_of(const char *word)
{
	unsigned i;

	for (i = COMMAND_LOGIN; i < COMMANDS; i++)
		if (strcmp(word, option_commands[i]) == 0)
			return (enum command)i;
	return COMMAND_PROXY;
}

/* Reads what help is wanted about: "all", a command or an option. */
static int
read_topic(struct argv_state *st, const char *arg)
{
	enum command command = command_of(arg);
	struct span name = span_of(arg + strspn(arg, "-"));
	const struct option_row *row;
	bool off;

	row = *arg == '-' && name.n == 1 ? option_table_letter(*name.p) :
					   option_table_find(name, &off);
	if (span_is(name, "all")) {
		st->out->help_all = true;
	} else if (strcmp(arg, "help") == 0 || strcmp(arg, "version") == 0) {
		return 0; /* the first screen says it */
	} else if (command != COMMAND_PROXY) {
		st->out->command = command;
	} else if (st->topic && row != NULL &&
	    (row->flags & OPTION_NO_ARGV) == 0) {
		st->out->help_option = row->name;
	} else if (st->topic) {
		*st->why = xasprintf("no help on \"%s\"; see \"mcpsplice "
				     "help all\"",
		    string_shown(arg));
		return -1;
	}
	return 0;
}

static int
read_operand(struct argv_state *st, char *arg)
{
	enum command command = st->operand ? COMMAND_PROXY : command_of(arg);

	if (st->help)
		return read_topic(st, arg);
	if (!st->operand &&
	    (strcmp(arg, "help") == 0 || strcmp(arg, "version") == 0)) {
		st->operand = true;
		st->topic = arg[0] == 'h';
		add_word(st, option_table_named(arg), NULL, false);
		return 0;
	}
	if (st->torn > 0 && st->torn + 1 == st->at &&
	    strstr(arg, "://") == NULL)
		*st->why = xstrdup("the header was split at a space; quote "
				   "all of it: -H \"Name: value\"");
	else if (!st->operand && command == COMMAND_PROXY)
		*st->why = mistype_command(arg);
	if (*st->why != NULL)
		return -1;
	st->operand = true;
	if (command != COMMAND_PROXY) {
		st->out->command = command;
		st->out->command_at = st->at;
		return 0;
	}
	if (st->out->command == COMMAND_WRAP) {
		strings_add(&st->out->operands, xstrdup(arg));
		return 0;
	}
	if (!st->url) {
		st->url = true;
		add_word(st, option_table_named("url"), arg, false);
		return 0;
	}
	if (st->out->command == COMMAND_CALL ||
	    (st->out->command == COMMAND_TOOLS && st->out->operands.n == 0)) {
		strings_add(&st->out->operands, xstrdup(arg));
		return 0;
	}
	if (!st->port && is_port(arg)) {
		st->port = st->out->port = true;
		add_word(st, option_table_named("callback-port"), arg, false);
		return 0;
	}
	command = command_of(arg);
	if (command != COMMAND_PROXY && st->out->command == COMMAND_PROXY)
		*st->why = xasprintf("put the command first: mcpsplice %s URL",
		    arg);
	else if (strstr(arg, "://") != NULL)
		*st->why = xstrdup("two URLs given; mcpsplice takes one");
	else
		*st->why = xasprintf("unexpected argument \"%s\" after the "
				     "URL; quote a value that contains spaces",
		    string_shown(arg));
	return -1;
}

/* Returns how many arguments are left of "npx -y mcp-remote[@VERSION]", or of
 * the same with our own name. */
static int
leftover(int argc, char **argv, bool *remote)
{
	struct span name = no_span;
	int at = 1;

	at += at < argc && strcmp(argv[at], "npx") == 0;
	at += at < argc &&
	    (strcmp(argv[at], "-y") == 0 || strcmp(argv[at], "--yes") == 0);
	if (at < argc)
		name = (struct span){ argv[at], strcspn(argv[at], "@") };
	*remote = span_is(name, "mcp-remote");
	return *remote || span_is(name, PACKAGE_NAME) ? at : 0;
}

/* Reads argv. Returns 0, or -1 with *why. Free out in both cases. */
static int
option_argv_read(struct option_argv *out, int argc, char **argv, char **why)
{
	struct argv_state st = {
		.out = out, .argc = argc, .argv = argv, .why = why
	};
	bool ended = false;
	char *arg;
	int rc = 0;

	*out = (struct option_argv){ 0 };
	out->leftover = leftover(argc, argv, &out->remote);
	for (st.at = 1 + out->leftover; rc == 0 && st.at < argc; st.at++) {
		arg = argv[st.at];
		if (ended || st.topic || arg[0] != '-' || arg[1] == '\0')
			rc = read_operand(&st, arg);
		else if (arg[1] != '-')
			rc = read_letters(&st, arg + 1);
		else if (arg[2] != '\0')
			rc = read_long(&st, arg + 2);
		else
			ended = true;
	}
	return rc;
}

/*
 * Reads configuration files: `name = value`, `name: value`, `name value`, with
 * or without dashes before the name, values in quotes with escapes, comments
 * after "#", and [pattern] lines that start a section. Each option becomes a
 * setting that knows its file, line and section.
 */

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
		return fail(r, "write a section as [https://HOST/*]");
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
		*r->why = xasprintf("%s:%u: \"%s\" cannot be set in a file",
		    r->path, r->line, row->name);
		return NULL;
	}
	if (row->offset == offsetof(struct options, url) &&
	    row->kind == OPTION_STRING && r->section != NULL &&
	    strcmp(r->section, "*") != 0) {
		fail(r, "a section cannot set the URL that selects it");
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
		value = quoted((struct span){ line.p + 1, line.n - 1 });
		if (value == NULL)
			return fail(r, "unclosed quotes");
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

/* Reads a file into settings. A missing file is an error only if needed is set.
 * *exposed becomes true if the file contains a literal secret and others may
 * read it. A file that another user could have written is an error. *why has to
 * be NULL before. Returns 0, or -1 with *why. */
static int
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
	bool others, home;
	int error, rc = 0;

	buf_init(&text, BOUND_QUEUE_BYTES);
	error = slurp(&r, &text, &others);
	if (error != 0 && (needed || (error != ENOENT && error != ENOTDIR))) {
		home = weight == WEIGHT_HOME && error == EACCES;
		if (*why == NULL)
			*why = xasprintf("cannot read the configuration file "
					 "%s: %s%s%s%s",
			    string_shown(path), strerror(error),
			    home ? "; set " : "",
			    home ? os_place_variable(OS_PLACE_CONFIG) : "",
			    home ? " to a folder of your own" : "");
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

#define AT(field) offsetof(struct options, field)

extern char **environ;

struct loader {
	struct options *o;
	const struct option_sources *from;
	struct option_settings settings; /* of all sources except argv */
	struct option_argv argv;
	const struct option_setting *url_by; /* the setting that gave the URL,
					      * or NULL */
	struct url url;
	bool has_url;
	char **why;
};

/* Returns the value of a variable, or NULL if it is not set, or empty. */
static const char *
variable(const struct loader *l, const char *name)
{
	size_t n = strlen(name);
	char *const *at;

	for (at = l->from->variables; at != NULL && *at != NULL; at++)
		if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
			return (*at)[n + 1] == '\0' ? NULL : *at + n + 1;
	return NULL;
}

static void
add_variable(struct loader *l, const char *option, enum option_weight weight,
    const char *name, struct span value)
{
	option_set_add(&l->settings, option_table_named(option), weight,
	    xstrndup(value.p, value.n), xasprintf("environment %s", name),
	    xstrdup(name));
}

/* Reads variables that other programs use too; the last one of an option wins.
 * http_proxy and the like are left to libcurl. */
static void
read_ordinary(struct loader *l)
{
	static const char *const known[][2] = {
		{ "SSL_CERT_FILE", "cacert" },
		{ "CURL_CA_BUNDLE", "cacert" },
		{ "SSL_CERT_DIR", "SSL_CERT_DIR" },
		{ "NODE_EXTRA_CA_CERTS", "NODE_EXTRA_CA_CERTS" },
		{ "BROWSER", "browser" },
		{ "NO_PROXY", "noproxy" },
		{ "no_proxy", "noproxy" },
	};
	const char *value;
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++) {
		value = variable(l, known[i][0]);
		if (value != NULL)
			add_variable(l, known[i][1], WEIGHT_ORDINARY,
			    known[i][0], span_of(value));
	}
}

/* Adds a list from the environment: one item per line. */
static void
add_lines(struct loader *l, const char *option, const char *name,
    const char *value)
{
	struct span line;

	while (*value != '\0') {
		line = (struct span){ value, strcspn(value, "\n") };
		value += line.n + (value[line.n] == '\n');
		if (line.n > 0 && line.p[line.n - 1] == '\r')
			line.n--;
		if (line.n > 0)
			add_variable(l, option, WEIGHT_ENVIRONMENT, name, line);
	}
}

static void
read_environment(struct loader *l)
{
	const struct option_row *row;
	const char *value;
	char *name;
	size_t i, n = l->from->variables == NULL ? 0 : option_table_rows;

	for (i = 0; i < n; i++) {
		row = &option_table[i];
		if ((row->flags & (OPTION_HIDDEN | OPTION_ARGV_ONLY)) != 0)
			continue;
		name = option_table_variable(row);
		value = variable(l, name);
		if (value != NULL &&
		    (row->kind == OPTION_HEADER || row->kind == OPTION_LIST))
			add_lines(l, row->name, name, value);
		else if (value != NULL)
			add_variable(l, row->name, WEIGHT_ENVIRONMENT, name,
			    span_of(value));
		free(name);
	}
}

static int
read_file(struct loader *l, const char *path, enum option_weight weight)
{
	bool exposed = false;

	if (path == NULL)
		return 0;
	if (option_file_read(&l->settings, path, weight,
		weight == WEIGHT_CONFIG, &exposed, l->why) < 0)
		return -1;
	if (exposed)
		strings_add(&l->o->warnings,
		    xasprintf("%s holds a secret and other users can read "
			      "it; %s",
			path, os_how_private));
	return 0;
}

/* Reads the files that --config and its variable name. */
static int
read_named_files(struct loader *l)
{
	const struct option_setting *s;
	const char *value = variable(l, "MCPSPLICE_CONFIG");
	size_t i;

	if (value != NULL && read_file(l, value, WEIGHT_CONFIG) < 0)
		return -1;
	for (i = 0; i < l->argv.settings.n; i++) {
		s = &l->argv.settings.list[i];
		if (s->row->kind == OPTION_CONFIG &&
		    read_file(l, s->value, WEIGHT_CONFIG) < 0)
			return -1;
	}
	return 0;
}

static int
read_sources(struct loader *l)
{
	read_ordinary(l);
	if (read_file(l, l->from->etc, WEIGHT_ETC) < 0 ||
	    read_file(l, l->from->home, WEIGHT_HOME) < 0)
		return -1;
	read_environment(l);
	return read_named_files(l);
}

/* Was the switch of this name given in argv? */
static bool
asked_for(const struct loader *l, const char *name)
{
	const struct option_row *row = option_table_named(name);
	size_t i;

	for (i = 0; i < l->argv.settings.n; i++)
		if (l->argv.settings.list[i].row == row)
			return true;
	return false;
}

/* Returns the last URL of a list. No section except "*" can set one. */
static const struct option_setting *
last_url(const struct option_settings *all)
{
	const struct option_setting *s, *url = NULL;
	size_t i;

	for (i = 0; i < all->n; i++) {
		s = &all->list[i];
		if (s->row->kind == OPTION_STRING && s->row->offset == AT(url))
			url = s;
	}
	return url;
}

static int
parse_url(struct loader *l, const char *text)
{
	const char *wrong = mistype_value(text);
	enum url_status status;

	if (wrong == NULL && strpbrk(text, " \t\r\n") != NULL)
		wrong =
		    "contains a space; write what follows it as another argument";
	if (wrong != NULL) {
		*l->why = xasprintf("the URL %s", wrong);
		return -1;
	}
	status = url_parse(&l->url, text);
	l->has_url = status == URL_OK;
	if (!l->has_url)
		*l->why = option_bad_url(status, text, l->o->command);
	return l->has_url ? 0 : -1;
}

static int
find_url(struct loader *l)
{
	const char *command = option_commands[l->o->command], *taker = NULL;
	const char *value;
	size_t i;

	l->url_by = last_url(&l->argv.settings);
	if (l->url_by == NULL)
		l->url_by = last_url(&l->settings);
	if (l->url_by != NULL)
		return parse_url(l, l->url_by->value);
	if (asked_for(l, "show-config"))
		return 0;
	if (l->o->command == COMMAND_STATUS || l->o->command == COMMAND_REPORT)
		return 0;
	for (i = 0; i < l->argv.settings.n; i++) {
		value = l->argv.settings.list[i].value;
		if (value != NULL && strncmp(value, "http", 4) == 0 &&
		    strstr(value, "://") != NULL)
			taker = l->argv.settings.list[i].row->name;
	}
	*l->why = taker != NULL ?
	    xasprintf("--%s took the URL as its value", taker) :
	    xasprintf("no URL given; usage: mcpsplice %s%s[options] URL",
		command, *command == '\0' ? "" : " ");
	return -1;
}

/* Notes that a section of a file is for other URLs, once. */
static void
note_section(struct loader *l, const struct option_setting *s)
{
	const char *end = strrchr(s->from, ':'); /* FILE:LINE */
	struct strings *notes = &l->o->notes;
	struct buf note = { 0 };
	size_t i;

	if (!l->has_url)
		return;
	buf_addf(&note, "%.*s: [", (int)(end - s->from), s->from);
	redact_path(&note, span_of(s->section), "...");
	buf_adds(&note, "] is not for this URL");
	for (i = 0; i < notes->n; i++)
		if (strcmp(notes->list[i], buf_str(&note)) == 0)
			break;
	if (i == notes->n)
		strings_add(notes, buf_take(&note));
	else
		buf_free(&note);
}

static int
apply(struct loader *l, const struct option_settings *all)
{
	const struct option_setting *s;
	size_t i;

	for (i = 0; i < all->n; i++) {
		s = &all->list[i];
		if (s->section != NULL &&
		    !option_file_match(s->section,
			l->has_url ? &l->url : NULL)) {
			note_section(l, s);
			continue;
		}
		if (option_set_apply(l->o, s, l->why) < 0)
			return -1;
	}
	return 0;
}

/* "--sse URL" also selects the transport. --transport with the same or a higher
 * weight wins. */
static int
apply_transport(struct loader *l)
{
	const struct option_row *row = option_table_named("transport");
	const struct option_origin *o = &l->o->origins[row - option_table];
	struct option_setting s;
	int rc;

	if (l->url_by == NULL || l->url_by->row->as == NULL ||
	    l->url_by->weight <= o->from[0].weight)
		return 0;
	s = *l->url_by;
	s.row = row;
	s.value = xstrdup(l->url_by->row->help);
	rc = option_set_apply(l->o, &s, l->why);
	free(s.value);
	return rc;
}

/* A client that was registered for mcp-remote came with its redirect URI:
 * "http://localhost:PORT/oauth/callback". */
static int
apply_redirect(struct loader *l)
{
	static const char *const values[][2] = { { "callback-host",
						     "localhost" },
		{ "callback-path", "/oauth/callback" } };
	const struct options *o = l->o;
	struct option_setting s = { .weight = WEIGHT_DEFAULT };
	char from[] = "default of mcp-remote";
	size_t i;
	int rc;

	if (!l->argv.port && !l->argv.remote && o->client_info == NULL &&
	    o->client_metadata == NULL)
		return 0;
	for (i = 0; i < 2; i++) {
		s.row = option_table_named(values[i][0]);
		if (options_given(o, values[i][0]))
			continue;
		s.value = xstrdup(values[i][1]);
		s.from = from;
		rc = option_set_apply(l->o, &s, l->why);
		free(s.value);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Tells where the secrets of the command line are better kept. */
static void
warn_of_secrets(struct loader *l)
{
	const struct option_row *row = l->argv.password;
	char *name;

	if (l->argv.secret)
		strings_add(&l->o->warnings,
		    xstrdup("other users can read a secret on the command "
			    "line; use --bearer-env, -H 'Authorization: "
			    "Bearer ${VAR}' or @FILE"));
	if (row == NULL)
		return;
	name = option_table_variable(row);
	strings_add(&l->o->warnings,
	    xasprintf("other users can read the password given with --%s; "
		      "set the variable %s instead",
		row->name, name));
	free(name);
}

/* Is this the variable of an option, or one that an option names? */
static bool
is_known(const struct options *o, const char *variable)
{
	const char *const named[] = { o->bearer_env, o->client_secret_env,
		o->assertion_env, o->idp_token_env };
	char *reference = xasprintf("${%s}", variable), *name;
	bool known = false;
	size_t i;

	for (i = 0; !known && i < sizeof named / sizeof *named; i++)
		known = string_eq(named[i], variable);
	for (i = 0; !known && i < o->headers.n; i++)
		known = strstr(o->headers.list[i], reference) != NULL;
	for (i = 0; !known && i < option_table_rows; i++) {
		name = option_table_variable(&option_table[i]);
		known = strcmp(name, variable) == 0;
		free(name);
	}
	free(reference);
	return known;
}

/* Returns the option whose variable may have been meant by MCPSPLICE_tail, or
 * NULL. meant: mistype_meant says this of it. */
static const struct option_row *
misspelt(const char *tail, const char *meant)
{
	char *name = xstrdup(tail), *c;
	const struct option_row *row;

	for (c = name; *c != '\0'; c++)
		if (*c == '_')
			*c = '-';
	row = meant != NULL && strchr(meant, ' ') == NULL ?
	    option_table_named(meant) :
	    option_table_misspelt(span_of(name));
	free(name);
	return row != NULL &&
		(row->flags & (OPTION_HIDDEN | OPTION_ARGV_ONLY)) == 0 ?
	    row :
	    NULL;
}

/* Warns of a variable that is meant for us but misspelt. One that is like no
 * option may be anybody's. If it would restrict something, this is an error. */
static void
warn_of_variables(const struct loader *l, struct strings *warnings)
{
	static const char prefix[] = "MCPSPLICE_";
	const struct option_row *row;
	const char *meant;
	char *const *at;
	char *name, *option;

	for (at = l->from->variables; at != NULL && *at != NULL; at++) {
		if (strncmp(*at, prefix, strlen(prefix)) != 0)
			continue;
		name = xstrndup(*at, strcspn(*at, "="));
		meant = mistype_meant(span_of(name + strlen(prefix)));
		row = misspelt(name + strlen(prefix), meant);
		if (row != NULL && !is_known(l->o, name)) {
			if ((row->flags & OPTION_GUARD) != 0 && *l->why == NULL)
				*l->why = xstrdup("the name of a restriction "
						  "is misspelled");
			/* "bearer" is like "header" */
			option = row->kind == OPTION_HEADER && meant != NULL ?
			    xstrdup(meant) :
			    option_table_variable(row);
			strings_add(warnings,
			    xasprintf("unknown variable %s (did you mean %s?)",
				name, option));
			free(option);
		}
		free(name);
	}
}

static void
say(struct loader *l)
{
	struct options *o = l->o;

	warn_of_secrets(l);
	warn_of_variables(l, &o->warnings);
	if (l->argv.leftover > 0)
		strings_add(&o->notes,
		    xasprintf("ignoring \"-y %s\" before the URL: it belongs "
			      "to npx",
			l->argv.remote ? "mcp-remote" : PACKAGE_NAME));
	o->max_result_set = options_given(o, "max-result");
}

static bool
is_of_wrap(const struct option_row *row)
{
	return row->offset == AT(wrap_list) ||
	    row->offset == AT(wrap_restore) || row->offset == AT(wrap_write);
}

/* Returns the command that this option belongs to, if it is not command, or
 * COMMAND_PROXY. */
static enum command
owner_of(const struct option_row *row, enum command command)
{
	if (is_of_wrap(row))
		return COMMAND_WRAP;
	return row->offset == AT(save_certificate) ||
		(row->offset == AT(json) && command != COMMAND_STATUS) ?
	    COMMAND_CHECK :
	    COMMAND_PROXY;
}

/* Is this the command line by which a proxy starts its login process, or a
 * command its proxy? The task comes through a pipe. */
static bool
is_process(const struct option_sources *from, const char *command)
{
	return from->argc == 3 && strcmp(from->argv[1], command) == 0 &&
	    strcmp(from->argv[2], "--agent") == 0;
}

/* Copies argv before the secrets in it are overwritten. */
static void
copy_argv(struct options *o, const struct option_sources *from)
{
	int i;

	o->argv = xcalloc((size_t)from->argc + 1, sizeof *o->argv);
	for (i = 0; i < from->argc; i++)
		o->argv[i] = xstrdup(from->argv[i]);
}

/* The options of wrap are its own: no other is of use there, and of no other
 * source. */
static int
load_wrap(struct loader *l)
{
	const struct option_settings *all = &l->argv.settings;
	struct options *o = l->o;
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (!is_of_wrap(all->list[i].row)) {
			*l->why = xasprintf("wrap takes no --%s",
			    all->list[i].row->name);
			return -1;
		}
		if (option_set_apply(o, &all->list[i], l->why) < 0)
			return -1;
	}
	if (o->wrap_list + o->wrap_restore + o->wrap_write > 1)
		*l->why = xstrdup("wrap takes only one of --list, --restore "
				  "and --write");
	else if (o->wrap_list && o->operands.n > 0)
		*l->why = xstrdup("wrap --list takes no file");
	return *l->why == NULL ? 0 : -1;
}

/* Refuses the options of one command without it. */
static int
check_owner(struct loader *l)
{
	const struct option_settings *all = &l->argv.settings;
	enum command owner;
	size_t i;

	for (i = 0; i < all->n; i++) {
		owner = owner_of(all->list[i].row, l->o->command);
		if (owner != COMMAND_PROXY && owner != l->o->command) {
			*l->why = xasprintf("--%s only works with "
					    "\"mcpsplice %s\"",
			    all->list[i].row->name, option_commands[owner]);
			return -1;
		}
	}
	return 0;
}

static int
load(struct loader *l)
{
	struct options *o = l->o;
	int rc;

	o->login_process = is_process(l->from, "login");
	o->peer_process = is_process(l->from, "tools");
	if (o->login_process || o->peer_process) {
		o->command = o->login_process ? COMMAND_LOGIN : COMMAND_TOOLS;
		return 0;
	}
	rc = option_argv_read(&l->argv, l->from->argc, l->from->argv, l->why);
	o->command = l->argv.command;
	o->command_at = l->argv.command_at;
	o->operands = l->argv.operands;
	l->argv.operands = (struct strings){ 0 };
	if (rc < 0)
		return -1;
	o->help = asked_for(l, "help");
	o->version = asked_for(l, "version");
	o->help_all = l->argv.help_all;
	o->help_option = l->argv.help_option;
	if (o->help || o->version)
		return 0; /* also works if a file is broken */
	if (o->command == COMMAND_WRAP)
		return load_wrap(l);
	if (check_owner(l) < 0 || read_sources(l) < 0 || find_url(l) < 0 ||
	    apply(l, &l->settings) < 0 || apply(l, &l->argv.settings) < 0 ||
	    apply_transport(l) < 0 || apply_redirect(l) < 0)
		return -1;
	*l->why = option_check(o, l->has_url ? &l->url : NULL);
	if (*l->why != NULL)
		return -1;
	say(l);
	return *l->why == NULL ? 0 : -1;
}

/* A variable that is misspelt may be the cause of an error. */
static void
add_hints(const struct loader *l)
{
	struct strings hints = { 0 };
	char *why = *l->why;
	size_t i;

	warn_of_variables(l, &hints);
	for (i = 0; i < hints.n; i++) {
		*l->why = xasprintf("%s; %s", why, hints.list[i]);
		free(why);
		why = *l->why;
	}
	strings_free(&hints);
}

int
options_load_from(struct options *o, const struct option_sources *from,
    char **why)
{
	struct loader l = { .o = o, .from = from, .why = why };
	enum command command;
	int rc;

	*o = (struct options){ 0 };
	*why = NULL;
	copy_argv(o, from);
	option_set_defaults(o);
	rc = load(&l);
	if (rc < 0)
		add_hints(&l);
	option_set_free(&l.settings);
	option_set_free(&l.argv.settings);
	if (l.has_url)
		url_free(&l.url);
	if (rc < 0) {
		command = o->command;
		options_free(o);
		o->command = command;
	}
	return rc;
}

const char *
options_store_helper(const struct options *o)
{
	static const char word[] = "helper:";

	if (o->auth_store == NULL ||
	    strncmp(o->auth_store, word, strlen(word)) != 0)
		return NULL;
	return o->auth_store + strlen(word);
}

int
options_load(struct options *o, int argc, char **argv, char **why)
{
	const char *base = os_place(OS_PLACE_CONFIG);
	char *path = NULL;
	struct option_sources from = { .argc = argc,
		.argv = argv,
		.etc = os_place(OS_PLACE_SYSTEM),
		.variables = environ };
	int rc;

	if (os_path_absolute(base))
		path = xasprintf("%s/%s", base,
		    os_place_below(".config/mcpsplice/config"));
	from.home = path;
	rc = options_load_from(o, &from, why);
	free(path);
	return rc;
}

void
options_free(struct options *o)
{
	const struct option_row *row;
	size_t i, j;

	for (i = 0; i < option_table_rows; i++) {
		row = &option_table[i];
		if (row->kind == OPTION_STRING && row->as == NULL)
			string_wipe((char **)((char *)o + row->offset));
		for (j = 0; o->origins != NULL && j < o->origins[i].n; j++)
			free(o->origins[i].from[j].text);
		if (o->origins != NULL)
			free(o->origins[i].from);
	}
	free(o->origins);
	string_list_free(o->argv);
	strings_free(&o->headers);
	strings_free(&o->authorize_params);
	strings_free(&o->resolve);
	strings_free(&o->session_lost_patterns);
	strings_free(&o->ignore_tools);
	strings_free(&o->only_tools);
	strings_free(&o->operands);
	strings_free(&o->notes);
	strings_free(&o->warnings);
	*o = (struct options){ 0 };
}
