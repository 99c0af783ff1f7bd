/*
 * One option as a source gives it, and its way into struct options. Argv, files
 * and the environment are first read into lists of settings, which are then
 * applied in rising weight. So reading and deciding stay apart.
 */
#ifndef MCPSPLICE_OPTIONS_SET_H
#define MCPSPLICE_OPTIONS_SET_H

#include "base/mem.h"
#include "options/options.h"
#include "options/table.h"

/* The functions that return bool return false if s is not such a value. A
 * number that is too large for the range of any option still counts as one. */

/* Returns the word with this index among words like "text|json". */
struct span option_parse_word(const char *words, unsigned i);

enum option_weight {
	WEIGHT_DEFAULT,
	WEIGHT_ORDINARY, /* variables of other programs, like CURL_CA_BUNDLE */
	WEIGHT_ETC,
	WEIGHT_HOME,
	WEIGHT_ENVIRONMENT,
	WEIGHT_CONFIG,
	WEIGHT_ARGV
};

struct option_setting {
	const struct option_row *row;
	char *value; /* NULL: a switch without a value */
	bool off;    /* "no-NAME" */
	enum option_weight weight;
	char *from;    /* the origin, as in --show-config */
	char *label;   /* the name for an error */
	char *section; /* the URL pattern of its section, or NULL */
	bool behind;   /* it stands behind the URL, as mcp-remote has it */
};

struct option_settings {
	struct option_setting *list;
	size_t n;
	size_t cap;
};

/* The origin of a row's value; for a list, one for each item. */
struct option_origin {
	struct option_from {
		char *text;
		enum option_weight weight;
	} * from;
	size_t n;
};

/* Appends a setting, which takes over value, from and label. */
struct option_setting *option_set_add(struct option_settings *all,
    const struct option_row *row, enum option_weight weight, char *value,
    char *from, char *label);
/* Wipes the values and frees the list. */
void option_set_free(struct option_settings *all);

/* Sets the defaults in a zeroed o. */
void option_set_defaults(struct options *o);
/* Writes the setting into o. Returns 0, or -1 with *why. */
int option_set_apply(struct options *o, const struct option_setting *s,
    char **why);

#endif
