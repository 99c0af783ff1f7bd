/* Secrets that options name: a file, a variable. */
#ifndef MCPSPLICE_APP_SECRET_H
#define MCPSPLICE_APP_SECRET_H

/* The content of a file, without the line end behind it; at most 64 KiB.
 * Owned by the caller (secret_free). NULL with *why for people; option is the
 * name it was given by. */
char *secret_file(const char *option, const char *path, char **why);
/* The same of an environment variable. */
char *secret_env(const char *option, const char *name, char **why);
/* Wipes and frees; NULL is fine. */
void secret_free(char *secret);

#endif
