/*
 * Files, with the calls of POSIX.
 */
#include "config.h"

#include "os/file.h"

#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <sys/xattr.h>
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char os_how_own[] = "Make it yours or root's with chown";
const char os_how_private[] = "\"chmod 600\" it";
const char os_how_shut[2][64] = { "\"chmod go-w", "\"" };

static int
at(int dir)
{
	return dir == OS_HERE ? AT_FDCWD : dir;
}

static enum os_kind
kind_of(mode_t mode)
{
	return S_ISREG(mode) ? OS_REGULAR :
	    S_ISDIR(mode)    ? OS_FOLDER :
	    S_ISLNK(mode)    ? OS_LINK :
	    S_ISCHR(mode)    ? OS_DEVICE :
			       OS_OTHER;
}

static int
fill(int rc, const struct stat *st, struct os_file *f)
{
	if (rc < 0)
		return -1;
	*f = (struct os_file){ .kind = kind_of(st->st_mode),
		.owner = st->st_uid == geteuid() ? OS_OWN :
		    st->st_uid == 0              ? OS_ROOT :
						   OS_FOREIGN,
		.open = (st->st_mode & (S_IRWXG | S_IRWXO)) != 0,
		.others_read = (st->st_mode & (S_IRGRP | S_IROTH)) != 0,
		.others_write = (st->st_mode & (S_IWGRP | S_IWOTH)) != 0,
		.all_replace = (st->st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH,
		.links = (uint64_t)st->st_nlink,
		.device = (uint64_t)st->st_dev,
		.id = (uint64_t)st->st_ino,
		.size = (int64_t)st->st_size,
		.changed_s = (int64_t)st->st_mtime };
#if defined HAVE_STRUCT_STAT_ST_MTIM_TV_NSEC
	f->changed_ns = st->st_mtim.tv_nsec;
#elif defined HAVE_STRUCT_STAT_ST_MTIMESPEC_TV_NSEC
	f->changed_ns = st->st_mtimespec.tv_nsec;
#endif
	return 0;
}

int
os_file_look(int fd, struct os_file *f)
{
	struct stat st;

	return fill(fstat(fd, &st), &st, f);
}

int
os_file_look_at(int dir, const char *name, bool follow, struct os_file *f)
{
	struct stat st;

	return fill(fstatat(at(dir), name, &st,
			follow ? 0 : AT_SYMLINK_NOFOLLOW),
	    &st, f);
}

bool
os_file_same(const struct os_file *a, const struct os_file *b)
{
	return a->device == b->device && a->id == b->id && a->size == b->size &&
	    a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

/* Makes errno ELOOP for a link that open does not follow, whatever the system
 * says. */
static int
no_link(int fd)
{
	if (fd < 0 && errno == EMLINK)
		errno = ELOOP;
#ifdef EFTYPE
	if (fd < 0 && errno == EFTYPE)
		errno = ELOOP;
#endif
	return fd;
}

/* fchmod follows because the umask may have removed bits of the mode. */
int
os_file_open(int dir, const char *name, unsigned how)
{
	int flags = (how & OS_NEW) != 0 ? O_RDWR | O_CREAT | O_EXCL :
	    (how & OS_APPEND) != 0      ? O_WRONLY | O_APPEND | O_CREAT :
	    (how & OS_WRITE) != 0       ? O_RDWR :
					  O_RDONLY;
	int fd;

	flags |= (how & OS_NO_LINK) != 0 ? O_NOFOLLOW : 0;
	flags |= (how & OS_NO_WAIT) != 0 ? O_NONBLOCK : 0;
	fd = no_link(openat(at(dir), name, flags | O_NOCTTY | O_CLOEXEC,
	    S_IRUSR | S_IWUSR));
	if (fd >= 0 && (how & OS_NEW) != 0)
		os_file_hide(fd, false);
	return fd;
}

int
os_folder_open(const char *path, unsigned how)
{
	return open(path,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC |
		((how & OS_NO_LINK) != 0 ? O_NOFOLLOW : 0));
}

int
os_folder_make(const char *path)
{
	return mkdir(path, S_IRWXU);
}

/* EINTR: it is closed. */
int
os_file_close(int fd)
{
	return close(fd) < 0 && errno != EINTR ? -1 : 0;
}

int64_t
os_file_read(int fd, void *p, size_t n)
{
	ssize_t got;

	do
		got = read(fd, p, n);
	while (got < 0 && errno == EINTR);
	return got;
}

int64_t
os_file_read_at(int fd, void *p, size_t n, int64_t at)
{
	ssize_t got;

	do
		got = pread(fd, p, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got;
}

int64_t
os_file_write(int fd, const void *p, size_t n)
{
	ssize_t done;

	do
		done = write(fd, p, n);
	while (done < 0 && errno == EINTR);
	return done;
}

int64_t
os_file_write_at(int fd, const void *p, size_t n, int64_t at)
{
	ssize_t done;

	do
		done = pwrite(fd, p, n, (off_t)at);
	while (done < 0 && errno == EINTR);
	return done;
}

void
os_file_report(const void *p, size_t n)
{
	struct pollfd poller = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&poller, 1, 0) == 1 && (poller.revents & POLLOUT) != 0 &&
	    (poller.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0)
		os_file_write(STDERR_FILENO, p, n);
}

/* Checks ulimit -f: a write past that limit raises a signal that ends the
 * process. */
bool
os_file_allowed(size_t n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 ||
	    limit.rlim_cur == RLIM_INFINITY || (rlim_t)n <= limit.rlim_cur)
		return true;
	errno = EFBIG;
	return false;
}

int
os_file_cut(int fd, int64_t size)
{
	return ftruncate(fd, (off_t)size);
}

/* EINVAL means that the file system has nothing to sync. */
int
os_file_sync(int fd)
{
	return fsync(fd) < 0 && errno != EINVAL ? -1 : 0;
}

int
os_file_hide(int fd, bool folder)
{
	return fchmod(fd, folder ? S_IRWXU : S_IRUSR | S_IWUSR);
}

#ifdef __linux__
/* Gives a file the access list of another one, with which the group's bits of
 * the mode are no rights of the group; or takes that of its folder from it. */
static bool
has_list_of(int fd, const char *path)
{
	static const char name[] = "system.posix_acl_access";
	char list[4096];
	ssize_t n = getxattr(path, name, list, sizeof list);
	int rc = n >= 0      ? fsetxattr(fd, name, list, (size_t)n, 0) :
	    errno == ENODATA ? fremovexattr(fd, name) :
			       -1;

	return rc == 0 || errno == ENODATA || errno == ENOTSUP;
}
#endif

/* Where the new file cannot have that group, no group gets rights. */
int
os_file_like(int fd, const char *path)
{
	struct stat old, st;
	mode_t mode;

	if (path == NULL)
		return fchmod(fd, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
	if (stat(path, &old) < 0 || fstat(fd, &st) < 0)
		return -1;
	mode = old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
#ifdef __linux__
	if (!has_list_of(fd, path))
		mode &= S_IRWXU;
#endif
	if (st.st_gid != old.st_gid && fchown(fd, (uid_t)-1, old.st_gid) < 0)
		mode &= ~(mode_t)S_IRWXG;
	return fchmod(fd, mode);
}

int
os_file_rename(int dir, const char *from, const char *to)
{
	return renameat(at(dir), from, at(dir), to);
}

int
os_file_exchange(int dir, const char *one, const char *other)
{
#ifdef SYS_renameat2
	/* RENAME_EXCHANGE, for which not all C libraries have the name */
	return (int)syscall(SYS_renameat2, at(dir), one, at(dir), other, 2);
#else
	(void)dir, (void)one, (void)other;
	return -1;
#endif
}

int
os_file_remove(int dir, const char *name)
{
	return unlinkat(at(dir), name, 0);
}

int
os_folder_list(int dir, size_t max, os_list_cb *each, void *arg)
{
	struct dirent *e;
	int fd, saved;
	DIR *d;

	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	d = fdopendir(fd);
	if (d == NULL) {
		saved = errno;
		close(fd);
		errno = saved;
		return -1;
	}
	while (max > 0 && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		max--;
		if (!each(e->d_name, arg))
			break;
	}
	closedir(d);
	return 0;
}

/* Systems without flock have fcntl locks, which belong to the process. */
int
os_file_lock(int fd)
{
#ifdef HAVE_FLOCK
	return flock(fd, LOCK_EX | LOCK_NB);
#else
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int rc = fcntl(fd, F_SETLK, &lock);

	if (rc < 0 && errno == EACCES)
		errno = EWOULDBLOCK;
	return rc;
#endif
}

void
os_file_unlock(int fd)
{
#ifdef HAVE_FLOCK
	flock(fd, LOCK_UN);
#else
	struct flock lock = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	fcntl(fd, F_SETLK, &lock);
#endif
}

int
os_folder_lock(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || os_file_lock(fd) == 0 || errno != EWOULDBLOCK)
		return fd;
	close(fd);
	errno = EWOULDBLOCK;
	return -1;
}

bool
os_file_may(const char *path, enum os_may what)
{
	static const int modes[] = { F_OK, R_OK, W_OK, X_OK, W_OK | X_OK };

	return access(path, modes[what]) == 0;
}

bool
os_file_on_read_only(const char *path)
{
	struct statvfs fs;

	return statvfs(path, &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0;
}

char *
os_file_real(const char *path)
{
	return realpath(path, NULL);
}

bool
os_user_is_root(void)
{
	return geteuid() == 0;
}
