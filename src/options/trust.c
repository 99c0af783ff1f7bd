/* Finds configuration files that another user could change, like StrictModes of
 * sshd. */
#include "config.h"

#include "options/trust.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct findings {
	char *foreign;     /* first path that belongs to another user */
	struct buf opened; /* paths that others can write to, with a blank
			    * before each */
};

/* Returns the write bits of mode that are dangerous. Whoever may write to a
 * folder can put another file there, but not one that belongs to this user or
 * to root. So a group may write to a folder, which has uses: Homebrew's etc is
 * open to a group. */
static mode_t
too_much(mode_t mode)
{
	if (!S_ISDIR(mode))
		return S_IWGRP | S_IWOTH;
	return (mode & S_ISVTX) != 0 ? 0 : S_IWOTH;
}

static void
look(struct findings *f, const char *path, const struct stat *st)
{
	if (f->foreign == NULL && st->st_uid != geteuid() && st->st_uid != 0)
		f->foreign = xstrdup(path);
	if ((st->st_mode & too_much(st->st_mode)) != 0) {
		buf_addc(&f->opened, ' ');
		buf_adds(&f->opened, path);
	}
}

static char *
folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return xstrdup(".");
	return slash == path ? xstrdup("/") :
			       xstrndup(path, (size_t)(slash - path));
}

/* Nobody can put a file into a read-only folder. A ConfigMap of Kubernetes is
 * mounted that way: its folder has mode 0777, and chmod cannot change that. */
static bool
is_read_only(const char *path)
{
	struct statvfs fs;

	return statvfs(path, &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0;
}

/* Checks this number of folders above path. */
static void
look_above(struct findings *f, const char *path, unsigned folders)
{
	char *at = xstrdup(path), *above;
	struct stat st;

	for (; folders > 0; folders--) {
		above = folder_of(at);
		free(at);
		at = above;
		if (stat(at, &st) != 0)
			continue;
		if (is_read_only(at))
			st.st_mode &= ~(mode_t)S_IWOTH;
		look(f, at, &st);
	}
	free(at);
}

/* Checks the owner of a link, and the folder of the file that it leads to:
 * dotfiles are often kept elsewhere. */
static void
look_at_link(struct findings *f, const char *path)
{
	struct stat st;
	char *real;

	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
		return;
	st.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH); /* meaningless for a link */
	look(f, path, &st);
	real = realpath(path, NULL);
	if (real != NULL)
		look_above(f, real, 1);
	free(real);
}

char *
option_trust(const char *path, int fd, unsigned folders)
{
	struct findings f = { 0 };
	char *why = NULL;
	struct stat st;

	if (fstat(fd, &st) < 0 || S_ISCHR(st.st_mode))
		return NULL;
	buf_init(&f.opened, 0);
	look(&f, path, &st);
	look_at_link(&f, path);
	look_above(&f, path, folders);
	if (f.foreign != NULL)
		why = xasprintf("the configuration file %s is refused: %s "
				"belongs to another user, who could have "
				"programs run by it. Make it yours or root's "
				"with chown, or use a copy%s",
		    path, strcmp(f.foreign, path) == 0 ? "it" : f.foreign,
		    geteuid() == 0 ? "; sudo takes root's own HOME with -H" :
				     "");
	else if (f.opened.n > 0)
		why = xasprintf("the configuration file %s is refused: others "
				"can write it or its folder, and have programs "
				"run by it; \"chmod go-w%s\"",
		    path, buf_str(&f.opened));
	free(f.foreign);
	buf_free(&f.opened);
	return why;
}
