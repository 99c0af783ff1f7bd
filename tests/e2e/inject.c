/*
 * Loaded before the C library: lets calls of it fail. INJECT says which, and
 * INJECT_COUNTS names a file for how often each kind was called so far.
 *
 *   "KIND N ERRNO"  the N-th call of that kind fails
 *   "short"         each read and each write moves one byte at most
 *   "EINTR 3"       one of three reads and writes is interrupted
 *   "EAGAIN 3"      one of three that do not block is put off
 *
 * The name injected.test is that of 127.0.0.1, so that it can be looked up.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
/* The function that this one stands in front of. */
#define NEXT(name) ((__typeof__(&name))next(#name))

enum kind {
	MALLOC,
	READ,
	WRITE,
	CONNECT,
	OPEN,
	FSYNC,
	RENAME,
	GETADDRINFO,
	PTHREAD_CREATE,
	KINDS
};

static const char *const names[KINDS] = { "malloc", "read", "write", "connect",
	"open", "fsync", "rename", "getaddrinfo", "pthread_create" };

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static atomic_ulong *counts;
static enum kind which = KINDS;
static unsigned long nth, every;
static int error;
static bool one_byte;
static _Thread_local bool spared;

static void *
next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static bool
fails(enum kind k)
{
	if (counts == NULL || atomic_fetch_add(&counts[k], 1) + 1 != nth ||
	    k != which || spared)
		return false;
	errno = error;
	return true;
}

/* One of every calls, by chance: at a fixed distance it could always be the
 * same one of a loop. */
static bool
is_next(void)
{
	static atomic_ulong calls;
	unsigned long n = atomic_fetch_add(&calls, 1) * 2654435761UL;

	return every != 0 && (n >> 8) % every == 0;
}

/* Where a program has to expect it: a connect that does not block is not
 * interrupted, and a descriptor that blocks has no EAGAIN. */
static bool
is_disturbed(enum kind k, int fd)
{
	if (fails(k))
		return true;
	if (k == CONNECT || !is_next() ||
	    (error == EAGAIN && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0))
		return false;
	errno = error;
	return true;
}

static size_t
most(size_t n)
{
	return one_byte && n > 1 ? 1 : n;
}

static void __attribute__((constructor)) begin(void)
{
	const char *what = getenv("INJECT"), *path = getenv("INJECT_COUNTS");
	char name[32] = "";
	int fd, i;

	if (what == NULL || path == NULL)
		return;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, KINDS * sizeof *counts) != 0)
		abort();
	one_byte = strcmp(what, "short") == 0;
	if (sscanf(what, "%31s %lu %d", name, &nth, &error) == 2) {
		every = nth;
		nth = 0;
		error = strcmp(name, "EINTR") == 0 ? EINTR : EAGAIN;
	}
	for (i = 0; i < KINDS; i++)
		if (strcmp(name, names[i]) == 0)
			which = (enum kind)i;
	counts = mmap(NULL, KINDS * sizeof *counts, PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		abort();
	close(fd);
}

/* Without memory that of glibc frees twice what it has. */
EXPORT int
regcomp(regex_t *preg, const char *pattern, int flags)
{
	int status;

	spared = true;
	status = NEXT(regcomp)(preg, pattern, flags);
	spared = false;
	return status;
}

EXPORT void *
malloc(size_t n)
{
	return fails(MALLOC) ? NULL : __libc_malloc(n);
}

EXPORT void *
calloc(size_t n, size_t size)
{
	return fails(MALLOC) ? NULL : __libc_calloc(n, size);
}

EXPORT void *
realloc(void *p, size_t n)
{
	return fails(MALLOC) ? NULL : __libc_realloc(p, n);
}

EXPORT ssize_t
read(int fd, void *p, size_t n)
{
	return is_disturbed(READ, fd) ? -1 : NEXT(read)(fd, p, most(n));
}

EXPORT ssize_t
__read_chk(int fd, void *p, size_t n, size_t room)
{
	return n > room ? (abort(), -1) : read(fd, p, n);
}

EXPORT ssize_t
recv(int fd, void *p, size_t n, int flags)
{
	return is_disturbed(READ, fd) ? -1 : NEXT(recv)(fd, p, most(n), flags);
}

/* The byte by which libevent's signal handler wakes its loop: it goes into a
 * pipe that is never full, and the signal would be lost. */
static bool
is_signal(int fd, size_t n)
{
	struct stat st;

	return n == 1 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
}

EXPORT ssize_t
write(int fd, const void *p, size_t n)
{
	if (is_signal(fd, n))
		return NEXT(write)(fd, p, n);
	return is_disturbed(WRITE, fd) ? -1 : NEXT(write)(fd, p, most(n));
}

EXPORT ssize_t
writev(int fd, const struct iovec *v, int n)
{
	struct iovec one;

	if (is_disturbed(WRITE, fd))
		return -1;
	if (!one_byte || n < 1)
		return NEXT(writev)(fd, v, n);
	one.iov_base = v->iov_base;
	one.iov_len = most(v->iov_len);
	return NEXT(writev)(fd, &one, 1);
}

EXPORT ssize_t
send(int fd, const void *p, size_t n, int flags)
{
	return is_disturbed(WRITE, fd) ? -1 : NEXT(send)(fd, p, most(n), flags);
}

EXPORT int
connect(int fd, const struct sockaddr *to, socklen_t n)
{
	return is_disturbed(CONNECT, fd) ? -1 : NEXT(connect)(fd, to, n);
}

/* The mode is there only when a file may be made. */
#define MODE(flags, last)                                                      \
	va_list ap;                                                            \
	mode_t mode;                                                           \
	va_start(ap, last);                                                    \
	mode = ((flags) & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(ap, mode_t) :   \
							0;                     \
	va_end(ap)

EXPORT int
open(const char *path, int flags, ...)
{
	MODE(flags, flags);
	return fails(OPEN) ? -1 : NEXT(open)(path, flags, mode);
}

EXPORT int
open64(const char *path, int flags, ...)
{
	MODE(flags, flags);
	return fails(OPEN) ? -1 : NEXT(open64)(path, flags, mode);
}

EXPORT int
openat(int dir, const char *path, int flags, ...)
{
	MODE(flags, flags);
	return fails(OPEN) ? -1 : NEXT(openat)(dir, path, flags, mode);
}

EXPORT int
openat64(int dir, const char *path, int flags, ...)
{
	MODE(flags, flags);
	return fails(OPEN) ? -1 : NEXT(openat64)(dir, path, flags, mode);
}

EXPORT int
fsync(int fd)
{
	return fails(FSYNC) ? -1 : NEXT(fsync)(fd);
}

EXPORT int
fdatasync(int fd)
{
	return fails(FSYNC) ? -1 : NEXT(fdatasync)(fd);
}

EXPORT int
rename(const char *from, const char *to)
{
	return fails(RENAME) ? -1 : NEXT(rename)(from, to);
}

EXPORT int
renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return fails(RENAME) ? -1 : NEXT(renameat)(from_dir, from, to_dir, to);
}

EXPORT int
getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
    struct addrinfo **out)
{
	if (fails(GETADDRINFO))
		return EAI_SYSTEM;
	if (host != NULL && strcmp(host, "injected.test") == 0)
		host = "127.0.0.1";
	return NEXT(getaddrinfo)(host, port, hints, out);
}

EXPORT int
pthread_create(pthread_t *t, const pthread_attr_t *how, void *(*fn)(void *),
    void *arg)
{
	return fails(PTHREAD_CREATE) ? error :
				       NEXT(pthread_create)(t, how, fn, arg);
}
