/*
 * A program gets the handles of its stdio and no others. A batch file is run by
 * cmd.exe, which interprets some characters wherever they are: arguments with
 * them are refused.
 */
#include "config.h"

#include "os/child.h"

#include "os/windows/ends.h"
#include "os/windows/wake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ENDS = 3, LINE_MAX_CHARS = 32767 };

struct os_child {
	HANDLE process, job, wait;
	volatile LONG ended;
};

const bool os_backslash_escapes = false;

/* Tells that some child has ended. */
static struct os_wake news = { INVALID_SOCKET, INVALID_SOCKET };

/* --- text that grows --- */

struct text {
	wchar_t *p;
	size_t n, cap;
};

static void
add(struct text *t, wchar_t c)
{
	if (t->n + 1 >= t->cap) {
		t->cap = t->cap == 0 ? 256 : t->cap * 2;
		t->p = os_sure(realloc(t->p, t->cap * sizeof *t->p));
	}
	t->p[t->n++] = c;
	t->p[t->n] = L'\0';
}

static void
add_text(struct text *t, const wchar_t *s)
{
	while (*s != L'\0')
		add(t, *s++);
}

/* --- the command line --- */

static void
add_many(struct text *t, wchar_t c, size_t n)
{
	while (n-- > 0)
		add(t, c);
}

/* As programs that are made with Microsoft's library take it apart: backslashes
 * before a quote count double. */
static void
add_word(struct text *line, const wchar_t *s)
{
	size_t slashes = 0;

	add(line, L'"');
	for (; *s != L'\0'; s++) {
		if (*s == L'"')
			add_many(line, L'\\', slashes + 1);
		slashes = *s == L'\\' ? slashes + 1 : 0;
		add(line, *s);
	}
	add_many(line, L'\\', slashes);
	add(line, L'"');
}

/* Between quotes cmd.exe interprets only these. */
static int
add_batch_word(struct text *line, const wchar_t *s)
{
	if (wcspbrk(s, L"\"%\r\n") != NULL)
		return -1;
	add_word(line, s);
	return 0;
}

static bool
has_end(const wchar_t *path, const wchar_t *end)
{
	size_t n = wcslen(path), m = wcslen(end);

	return n > m && _wcsicmp(path + n - m, end) == 0;
}

/* cmd.exe strips the outer quotes of what follows /s /c. */
static int
make_batch_line(struct text *line, const wchar_t *path, char *const *argv)
{
	int failed = add_batch_word(line, path);
	wchar_t *word;

	for (argv++; failed == 0 && *argv != NULL; argv++) {
		word = os_wide(*argv);
		add(line, L' ');
		failed = add_batch_word(line, word);
		free(word);
	}
	add(line, L'"');
	return failed;
}

/* Sets *program to what is started with this line. Returns 0, or -1. */
static int
make_line(struct text *line, const wchar_t *path, char *const *argv,
    wchar_t program[MAX_PATH])
{
	wchar_t *word;
	UINT n;

	program[0] = L'\0';
	if (has_end(path, L".cmd") || has_end(path, L".bat")) {
		n = GetSystemDirectoryW(program, MAX_PATH - 16);
		wcscpy(program + n, L"\\cmd.exe");
		add_text(line, L"cmd.exe /e:on /v:off /d /s /c \"");
		return make_batch_line(line, path, argv);
	}
	for (; *argv != NULL; argv++) {
		word = os_wide(*argv);
		if (line->n > 0)
			add(line, L' ');
		add_word(line, word);
		free(word);
	}
	return 0;
}

static wchar_t *
make_block(char *const *environment)
{
	struct text block = { NULL, 0, 0 };
	wchar_t *entry;

	for (; environment != NULL && *environment != NULL; environment++) {
		entry = os_wide(*environment);
		add_text(&block, entry);
		add(&block, L'\0');
		free(entry);
	}
	add(&block, L'\0');
	return block.p;
}

/* --- the environment, and the program --- */

/* Windows keeps the folder of each drive in variables that begin with "=". */
char **
os_child_environment(void)
{
	static char **list;
	wchar_t *all = GetEnvironmentStringsW(), *at;
	size_t n;

	for (n = 0; list != NULL && list[n] != NULL; n++)
		free(list[n]);
	free(list);
	n = 0;
	for (at = all; at != NULL && *at != L'\0'; at += wcslen(at) + 1)
		n++;
	list = os_sure(calloc(n + 1, sizeof *list));
	n = 0;
	for (at = all; at != NULL && *at != L'\0'; at += wcslen(at) + 1)
		list[n++] = os_narrow(at);
	FreeEnvironmentStringsW(all);
	return list;
}

bool
os_child_is_variable(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return _strnicmp(entry, name, n) == 0 && entry[n] == '=';
}

static bool
is_file(const wchar_t *path)
{
	DWORD attributes = GetFileAttributesW(path);

	return attributes != INVALID_FILE_ATTRIBUTES &&
	    (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
}

/* Adds the ends that programs have, unless the path has one. */
static bool
find_end(struct text *path)
{
	static const wchar_t *const ends[] = { L".com", L".exe", L".bat",
		L".cmd" };
	size_t i, n = path->n;

	for (i = 0; i < 4; i++)
		if (has_end(path->p, ends[i]))
			return is_file(path->p);
	for (i = 0; i < 4; i++) {
		path->p[path->n = n] = L'\0';
		add_text(path, ends[i]);
		if (is_file(path->p))
			return true;
	}
	return false;
}

static bool
is_absolute(const wchar_t *folder)
{
	return (folder[0] == L'\\' && folder[1] == L'\\') ||
	    (folder[0] != L'\0' && folder[1] == L':' &&
		(folder[2] == L'\\' || folder[2] == L'/'));
}

/* A folder of PATH may stand in quotes. */
static bool
find_in(struct text *path, const wchar_t *folder, size_t n, const wchar_t *name)
{
	path->n = 0;
	while (n-- > 0) {
		if (*folder != L'"')
			add(path, *folder);
		folder++;
	}
	add(path, L'\\');
	add_text(path, name);
	return is_absolute(path->p) && find_end(path);
}

static bool
search(struct text *path, const wchar_t *name)
{
	DWORD n = GetEnvironmentVariableW(L"PATH", NULL, 0);
	wchar_t *all = os_sure(calloc(n + 1, sizeof *all)), *at;
	bool found = false;
	size_t part;

	GetEnvironmentVariableW(L"PATH", all, n);
	for (at = all; !found && *at != L'\0';
	     at += part + (at[part] == L';')) {
		part = wcscspn(at, L";");
		found = find_in(path, at, part, name);
	}
	free(all);
	return found;
}

int
os_child_find(const char *name, char **path)
{
	struct text found = { NULL, 0, 0 };
	wchar_t *wide;
	bool ok;

	if (name == NULL || *name == '\0')
		return ENOENT;
	wide = os_wide(name);
	if (wcspbrk(wide, L"/\\:") != NULL) {
		add_text(&found, wide);
		ok = find_end(&found);
	} else {
		ok = search(&found, wide);
	}
	if (ok)
		*path = os_narrow(found.p);
	free(found.p);
	free(wide);
	return ok ? 0 : ENOENT;
}

/* --- its stdio --- */

/* Makes a pipe of which ours is not inherited. Returns their end, or NULL. */
static HANDLE
pipe_new(HANDLE *ours, bool we_read)
{
	SECURITY_ATTRIBUTES both = { sizeof both, NULL, TRUE };
	HANDLE r, w;

	if (!CreatePipe(&r, &w, &both, 65536))
		return NULL;
	*ours = we_read ? r : w;
	SetHandleInformation(*ours, HANDLE_FLAG_INHERIT, 0);
	return we_read ? w : r;
}

static HANDLE
null_open(void)
{
	SECURITY_ATTRIBUTES both = { sizeof both, NULL, TRUE };
	HANDLE h = CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
	    FILE_SHARE_READ | FILE_SHARE_WRITE, &both, OPEN_EXISTING, 0, NULL);

	return h == INVALID_HANDLE_VALUE ? NULL : h;
}

static HANDLE
our_errors(void)
{
	HANDLE self = GetCurrentProcess(), h = NULL;

	if (!DuplicateHandle(self, GetStdHandle(STD_ERROR_HANDLE), self, &h, 0,
		TRUE, DUPLICATE_SAME_ACCESS))
		return null_open();
	return h;
}

static HANDLE
read_end(struct os_input **end)
{
	HANDLE ours, theirs = pipe_new(&ours, true);

	if (theirs != NULL)
		*end = os_input_of(ours);
	return theirs;
}

static bool
stdio_open(const struct os_child_plan *plan, struct os_child_ends *ends,
    HANDLE stdio[ENDS])
{
	HANDLE ours;

	stdio[0] = plan->input ? pipe_new(&ours, false) : null_open();
	if (stdio[0] != NULL && plan->input)
		ends->input = os_output_of(ours);
	stdio[1] = plan->output ? read_end(&ends->output) : null_open();
	if (plan->errors)
		stdio[2] = read_end(&ends->errors);
	else
		stdio[2] = plan->our_errors ? our_errors() : null_open();
	return stdio[0] != NULL && stdio[1] != NULL && stdio[2] != NULL;
}

/* --- the start --- */

/* A program that shares no console with us must not open one itself. */
static DWORD
flags_of(const struct os_child_plan *plan)
{
	DWORD flags = EXTENDED_STARTUPINFO_PRESENT |
	    CREATE_UNICODE_ENVIRONMENT | CREATE_SUSPENDED;

	if (plan->detached)
		flags |= CREATE_NEW_PROCESS_GROUP;
	if (plan->detached || GetConsoleCP() == 0)
		flags |= CREATE_NO_WINDOW;
	return flags;
}

static bool
create(const struct os_child_plan *plan, const wchar_t *program, wchar_t *line,
    HANDLE stdio[ENDS], PROCESS_INFORMATION *made)
{
	STARTUPINFOEXW start;
	wchar_t *block = make_block(plan->environment);
	SIZE_T n = 0;
	BOOL ok;

	memset(&start, 0, sizeof start);
	start.StartupInfo.cb = sizeof start;
	start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
	start.StartupInfo.hStdInput = stdio[0];
	start.StartupInfo.hStdOutput = stdio[1];
	start.StartupInfo.hStdError = stdio[2];
	InitializeProcThreadAttributeList(NULL, 1, 0, &n);
	start.lpAttributeList = os_sure(malloc(n));
	ok = InitializeProcThreadAttributeList(start.lpAttributeList, 1, 0,
		 &n) &&
	    UpdateProcThreadAttribute(start.lpAttributeList, 0,
		PROC_THREAD_ATTRIBUTE_HANDLE_LIST, stdio, ENDS * sizeof *stdio,
		NULL, NULL) &&
	    CreateProcessW(program, line, NULL, NULL, TRUE, flags_of(plan),
		block, NULL, &start.StartupInfo, made);
	if (!ok)
		os_failed();
	free(start.lpAttributeList);
	free(block);
	return ok;
}

/* First the byte, then the flag: who sees the flag finds the byte. */
static void CALLBACK
on_end(void *arg, BOOLEAN late)
{
	struct os_child *c = arg;

	(void)late;
	os_wake_send(&news);
	InterlockedExchange(&c->ended, 1);
}

/* Puts what the program starts in one group with it, unless it is to live its
 * own life. */
static struct os_child *
child_of(const struct os_child_plan *plan, const PROCESS_INFORMATION *made)
{
	struct os_child *c = os_sure(calloc(1, sizeof *c));

	c->process = made->hProcess;
	if (!plan->detached)
		c->job = CreateJobObjectW(NULL, NULL);
	if (c->job != NULL && !AssignProcessToJobObject(c->job, c->process)) {
		CloseHandle(c->job);
		c->job = NULL;
	}
	RegisterWaitForSingleObject(&c->wait, c->process, on_end, c, INFINITE,
	    WT_EXECUTEONLYONCE);
	ResumeThread(made->hThread);
	CloseHandle(made->hThread);
	return c;
}

static struct os_child *
run(const struct os_child_plan *plan, HANDLE stdio[ENDS])
{
	struct text line = { NULL, 0, 0 };
	wchar_t *path = os_wide(plan->path), program[MAX_PATH];
	PROCESS_INFORMATION made;
	struct os_child *c = NULL;

	errno = EINVAL;
	if (make_line(&line, path, plan->argv, program) != 0 ||
	    line.n >= LINE_MAX_CHARS)
		;
	else if (create(plan, program[0] != L'\0' ? program : path, line.p,
		     stdio, &made))
		c = child_of(plan, &made);
	free(line.p);
	free(path);
	return c;
}

struct os_child *
os_child_start(const struct os_child_plan *plan, struct os_child_ends *ends)
{
	HANDLE stdio[ENDS] = { NULL, NULL, NULL };
	struct os_child *c = NULL;
	int error, i;

	if (!stdio_open(plan, ends, stdio))
		os_failed();
	else
		c = run(plan, stdio);
	error = errno;
	for (i = 0; i < ENDS; i++)
		if (stdio[i] != NULL)
			CloseHandle(stdio[i]);
	errno = error;
	return c;
}

/* --- the end --- */

bool
os_child_ended(struct os_child *c, int *value, bool *by_signal)
{
	DWORD status = 0;

	if (c->ended == 0)
		return false;
	os_wake_came(&news, true);
	GetExitCodeProcess(c->process, &status);
	*value = (int)status;
	*by_signal = false;
	return true;
}

void
os_child_kill(struct os_child *c)
{
	enum { KILLED = 137 }; /* as a shell reports SIGKILL */

	if (c->job != NULL)
		TerminateJobObject(c->job, KILLED);
	else
		TerminateProcess(c->process, KILLED);
}

void
os_child_free(struct os_child *c)
{
	if (c->wait != NULL)
		UnregisterWaitEx(c->wait, INVALID_HANDLE_VALUE);
	if (c->job != NULL)
		CloseHandle(c->job);
	CloseHandle(c->process);
	free(c);
}

int
os_child_news(int *stream)
{
	*stream = -1;
	if (news.ours == INVALID_SOCKET && os_wake_open(&news) != 0)
		return -1;
	*stream = (int)news.ours;
	return 0;
}
