/*
 * What the tests of options/options play with: a world of sources to load
 * options from, and cases. A case lists all fields that differ from the
 * defaults, so a value in the wrong field fails.
 */
#ifndef MCPSPLICE_TESTS_UNIT_OPTIONS_OPTIONS_PLAY_H
#define MCPSPLICE_TESTS_UNIT_OPTIONS_OPTIONS_PLAY_H

#include <sys/types.h>

#include "options/options.h"
#include "unit/unit.h"

#define ARGS_MAX 32
#define URL "http://localhost/mcp"

/* One world for a case: a folder with the files, and an environment. */
struct world {
	char dir[64];
	char *etc, *home, *extra;
	const char *env;                  /* "NAME=value" joined by '|' */
	char *variables, *list[ARGS_MAX]; /* made of env */
	char *args;
	char *argv[ARGS_MAX];
	int argc;
	struct options o;
	char *why;
};

void world_init(struct world *w);
void world_free(struct world *w);
void world_file(const char *path, const char *text, mode_t mode);
/* args are joined by '|'; "EXTRA" as one stands for the extra file. */
int world_load(struct world *w, const char *args);
/* Is that all that is not as by default, the usual URL left out? */
void world_expect(struct world *w, const char *what, const char *want);
/* Has this text of --show-config such a line? */
bool world_shows(const char *text, const char *first, const char *middle,
    const char *last);

struct argv_case {
	const char *args; /* the URL is put behind, then before */
	const char *want;
};

struct refused_case {
	const char *args, *why; /* why "": it is not refused */
};

struct file_case {
	const char *text, *want; /* want NULL: refused */
	const char *why;         /* behind "PATH:" */
};

void play_argv(const struct argv_case *c);
void play_refused(const struct refused_case *c);
void play_file(const struct file_case *c);

#endif
