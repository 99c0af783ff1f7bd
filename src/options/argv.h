/* The command line, read into settings. */
#ifndef MCPSPLICE_OPTIONS_ARGV_H
#define MCPSPLICE_OPTIONS_ARGV_H

#include "options/set.h"

struct option_argv {
	struct option_settings settings;
	enum command command;
	bool secret; /* a literal secret was given, and is blanked now */
};

/* Reads argv. Returns 0, or -1 with *why. out is to be freed either way. */
int option_argv_read(struct option_argv *out, int argc, char **argv,
    char **why);

/* "unknown option ..." with the name a user may have meant, behind a prefix
 * like "file:3: "; dashes is what stands before names there. */
char *option_argv_unknown(const char *prefix, const char *dashes,
    struct span name);

#endif
