/*
 * Paths of Windows, and the places below the user's profile.
 */
#include "config.h"

#include "os/place.h"
#include "os/windows/common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char os_path_separators[] = "\\/";

static bool
is_separator(char c)
{
	return c == '\\' || c == '/';
}

/* Returns the place that a variable names, with below; NULL: it is not set. */
static char *
place_of(const wchar_t *variable, const char *below)
{
	char *folder = os_variable(variable), *path;

	if (folder == NULL || *below == '\0')
		return folder;
	path = os_path_join(folder, below);
	free(folder);
	return path;
}

const char *
os_place(enum os_place what)
{
	static const struct {
		const wchar_t *variable, *otherwise;
		const char *below; /* of which */
	} places[] = {
		[OS_PLACE_HOME] = { L"USERPROFILE", L"HOME", "" },
		[OS_PLACE_DATA] = { L"LOCALAPPDATA", L"USERPROFILE",
		    "AppData\\Local" },
		[OS_PLACE_CONFIG] = { L"APPDATA", L"USERPROFILE",
		    "AppData\\Roaming" },
		[OS_PLACE_SYSTEM] = { NULL, L"ProgramData", "mcpsplice.conf" },
	};
	static char *found[sizeof places / sizeof *places];

	free(found[what]);
	found[what] = places[what].variable == NULL ?
	    NULL :
	    place_of(places[what].variable, "");
	if (found[what] == NULL)
		found[what] = place_of(places[what].otherwise,
		    places[what].below);
	if (found[what] == NULL && what == OS_PLACE_SYSTEM)
		return "C:\\ProgramData\\mcpsplice.conf";
	return found[what];
}

/* Windows has one folder for what is kept on one machine, be it state or what
 * can be lost. */
const char *
os_place_below(const char *path)
{
	static const struct {
		const char *linux, *windows;
	} names[] = {
		{ ".local/state/", "" },
		{ ".config/", "" },
		{ ".cache/mcpsplice", "mcpsplice/cache" },
	};
	static char *found;
	size_t i, n, room;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		n = strlen(names[i].linux);
		if (strncmp(path, names[i].linux, n) != 0)
			continue;
		free(found);
		room = strlen(names[i].windows) + strlen(path + n) + 1;
		found = os_sure(malloc(room));
		snprintf(found, room, "%s%s", names[i].windows, path + n);
		return found;
	}
	return path;
}

const char *
os_place_variable(enum os_place what)
{
	return what == OS_PLACE_HOME ? "USERPROFILE" :
	    what == OS_PLACE_CONFIG  ? "APPDATA" :
				       "LOCALAPPDATA";
}

const char *
os_place_shown(const char *path)
{
	static char *shown;

	free(shown);
	return shown = os_path_join("%LOCALAPPDATA%", os_place_below(path));
}

/* With a drive, or on another machine. */
bool
os_path_absolute(const char *path)
{
	if (path == NULL || path[0] == '\0')
		return false;
	if (is_separator(path[0]))
		return is_separator(path[1]);
	return path[1] == ':' && is_separator(path[2]);
}

const char *
os_path_name(const char *path)
{
	const char *p, *name = path;

	for (p = path; *p != '\0'; p++)
		if (is_separator(*p) || (p == path + 1 && *p == ':'))
			name = p + 1;
	return name;
}

/* The folder of "C:\x" is "C:\", and that of "C:x" is "C:.". */
char *
os_path_folder(const char *path)
{
	size_t n = (size_t)(os_path_name(path) - path);
	char *folder = os_sure(calloc(n + 2, 1));

	memcpy(folder, path, n);
	if (n == 0 || path[n - 1] == ':')
		folder[n] = '.';
	else if (n > 1 && path[n - 2] != ':')
		folder[n - 1] = '\0';
	return folder;
}

char *
os_path_join(const char *folder, const char *name)
{
	size_t n = strlen(folder), m = strlen(name) + 1;
	char *path = os_sure(malloc(n + 1 + m));

	memcpy(path, folder, n);
	if (n > 0 && !is_separator(folder[n - 1]))
		path[n++] = '\\';
	memcpy(path + n, name, m);
	for (; path[n] != '\0'; n++)
		if (path[n] == '/')
			path[n] = '\\';
	return path;
}

char *
os_path_of_program(const char *name)
{
	static wchar_t path[32768]; /* the longest path */

	(void)name;
	return GetModuleFileNameW(NULL, path, sizeof path / sizeof *path) > 0 ?
	    os_plain_path(path) :
	    NULL;
}
