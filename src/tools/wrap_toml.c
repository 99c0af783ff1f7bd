/*
 * Reads TOML as a list of statements: a header of a table, or a key with a
 * value. Of values it knows strings, lists of strings and inline tables of
 * strings; any other is only stepped over.
 */
#include "config.h"

#include "tools/wrap.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
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
	bool ours;         /* or variables of mcpsplice */
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
			end = wrap_string_end(text, i);
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

static bool
is_list(struct span value, char open, char close)
{
	return value.n >= 2 && value.p[0] == open &&
	    value.p[value.n - 1] == close;
}

/* Returns what stands between the brackets or quotes. */
static struct span
inside(struct span part)
{
	return (struct span){ part.p + 1, part.n - 2 };
}

/* Is it names with dots between them? */
static bool
is_key(struct span key)
{
	struct span name;
	size_t at = 0, i;

	do {
		i = at;
		at = part_end(key, &i, ".");
		name = at == 0 ? no_span : trimmed(key, i, at);
		if (name.n == 0)
			return false;
		if (name.p[0] == '"' || name.p[0] == '\'') {
			if (wrap_string_end(name, 0) != name.n)
				return false;
			continue;
		}
		for (i = 0; i < name.n; i++)
			if (!isalnum((unsigned char)name.p[i]) &&
			    name.p[i] != '_' && name.p[i] != '-')
				return false;
	} while (at++ < key.n);
	return true;
}

/* Could it be a value? What is in brackets is not looked at. */
static bool
is_value(struct span value)
{
	if (value.n == 0)
		return false;
	if (value.p[0] == '"' || value.p[0] == '\'')
		return wrap_string_end(value, 0) == value.n;
	if (value.p[0] == '[' || value.p[0] == '{')
		return value.p[value.n - 1] == (value.p[0] == '[' ? ']' : '}');
	/* true, false, inf, nan, numbers and dates */
	return strchr("tfin+-0123456789", value.p[0]) != NULL;
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
		if (!is_key(is_list(s->key, '[', ']') ? inside(s->key) :
							s->key))
			return -1;
	} else {
		end = part_end(text, at, "=#");
		if (end == 0 || end == text.n || text.p[end] != '=')
			return -1;
		s->key = trimmed(text, start, end);
		if (!is_key(s->key))
			return -1;
		*at = start = end + 1;
		end = part_end(text, at, "#");
		if (end == 0)
			return -1;
		s->value = trimmed(text, start, end);
		if (!is_value(s->value))
			return -1;
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

/* Steps through what stands between brackets. Returns false at the end. */
static bool
next_item(struct span list, size_t *at, struct span *item)
{
	struct span in = inside(list);
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

	for (i = f->n; i > 0; i--) /* most often it is the last */
		if (span_eq(f->servers[i - 1].name, name))
			return &f->servers[i - 1];
	f->servers = xgrow(f->servers, f->n, sizeof *f->servers);
	s = &f->servers[f->n++];
	f->plan->entries++;
	*s = (struct server){ .name = name, .from = at->from, .to = at->to };
	return s;
}

/* Takes a variable of the environment. A name with an escape may be any. */
static void
take_variable(struct server *s, struct span name)
{
	s->has_env = true;
	s->variable = s->variable || span_is(bare(name), "API_ACCESS_TOKEN");
	s->ours = s->ours || span_find(name, "MCPSPLICE_") != NULL ||
	    span_find(name, "\\") != NULL;
}

/* Takes the variables of a statement, which may be a.b = c or a = { b = c }.
 * names: how it goes on behind the name of the environment. */
static void
take_env(struct server *s, struct span names, struct span value)
{
	struct span item;
	size_t at = 0, eq, from;

	take_variable(s, names);
	while (names.n == 0 && is_list(value, '{', '}') &&
	    next_item(value, &at, &item)) {
		from = 0;
		eq = part_end(item, &from, "=");
		take_variable(s, trimmed(item, 0, eq));
	}
}

/* Takes a statement of an entry: below is the name of its table in it. */
static void
take(struct server *s, struct span below, const struct statement *at)
{
	static const char *const others[] = { "scopes", "oauth_resource",
		"oauth", "auth", "http_headers", "env_http_headers" };
	static const struct {
		const char *name;
		size_t at;
	} members[] = {
		{ "command", offsetof(struct server, command) },
		{ "args", offsetof(struct server, args) },
		{ "url", offsetof(struct server, url) },
		{ "bearer_token_env_var", offsetof(struct server, token) },
		{ "http_headers", offsetof(struct server, headers) },
		{ "env_http_headers", offsetof(struct server, env_headers) },
		{ "env_vars", offsetof(struct server, env_vars) },
	};
	struct span names = at->key, first = below;
	size_t i;

	if (below.n == 0)
		(void)next_name(&names, &first);
	s->ours = s->ours || span_find(first, "\\") != NULL;
	if (span_is(first, "env"))
		take_env(s, names, at->value);
	for (i = 0; i < sizeof others / sizeof others[0]; i++)
		if ((below.n > 0 || names.n > 0) && span_is(first, others[i]))
			s->other = first;
	if (below.n > 0)
		return;
	s->to = at->to;
	for (i = 0; i < sizeof members / sizeof members[0]; i++)
		if (span_is(at->key, members[i].name)) {
			*(struct statement *)((char *)s + members[i].at) = *at;
			return;
		}
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
	int rc = 0;

	while (f->n <= BOUND_WRAP_ENTRIES && (rc = next(f->text, at, &s)) > 0) {
		if (s.table) {
			path = s.key;
			inside = next_name(&path, &name) &&
			    span_is(name, "mcp_servers") &&
			    next_name(&path, &name);
			below = no_span;
			if (inside)
				(void)next_name(&path, &below);
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
replace(struct file *f, struct span old, struct buf *text)
{
	wrap_plan_edit(f->plan, start_of(f, old), start_of(f, old) + old.n,
	    buf_take(text));
}

/* Reads the words; returns false if one is not understood. */
static bool
read_words(const struct server *s, struct strings *words)
{
	struct span item;
	char *text = wrap_string(s->command.value);
	size_t at = 0;

	if (text == NULL)
		return false;
	strings_add(words, text);
	if (s->args.value.p == NULL)
		return true;
	if (!is_list(s->args.value, '[', ']'))
		return false;
	while (next_item(s->args.value, &at, &item)) {
		text = wrap_string(item);
		if (text == NULL)
			return false;
		strings_add(words, text);
	}
	return true;
}

/* Makes the entry one of mcpsplice. */
static void
write_command(struct file *f, const struct server *s,
    const struct wrap_start *start)
{
	struct buf text;

	buf_init(&text, 0);
	codec_json_string(&text, span_of(start->words.list[0]));
	replace(f, s->command.value, &text);
	wrap_list(&text, s->args.value, &start->words, 1);
	replace(f, s->args.value, &text);
	place(f, s);
}

static void
command_line(struct file *f, const struct server *s)
{
	struct wrap_start start = { .first = 0 };
	struct strings words = { 0 };

	if (!read_words(s, &words)) {
		leave(f, s,
		    xstrdup("its command or args are written in a way that "
			    "is not understood"));
	} else if (wrap_words_read(&start, f->plan, s->name, &words, f->self,
		       s->variable)) {
		if (s->ours)
			leave(f, s, xstrdup(wrap_ours));
		else if (start.wslenv.n > 0)
			leave(f, s, xstrdup(not_shared));
		else
			write_command(f, s, &start);
	}
	wrap_start_free(&start);
	strings_free(&words);
}

/* --- an entry with a URL --- */

/* Adds the headers of an inline table. names: its values are names of
 * variables, which are added there; else NULL. Returns why not, or NULL. */
static char *
add_headers(struct span table, bool has_env, struct wrap_start *start,
    struct strings *names)
{
	struct span item;
	size_t at = 0, eq, from;
	char *name, *value;

	if (table.p == NULL)
		return NULL;
	if (!is_list(table, '{', '}'))
		return xstrdup("its headers are not understood");
	while (next_item(table, &at, &item)) {
		from = 0;
		eq = part_end(item, &from, "=");
		value = eq == 0 || eq == item.n ?
		    NULL :
		    wrap_string(trimmed(item, eq + 1, item.n));
		if (value == NULL || strchr(value, '$') != NULL) {
			string_wipe(&value);
			return xstrdup("its headers are not understood, or "
				       "have a dollar sign");
		}
		if (names != NULL) {
			strings_add(names, value);
			value = xasprintf("${%s}", value);
		}
		item = bare(trimmed(item, 0, eq));
		name = xstrndup(item.p, item.n);
		wrap_start_header(start, name, value, has_env);
		free(name);
		string_wipe(&value);
	}
	return NULL;
}

/* Reads the URL, the token and the headers, and the names of variables that
 * Codex has to hand on. Returns why not, or NULL. */
static char *
read_url(const struct file *f, const struct server *s, struct wrap_start *start,
    struct strings *names)
{
	char *text = wrap_string(s->url.value), *why;

	if (text == NULL)
		return xstrdup("its URL is not understood");
	wrap_start_url(start, text, f->self, f->plan->windows);
	why = strchr(text, '$') == NULL ?
	    NULL :
	    xstrdup("its URL has a $, which mcpsplice does not replace");
	string_wipe(&text);
	if (why == NULL && s->token.value.p != NULL) {
		text = wrap_string(s->token.value);
		if (text == NULL)
			return xstrdup("its token is not understood");
		strings_add(&start->words, xstrdup("--bearer-env"));
		strings_add(&start->words, xstrdup(text));
		strings_add(names, text);
	}
	if (why == NULL)
		why = add_headers(s->env_headers.value, true, start, names);
	if (why == NULL)
		why = add_headers(s->headers.value, s->has_env, start, NULL);
	if (why == NULL && names->n > 0 && s->env_vars.value.p != NULL)
		why = xstrdup("it has env_vars already");
	if (why == NULL && names->n > 0 && s->has_env && f->plan->windows)
		why = xstrdup(not_shared);
	return why != NULL ? why : wrap_start_check(start, f->plan->windows);
}

static void
remove_lines(struct file *f, const struct statement *s)
{
	if (s->value.p != NULL)
		wrap_plan_edit(f->plan, s->from, s->to, xstrdup(""));
}

/* Puts a command line in the place of the URL. */
static void
write_url(struct file *f, const struct server *s,
    const struct wrap_start *start, const struct strings *names)
{
	struct span indent = { f->text.p + s->url.from,
		start_of(f, s->url.key) - s->url.from };
	size_t end = start_of(f, s->url.value) + s->url.value.n;
	struct buf line, text;

	buf_init(&line, 0);
	buf_init(&text, 0);
	buf_adds(&line,
	    end < f->text.n && f->text.p[end] == '\r' ? "\r\n" : "\n");
	buf_addspan(&line, indent);
	buf_adds(&text, "command = ");
	codec_json_string(&text, span_of(start->words.list[0]));
	buf_addspan(&text, buf_span(&line));
	buf_adds(&text, "args = ");
	wrap_list(&text, no_span, &start->words, 1);
	if (!s->has_env && (start->headers.n > 0 || start->wslenv.n > 0)) {
		buf_addspan(&text, buf_span(&line));
		buf_adds(&text, "env = { ");
		wrap_start_env(&text, start, "", " = ");
		buf_adds(&text, " }");
	}
	if (names->n > 0) {
		buf_addspan(&text, buf_span(&line));
		buf_adds(&text, "env_vars = ");
		wrap_list(&text, no_span, names, 0);
	}
	wrap_plan_edit(f->plan, start_of(f, s->url.key), end, buf_take(&text));
	remove_lines(f, &s->token);
	remove_lines(f, &s->headers);
	remove_lines(f, &s->env_headers);
	buf_free(&line);
}

static void
url_entry(struct file *f, const struct server *s)
{
	struct wrap_start start = { .first = 0 };
	struct strings names = { 0 };
	char *why = s->other.p != NULL ?
	    xasprintf("its %.*s cannot be carried over", (int)s->other.n,
		s->other.p) :
	    s->ours ? xstrdup(wrap_ours) :
		      read_url(f, s, &start, &names);

	if (why != NULL) {
		leave(f, s, why);
	} else {
		write_url(f, s, &start, &names);
		place(f, s);
	}
	wrap_start_free(&start);
	strings_free(&names);
}

int
wrap_toml(struct wrap_plan *p, struct span text, const char *self, char **why)
{
	struct file f = { .plan = p, .text = text, .self = self };
	size_t i, at = 0, line, column;
	int rc = collect(&f, &at);

	p->toml = true;
	if (rc < 0) {
		wrap_plan_line(text, at, &line, &column);
		*why = xasprintf("it is not TOML in line %zu, column %zu", line,
		    column);
	} else {
		rc = wrap_plan_count(p, why);
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
