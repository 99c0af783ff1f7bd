/*
 * Between fork and exec only functions run that a signal handler may call:
 * everything that allocates or looks something up is done before. A
 * close-on-exec pipe tells whether the program could be started.
 */
#include "config.h"

#include "os/child.h"

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/posix/ends.h"

const bool os_backslash_escapes = true;

extern char **environ;

enum {
	/* Descriptor of the pipe that reports a failure, above stdio. */
	REPORT_FD = 3,
	/* Used if no call closes all descriptors and there is no sane limit. */
	MAX_FDS = 65536,
	NO_EXEC_STATUS = 127
};

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#ifndef NSIG
#define NSIG 65
#endif

struct os_child {
	pid_t pid; /* 0: it was waited for */
};

/* --- the ends of the pipes --- */

static void
close_fd(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

/* Returns a duplicate of fd at 4 or above, so that dup2 to 0..3 cannot
 * overwrite it; closes fd if it was lower. */
static int
lift(int fd)
{
	int up;

	if (fd > REPORT_FD)
		return fd;
	up = fcntl(fd, F_DUPFD_CLOEXEC, REPORT_FD + 1);
	close(fd);
	return up;
}

/* Makes a pipe. Both ends close on exec; the parent's end does not block.
 * Returns 0, or -1. */
static int
pipe_new(int *ours, int *theirs, int our_side)
{
	int fd[2], flags;

#ifdef HAVE_PIPE2
	if (pipe2(fd, O_CLOEXEC) == -1)
		return -1;
#else
	if (pipe(fd) == -1)
		return -1;
	fcntl(fd[0], F_SETFD, FD_CLOEXEC);
	fcntl(fd[1], F_SETFD, FD_CLOEXEC);
#endif
	*ours = fd[our_side];
	*theirs = lift(fd[1 - our_side]);
	flags = fcntl(*ours, F_GETFL);
	if (*theirs != -1 && flags != -1 &&
	    fcntl(*ours, F_SETFL, flags | O_NONBLOCK) != -1)
		return 0;
	close_fd(ours);
	return -1;
}

static int
read_end(struct os_input **ours, int *theirs)
{
	int fd;

	if (pipe_new(&fd, theirs, 0) == -1)
		return -1;
	*ours = os_input_of(fd);
	return 0;
}

static int
write_end(struct os_output **ours, int *theirs)
{
	int fd;

	if (pipe_new(&fd, theirs, 1) == -1)
		return -1;
	*ours = os_output_of(fd);
	return 0;
}

static int
null_open(int *fd)
{
	*fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (*fd != -1)
		*fd = lift(*fd);
	return *fd == -1 ? -1 : 0;
}

static int
errors_open(const struct os_child_plan *plan, struct os_child_ends *ends,
    int *fd)
{
	if (plan->errors)
		return read_end(&ends->errors, fd);
	if (!plan->our_errors)
		return null_open(fd);
	*fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, REPORT_FD + 1);
	return *fd == -1 ? -1 : 0;
}

static int
pipes_open(const struct os_child_plan *plan, struct os_child_ends *ends,
    int *fds)
{
	if ((plan->input ? write_end(&ends->input, &fds[0]) :
			   null_open(&fds[0])) == -1)
		return -1;
	if ((plan->output ? read_end(&ends->output, &fds[1]) :
			    null_open(&fds[1])) == -1)
		return -1;
	if (errors_open(plan, ends, &fds[2]) == -1)
		return -1;
	return read_end(&ends->report, &fds[REPORT_FD]);
}

/* --- the program --- */

/* Returns 0, or an errno if path cannot be run. */
static int
runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) == -1 ? errno : 0;
}

static const char *
search_path(void)
{
	char **e;

	for (e = environ; e != NULL && *e != NULL; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			return *e + 5;
	return DEFAULT_PATH;
}

/* Like execvp. */
int
os_child_find(const char *name, char **path)
{
	const char *at, *end;
	int error, worst = ENOENT;

	if (name == NULL || *name == '\0')
		return ENOENT;
	if (strchr(name, '/') != NULL) {
		*path = strdup(name);
		return *path == NULL ? ENOMEM : 0;
	}
	for (at = search_path(); *at != '\0'; at = end + (*end == ':')) {
		end = at + strcspn(at, ":");
		if (*at != '/')
			continue;
		if (asprintf(path, "%.*s/%s", (int)(end - at), at, name) == -1)
			return ENOMEM;
		error = runnable(*path);
		if (error == 0)
			return 0;
		if (error == EACCES)
			worst = EACCES;
		free(*path);
		*path = NULL;
	}
	return worst;
}

char **
os_child_environment(void)
{
	return environ;
}

bool
os_child_is_variable(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

/* The functions from here to become run in the child process. */
static void
close_from(int first)
{
	struct rlimit limit;
	int fd, end = MAX_FDS;

#if defined(HAVE_CLOSE_RANGE)
	if (close_range((unsigned)first, UINT_MAX, 0) == 0)
		return;
#elif defined(HAVE_CLOSEFROM)
	closefrom(first);
	return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur < (rlim_t)end)
		end = (int)limit.rlim_cur;
	for (fd = first; fd < end; fd++)
		close(fd);
}

static void
default_signals(void)
{
	struct sigaction action;
	sigset_t none;
	int signo;

	memset(&action, 0, sizeof action);
	action.sa_handler = SIG_DFL;
	sigemptyset(&action.sa_mask);
	for (signo = 1; signo < NSIG; signo++)
		sigaction(signo, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void
become(const struct os_child_plan *plan, const int *fds)
{
	int i, error;

	if (plan->detached)
		setsid();
	for (i = 0; i <= REPORT_FD; i++)
		if (dup2(fds[i], i) == -1)
			_exit(NO_EXEC_STATUS);
	fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC);
	close_from(REPORT_FD + 1);
	default_signals();
	execve(plan->path, plan->argv, plan->environment);
	error = errno;
	while (write(REPORT_FD, &error, sizeof error) == -1 && errno == EINTR)
		;
	_exit(NO_EXEC_STATUS);
}

/* Forks with all signals blocked: in the child, a signal would run the parent's
 * handlers, which write to pipes that both processes share. Returns the pid, or
 * -1. */
static pid_t
fork_child(const struct os_child_plan *plan, const int *fds)
{
	sigset_t all, before;
	int error;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become(plan, fds);
	error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return pid;
}

struct os_child *
os_child_start(const struct os_child_plan *plan, struct os_child_ends *ends)
{
	int fds[REPORT_FD + 1] = { -1, -1, -1, -1 }; /* all are above 3 */
	struct os_child *c = calloc(1, sizeof *c);
	int i, error;

	errno = 0;
	if (c == NULL || pipes_open(plan, ends, fds) == -1 ||
	    (c->pid = fork_child(plan, fds)) == -1) {
		free(c);
		c = NULL;
	}
	error = errno != 0 ? errno : EIO;
	for (i = 0; i <= REPORT_FD; i++)
		close_fd(&fds[i]);
	errno = error;
	return c;
}

bool
os_child_ended(struct os_child *c, int *value, bool *by_signal)
{
	int status;
	pid_t pid = waitpid(c->pid, &status, WNOHANG);

	if (pid == 0 || (pid == -1 && errno == EINTR))
		return false;
	c->pid = 0;
	*by_signal = pid != -1 && WIFSIGNALED(status);
	if (pid == -1) /* somebody else waited for it */
		*value = -1;
	else
		*value = *by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

void
os_child_kill(struct os_child *c)
{
	if (c->pid > 0)
		kill(c->pid, SIGKILL);
}

void
os_child_free(struct os_child *c)
{
	free(c);
}

/* The host may have left it ignored, which libevent ends, or blocked. */
int
os_child_news(int *stream)
{
	sigset_t set;

	*stream = -1;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return sigprocmask(SIG_UNBLOCK, &set, NULL) == -1 ? -1 : SIGCHLD;
}
