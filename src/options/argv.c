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

#include "options/argv.h"

#include <stdlib.h>

/* Many users look for this option, which deliberately does not exist. */
#define SECRET_NAME "client-secret"

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
	char **why;
};

char *
option_argv_unknown(const char *prefix, const char *dashes, struct span name)
{
	const char *near = option_table_nearest(name);
	int n = name.n > 60 ? 60 : (int)name.n;

	if (span_is(name, SECRET_NAME))
		return xasprintf("%sthere is no %s" SECRET_NAME
				 ", a secret does not belong there; use "
				 "%s" SECRET_NAME "-file FILE or "
				 "%s" SECRET_NAME "-env VAR",
		    prefix, dashes, dashes, dashes);
	if (span_is(name, "insecure") || span_is(name, "k"))
		return xasprintf("%sthere is no %s%.*s: certificates are "
				 "always checked; %scacert FILE trusts one "
				 "of your own",
		    prefix, dashes, n, name.p, dashes[0] == '-' ? "--" : "");
	if (near == NULL)
		/* a file may have been written for a newer copy */
		return xasprintf("%sunknown option \"%s%.*s\"; \"mcpsplice "
				 "help all\" lists %s",
		    prefix, dashes, n, name.p,
		    *prefix == '\0' ? "them" :
				      "those of mcpsplice " PACKAGE_VERSION);
	return xasprintf("%sunknown option \"%s%.*s\" (did you mean %s%s?)",
	    prefix, dashes, n, name.p, dashes, near);
}

/* Adds a setting and overwrites the secret part of value, which lies in argv.
 * value may be NULL. */
static void
add(struct argv_state *st, const struct option_row *row, char *value, bool off)
{
	struct option_setting *s;
	struct span secret;

	s = option_set_add(&st->out->settings, row, WEIGHT_ARGV,
	    string_copy(value), xstrdup("command line"),
	    xasprintf("--%s", row->name));
	s->off = off;
	s->behind = st->url;
	st->help = st->help || strcmp(row->name, "help") == 0;
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
	size_t n = strcspn(arg, "=");
	char *value = arg[n] == '=' ? arg + n + 1 : NULL;
	const struct option_row *row;
	bool off;

	row = option_table_find((struct span){ arg, n }, &off);
	if (row == NULL || (row->flags & OPTION_NO_ARGV) != 0) {
		if (span_is((struct span){ arg, n }, SECRET_NAME))
			blank_secret(st, value);
		*st->why = option_argv_unknown("", "--",
		    (struct span){ arg, n });
		return -1;
	}
	if (row->arg == NULL && value != NULL &&
	    (row->kind != OPTION_FAIL || off || strcmp(value, "any") != 0)) {
		*st->why = xasprintf("--%.*s takes no value%s", (int)n, arg,
		    row->kind == OPTION_FAIL && !off ? " but \"any\"" : "");
		return -1;
	}
	if (row->arg != NULL && value == NULL)
		value = next_value(st, row);
	if (row->arg != NULL && value == NULL)
		return -1;
	add(st, row, value, off);
	return 0;
}

static int
read_letters(struct argv_state *st, char *arg)
{
	const struct option_row *row;
	char *value;

	for (; *arg != '\0'; arg++) {
		row = option_table_letter(*arg);
		if (row == NULL) {
			*st->why = option_argv_unknown("", "-",
			    (struct span){ arg, 1 });
			return -1;
		}
		if (row->arg == NULL) {
			add(st, row, NULL, false);
			continue;
		}
		value = arg[1] != '\0' ? arg + 1 : next_value(st, row);
		if (value == NULL)
			return -1;
		add(st, row, value, false);
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

const char *const option_commands[] = { [COMMAND_PROXY] = "",
	[COMMAND_LOGIN] = "login",
	[COMMAND_LOGOUT] = "logout",
	[COMMAND_STATUS] = "status",
	[COMMAND_REPORT] = "report",
	[COMMAND_TOOLS] = "tools",
	[COMMAND_CALL] = "call",
	[COMMAND_CHECK] = "check",
	[COMMAND_WRAP] = "wrap" };

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

/* Reads what help is wanted about: "all" or a command. */
static int
read_topic(struct argv_state *st, const char *arg)
{
	enum command command = command_of(arg);

	if (strcmp(arg, "all") == 0) {
		st->out->help_all = true;
	} else if (strcmp(arg, "help") == 0 || strcmp(arg, "version") == 0) {
		return 0; /* the first screen says it */
	} else if (command != COMMAND_PROXY) {
		st->out->command = command;
	} else if (st->topic) {
		*st->why = xasprintf("there is no help about \"%.60s\"; "
				     "\"mcpsplice help\" lists the commands",
		    arg);
		return -1;
	}
	return 0;
}

static int
read_operand(struct argv_state *st, char *arg)
{
	enum command command = st->operand ? COMMAND_PROXY : command_of(arg);
	const char *near = st->operand || command != COMMAND_PROXY ?
	    NULL :
	    option_nearest_word(span_of(arg), option_commands + COMMAND_LOGIN,
		COMMANDS - COMMAND_LOGIN);

	if (st->help)
		return read_topic(st, arg);
	if (near != NULL) {
		*st->why = xasprintf("there is no command \"%s\" (did you mean "
				     "%s?)",
		    arg, near);
		return -1;
	}
	if (!st->operand &&
	    (strcmp(arg, "help") == 0 || strcmp(arg, "version") == 0)) {
		st->operand = true;
		st->topic = arg[0] == 'h';
		add(st, option_table_named(arg), NULL, false);
		return 0;
	}
	st->operand = true;
	if (command != COMMAND_PROXY) {
		st->out->command = command;
		return 0;
	}
	if (st->out->command == COMMAND_WRAP) {
		strings_add(&st->out->operands, xstrdup(arg));
		return 0;
	}
	if (!st->url) {
		st->url = true;
		add(st, option_table_named("url"), arg, false);
		return 0;
	}
	if (st->out->command == COMMAND_CALL) {
		strings_add(&st->out->operands, xstrdup(arg));
		return 0;
	}
	if (!st->port && is_port(arg)) {
		st->port = st->out->port = true;
		add(st, option_table_named("callback-port"), arg, false);
		return 0;
	}
	*st->why = xasprintf("unexpected argument \"%.60s\" after the URL; "
			     "put quotes around a value that has blanks",
	    arg);
	return -1;
}

/* Returns how many arguments are left of "npx -y mcp-remote[@VERSION]". */
static int
leftover(int argc, char **argv)
{
	static const char name[] = "mcp-remote";
	int at = 1;

	if (at < argc &&
	    (strcmp(argv[at], "-y") == 0 || strcmp(argv[at], "--yes") == 0))
		at++;
	if (at >= argc || strncmp(argv[at], name, sizeof name - 1) != 0 ||
	    (argv[at][sizeof name - 1] != '\0' &&
		argv[at][sizeof name - 1] != '@'))
		return 0;
	return at;
}

int
option_argv_read(struct option_argv *out, int argc, char **argv, char **why)
{
	struct argv_state st = {
		.out = out, .argc = argc, .argv = argv, .why = why
	};
	bool ended = false;
	char *arg;
	int rc = 0;

	*out = (struct option_argv){ 0 };
	out->leftover = leftover(argc, argv);
	for (st.at = 1 + out->leftover; rc == 0 && st.at < argc; st.at++) {
		arg = argv[st.at];
		if (ended || arg[0] != '-' || arg[1] == '\0')
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
