/*
 * Who could have written a configuration file. Its words name programs to run
 * and servers to trust, so it has to be ours or root's, and so has the place
 * it is read from.
 */
#ifndef MCPSPLICE_OPTIONS_TRUST_H
#define MCPSPLICE_OPTIONS_TRUST_H

/* Looks at the file that was opened as path: its owner, who else may write
 * it, and the same of so many folders above it. A folder may be open to its
 * group, and a sticky one, or one that is mounted read-only, to all. A device
 * has no content that anybody could plant. Returns NULL, or why the file is
 * refused and what mends that, owned by the caller. */
char *option_trust(const char *path, int fd, unsigned folders);

#endif
