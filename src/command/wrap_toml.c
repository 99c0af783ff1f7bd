/*
 * Reads TOML as a list of statements: a header of a table, or a key with a
 * value. Of values it knows strings, lists of strings and inline tables of
 * strings; any other is only stepped over.
 */
#include "config.h"

#include "command/wrap_toml.h"

#include <stdlib.h>

#include "base/codec.h"
#include "command/wrap_words.h"
#include "core/wire/json.h"

struct statement {
	size_t from, to; /* its lines, with the last line end */
	bool table;      /* [path] */
	struct span key; /* or the path; raw */
	struct span value;
};

struct server {
	struct span name; /* raw */
	size_t from, to;
	struct statement command, args, url, token, headers, env_headers,
	    env_vars;
	bool variable;     /* its environment sets API_ACCESS_TOKEN */
	bool has_env;      /* it has an environment at all */
	struct span other; /* what is not carried over; p NULL: nothing */
};

struct file {
	struct wrap_plan *plan;
	struct span text;
	const char *self;
	struct server *servers;
	size_t n;
};

/* --- statements --- */

/* Returns the end of the string that begins here; 0: it has none. */
static size_t
string_end(struct span text, size_t at)
{
	char quote = text.p[at];
	bool three = at + 2 < text.n && text.p[at + 1] == quote &&
	    text.p[at + 2] == quote;

	for (at += three ? 3 : 1; at < text.n; at++) {
		if (text.p[at] == '\\' && quote == '"')
			at++;
		else if (text.p[at] == '\n' && !three)
			return 0;
		else if (text.p[at] == quote && !three)
			return at + 1;
		else if (text.p[at] == quote && at + 2 < text.n &&
		    text.p[at + 1] == quote && text.p[at + 2] == quote) {
			for (at += 3; at < text.n && text.p[at] == quote;)
				at++;
			return at;
		}
	}
	return 0;
}

static size_t
line_end(struct span text, size_t at)
{
	while (at < text.n && text.p[at] != '\n')
		at++;
	return at;
}

/* Skips blanks, lines and comments. */
static size_t
skip(struct span text, size_t at)
{
	for (; at < text.n; at++) {
		if (text.p[at] == '#')
			at = line_end(text, at);
		if (at == text.n || strchr(" \t\r\n", text.p[at]) == NULL)
			break;
	}
	return at;
}

/* Returns the end of the text from at on up to one of these bytes outside of
 * strings and brackets, or up to the end of its line. 0: a string or a bracket
 * is not closed; *at is then its place. */
static size_t
part_end(struct span text, size_t *at, const char *until)
{
	size_t i = *at, depth = 0, open = *at, end;

	while (i < text.n) {
		char c = text.p[i];

		if (depth == 0 && (c == '\n' || strchr(until, c) != NULL))
			return i;
		if (c == '#') {
			i = line_end(text, i);
			if (depth == 0)
				return i;
		} else if (c == '"' || c == '\'') {
			end = string_end(text, i);
			if (end == 0) {
				*at = i;
				return 0;
			}
			i = end;
			continue;
		} else if (c == '[' || c == '{') {
			open = depth++ == 0 ? i : open;
		} else if ((c == ']' || c == '}') && depth > 0) {
			depth--;
		}
		i++;
	}
	*at = open;
	return depth > 0 ? 0 : i;
}

/* Returns the part from..to without its comment and the blanks around it. */
static struct span
trimmed(struct span text, size_t from, size_t to)
{
	return span_trim((struct span){ text.p + from, to - from }, " \t\r");
}

/* Reads the next statement. Returns 1, 0 at the end, or -1 at what is broken;
 * *at is then its place. */
static int
next(struct span text, size_t *at, struct statement *s)
{
	size_t start = skip(text, *at), end;

	*s = (struct statement){ 0 };
	*at = s->from = start;
	if (start == text.n)
		return 0;
	while (s->from > 0 && strchr(" \t", text.p[s->from - 1]) != NULL)
		s->from--;
	if (text.p[start] == '[') {
		s->table = true;
		*at = ++start;
		end = part_end(text, at, "]");
		if (end == 0 || end == text.n || text.p[end] != ']')
			return -1;
		s->key = trimmed(text, start, end);
	} else {
		end = part_end(text, at, "=#");
		if (end == 0 || end == text.n || text.p[end] != '=')
			return -1;
		s->key = trimmed(text, start, end);
		*at = start = end + 1;
		end = part_end(text, at, "#");
		if (end == 0)
			return -1;
		s->value = trimmed(text, start, end);
	}
	end = line_end(text, end);
	*at = s->to = end + (end < text.n);
	return 1;
}

/* --- values --- */

/* Takes the quotes off a key. */
static struct span
bare(struct span key)
{
	if (key.n >= 2 && (key.p[0] == '"' || key.p[0] == '\'') &&
	    key.p[key.n - 1] == key.p[0])
		return (struct span){ key.p + 1, key.n - 2 };
	return key;
}

/* Decodes a string of one line; NULL: it is none, or has an escape that is not
 * JSON's. */
static char *
text_of(struct span value)
{
	struct buf b;

	if (value.n < 2 || (value.n >= 3 && memcmp(value.p, "\"\"\"", 3) == 0))
		return NULL;
	if (value.p[0] == '\'' && value.p[value.n - 1] == '\'' &&
	    value.p[1] != '\'')
		return xstrndup(value.p + 1, value.n - 2);
	buf_init(&b, 0);
	if (value.p[0] == '"' &&
	    json_check(value, 1, NULL, NULL, NULL) == JSON_OK &&
	    json_string(value, &b) == 0)
		return buf_take(&b);
	buf_free(&b);
	return NULL;
}

/* Steps through what stands between brackets. Returns false at the end. */
static bool
next_item(struct span list, size_t *at, struct span *item)
{
	struct span in = { list.p + 1, list.n - 2 };
	size_t end;

	*at = skip(in, *at);
	if (*at < in.n && in.p[*at] == ',')
		*at = skip(in, *at + 1);
	if (*at >= in.n)
		return false;
	end = part_end(in, at, ",#");
	if (end == 0)
		return false;
	*item = trimmed(in, *at, end);
	*at = end;
	return item->n > 0;
}

static bool
is_list(struct span value, char open, char close)
{
	return value.n >= 2 && value.p[0] == open &&
	    value.p[value.n - 1] == close;
}

/* --- what an entry is made of --- */

/* Splits the next name off a path like a."b.c".d. */
static bool
next_name(struct span *path, struct span *name)
{
	size_t at = 0, end;

	if (path->n == 0)
		return false;
	end = part_end(*path, &at, ".");
	if (end == 0)
		return false;
	*name = bare(trimmed(*path, 0, end));
	end += end < path->n;
	*path = (struct span){ path->p + end, path->n - end };
	return true;
}

static struct server *
server_of(struct file *f, struct span name, const struct statement *at)
{
	struct server *s;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (span_eq(f->servers[i].name, name))
			return &f->servers[i];
	f->servers = xrealloc(f->servers, (f->n + 1) * sizeof *f->servers);
	s = &f->servers[f->n++];
	f->plan->entries++;
	*s = (struct server){ .name = name, .from = at->from, .to = at->to };
	return s;
}

/* Takes a statement of an entry: below is the rest of the path of its table. */
static void
take(struct server *s, struct span below, const struct statement *at)
{
	static const char *const others[] = { "scopes", "oauth_resource",
		"oauth", "auth", "http_headers", "env_http_headers" };
	size_t i;

	if (span_is(below, "env") && span_is(bare(at->key), "API_ACCESS_TOKEN"))
		s->variable = true;
	if (span_is(below, "env") || (below.n == 0 && span_is(at->key, "env")))
		s->has_env = true;
	for (i = 0; i < sizeof others / sizeof others[0]; i++)
		if (span_is(below, others[i]))
			s->other = below;
	if (below.n > 0)
		return;
	s->to = at->to;
	if (span_is(at->key, "command"))
		s->command = *at;
	else if (span_is(at->key, "args"))
		s->args = *at;
	else if (span_is(at->key, "url"))
		s->url = *at;
	else if (span_is(at->key, "bearer_token_env_var"))
		s->token = *at;
	else if (span_is(at->key, "http_headers"))
		s->headers = *at;
	else if (span_is(at->key, "env_http_headers"))
		s->env_headers = *at;
	else if (span_is(at->key, "env_vars"))
		s->env_vars = *at;
	else
		for (i = 0; i < sizeof others / sizeof others[0]; i++)
			if (span_is(at->key, others[i]))
				s->other = at->key;
}

static int
collect(struct file *f, size_t *at)
{
	struct statement s;
	struct span path = no_span, name = no_span, below = no_span;
	bool inside = false;
	int rc;

	while ((rc = next(f->text, at, &s)) > 0) {
		if (s.table) {
			path = s.key;
			inside = next_name(&path, &name) &&
			    span_is(name, "mcp_servers") &&
			    next_name(&path, &name);
			below = path;
			if (inside && below.n == 0)
				server_of(f, name, &s)->to = s.to;
		} else if (inside) {
			take(server_of(f, name, &s), below, &s);
		}
	}
	return rc;
}

/* --- a command line --- */

static size_t
start_of(const struct file *f, struct span part)
{
	return (size_t)(part.p - f->text.p);
}

static void
leave(struct file *f, const struct server *s, char *why)
{
	wrap_plan_leave(f->plan, s->name, why);
}

/* wsl.exe hands on the variables only that WSLENV names. */
static const char not_shared[] =
    "it needs WSLENV in its environment, so that WSL gets its variables";

static void
place(struct file *f, const struct server *s)
{
	wrap_plan_place(f->plan, s->name, s->from, s->to);
}

static void
hide_table(struct file *f, struct span table)
{
	struct span item;
	size_t at = 0, end, from;

	if (!is_list(table, '{', '}'))
		return;
	while (next_item(table, &at, &item)) {
		from = 0;
		end = part_end(item, &from, "=");
		if (end > 0 && end < item.n)
			wrap_plan_hide(f->plan,
			    bare(trimmed(item, end + 1, item.n)));
	}
}

static void
add_words(struct buf *out, char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (i > 0)
			buf_adds(out, ", ");
		codec_json_string(out, span_of(words[i]));
	}
}

/* Makes the items from..to of the list, which has one, these words. */
static void
edit_items(struct file *f, const struct span *items, size_t n_items,
    size_t from, size_t to, char *const *words, size_t n)
{
	struct buf text;
	size_t start, end;

	if (from == to && n == 0)
		return;
	buf_init(&text, 0);
	if (from == to && from > 0)
		buf_adds(&text, ", ");
	add_words(&text, words, n);
	if (from == to && from == 0)
		buf_adds(&text, ", ");
	start = from < to || from == 0 ?
	    start_of(f, items[from]) :
	    start_of(f, items[from - 1]) + items[from - 1].n;
	if (from == to)
		end = start;
	else if (n == 0 && to < n_items)
		end = start_of(f, items[to]);
	else
		end = start_of(f, items[to - 1]) + items[to - 1].n;
	wrap_plan_edit(f->plan, start, end,
	    text.n == 0 ? xstrdup("") : buf_take(&text));
	buf_free(&text);
}

static void
edit_value(struct file *f, struct span value, const char *word)
{
	struct buf text;

	buf_init(&text, 0);
	codec_json_string(&text, span_of(word));
	wrap_plan_edit(f->plan, start_of(f, value),
	    start_of(f, value) + value.n, buf_take(&text));
}

static void
edit_words(struct file *f, const struct server *s, const struct span *items,
    size_t n_items, const struct wrap_swaps *swaps)
{
	const struct wrap_swap *w;
	size_t i;

	for (i = 0; i < swaps->n; i++) {
		w = &swaps->list[i];
		if (w->secret)
			wrap_plan_hide(f->plan, bare(items[w->to - 2]));
		if (w->from > 0) {
			edit_items(f, items, n_items, w->from - 1, w->to - 1,
			    w->words, w->n);
			continue;
		}
		edit_value(f, s->command.value, w->words[0]);
		edit_items(f, items, n_items, 0, w->to - 1, w->words + 1,
		    w->n - 1);
	}
	for (i = 0; i < n_items; i++)
		wrap_plan_hide_word(f->plan,
		    i == 0 ? no_span : bare(items[i - 1]), bare(items[i]));
}

/* Reads the words; returns false if one is not understood. */
static bool
read_words(const struct server *s, struct strings *words, struct span **items,
    size_t *n)
{
	struct span item;
	char *text = text_of(s->command.value);
	size_t at = 0;

	if (text == NULL)
		return false;
	strings_add(words, text);
	if (s->args.value.p == NULL)
		return true;
	if (!is_list(s->args.value, '[', ']'))
		return false;
	while (next_item(s->args.value, &at, &item)) {
		*items = xrealloc(*items, (*n + 1) * sizeof **items);
		(*items)[(*n)++] = item;
		text = text_of(item);
		if (text == NULL)
			return false;
		strings_add(words, text);
	}
	return true;
}

static void
command_line(struct file *f, const struct server *s)
{
	struct wrap_swaps swaps = { .n = 0 };
	struct strings words = { 0 };
	struct span *items = NULL;
	char *why = NULL;
	size_t n = 0;

	if (!read_words(s, &words, &items, &n)) {
		leave(f, s,
		    xstrdup("its command or args are written in a way "
			    "that is not understood"));
	} else {
		switch (wrap_words_read(&swaps, &words, f->self,
		    f->plan->windows, s->variable, &why)) {
		case WRAP_CHANGE:
			if (swaps.wslenv != NULL) {
				leave(f, s, xstrdup(not_shared));
				break;
			}
			edit_words(f, s, items, n, &swaps);
			place(f, s);
			break;
		case WRAP_LEAVE:
			leave(f, s, why);
			break;
		case WRAP_OTHER:
			break;
		}
	}
	wrap_swaps_free(&swaps);
	strings_free(&words);
	free(items);
}

/* --- an entry with a URL --- */

/* Adds one header; variable: value is the name of one. */
static void
add_header(struct span name, const char *value, bool variable,
    struct strings *words)
{
	/* mcpsplice sends its own */
	if (span_is_nocase(name, "Accept") ||
	    span_is_nocase(name, "Content-Type"))
		return;
	strings_add(words, xstrdup("-H"));
	strings_add(words,
	    xasprintf("%.*s: %s%s%s", (int)name.n, name.p, variable ? "${" : "",
		value, variable ? "}" : ""));
}

/* Adds the headers of an inline table. names: its values are names of
 * variables, which are added there; else NULL. Returns why not, or NULL. */
static char *
add_headers(struct span table, struct strings *words, struct strings *names)
{
	struct span item, name;
	size_t at = 0, eq, from;
	char *value;

	if (table.p == NULL)
		return NULL;
	if (!is_list(table, '{', '}'))
		return xstrdup("its headers are not understood");
	while (next_item(table, &at, &item)) {
		from = 0;
		eq = part_end(item, &from, "=");
		value = eq == 0 || eq == item.n ?
		    NULL :
		    text_of(trimmed(item, eq + 1, item.n));
		if (value == NULL || strchr(value, '$') != NULL) {
			string_wipe(&value);
			return xstrdup("its headers are not understood, or "
				       "have a dollar sign");
		}
		name = bare(trimmed(item, 0, eq));
		add_header(name, value, names != NULL, words);
		if (names != NULL)
			strings_add(names, xstrdup(value));
		string_wipe(&value);
	}
	return NULL;
}

/* Collects the arguments, and the variables that Codex has to hand on. Headers
 * with their values are the last words; *n_args: how many come before them. */
static char *
url_words(const struct server *s, bool windows, struct strings *words,
    struct strings *names, size_t *n_args)
{
	char *text = text_of(s->url.value), *why;

	if (text == NULL)
		return xstrdup("its URL is not understood");
	strings_add(words, text);
	if (strchr(text, '$') != NULL)
		return xstrdup(
		    "its URL has a $, which mcpsplice does not replace");
	if (s->token.value.p != NULL) {
		text = text_of(s->token.value);
		if (text == NULL)
			return xstrdup("its token is not understood");
		strings_add(words, xstrdup("--bearer-env"));
		strings_add(words, xstrdup(text));
		strings_add(names, text);
	}
	why = add_headers(s->env_headers.value, words, names);
	*n_args = words->n;
	if (why == NULL)
		why = add_headers(s->headers.value, words, NULL);
	if (why == NULL && names->n > 0 && s->env_vars.value.p != NULL)
		why = xstrdup("it has env_vars already");
	if (why == NULL && names->n > 0 && s->has_env && windows)
		why = xstrdup(not_shared);
	return why != NULL ? why : wrap_words_wrong(words);
}

static void
remove_lines(struct file *f, const struct statement *s)
{
	if (s->value.p != NULL)
		wrap_plan_edit(f->plan, s->from, s->to, xstrdup(""));
}

/* What a header holds may be a secret, and other users can read arguments, so
 * headers go into a variable. list: "-H" and a header, n words in all. */
static void
add_variable(struct buf *out, char *const *list, size_t n)
{
	struct buf lines;
	size_t i;

	buf_init(&lines, 0);
	for (i = 1; i < n; i += 2)
		buf_addf(&lines, "%s%s", i > 1 ? "\n" : "", list[i]);
	buf_adds(out, "MCPSPLICE_HEADER = ");
	codec_json_string(out, buf_span(&lines));
	buf_wipe(&lines);
}

/* Adds the table of variables: the headers, and on Windows those that WSL shall
 * get. */
static void
add_env(struct buf *out, const struct file *f, const struct strings *words,
    size_t n_args)
{
	struct buf names;

	buf_init(&names, 0);
	buf_adds(out, "env = { ");
	if (n_args < words->n) {
		add_variable(out, words->list + n_args, words->n - n_args);
		buf_adds(&names, "MCPSPLICE_HEADER");
	}
	wrap_words_share(&names, words);
	if (f->plan->windows) {
		buf_adds(out, n_args < words->n ? ", " : "");
		buf_adds(out, "WSLENV = ");
		codec_json_string(out, buf_span(&names));
	}
	buf_adds(out, " }");
	buf_free(&names);
}

static void
edit_url(struct file *f, const struct server *s, const struct strings *words,
    size_t n_args, const struct strings *names)
{
	struct span indent = { f->text.p + s->url.from,
		start_of(f, s->url.key) - s->url.from };
	size_t end = start_of(f, s->url.value) + s->url.value.n;
	const char *line = end < f->text.n && f->text.p[end] == '\r' ? "\r\n" :
								       "\n";
	struct buf text;

	buf_init(&text, 0);
	buf_adds(&text, "command = ");
	codec_json_string(&text,
	    span_of(f->plan->windows ? "wsl.exe" : f->self));
	buf_adds(&text, line);
	buf_addspan(&text, indent);
	buf_adds(&text, "args = [");
	if (f->plan->windows) {
		buf_adds(&text, "\"--exec\", ");
		codec_json_string(&text, span_of(f->self));
		buf_adds(&text, ", ");
	}
	if (s->has_env)
		n_args = words->n;
	add_words(&text, words->list, n_args);
	buf_adds(&text, "]");
	if (n_args < words->n || (f->plan->windows && names->n > 0)) {
		buf_adds(&text, line);
		buf_addspan(&text, indent);
		add_env(&text, f, words, n_args);
	}
	if (names->n > 0) {
		buf_adds(&text, line);
		buf_addspan(&text, indent);
		buf_adds(&text, "env_vars = [");
		add_words(&text, names->list, names->n);
		buf_adds(&text, "]");
	}
	wrap_plan_edit(f->plan, start_of(f, s->url.key), end, buf_take(&text));
	remove_lines(f, &s->token);
	remove_lines(f, &s->headers);
	remove_lines(f, &s->env_headers);
}

static void
url_entry(struct file *f, const struct server *s)
{
	struct strings words = { 0 }, names = { 0 };
	size_t n_args = 0;
	char *why = s->other.p != NULL ?
	    xasprintf("its %.*s cannot be carried over", (int)s->other.n,
		s->other.p) :
	    url_words(s, f->plan->windows, &words, &names, &n_args);

	if (why != NULL) {
		leave(f, s, why);
	} else {
		edit_url(f, s, &words, n_args, &names);
		hide_table(f, s->headers.value);
		wrap_plan_hide_word(f->plan, no_span, bare(s->url.value));
		place(f, s);
	}
	strings_free(&words);
	strings_free(&names);
}

int
wrap_toml(struct wrap_plan *p, struct span text, const char *self, char **why)
{
	struct file f = { .plan = p, .text = text, .self = self };
	size_t i, at = 0, line, column;
	int rc = collect(&f, &at);

	if (rc < 0) {
		wrap_plan_line(text, at, &line, &column);
		*why = xasprintf("it is not TOML in line %zu, column %zu", line,
		    column);
	}
	for (i = 0; rc == 0 && i < f.n; i++) {
		if (f.servers[i].command.value.p != NULL)
			command_line(&f, &f.servers[i]);
		else if (f.servers[i].url.value.p != NULL)
			url_entry(&f, &f.servers[i]);
	}
	free(f.servers);
	return rc;
}
