/*
 * Reads TOML as a list of statements: a header of a table, or a key with a
 * value. An inline table is a list of keys with values, too, so all forms become
 * members with the names that lead to them: mcp_servers, the name of the entry,
 * which is empty in [[mcp_servers]], and the names in it. What is needed of an
 * entry becomes JSON, is changed as JSON is, and written back. Of values it knows
 * strings and lists of strings; any other is only stepped over.
 */
#include "config.h"

#include "tools/wrap.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "base/hash.h"
#include "core/wire/json.h"

struct statement {
	size_t from, to; /* its lines, with the last line end */
	bool table;      /* [path] */
	struct span key; /* or the path; raw */
	struct span value;
};

/* What an entry has: a value, or a table that holds some. */
struct part {
	struct span name, sub; /* NAME, or NAME.SUB */
	struct statement at;   /* with its own value; p NULL: not understood */
};

struct server {
	struct hash_entry entry; /* in names */
	struct span name;        /* raw */
	size_t from, to;         /* what is shown */
	unsigned known;          /* as in wrap_place */
	bool inside;             /* it is an inline table */
	struct part *parts;
	size_t n;
	bool gone;  /* it has what goes with a URL */
	bool apart; /* what is needed stands in several places */
};

/* The names that lead to a member. */
#define NAMES 5
struct path {
	struct span names[NAMES];
	size_t n;
};

struct file {
	struct wrap_plan *plan;
	struct span text;
	const char *self;
	struct server *servers; /* room for all that are allowed */
	size_t n;
	struct hash names;
	unsigned known; /* for new entries, as in wrap_place */
	bool array;     /* [[mcp_servers]] began */
	bool escaped;   /* a name that leads to an entry may be another one */
};

/* --- statements --- */

/* Skips blanks, lines and comments. */
static size_t
skip(struct span text, size_t at)
{
	for (; at < text.n; at++) {
		if (text.p[at] == '#')
			at = wrap_line_end(text, at);
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
			i = wrap_line_end(text, i);
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
	size_t i = 0;

	if (value.n == 0)
		return false;
	if (value.p[0] == '"' || value.p[0] == '\'')
		return wrap_string_end(value, 0) == value.n;
	if (value.p[0] == '[' || value.p[0] == '{')
		return value.p[value.n - 1] == (value.p[0] == '[' ? ']' : '}');
	/* true, false, inf, nan, numbers and dates */
	while (i < value.n &&
	    (isalnum((unsigned char)value.p[i]) ||
		(value.p[i] != '\0' && strchr("+-_.: ", value.p[i]) != NULL)))
		i++;
	return i == value.n && strchr("tfin+-0123456789", value.p[0]) != NULL;
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
	end = wrap_line_end(text, end);
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
	size_t start, end;

	*at = skip(in, *at);
	if (*at < in.n && in.p[*at] == ',')
		*at = skip(in, *at + 1);
	if (*at >= in.n)
		return false;
	start = *at;
	end = part_end(in, &start, ",#");
	if (end == 0)
		return false;
	*item = trimmed(in, *at, end);
	*at = end;
	return item->n > 0;
}

/* --- what an entry is made of --- */

static size_t
start_of(const struct file *f, struct span part)
{
	return (size_t)(part.p - f->text.p);
}

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

static void
push(struct path *path, struct span key)
{
	struct span name;

	while (path->n < NAMES && next_name(&key, &name))
		path->names[path->n++] = name;
}

static struct server *
add_server(struct file *f, struct span name, size_t from)
{
	struct server *s;

	if (f->servers == NULL)
		f->servers = xcalloc(BOUND_WRAP_ENTRIES + 1, sizeof *s);
	s = &f->servers[f->n++];
	f->plan->entries++;
	*s = (struct server){
		.name = name, .from = from, .to = from, .known = f->known
	};
	hash_add(&f->names, &s->entry, hash_bytes(HASH_START, name.p, name.n));
	return s;
}

static struct server *
server_of(struct file *f, struct span name, size_t from)
{
	struct hash_entry *e;

	if (f->array)
		return &f->servers[f->n - 1];
	e = hash_first(&f->names, hash_bytes(HASH_START, name.p, name.n));
	for (; e != NULL; e = hash_next(e))
		if (span_eq(HASH_THING(e, struct server, entry)->name, name))
			return HASH_THING(e, struct server, entry);
	return add_server(f, name, from);
}

/* The names of a token, and of headers, which go with the URL. */
static const char
    gone[] = "bearer_token_env_var http_headers headers env_http_headers";
static const char of_headers[] = "http_headers headers env_http_headers";
/* What else is read. */
static const char
    members[] = "command args url type transport bearer_token_env_var";

/* Takes a part of an entry. */
static void
take(const struct file *f, struct server *s, const struct path *path,
    const struct statement *at)
{
	struct span name = path->names[2];
	struct span sub = path->n > 3 ? path->names[3] : no_span;

	s->parts = xgrow(s->parts, s->n, sizeof *s->parts);
	s->parts[s->n++] = (struct part){ name, sub, *at };
	if (s->name.n == 0 && span_is(name, "name"))
		s->name = bare(at->value);
	s->gone = s->gone || wrap_among(gone, name);
	if (wrap_among(gone, name) || wrap_among(members, name))
		s->apart = s->apart || s != &f->servers[f->n - 1];
}

/* Does this name on the way to an entry have an escape? What is in quotes of the
 * other kind has none. */
static bool
is_escaped(const struct path *path, size_t i)
{
	return i < path->n && span_find(path->names[i], "\\") != NULL &&
	    path->names[i].p[-1] == '"';
}

/* Takes a statement, or a part of its inline table, to which these names
 * lead. */
static void
walk(struct file *f, struct path path, const struct statement *at)
{
	bool table = is_list(at->value, '{', '}') && path.n < NAMES;
	struct statement in = *at;
	struct span item;
	struct server *s = NULL;
	size_t i = 0, eq, from;

	f->escaped = f->escaped || is_escaped(&path, 0);
	if (path.n == 0 || !span_is(path.names[0], "mcp_servers") ||
	    f->n > BOUND_WRAP_ENTRIES)
		return;
	f->escaped = f->escaped || is_escaped(&path, 1);
	if (path.n == 1 && is_list(at->value, '[', ']')) {
		f->plan->entries++;
		wrap_plan_leave(f->plan, path.names[0],
		    xstrdup("its entries are items of one list; write each as "
			    "a table [[mcp_servers]]"));
	}
	if (table || path.n > 4)
		in.value = no_span;
	if (path.n > 1 && (path.n > 2 || table || at->table))
		s = server_of(f, path.names[1], at->from);
	if (path.n > 2)
		take(f, s, &path, &in);
	if (path.n == 2 && table)
		s->inside = true;
	if (s != NULL && at->to > s->to && s == &f->servers[f->n - 1])
		s->to = at->to;
	while (table && next_item(at->value, &i, &item)) {
		from = 0;
		eq = part_end(item, &from, "=");
		in.key = trimmed(item, 0, eq);
		in.value = eq == item.n ? no_span :
					  trimmed(item, eq + 1, item.n);
		if (path.n == 1) { /* the name of an entry */
			in.from = start_of(f, item);
			in.to = in.from + item.n;
			f->known = 1;
		}
		struct path below = path;
		push(&below, in.key);
		walk(f, below, &in);
	}
}

/* Begins a table. Returns the names in front of those in it. */
static struct path
begin(struct file *f, const struct statement *s)
{
	struct path path = { .n = 0 };
	bool array = is_list(s->key, '[', ']');

	push(&path, array ? inside(s->key) : s->key);
	f->known = path.n == 1 ? 1 : 0;
	if (path.n == 0 || !span_is(path.names[0], "mcp_servers"))
		return path;
	if (array && path.n == 1) { /* its entries have no names */
		f->known = 2;
		f->array = true;
		add_server(f, no_span, s->to);
		path.names[path.n++] = no_span;
	} else if (array || f->array) {
		if (f->array)
			f->servers[f->n - 1].apart = true;
		path.n = 0;
	}
	if (!array)
		walk(f, path, s);
	return path;
}

static int
collect(struct file *f, size_t *at)
{
	struct statement s;
	struct path table = { .n = 0 }, path;
	int rc = 0;

	while (f->n <= BOUND_WRAP_ENTRIES && (rc = next(f->text, at, &s)) > 0) {
		if (s.table) {
			table = begin(f, &s);
			continue;
		}
		path = table;
		push(&path, s.key);
		if (table.n == 0)
			f->known = 0;
		walk(f, path, &s);
	}
	return rc;
}

/* --- an entry as JSON --- */

/* Returns the member with this name and a value, or NULL. */
static const struct statement *
find(const struct server *s, const char *name)
{
	size_t i;

	for (i = s->n; i > 0; i--)
		if (span_is(s->parts[i - 1].name, name) &&
		    s->parts[i - 1].sub.n == 0 &&
		    s->parts[i - 1].at.value.p != NULL)
			return &s->parts[i - 1].at;
	return NULL;
}

/* Puts a name. One with an escape may be any, as those of mcpsplice. */
static void
put_name(struct buf *out, struct span name)
{
	if (out->n > 0 && out->p[out->n - 1] != '{')
		buf_adds(out, ", ");
	codec_json_string(out,
	    span_find(name, "\\") != NULL ? span_of("MCPSPLICE_") : name);
	buf_adds(out, ": ");
}

/* Puts a string, or a list of strings. Returns false if it is none. */
static bool
put_value(struct buf *out, struct span value)
{
	char *text = wrap_string(value);
	bool ok = text != NULL, first = true;
	struct span item;
	size_t at = 0, n;

	if (ok) {
		codec_json_string(out, span_of(text));
		string_wipe(&text);
	} else if (is_list(value, '[', ']')) {
		for (n = 1; is_space(value.p[n]);)
			n++;
		buf_add(out, value.p, n);
		for (ok = true; ok && next_item(value, &at, &item);
		     first = false) {
			buf_adds(out, first ? "" : ", ");
			ok = item.p[0] != '[' && put_value(out, item);
		}
		for (n = value.n - 1; is_space(value.p[n - 1]);)
			n--;
		buf_add(out, value.p + n, value.n - n);
	}
	return ok;
}

/* Puts a header. names: those of variables that Codex has to hand on. */
static bool
put_header(struct buf *out, const struct part *m, struct strings *names)
{
	char *value;

	if (m->sub.n == 0 && m->at.value.p == NULL)
		return true; /* the name of a table */
	value = m->sub.n == 0 ? NULL : wrap_string(m->at.value);
	if (value == NULL || strchr(value, '$') != NULL) {
		string_wipe(&value);
		return false;
	}
	if (span_is(m->name, "env_http_headers")) {
		strings_add(names, value);
		value = xasprintf("${%s}", value);
	}
	put_name(out, m->sub);
	codec_json_string(out, span_of(value));
	string_wipe(&value);
	return true;
}

/* Puts the entry, with names as of put_header. Returns false if what is needed is
 * not understood. */
static bool
put_entry(struct buf *out, const struct server *s, struct strings *names)
{
	const struct part *m;
	struct buf headers = { 0 }, env = { 0 };
	struct span name;
	bool ok = true, has_env = false;

	buf_adds(out, "{\"mcpServers\": {");
	put_name(out, s->name);
	buf_adds(out, "{");
	for (m = s->parts; m < s->parts + s->n; m++) {
		if (wrap_among(of_headers, m->name)) {
			ok = put_header(&headers, m, names) && ok;
		} else if (span_is(m->name, "env") ||
		    span_find(m->name, "\\") != NULL) {
			has_env = true;
			name = span_is(m->name, "env") ? m->sub : m->name;
			if (name.n == 0 && m->at.value.p == NULL)
				continue; /* the name of a table */
			put_name(&env, name.n > 0 ? name : span_of("\\"));
			buf_adds(&env, "\"\"");
		} else if (wrap_among(members, m->name)) {
			put_name(out, m->name);
			ok = put_value(out, m->at.value) && ok;
		} else {
			put_name(out, m->name);
			buf_adds(out, "true");
		}
		if (ok && span_is(m->name, "bearer_token_env_var") &&
		    m->at.value.p[0] != '[')
			strings_add(names, wrap_string(m->at.value));
	}
	put_name(out, span_of("headers"));
	buf_addf(out, "{%s}", buf_str(&headers));
	if (has_env) {
		put_name(out, span_of("env"));
		buf_addf(out, "{%s}", buf_str(&env));
	}
	buf_adds(out, "}}}");
	buf_wipe(&headers);
	buf_free(&env);
	return ok;
}

/* --- what is written --- */

static void
replace(struct file *f, struct span old, struct span new)
{
	wrap_plan_replace(f->plan, f->text.p, old, xstrndup(new.p, new.n));
}

/* Adds the name of a member, behind the names that m has in front of its own. */
static void
add_name(struct buf *text, const struct statement *m, const char *name)
{
	size_t end, from = 0, names = 0;

	while ((end = part_end(m->key, &from, ".")) < m->key.n && end > 0)
		from = names = end + 1;
	buf_add(text, m->key.p, names);
	buf_addf(text, "%s = ", name);
}

/* Begins one more member behind m: a line with the same indent, or an item. */
static void
begin_member(const struct file *f, const struct server *s, struct buf *text,
    const struct statement *m, const char *name)
{
	size_t end = start_of(f, m->value) + m->value.n;

	if (s->inside) {
		buf_addf(text, ", %s = ", name);
		return;
	}
	buf_adds(text,
	    end < f->text.n && f->text.p[end] == '\r' ? "\r\n" : "\n");
	buf_add(text, f->text.p + m->from, start_of(f, m->key) - m->from);
	add_name(text, m, name);
}

/* Adds an object of JSON. */
static void
add_table(struct buf *text, struct span object)
{
	const char *lead = "{ ";
	struct span key, value;
	size_t at = 0;

	while (json_next(object, &at, &key, &value)) {
		buf_addf(text, "%s%.*s = ", lead, (int)key.n, key.p);
		buf_addspan(text, value);
		lead = ", ";
	}
	buf_adds(text, " }");
}

/* Removes what went with the URL, and tells what kind of server it is now. */
static void
edit_others(struct file *f, const struct server *s)
{
	const struct part *m;
	size_t end = 0;

	for (m = s->parts; m < s->parts + s->n; m++)
		if (wrap_among(gone, m->name) && m->at.to > end) {
			end = m->at.to;
			wrap_plan_edit(f->plan, m->at.from, end, xstrdup(""));
		} else if (wrap_among("type transport", m->name)) {
			replace(f, m->at.value, span_of("\"stdio\""));
		}
}

/* Makes the entry what its JSON is now. Returns why not, or NULL. */
static const char *
write_entry(struct file *f, const struct server *s, struct span json,
    struct span new, const struct strings *names)
{
	const struct statement *m = find(s, "command"), *args = find(s, "args");
	bool url = m == NULL;
	struct span env = json_get(json, "env"), old;
	struct buf text = { 0 };

	if (s->apart || (url && args != NULL))
		return "its members are in several places";
	if (url && s->inside && s->gone)
		return "its headers are in an inline table";
	if (env.p != NULL && !span_eq(env, json_get(new, "env")))
		return "it needs one more environment variable, such as "
		       "WSLENV on Windows";
	if (url && names->n > 0 && find(s, "env_vars") != NULL)
		return "it already has env_vars";
	if (url) {
		m = find(s, "url");
		add_name(&text, m, "command");
		edit_others(f, s);
	}
	old = url ? m->key : m->value;
	old.n = (size_t)(m->value.p - old.p) + m->value.n;
	buf_addspan(&text, json_get(new, "command"));
	if (args != NULL) {
		replace(f, args->value, json_get(new, "args"));
	} else {
		begin_member(f, s, &text, m, "args");
		buf_addspan(&text, json_get(new, "args"));
	}
	if (env.p == NULL && json_get(new, "env").p != NULL) {
		begin_member(f, s, &text, m, "env");
		add_table(&text, json_get(new, "env"));
	}
	if (url && names->n > 0) {
		begin_member(f, s, &text, m, "env_vars");
		wrap_list(&text, no_span, names, 0);
	}
	replace(f, old, buf_span(&text));
	buf_wipe(&text);
	wrap_plan_place(f->plan, s->name, s->from, s->to, s->known);
	return NULL;
}

static struct span
entry_of(const struct buf *json)
{
	struct span key, entry = no_span;
	size_t at = 0;

	(void)json_next(json_get(buf_span(json), "mcpServers"), &at, &key,
	    &entry);
	return entry;
}

/* Returns why an entry cannot be written, with what it has to be. */
static char *
by_hand(const char *why, struct span new)
{
	struct buf text = { 0 }, shown = { 0 };
	char *all;

	buf_adds(&text, "command = ");
	buf_addspan(&text, json_get(new, "command"));
	buf_adds(&text, ", args = ");
	buf_addspan(&text, json_get(new, "args"));
	if (json_get(new, "env").p != NULL) {
		buf_adds(&text, ", env = ");
		add_table(&text, json_get(new, "env"));
	}
	wrap_mask(&shown, buf_span(&text), true, 2);
	all = xasprintf("%s; by hand it becomes %s", why, buf_str(&shown));
	buf_wipe(&text);
	buf_wipe(&shown);
	return all;
}

static void
change_entry(struct file *f, const struct server *s)
{
	struct wrap_plan q = { .toml = true, .windows = f->plan->windows };
	const char *why = "mcpsplice does not understand it";
	struct strings names = { 0 };
	struct buf json = { 0 }, changed = { 0 };
	char *error = NULL;
	size_t i;

	if (put_entry(&json, s, &names) &&
	    wrap_json(&q, buf_span(&json), f->self, &error) == 0) {
		wrap_plan_apply(&q, buf_span(&json), &changed);
		why = q.n_edits == 0 ? NULL :
				       write_entry(f, s, entry_of(&json),
					   entry_of(&changed), &names);
	}
	for (i = 0; i < q.notes.n; i++)
		strings_add(&f->plan->notes, xstrdup(q.notes.list[i]));
	if (why != NULL)
		wrap_plan_leave(f->plan, s->name,
		    q.n_edits == 0 ? xstrdup(why) :
				     by_hand(why, entry_of(&changed)));
	free(error);
	buf_wipe(&json);
	buf_wipe(&changed);
	strings_free(&names);
	wrap_plan_free(&q);
}

int
wrap_toml(struct wrap_plan *p, struct span text, const char *self, char **why)
{
	struct file f = { .plan = p, .text = text, .self = self };
	const char *nul = text.n == 0 ? NULL : memchr(text.p, '\0', text.n);
	size_t i, at = nul == NULL ? 0 : (size_t)(nul - text.p);
	int rc = nul == NULL ? collect(&f, &at) : -1;

	p->toml = true;
	if (rc < 0)
		wrap_plan_broken(text, at, "invalid TOML", why);
	else if (f.escaped)
		rc = fail_why(why, "a table's name has an escape (\\)");
	else
		rc = wrap_plan_count(p, why);
	for (i = 0; rc == 0 && i < f.n; i++)
		if (find(&f.servers[i], "command") != NULL ||
		    find(&f.servers[i], "url") != NULL)
			change_entry(&f, &f.servers[i]);
	for (i = 0; i < f.n; i++)
		free(f.servers[i].parts);
	hash_free(&f.names);
	free(f.servers);
	return rc;
}
