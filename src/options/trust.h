/*
 * Checks who could have written a configuration file. A file names programs to
 * run and servers to trust, so it and its folders have to belong to this user
 * or to root.
 */
#ifndef MCPSPLICE_OPTIONS_TRUST_H
#define MCPSPLICE_OPTIONS_TRUST_H

/* Checks the file that was opened as path: its owner, who else may write to it,
 * and the same for this number of folders above it. A folder may be writable
 * for its group, and for all if it is sticky or mounted read-only. A device is
 * accepted, because nobody can plant its content. Returns NULL, or why the file
 * is refused and how to correct that, owned by the caller. */
char *option_trust(const char *path, int fd, unsigned folders);

#endif
