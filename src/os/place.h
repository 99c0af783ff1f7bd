/*
 * Paths, and where a user's files are.
 */
#ifndef MCPSPLICE_OS_PLACE_H
#define MCPSPLICE_OS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

enum os_place {
	OS_PLACE_HOME,   /* the user's own folder */
	OS_PLACE_DATA,   /* where programs keep what they need */
	OS_PLACE_CONFIG, /* where the user configures programs */
	OS_PLACE_SYSTEM  /* the configuration file for all users */
};

/* Returns the path, or NULL: the environment does not tell. It may be relative,
 * and nothing need be there. It lasts until the next call. */
const char *os_place(enum os_place what);
/* Where Linux has this path below HOME, such as ".cache/mcpsplice", what has
 * the system below OS_PLACE_DATA or OS_PLACE_CONFIG? It lasts until the next
 * call. */
const char *os_place_below(const char *path);

/* For users: the variable that names a place, and how they write what
 * os_place_below has. Both last until the next call. */
const char *os_place_variable(enum os_place what);
const char *os_place_shown(const char *path);

/* What is between the parts of a path; the first one is written. */
extern const char os_path_separators[];
/* Is it a path that does not depend on the current folder? NULL is none. */
bool os_path_absolute(const char *path);
/* Returns the last part of a path, of the same text. */
const char *os_path_name(const char *path);
/* Returns the folder that a path's last part is in, which the caller frees. */
char *os_path_folder(const char *path);
/* Returns a path below a folder, which the caller frees. name may have "/". */
char *os_path_join(const char *folder, const char *name);
/* Returns the absolute path of this program, as it was started: a link to it
 * stays a link, because that is what remains the same after an update. name is
 * its own, argv[0]. The caller frees it; NULL: it cannot be found. */
char *os_path_of_program(const char *name);

#endif
