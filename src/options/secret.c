/* Reads the secrets that options name. */
#include "config.h"

#include "options/secret.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/mem.h"
#include "core/wire/redact.h"
#include "io/file.h"

/* Reads a file into to. Returns 0, or -1 with errno set. */
static int
read_all(const char *path, struct buf *to, bool check)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -1;
	if (check && fstat(fd, &st) == 0)
		file_warn_if_open(path, &st);
	rc = file_get_all(fd, to);
	file_close(fd);
	return rc;
}

static char *
read_file(const char *option, const char *path, bool check, char **why)
{
	struct buf text;
	char *secret = NULL;

	buf_init(&text, BOUND_TEXT_BYTES);
	if (read_all(path, &text, check) != 0) {
		*why = redact_tokens(xasprintf("%s %s cannot be read: %s",
		    option, string_shown(path), strerror(errno)));
	} else {
		while (text.n > 0 && strchr("\r\n", text.p[text.n - 1]))
			text.n--;
		if (text.n == 0 || memchr(text.p, '\0', text.n) != NULL)
			*why = xasprintf("%s %s holds no text", option, path);
		else
			secret = xstrndup(text.p, text.n);
	}
	buf_wipe(&text);
	return secret;
}

char *
secret_file(const char *option, const char *path, char **why)
{
	return read_file(option, path, true, why);
}

char *
secret_platform_file(const char *option, const char *path, char **why)
{
	return read_file(option, path, false, why);
}

void
secret_check(const char *path)
{
	struct stat st;

	if (path != NULL && stat(path, &st) == 0)
		file_warn_if_open(path, &st);
}

void
secret_peek(const char *path, struct buf *to)
{
	struct stat st;

	/* A pipe can be read once only. */
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		read_all(path, to, false);
}

char *
secret_env(const char *option, const char *name, char **why)
{
	const char *value = getenv(name);

	if (value != NULL && *value != '\0')
		return xstrdup(value);
	*why = redact_tokens(xasprintf("%s %s: the variable is not set", option,
	    string_shown(name)));
	return NULL;
}

void
secret_free(char *secret)
{
	string_wipe(&secret);
}
