/* The parent process, by a pidfd or by kqueue. */
#include "config.h"

#include "os/process.h"

#include <sys/types.h>

#include <stdint.h>
#include <unistd.h>
#ifdef HAVE_SYS_SYSCALL_H
#include <sys/syscall.h>
#endif
#if !defined(SYS_pidfd_open) && defined(HAVE_KQUEUE)
#include <sys/event.h>
#endif

/* A descriptor that becomes readable when the process ends, or -1. */
static int
process_fd(pid_t pid)
{
#if defined(SYS_pidfd_open)
	return (int)syscall(SYS_pidfd_open, pid, 0);
#elif defined(HAVE_KQUEUE)
	struct kevent change;
	int fd;

	fd = kqueue();
	if (fd == -1)
		return -1;
	EV_SET(&change, (uintptr_t)pid, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, 0);
	if (kevent(fd, &change, 1, NULL, 0, NULL) == -1) {
		close(fd);
		return -1;
	}
	return fd;
#else
	(void)pid;
	return -1;
#endif
}

/* A parent of 0 is outside of our process namespace. If the parent ends before
 * process_fd, its number may name another process, or none. So getppid is asked
 * again afterwards: only an unchanged parent is the one being watched. */
int
os_parent_open(int *stream)
{
	pid_t parent = getppid();

	if (parent <= 1)
		return -1;
	*stream = process_fd(parent);
	if (getppid() == parent)
		return *stream == -1 ? -1 : 0;
	os_parent_close(*stream);
	return 1;
}

void
os_parent_close(int stream)
{
	if (stream != -1)
		close(stream);
}
