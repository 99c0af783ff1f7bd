/* Reads the command line into settings. */
#ifndef MCPSPLICE_OPTIONS_ARGV_H
#define MCPSPLICE_OPTIONS_ARGV_H

#include "options/set.h"

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

/* Reads argv. Returns 0, or -1 with *why. Free out in both cases. */
int option_argv_read(struct option_argv *out, int argc, char **argv,
    char **why);

/* Returns "unknown option ..." with the name that the user may have meant; the
 * caller owns the text. prefix stands in front, like "file:3: "; dashes stands
 * before names. */
char *option_argv_unknown(const char *prefix, const char *dashes,
    struct span name);

#endif
