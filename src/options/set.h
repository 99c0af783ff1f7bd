/*
 * One option as a source gives it, and its way into struct options. Argv, files
 * and the environment are first read into lists of settings, which are then
 * applied in rising weight. So reading and deciding stay apart.
 */
#ifndef MCPSPLICE_OPTIONS_SET_H
#define MCPSPLICE_OPTIONS_SET_H

#include "options/table.h"

/* Returns the word with this index among words like "text|json". */
struct span option_parse_word(const char *words, unsigned i);
/* Does the text match the extended regular expression? second, unless it is
 * NULL: what the second pair of parentheses has found. */
bool option_matches(const char *text, const char *pattern, struct span *second);
bool option_is_url(const char *text);

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
};

/* The origin of a row's value; for a list, one for each item. */
struct option_origin {
	struct option_from {
		char *text;
		enum option_weight weight;
	} * from;
	size_t n;
};

/* Appends a setting, whose texts the list takes over. */
void option_set_add(struct option_settings *all, struct option_setting s);
/* Wipes the values and frees the list. */
void option_set_free(struct option_settings *all);

/* Sets the defaults in a zeroed o. */
void option_set_defaults(struct options *o);
/* Writes the setting into o. Returns 0, or -1 with *why. */
int option_set_apply(struct options *o, const struct option_setting *s,
    char **why);

/* Returns the variable that the value of this option names, or NULL. */
const char *option_named_variable(const struct options *o,
    const struct option_row *row);

/* --- argv.c --- */

struct option_argv {
	struct option_settings settings;
	/* A literal secret was given, and is overwritten now. */
	bool secret;                       /* of the server */
	const struct option_row *password; /* of a proxy: by this option */
	bool port;                         /* a port stood after the URL */
	int leftover; /* so many arguments in front were not meant for us */
	bool remote;  /* the last one is mcp-remote's name */
};

/* Reads argv; command, operands and what help is wanted about become those of o.
 * Returns 0, or -1 with *why. Free out in both cases. */
int option_argv_read(struct option_argv *out, struct options *o, int argc,
    char **argv, char **why);

/* --- environment.c --- */

/* Returns the value of a variable among "NAME=VALUE", or NULL if it is not set,
 * or empty. variables may be NULL. */
const char *option_environment_get(char *const *variables, const char *name);
/* Reads variables that other programs use too; the last one of an option wins.
 * http_proxy and the like are left to libcurl. */
void option_environment_ordinary(struct option_settings *out,
    char *const *variables);
/* Reads the variable of each option. That of a list has an item per line. */
void option_environment_read(struct option_settings *out,
    char *const *variables);

/* --- config_file.c --- */

/* Reads a file into settings; path NULL: there is none. Only one of --config has
 * to be there. Warns if the file contains a literal secret and others may read
 * it. A file that another user could have written is an error. *why has to be
 * NULL before. Returns 0, or -1 with *why. */
int option_file_read(struct option_settings *out, const char *path,
    enum option_weight weight, struct strings *warnings, char **why);
/* Does the pattern of a section match this URL? "*" is any text, also across
 * slashes, but scheme, host with port and the rest are matched separately, so
 * that a pattern for a host does not match the path of another host. A pattern
 * without "://" starts with the host; one without a path matches all paths.
 * "%2e" is a dot, and "%2e%2e" thus the folder above, as WHATWG's URL standard
 * has it. url may be NULL: then only "*" matches. */
bool option_file_match(const char *pattern, const struct url *url);

/* --- check.c --- */

/* Returns an error with a hint, for users, owned by the caller; or NULL. url is
 * the server's, or NULL if none is given. */
char *option_check(const struct options *o, const struct url *url);

/* Returns what is wrong with text, which url_parse refused with this status,
 * and the URL that may have been meant. It never quotes a password. The caller
 * owns it. */
char *option_bad_url(enum url_status status, const char *text,
    enum command command);
/* Returns what is wrong with the URL of a proxy, to append to the name of its
 * option or variable and owned by the caller, or NULL. It never quotes it. */
char *option_bad_proxy(const char *value);

#endif
