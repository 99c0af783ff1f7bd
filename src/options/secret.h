/* Reads the secrets that options name, from a file or a variable. */
#ifndef MCPSPLICE_OPTIONS_SECRET_H
#define MCPSPLICE_OPTIONS_SECRET_H

#include "base/mem.h"

/* Returns the content of a file without the line end after it, at most 64 KiB.
 * The caller owns it (secret_free). Returns NULL with *why for users; option is
 * the name of the option, for the message. Warns if the file is open to other
 * users. */
char *secret_file(const char *option, const char *path, char **why);
/* Does the same without the warning, for a file that a platform writes: its
 * mode is not the user's choice. */
char *secret_platform_file(const char *option, const char *path, char **why);
/* Returns the value of an environment variable, in the same way. */
char *secret_env(const char *option, const char *name, char **why);
/* Gives the same warning for a file that somebody else reads; NULL is
 * allowed. */
void secret_check(const char *path);
/* Appends a file's content to to, without a word if that fails, or if it is no
 * regular file. */
void secret_peek(const char *path, struct buf *to);
/* Wipes and frees the secret; NULL is allowed. */
void secret_free(char *secret);

#endif
