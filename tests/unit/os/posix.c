/* For check_file, by POSIX. */
#include "config.h"

#include <sys/stat.h>

#include <stdlib.h>
#include <unistd.h>

#include "unit/os/system.h"

void
system_open(const char *path, bool write)
{
	if (chmod(path, write ? 0666 : 0644) != 0)
		abort();
}

bool
system_link(const char *to, const char *path)
{
	return symlink(to, path) == 0;
}

bool
system_second_name(const char *of, const char *path)
{
	return link(of, path) == 0;
}

void
system_remove_folder(const char *path)
{
	rmdir(path);
}
