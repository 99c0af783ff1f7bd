/*
 * What is to be changed in one file: edits of bytes, the entries that they
 * belong to, and what a user has to be told. Pure, but for the text on stdout
 * that the caller prints.
 */
#ifndef MCPSPLICE_TOOLS_WRAP_PLAN_H
#define MCPSPLICE_TOOLS_WRAP_PLAN_H

#include "options/options.h"

/* The bytes from..to become text. */
struct wrap_edit {
	size_t from, to;
	char *text;
};

/* An entry that is changed: its name and its place before and after. */
struct wrap_place {
	char *name;
	size_t from, to;
};

struct wrap_plan {
	bool windows; /* the host runs on Windows: wsl.exe starts mcpsplice */
	struct wrap_edit *edits; /* they do not overlap; in any order until
				  * wrap_plan_apply */
	size_t n_edits;
	struct wrap_place *places;
	size_t n_places;
	size_t entries;         /* all that the file has */
	struct strings notes;   /* lines for the user */
	struct strings secrets; /* texts of the file that no diff shows */
};

/* Adds an edit, which takes over text. */
void wrap_plan_edit(struct wrap_plan *p, size_t from, size_t to, char *text);
/* Adds an entry that has edits. */
void wrap_plan_place(struct wrap_plan *p, struct span name, size_t from,
    size_t to);
/* Adds the note that the entry is left alone; takes over why. */
void wrap_plan_leave(struct wrap_plan *p, struct span name, char *why);
/* Hides this text of the file, if it is long enough to be a secret and no
 * ${VAR}. */
void wrap_plan_hide(struct wrap_plan *p, struct span secret);
/* Hides what is secret in a word of a command line: before is the word in front
 * of it, or empty. Both are raw, as they stand in the file. */
void wrap_plan_hide_word(struct wrap_plan *p, struct span before,
    struct span word);
/* Hides what is secret in all words of a command line. */
void wrap_plan_hide_words(struct wrap_plan *p, const struct span *words,
    size_t n);
/* Appends the text with all edits done. */
void wrap_plan_apply(struct wrap_plan *p, struct span text, struct buf *out);
/* Appends a diff, with secrets as "(set)". changed is what wrap_plan_apply made
 * of text. */
void wrap_plan_diff(const struct wrap_plan *p, const char *path,
    struct span text, struct span changed, struct buf *out);
void wrap_plan_free(struct wrap_plan *p);

/* Finds line and column, from 1, of a place in text; columns count bytes. */
void wrap_plan_line(struct span text, size_t at, size_t *line, size_t *column);

/* --- the formats, each in a file of its own --- */

/* Plan the changes of text, with self as the path of mcpsplice. Each returns 0,
 * or -1 with *why, owned by the caller, if text is broken. JSON may have
 * comments; of TOML, the entries are [mcp_servers.NAME], of Codex. */
int wrap_json(struct wrap_plan *p, struct span text, const char *self,
    char **why);
int wrap_toml(struct wrap_plan *p, struct span text, const char *self,
    char **why);
/* Appends, for each place of text that speaks of a server with a URL, its line
 * and an entry for mcpsplice in the form of this host. windows: it runs there.
 */
void wrap_by_hand(struct buf *out, const char *path, struct span text,
    const char *self, bool windows);

#endif
