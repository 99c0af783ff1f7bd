/*
 * The parts of "mcpsplice wrap". First what is to be changed in one file: edits
 * of bytes, the entries that they belong to, and what a user has to be told. All
 * of it is pure but for wrap.c.
 */
#ifndef MCPSPLICE_TOOLS_WRAP_H
#define MCPSPLICE_TOOLS_WRAP_H

#include <stdbool.h>
#include <stddef.h>

#include "options/options.h"

/* The bytes from..to become text. */
struct wrap_edit {
	size_t from, to;
	size_t end; /* of text, in the new text: wrap_plan_apply sets it */
	char *text;
};

/* An entry that is changed: its name and its place before. */
struct wrap_place {
	char *name;
	size_t from, to;
	unsigned known; /* how many of the names that lead to a member do not
			 * stand there: that of all servers, that of this one */
};

struct wrap_plan {
	bool toml, yaml;
	bool windows; /* the host runs on Windows: wsl.exe starts mcpsplice */
	struct wrap_edit *edits; /* they do not overlap; in any order until
				  * wrap_plan_apply */
	size_t n_edits;
	struct wrap_place *places;
	size_t n_places;
	size_t entries;       /* all that the file has */
	bool twice;           /* an entry of JSON got a name that it had */
	struct strings notes; /* lines for the user */
};

/* Adds an edit, which takes over text. */
void wrap_plan_edit(struct wrap_plan *p, size_t from, size_t to, char *text);
/* Adds an entry that has edits. */
void wrap_plan_place(struct wrap_plan *p, struct span name, size_t from,
    size_t to, unsigned known);
/* Returns -1 with *why if the file has too many entries. */
int wrap_plan_count(const struct wrap_plan *p, char **why);
/* Adds the note that the entry is left alone; takes over why. */
void wrap_plan_leave(struct wrap_plan *p, struct span name, char *why);
/* Appends the text with all edits done. */
void wrap_plan_apply(struct wrap_plan *p, struct span text, struct buf *out);
/* Returns where a place of the old text, which no edit covers, is in the new one
 * of wrap_plan_apply. */
size_t wrap_plan_moved(const struct wrap_plan *p, size_t at);
/* Appends a diff, with secrets as "(set)". changed is what wrap_plan_apply made
 * of text. */
void wrap_plan_diff(struct wrap_plan *p, const char *path, struct span text,
    struct span changed, struct buf *out);
void wrap_plan_free(struct wrap_plan *p);

/* Adds an edit of what old, a part of the text that begins at start, has. */
void wrap_plan_replace(struct wrap_plan *p, const char *start, struct span old,
    char *text);
/* Returns -1 with *why: what is wrong at this place of text, with its line and
 * column, from 1; columns count bytes. */
int wrap_plan_broken(struct span text, size_t at, const char *what, char **why);

/* --- what is shown --- */

/* Appends an entry of a file, without the values that may be secrets. known: as
 * in wrap_place. */
void wrap_mask(struct buf *out, struct span text, bool toml, unsigned known);

/* --- parts of JSON and TOML --- */

/* Is the name one of these, which have a blank between them? */
bool wrap_among(const char *names, struct span name);

/* Returns where a program that mcpsplice can replace is named, or NULL. */
const char *wrap_program_in(struct span text);
/* Decodes a string of one line, owned by the caller; NULL: it is none, has a
 * NUL, or an escape that is not JSON's. */
char *wrap_string(struct span value);
/* Returns the end of the line that this place is in: its LF, or text.n. */
size_t wrap_line_end(struct span text, size_t at);
/* Returns the end of the string that begins here; 0: it has none. */
size_t wrap_string_end(struct span text, size_t at);
/* Returns the end of JSON's kinds of comments at this place, or the place itself
 * if there is none, one that is not closed, or one whose end is not the same for
 * all readers. */
size_t wrap_comment_end(struct span text, size_t at);

/* --- the formats, each in a file of its own --- */

/* Plan the changes of text, with self as the path of mcpsplice. Each returns 0,
 * or -1 with *why, owned by the caller, if text is broken. JSON may have
 * comments; of TOML, the entries are those of mcp_servers, of Codex and vibe. */
int wrap_json(struct wrap_plan *p, struct span text, const char *self,
    char **why);
int wrap_toml(struct wrap_plan *p, struct span text, const char *self,
    char **why);
/* Appends, for each place of text that speaks of a server with a URL, its line
 * and an entry for mcpsplice in the form of this host. windows: it runs there.
 * Returns whether there is such a place. */
bool wrap_by_hand(struct buf *out, const char *path, struct span text,
    const char *self, bool windows);

/* --- wrap.c --- */

struct wrap_host {
	const char *name;
	const char *path; /* below the home folder */
};

extern const struct wrap_host wrap_hosts[];
extern const size_t wrap_hosts_n;

enum wrap_format { WRAP_JSON, WRAP_TOML, WRAP_BY_HAND };

/* Is the file of a host on Windows? In WSL its disks are /mnt/c and so on. path
 * has no links. */
bool wrap_hosts_windows(const char *path, bool in_wsl);

/* --- wrap_words.c --- */

/* What an entry of mcpsplice has to have. Begin with zeros and env. */
struct wrap_start {
	struct strings words;     /* the command and its arguments */
	size_t first;             /* the first argument of mcpsplice itself */
	struct strings headers;   /* what MCPSPLICE_HEADER has to be */
	struct strings variables; /* those to be set, names and values in
				   * turn; wrap_start_check adds that of
				   * headers and, as wsl.exe hands on what it
				   * names only, WSLENV */
	struct strings env;       /* the names of those that it has now */
	bool literal;             /* nobody but the host replaces ${NAME} */
};

/* Reads the command line of this entry. Returns whether s is now what it shall
 * be; else it is some other server, or mcpsplice already, or the plan notes why
 * it cannot be changed. self: the path of mcpsplice. Free s in all cases. */
bool wrap_words_read(struct wrap_start *s, struct wrap_plan *plan,
    struct span name, const struct strings *words, const char *self);
/* Begins the start of mcpsplice for an entry with this URL. */
void wrap_start_url(struct wrap_start *s, const char *url, const char *self,
    bool windows);
/* Adds a header, unless mcpsplice sends its own. What it holds may be a secret,
 * and other users can read arguments, so it goes into a variable, but for
 * in_words: the value is the name of one, which hosts expect there. A value with
 * another placeholder goes through a variable of its own, where the host
 * replaces it. */
void wrap_start_header(struct wrap_start *s, const char *name,
    const char *value, bool in_words);
/* Returns why mcpsplice would refuse it, or would obey what only it obeys, owned
 * by the caller, or NULL if all is well. Variables count as set. */
char *wrap_start_check(struct wrap_start *s, bool windows);
void wrap_start_free(struct wrap_start *s);

/* Appends a list of the words from this one on, in JSON, which TOML and YAML
 * read, too. old is the raw list that it replaces, if there is one: if its first
 * word stood in a line of its own, all do. */
void wrap_list(struct buf *out, struct span old, const struct strings *words,
    size_t from);

#endif
