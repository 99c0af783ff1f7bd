/*
 * Output of --help: on one screen, about one command, and of "help all", with
 * a line for each option that has a help text and the names of the others of
 * its group below.
 */
#include "config.h"

#include "options/options.h"

#include "base/codec.h"
#include "core/wire/redact.h"
#include "options/set.h"

#define HELP_COLUMNS 79
#define HELP_TEXT_AT 30

static const char *const group_titles[OPTION_GROUPS] = { "Request", "Sign-in",
	"Network", "Times and limits", "Behaviour", "Output" };

/* Adds "-H, --header LINE|@FILE". */
static void
add_name(struct buf *out, const struct option_row *row)
{
	if (row->letter != '\0')
		buf_addf(out, "-%c, ", row->letter);
	buf_addf(out, "--%s", row->name);
	if (row->arg != NULL)
		buf_addf(out, " %s", row->arg);
}

static void
add_preset(struct buf *out, const struct option_row *row)
{
	if (row->preset != NULL)
		buf_addf(out, " (%s)", row->preset);
}

static void
help_line(struct buf *out, const struct option_row *row)
{
	size_t line = out->n;

	buf_adds(out, row->letter == '\0' ? "      " : "  ");
	add_name(out, row);
	buf_pad(out, line, HELP_TEXT_AT);
	buf_adds(out, row->help);
	add_preset(out, row);
	buf_addc(out, '\n');
}

/* Adds the options of a group that have no help text, as many as fit on a
 * line. */
static void
help_run(struct buf *out, enum option_group group)
{
	const struct option_row *row;
	struct buf item = { 0 };
	size_t named, line = out->n, start = out->n;

	for (row = option_table; row->name != NULL; row++) {
		if (row->group != group || row->help != NULL ||
		    (row->flags &
			(OPTION_HIDDEN | OPTION_NO_ARGV | OPTION_UNLISTED)) !=
			0)
			continue;
		buf_reset(&item);
		add_name(&item, row);
		named = item.n;
		add_preset(&item, row);
		/* The manual has the default of one that is too wide. */
		if (2 + item.n > HELP_COLUMNS)
			item.n = named;
		if (out->n > start &&
		    out->n - line + 2 + item.n > HELP_COLUMNS) {
			buf_addc(out, '\n');
			line = out->n;
		}
		buf_adds(out, "  ");
		buf_addspan(out, buf_span(&item));
	}
	if (out->n > start)
		buf_addc(out, '\n');
	buf_free(&item);
}

static const char usage[] =
    "usage: mcpsplice [OPTION...] URL\n"
    "       mcpsplice COMMAND [OPTION...] [URL]\n"
    "Connects an MCP client on stdin/stdout to the MCP server at URL. If the "
    "server\nloses the session, mcpsplice opens a new one and repeats the "
    "refused request.\n"
    "Commands:\n"
    "  tools URL, check URL        list the tools; find out why it fails\n"
    "  call URL TOOL [KEY=VALUE]   call a tool; KEY:=JSON for other values\n"
    "  status [URL], report [URL]  show what runs; write a file for a bug "
    "report\n"
    "  login URL, logout URL       sign in, in a terminal; sign out\n"
    "  wrap [FILE...]              make your MCP hosts use mcpsplice\n"
    "  help [COMMAND|all]          help on a command, or on all options\n"
    "  version                     print the version\n";

struct command_help {
	const char *operands;
	const char *text;
};

static const struct command_help command_helps[COMMANDS] = {
	[COMMAND_LOGIN] = { "URL",
	    "Signs in to the server at URL, or signs in again. Run it in a "
	    "terminal.\n" },
	[COMMAND_LOGOUT] = { "URL",
	    "Signs out of the server at URL: revokes and deletes the "
	    "tokens.\n" },
	[COMMAND_STATUS] = { "[URL]",
	    "Shows where you are signed in, what runs for which host, and what "
	    "last went\nwrong. With URL, shows that server only, ended "
	    "processes included, and exits\nwith 1 if you are not signed in to "
	    "it.\n"
	    "  --json   print one JSON object\n" },
	[COMMAND_REPORT] = { "[URL]",
	    "Writes a file for a bug report: version, system, options, and the "
	    "output of\ncheck and status. Secrets are left out.\n" },
	[COMMAND_TOOLS] = { "URL [TOOL]",
	    "Lists the server's tools, or shows one; prints JSON in a pipe.\n" },
	[COMMAND_CALL] = { "URL TOOL [ARGUMENT...]",
	    "Calls a tool. Each ARGUMENT is one of\n"
	    "  KEY=VALUE   text, a number, true or false\n"
	    "  KEY:=JSON   any other value\n"
	    "  {...}, -    all arguments as a JSON object; - reads it from "
	    "stdin\n"
	    "Exits with 1 if the tool reports an error.\n" },
	[COMMAND_CHECK] = { "URL",
	    "Tries each step of a start with the same options, and says what "
	    "fails and why.\n"
	    "  --json                    print one JSON object\n"
	    "  --save-certificate FILE   only save the server's certificate, "
	    "for use with\n"
	    "                            --cacert FILE\n" },
	[COMMAND_WRAP] = { "[FILE...]",
	    "Shows how to change the configuration of your MCP hosts so that "
	    "they use\nmcpsplice for their remote servers. Without FILE, looks "
	    "at all known hosts.\n"
	    "  --write     change the files; keep a backup beside each\n"
	    "  --restore   undo: swap each file with its newest backup\n"
	    "  --list      list the files of known hosts\n" },
};

static char *
command_help(enum command command)
{
	const struct command_help *help = &command_helps[command];

	return xasprintf("usage: mcpsplice %s [OPTION...] %s\n%s%s"
			 "mcpsplice(1) is the manual.\n",
	    option_commands[command], help->operands, help->text,
	    command == COMMAND_WRAP ?
		"" :
		"The options of \"mcpsplice help all\" work here, too.\n");
}

/* Names and texts, from the manual. */
static const char *const option_texts[][2] = {
#include "options/help_texts.inc"
};

char *
options_help_option(const char *name)
{
	const struct option_row *row = option_table_named(name);
	struct buf out = { 0 };
	size_t i;

	add_name(&out, row);
	add_preset(&out, row);
	buf_addc(&out, '\n');
	for (i = 0; i < sizeof option_texts / sizeof *option_texts; i++)
		if (strcmp(option_texts[i][0], option_table_main(row)->name) ==
		    0)
			buf_adds(&out, option_texts[i][1]);
	return buf_take(&out);
}

static char *
brief_help(void)
{
	const struct option_row *row;
	struct buf out = { 0 };

	buf_adds(&out, usage);
	buf_adds(&out, "Options:\n");
	for (row = option_table; row->name != NULL; row++)
		if ((row->flags & OPTION_BRIEF) != 0)
			help_line(&out, row);
	buf_adds(&out,
	    "For all options, run: mcpsplice help all; the manual is "
	    "mcpsplice(1).\n");
	return buf_take(&out);
}

static char *
long_help(void)
{
	const struct option_row *row;
	struct buf out = { 0 };
	unsigned group;

	buf_adds(&out, usage);
	for (group = 0; group < OPTION_GROUPS; group++) {
		buf_addf(&out, "%s:\n", group_titles[group]);
		for (row = option_table; row->name != NULL; row++)
			if (row->group == group && row->help != NULL &&
			    (row->flags & OPTION_HIDDEN) == 0)
				help_line(&out, row);
		help_run(&out, group);
	}
	buf_adds(&out,
	    "SEC may be a fraction; SIZE may end in K, M or G; --no-NAME turns "
	    "a switch off.\nThe manual, mcpsplice(1), has more options, and the "
	    "files and variables that\ncan set them.\n");
	return buf_take(&out);
}

char *
options_help(enum command command, bool all)
{
	if (all)
		return long_help();
	return command == COMMAND_PROXY ? brief_help() : command_help(command);
}

/* Output of --show-config, which never shows a secret. */

/* Adds the text without its secret part. */
static void
add_masked(struct buf *out, const struct option_row *row, const char *value)
{
	struct span secret = { NULL, 0 };
	struct span text = span_of(value), rest;
	struct buf url = { 0 };
	char *shown;

	if (row->kind == OPTION_HEADER && value[0] != '@') {
		secret.p = strchr(value, ':') + 1;
		secret.n = strlen(secret.p);
	} else if (row->kind == OPTION_STRING &&
	    row->offset != offsetof(struct options, proxy) &&
	    strstr(value, "://") != NULL && (row->flags & OPTION_SECRET) == 0) {
		redact_path(&url, text, "(set)");
		codec_visible(out, buf_span(&url), SIZE_MAX);
		buf_free(&url);
		return;
	} else if (!option_table_secret(row, value, &secret)) {
		shown = xstrdup(value);
		/* a token may have been given where a name belongs */
		if (string_eq(row->arg, "VAR") || string_eq(row->arg, "FILE") ||
		    value[0] == '@')
			shown = redact_tokens(shown);
		codec_visible(out, span_of(shown), SIZE_MAX);
		string_wipe(&shown);
		return;
	}
	text.n = (size_t)(secret.p - value);
	rest = span_of(secret.p + secret.n);
	codec_visible(out, text, SIZE_MAX);
	buf_adds(out, row->kind == OPTION_HEADER ? " (set)" : "(set)");
	codec_visible(out, rest, SIZE_MAX);
}

static void
add_size(struct buf *out, size_t n)
{
	static const char *const units[] = { "", "K", "M", "G" };
	size_t i = 0;

	while (n > 0 && n % 1024 == 0 && i < 3) {
		n /= 1024;
		i++;
	}
	buf_addf(out, "%zu%s", n, units[i]);
}

/* Adds the word of "a|b|c" that the field, an enum, has. */
static void
add_word(struct buf *out, const char *words, const void *field)
{
	buf_addspan(out, option_parse_word(words, *(const unsigned *)field));
}

static void
add_value(struct buf *out, const struct option_row *row, const void *field)
{
	const char *text;

	switch (row->kind) {
	case OPTION_STRING:
	case OPTION_LIST:
	case OPTION_HEADER:
		text = *(char *const *)field;
		if (text == NULL)
			buf_adds(out, "(none)");
		else if (text[0] == '\0')
			buf_adds(out, "\"\"");
		else
			add_masked(out, row, text);
		break;
	case OPTION_SECONDS:
		/* enough digits for any number of milliseconds */
		buf_addf(out, "%.10g", (double)*(const int64_t *)field / 1000);
		break;
	case OPTION_SIZE:
		add_size(out, *(const size_t *)field);
		break;
	case OPTION_UINT:
		buf_addf(out, "%u", *(const unsigned *)field);
		break;
	case OPTION_COUNT:
		buf_addf(out, "%d", *(const int *)field);
		break;
	case OPTION_FAIL:
		add_word(out, "no|yes|any", field);
		break;
	case OPTION_CHOICE:
		add_word(out, row->arg, field);
		break;
	case OPTION_TRANSPORT:
		add_word(out,
		    *(const enum era_transport *)field == TRANSPORT_SSE_FIRST ?
			option_transport_words :
			row->arg,
		    field);
		break;
	default:
		buf_adds(out, *(const bool *)field ? "yes" : "no");
	}
}

/* Adds the first word of a command or parameter: the rest may be a secret, and a
 * report is for others. */
static void
add_first_word(struct buf *out, const char *text)
{
	size_t n = strcspn(text, " \t=");

	codec_visible(out, (struct span){ text, n }, SIZE_MAX);
	if (text[n] != '\0')
		buf_adds(out, " (set)");
}

static void
show_line(struct buf *out, const struct options *o,
    const struct option_row *row, size_t item)
{
	const struct option_origin *origin = &o->origins[row - option_table];
	const void *field = option_field(o, row);
	const struct strings *list = field;
	bool brief = o->command == COMMAND_REPORT && row->arg != NULL &&
	    (strstr(row->arg, "CMD") != NULL ||
		strcmp(row->arg, "NAME=VALUE") == 0);
	/* a list ends with NULL */
	const void *value = option_is_list(row) ? &list->list[item] : field;
	size_t line = out->n;

	buf_adds(out, row->name);
	buf_pad(out, line, 25);
	if (brief && *(char *const *)value != NULL)
		add_first_word(out, *(char *const *)value);
	else
		add_value(out, row, value);
	buf_pad(out, line, 50);
	if (item < origin->n)
		codec_visible(out, span_of(origin->from[item].text), SIZE_MAX);
	else
		buf_adds(out, "default");
	buf_addc(out, '\n');
}

/* Does --show-config show this row? It shows rows with a value of their own,
 * also those that only a variable can set; of other programs' options those
 * that have an effect. */
static bool
shown(const struct option_row *row)
{
	return row->as == NULL && row->kind != OPTION_CONFIG &&
	    row->kind != OPTION_NOTED &&
	    (row->flags & (OPTION_ARGV_ONLY | OPTION_NO_ARGV)) !=
	    OPTION_ARGV_ONLY;
}

char *
options_show(const struct options *o)
{
	const struct option_row *row;
	struct buf out = { 0 };
	size_t i;

	for (row = option_table; row->name != NULL; row++) {
		if (!shown(row))
			continue;
		i = 0;
		do
			show_line(&out, o, row, i);
		while (++i < o->origins[row - option_table].n);
	}
	return buf_take(&out);
}

void
options_origins(const struct options *o,
    void (*each)(const char *name, const char *from, void *arg), void *arg)
{
	const struct option_origin *origin = o->origins;
	const struct option_row *row;
	size_t i;

	for (row = option_table; row->name != NULL; row++, origin++)
		for (i = 0; shown(row) && i < origin->n; i++)
			if (row->offset != offsetof(struct options, url) &&
			    origin->from[i].weight > WEIGHT_DEFAULT)
				each(row->name, origin->from[i].text, arg);
}
