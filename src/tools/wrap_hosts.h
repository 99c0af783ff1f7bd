/* The hosts whose configuration is known. */
#ifndef MCPSPLICE_TOOLS_WRAP_HOSTS_H
#define MCPSPLICE_TOOLS_WRAP_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

struct wrap_host {
	const char *name;
	const char *path; /* below the home folder */
};

extern const struct wrap_host wrap_hosts[];
extern const size_t wrap_hosts_n;

enum wrap_format { WRAP_JSON, WRAP_TOML, WRAP_BY_HAND };

/* Returns the format that the end of a path tells. */
enum wrap_format wrap_hosts_format(const char *path);
/* Is the file of a host on Windows? In WSL its disks are /mnt/c and so on. path
 * has no links. */
bool wrap_hosts_windows(const char *path, bool in_wsl);

#endif
