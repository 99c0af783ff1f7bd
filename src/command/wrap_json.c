/*
 * Finds the entries by the names of the members that hold them, whatever the
 * host. An entry with a command line is changed word by word; one with a URL
 * gets a command line in the place of the URL.
 */
#include "config.h"

#include "command/wrap_json.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "command/wrap_blank.h"
#include "command/wrap_words.h"
#include "core/wire/json.h"

struct file {
	struct wrap_plan *plan;
	struct span text;  /* as it stands */
	struct span blank; /* the same without comments */
	const char *self;
};

struct member {
	struct span key, value; /* of blank; value.p NULL: there is none */
};

/* An entry, and its command line. */
struct entry {
	struct file *file;
	struct member self;  /* its name and its object */
	struct span command; /* string; p NULL: it stands in the list */
	struct span *items;  /* of the list of arguments */
	size_t n;
	struct strings words; /* decoded: the command, then the items */
};

static size_t
start_of(const struct file *f, struct span part)
{
	return (size_t)(part.p - f->blank.p);
}

static size_t
end_of(const struct file *f, struct span part)
{
	return start_of(f, part) + part.n;
}

static struct member
member(struct span object, const char *name)
{
	struct member found = { no_span, no_span };
	struct span key, value;
	size_t at = 0;

	while (json_next(object, &at, &key, &value))
		if (json_key_is(key, name))
			found = (struct member){ key, value };
	return found;
}

static char *
text_of(struct span string)
{
	struct buf b;

	buf_init(&b, 0);
	if (json_string(string, &b) != 0) {
		buf_free(&b);
		return NULL;
	}
	return buf_take(&b);
}

/* Returns the raw text between the quotes of a string. */
static struct span
inside(struct span string)
{
	return (struct span){ string.p + 1, string.n - 2 };
}

static void
add_quoted(struct buf *out, const char *text)
{
	codec_json_string(out, span_of(text));
}

/* --- secrets --- */

static void
hide_all(struct file *f, struct span object)
{
	struct span key, value;
	size_t at = 0;

	while (json_next(object, &at, &key, &value))
		if (json_kind(value) == '"')
			wrap_plan_hide(f->plan, inside(value));
}

static void
hide(struct entry *e)
{
	static const char *const names[] = { "env", "environment", "headers" };
	struct span before = no_span;
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		hide_all(e->file, json_get(e->self.value, names[i]));
	for (i = 0; i < e->n; i++) {
		wrap_plan_hide_word(e->file->plan, before, inside(e->items[i]));
		before = inside(e->items[i]);
	}
}

/* --- a command line --- */

static void
place(struct entry *e)
{
	const struct file *f = e->file;

	hide(e);
	wrap_plan_place(f->plan, e->self.key, start_of(f, e->self.key) - 1,
	    end_of(f, e->self.value));
}

static void
leave(struct entry *e, char *why)
{
	wrap_plan_leave(e->file->plan, e->self.key, why);
}

/* Makes the items from..to these words. Of items that go the space behind goes,
 * too. There is an item. */
static void
edit_items(struct entry *e, size_t from, size_t to, char *const *words,
    size_t n)
{
	struct file *f = e->file;
	struct buf text;
	size_t i, start, end;

	if (from == to && n == 0)
		return;
	buf_init(&text, 0);
	for (i = 0; i < n; i++) {
		if (i > 0 || (from == to && from > 0))
			buf_adds(&text, ", ");
		add_quoted(&text, words[i]);
	}
	if (from == to && from == 0)
		buf_adds(&text, ", ");
	start = from < to || from == 0 ? start_of(f, e->items[from]) :
					 end_of(f, e->items[from - 1]);
	if (from == to)
		end = start;
	else if (n == 0 && to < e->n)
		end = start_of(f, e->items[to]);
	else
		end = end_of(f, e->items[to - 1]);
	wrap_plan_edit(f->plan, start, end,
	    text.n == 0 ? xstrdup("") : buf_take(&text));
	buf_free(&text);
}

static void
edit_command(struct entry *e, const char *word)
{
	struct buf text;

	buf_init(&text, 0);
	add_quoted(&text, word);
	wrap_plan_edit(e->file->plan, start_of(e->file, e->command),
	    end_of(e->file, e->command), buf_take(&text));
}

static void
edit_words(struct entry *e, const struct wrap_swaps *swaps)
{
	const struct wrap_swap *s;
	size_t i, first = e->command.p != NULL;

	for (i = 0; i < swaps->n; i++) {
		s = &swaps->list[i];
		if (s->secret)
			wrap_plan_hide(e->file->plan,
			    inside(e->items[s->to - 1 - first]));
		if (s->from >= first) {
			edit_items(e, s->from - first, s->to - first, s->words,
			    s->n);
			continue;
		}
		edit_command(e, s->words[0]);
		edit_items(e, 0, s->to - 1, s->words + 1, s->n - 1);
	}
}

/* Reads a list of strings. Returns false if it has something else. */
static bool
read_items(struct entry *e, struct span list)
{
	struct span key, value;
	size_t at = 0;

	while (json_next(list, &at, &key, &value)) {
		if (json_kind(value) != '"')
			return false;
		e->items = xrealloc(e->items, (e->n + 1) * sizeof *e->items);
		e->items[e->n++] = value;
		strings_add(&e->words, text_of(value));
	}
	return true;
}

/* The text between two members: a new line with the same indent, or a blank. */
static struct span
separator(const struct file *f, size_t key)
{
	size_t at = key;

	while (at > 0 && strchr(" \t", f->text.p[at - 1]) != NULL)
		at--;
	if (at == 0 || f->text.p[at - 1] != '\n')
		return span_of(" ");
	at -= at > 1 && f->text.p[at - 2] == '\r' ? 2 : 1;
	return (struct span){ f->text.p + at, key - at };
}

/* Adds WSLENV to an environment, because wsl.exe hands on nothing else of it.
 * One that is there stays as it is. */
static void
add_wslenv(struct file *f, struct span env, const char *wslenv)
{
	struct span key, value;
	struct buf text;
	size_t at = 0, to;

	if (json_kind(env) != '{' || json_get(env, "WSLENV").p != NULL)
		return;
	buf_init(&text, 0);
	buf_adds(&text, "\"WSLENV\": ");
	add_quoted(&text, wslenv);
	if (json_next(env, &at, &key, &value)) {
		to = start_of(f, key) - 1;
		buf_adds(&text, ",");
		buf_addspan(&text, separator(f, to));
	} else {
		to = start_of(f, env) + 1;
	}
	wrap_plan_edit(f->plan, to, to, buf_take(&text));
}

/* Adds WSLENV to the environment of an entry that has a command. */
static void
share_variables(struct entry *e, const char *wslenv)
{
	struct file *f = e->file;
	struct member command = member(e->self.value, "command");
	struct span object = e->self.value, env;
	const char *name;
	struct buf text;
	size_t to;

	if (json_kind(command.value) == '{') { /* Zed's older form */
		object = command.value;
		command = member(object, "path");
	}
	name = json_kind(command.value) == '[' ? "environment" : "env";
	env = json_get(object, name);
	if (env.p != NULL) {
		add_wslenv(f, env, wslenv);
		return;
	}
	to = start_of(f, command.key) - 1;
	buf_init(&text, 0);
	buf_addf(&text, "\"%s\": {\"WSLENV\": ", name);
	add_quoted(&text, wslenv);
	buf_adds(&text, "},");
	buf_addspan(&text, separator(f, to));
	wrap_plan_edit(f->plan, to, to, buf_take(&text));
}

/* Has the entry's environment this variable? */
static bool
has_variable(const struct entry *e, const char *name)
{
	return json_get(json_get(e->self.value, "env"), name).p != NULL;
}

static void
command_line(struct entry *e)
{
	struct wrap_swaps swaps = { .n = 0 };
	char *why = NULL;

	switch (wrap_words_read(&swaps, &e->words, e->file->self,
	    e->file->plan->windows, has_variable(e, "API_ACCESS_TOKEN"),
	    &why)) {
	case WRAP_CHANGE:
		edit_words(e, &swaps);
		if (swaps.wslenv != NULL)
			share_variables(e, swaps.wslenv);
		place(e);
		break;
	case WRAP_LEAVE:
		leave(e, why);
		break;
	case WRAP_OTHER:
		break;
	}
	wrap_swaps_free(&swaps);
}

/* --- an entry with a URL --- */

/* Takes a member out, with its comma and, where no comment stands between, the
 * space around it. */
static void
remove_member(struct file *f, struct member m)
{
	size_t from = start_of(f, m.key) - 1, to = end_of(f, m.value);
	size_t next = wrap_blank_skip(f->text, to), comma = from, start = from;

	while (strchr(" \t\r\n", f->blank.p[comma - 1]) != NULL)
		comma--;
	while (strchr(" \t\r\n", f->text.p[start - 1]) != NULL)
		start--;
	if (f->text.p[next] == ',') {
		/* another follows, or a trailing comma: what is behind moves
		 * here */
		to = next + 1;
		while (to < f->text.n && strchr(" \t", f->text.p[to]) != NULL)
			to++;
		if (f->text.p[to] == '\n' || f->text.p[to] == '\r')
			from = start;
	} else if (f->blank.p[comma - 1] == ',' && comma == start) {
		from = comma - 1;
	} else if (f->blank.p[comma - 1] == ',') {
		wrap_plan_edit(f->plan, comma - 1, comma, xstrdup(""));
	}
	wrap_plan_edit(f->plan, from, to, xstrdup(""));
}

/* What an entry with a URL becomes, raw. */
struct url_parts {
	struct buf args;      /* the list of arguments */
	struct buf variable;  /* the headers that go into MCPSPLICE_HEADER */
	struct buf wslenv;    /* what WSLENV has to be; empty: nothing */
	struct strings words; /* all of it as arguments */
};

/* Adds a header. What it holds may be a secret, and other users can read
 * arguments, so it goes into a variable if the entry has no variables yet. The
 * name of another variable stays in the arguments, where hosts expect it. */
static void
add_header(struct url_parts *u, struct span name, struct span value,
    bool has_env)
{
	bool secret = !has_env && memchr(value.p, '$', value.n) == NULL;
	struct buf line;

	buf_init(&line, 0);
	buf_addc(&line, '"');
	buf_addspan(&line, name);
	buf_adds(&line, ": ");
	buf_addspan(&line, inside(value));
	buf_addc(&line, '"');
	if (secret) {
		buf_adds(&u->variable, u->variable.n > 0 ? "\\n" : "");
		buf_addspan(&u->variable, inside(buf_span(&line)));
	} else {
		buf_adds(&u->args, ", \"-H\", ");
		buf_addspan(&u->args, buf_span(&line));
	}
	strings_add(&u->words, xstrdup("-H"));
	strings_add(&u->words, text_of(buf_span(&line)));
	buf_wipe(&line);
}

/* Returns why the entry cannot be changed, or NULL. */
static char *
url_parts(struct member url, struct span headers, bool has_env,
    struct url_parts *u)
{
	const char *why = wrap_words_dollars(url.value);
	struct span key, value;
	size_t at = 0;

	if (why != NULL || memchr(url.value.p, '$', url.value.n) != NULL)
		return xstrdup(
		    "its URL has a $, which mcpsplice does not replace");
	buf_addspan(&u->args, url.value);
	strings_add(&u->words, text_of(url.value));
	while (json_next(headers, &at, &key, &value)) {
		if (json_kind(value) != '"')
			return xstrdup("the value of a header is no text");
		/* mcpsplice sends its own */
		if (span_is_nocase(key, "Accept") ||
		    span_is_nocase(key, "Content-Type"))
			continue;
		why = wrap_words_dollars(value);
		if (why != NULL)
			return xasprintf("the header %.*s: %s", (int)key.n,
			    key.p, why);
		add_header(u, key, value, has_env);
	}
	return wrap_words_wrong(&u->words);
}

/* wsl.exe hands on the variables only that WSLENV names. */
static void
share_parts(struct url_parts *u)
{
	if (u->variable.n > 0)
		buf_adds(&u->wslenv, "MCPSPLICE_HEADER");
	wrap_words_share(&u->wslenv, &u->words);
}

/* Members that say what kind of server it is. */
static const char *const kinds[] = { "type", "transport", "transportType" };

static bool
is_http(struct span value)
{
	static const char *const words[] = { "http", "sse", "remote",
		"streamableHttp", "streamable-http", "streamable_http",
		"streamablehttp" };
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (json_string_is(value, words[i]))
			return true;
	return false;
}

/* Returns why the entry needs more than mcpsplice gets by its arguments, or
 * NULL. */
static char *
more_than_a_url(const struct entry *e)
{
	static const char *const others[] = { "oauth", "auth", "headersHelper",
		"authProviderType", "requestInit", "requestOptions",
		"eventSourceInit" };
	struct span value;
	size_t i;

	for (i = 0; i < sizeof others / sizeof others[0]; i++)
		if (json_get(e->self.value, others[i]).p != NULL)
			return xasprintf("its %s cannot be carried over",
			    others[i]);
	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		value = json_get(e->self.value, kinds[i]);
		if (value.p != NULL && !is_http(value))
			return xasprintf("its \"%s\" is not known", kinds[i]);
	}
	value = json_get(e->self.value, "headers");
	if (value.p != NULL && json_kind(value) != '{')
		return xstrdup("its headers are no list of names and values");
	return NULL;
}

static void
edit_kinds(struct entry *e, bool opencode)
{
	struct member m;
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		m = member(e->self.value, kinds[i]);
		if (m.value.p != NULL)
			wrap_plan_edit(e->file->plan,
			    start_of(e->file, m.value),
			    end_of(e->file, m.value),
			    xstrdup(opencode ? "\"local\"" : "\"stdio\""));
	}
}

/* Appends the members that stand in the place of the URL. */
static void
add_members(const struct entry *e, struct member url, const struct url_parts *u,
    bool opencode, bool has_env, struct buf *out)
{
	const struct file *f = e->file;
	size_t key = start_of(f, url.key) - 1;
	size_t colon = end_of(f, url.key) + 1;
	struct span between = { f->blank.p + colon,
		start_of(f, url.value) - colon };
	bool windows = f->plan->windows;

	buf_adds(out, "\"command\"");
	buf_addspan(out, between);
	buf_adds(out, opencode ? "[" : "");
	add_quoted(out, windows ? "wsl.exe" : f->self);
	buf_adds(out, ",");
	if (opencode) {
		buf_adds(out, " ");
	} else {
		buf_addspan(out, separator(f, key));
		buf_adds(out, "\"args\"");
		buf_addspan(out, between);
		buf_adds(out, "[");
	}
	if (windows) {
		buf_adds(out, "\"--exec\", ");
		add_quoted(out, f->self);
		buf_adds(out, ", ");
	}
	buf_addspan(out, buf_span(&u->args));
	buf_adds(out, "]");
	if (has_env || (u->variable.n == 0 && u->wslenv.n == 0))
		return;
	buf_adds(out, ",");
	buf_addspan(out, separator(f, key));
	buf_adds(out, opencode ? "\"environment\"" : "\"env\"");
	buf_addspan(out, between);
	buf_adds(out, "{");
	if (u->variable.n > 0) {
		buf_adds(out, "\"MCPSPLICE_HEADER\": \"");
		buf_addspan(out, buf_span(&u->variable));
		buf_adds(out, u->wslenv.n > 0 ? "\", " : "\"");
	}
	if (u->wslenv.n > 0) {
		buf_adds(out, "\"WSLENV\": ");
		codec_json_string(out, buf_span(&u->wslenv));
	}
	buf_adds(out, "}");
}

static void
url_entry(struct entry *e, struct member url)
{
	struct file *f = e->file;
	struct member headers = member(e->self.value, "headers");
	bool opencode = json_string_is(json_get(e->self.value, "type"),
	    "remote");
	struct span env = json_get(e->self.value,
	    opencode ? "environment" : "env");
	bool has_env = env.p != NULL;
	char *why = more_than_a_url(e);
	struct url_parts u = { 0 };
	struct buf text;
	size_t i;

	buf_init(&u.args, 0);
	buf_init(&u.variable, 0);
	buf_init(&u.wslenv, 0);
	buf_init(&text, 0);
	if (why == NULL)
		why = url_parts(url, headers.value, has_env, &u);
	if (f->plan->windows)
		share_parts(&u);
	if (why != NULL) {
		leave(e, why);
	} else {
		add_members(e, url, &u, opencode, has_env, &text);
		wrap_plan_edit(f->plan, start_of(f, url.key) - 1,
		    end_of(f, url.value), buf_take(&text));
		if (headers.value.p != NULL)
			remove_member(f, headers);
		if (u.wslenv.n > 0)
			add_wslenv(f, env, buf_str(&u.wslenv));
		edit_kinds(e, opencode);
		wrap_plan_hide_word(f->plan, no_span, inside(url.value));
		place(e);
	}
	for (i = 0; i < u.words.n; i++)
		string_wipe(&u.words.list[i]);
	free(u.words.list);
	buf_wipe(&u.args);
	buf_wipe(&u.variable);
	buf_free(&u.wslenv);
	buf_wipe(&text);
}

/* Finds the URL of an entry; *n: how many it has. */
static struct member
find_url(struct span object, size_t *n)
{
	static const char *const names[] = { "url", "httpUrl", "serverUrl" };
	struct member m, found = { no_span, no_span };
	size_t i;

	*n = 0;
	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		m = member(object, names[i]);
		if (json_kind(m.value) == '"') {
			found = m;
			++*n;
		}
	}
	return found;
}

/* --- entries, and where they are --- */

static void
read_entry(struct file *f, struct span key, struct span value)
{
	struct entry e = { .file = f, .self = { key, value } };
	struct span at = json_get(value, "command"), list;
	struct member url;
	size_t n, i;

	f->plan->entries++;
	list = json_get(value, "args");
	if (json_kind(at) == '{') { /* Zed's older form */
		list = json_get(at, "args");
		at = json_get(at, "path");
	}
	if (json_kind(at) == '[')
		list = at;
	else if (json_kind(at) == '"')
		strings_add(&e.words, text_of(e.command = at));
	if (at.p == NULL) {
		url = find_url(value, &n);
		if (n == 1)
			url_entry(&e, url);
		else if (n > 1)
			leave(&e, xstrdup("it has several URLs"));
	} else if (read_items(&e, list) && e.words.n > 0) {
		command_line(&e);
	}
	for (i = 0; i < e.words.n; i++)
		string_wipe(&e.words.list[i]);
	free(e.words.list);
	free(e.items);
}

/* Follows the names to the objects that hold entries; "*" is any name. */
static void
walk(struct file *f, struct span object, const char *const *names)
{
	struct span key, value;
	size_t at = 0;

	if (names[0] != NULL && strcmp(names[0], "*") != 0) {
		walk(f, json_get(object, names[0]), names + 1);
		return;
	}
	if (json_kind(object) != '{')
		return;
	while (json_next(object, &at, &key, &value))
		if (names[0] != NULL)
			walk(f, value, names + 1);
		else if (json_kind(value) == '{')
			read_entry(f, key, value);
}

static char *
broken(struct span text, enum json_status status, size_t at)
{
	size_t line, column;

	wrap_plan_line(text, at, &line, &column);
	return xasprintf("%s in line %zu, column %zu",
	    status == JSON_DEPTH    ? "it is nested too deep" :
		status == JSON_UTF8 ? "it has bytes that are not UTF-8" :
				      "it is not JSON",
	    line, column);
}

int
wrap_json(struct wrap_plan *p, struct span text, const char *self, char **why)
{
	static const char *const places[][4] = {
		{ "mcpServers", NULL },
		{ "projects", "*", "mcpServers", NULL }, /* Claude Code */
		{ "servers", NULL },                     /* VS Code */
		{ "mcp", "servers", NULL },              /* its settings.json */
		{ "context_servers", NULL },             /* Zed */
		{ "mcp", NULL },                         /* opencode */
		{ "amp.mcpServers", NULL },
	};
	struct file f = { .plan = p, .text = text, .self = self };
	enum json_status status = JSON_OK;
	struct span root;
	struct buf blank;
	size_t i, at = 0;

	buf_init(&blank, 0);
	wrap_blank(&blank, text);
	f.blank = buf_span(&blank);
	root = span_trim(f.blank, " ");
	if (root.n > 0)
		status = json_check(f.blank, BOUND_WRAP_DEPTH, NULL, NULL, &at);
	if (status != JSON_OK)
		*why = broken(text, status, at);
	else
		for (i = 0; i < sizeof places / sizeof places[0]; i++)
			walk(&f, root, places[i]);
	buf_wipe(&blank);
	return status == JSON_OK ? 0 : -1;
}
