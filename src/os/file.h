/*
 * Files and folders: what they are, whose they are, their content, names and
 * locks. A file is a descriptor that is not passed on to children. Functions
 * that can fail return -1 with errno set, and go on after a signal.
 *
 * A name is relative to dir, an open folder; with OS_HERE it is a path.
 */
#ifndef MCPSPLICE_OS_FILE_H
#define MCPSPLICE_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OS_HERE (-1)

enum os_kind { OS_REGULAR, OS_FOLDER, OS_LINK, OS_DEVICE, OS_OTHER };
enum os_owner {
	OS_OWN,
	OS_ROOT,
	OS_FOREIGN
}; /* OS_OWN: also root's, for
						* root */

struct os_file {
	enum os_kind kind;
	enum os_owner owner;
	bool open;         /* others have rights of any kind */
	bool others_read;  /* others than the owner can read it */
	bool others_write; /* others can write to it, be it a group */
	bool all_replace;  /* all can replace what is in this folder */
	uint64_t links;    /* names; 0: it was removed */
	uint64_t device, id;
	int64_t size;       /* bytes */
	int64_t changed_s;  /* time of the last change, since 1970 */
	int64_t changed_ns; /* the rest; 0 where the system does not tell */
};

/* Tells what an open file is. */
int os_file_look(int fd, struct os_file *f);
/* The same by name; follow: of what a link leads to. */
int os_file_look_at(int dir, const char *name, bool follow, struct os_file *f);
/* Has it the same content, as far as that can be seen from outside? */
bool os_file_same(const struct os_file *a, const struct os_file *b);

enum os_open {
	OS_READ = 0,
	OS_WRITE = 1,   /* and read */
	OS_APPEND = 2,  /* and not read; made for its owner alone */
	OS_NEW = 4,     /* write and read; made for its owner alone, EEXIST */
	OS_NO_LINK = 8, /* ELOOP for a link */
	OS_NO_WAIT = 16 /* the name may belong to a pipe */
};

/* how is of enum os_open. */
int os_file_open(int dir, const char *name, unsigned how);
/* OS_NO_LINK counts. */
int os_folder_open(const char *path, unsigned how);
int os_folder_make(const char *path); /* for its owner alone */
int os_file_close(int fd);
/* Both return a number of bytes; 0: the end. */
int64_t os_file_read(int fd, void *p, size_t n);
int64_t os_file_read_at(int fd, void *p, size_t n, int64_t at);
/* Writes some or all. */
int64_t os_file_write(int fd, const void *p, size_t n);
int64_t os_file_write_at(int fd, const void *p, size_t n, int64_t at);
/* Writes to stderr, whoever it leads to, what can be written at once. */
void os_file_report(const void *p, size_t n);
/* May a file be so large? If not, a write would end the process. */
bool os_file_allowed(size_t n);
int os_file_cut(int fd, int64_t size);
/* Returns when the content is on the disk, if the file system has one. */
int os_file_sync(int fd);

/* Takes all rights from others. */
int os_file_hide(int fd, bool folder);
/* Gives a new file the rights that the one at path has, and its group; path
 * NULL: the rights of a file that all may read. */
int os_file_like(int fd, const char *path);

/* What users are told to do about a file: to make it theirs or root's, to take
 * all rights from others, and to take the right to write, which has the paths in
 * the middle. */
extern const char os_how_own[], os_how_private[], os_how_shut[2][64];

/* Replaces the file of that name in one step. */
int os_file_rename(int dir, const char *from, const char *to);
/* Exchanges the files of two names in one step. Not all systems, and not all
 * file systems, can do that. */
int os_file_exchange(int dir, const char *one, const char *other);
int os_file_remove(int dir, const char *name);
/* Calls each with the name of each entry, at most max entries, until it returns
 * false. each may remove the entry. */
typedef bool os_list_cb(const char *name, void *arg);
int os_folder_list(int dir, size_t max, os_list_cb *each, void *arg);

/* Takes an exclusive lock on a file that was opened for writing, until it is
 * closed or unlocked, or the process ends in any way. EWOULDBLOCK: another
 * process has it. Readers are not kept out. A process may lock a file through
 * one descriptor only, and must not open it again meanwhile. */
int os_file_lock(int fd);
void os_file_unlock(int fd);
/* Returns a descriptor; until it is closed others get EWOULDBLOCK. Where a
 * folder cannot be locked they do not. */
int os_folder_lock(int dir);

/* May this user do that with what has this name? */
enum os_may {
	OS_MAY_BE_THERE,
	OS_MAY_READ,
	OS_MAY_WRITE,
	OS_MAY_RUN,
	OS_MAY_ADD
};
bool os_file_may(const char *path, enum os_may what);
/* Is it on a file system that nobody can write to? */
bool os_file_on_read_only(const char *path);
/* Returns the path without links, which the caller frees, or NULL. */
char *os_file_real(const char *path);
/* Is the user root, or what the system has in place of root? */
bool os_user_is_root(void);

#endif
