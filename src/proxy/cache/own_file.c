/* Files that a process has for itself. Invariant: a file with a name of this
 * format is locked before it gets that name, and until its process ends. */
#include "config.h"

#include "proxy/cache/own_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/private_file.h"
#include "os/file.h"
#include "os/random.h"

int
own_file_folder(const struct own_file *f, bool make)
{
	char *why = NULL;
	int dir = file_dir(f->home, f->folder, make, &why);

	if (dir < 0 && (make || errno != ENOENT))
		log_debug("%s: %s", f->lack, why);
	free(why);
	return dir;
}

int
own_file_hold(struct own_file *f)
{
	uint64_t r[2];
	int dir;

	if (f->fd >= 0 && file_linked(f->fd))
		return 0;
	own_file_end(f, false);
	dir = own_file_folder(f, true);
	if (dir < 0)
		return -1;
	file_sweep(dir);
	file_trim(dir, BOUND_LISTED - 1, BOUND_LISTED * f->max_bytes, f->old_s);
	errno = EIO;
	if (os_random(r, sizeof r) == 0) {
		snprintf(f->name, sizeof f->name, "%016" PRIx64 "%016" PRIx64,
		    r[0], r[1]);
		f->fd = file_new_locked(dir, f->name);
	}
	if (f->fd < 0)
		log_debug("%s: %s", f->lack, strerror(errno));
	file_close(dir);
	return f->fd < 0 ? -1 : 0;
}

void
own_file_end(struct own_file *f, bool remove)
{
	int dir;

	if (f->fd < 0)
		return;
	if (remove && file_linked(f->fd) &&
	    (dir = own_file_folder(f, false)) >= 0) {
		os_file_remove(dir, f->name);
		file_close(dir);
	}
	file_close(f->fd);
	f->fd = -1;
}

bool
own_file_is_name(const char *name)
{
	return strlen(name) == OWN_FILE_NAME_BYTES - 1 &&
	    strspn(name, "0123456789abcdef") == OWN_FILE_NAME_BYTES - 1;
}
