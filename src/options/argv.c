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
#include "config.h"

#include "options/set.h"

#include <stdlib.h>

struct argv_state {
	struct option_argv *out;
	struct options *o;
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
	struct span secret;

	option_set_add(&st->out->settings,
	    (struct option_setting){ .row = row,
		.weight = WEIGHT_ARGV,
		.value = value == NULL ? NULL : xstrndup(text.p, text.n),
		.from = xstrdup("command line"),
		.label = xasprintf("--%s", row->name),
		.off = off,
		.behind = st->url });
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
	fail_why(st->why, "--%s needs a value: --%s %s", row->name, row->name,
	    row->arg);
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
		*st->why = st->o->operands.n > 0 ?
		    xasprintf("unknown option \"--%.*s\"; to pass it to the "
			      "tool, write %.*s=VALUE",
			(int)n, arg, (int)n, arg) :
		    mistype_option("", "--", (struct span){ arg, n });
		return -1;
	}
	if (blanks > 0 && arg[n + blanks] != '\0' &&
	    (row->arg != NULL || arg[n + blanks] == '-')) {
		blank_secret(st, arg + n); /* maybe */
		return fail_why(st->why,
		    "write --%s and its value as two words", row->name);
	}
	if (blanks > 0 && arg[n + blanks] != '\0')
		value = arg + n;
	if (row->arg == NULL && value != NULL &&
	    (row->kind != OPTION_FAIL || off || strcmp(value, "any") != 0))
		return fail_why(st->why, "--%.*s takes no value%s", (int)n, arg,
		    row->kind == OPTION_FAIL && !off ? " except \"any\"" : "");
	if (row->arg != NULL && value == NULL &&
	    (value = next_value(st, row)) == NULL)
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
			*st->why = mistype_option("", "-",
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
		st->o->help_all = true;
	} else if (strcmp(arg, "help") == 0 || strcmp(arg, "version") == 0) {
		return 0; /* the first screen says it */
	} else if (command != COMMAND_PROXY) {
		st->o->command = command;
	} else if (st->topic && row != NULL &&
	    (row->flags & OPTION_NO_ARGV) == 0) {
		st->o->help_option = row->name;
	} else if (st->topic) {
		return fail_why(st->why,
		    "no help on \"%s\"; see \"mcpsplice help all\"",
		    string_shown(arg));
	}
	return 0;
}

/* Is the word meant for the switch in front of it? A tool's argument may be such
 * a word too. */
static bool
is_for_switch(const struct argv_state *st, const char *arg)
{
	const char *before = st->argv[st->at - 1];

	if (st->o->operands.n > 0)
		return false;
	if (strcmp(arg, "any") == 0)
		return strcmp(before, "--fail") == 0;
	return before[0] == '-' && strcmp(before, "--") != 0 &&
	    mistype_is_switch_value(arg);
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
	else if ((!st->operand || is_for_switch(st, arg)) &&
	    command == COMMAND_PROXY)
		*st->why = mistype_command(arg);
	if (*st->why != NULL)
		return -1;
	st->operand = true;
	if (command != COMMAND_PROXY) {
		st->o->command = command;
		st->o->command_at = st->at;
		return 0;
	}
	if (st->o->command == COMMAND_WRAP ||
	    (st->url &&
		(st->o->command == COMMAND_CALL ||
		    (st->o->command == COMMAND_TOOLS &&
			st->o->operands.n == 0)))) {
		strings_add(&st->o->operands, xstrdup(arg));
		return 0;
	}
	if (!st->url) {
		st->url = true;
		add_word(st, option_table_named("url"), arg, false);
		return 0;
	}
	if (!st->port && is_port(arg)) {
		st->port = st->out->port = true;
		add_word(st, option_table_named("callback-port"), arg, false);
		return 0;
	}
	command = command_of(arg);
	if (command != COMMAND_PROXY && st->o->command == COMMAND_PROXY)
		return fail_why(st->why,
		    "put the command first: mcpsplice %s URL", arg);
	if (strstr(arg, "://") != NULL)
		return fail_why(st->why, "two URLs given; mcpsplice takes one");
	if (mistype_meant(span_of(arg)) != NULL)
		*st->why = mistype_command(arg);
	else
		fail_why(st->why,
		    "unexpected argument \"%s\" after the URL; quote a value "
		    "that contains spaces",
		    string_shown(arg));
	return -1;
}

/* Does the word begin with a dash of a text program, U+2010 to U+2015? In an
 * argument of a tool it may be meant. */
static bool
has_long_dash(const struct argv_state *st, const char *arg)
{
	return strncmp(arg, "\xe2\x80", 2) == 0 &&
	    (unsigned char)arg[2] >= 0x90 && (unsigned char)arg[2] <= 0x95 &&
	    (st->o->command != COMMAND_CALL || st->o->operands.n == 0);
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

int
option_argv_read(struct option_argv *out, struct options *o, int argc,
    char **argv, char **why)
{
	struct argv_state st = {
		.out = out, .o = o, .argc = argc, .argv = argv, .why = why
	};
	bool ended = false;
	char *arg;
	int rc = 0;

	*out = (struct option_argv){ 0 };
	out->leftover = leftover(argc, argv, &out->remote);
	for (st.at = 1 + out->leftover; rc == 0 && st.at < argc; st.at++) {
		arg = argv[st.at];
		if (has_long_dash(&st, arg))
			rc = fail_why(why,
			    "\"%.40s\" begins with a typographic dash; use -",
			    arg);
		else if (ended || st.topic || arg[0] != '-' || arg[1] == '\0')
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
