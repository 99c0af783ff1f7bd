/*
 * Paths of POSIX, and the places below HOME.
 */
#include "config.h"

#include "os/place.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/memory.h"

const char os_path_separators[] = "/";

const char *
os_place(enum os_place what)
{
	return what == OS_PLACE_SYSTEM ? SYSCONFDIR "/mcpsplice.conf" :
					 getenv("HOME");
}

const char *
os_place_below(const char *path)
{
	return path;
}

const char *
os_place_variable(enum os_place what)
{
	(void)what;
	return "HOME";
}

const char *
os_place_shown(const char *path)
{
	static char *shown;

	free(shown);
	return shown = os_path_join("~", path);
}

bool
os_path_absolute(const char *path)
{
	return path != NULL && path[0] == '/';
}

const char *
os_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

char *
os_path_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return os_sure(strdup("."));
	return os_sure(slash == path ? strdup("/") :
				       strndup(path, (size_t)(slash - path)));
}

char *
os_path_join(const char *folder, const char *name)
{
	size_t n = strlen(folder), m = strlen(name) + 1;
	char *path = os_sure(malloc(n + 1 + m));

	memcpy(path, folder, n);
	if (n > 0 && folder[n - 1] != '/')
		path[n++] = '/';
	memcpy(path + n, name, m);
	return path;
}

static char *
in_path(const char *name)
{
	const char *at = getenv("PATH");
	char *folder, *path;
	size_t n;

	for (; at != NULL && *at != '\0'; at += n + (at[n] == ':')) {
		n = strcspn(at, ":");
		folder = os_sure(strndup(at, n));
		path = os_path_join(folder, name);
		free(folder);
		if (at[0] == '/' && access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

char *
os_path_of_program(const char *name)
{
	const char *last = os_path_name(name);
	char *folder, *real, *path;

	if (last == name)
		return in_path(name);
	folder = os_path_folder(name);
	real = realpath(folder, NULL);
	path = real == NULL ? NULL : os_path_join(real, last);
	free(folder);
	free(real);
	return path;
}
