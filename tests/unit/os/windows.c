/* For check_file, by Win32. */
#include "config.h"

#include "os/windows/common.h"

#include <aclapi.h>
#include <sddl.h>
#include <stdlib.h>

#include "unit/os/system.h"

void
system_open(const char *path, bool write)
{
	wchar_t *wide = os_wide_path(path);
	PSECURITY_DESCRIPTOR security;
	BOOL there, usual;
	ACL *list;

	if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(write ?
		    L"D:P(A;;FA;;;OW)(A;;GRGW;;;WD)" :
		    L"D:P(A;;FA;;;OW)(A;;GR;;;WD)",
		SDDL_REVISION_1, &security, NULL) ||
	    !GetSecurityDescriptorDacl(security, &there, &list, &usual) ||
	    SetNamedSecurityInfoW(wide, SE_FILE_OBJECT,
		DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
		NULL, NULL, list, NULL) != ERROR_SUCCESS)
		abort();
	LocalFree(security);
	free(wide);
}

bool
system_link(const char *to, const char *path)
{
	wchar_t *a = os_wide(to), *b = os_wide_path(path);
	bool done = CreateSymbolicLinkW(b, a, 2 /* without privilege */) &&
	    GetFileAttributesW(b) != INVALID_FILE_ATTRIBUTES;

	free(a);
	free(b);
	return done;
}

bool
system_second_name(const char *of, const char *path)
{
	wchar_t *a = os_wide_path(of), *b = os_wide_path(path);
	bool done = CreateHardLinkW(b, a, NULL);

	free(a);
	free(b);
	return done;
}

void
system_remove_folder(const char *path)
{
	wchar_t *wide = os_wide_path(path);

	RemoveDirectoryW(wide);
	free(wide);
}
