/*
 * Output of --help: on one screen, about one command, and of "help all", with
 * a line for each option that has a help text and the names of the others of
 * its group below.
 */
#include "config.h"

#include "options/options.h"

#include "options/argv.h"
#include "options/table.h"

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
	struct buf item;
	size_t i, named, line = out->n, start = out->n;

	buf_init(&item, 0);
	for (i = 0; i < option_table_rows; i++) {
		row = &option_table[i];
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
    "Lets a program that speaks MCP on stdin and stdout use the MCP server at "
    "URL.\n"
    "When that server forgets the session, mcpsplice opens a new one and sends "
    "the\n"
    "refused request again.\n"
    "Commands:\n"
    "  tools URL, check URL        list the tools; try each step of a start\n"
    "  call URL TOOL [KEY=VALUE]   call a tool; KEY:=JSON for other values\n"
    "  status [URL], report [URL]  show what runs; write a file for a bug "
    "report\n"
    "  login URL, logout URL       sign in, in a terminal; sign out\n"
    "  wrap [FILE...]              change the configuration of your MCP hosts\n"
    "  help [COMMAND|all], version about a command, or all options; the "
    "version\n";

struct command_help {
	const char *operands;
	const char *text;
};

static const struct command_help command_helps[COMMANDS] = {
	[COMMAND_LOGIN] = { "URL",
	    "Signs in to the server at URL, or signs in again. Run it in a "
	    "terminal.\n" },
	[COMMAND_LOGOUT] = { "URL",
	    "Signs out of the server at URL: the tokens are revoked and "
	    "deleted.\n" },
	[COMMAND_STATUS] = { "[URL]",
	    "Shows the sign-ins that are stored, or the one to URL; then the "
	    "exit status\nis 1 if you are not signed in. Also shows what runs, "
	    "for which host, and what\nwent wrong last; for URL, in processes "
	    "that have ended, too.\n"
	    "  --json   print one JSON object\n" },
	[COMMAND_REPORT] = { "[URL]",
	    "Writes a file for a bug report: version, system, options, what "
	    "check says of\nthe server at URL, and what status says. Secrets "
	    "are left out.\n" },
	[COMMAND_TOOLS] = { "URL [TOOL]",
	    "Lists the tools of the server, or shows one; in a pipe as JSON.\n" },
	[COMMAND_CALL] = { "URL TOOL [ARGUMENT...]",
	    "Calls a tool. Each ARGUMENT is one of\n"
	    "  KEY=VALUE   a text, a number, true or false\n"
	    "  KEY:=JSON   any other value\n"
	    "  {...}, -    all, as a JSON object; - reads it from stdin\n"
	    "Exits with 1 if the tool says that it failed.\n" },
	[COMMAND_CHECK] = { "URL",
	    "Tries each step of a start with the same options, and says what "
	    "fails and why.\n"
	    "  --json                    print one JSON object\n"
	    "  --save-certificate FILE   save the certificate that the server "
	    "shows, to\n"
	    "                            trust it with --cacert FILE; nothing "
	    "else is tried\n" },
	[COMMAND_WRAP] = { "[FILE...]",
	    "Shows how the configuration of your MCP hosts would use "
	    "mcpsplice for the\n"
	    "remote servers in it. Without FILE it looks at all hosts that it "
	    "knows.\n"
	    "  --write     change the files; a backup stays beside each\n"
	    "  --restore   exchange each file and its newest backup\n"
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
		"\"mcpsplice help all\" has the options of a start; all of "
		"them work here, too.\n");
}

/* Names and texts, from the manual. */
static const char *const option_texts[][2] = {
#include "options/help_texts.inc"
};

char *
options_help_option(const char *name)
{
	const struct option_row *row = option_table_named(name);
	struct buf out;
	size_t i;

	buf_init(&out, 0);
	add_name(&out, row);
	add_preset(&out, row);
	buf_addc(&out, '\n');
	for (i = 0; i < sizeof option_texts / sizeof *option_texts; i++)
		if (strcmp(option_texts[i][0],
			row->as != NULL ? row->as : name) == 0)
			buf_adds(&out, option_texts[i][1]);
	return buf_take(&out);
}

static char *
brief_help(void)
{
	struct buf out;
	size_t i;

	buf_init(&out, 0);
	buf_adds(&out, usage);
	buf_adds(&out, "Options:\n");
	for (i = 0; i < option_table_rows; i++)
		if ((option_table[i].flags & OPTION_BRIEF) != 0)
			help_line(&out, &option_table[i]);
	buf_adds(&out,
	    "\"mcpsplice help all\" has more options; mcpsplice(1) is the "
	    "manual.\n");
	return buf_take(&out);
}

static char *
long_help(void)
{
	const struct option_row *row;
	struct buf out;
	unsigned group;
	size_t i;

	buf_init(&out, 0);
	buf_adds(&out, usage);
	for (group = 0; group < OPTION_GROUPS; group++) {
		buf_addf(&out, "%s:\n", group_titles[group]);
		for (i = 0; i < option_table_rows; i++) {
			row = &option_table[i];
			if (row->group == group && row->help != NULL &&
			    (row->flags & OPTION_HIDDEN) == 0)
				help_line(&out, row);
		}
		help_run(&out, group);
	}
	buf_adds(&out,
	    "SEC may have a fraction, SIZE a K, M or G; --no-NAME "
	    "turns a switch off.\nmcpsplice(1) has more options, and the files and "
	    "variables they can stand in.\n");
	return buf_take(&out);
}

char *
options_help(enum command command, bool all)
{
	if (all)
		return long_help();
	return command == COMMAND_PROXY ? brief_help() : command_help(command);
}
