/*
 * Slow motion, for tests on a machine that has more to do. Loaded before the C
 * library of every program of a test, it lets their clocks run SLOW times slower
 * (an environment variable; 1 if there is none), and makes each wait as much
 * longer. So the times of the program, of its peers and of the test stay what
 * they are to each other, and what the processor takes of them gets smaller.
 *
 * All processes of a test share one beginning, from which the time is slow:
 * SLOW_BASE, which the first of them sets. CPU times are real. Programs without
 * a loader are not reached, nor what waits by itself in the kernel, but for TCP's
 * keepalive and time limits.
 *
 *   cc -shared -fPIC -o slow.so slow.c -ldl
 *   SLOW=3 LD_PRELOAD=$PWD/slow.so COMMAND
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { NS = 1000000000 };

static int64_t slow = 1;
static int64_t base_real, base_mono, base_boot; /* ns */

/* The function of that name that would be called without this file. */
#define REAL(name)                                                             \
	static __typeof__(name) *real;                                         \
	if (real == NULL)                                                      \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

static int64_t
now_ns(clockid_t id)
{
	struct timespec t;

	syscall(SYS_clock_gettime, id, &t);
	return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

__attribute__((constructor)) static void
start(void)
{
	const char *times = getenv("SLOW"), *base = getenv("SLOW_BASE");
	long long real, mono, boot;
	char text[80];

	if (times != NULL && atoi(times) > 0)
		slow = atoi(times);
	if (base != NULL &&
	    sscanf(base, "%lld,%lld,%lld", &real, &mono, &boot) == 3) {
		base_real = real;
		base_mono = mono;
		base_boot = boot;
		return;
	}
	base_real = now_ns(CLOCK_REALTIME);
	base_mono = now_ns(CLOCK_MONOTONIC);
	base_boot = now_ns(CLOCK_BOOTTIME);
	snprintf(text, sizeof text, "%lld,%lld,%lld", (long long)base_real,
	    (long long)base_mono, (long long)base_boot);
	setenv("SLOW_BASE", text, 1);
}

/* Where the time of that clock began to be slow; -1: it is not. */
static int64_t
base_of(clockid_t id)
{
	switch (id) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		return base_real;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_MONOTONIC_RAW:
		return base_mono;
	case CLOCK_BOOTTIME:
		return base_boot;
	default:
		return -1;
	}
}

static struct timespec
spec(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS, .tv_nsec = ns % NS };
}

static int64_t
ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * NS + t->tv_nsec;
}

static struct timespec
longer(const struct timespec *t)
{
	return spec(ns_of(t) * slow);
}

/* The real time at which the slow clock is there. */
static struct timespec
real_time(clockid_t id, const struct timespec *t)
{
	int64_t base = base_of(id), ns = ns_of(t);

	return base < 0 ? *t :
			  spec(ns <= base ? ns : base + (ns - base) * slow);
}

/* The slow time of that clock when the real one is there. */
static struct timespec
slow_time(clockid_t id, const struct timespec *t)
{
	int64_t base = base_of(id), ns = ns_of(t);

	return base < 0 ? *t :
			  spec(ns <= base ? ns : base + (ns - base) / slow);
}

static int
longer_ms(int ms)
{
	return ms <= 0            ? ms :
	    ms > INT32_MAX / slow ? INT32_MAX :
				    (int)(ms * slow);
}

/* --- clocks --- */

int
clock_gettime(clockid_t id, struct timespec *t)
{
	if (syscall(SYS_clock_gettime, id, t) != 0)
		return -1;
	*t = slow_time(id, t);
	return 0;
}

int
gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (t != NULL)
		*t = now.tv_sec;
	return now.tv_sec;
}

/* --- files --- */

/* A function that looks at a file: its parameters, and the names of them. */
#define LOOK(name, parameters, arguments)                                      \
	int name parameters                                                    \
	{                                                                      \
		int rc;                                                        \
		REAL(name);                                                    \
                                                                               \
		rc = real arguments;                                           \
		if (rc == 0) {                                                 \
			s->st_atim = slow_time(CLOCK_REALTIME, &s->st_atim);   \
			s->st_mtim = slow_time(CLOCK_REALTIME, &s->st_mtim);   \
			s->st_ctim = slow_time(CLOCK_REALTIME, &s->st_ctim);   \
		}                                                              \
		return rc;                                                     \
	}

/* clang-format off */
LOOK(stat, (const char *restrict path, struct stat *restrict s), (path, s))
LOOK(lstat, (const char *restrict path, struct stat *restrict s), (path, s))
LOOK(fstat, (int fd, struct stat *s), (fd, s))
LOOK(fstatat, (int fd, const char *restrict path,
    struct stat *restrict s, int flags), (fd, path, s, flags))
LOOK(stat64, (const char *restrict path, struct stat64 *restrict s),
    (path, s))
LOOK(lstat64, (const char *restrict path, struct stat64 *restrict s),
    (path, s))
LOOK(fstat64, (int fd, struct stat64 *s), (fd, s))
LOOK(fstatat64, (int fd, const char *restrict path,
    struct stat64 *restrict s, int flags), (fd, path, s, flags))
/* clang-format on */

/* To give a file a time: UTIME_NOW and UTIME_OMIT stand in the nanoseconds. */
static const struct timespec *
real_times(struct timespec out[2], const struct timespec in[2])
{
	int i;

	for (i = 0; in != NULL && i < 2; i++)
		out[i] = in[i].tv_nsec >= NS ?
		    in[i] :
		    real_time(CLOCK_REALTIME, &in[i]);
	return in == NULL ? NULL : out;
}

int
futimens(int fd, const struct timespec times[2])
{
	struct timespec t[2];
	REAL(futimens);

	return real(fd, real_times(t, times));
}

int
utimensat(int fd, const char *path, const struct timespec times[2], int flags)
{
	struct timespec t[2];
	REAL(utimensat);

	return real(fd, path, real_times(t, times), flags);
}

int
utimes(const char *path, const struct timeval times[2])
{
	struct timespec t[2];
	int i;

	for (i = 0; times != NULL && i < 2; i++)
		t[i] = (struct timespec){ .tv_sec = times[i].tv_sec,
			.tv_nsec = times[i].tv_usec * 1000 };
	return utimensat(AT_FDCWD, path, times == NULL ? NULL : t, 0);
}

/* --- sleep --- */

int
clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
    struct timespec *left)
{
	struct timespec until = flags & TIMER_ABSTIME ? real_time(id, t) :
							longer(t);
	int rc;
	REAL(clock_nanosleep);

	rc = real(id, flags, &until, left);
	if (rc == EINTR && left != NULL && !(flags & TIMER_ABSTIME))
		*left = spec(ns_of(left) / slow);
	return rc;
}

int
nanosleep(const struct timespec *t, struct timespec *left)
{
	errno = clock_nanosleep(CLOCK_REALTIME, 0, t, left);
	return errno == 0 ? 0 : -1;
}

int
usleep(useconds_t us)
{
	struct timespec t = spec((int64_t)us * 1000);

	return nanosleep(&t, NULL);
}

unsigned
sleep(unsigned s)
{
	struct timespec t = { .tv_sec = s }, left = { 0 };

	return nanosleep(&t, &left) == 0 ? 0 : (unsigned)left.tv_sec;
}

/* --- descriptors --- */

int
poll(struct pollfd *p, nfds_t n, int ms)
{
	REAL(poll);

	return real(p, n, longer_ms(ms));
}

int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t size);
int
__poll_chk(struct pollfd *p, nfds_t n, int ms, size_t size)
{
	(void)size;
	return poll(p, n, ms);
}

int
ppoll(struct pollfd *p, nfds_t n, const struct timespec *t,
    const sigset_t *mask)
{
	struct timespec l;
	REAL(ppoll);

	if (t != NULL)
		l = longer(t);
	return real(p, n, t == NULL ? NULL : &l, mask);
}

int __ppoll_chk(struct pollfd *p, nfds_t n, const struct timespec *t,
    const sigset_t *mask, size_t size);
int
__ppoll_chk(struct pollfd *p, nfds_t n, const struct timespec *t,
    const sigset_t *mask, size_t size)
{
	(void)size;
	return ppoll(p, n, t, mask);
}

int
pselect(int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict x,
    const struct timespec *restrict t, const sigset_t *restrict mask)
{
	struct timespec l;
	REAL(pselect);

	if (t != NULL)
		l = longer(t);
	return real(n, r, w, x, t == NULL ? NULL : &l, mask);
}

int
select(int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict x,
    struct timeval *restrict t)
{
	struct timespec l;

	if (t != NULL)
		l = spec((int64_t)t->tv_sec * NS + t->tv_usec * 1000);
	return pselect(n, r, w, x, t == NULL ? NULL : &l, NULL);
}

int
epoll_wait(int fd, struct epoll_event *e, int n, int ms)
{
	REAL(epoll_wait);

	return real(fd, e, n, longer_ms(ms));
}

int
epoll_pwait(int fd, struct epoll_event *e, int n, int ms, const sigset_t *mask)
{
	REAL(epoll_pwait);

	return real(fd, e, n, longer_ms(ms), mask);
}

int
epoll_pwait2(int fd, struct epoll_event *e, int n, const struct timespec *t,
    const sigset_t *mask)
{
	struct timespec l;
	REAL(epoll_pwait2);

	if (t != NULL)
		l = longer(t);
	return real(fd, e, n, t == NULL ? NULL : &l, mask);
}

/* --- threads --- */

/* An absolute time without the name of its clock: that of a system that was
 * started in 1970 is small. */
static clockid_t
clock_of(const struct timespec *t)
{
	return ns_of(t) < base_real / 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int
sem_timedwait(sem_t *restrict s, const struct timespec *restrict t)
{
	struct timespec until = real_time(CLOCK_REALTIME, t);
	REAL(sem_timedwait);

	return real(s, &until);
}

int
sem_clockwait(sem_t *restrict s, clockid_t id,
    const struct timespec *restrict t)
{
	struct timespec until = real_time(id, t);
	REAL(sem_clockwait);

	return real(s, id, &until);
}

int
pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
    const struct timespec *restrict t)
{
	struct timespec until = real_time(clock_of(t), t);
	static __typeof__(pthread_cond_timedwait) *real;

	/* an older one has the same name */
	if (real == NULL)
		*(void **)&real = dlvsym(RTLD_NEXT, "pthread_cond_timedwait",
		    "GLIBC_2.3.2");
	return real(c, m, &until);
}

int
pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
    clockid_t id, const struct timespec *restrict t)
{
	struct timespec until = real_time(id, t);
	REAL(pthread_cond_clockwait);

	return real(c, m, id, &until);
}

/* --- times of the kernel --- */

int
setsockopt(int fd, int level, int name, const void *value, socklen_t n)
{
	struct timeval t;
	int number;
	REAL(setsockopt);

	if (level == IPPROTO_TCP && n == sizeof number &&
	    (name == TCP_KEEPIDLE || name == TCP_KEEPINTVL ||
		name == TCP_USER_TIMEOUT)) {
		memcpy(&number, value, sizeof number);
		number = longer_ms(number);
		return real(fd, level, name, &number, n);
	}
	if (level == SOL_SOCKET && n == sizeof t &&
	    (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
		memcpy(&t, value, sizeof t);
		t.tv_sec = t.tv_sec * slow + t.tv_usec * slow / 1000000;
		t.tv_usec = t.tv_usec * slow % 1000000;
		return real(fd, level, name, &t, n);
	}
	return real(fd, level, name, value, n);
}

int
getsockopt(int fd, int level, int name, void *restrict value,
    socklen_t *restrict n)
{
	struct tcp_info *i = value;
	int rc;
	REAL(getsockopt);

	rc = real(fd, level, name, value, n);
	if (rc != 0 || level != IPPROTO_TCP)
		return rc;
	if (name == TCP_INFO && *n >= sizeof *i) {
		i->tcpi_last_data_sent /= (uint32_t)slow;
		i->tcpi_last_data_recv /= (uint32_t)slow;
		i->tcpi_last_ack_recv /= (uint32_t)slow;
	}
	if (name == TCP_KEEPIDLE || name == TCP_KEEPINTVL ||
	    name == TCP_USER_TIMEOUT)
		*(int *)value /= (int)slow;
	return rc;
}
