/*
 * The one table of options: names, kinds, fields, defaults and words for
 * --help. Everything that reads or shows options goes through it.
 */
#ifndef MCPSPLICE_OPTIONS_TABLE_H
#define MCPSPLICE_OPTIONS_TABLE_H

#include "base/mem.h"

enum option_kind {
	OPTION_STRING,
	OPTION_LIST,
	OPTION_HEADER,      /* a list item: "Name: value" or "@FILE" */
	OPTION_HEADER_FILE, /* FILE is put there as "@FILE" */
	OPTION_BEARER,      /* a token is put there as Authorization */
	OPTION_SECONDS,     /* int64_t, in ms */
	OPTION_SIZE,        /* size_t, in bytes */
	OPTION_UINT,        /* unsigned */
	OPTION_REPLAY,      /* enum replay, one of arg's words */
	OPTION_PROTOCOL,    /* enum era_protocol, one of arg's words */
	OPTION_TRANSPORT,   /* enum era_transport, one of arg's words or of
			     * option_transport_words */
	OPTION_AUTH,        /* enum auth_mode, one of arg's words */
	OPTION_AUTH_WORD,   /* the same; help is the word it stands for */
	OPTION_LOG_FORMAT,  /* bool, one of arg's words */
	OPTION_SWITCH,      /* bool */
	OPTION_COUNT,       /* int, one more each time */
	OPTION_DEBUG,       /* int, 2 */
	OPTION_KEEP_ALIVE,  /* int64_t, in ms: 30 s or 0 */
	OPTION_CONFIG,      /* a file to read */
	OPTION_NOTED,       /* mcp-remote's, said to have no meaning yet */
	OPTION_NOTED_SWITCH,
	OPTION_REFUSED /* mcp-remote's guard against something: without it
			* the start would be unsafe */
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
	OPTION_HIDDEN = 1,       /* another program's name: not in --help */
	OPTION_ARGV_ONLY = 2,    /* not in files, not in the environment */
	OPTION_SECRET = 4,       /* the whole value is one */
	OPTION_NO_ARGV = 8,      /* no option's name on a command line; with
				 * ARGV_ONLY: a variable alone sets it */
	OPTION_KEEPS_EMPTY = 16, /* "" is a value, not "back to the default" */
	OPTION_UNLISTED = 32     /* in the manual, not in --help */
};

struct option_row {
	const char *name;
	char letter; /* '\0': none */
	enum option_kind kind;
	enum option_group group;
	unsigned flags;
	size_t offset;      /* of the field in struct options */
	const char *arg;    /* what to call its value; NULL: takes none */
	const char *preset; /* the default, as a user would write it */
	int64_t min, max;   /* of numbers, in their unit (ms, bytes); a time
			     * may be 0, too */
	const char *as;     /* the option this is another name for */
	const char *help;   /* NULL: named in a run of its group's others;
			      * of a NOTED or REFUSED option: what is said
			      * about it; of
			      * AUTH_WORD: the word; of another name for
			      * the URL: the word of --transport that the
			      * name stands for */
};

extern const struct option_row option_table[];
extern const size_t option_table_rows;
/* mcp-remote's words, in the order of enum era_transport. Our own, in the
 * table, have none for the last. */
extern const char option_transport_words[];

/* Finds a long name. "no-NAME" turns a switch off, as "NAME" does with one
 * that is called "no-NAME": *off then becomes true. NULL: no such option. */
const struct option_row *option_table_find(struct span name, bool *off);
const struct option_row *option_table_letter(char letter);
/* The row whose field and origin this one shares: itself, or the one it is
 * another name for. */
const struct option_row *option_table_main(const struct option_row *row);
/* The name a user may have meant, or NULL. */
const char *option_table_nearest(struct span name);
/* MCPSPLICE_NAME, owned by the caller. */
char *option_table_variable(const struct option_row *row);
/* Where a literal secret is in an option's value. Returns false when there is
 * none: a ${VAR} and an @FILE only say where it is. */
bool option_table_secret(const struct option_row *row, const char *value,
    struct span *secret);

#endif
