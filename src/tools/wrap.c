/*
 * "mcpsplice wrap": finds the files of hosts, shows what it would change as a
 * diff, and writes only with --write. What it cannot change by itself it prints.
 */
#include "config.h"

#include "tools/wrap.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "base/log.h"
#include "core/wire/json.h"
#include "io/private_file.h"
#include "io/user_file.h"
#include "os/file.h"
#include "os/place.h"
#include "tools/command.h"

/*
 * What has to be changed by hand. YAML becomes JSON, line by line, so that its
 * entries are found and changed as those of JSON, and each is printed whole. Of
 * YAML it knows maps and lists, by indent or in brackets, and texts of one line;
 * of others only that they are there. In other formats it looks for words.
 */

struct yaml {
	struct span text;
	size_t at, line; /* the place, and the start of its line */
	struct buf *out;
	unsigned depth;
	bool goose;
};

/* What Goose has another name for; the first holds its servers. */
static const char *const names_of_goose[][2] = {
	{ "extensions", "mcpServers" },
	{ "cmd", "command" },
	{ "envs", "env" },
	{ "uri", "url" },
};
#define NAMES (sizeof names_of_goose / sizeof names_of_goose[0])

/* --- YAML to JSON --- */

/* Goes on to what comes next, maybe in another line: those stay the same lines.
 * Returns its column, from 1; 0 at the end. */
static size_t
next_column(struct yaml *y)
{
	const char *p = y->text.p;

	while (y->at < y->text.n) {
		if (p[y->at] == '\n') {
			buf_addc(y->out, '\n');
			y->line = ++y->at;
		} else if ((p[y->at] == '#' &&
			       (y->at == 0 || is_space(p[y->at - 1]))) ||
		    (y->at == y->line && y->text.n - y->at > 2 &&
			(p[y->at] == '%' || memcmp(p + y->at, "---", 3) == 0 ||
			    memcmp(p + y->at, "...", 3) == 0))) {
			y->at = wrap_line_end(y->text, y->at);
		} else if (is_space(p[y->at])) {
			y->at++;
		} else {
			return y->at - y->line + 1;
		}
	}
	return 0;
}

/* Returns the end of the text here: behind its quotes, or before one of these
 * bytes, a comment, or the end of the line. A colon has a blank behind it. */
static size_t
text_end(const struct yaml *y, const char *until)
{
	struct span t = y->text;
	size_t i = y->at, end = 0;

	if (i < t.n && t.p[i] == '"')
		end = wrap_string_end(t, i);
	if (end > 0)
		return end;
	for (end = i + 1; end < t.n && t.p[i] == '\'' && t.p[end] != '\n';
	     end++)
		if (t.p[end] == '\'' && (++end == t.n || t.p[end] != '\''))
			return end;
	for (; i < t.n && t.p[i] != '\n'; i++)
		if ((strchr(until, t.p[i]) != NULL &&
			(t.p[i] != ':' || i + 1 == t.n ||
			    is_space(t.p[i + 1]))) ||
		    (is_space(t.p[i]) && i + 1 < t.n && t.p[i + 1] == '#'))
			break;
	return i;
}

/* Returns the end of the key that begins here; 0: there is none. */
static size_t
key_end(const struct yaml *y)
{
	size_t end = text_end(y, ":");

	return end < y->text.n && y->text.p[end] == ':' ? end : 0;
}

static bool
is_item(const struct yaml *y)
{
	return y->text.p[y->at] == '-' &&
	    (y->at + 1 == y->text.n || is_space(y->text.p[y->at + 1]));
}

/* Is it something else than a text, at least to some readers of YAML? */
static bool
is_other(struct span raw)
{
	return (raw.n > 0 && strchr("+.0123456789", raw.p[0]) != NULL) ||
	    wrap_among("no No NO on On ON off Off OFF yes Yes YES null "
		       "Null NULL true True TRUE false False FALSE",
		raw);
}

/* Puts the text up to this place; a key is always a string. In the place of a
 * value that is not understood stands what asks for that of the file. */
static void
put_text(struct yaml *y, size_t end, bool key)
{
	struct span raw = { y->text.p + y->at, end - y->at };
	char *text = NULL;
	size_t i;

	raw = span_trim(raw, " \t\r");
	y->at = end;
	for (i = 0; key && i < NAMES; i++)
		if ((i == 0 ? y->depth == 1 : y->goose) &&
		    span_is(raw, names_of_goose[i][0])) {
			raw = span_of(names_of_goose[i][1]);
			y->goose = true;
		}
	if (raw.n > 0 && (raw.p[0] == '"' || span_find(raw, "''") == NULL))
		text = wrap_string(raw);
	if (!key && text == NULL &&
	    json_check(raw, 1, NULL, NULL, NULL) == JSON_OK)
		buf_addspan(y->out, raw);
	else if (!key && text == NULL && raw.n > 0 &&
	    (strchr("\"'*&!|>@`%", raw.p[0]) != NULL || is_other(raw)))
		buf_adds(y->out, "\"(set)\"");
	else
		codec_json_string(y->out, text != NULL ? span_of(text) : raw);
	buf_adds(y->out, key ? ": " : "");
	string_wipe(&text);
}

/* Puts what stands between brackets. Returns false if they are not closed. */
static bool
put_brackets(struct yaml *y)
{
	const char *p = y->text.p;
	bool list = p[y->at] == '[', first = true, ok = true, comma = true;

	if (++y->depth > BOUND_WRAP_DEPTH)
		return false;
	buf_addc(y->out, p[y->at++]);
	while (ok && next_column(y) > 0 && strchr("]}", p[y->at]) == NULL) {
		if (p[y->at] == ',') {
			comma = y->at++ > 0;
			continue;
		}
		buf_adds(y->out, first ? "" : ", ");
		ok = comma; /* else a text goes on in another line */
		first = comma = false;
		if (ok && !list) {
			put_text(y, text_end(y, ":,}"), true);
			ok = next_column(y) > 0;
			y->at += ok && p[y->at] == ':';
			ok = next_column(y) > 0;
		}
		if (ok && strchr("[{", p[y->at]) != NULL)
			ok = put_brackets(y);
		else if (ok)
			put_text(y, text_end(y, ",]}"), false);
	}
	buf_addc(y->out, list ? ']' : '}');
	y->depth--;
	return ok && y->at++ < y->text.n;
}

static bool put_value(struct yaml *y, size_t parent, bool of_key);

/* Puts the members or the items that stand at this column. */
static bool
put_block(struct yaml *y, size_t column, bool list)
{
	size_t now = column, end = 0;
	bool ok = ++y->depth <= BOUND_WRAP_DEPTH, first = true;

	buf_addc(y->out, list ? '[' : '{');
	for (; ok && now == column && is_item(y) == list &&
	     (list || (end = key_end(y)) > 0);
	     now = next_column(y)) {
		buf_adds(y->out, first ? "" : ", ");
		first = false;
		if (!list)
			put_text(y, end, true);
		y->at++;
		ok = put_value(y, column, !list);
	}
	buf_addc(y->out, list ? ']' : '}');
	y->depth--;
	return ok;
}

/* Puts what belongs to the key or the item at this column. */
static bool
put_value(struct yaml *y, size_t parent, bool of_key)
{
	size_t column = next_column(y), from, to, lines;

	while (column > parent && strchr("&!", y->text.p[y->at]) != NULL) {
		while (y->at < y->text.n && !is_space(y->text.p[y->at]))
			y->at++; /* behind an anchor, or a tag */
		column = next_column(y);
	}
	if (column == 0 ||
	    (column <= parent && !(of_key && column == parent && is_item(y)))) {
		buf_adds(y->out, "null");
		return true;
	}
	if (strchr("[{", y->text.p[y->at]) != NULL)
		return put_brackets(y);
	if (is_item(y) || key_end(y) > 0)
		return put_block(y, column, is_item(y));
	from = y->out->n;
	put_text(y, text_end(y, ""), false);
	to = y->out->n;
	if (next_column(y) <= parent)
		return true;
	while (next_column(y) > parent) /* a text goes on */
		y->at = wrap_line_end(y->text, y->at);
	lines = y->out->n - to;
	y->out->n = from;
	buf_adds(y->out, "\"(set)\"");
	for (; lines > 0; lines--)
		buf_addc(y->out, '\n');
	return true;
}

/* --- what is printed --- */

/* Does it need no quotes in YAML? */
static bool
is_plain(struct span text)
{
	size_t i = 0;

	while (i < text.n &&
	    (isalnum((unsigned char)text.p[i]) ||
		(i > 0 && strchr("_-. ", text.p[i]) != NULL)))
		i++;
	return i > 0 && i == text.n && text.p[i - 1] != ' ' &&
	    !is_other(text) && !wrap_among("n N y Y", text);
}

/* Adds a string of JSON, maybe without its quotes, or another value. */
static void
add_plain(struct buf *out, struct span value)
{
	struct span part;

	if (value.n > 2 && value.p[0] == '"' &&
	    is_plain((struct span){ value.p + 1, value.n - 2 }))
		value = (struct span){ value.p + 1, value.n - 2 };
	while (value.n > 0) {
		part = span_take(&value, '\n');
		buf_adds(out, out->p[out->n - 1] == ',' ? " " : "");
		codec_visible(out, part, SIZE_MAX);
	}
}

/* Prints the member as a user may show it to others. */
static void
add_member(struct buf *out, bool goose, struct span key, struct span value)
{
	struct span whole = { key.p - 1, (size_t)(value.p - key.p) + 1 };
	const char *name = NULL;
	struct buf shown = { 0 };
	size_t i;

	for (i = 0; goose && i < NAMES; i++)
		if (json_key_is(key, names_of_goose[i][1]))
			name = names_of_goose[i][0];
	wrap_mask(&shown, (struct span){ whole.p, whole.n + value.n }, false,
	    2);
	if (name != NULL)
		buf_adds(out, name);
	else
		add_plain(out, json_quoted(key));
	buf_adds(out, ": ");
	add_plain(out, (struct span){ shown.p + whole.n, shown.n - whole.n });
	buf_addc(out, '\n');
	buf_wipe(&shown);
}

/* Prints an entry in its new form: a member of a map, or an item of a list. */
static void
add_entry(struct buf *out, bool goose, struct span entry)
{
	const char *lead = "  - ";
	struct span key, value;
	size_t at = 0, end;

	if (entry.p[0] != '{') {
		end = wrap_string_end(entry, 0);
		buf_adds(out, "  ");
		add_plain(out, (struct span){ entry.p, end });
		buf_adds(out, ":\n");
		entry = (struct span){ entry.p + end + 1, entry.n - end - 1 };
		entry = span_trim(entry, " \n");
		lead = "    ";
	}
	while (json_next(entry, &at, &key, &value)) {
		buf_adds(out, lead);
		add_member(out, goose, key, value);
		lead = "    ";
	}
}

/* Prints the entries of this YAML. Returns false if it has none. */
static bool
read_yaml(struct buf *out, const char *path, struct wrap_plan *p,
    struct span text, const char *self)
{
	struct buf json = { 0 }, changed = { 0 };
	struct yaml y = { .text = text, .out = &json };
	size_t i, line = 1, from;
	struct span entry;
	const char *at, *word;
	char *why = NULL;

	if (memchr(text.p, '\0', text.n) == NULL && put_value(&y, 0, false) &&
	    next_column(&y) == 0 &&
	    wrap_json(p, buf_span(&json), self, &why) == 0)
		wrap_plan_apply(p, buf_span(&json), &changed);
	for (i = 0, at = json.p; changed.n > 0 && i < p->n_places; i++) {
		from = p->places[i].from;
		entry = (struct span){ json.p + from, p->places[i].to - from };
		word = wrap_program_in(entry);
		if (word == NULL)
			word = span_find(entry, "://");
		if (word < at) {
			at = json.p;
			line = 1;
		}
		for (; at < word; at++)
			line += *at == '\n';
		buf_addf(out, "%s: change line %zu by hand, to:\n", path, line);
		from = wrap_plan_moved(p, from);
		add_entry(out, y.goose,
		    (struct span){ changed.p + from,
			wrap_plan_moved(p, p->places[i].to) - from });
	}
	for (i = 0; i < p->notes.n; i++)
		buf_addf(out, "%s: %s\n", path, p->notes.list[i]);
	free(why);
	buf_wipe(&json);
	buf_wipe(&changed);
	return p->n_places + p->notes.n > 0;
}

/* --- other formats --- */

/* Tells each line that speaks of a server what to do. */
static bool
read_lines(struct buf *out, const char *path, struct span text,
    const char *self, bool windows)
{
	struct wrap_start s = { .first = 0 };
	struct span rest = text, line, start;
	bool found = false;
	size_t number;

	wrap_start_url(&s, "URL", self, windows);
	for (number = 1; rest.n > 0; number++) {
		line = span_take(&rest, '\n');
		start = span_trim(line, " \t-\"");
		if (start.n < 4 || start.p[0] == '#' ||
		    (wrap_program_in(line) == NULL &&
			(memcmp(start.p, "ur", 2) != 0 ||
			    span_find(line, "http") == NULL)))
			continue;
		found = true;
		buf_addf(out,
		    "%s: change line %zu by hand, to:\n  \"command\": ", path,
		    number);
		codec_json_string(out, span_of(s.words.list[0]));
		buf_adds(out, ", \"args\": ");
		wrap_list(out, no_span, &s.words, 1);
		buf_addc(out, '\n');
	}
	wrap_start_free(&s);
	return found;
}

bool
wrap_by_hand(struct buf *out, const char *path, struct span text,
    const char *self, bool windows)
{
	const char *dot = strrchr(path, '.');
	struct wrap_plan plan = { .yaml = true, .windows = windows };
	bool found = dot != NULL && dot[1] == 'y' &&
	    read_yaml(out, path, &plan, text, self);

	wrap_plan_free(&plan);
	if (!found)
		found = read_lines(out, path, text, self, windows);
	if (span_find(buf_span(out), "(set)") != NULL)
		buf_adds(out, "Replace (set) with the value in the file.\n");
	return found;
}

#define MAC "Library/Application Support/"
#define WINDOWS "AppData/Roaming/"
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
	{ "Claude Desktop", WINDOWS "Claude/claude_desktop_config.json" },
	{ "Claude Desktop",
	    "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/"
	    "Claude/claude_desktop_config.json" },
	{ "Cursor", ".cursor/mcp.json" },
	EDITOR("VS Code", ".config/Code/"),
	EDITOR("VS Code", MAC "Code/"),
	EDITOR("VS Code", WINDOWS "Code/"),
	EDITOR("VS Code", ".vscode-server/data/"),
	EDITOR("VS Code Insiders", ".config/Code - Insiders/"),
	EDITOR("VS Code Insiders", MAC "Code - Insiders/"),
	EDITOR("VS Code Insiders", WINDOWS "Code - Insiders/"),
	EDITOR("VS Code Insiders", ".vscode-server-insiders/data/"),
	{ "Cline CLI", ".cline/data/settings/cline_mcp_settings.json" },
	{ "Kilo Code", ".kilocode/cli/global/settings/mcp_settings.json" },
	{ "Kiro", ".kiro/settings/mcp.json" },
	{ "Crush", ".config/crush/crush.json" },
	{ "Crush", "AppData/Local/crush/crush.json" },
	{ "Factory", ".factory/mcp.json" },
	{ "Antigravity", ".gemini/antigravity/mcp_config.json" },
	{ "mcporter", ".mcporter/mcporter.json" },
	{ "mcporter", ".mcporter/mcporter.jsonc" },
	{ "Windsurf", ".codeium/windsurf/mcp_config.json" },
	{ "Zed", ".config/zed/settings.json" },
	{ "Zed", WINDOWS "Zed/settings.json" },
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
	{ "Goose", WINDOWS "Block/goose/config/config.yaml" },
};

const size_t wrap_hosts_n = sizeof wrap_hosts / sizeof wrap_hosts[0];

bool
wrap_hosts_windows(const char *path, bool in_wsl)
{
	return in_wsl && strncmp(path, "/mnt/", 5) == 0 &&
	    isalpha((unsigned char)path[5]) && path[6] == '/';
}

/* Returns the format that the end of a path tells. */
static enum wrap_format
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
	size_t entries; /* that are changed, or would be */
	bool by_hand;   /* there is something to do by hand */
	bool failed;
};

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
	char *real = os_file_real(path);
	bool is = real != NULL &&
	    wrap_hosts_windows(real, getenv("WSL_DISTRO_NAME") != NULL);

	free(real);
	return is;
}

static bool
is_utf16(struct span text, char **why)
{
	if (!span_is_utf16(text))
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
		*why = xstrdup("the change would break it; please change it "
			       "by hand");
		rc = -1;
	}
	wrap_plan_free(&again);
	return rc;
}

static void
write_file(struct wrap *w, const struct user_file *f, struct span changed,
    size_t entries)
{
	char *why = NULL, *backup = user_file_keep(f, &why);

	if (backup == NULL || user_file_write(f, changed, &why) < 0)
		fail(w, f->path, why);
	else
		printf("%s: %zu changed; the backup is %s\n", f->path, entries,
		    backup);
	free(backup);
}

static void
change_file(struct wrap *w, struct wrap_plan *p, const struct user_file *f)
{
	struct span text = buf_span(&f->text);
	struct buf changed = { 0 }, diff = { 0 };
	char *why = NULL;

	wrap_plan_apply(p, text, &changed);
	if (check_result(w, f->path, p, buf_span(&changed), &why) < 0) {
		fail(w, f->path, why);
	} else {
		w->entries += p->n_places;
		if (w->options->wrap_write)
			write_file(w, f, buf_span(&changed), p->n_places);
		else
			wrap_plan_diff(p, f->path, text, buf_span(&changed),
			    &diff);
		fputs(buf_str(&diff), stdout);
	}
	buf_wipe(&diff);
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
			printf("%s: no MCP server found below \"mcpServers\", "
			       "\"servers\" and the like\n",
			    f->path);
	}
	wrap_plan_free(&p);
}

static void
wrap_file(struct wrap *w, const char *path)
{
	struct user_file f;
	struct buf snippets = { 0 };
	char *why = NULL;

	w->files++;
	if (user_file_read(&f, path, BOUND_ALL_BYTES, &why) < 0 ||
	    (wrap_hosts_format(path) == WRAP_BY_HAND &&
		is_utf16(buf_span(&f.text), &why))) {
		fail(w, path, why);
	} else if (wrap_hosts_format(path) == WRAP_BY_HAND) {
		if (wrap_by_hand(&snippets, path, buf_span(&f.text), w->self,
			on_windows(path)))
			w->by_hand = true;
		fputs(buf_str(&snippets), stdout);
	} else {
		wrap_text(w, &f);
	}
	buf_wipe(&snippets);
	user_file_free(&f);
}

/* How many edits would this text need? */
static size_t
count_edits(const struct wrap *w, const char *path, struct span text)
{
	struct wrap_plan p = { 0 };
	char *why = NULL;
	size_t n = make_plan(w, &p, path, text, &why) < 0 ? 0 : p.n_edits;

	free(why);
	wrap_plan_free(&p);
	return n;
}

/* Only what wrap could have read before is put back. Each backup that wrap made
 * had something to change; if the newest has nothing, and the file has, then a
 * --restore has exchanged them already. A backup that the file begins with was
 * made by a run that did not come to change it. */
static int
is_config(const char *path, struct span text, struct span now, void *arg,
    char **why)
{
	struct wrap *w = arg;
	struct wrap_plan p = { 0 };
	bool begun = now.p != NULL && text.n <= now.n &&
	    span_eq(text, (struct span){ now.p, text.n });
	bool whole = now.p == NULL || count_edits(w, path, now) == 0;
	int rc = begun && whole ? 1 : -1;

	if (wrap_hosts_format(path) == WRAP_BY_HAND)
		*why = xstrdup("wrap does not change files of this format");
	else if (begun && whole)
		*why = xstrdup("it has nothing that the file does not have");
	else if (begun)
		rc = 0;
	else if (span_trim(text, " \t\r\n").n == 0)
		*why = xstrdup("it is empty");
	else
		rc = make_plan(w, &p, path, text, why);
	w->undone = rc == 0 && !whole && p.n_edits == 0;
	if (w->undone) {
		*why = xstrdup("nothing to undo");
		rc = -1;
	}
	wrap_plan_free(&p);
	return rc;
}

static void
restore_file(struct wrap *w, const char *path)
{
	char *why = NULL;

	w->files++;
	w->undone = false;
	if (user_file_restore(path, BOUND_ALL_BYTES, is_config, w, &why) == 0)
		printf("%s: restored; the version with mcpsplice is now the "
		       "backup\n",
		    path);
	else if (w->undone)
		printf("%s: nothing to undo\n", path);
	else
		fail(w, path, xstrdup(why));
	free(why);
}

/* Tells how many entries of a host's file could be changed. */
static void
list_file(struct wrap *w, const char *host, const char *path)
{
	bool by_hand = wrap_hosts_format(path) == WRAP_BY_HAND;
	struct wrap_plan p = { 0 };
	char *why = NULL;
	struct user_file f;

	w->files++;
	if (user_file_read(&f, path, BOUND_ALL_BYTES, &why) < 0 ||
	    (!by_hand && make_plan(w, &p, path, buf_span(&f.text), &why) < 0))
		fail(w, path, why);
	else if (by_hand)
		printf("%-16s %s: by hand\n", host, path);
	else if (p.notes.n == 0)
		printf("%-16s %s: %zu to change\n", host, path, p.n_places);
	else
		printf("%-16s %s: %zu to change, %zu skipped\n", host, path,
		    p.n_places, p.notes.n);
	user_file_free(&f);
	wrap_plan_free(&p);
}

/* --- all files --- */

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
	char *path, *backup;
	bool any = false;
	size_t i;

	for (i = 0; i < wrap_hosts_n; i++) {
		if (word != NULL && !is_named(wrap_hosts[i].name, word))
			continue;
		any = true;
		backup = NULL;
		path = os_path_join(home, wrap_hosts[i].path);
		if (!os_file_may(path, OS_MAY_BE_THERE))
			;
		else if (o->wrap_list)
			list_file(w, wrap_hosts[i].name, path);
		else if (!o->wrap_restore)
			wrap_file(w, path);
		else if ((backup = user_file_backup(path)) != NULL)
			restore_file(w, path);
		free(backup);
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
		if (!os_file_may(word, OS_MAY_BE_THERE) && home != NULL &&
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
			"No configuration of %s found; name the file: "
			"mcpsplice wrap FILE\n",
		    o->operands.n > 0 ? o->operands.list[0] : "a known host");
	else if (o->wrap_list || o->wrap_restore)
		return;
	else if (w->entries == 0 && !w->by_hand && !w->failed)
		printf("Nothing to change.\n");
	else if (w->entries > 0 && !o->wrap_write)
		printf("Nothing has been changed yet. To change it, add "
		       "--write.\n");
}

/* Two runs that change the same file at once could count on one another's
 * backups. Returns a lock, or -1, with *why if another run has it. Where the
 * folder cannot be had, runs do not notice one another. */
static int
lock_out_others(char **why)
{
	char *reason = NULL;
	int dir = file_dir(os_place(OS_PLACE_DATA), OWN_FOLDER, true, &reason);
	int lock = -1;

	if (dir >= 0) {
		lock = os_folder_lock(dir);
		if (lock < 0 && errno == EWOULDBLOCK)
			*why = xstrdup("another mcpsplice wrap is changing "
				       "files; try again");
		file_close(dir);
	}
	free(reason);
	return lock;
}

int
command_wrap(const struct options *o, char **why)
{
	struct wrap w = { .options = o };
	const char *home = os_place(OS_PLACE_HOME);
	int lock = o->wrap_write || o->wrap_restore ? lock_out_others(why) : -1;

	if (*why != NULL)
		return 1;
	if (!os_path_absolute(home))
		home = NULL;
	w.self = os_path_of_program(o->argv[0]);
	if (w.self == NULL || !os_file_may(w.self, OS_MAY_RUN)) {
		*why = xstrdup("cannot find the path of this program; start "
			       "it by its full path");
	} else if (o->operands.n > 0) {
		each_operand(&w, home);
		conclude(&w);
	} else if (home != NULL) {
		each_host(&w, home, NULL);
		conclude(&w);
	} else {
		*why = xasprintf("%s is not set; set it to your home folder, "
				 "or name the files",
		    os_place_variable(OS_PLACE_HOME));
	}
	free(w.self);
	if (lock >= 0)
		file_close(lock);
	if (fflush(stdout) == EOF && *why == NULL)
		*why = xstrdup("cannot write to stdout");
	return w.failed || *why != NULL;
}
