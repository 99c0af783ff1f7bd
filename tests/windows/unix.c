/*
 * Runs a program of the machine below wine as one of Windows: its input, its
 * output and its status are those of this program. Wine can start such a
 * program, but neither waits for it nor gives it a pipe, so a shell beside it
 * uses files.
 *
 * usage: unix.exe PROGRAM ARGUMENT...
 */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

enum { PATH_CHARS = 1024, LINE_CHARS = 32768, STEP_MS = 10 };

static const wchar_t script[] = L"f=$0; \\\"$@\\\" <$f.in >$f.out 2>$f.err; "
				L"echo $? >$f.new; mv $f.new $f.end";

/* All files are FOLDER/PID.suffix; wine shows them on a drive. Returns one's
 * path there, until the next call. */
static const wchar_t *
path_of(const wchar_t *suffix)
{
	static wchar_t path[PATH_CHARS];

	_snwprintf(path, PATH_CHARS - 1, L"Z:%hs/%lu.%ls", FOLDER,
	    GetCurrentProcessId(), suffix);
	return path;
}

static HANDLE
file_open(const wchar_t *suffix, DWORD access, DWORD how)
{
	return CreateFileW(path_of(suffix), access,
	    FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, how, 0, NULL);
}

static void
copy(HANDLE from, HANDLE to)
{
	char data[65536];
	DWORD n, written;

	while (ReadFile(from, data, sizeof data, &n, NULL) && n > 0)
		WriteFile(to, data, n, &written, NULL);
}

static void
bring(const wchar_t *suffix, DWORD stream)
{
	HANDLE f = file_open(suffix, GENERIC_READ, OPEN_EXISTING);

	copy(f, GetStdHandle(stream));
	CloseHandle(f);
}

/* The words behind this program's own. */
static const wchar_t *
arguments(void)
{
	const wchar_t *p = GetCommandLineW();
	wchar_t end = *p == L'"' ? L'"' : L' ';

	p = wcschr(p + 1, end);
	return p == NULL ? L"" : p + 1;
}

static BOOL
start(void)
{
	static wchar_t line[LINE_CHARS];
	STARTUPINFOW how = { .cb = sizeof how };
	PROCESS_INFORMATION made;

	_snwprintf(line, LINE_CHARS - 1, L"sh -c \"%ls\" %hs/%lu %ls", script,
	    FOLDER, GetCurrentProcessId(), arguments());
	return CreateProcessW(L"Z:\\bin\\sh", line, NULL, NULL, FALSE, 0, NULL,
	    NULL, &how, &made);
}

int
main(void)
{
	HANDLE f = file_open(L"in", GENERIC_WRITE, CREATE_ALWAYS);
	char status[16] = "";
	DWORD n;

	DeleteFileW(path_of(L"end"));
	copy(GetStdHandle(STD_INPUT_HANDLE), f);
	CloseHandle(f);
	if (!start())
		return 126;
	while ((f = file_open(L"end", GENERIC_READ, OPEN_EXISTING)) ==
	    INVALID_HANDLE_VALUE)
		Sleep(STEP_MS);
	ReadFile(f, status, sizeof status - 1, &n, NULL);
	bring(L"out", STD_OUTPUT_HANDLE);
	bring(L"err", STD_ERROR_HANDLE);
	return atoi(status);
}
