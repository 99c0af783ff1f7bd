/*
 * One option as it was given somewhere, and its way into struct options.
 * Argv, files and the environment are first read into a list of settings;
 * they are applied in rising weight, so reading and deciding stay apart.
 */
#ifndef MCPSPLICE_OPTIONS_SET_H
#define MCPSPLICE_OPTIONS_SET_H

#include "options/options.h"
#include "options/table.h"

enum option_weight {
	WEIGHT_DEFAULT,
	WEIGHT_ORDINARY, /* variables that are not ours, like CURL_CA_BUNDLE */
	WEIGHT_ETC,
	WEIGHT_HOME,
	WEIGHT_ENVIRONMENT,
	WEIGHT_CONFIG,
	WEIGHT_ARGV
};

struct option_setting {
	const struct option_row *row;
	char *value; /* NULL: a switch without one */
	bool off;    /* "no-NAME" */
	enum option_weight weight;
	char *from;    /* as --show-config names its origin */
	char *label;   /* as an error names it */
	char *section; /* the URL pattern it stands under, or NULL */
};

struct option_settings {
	struct option_setting *list;
	size_t n;
	size_t cap;
};

/* Where the value of a row came from; of a list, where each item did. */
struct option_origin {
	struct option_from {
		char *text;
		enum option_weight weight;
	} * from;
	size_t n;
};

/* Appends a setting; takes over value, from and label. */
struct option_setting *option_set_add(struct option_settings *all,
    const struct option_row *row, enum option_weight weight, char *value,
    char *from, char *label);
/* Wipes the values and frees all. */
void option_set_free(struct option_settings *all);

/* Puts the defaults into a zeroed o. */
void option_set_defaults(struct options *o);
/* Writes the setting into o. Returns 0, or -1 with *why. */
int option_set_apply(struct options *o, const struct option_setting *s,
    char **why);
/* Appends an owned string to a list. */
void option_set_string(struct strings *list, char *s);
/* Overwrites bytes in a way no compiler leaves out. */
void option_set_wipe(void *p, size_t n);

#endif
