#include "config.h"

#include "os/process.h"

#include "os/windows/wake.h"

#include <fcntl.h>
#include <io.h>
#include <shellapi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <winternl.h>

#include "os/terminal.h"

/* Ctrl-Break, a console that is closed, and Ctrl-C. */
const int os_end_signals[OS_END_SIGNALS] = { SIGBREAK, SIGINT, 0 };
const int os_dump_signal = 0;

/* --- the start --- */

static void
take_arguments(int *argc, char ***argv)
{
	int n, i;
	wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &n);
	char **list;

	if (words == NULL)
		return;
	list = os_sure(calloc((size_t)n + 1, sizeof *list));
	for (i = 0; i < n; i++)
		list[i] = os_narrow(words[i]);
	LocalFree(words);
	*argc = n;
	*argv = list;
}

static bool
is_plain(const wchar_t *text)
{
	while (*text > 0 && *text < 128)
		text++;
	return *text == L'\0';
}

/* Gives the C library UTF-8. It sets the variable of the system, too, which gets
 * its own text back. */
static void
take_variable(const wchar_t *entry)
{
	wchar_t *name = os_sure(_wcsdup(entry));
	wchar_t *value = wcschr(name + 1, L'=');
	char *text = os_narrow(entry);

	if (value != NULL) {
		*value++ = L'\0';
		_putenv(text);
		SetEnvironmentVariableW(name, value);
	}
	free(text);
	free(name);
}

static void
take_environment(void)
{
	wchar_t *all = GetEnvironmentStringsW(), *at;

	for (at = all; at != NULL && *at != L'\0'; at += wcslen(at) + 1)
		if (!is_plain(at))
			take_variable(at);
	FreeEnvironmentStringsW(all);
}

/* A console understands UTF-8, and the sequences for colours. */
static void
set_console(int fd)
{
	HANDLE h = (HANDLE)_get_osfhandle(fd);
	DWORD mode;

	if (!os_is_terminal(fd) || !GetConsoleMode(h, &mode))
		return;
	SetConsoleMode(h, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
	SetConsoleOutputCP(CP_UTF8);
}

/* What was not given to this process leads nowhere. */
static void
set_stdio(void)
{
	int fd;

	for (fd = OS_STDIN; fd <= OS_STDERR; fd++) {
		if (_get_osfhandle(fd) < 0)
			_open("NUL", _O_RDWR);
		_setmode(fd, _O_BINARY);
		os_is_terminal(fd);
	}
	_fmode = _O_BINARY;
	set_console(OS_STDOUT);
	set_console(OS_STDERR);
}

/* No window shows an error, and no report contains our memory. */
void
os_process_begin(int *argc, char ***argv)
{
	SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX |
	    SEM_NOOPENFILEERRORBOX);
	os_wake_start();
	set_stdio();
	take_arguments(argc, argv);
	take_environment();
}

/* --- this process --- */

bool
os_process_is_privileged(void)
{
	return false;
}

void
os_process_take_name(const char *name)
{
	(void)name;
}

void
os_process_unset(const char *name)
{
	size_t n = strlen(name);
	char *entry = os_sure(calloc(n + 2, 1));

	memcpy(entry, name, n);
	entry[n] = '=';
	_putenv(entry);
	free(entry);
}

int
os_process_raise_descriptors(void)
{
	return 0;
}

void
os_process_ignore_pipes(void)
{
}

char *
os_process_program(void)
{
	enum { CHARS = 32768 };
	wchar_t *path = os_sure(calloc(CHARS, sizeof *path));
	DWORD n = GetModuleFileNameW(NULL, path, CHARS);
	char *program = n > 0 && n < CHARS ? os_narrow(path) : NULL;

	free(path);
	return program;
}

/* GetVersion reports an older system to a program without a manifest. */
char *
os_process_system(void)
{
	typedef LONG WINAPI ask(OSVERSIONINFOW *);
	OSVERSIONINFOW v = { .dwOSVersionInfoSize = sizeof v };
	FARPROC found = GetProcAddress(GetModuleHandleW(L"ntdll.dll"),
	    "RtlGetVersion");
	char text[64];

	if (found == NULL || ((ask *)(void *)found)(&v) != 0)
		return NULL;
	snprintf(text, sizeof text, "Windows %u.%u.%u x86_64",
	    (unsigned)v.dwMajorVersion, (unsigned)v.dwMinorVersion,
	    (unsigned)v.dwBuildNumber);
	return _strdup(text);
}

long
os_process_id(void)
{
	return (long)GetCurrentProcessId();
}

long
os_process_user(void)
{
	return 0;
}

/* --- the parent --- */

static struct {
	struct os_wake wake;
	HANDLE process, wait;
} parent = { { INVALID_SOCKET, INVALID_SOCKET }, NULL, NULL };

long
os_parent_id(void)
{
	typedef NTSTATUS WINAPI ask(HANDLE, PROCESSINFOCLASS, void *, ULONG,
	    ULONG *);
	FARPROC found = GetProcAddress(GetModuleHandleW(L"ntdll.dll"),
	    "NtQueryInformationProcess");
	PROCESS_BASIC_INFORMATION info;

	memset(&info, 0, sizeof info);
	if (found == NULL ||
	    ((ask *)(void *)found)(GetCurrentProcess(), ProcessBasicInformation,
		&info, sizeof info, NULL) != 0)
		return 0;
	return (long)info.InheritedFromUniqueProcessId;
}

static ULONGLONG
begin_of(HANDLE process)
{
	FILETIME begin = { 0, 0 }, end, kernel, user;

	GetProcessTimes(process, &begin, &end, &kernel, &user);
	return ((ULONGLONG)begin.dwHighDateTime << 32) | begin.dwLowDateTime;
}

static void CALLBACK
on_end(void *arg, BOOLEAN late)
{
	(void)arg;
	(void)late;
	os_wake_send(&parent.wake);
}

/* A parent that began after us has only taken the number of ours. */
int
os_parent_open(int *stream)
{
	DWORD pid = (DWORD)os_parent_id();

	if (pid == 0)
		return -1;
	parent.process = OpenProcess(SYNCHRONIZE |
		PROCESS_QUERY_LIMITED_INFORMATION,
	    FALSE, pid);
	if (parent.process == NULL)
		return GetLastError() == ERROR_INVALID_PARAMETER ? 1 : -1;
	if (begin_of(parent.process) > begin_of(GetCurrentProcess())) {
		os_parent_close(-1);
		return 1;
	}
	if (os_wake_open(&parent.wake) != 0 ||
	    !RegisterWaitForSingleObject(&parent.wait, parent.process, on_end,
		NULL, INFINITE, WT_EXECUTEONLYONCE)) {
		os_parent_close(-1);
		return -1;
	}
	*stream = (int)parent.wake.ours;
	return 0;
}

void
os_parent_close(int stream)
{
	(void)stream;
	if (parent.wait != NULL)
		UnregisterWaitEx(parent.wait, INVALID_HANDLE_VALUE);
	if (parent.process != NULL)
		CloseHandle(parent.process);
	os_wake_close(&parent.wake);
	parent.wait = parent.process = NULL;
}
