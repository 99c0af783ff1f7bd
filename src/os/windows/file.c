/*
 * Files, with the calls of Win32. A descriptor is one of the C library, so that
 * 0, 1 and 2 are what they are elsewhere; everything else uses the handle
 * behind it. Files are shared with everybody who opens them, also for removal:
 * only locks keep others out.
 */
#include "config.h"

#include "os/windows/common.h"

#include <aclapi.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

#include "os/file.h"

#define SHARED (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
/* of a lock: far behind the content, as others may not read what is locked */
#define LOCK_HIGH 0x7fffffff
#define FOLDER_LOCK ".lock"
/* how often a file is renamed over one that somebody reads */
#define TRIES 20
#define TRY_MS 10
/* FileRenameInfoEx, which older headers do not have */
#define RENAME_INFO_EX ((FILE_INFO_BY_HANDLE_CLASS)22)
#define EPOCH_S INT64_C(11644473600) /* from 1601 to 1970 */
#define PER_S 10000000               /* of a FILETIME */

const char os_how_own[] = "Make it yours or the administrators' with \"icacls "
			  "FILE /setowner %USERNAME%\"";
const char os_how_private[] = "take their rights with \"icacls FILE "
			      "/inheritance:r /grant:r %USERNAME%:F\"";
const char os_how_shut[2][64] = { "take their right to write with icacls from",
	"" };

static HANDLE
handle(int fd)
{
	return (HANDLE)_get_osfhandle(fd);
}

/* Returns the name of a file in a folder, or a path. NULL with errno set: the
 * folder has no name any more. The caller frees it. */
static wchar_t *
at(int dir, const char *name)
{
	wchar_t *path, *wide;
	DWORD n;

	if (dir == OS_HERE)
		return os_wide_path(name);
	n = GetFinalPathNameByHandleW(handle(dir), NULL, 0, VOLUME_NAME_DOS);
	if (n == 0) {
		os_failed();
		return NULL;
	}
	wide = os_wide(name);
	path = os_sure(calloc(n + wcslen(wide) + 2, sizeof *path));
	GetFinalPathNameByHandleW(handle(dir), path, n + 1, VOLUME_NAME_DOS);
	wcscat(path, L"\\");
	wcscat(path, wide);
	free(wide);
	return path;
}

/* --- what it is --- */

/* Is it another name for what is elsewhere? Files that a cloud or a compressed
 * disk keeps are not. */
static bool
is_link(HANDLE h, bool *special)
{
	FILE_ATTRIBUTE_TAG_INFO tag;

	*special = GetFileInformationByHandleEx(h, FileAttributeTagInfo, &tag,
		       sizeof tag) &&
	    (tag.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
	return *special && IsReparseTagNameSurrogate(tag.ReparseTag);
}

static int
look(HANDLE h, struct os_file *f)
{
	BY_HANDLE_FILE_INFORMATION is;
	FILE_STANDARD_INFO more;
	bool special;
	int64_t time;

	*f = (struct os_file){ .kind = OS_DEVICE, .links = 1 };
	if (GetFileType(h) != FILE_TYPE_DISK) {
		if (GetFileType(h) != FILE_TYPE_CHAR)
			f->kind = OS_OTHER;
		return 0;
	}
	if (!GetFileInformationByHandle(h, &is) ||
	    !GetFileInformationByHandleEx(h, FileStandardInfo, &more,
		sizeof more))
		return os_failed();
	f->kind = is_link(h, &special) ? OS_LINK :
	    more.Directory             ? OS_FOLDER :
					 OS_REGULAR;
	f->links = more.DeletePending ? 0 : is.nNumberOfLinks;
	f->device = is.dwVolumeSerialNumber;
	f->id = (uint64_t)is.nFileIndexHigh << 32 | is.nFileIndexLow;
	f->size = more.EndOfFile.QuadPart;
	time = (int64_t)((uint64_t)is.ftLastWriteTime.dwHighDateTime << 32 |
	    is.ftLastWriteTime.dwLowDateTime);
	f->changed_s = time / PER_S - EPOCH_S;
	f->changed_ns = time % PER_S * 100;
	return os_rights_look(h, f);
}

int
os_file_look(int fd, struct os_file *f)
{
	return look(handle(fd), f);
}

static HANDLE
open_path(const wchar_t *path, DWORD access, DWORD flags)
{
	return CreateFileW(path, access, SHARED, NULL, OPEN_EXISTING,
	    FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
}

int
os_file_look_at(int dir, const char *name, bool follow, struct os_file *f)
{
	wchar_t *path = at(dir, name);
	HANDLE h;
	int rc;

	if (path == NULL)
		return -1;
	h = open_path(path, FILE_READ_ATTRIBUTES | READ_CONTROL,
	    follow ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
	rc = h == INVALID_HANDLE_VALUE ? os_failed() : look(h, f);
	if (h != INVALID_HANDLE_VALUE)
		CloseHandle(h);
	free(path);
	return rc;
}

bool
os_file_same(const struct os_file *a, const struct os_file *b)
{
	return a->device == b->device && a->id == b->id && a->size == b->size &&
	    a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

/* --- open and close --- */

/* Takes the handle. */
static int
descriptor(HANDLE h)
{
	int fd;

	if (h == INVALID_HANDLE_VALUE)
		return os_failed();
	fd = _open_osfhandle((intptr_t)h, _O_BINARY | _O_NOINHERIT);
	if (fd < 0) {
		CloseHandle(h);
		errno = EMFILE;
	}
	return fd;
}

/* A link is opened itself, to be told from other files. What a cloud keeps has
 * no content that way, and is opened again. */
static HANDLE
open_no_link(const wchar_t *path, DWORD access, DWORD make)
{
	HANDLE h = CreateFileW(path, access, SHARED, os_own_security(false),
	    make, FILE_FLAG_OPEN_REPARSE_POINT, NULL);
	bool special;

	if (h == INVALID_HANDLE_VALUE)
		return h;
	if (is_link(h, &special)) {
		CloseHandle(h);
		SetLastError(ERROR_CANT_RESOLVE_FILENAME);
		return INVALID_HANDLE_VALUE;
	}
	if (!special)
		return h;
	CloseHandle(h);
	return CreateFileW(path, access, SHARED, NULL, OPEN_EXISTING, 0, NULL);
}

/* No file of the disk makes anybody wait, and a pipe has no name there. A file
 * that is appended to has only that right, so that each write goes to its end;
 * the right to read is what a lock needs. */
int
os_file_open(int dir, const char *name, unsigned how)
{
	DWORD access = GENERIC_READ, make = OPEN_EXISTING;
	wchar_t *path = at(dir, name);
	int fd;

	if (path == NULL)
		return -1;
	if ((how & OS_APPEND) != 0)
		access |= FILE_APPEND_DATA;
	else if ((how & (OS_WRITE | OS_NEW)) != 0)
		access |= GENERIC_WRITE;
	if ((how & OS_NEW) != 0)
		make = CREATE_NEW;
	else if ((how & OS_APPEND) != 0)
		make = OPEN_ALWAYS;
	fd = descriptor((how & (OS_NO_LINK | OS_NEW)) != 0 ?
		open_no_link(path, access, make) :
		CreateFileW(path, access, SHARED, os_own_security(false), make,
		    0, NULL));
	free(path);
	return fd;
}

int
os_folder_open(const char *path, unsigned how)
{
	wchar_t *wide = os_wide_path(path);
	struct os_file is;
	int fd = descriptor(open_path(wide, GENERIC_READ,
	    (how & OS_NO_LINK) != 0 ? FILE_FLAG_OPEN_REPARSE_POINT : 0));

	free(wide);
	if (fd < 0 || os_file_look(fd, &is) < 0 || is.kind == OS_FOLDER)
		return fd;
	os_file_close(fd);
	errno = is.kind == OS_LINK ? ELOOP : ENOTDIR;
	return -1;
}

int
os_folder_make(const char *path)
{
	wchar_t *wide = os_wide_path(path);
	int rc = CreateDirectoryW(wide, os_own_security(true)) ? 0 :
								 os_failed();

	free(wide);
	return rc;
}

int
os_file_close(int fd)
{
	return _close(fd);
}

/* --- content --- */

static OVERLAPPED
position(int64_t at)
{
	return (OVERLAPPED){ .Offset = (DWORD)at,
		.OffsetHigh = (DWORD)((uint64_t)at >> 32) };
}

static DWORD
part(size_t n)
{
	return n < (1u << 30) ? (DWORD)n : 1u << 30;
}

static int64_t
get(int fd, void *p, size_t n, OVERLAPPED *at)
{
	DWORD got;

	if (ReadFile(handle(fd), p, part(n), &got, at))
		return got;
	return GetLastError() == ERROR_HANDLE_EOF ||
		GetLastError() == ERROR_BROKEN_PIPE ?
	    0 :
	    os_failed();
}

static int64_t
put(int fd, const void *p, size_t n, OVERLAPPED *at)
{
	DWORD done;

	if (!WriteFile(handle(fd), p, part(n), &done, at))
		return os_failed();
	return done;
}

int64_t
os_file_read(int fd, void *p, size_t n)
{
	return get(fd, p, n, NULL);
}

int64_t
os_file_read_at(int fd, void *p, size_t n, int64_t at)
{
	OVERLAPPED o = position(at);

	return get(fd, p, n, &o);
}

int64_t
os_file_write(int fd, const void *p, size_t n)
{
	return put(fd, p, n, NULL);
}

int64_t
os_file_write_at(int fd, const void *p, size_t n, int64_t at)
{
	OVERLAPPED o = position(at);

	return put(fd, p, n, &o);
}

/* A write to a pipe in this mode takes what there is room for. The mode belongs
 * to our end of the pipe, so it is taken back at once. */
void
os_file_report(const void *p, size_t n)
{
	DWORD at_once = PIPE_READMODE_BYTE | PIPE_NOWAIT, wait = 0;
	HANDLE h = handle(2);
	bool set = h != INVALID_HANDLE_VALUE &&
	    GetFileType(h) == FILE_TYPE_PIPE &&
	    SetNamedPipeHandleState(h, &at_once, NULL, NULL);

	if (h != INVALID_HANDLE_VALUE)
		put(2, p, n, NULL);
	if (set)
		SetNamedPipeHandleState(h, &wait, NULL, NULL);
}

bool
os_file_allowed(size_t n)
{
	(void)n;
	return true;
}

int
os_file_cut(int fd, int64_t size)
{
	FILE_END_OF_FILE_INFO end = { .EndOfFile.QuadPart = size };

	return SetFileInformationByHandle(handle(fd), FileEndOfFileInfo, &end,
		   sizeof end) ?
	    0 :
	    os_failed();
}

/* A folder that was opened to be read cannot be synced: its file system keeps a
 * journal. */
int
os_file_sync(int fd)
{
	return FlushFileBuffers(handle(fd)) ||
		GetLastError() == ERROR_ACCESS_DENIED ||
		GetLastError() == ERROR_INVALID_FUNCTION ?
	    0 :
	    os_failed();
}

/* --- rights --- */

/* Gives a file this list of rights; with inherit, to which those of its folder
 * are added. */
static int
set_list(int fd, ACL *list, bool inherit)
{
	HANDLE h = ReOpenFile(handle(fd), READ_CONTROL | WRITE_DAC, SHARED,
	    FILE_FLAG_BACKUP_SEMANTICS);
	DWORD error;

	if (h == INVALID_HANDLE_VALUE)
		return os_failed();
	error = SetSecurityInfo(h, SE_FILE_OBJECT,
	    DACL_SECURITY_INFORMATION |
		(inherit ? (DWORD)UNPROTECTED_DACL_SECURITY_INFORMATION :
			   (DWORD)PROTECTED_DACL_SECURITY_INFORMATION),
	    NULL, NULL, list, NULL);
	CloseHandle(h);
	return error == ERROR_SUCCESS ? 0 : os_set_errno(error);
}

int
os_file_hide(int fd, bool folder)
{
	BOOL there, usual;
	ACL *list;

	if (!GetSecurityDescriptorDacl(os_own_security(folder)
					   ->lpSecurityDescriptor,
		&there, &list, &usual))
		return os_failed();
	return set_list(fd, list, false);
}

int
os_file_like(int fd, const char *path)
{
	SECURITY_DESCRIPTOR_CONTROL control = 0;
	PSECURITY_DESCRIPTOR security;
	DWORD error, revision;
	ACL empty, *list;
	wchar_t *wide;
	int rc;

	if (path == NULL) {
		InitializeAcl(&empty, sizeof empty, ACL_REVISION);
		return set_list(fd, &empty, true);
	}
	wide = os_wide_path(path);
	error = GetNamedSecurityInfoW(wide, SE_FILE_OBJECT,
	    DACL_SECURITY_INFORMATION, NULL, NULL, &list, NULL, &security);
	free(wide);
	if (error != ERROR_SUCCESS)
		return os_set_errno(error);
	GetSecurityDescriptorControl(security, &control, &revision);
	rc = set_list(fd, list, (control & SE_DACL_PROTECTED) == 0);
	LocalFree(security);
	return rc;
}

/* --- names --- */

/* Renames as POSIX does, where the file system can: over a file that others
 * have open. */
static bool
rename_open(const wchar_t *from, const wchar_t *to)
{
	size_t n = wcslen(to) * sizeof *to;
	FILE_RENAME_INFO *is = os_sure(calloc(1, sizeof *is + n));
	HANDLE h = open_path(from, DELETE | SYNCHRONIZE,
	    FILE_FLAG_OPEN_REPARSE_POINT);
	bool done;

	is->Flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS |
	    FILE_RENAME_FLAG_POSIX_SEMANTICS;
	is->FileNameLength = (DWORD)n;
	memcpy(is->FileName, to, n);
	done = h != INVALID_HANDLE_VALUE &&
	    SetFileInformationByHandle(h, RENAME_INFO_EX, is,
		(DWORD)(sizeof *is + n));
	if (h != INVALID_HANDLE_VALUE)
		CloseHandle(h);
	free(is);
	return done;
}

/* Who has the file open is done in a moment, as a rule: another copy of this
 * program, or what looks for viruses. */
static bool
rename_patiently(const wchar_t *from, const wchar_t *to)
{
	DWORD error;
	int i;

	for (i = 0; i < TRIES; i++) {
		if (rename_open(from, to) ||
		    MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING))
			return true;
		error = GetLastError();
		if (error != ERROR_ACCESS_DENIED &&
		    error != ERROR_SHARING_VIOLATION)
			return false;
		Sleep(TRY_MS);
	}
	SetLastError(error);
	return false;
}

int
os_file_rename(int dir, const char *from, const char *to)
{
	wchar_t *a = at(dir, from), *b = at(dir, to);
	int rc = -1;

	if (a != NULL && b != NULL)
		rc = rename_patiently(a, b) ? 0 : os_failed();
	free(a);
	free(b);
	return rc;
}

int
os_file_exchange(int dir, const char *one, const char *other)
{
	(void)dir, (void)one, (void)other;
	return -1;
}

int
os_file_remove(int dir, const char *name)
{
	wchar_t *path = at(dir, name);
	int rc = path == NULL ? -1 : DeleteFileW(path) ? 0 : os_failed();

	free(path);
	return rc;
}

static bool
is_dots(const wchar_t *name)
{
	return wcscmp(name, L".") == 0 || wcscmp(name, L"..") == 0;
}

int
os_folder_list(int dir, size_t max, os_list_cb *each, void *arg)
{
	wchar_t *pattern;
	WIN32_FIND_DATAW e;
	bool more = true;
	char *name;
	HANDLE h;

	if (dir < 0) {
		errno = EBADF;
		return -1;
	}
	pattern = at(dir, "*");
	if (pattern == NULL)
		return -1;
	h = FindFirstFileW(pattern, &e);
	free(pattern);
	if (h == INVALID_HANDLE_VALUE)
		return GetLastError() == ERROR_FILE_NOT_FOUND ? 0 : os_failed();
	for (; max > 0 && more; more = more && FindNextFileW(h, &e)) {
		if (is_dots(e.cFileName))
			continue;
		max--;
		name = os_narrow(e.cFileName);
		more = each(name, arg);
		free(name);
	}
	FindClose(h);
	return 0;
}

/* --- locks --- */

int
os_file_lock(int fd)
{
	OVERLAPPED where = { .OffsetHigh = LOCK_HIGH };

	return LockFileEx(handle(fd),
		   LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		   &where) ?
	    0 :
	    os_failed();
}

void
os_file_unlock(int fd)
{
	OVERLAPPED where = { .OffsetHigh = LOCK_HIGH };

	UnlockFileEx(handle(fd), 0, 1, 0, &where);
}

/* A folder has a file to be locked, which stays. */
int
os_folder_lock(int dir)
{
	int fd = os_file_open(dir, FOLDER_LOCK, OS_APPEND | OS_NO_LINK);

	if (fd < 0 || os_file_lock(fd) == 0)
		return fd;
	os_file_close(fd);
	errno = EWOULDBLOCK;
	return -1;
}

/* --- what the user may do --- */

bool
os_file_may(const char *path, enum os_may what)
{
	static const DWORD access[] = { FILE_READ_ATTRIBUTES, GENERIC_READ,
		GENERIC_WRITE, GENERIC_EXECUTE,
		FILE_ADD_FILE | FILE_ADD_SUBDIRECTORY };
	wchar_t *wide = os_wide_path(path);
	HANDLE h = open_path(wide, access[what], 0);

	free(wide);
	if (h == INVALID_HANDLE_VALUE) {
		os_failed();
		return false;
	}
	CloseHandle(h);
	return true;
}

/* The right to write is looked at, and not whether it can be used. */
bool
os_file_on_read_only(const char *path)
{
	(void)path;
	return false;
}

char *
os_file_real(const char *path)
{
	wchar_t *wide = os_wide_path(path), *real = NULL;
	HANDLE h = open_path(wide, FILE_READ_ATTRIBUTES, 0);
	char *text = NULL;
	DWORD n;

	free(wide);
	n = h == INVALID_HANDLE_VALUE ?
	    0 :
	    GetFinalPathNameByHandleW(h, NULL, 0, VOLUME_NAME_DOS);
	if (n == 0) {
		os_failed();
	} else {
		real = os_sure(calloc((size_t)n + 1, sizeof *real));
		GetFinalPathNameByHandleW(h, real, n + 1, VOLUME_NAME_DOS);
		text = os_plain_path(real);
		free(real);
	}
	if (h != INVALID_HANDLE_VALUE)
		CloseHandle(h);
	return text;
}

bool
os_user_is_root(void)
{
	return os_rights_system();
}
