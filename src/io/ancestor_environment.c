/*
 * An ancestor is read while it lives, so its number belongs to it. Only if it
 * ends in these microseconds is another process of the same user read, or none.
 */
#include "config.h"

#include "io/ancestor_environment.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "io/private_file.h"
#include "os/process.h"

enum { ANCESTORS_MAX = 64 };

/* Reads a file of a process. Returns false if that cannot be done. */
static bool
read_file(struct buf *out, const char *proc, long pid, const char *name)
{
	char *path = xasprintf("%s/%ld/%s", proc, pid, name);
	int fd = os_file_open(OS_HERE, path, OS_READ);
	bool ok = fd != -1 && file_get_all(fd, out) == 0;

	free(path);
	if (fd != -1)
		os_file_close(fd);
	return ok;
}

/* Are the real, effective, saved and file system user of a process all ours? A
 * name in its status has no line end, so no other line can look like this. */
static bool
is_ours(const char *status)
{
	long us = os_process_user();
	char *line = xasprintf("\nUid:\t%ld\t%ld\t%ld\t%ld\n", us, us, us, us);
	bool is = strstr(status, line) != NULL;

	free(line);
	return is;
}

/* Returns the number of the parent process, or 0. */
static long
parent_of(const char *status)
{
	static const char key[] = "\nPPid:\t";
	const char *at = strstr(status, key);

	return at == NULL ? 0 : strtol(at + sizeof key - 1, NULL, 10);
}

/* Returns the name that this is a variable of, or NULL. */
static const char *
name_of(const char *variable, const char *const *names)
{
	size_t n = strcspn(variable, "=");

	for (; *names != NULL; names++)
		if (strncmp(variable, *names, n) == 0 && (*names)[n] == '\0' &&
		    variable[n] == '=')
			return *names;
	return NULL;
}

/* Takes what we want of an environment, if neither we nor a nearer ancestor has
 * it. */
static void
take(struct strings *found, struct buf *environment, const char *const *names)
{
	const char *at = buf_str(environment), *end = at + environment->n;
	const char *one[2] = { NULL, NULL };
	size_t i;

	for (; at < end; at += strlen(at) + 1) {
		one[0] = name_of(at, names);
		if (one[0] == NULL || getenv(one[0]) != NULL)
			continue;
		for (i = 0; i < found->n; i++)
			if (name_of(found->list[i], one) != NULL)
				break;
		if (i == found->n)
			strings_add(found, xstrdup(at));
	}
}

char **
ancestors_variables(const char *proc, long parent, const char *const *names)
{
	struct strings found = { 0 };
	struct buf status = { .max = BOUND_FILE_BYTES },
		   environment = { .max = BOUND_FILE_BYTES };
	long pid = parent;
	int left;

	for (left = ANCESTORS_MAX; left > 0 && pid > 0; left--) {
		if (!read_file(&status, proc, pid, "status"))
			break;
		if (is_ours(buf_str(&status)) &&
		    read_file(&environment, proc, pid, "environ"))
			take(&found, &environment, names);
		pid = parent_of(buf_str(&status));
		buf_free(&status);
		buf_wipe(&environment);
	}
	buf_free(&status);
	return found.list;
}

char *
ancestors_program(const char *proc, long process)
{
	struct buf name = { .max = BOUND_NAME_BYTES };

	if (!read_file(&name, proc, process, "comm") || name.n < 2) {
		buf_free(&name);
		return NULL;
	}
	name.n--; /* the line end */
	return buf_take(&name);
}
