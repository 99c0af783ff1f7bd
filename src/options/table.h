/*
 * The one table of options: names, kinds, fields, defaults and texts for
 * --help. All code that reads or shows options uses it.
 */
#ifndef MCPSPLICE_OPTIONS_TABLE_H
#define MCPSPLICE_OPTIONS_TABLE_H

#include "options/options.h"

enum option_kind {
	OPTION_STRING,
	OPTION_LIST,
	OPTION_HEADER,      /* a list item: "Name: value" or "@FILE" */
	OPTION_HEADER_FILE, /* FILE is added to the list as "@FILE" */
	OPTION_BEARER,      /* a token is added to the list as Authorization */
	OPTION_SECONDS,     /* int64_t, in ms */
	OPTION_SIZE,        /* size_t, in bytes */
	OPTION_UINT,        /* unsigned */
	OPTION_CHOICE,      /* an enum, one of arg's words */
	OPTION_TRANSPORT,   /* enum era_transport, one of arg's words or of
			     * option_transport_words */
	OPTION_FIXED,       /* a switch that stands for a value: as has it */
	OPTION_SWITCH,      /* bool */
	OPTION_FAIL,        /* enum fail: a switch, or "any" */
	OPTION_COUNT,       /* int, plus one each time */
	OPTION_CONFIG,      /* a file to read */
	OPTION_NOTED        /* it has no effect, as a note says */
};

enum option_group {
	OPTION_REQUEST,
	OPTION_SIGN_IN,
	OPTION_NETWORK,
	OPTION_LIMITS,
	OPTION_BEHAVIOUR,
	OPTION_OUTPUT,
	OPTION_GROUPS
};

enum {
	OPTION_HIDDEN = 1,       /* name of another program: in no help */
	OPTION_ARGV_ONLY = 2,    /* not in files, not in the environment */
	OPTION_SECRET = 4,       /* the whole value is a secret */
	OPTION_NO_ARGV = 8,      /* no option of the command line; with
				 * ARGV_ONLY: only a variable sets it */
	OPTION_KEEPS_EMPTY = 16, /* "" is a value and does not mean the
				  * default */
	OPTION_UNLISTED = 32,    /* in the manual, not in --help all */
	OPTION_BRIEF = 64,       /* in --help; has a help text */
	OPTION_SENTENCE = 128,   /* in a file, a # in the value is no comment */
	OPTION_GUARD = 256       /* it keeps something from being done */
};

struct option_row {
	const char *name;
	char letter; /* '\0': none */
	enum option_kind kind;
	enum option_group group;
	unsigned flags;
	size_t offset;      /* of the field in struct options */
	const char *arg;    /* name of its value in --help; NULL: it takes
			     * none */
	const char *preset; /* the default in the form that a user would
			     * write */
	int64_t min, max;   /* of numbers, in their unit (ms, bytes); a time may
			     * also be 0 */
	const char *as;     /* the option of which this is another name; FIXED:
			     * with "=" and its value */
	const char *help;   /* NULL: listed by name only; NOTED: the note;
			     * another name for the URL: the word of --transport
			     * that the name stands for */
	enum command owner; /* the command that it is of; COMMAND_PROXY: it is
			     * of all */
};

/* The last one, which is not counted, has no name. */
extern const struct option_row option_table[];
extern const size_t option_table_rows;
/* mcp-remote's words, in the order of enum era_transport. The words in the
 * table have none for the last value. */
extern const char option_transport_words[];

/* Finds a long name. "no-NAME" switches a switch off, and "NAME" does so with
 * one that is called "no-NAME": *off is then set to true. NULL: there is no
 * such option. */
const struct option_row *option_table_find(struct span name, bool *off);
/* Returns the row with this name, which has to be one of the table's. */
const struct option_row *option_table_named(const char *name);
/* Is its field a list, to which this row adds items as they are? */
bool option_is_list(const struct option_row *row);
/* Returns the field of o that this row is about. */
const void *option_field(const struct options *o, const struct option_row *row);
/* Finds a short name. NULL: there is no such option. */
const struct option_row *option_table_letter(char letter);
/* Returns the row whose field and origin this row uses: itself, or the row of
 * which it is another name. */
const struct option_row *option_table_main(const struct option_row *row);
/* Returns the option of which name may be a misspelling, or NULL. */
const struct option_row *option_table_misspelt(struct span name);
/* Returns the name that the user may have meant, by a misspelling or by its
 * beginning, or NULL. */
const char *option_table_nearest(struct span name);
/* Is this a header whose value is a secret? */
bool option_table_names_secret(struct span name);
/* Returns MCPSPLICE_NAME, owned by the caller. */
char *option_table_variable(const struct option_row *row);
/* Finds the literal secret in an option's value. Returns false if there is
 * none: a ${VAR} and an @FILE only name a place. */
bool option_table_secret(const struct option_row *row, const char *value,
    struct span *secret);

/* Finds the next ${NAME} in *text, and moves *text behind it. */
bool option_next_reference(const char **text, struct span *name);

/* Returns what a word of another program means here: the name of an option, or
 * with a blank in it what to do; NULL: not known. Case, "-" and "_" are ignored,
 * except in a single letter. */
const char *mistype_meant(struct span word);
/* Is it a word such as "true", which no switch takes? */
bool mistype_is_switch_value(const char *word);
/* Returns "unknown option ..." with the name that the user may have meant; the
 * caller owns the text. prefix stands in front, like "file:3: "; dashes stands
 * before names. */
char *mistype_option(const char *prefix, const char *dashes, struct span name);
/* Returns the error about a first word that is not a command, owned by the
 * caller; NULL: it may be a URL. */
char *mistype_command(const char *word);
/* Returns what is wrong with a value, such as "has quotes around it": a host, a
 * shell or a person left it so. NULL: nothing. JSON, and a dollar in front of
 * digits, may be meant. */
const char *mistype_value(const char *text);
/* Returns the token in a header, behind "Bearer" and the like: "" if it was torn
 * off at a blank, or never there. */
const char *mistype_token(const char *header);

#endif
