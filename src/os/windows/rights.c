/*
 * The owner of a file and its access list. What root may do on Linux,
 * LocalSystem, the administrators and the installer of Windows may do here.
 * Everybody else except the user counts as "others", and so does every group,
 * because nobody can tell who is in it.
 */
#include "config.h"

#include "os/windows/common.h"

#include "os/file.h"

#include <aclapi.h>
#include <errno.h>

/* what changes a file, or lets somebody change it later */
#define WRITES                                                                 \
	(FILE_WRITE_DATA | FILE_APPEND_DATA | DELETE | WRITE_DAC |             \
	    WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL)
#define READS (FILE_READ_DATA | GENERIC_READ | GENERIC_ALL)
/* what puts another file in place of one of this folder */
#define REPLACES (FILE_DELETE_CHILD | WRITE_DAC | WRITE_OWNER | GENERIC_ALL)

/* NT SERVICE\TrustedInstaller */
static const struct {
	BYTE revision, n;
	SID_IDENTIFIER_AUTHORITY authority;
	DWORD part[6];
} installer = { SID_REVISION, 6, { SECURITY_NT_AUTHORITY },
	{ 80, 956008885, 3418522649u, 1831038044u, 1853292631u, 2271478464u } };

/* Returns the user's own number. */
static PSID
own_sid(void)
{
	static union {
		TOKEN_USER user;
		char room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
	} is;
	HANDLE token;
	DWORD n;

	if (is.user.User.Sid == NULL &&
	    OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
		GetTokenInformation(token, TokenUser, &is, sizeof is, &n);
		CloseHandle(token);
	}
	return is.user.User.Sid;
}

static enum os_owner
owner_of(PSID sid)
{
	if (sid == NULL || own_sid() == NULL)
		return OS_FOREIGN;
	if (EqualSid(sid, own_sid()))
		return OS_OWN;
	return IsWellKnownSid(sid, WinLocalSystemSid) ||
		IsWellKnownSid(sid, WinBuiltinAdministratorsSid) ||
		EqualSid(sid, (PSID)(uintptr_t)&installer) ?
	    OS_ROOT :
	    OS_FOREIGN;
}

/* Adds what one entry of the list allows to others. One of a kind that is not
 * known counts as one that allows everything. */
static void
add_entry(const ACE_HEADER *e, struct os_file *f)
{
	const ACCESS_ALLOWED_ACE *allowed = (const void *)e;
	PSID sid = (PSID)(uintptr_t)&allowed->SidStart;
	ACCESS_MASK mask = GENERIC_ALL;

	if ((e->AceFlags & INHERIT_ONLY_ACE) != 0 ||
	    e->AceType == ACCESS_DENIED_ACE_TYPE ||
	    e->AceType == ACCESS_DENIED_OBJECT_ACE_TYPE ||
	    e->AceType == ACCESS_DENIED_CALLBACK_ACE_TYPE)
		return;
	if (e->AceType == ACCESS_ALLOWED_ACE_TYPE ||
	    e->AceType == ACCESS_ALLOWED_CALLBACK_ACE_TYPE) {
		if (owner_of(sid) != OS_FOREIGN ||
		    IsWellKnownSid(sid, WinCreatorOwnerRightsSid))
			return;
		mask = allowed->Mask;
	}
	f->others_read |= (mask & READS) != 0;
	f->others_write |= (mask & WRITES) != 0;
	f->all_replace |= (mask & REPLACES) != 0;
	f->open |= (mask & (READS | WRITES | REPLACES)) != 0;
}

int
os_rights_look(HANDLE h, struct os_file *f)
{
	PSECURITY_DESCRIPTOR security;
	DWORD error, i;
	PSID owner;
	void *e;
	ACL *list;

	error = GetSecurityInfo(h, SE_FILE_OBJECT,
	    OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner,
	    NULL, &list, NULL, &security);
	if (error != ERROR_SUCCESS)
		return os_set_errno(error);
	f->owner = owner_of(owner);
	if (list == NULL) /* everybody may do everything */
		f->open = f->others_read = f->others_write = f->all_replace =
		    true;
	for (i = 0; list != NULL && i < list->AceCount; i++)
		if (GetAce(list, i, &e))
			add_entry(e, f);
	LocalFree(security);
	return 0;
}

bool
os_rights_system(void)
{
	return own_sid() != NULL &&
	    IsWellKnownSid(own_sid(), WinLocalSystemSid);
}
