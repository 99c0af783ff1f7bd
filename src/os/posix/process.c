#include "config.h"

#include "os/process.h"

#include <sys/types.h>

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

const int os_end_signals[OS_END_SIGNALS] = { SIGTERM, SIGINT, SIGHUP };
const int os_dump_signal = SIGUSR1;

/* Opens /dev/null in place of closed descriptors 0, 1 and 2: a socket that got
 * one of these numbers would be taken for stdio. */
static void
open_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* The limit does not hold for a program that the system gives core files to. On
 * Linux the second call keeps these away, too, and other processes of the user
 * from our memory and environment. */
static void
no_core(void)
{
	struct rlimit none = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &none);
#ifdef PR_SET_DUMPABLE
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* Gives the memory of a large message back to the system when it is freed. The
 * C library would keep more and more of it, in pieces between which a larger
 * message finds no place. */
static void
give_memory_back(void)
{
#ifdef __GLIBC__
	enum { LARGE = 256 * 1024 };

	(void)mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

void
os_process_begin(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	give_memory_back();
	open_stdio();
	no_core();
}

/* Linux's AT_SECURE is not asked: it is also set where SELinux or AppArmor
 * change the domain. */
bool
os_process_is_privileged(void)
{
	return geteuid() != getuid() || getegid() != getgid();
}

void
os_process_take_name(const char *name)
{
#ifdef PR_SET_NAME
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
#else
	(void)name;
#endif
}

void
os_process_unset(const char *name)
{
	unsetenv(name);
}

int
os_process_raise_descriptors(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= r.rlim_max)
		return 0;
	r.rlim_cur = r.rlim_max > 65536 ? 65536 : r.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &r);
}

void
os_process_ignore_pipes(void)
{
	struct sigaction ignore;

	memset(&ignore, 0, sizeof ignore);
	ignore.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &ignore, NULL);
}

char *
os_process_program(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path);

	if (n > 0 && (size_t)n < sizeof path &&
	    access("/proc/self/exe", X_OK) == 0)
		return strdup("/proc/self/exe");
	return NULL;
}

char *
os_process_system(void)
{
	struct utsname u;
	char *text;

	if (uname(&u) != 0 ||
	    asprintf(&text, "%s %s %s", u.sysname, u.release, u.machine) == -1)
		return NULL;
	return text;
}

long
os_process_id(void)
{
	return (long)getpid();
}

long
os_process_user(void)
{
	return (long)getuid();
}

long
os_parent_id(void)
{
	return (long)getppid();
}
