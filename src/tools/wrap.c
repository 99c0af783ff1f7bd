/* The command: files in, diffs out; writes only with --write. */
#include "config.h"

#include "tools/wrap.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/log.h"
#include "io/user_file.h"
#include "tools/command.h"

#define MAC "Library/Application Support/"
#define CLINE "User/globalStorage/saoudrizwan.claude-dev/settings/"
#define ROO "User/globalStorage/rooveterinaryinc.roo-cline/settings/"
#define KILO "User/globalStorage/kilocode.kilo-code/settings/"
/* An editor, and the hosts that are extensions of it. */
#define EDITOR(name, folder)                                                   \
	{ name, folder "User/mcp.json" },                                      \
	    { name, folder "User/settings.json" },                             \
	    { "Cline", folder CLINE "cline_mcp_settings.json" },               \
	    { "Roo Code", folder ROO "mcp_settings.json" },                    \
	{                                                                      \
		"Kilo Code", folder KILO "mcp_settings.json"                   \
	}

const struct wrap_host wrap_hosts[] = {
	{ "Claude Code", ".claude.json" },
	{ "Claude Desktop", ".config/Claude/claude_desktop_config.json" },
	{ "Claude Desktop", MAC "Claude/claude_desktop_config.json" },
	{ "Cursor", ".cursor/mcp.json" },
	EDITOR("VS Code", ".config/Code/"),
	EDITOR("VS Code", MAC "Code/"),
	EDITOR("VS Code", ".vscode-server/data/"),
	EDITOR("VS Code Insiders", ".config/Code - Insiders/"),
	EDITOR("VS Code Insiders", MAC "Code - Insiders/"),
	EDITOR("VS Code Insiders", ".vscode-server-insiders/data/"),
	{ "Cline CLI", ".cline/data/settings/cline_mcp_settings.json" },
	{ "Kilo Code", ".kilocode/cli/global/settings/mcp_settings.json" },
	{ "Kiro", ".kiro/settings/mcp.json" },
	{ "Crush", ".config/crush/crush.json" },
	{ "Factory", ".factory/mcp.json" },
	{ "Antigravity", ".gemini/antigravity/mcp_config.json" },
	{ "mcporter", ".mcporter/mcporter.json" },
	{ "mcporter", ".mcporter/mcporter.jsonc" },
	{ "Windsurf", ".codeium/windsurf/mcp_config.json" },
	{ "Zed", ".config/zed/settings.json" },
	{ "Gemini CLI", ".gemini/settings.json" },
	{ "Qwen Code", ".qwen/settings.json" },
	{ "Copilot CLI", ".copilot/mcp-config.json" },
	{ "opencode", ".config/opencode/opencode.json" },
	{ "opencode", ".config/opencode/opencode.jsonc" },
	{ "Amp", ".config/amp/settings.json" },
	{ "LM Studio", ".lmstudio/mcp.json" },
	{ "Junie", ".junie/mcp/mcp.json" },
	{ "Codex", ".codex/config.toml" },
	{ "vibe", ".vibe/config.toml" },
	{ "Continue", ".continue/config.yaml" },
	{ "hermes", ".hermes/config.yaml" },
	{ "fast-agent", "fastagent.config.yaml" },
	{ "Goose", ".config/goose/config.yaml" },
};

const size_t wrap_hosts_n = sizeof wrap_hosts / sizeof wrap_hosts[0];

bool
wrap_hosts_windows(const char *path, bool in_wsl)
{
	return in_wsl && strncmp(path, "/mnt/", 5) == 0 &&
	    isalpha((unsigned char)path[5]) && path[6] == '/';
}

enum wrap_format
wrap_hosts_format(const char *path)
{
	const char *end = strrchr(path, '.');

	if (end == NULL)
		return WRAP_BY_HAND;
	if (strcmp(end, ".toml") == 0)
		return WRAP_TOML;
	return strcmp(end, ".json") == 0 || strcmp(end, ".jsonc") == 0 ||
		strcmp(end, ".json5") == 0 ||
		strcmp(end, ".code-workspace") == 0 ?
	    WRAP_JSON :
	    WRAP_BY_HAND;
}

struct wrap {
	const struct options *options;
	char *self;
	size_t files;   /* that were found */
	bool undone;    /* the backup has nothing that the file does not have */
	size_t now;     /* edits that the file to be restored would need */
	size_t entries; /* that are changed, or would be */
	bool by_hand;   /* there is something to do by hand */
	bool failed;
};

/* --- the path of this program --- */

static bool
is_program(const char *path)
{
	return access(path, X_OK) == 0;
}

static char *
in_path(const char *name)
{
	const char *at = getenv("PATH");
	char *path;
	size_t n;

	for (; at != NULL && *at != '\0'; at += n + (at[n] == ':')) {
		n = strcspn(at, ":");
		path = xasprintf("%.*s/%s", (int)n, at, name);
		if (at[0] == '/' && is_program(path))
			return path;
		free(path);
	}
	return NULL;
}

/* Returns the absolute path, because hosts have a PATH of their own. A link to
 * the program stays a link: it is what remains the same after an update. */
static char *
own_path(const char *name)
{
	const char *slash = strrchr(name, '/');
	char *folder, *real, *path;

	if (slash == NULL)
		return in_path(name);
	folder = xstrndup(name, (size_t)(slash - name) + 1);
	real = realpath(folder, NULL);
	path = real == NULL ?
	    NULL :
	    xasprintf("%s/%s", strcmp(real, "/") == 0 ? "" : real, slash + 1);
	free(folder);
	free(real);
	return path;
}

/* --- one file --- */

static void
fail(struct wrap *w, const char *path, char *why)
{
	log_error("%s: %s", path, why);
	free(why);
	w->failed = true;
}

static bool
on_windows(const char *path)
{
	char *real = realpath(path, NULL);
	bool is = real != NULL &&
	    wrap_hosts_windows(real, getenv("WSL_DISTRO_NAME") != NULL);

	free(real);
	return is;
}

/* As PowerShell writes it: with a mark, or a NUL in each character. */
static bool
is_utf16(struct span text, char **why)
{
	if (text.n < 2 ||
	    (memcmp(text.p, "\xff\xfe", 2) != 0 &&
		memcmp(text.p, "\xfe\xff", 2) != 0 && text.p[0] != '\0' &&
		text.p[1] != '\0'))
		return false;
	*why = xstrdup("it is UTF-16; save it as UTF-8");
	return true;
}

static int
make_plan(const struct wrap *w, struct wrap_plan *p, const char *path,
    struct span text, char **why)
{
	if (is_utf16(text, why))
		return -1;
	p->windows = on_windows(path);
	return wrap_hosts_format(path) == WRAP_TOML ?
	    wrap_toml(p, text, w->self, why) :
	    wrap_json(p, text, w->self, why);
}

/* The new content has to be readable, and nothing may be left to do in it. */
static int
check_result(const struct wrap *w, const char *path, const struct wrap_plan *p,
    struct span text, char **why)
{
	struct wrap_plan again = { 0 };
	int rc = make_plan(w, &again, path, text, why);

	if (rc == 0 && (again.n_edits > 0 || p->twice)) {
		*why = xstrdup("it would not be right after the change; please "
			       "change it by hand");
		rc = -1;
	}
	wrap_plan_free(&again);
	return rc;
}

static void
show(struct wrap_plan *p, const char *path, struct span text,
    struct span changed)
{
	struct buf diff;

	buf_init(&diff, 0);
	wrap_plan_diff(p, path, text, changed, &diff);
	fputs(buf_str(&diff), stdout);
	buf_wipe(&diff);
}

static void
write_file(struct wrap *w, const struct user_file *f, struct span changed,
    size_t entries)
{
	char *why = NULL, *backup = user_file_keep(f, &why);

	if (backup == NULL || user_file_write(f, changed, &why) < 0)
		fail(w, f->path, why);
	else
		printf("%s: %zu changed; the old file is %s\n", f->path,
		    entries, backup);
	free(backup);
}

static void
change_file(struct wrap *w, struct wrap_plan *p, const struct user_file *f)
{
	struct span text = buf_span(&f->text);
	struct buf changed;
	char *why = NULL;

	buf_init(&changed, 0);
	wrap_plan_apply(p, text, &changed);
	if (check_result(w, f->path, p, buf_span(&changed), &why) < 0) {
		fail(w, f->path, why);
	} else {
		w->entries += p->n_places;
		if (w->options->wrap_write)
			write_file(w, f, buf_span(&changed), p->n_places);
		else
			show(p, f->path, text, buf_span(&changed));
	}
	buf_wipe(&changed);
}

static void
wrap_text(struct wrap *w, const struct user_file *f)
{
	struct wrap_plan p = { 0 };
	char *why = NULL;
	size_t i;

	if (make_plan(w, &p, f->path, buf_span(&f->text), &why) < 0) {
		fail(w, f->path, why);
	} else {
		if (p.n_edits > 0)
			change_file(w, &p, f);
		for (i = 0; i < p.notes.n; i++)
			printf("%s: %s\n", f->path, p.notes.list[i]);
		if (p.entries == 0)
			printf("%s: no MCP server was found in it\n", f->path);
	}
	wrap_plan_free(&p);
}

static void
wrap_file(struct wrap *w, const char *path)
{
	struct user_file f;
	struct buf snippets;
	char *why = NULL;

	w->files++;
	buf_init(&snippets, 0);
	if (user_file_read(&f, path, BOUND_ALL_BYTES, &why) < 0) {
		fail(w, path, why);
	} else if (wrap_hosts_format(path) == WRAP_BY_HAND &&
	    is_utf16(buf_span(&f.text), &why)) {
		fail(w, path, why);
	} else if (wrap_hosts_format(path) == WRAP_BY_HAND) {
		if (wrap_by_hand(&snippets, path, buf_span(&f.text), w->self,
			on_windows(path)))
			w->by_hand = true;
		if (snippets.n > 0)
			fputs(buf_str(&snippets), stdout);
	} else {
		wrap_text(w, &f);
	}
	buf_wipe(&snippets);
	user_file_free(&f);
}

/* Only what wrap could have read before is put back. Each backup that wrap made
 * had something to change; if the newest has nothing, and the file has, then a
 * --restore has exchanged them already. */
static int
is_config(const char *path, struct span text, void *arg, char **why)
{
	struct wrap *w = arg;
	struct wrap_plan p = { 0 };
	int rc = -1;

	if (wrap_hosts_format(path) == WRAP_BY_HAND)
		*why = xstrdup("wrap changes no files of this format");
	else if (span_trim(text, " \t\r\n").n == 0)
		*why = xstrdup("it is empty");
	else
		rc = make_plan(w, &p, path, text, why);
	w->undone = rc == 0 && w->now > 0 && p.n_edits == 0;
	if (w->undone) {
		*why = xstrdup("there is nothing to take back");
		rc = -1;
	}
	wrap_plan_free(&p);
	return rc;
}

/* Reads a file, and plans its changes if it is of a format that is changed. */
static int
read_plan(const struct wrap *w, const char *path, struct wrap_plan *p,
    char **why)
{
	struct user_file f;
	int rc = user_file_read(&f, path, BOUND_ALL_BYTES, why);

	if (rc == 0 && wrap_hosts_format(path) != WRAP_BY_HAND)
		rc = make_plan(w, p, path, buf_span(&f.text), why);
	user_file_free(&f);
	return rc;
}

static void
restore_file(struct wrap *w, const char *path)
{
	struct wrap_plan p = { 0 };
	char *why = NULL;

	w->files++;
	(void)read_plan(w, path, &p, &why);
	free(why);
	why = NULL;
	w->now = p.n_edits;
	w->undone = false;
	if (user_file_restore(path, BOUND_ALL_BYTES, is_config, w, &why) == 0)
		printf("%s: is as it was before; the backup has what it was "
		       "until now\n",
		    path);
	else if (w->undone)
		printf("%s: there is nothing to take back\n", path);
	else
		fail(w, path, xstrdup(why));
	free(why);
	wrap_plan_free(&p);
}

/* Tells how many entries of a host's file could be changed. */
static void
list_file(struct wrap *w, const char *host, const char *path)
{
	struct wrap_plan p = { 0 };
	char *why = NULL;

	w->files++;
	if (read_plan(w, path, &p, &why) < 0)
		fail(w, path, why);
	else if (wrap_hosts_format(path) == WRAP_BY_HAND)
		printf("%-16s %s: by hand\n", host, path);
	else if (p.notes.n == 0)
		printf("%-16s %s: %zu to change\n", host, path, p.n_places);
	else
		printf("%-16s %s: %zu to change, %zu left alone\n", host, path,
		    p.n_places, p.notes.n);
	wrap_plan_free(&p);
}

/* --- all files --- */

static bool
has_backup(const char *path)
{
	char *name = user_file_backup(path);

	free(name);
	return name != NULL;
}

/* Does the name of a host begin with this word, or these, whatever the case of
 * letters, and the marks between them? */
static bool
is_named(const char *name, const char *word)
{
	for (; *word != '\0'; word++) {
		if (!isalnum((unsigned char)*word))
			continue;
		name += strspn(name, " -");
		if (tolower((unsigned char)*name++) !=
		    tolower((unsigned char)*word))
			return false;
	}
	return strchr(" -", *name) != NULL; /* or at its end */
}

/* Takes the files of all hosts, or of those that this word names. Returns whether
 * there is such a host. */
static bool
each_host(struct wrap *w, const char *home, const char *word)
{
	const struct options *o = w->options;
	bool any = false;
	char *path;
	size_t i;

	for (i = 0; i < wrap_hosts_n; i++) {
		if (word != NULL && !is_named(wrap_hosts[i].name, word))
			continue;
		any = true;
		path = xasprintf("%s/%s", home, wrap_hosts[i].path);
		if (access(path, F_OK) < 0)
			;
		else if (o->wrap_list)
			list_file(w, wrap_hosts[i].name, path);
		else if (!o->wrap_restore)
			wrap_file(w, path);
		else if (has_backup(path))
			restore_file(w, path);
		free(path);
	}
	return any;
}

/* Takes what the user names: a file, or a host. */
static void
each_operand(struct wrap *w, const char *home)
{
	const struct options *o = w->options;
	const char *word;
	size_t i;

	for (i = 0; i < o->operands.n; i++) {
		word = o->operands.list[i];
		if (access(word, F_OK) < 0 && home != NULL &&
		    isalnum((unsigned char)word[0]) &&
		    strpbrk(word, "/.") == NULL && each_host(w, home, word))
			continue;
		if (o->wrap_restore)
			restore_file(w, word);
		else
			wrap_file(w, word);
	}
}

static void
conclude(const struct wrap *w)
{
	const struct options *o = w->options;

	if (w->files == 0)
		printf(o->wrap_restore ?
			"No file has a backup.\n" :
			"No configuration of a known host was found; name the "
			"file.\n");
	else if (o->wrap_list || o->wrap_restore)
		return;
	else if (w->entries == 0 && !w->by_hand)
		printf("There is nothing to change.\n");
	else if (w->entries > 0 && !o->wrap_write)
		printf("Nothing was changed. Add --write to do it.\n");
}

int
command_wrap(const struct options *o, char **why)
{
	struct wrap w = { .options = o };
	const char *home = getenv("HOME");

	if (home != NULL && home[0] != '/')
		home = NULL;
	w.self = own_path(o->argv[0]);
	if (w.self == NULL || !is_program(w.self)) {
		*why = xstrdup("the path of this program cannot be found; "
			       "start it by its full path");
	} else if (o->operands.n > 0) {
		each_operand(&w, home);
		conclude(&w);
	} else if (home != NULL) {
		each_host(&w, home, NULL);
		conclude(&w);
	} else {
		*why = xstrdup("HOME is not set: set it to your folder, or "
			       "name the files");
	}
	free(w.self);
	if (fflush(stdout) == EOF && *why == NULL)
		*why = xstrdup("stdout cannot be written");
	return w.failed || *why != NULL;
}
