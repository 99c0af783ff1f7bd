/*
 * Finds the entries by the names of the members that hold them, whatever the
 * host. An entry with a command line gets new values for the command and its
 * arguments; one with a URL gets a command line in the place of the URL.
 */
#include "config.h"

#include "tools/wrap.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "core/wire/json.h"

/* --- JSON as people write it --- */

/* Returns the first place from at on that is neither white space nor in a
 * comment; text.n if there is none. */
static size_t
wrap_blank_skip(struct span text, size_t at)
{
	size_t end;

	while (at < text.n) {
		end = is_space(text.p[at]) ? at + 1 :
					     wrap_comment_end(text, at);
		if (end == at)
			break;
		at = end;
	}
	return at;
}

/* Is the comma here the last thing in its container, after a value? before is
 * the last byte that counts, '\0' if there is none. */
static bool
is_trailing(struct span text, size_t at, char before)
{
	size_t next = wrap_blank_skip(text, at + 1);

	return next < text.n && (text.p[next] == '}' || text.p[next] == ']') &&
	    before != '\0' && strchr("[{,:", before) == NULL;
}

/* Appends text to out, as many bytes, with blanks in place of what JSON does
 * not have. What is broken stays, so that the check finds it. */
static void
wrap_blank(struct buf *out, struct span text)
{
	size_t at, end;
	char before = '\0';

	buf_reserve(out, text.n + 1);
	at = text.n - span_unmarked(text).n;
	buf_addf(out, "%*s", (int)at, "");
	while (at < text.n) {
		end = wrap_blank_skip(text, at);
		if (end > at) {
			buf_addf(out, "%*s", (int)(end - at), "");
			at = end;
			continue;
		}
		end = text.p[at] == '"' ? wrap_string_end(text, at) : at + 1;
		if (end == 0 || text.p[at] == '/') /* no more of it is JSON */
			end = text.n;
		if (text.p[at] == ',' && is_trailing(text, at, before))
			buf_addc(out, ' ');
		else
			buf_add(out, text.p + at, end - at);
		before = text.p[at];
		at = end;
	}
}

/* --- places and texts --- */

struct file {
	struct wrap_plan *plan;
	struct span text;  /* as it stands */
	struct span blank; /* the same without comments */
	const char *self;
	bool literal; /* its host replaces no ${NAME} in a header alone */
};

struct member {
	struct span key, value; /* of blank; value.p NULL: there is none */
};

/* An entry, and how it starts a server. */
struct entry {
	struct file *file;
	struct member self; /* its name and its object; or an item of a list,
			     * with the value of its "name" */
	bool item;
	struct span object; /* where its command and its environment stand */
	struct member at;   /* the command, or the URL */
	bool has_url;
	bool one_list;        /* the command and its arguments are one list */
	struct span list;     /* that list, or the one of the arguments */
	struct span env;      /* p NULL: there is none */
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

/* --- what is written --- */

static void
leave(struct entry *e, char *why)
{
	wrap_plan_leave(e->file->plan, e->self.key, why);
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

static void
replace(struct file *f, struct span old, struct buf *text)
{
	wrap_plan_replace(f->plan, f->blank.p, old, buf_take(text));
}

static void
put_variables(struct buf *out, const struct wrap_start *s, const char *begin,
    const char *end)
{
	size_t i;

	buf_adds(out, begin);
	for (i = 0; i + 1 < s->variables.n; i += 2) {
		buf_addf(out, "%s\"%s\": ", i > 0 ? ", " : "",
		    s->variables.list[i]);
		codec_json_string(out, span_of(s->variables.list[i + 1]));
	}
	buf_adds(out, end);
}

/* Adds variables to the environment, which may be null. */
static void
add_variables(struct file *f, struct span env, const struct wrap_start *s)
{
	bool object = json_kind(env) == '{';
	struct span key, value;
	struct buf text = { 0 };
	size_t at = 0, to = start_of(f, env) + 1;

	put_variables(&text, s, object ? "" : "{", object ? "" : "}");
	if (!object) {
		replace(f, env, &text);
		return;
	}
	if (json_next(env, &at, &key, &value)) {
		to = start_of(f, key) - 1;
		buf_adds(&text, ",");
		buf_addspan(&text, separator(f, to));
	}
	wrap_plan_edit(f->plan, to, to, buf_take(&text));
}

/* Appends a member behind another one that looks like this one. */
static void
add_key(struct entry *e, struct buf *out, const char *name)
{
	struct file *f = e->file;
	size_t key = start_of(f, e->at.key) - 1;
	size_t colon = end_of(f, e->at.key) + 1;

	if (out->n > 0) {
		buf_adds(out, ",");
		buf_addspan(out, separator(f, key));
	}
	f->plan->twice = f->plan->twice || json_get(e->object, name).p != NULL;
	buf_addf(out, "\"%s\"", name);
	buf_add(out, f->blank.p + colon, start_of(f, e->at.value) - colon);
}

/* Returns the list that is replaced, with its comments. */
static struct span
old_list(const struct entry *e)
{
	if (e->list.p == NULL)
		return no_span;
	return (struct span){ e->file->text.p + start_of(e->file, e->list),
		e->list.n };
}

/* Makes the entry one of mcpsplice. */
static void
write_start(struct entry *e, struct wrap_start *s)
{
	struct file *f = e->file;
	struct span old = e->at.value;
	struct buf text = { 0 }, args = { 0 };

	if (e->has_url) { /* its name goes, too */
		old.p = e->at.key.p - 1;
		old.n += (size_t)(e->at.value.p - old.p);
		add_key(e, &text, "command");
	}
	if (e->one_list) {
		wrap_list(&text, old_list(e), &s->words, 0);
	} else {
		codec_json_string(&text, span_of(s->words.list[0]));
		wrap_list(&args, old_list(e), &s->words, 1);
	}
	if (args.n > 0 && e->list.p == NULL) {
		add_key(e, &text, "args");
		buf_addspan(&text, buf_span(&args));
	} else if (args.n > 0) {
		replace(f, e->list, &args);
	}
	if (s->variables.n > 0 && e->env.p != NULL) {
		add_variables(f, e->env, s);
	} else if (s->variables.n > 0) {
		add_key(e, &text, e->one_list ? "environment" : "env");
		put_variables(&text, s, "{", "}");
	}
	replace(f, old, &text);
	buf_wipe(&args);
	wrap_plan_place(f->plan, e->self.key,
	    e->item ? start_of(f, e->self.value) : start_of(f, e->self.key) - 1,
	    end_of(f, e->self.value), 1);
}

/* --- a command line --- */

/* Reads a list of strings. Returns false if it has something else. */
static bool
read_items(struct entry *e)
{
	struct span key, value;
	char *text;
	size_t at = 0;

	if (e->list.p != NULL && json_kind(e->list) != '[')
		return false;
	while (json_next(e->list, &at, &key, &value)) {
		text = wrap_string(value);
		if (text == NULL)
			return false;
		strings_add(&e->words, text);
	}
	return true;
}

/* Is it one of the names, in any case? They have "*" for any text. */
static bool
is_like(const char *const *names, size_t n, struct span key)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (span_glob(span_of(names[i]), key, GLOB_NOCASE))
			return true;
	return false;
}

/* Reads the names in the environment of an object, which some hosts find by its
 * name in any case, or put together from two. One that is not understood may be
 * any, and so may be those of a file, or of a list like Docker's. */
static void
read_env(struct span object, struct wrap_start *s)
{
	static const char *const names[] = { "env", "envs", "environment",
		"env*file", "<<" };
	struct span of, value, key, ignored;
	size_t at = 0, in, n;
	char *name;

	while (json_next(object, &at, &of, &value)) {
		n = json_kind(value) == '{' ? 3 : 0;
		name = wrap_string(json_quoted(of));
		if (!is_like(names, 5, span_of(name)) ||
		    json_kind(value) == 'n')
			n = 0;
		else if (!is_like(names, n, span_of(name)))
			strings_add(&s->env, xstrdup("MCPSPLICE_"));
		free(name);
		for (in = 0; n > 0 && json_next(value, &in, &key, &ignored);) {
			name = wrap_string(json_quoted(key));
			strings_add(&s->env,
			    name != NULL ? name : xstrdup("MCPSPLICE_"));
		}
	}
}

/* Some hosts take a member in another case, or the first of two, for the command
 * or its arguments. The program of now ignores what mcpsplice would obey. Returns
 * why the entry stays, or NULL. */
static char *
other_words(const struct entry *e)
{
	static const char *const names[] = { "command", "arg*" };
	struct span key, value;
	char *name, *why = NULL;
	size_t at = 0;

	while (why == NULL && json_next(e->self.value, &at, &key, &value)) {
		name = wrap_string((struct span){ key.p - 1, key.n + 2 });
		if (is_like(names, 2, span_of(name)) &&
		    value.p != e->at.value.p && value.p != e->list.p &&
		    value.p != e->object.p)
			why = xasprintf("some hosts obey its \"%s\"", name);
		free(name);
	}
	return why;
}

static void
command_line(struct entry *e, struct wrap_start *s)
{
	char *text, *why;

	if (!e->one_list) {
		text = wrap_string(e->at.value);
		if (text == NULL)
			return;
		strings_add(&e->words, text);
	}
	if (!read_items(e)) {
		if (wrap_program_in(e->list) != NULL)
			leave(e, xstrdup("one of its args is not a string"));
	} else if (e->words.n > 0 &&
	    wrap_words_read(s, e->file->plan, e->self.key, &e->words,
		e->file->self)) {
		why = other_words(e);
		if (why != NULL)
			leave(e, why);
		else
			write_start(e, s);
	}
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

/* Reads the URL and the headers. Returns why the entry cannot be changed, or
 * NULL. */
static char *
read_url(struct entry *e, struct span headers, struct wrap_start *s)
{
	const struct wrap_plan *p = e->file->plan;
	struct span key, value;
	char *name, *text = wrap_string(e->at.value), *why = NULL;
	size_t at = 0;

	if (text == NULL || text[0] == '-' || strchr(text, '$') != NULL ||
	    strstr(text, "{env:") != NULL)
		why = xstrdup("its URL is malformed, or contains a $, which "
			      "mcpsplice does not expand");
	else
		wrap_start_url(s, text, e->file->self, p->windows);
	string_wipe(&text);
	text = wrap_string(json_get(e->self.value, "bearer_token_env_var"));
	if (text != NULL) {
		strings_add(&s->words, xstrdup("--bearer-env"));
		strings_add(&s->words, text);
	}
	while (why == NULL && json_next(headers, &at, &key, &value)) {
		name = wrap_string(json_quoted(key));
		text = wrap_string(value);
		if (name == NULL || text == NULL)
			why = xstrdup("the value of a header is not a string");
		else
			wrap_start_header(s, name, text,
			    !p->yaml && strchr(text, '$') != NULL);
		free(name);
		string_wipe(&text);
	}
	return why != NULL ? why : wrap_start_check(s, p->windows);
}

/* Members that say what kind of server it is. */
static const char kinds[] = "type transport transportType";

/* Does the name speak of what a request has, of who is trusted, or of a command
 * beside the URL, also by a name that only some hosts take for its own? */
static bool
is_needed(struct span key)
{
	static const char *const names[] = { "*auth*", "*token*", "*key*",
		"*secret*", "*header*", "*cert*", "*ssl*", "*tls*", "*verify*",
		"*insecure*", "*proxy*", "*scope*", "*query*", "*param*",
		"*credential*", "*passw*", "*cookie*", "*client*", "*audience*",
		"*account*", "*requestinit*", "*eventsource*", "command",
		"arg*", "env", "envs", "environment", "<<",
		"*\\*" /* it may be any */ };

	return is_like(names, sizeof names / sizeof names[0], key);
}

/* Returns why the entry needs more than mcpsplice gets by its arguments, or has
 * what only a command would make use of, or NULL. */
static char *
more_than_a_url(const struct entry *e)
{
	static const char dead[] = "args env environment envs envFile env_file "
				   "env_keys cwd workingDirectory";
	static const char http[] =
	    "\"http\" \"sse\" \"remote\" \"streamableHttp\" "
	    "\"streamable-http\" \"streamable_http\" \"streamablehttp\"";
	const char *taken = e->file->plan->toml ?
	    "headers bearer_token_env_var" :
	    "headers";
	struct span value, key, more, headers = no_span;
	size_t at = 0;

	while (json_next(e->self.value, &at, &key, &value)) {
		if (wrap_among(dead, key) ? /* not null, and not empty */
			json_kind(value) != 'n' &&
			    wrap_blank_skip(value, 1) + 1 != value.n :
			!wrap_among(taken, key) && is_needed(key))
			return xasprintf("its %.*s cannot be carried over",
			    (int)key.n, key.p);
		if (wrap_among(kinds, key) && !wrap_among(http, value))
			return xasprintf("its \"%.*s\" is not one that "
					 "mcpsplice knows",
			    (int)key.n, key.p);
	}
	at = 0;
	/* Continue has the headers, and more, in it */
	value = json_get(e->self.value, "requestOptions");
	if (json_next(value, &at, &key, &headers) &&
	    (!json_key_is(key, "headers") ||
		json_next(value, &at, &key, &more) ||
		json_get(e->self.value, "headers").p != NULL))
		return xstrdup("its requestOptions cannot be carried over");
	if (headers.p == NULL)
		headers = json_get(e->self.value, "headers");
	if (headers.p != NULL && json_kind(headers) != '{')
		return xstrdup("its headers are not a list of names and "
			       "values");
	return NULL;
}

static void
edit_kinds(struct entry *e)
{
	const char *kind = e->one_list ? "\"local\"" : "\"stdio\"";
	struct span key, value;
	size_t at = 0;

	while (json_next(e->self.value, &at, &key, &value))
		if (wrap_among(kinds, key))
			wrap_plan_replace(e->file->plan, e->file->blank.p,
			    value, xstrdup(kind));
}

static void
url_entry(struct entry *e, struct wrap_start *s)
{
	struct member gone = member(e->self.value, "requestOptions");
	struct span headers = json_get(gone.value, "headers");
	char *why = more_than_a_url(e);

	/* Continue, which has requestOptions, replaces no ${NAME} either */
	s->literal = e->file->literal || headers.p != NULL;
	if (headers.p == NULL) {
		gone = member(e->self.value, "headers");
		headers = gone.value;
	}
	if (why == NULL)
		why = read_url(e, headers, s);
	if (why != NULL) {
		leave(e, why);
		return;
	}
	write_start(e, s);
	if (gone.value.p != NULL)
		remove_member(e->file, gone);
	edit_kinds(e);
}

/* Finds the URL of an entry; *n: how many it has. */
static struct member
find_url(struct span object, size_t *n)
{
	struct member m, found = { no_span, no_span };
	size_t at = 0;

	*n = 0;
	while (json_next(object, &at, &m.key, &m.value))
		if (json_kind(m.value) == '"' &&
		    wrap_among("url httpUrl serverUrl baseUrl", m.key)) {
			found = m;
			++*n;
		}
	return found;
}

/* --- entries, and where they are --- */

static void
read_entry(struct file *f, struct span key, struct span value)
{
	struct entry e = { .file = f,
		.item = key.p == NULL,
		.self = { key, value },
		.object = value,
		.at = member(value, "command") };
	struct wrap_start s = { .first = 0 };
	size_t urls = 0;

	f->plan->entries++;
	key = json_get(value, "name");
	if (e.item && json_kind(key) == '"')
		e.self.key = (struct span){ key.p + 1, key.n - 2 };
	if (json_kind(e.at.value) == '{') { /* Zed's older form */
		e.object = e.at.value;
		e.at = member(e.object, "path");
	}
	if (e.at.value.p == NULL) {
		e.object = value;
		e.at = find_url(value, &urls);
		e.has_url = urls == 1;
		e.one_list = json_string_is(json_get(value, "type"), "remote");
		e.list = json_get(value, "args"); /* it is empty */
	} else {
		e.one_list = json_kind(e.at.value) == '[';
		e.list = e.one_list ? e.at.value : json_get(e.object, "args");
	}
	e.env = json_get(e.object, e.one_list ? "environment" : "env");
	read_env(value, &s);
	read_env(e.object, &s);
	if (e.has_url)
		url_entry(&e, &s);
	else if (urls > 1)
		leave(&e, xstrdup("it has several URLs"));
	else if (e.at.value.p != NULL)
		command_line(&e, &s);
	wrap_start_free(&s);
	strings_free(&e.words);
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
	if (json_kind(object) != '{' && !f->plan->yaml)
		return;
	while (f->plan->entries <= BOUND_WRAP_ENTRIES &&
	    json_next(object, &at, &key, &value))
		if (names[0] != NULL)
			walk(f, value, names + 1);
		else if (json_kind(value) == '{')
			read_entry(f, key, value);
}

int
wrap_json(struct wrap_plan *p, struct span text, const char *self, char **why)
{
	static const struct {
		const char *const path[4];
		bool literal;
	} places[] = {
		{ { "mcpServers", NULL }, false },
		{ { "projects", "*", "mcpServers", NULL }, /* Claude Code */
		    false },
		{ { "servers", NULL }, true },         /* VS Code */
		{ { "mcp", "servers", NULL }, true },  /* its settings.json */
		{ { "context_servers", NULL }, true }, /* Zed */
		{ { "mcp", NULL }, true },             /* opencode */
		{ { "amp.mcpServers", NULL }, false },
		{ { "mcp_servers", NULL }, false }, /* hermes, LiteLLM */
	};
	struct file f = { .plan = p, .text = text, .self = self };
	enum json_status status = JSON_OK;
	struct span root;
	struct buf blank = { 0 };
	size_t i, at = 0;

	wrap_blank(&blank, text);
	f.blank = buf_span(&blank);
	root = span_trim(f.blank, " ");
	if (root.n > 0)
		status = json_check(f.blank, BOUND_WRAP_DEPTH, NULL, NULL, &at);
	if (status != JSON_OK)
		wrap_plan_broken(text, at,
		    status == JSON_DEPTH    ? "it is nested too deep" :
			status == JSON_UTF8 ? "it is not UTF-8" :
					      "invalid JSON",
		    why);
	else
		for (i = 0; i < sizeof places / sizeof places[0]; i++) {
			f.literal = places[i].literal;
			walk(&f, root, places[i].path);
		}
	buf_wipe(&blank);
	return status == JSON_OK ? wrap_plan_count(p, why) : -1;
}
