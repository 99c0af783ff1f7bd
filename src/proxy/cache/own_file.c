/* Files that a process has for itself. Invariant: a file with a name of this
 * format is locked before it gets that name, and until its process ends. */
#include "config.h"

#include "proxy/cache/own_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/log.h"
#include "io/private_file.h"
#include "os/random.h"

/* Opens the folder, to be closed with file_close. Returns -1 without it, or
 * without make if it is not there. */
static int
open_folder(const struct own_file *f, bool make)
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
	dir = open_folder(f, true);
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
	    (dir = open_folder(f, false)) >= 0) {
		os_file_remove(dir, f->name);
		file_close(dir);
	}
	file_close(f->fd);
	f->fd = -1;
}

/* --- those of others --- */

struct walk {
	int dir;
	const char *own; /* name of our file */
	own_file_cb *each;
	void *arg;
};

static bool
visit(const char *name, void *arg)
{
	const struct walk *w = arg;
	bool more;
	int fd;

	if (strlen(name) != OWN_FILE_NAME_BYTES - 1 ||
	    strspn(name, "0123456789abcdef") != OWN_FILE_NAME_BYTES - 1 ||
	    strcmp(name, w->own) == 0 ||
	    (fd = file_open(w->dir, name, true)) < 0)
		return true;
	more = w->each(w->dir, name, fd, w->arg);
	file_close(fd);
	return more;
}

void
own_files_each(const struct own_file *f, own_file_cb *each, void *arg)
{
	struct walk w = { open_folder(f, false), f->name, each, arg };

	if (w.dir < 0)
		return;
	os_folder_list(w.dir, BOUND_FILES, visit, &w);
	file_close(w.dir);
}
