/*
 * The pipes that hosts give to their children can only be read and written by
 * functions that block, and the loop can watch only sockets. So each end has a
 * thread, with one buffer that belongs either to the thread or to the loop: the
 * loop gives it by an event, the thread gives it back by a byte on a socket
 * that the loop watches. An input holds one buffer of bytes that nobody has
 * taken yet. An output reports bytes as written when the system has taken them,
 * so bytes that wait in the buffer count as not written.
 *
 * A thread that is stuck in the system ends with the process.
 */
#include "config.h"

#include "os/windows/ends.h"
#include "os/windows/wake.h"

#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

/* A turn of the thread costs more than the copy of many small parts. */
enum { BUFFER = 65536, PARTS = 2048 };

struct pump {
	struct os_wake wake;
	HANDLE h, thread;
	HANDLE go;    /* the buffer is the thread's */
	LONG users;   /* the loop and the thread */
	LONG over;    /* the thread ends */
	bool own;     /* h is closed at the end */
	bool pipe;    /* it may give 0 bytes before its end */
	DWORD error;  /* of the thread's last call; 0: none */
	size_t at, n; /* the bytes in the buffer */
	char bytes[BUFFER];
};

struct os_input {
	struct pump *p;
};

struct os_output {
	struct pump *p;
	bool busy;     /* the thread writes */
	bool for_user; /* it is a file or a console */
};

const size_t os_output_parts = PARTS;
const int os_output_event = OS_TO_READ;

/* --- the threads --- */

static void
pump_leave(struct pump *p)
{
	if (InterlockedDecrement(&p->users) > 0)
		return;
	if (p->own)
		CloseHandle(p->h);
	if (p->thread != NULL)
		CloseHandle(p->thread);
	CloseHandle(p->go);
	os_wake_close(&p->wake);
	SecureZeroMemory(p->bytes, sizeof p->bytes); /* it may be secret */
	free(p);
}

static void
read_once(struct pump *p)
{
	DWORD n = 0;
	BOOL ok;

	do
		ok = ReadFile(p->h, p->bytes, BUFFER, &n, NULL);
	while (ok && n == 0 && p->pipe &&
	    PeekNamedPipe(p->h, NULL, 0, NULL, NULL, NULL));
	p->error = ok ? 0 : GetLastError();
	p->at = 0;
	p->n = ok ? n : 0;
}

static DWORD WINAPI
run_input(void *arg)
{
	struct pump *p = arg;

	while (p->over == 0) {
		read_once(p);
		os_wake_send(&p->wake);
		if (p->n == 0)
			break;
		WaitForSingleObject(p->go, INFINITE);
	}
	pump_leave(p);
	return 0;
}

static void
write_all(struct pump *p)
{
	size_t at = 0;
	DWORD n;

	p->error = 0;
	while (at < p->n && p->error == 0) {
		if (WriteFile(p->h, p->bytes + at, (DWORD)(p->n - at), &n,
			NULL))
			at += n;
		else
			p->error = GetLastError();
	}
}

static DWORD WINAPI
run_output(void *arg)
{
	struct pump *p = arg;

	for (;;) {
		WaitForSingleObject(p->go, INFINITE);
		if (p->over != 0)
			break;
		write_all(p);
		os_wake_send(&p->wake);
	}
	pump_leave(p);
	return 0;
}

/* Without the pair of sockets or the thread the end is broken from the start:
 * no stream can be watched, and each call fails. */
static struct pump *
pump_new(HANDLE h, bool own, LPTHREAD_START_ROUTINE run)
{
	struct pump *p = os_sure(calloc(1, sizeof *p));

	p->h = h;
	p->own = own;
	p->pipe = GetFileType(h) == FILE_TYPE_PIPE;
	p->users = 2;
	p->go = CreateEventW(NULL, FALSE, FALSE, NULL);
	if (os_wake_open(&p->wake) == 0)
		p->thread = CreateThread(NULL, 0, run, p, 0, NULL);
	if (p->thread == NULL) {
		p->users = 1;
		p->error = ERROR_NOT_ENOUGH_MEMORY;
	}
	return p;
}

static void
pump_free(struct pump *p)
{
	InterlockedExchange(&p->over, 1);
	if (p->thread != NULL)
		CancelSynchronousIo(p->thread);
	SetEvent(p->go);
	pump_leave(p);
}

static HANDLE
handle_of(int fd)
{
	return (HANDLE)_get_osfhandle(fd);
}

/* --- input --- */

struct os_input *
os_input_of(HANDLE h)
{
	struct os_input *in = os_sure(calloc(1, sizeof *in));

	in->p = pump_new(h, true, run_input);
	return in;
}

struct os_input *
os_input_open(int fd)
{
	struct os_input *in = os_sure(calloc(1, sizeof *in));

	in->p = pump_new(handle_of(fd), false, run_input);
	return in;
}

int
os_input_stream(const struct os_input *in)
{
	return in->p->thread == NULL ? -1 : (int)in->p->wake.ours;
}

bool
os_input_ready(const struct os_input *in)
{
	return in->p->thread == NULL || os_wake_came(&in->p->wake, false);
}

/* At the end the byte is left on the socket. */
int64_t
os_input_read(struct os_input *in, void *to, size_t n)
{
	struct pump *p = in->p;

	if (!os_input_ready(in)) {
		errno = EAGAIN;
		return -1;
	}
	if (p->error == ERROR_BROKEN_PIPE || p->error == ERROR_HANDLE_EOF)
		return 0;
	if (p->error != 0)
		return os_set_errno(p->error);
	if (n > p->n - p->at)
		n = p->n - p->at;
	if (n == 0)
		return 0;
	memcpy(to, p->bytes + p->at, n);
	p->at += n;
	if (p->at == p->n) {
		os_wake_came(&p->wake, true);
		SetEvent(p->go);
	}
	return (int64_t)n;
}

void
os_input_close(struct os_input *in)
{
	if (in != NULL)
		pump_free(in->p);
	free(in);
}

/* --- output --- */

struct os_output *
os_output_of(HANDLE h)
{
	struct os_output *o = os_sure(calloc(1, sizeof *o));

	o->p = pump_new(h, true, run_output);
	return o;
}

struct os_output *
os_output_open(int fd, int in)
{
	struct os_output *o = os_sure(calloc(1, sizeof *o));
	DWORD mode;

	(void)in;
	/* while the thread is in a call, another with the same handle waits */
	o->for_user = GetFileType(handle_of(fd)) == FILE_TYPE_DISK ||
	    GetConsoleMode(handle_of(fd), &mode);
	o->p = pump_new(handle_of(fd), false, run_output);
	return o;
}

int
os_output_stream(const struct os_output *o)
{
	return o->p->thread == NULL ? -1 : (int)o->p->wake.ours;
}

static void
fill(struct pump *p, const struct os_part *parts, size_t n)
{
	size_t i, part;

	p->n = 0;
	for (i = 0; i < n && p->n < BUFFER; i++) {
		part = parts[i].n < BUFFER - p->n ? parts[i].n : BUFFER - p->n;
		memcpy(p->bytes + p->n, parts[i].p, part);
		p->n += part;
	}
}

static int64_t
broken(DWORD error)
{
	if (error == ERROR_BROKEN_PIPE || error == ERROR_NO_DATA ||
	    error == ERROR_PIPE_NOT_CONNECTED) {
		errno = EPIPE;
		return -1;
	}
	return os_set_errno(error);
}

int64_t
os_output_write(struct os_output *o, const struct os_part *parts, size_t n)
{
	struct pump *p = o->p;

	if (p->thread == NULL)
		return broken(p->error);
	if (o->busy) {
		if (!os_wake_came(&p->wake, true))
			return 0;
		o->busy = false;
		return p->error != 0 ? broken(p->error) : (int64_t)p->n;
	}
	fill(p, parts, n);
	o->busy = true;
	SetEvent(p->go);
	return 0;
}

bool
os_output_is_for_user(const struct os_output *o)
{
	return o->for_user;
}

/* Nothing reports it but the next write, and the end of stdin. */
int
os_output_end_stream(const struct os_output *o)
{
	(void)o;
	return -1;
}

bool
os_output_has_no_reader(const struct os_output *o)
{
	(void)o;
	return false;
}

void
os_output_close(struct os_output *o)
{
	if (o != NULL)
		pump_free(o->p);
	free(o);
}
