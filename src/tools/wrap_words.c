/*
 * A command line has up to three parts: what leads to another system (cmd,
 * wsl), a runner of packages with its options, and the program.
 */
#include "config.h"

#include "tools/wrap.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "base/headers.h"
#include "options/table.h"

/* Longer white space in front of a word is not repeated. */
#define LEAD_MAX 200

struct reader {
	const struct strings *words;
	size_t at;
};

static const char *
word(const struct reader *r)
{
	return r->at < r->words->n ? r->words->list[r->at] : "";
}

/* Returns the last part of a path of any system. */
static const char *
base_name(const char *path)
{
	const char *at = path, *end;

	while ((end = strpbrk(at, "/\\")) != NULL)
		at = end + 1;
	return at;
}

/* Is the word the program of this name, maybe with a path or ".exe", ".cmd"? */
static bool
is_called(const char *text, const char *name)
{
	size_t n = strlen(name);

	text = base_name(text);
	return strncmp(text, name, n) == 0 &&
	    (text[n] == '\0' || wrap_among(".exe .cmd", span_of(text + n)));
}

/* --- what leads to another system --- */

/* Skips "wsl -d NAME -e". */
static bool
skip_wsl(struct reader *r)
{
	static const char valued[] = "-d --distribution -u --user --cd "
				     "--shell-type";

	if (!is_called(word(r), "wsl"))
		return false;
	for (r->at++;; r->at++) {
		if (wrap_among(valued, span_of(word(r))))
			r->at++;
		else if (!wrap_among("-e --exec -- ~", span_of(word(r))))
			return true;
	}
}

/* Skips "cmd /c". */
static bool
skip_cmd(struct reader *r)
{
	if (!is_called(word(r), "cmd"))
		return false;
	for (r->at++; word(r)[0] == '/' && strlen(word(r)) == 2; r->at++)
		continue;
	return true;
}

/* Is this a program or a path of Windows? */
static bool
is_of_windows(const char *text)
{
	static const char *const ends[] = { ".exe", ".cmd", ".bat" };
	size_t i, n = strlen(text);

	for (i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (n > 4 && strcasecmp(text + n - 4, ends[i]) == 0)
			return true;
	return isalpha((unsigned char)text[0]) && text[1] == ':' &&
	    (text[2] == '\\' || text[2] == '/');
}

/* --- runners --- */

struct runner {
	const char *name, *sub[2];
	const char *valued; /* options with a value */
};

static const struct runner runners[] = {
	{ "npx", { NULL }, "-p --package --registry" },
	{ "pnpx", { NULL }, "--package" },
	{ "bunx", { NULL }, "-p --package" },
	{ "uvx", { NULL }, "--from --with --python -p" },
	{ "npm", { "exec" }, "-p --package --registry" },
	{ "npm", { "x" }, "-p --package --registry" },
	{ "pnpm", { "dlx" }, "--package" },
	{ "yarn", { "dlx" }, "-p --package" },
	{ "bun", { "x" }, "-p --package" },
	{ "deno", { "run" }, "" },
	{ "uv", { "tool", "run" }, "--from --with --python -p" },
	{ "pipx", { "run" }, "--spec --python" },
	{ "node", { NULL }, "-r --require" },
};

/* Skips a runner with its options; the program is next. */
static void
skip_runner(struct reader *r)
{
	const struct runner *run = NULL;
	size_t i, n, from = r->at;

	for (i = 0; i < sizeof runners / sizeof runners[0]; i++) {
		run = &runners[i];
		r->at = from;
		if (!is_called(word(r), run->name))
			continue;
		r->at++;
		for (n = 0; n < 2 && string_eq(run->sub[n], word(r)); n++)
			r->at++;
		if (n < 2 && run->sub[n] != NULL)
			continue;
		for (; word(r)[0] == '-'; r->at++)
			if (wrap_among(run->valued, span_of(word(r))))
				r->at++;
		return;
	}
	r->at = from;
}

/* --- programs --- */

/* Is the word this package: a name with a version, or a path in its folder? */
static bool
is_package(const char *text, const char *name)
{
	static const char *const folders = "/\\";
	size_t n = strlen(name);
	const char *at;

	if (strncmp(text, "npm:", 4) == 0)
		text += 4;
	/* another package of npm has this last part */
	if (text[0] == '@' || strstr(text, "/@") != NULL)
		return false;
	at = base_name(text);
	if (strncmp(at, name, n) == 0 &&
	    (is_called(at, name) || at[n] == '@' || at[n] == '='))
		return true;
	for (at = text; (at = strstr(at, name)) != NULL; at += n)
		if (at > text && strchr(folders, at[-1]) != NULL &&
		    at[n] != '\0' && strchr(folders, at[n]) != NULL)
			return true;
	return false;
}

static bool
is_url(const char *text)
{
	return strncmp(text, "https://", 8) == 0 ||
	    strncmp(text, "http://", 7) == 0;
}

/* What httpx does not read, and what Node.js does not. */
#define OF_CURL "CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS MCP_REMOTE_CONFIG_DIR"
#define PROXIES "http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY"
#define OF_OTHERS "CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR " PROXIES

static const struct program {
	const char *name;
	/* The words that make it no client; NULL: it always is one. */
	const char *server;
	/* The options that mean the same to mcpsplice. "=": also as
	 * --name=value. ">": it has another name here, or is a
	 * variable; "=>": it has a value. */
	const char *options;
	const char *token; /* the variable whose token it sends, or NULL */
	const char *lost;  /* variables that mcpsplice has nothing for, or obeys
			    * and it does not: proxies without --enable-proxy */
	bool python;       /* it has "-H NAME VALUE" */
	bool literal;      /* it sends ${NAME} as it stands */
	const char *sign; /* it signs for AWS IAM, with a key that this tells */
} programs[] = {
	{ "mcpsplice", "", "", NULL, "", false, false, NULL },
	/* 0.15.1 */
	{ "mcp-remote", NULL,
	    "--header= --header-file --ignore-tool --authorize-param "
	    "--allow-http --client-credentials --debug --device-code "
	    "--disable-cookies --disable-resource-parameter --enable-proxy "
	    "--help --version --ipv4 --keep-alive --silent --use-id-token "
	    "--auth-success-url --auth-timeout --callback-path "
	    "--client-metadata-url --host --protocol --resource "
	    "--static-oauth-client-info --static-oauth-client-metadata "
	    "--token-endpoint --transport --connect-timeout --headers-timeout "
	    "--body-timeout --ping-interval",
	    NULL, OF_OTHERS, false, false, NULL },
	/* 4.0.0, as a client */
	{ "supergateway", "--stdio ws sse streamableHttp",
	    "--header= --oauth2Bearer= --streamableHttp= --sse= --logLevel= "
	    "--outputTransport= --help --version",
	    NULL, OF_OTHERS " BROWSER MCP_REMOTE_CONFIG_DIR", false, true,
	    NULL },
	/* 0.11, as a client: its --host is for a server */
	{ "mcp-proxy", "--port --sse-port",
	    "-H --headers --transport= --debug --help --version",
	    "API_ACCESS_TOKEN", OF_CURL " BROWSER", true, true, NULL },
	/* 0.45 */
	{ "mcp-stdio", "",
	    "-H --header= --client-id= --transport= --help --version "
	    "--bearer-token=>--oauth2Bearer --oauth>--auth=oauth "
	    "--oauth-device>--device-code --oauth-scope=>--scope "
	    "--protocol-era=>--protocol "
	    "--timeout-connect=>--connect-timeout "
	    "--timeout-read=>--call-timeout",
	    "MCP_BEARER_TOKEN", OF_CURL " MCP_OAUTH_CLIENT_ID", false, true,
	    NULL },
	/* 4.1; its --resource keeps tokens apart, as profiles are */
	{ "fastmcp-remote", "",
	    "--header= --transport= --auth= --host= --auth-timeout= "
	    "--ignore-tool= --allow-http --enable-proxy --debug --silent "
	    "--help --version --resource=>--profile",
	    NULL, OF_CURL " " PROXIES, false, false, NULL },
	/* 1.7 */
	{ "mcp-proxy-for-aws", "",
	    "--read-only --connect-timeout= --help --region=>--aws-sigv4 "
	    "--profile=>AWS_PROFILE --tool-timeout=>--call-timeout",
	    NULL, OF_CURL " BROWSER", false, false,
	    "aws configure export-credentials" },
};

/* Does it connect to a URL here? The reader is behind its name. */
static bool
is_client(const struct program *p, const struct reader *r)
{
	const char *word;
	bool url = p->server == NULL;
	size_t i;

	for (i = r->at; i < r->words->n && p != programs; i++) {
		word = r->words->list[i];
		if (word[0] == '-' && strchr(word, '=') != NULL)
			word = strchr(word, '=') + 1;
		if (p->server != NULL && wrap_among(p->server, span_of(word)))
			return false;
		url = url || is_url(word);
	}
	return url && p != programs;
}

/* --- would mcpsplice take it? --- */

static const char *
some_value(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return "x";
}

/* Is the name of a variable among these? On Windows its case does not count. */
static bool
is_lost(const char *lost, const char *name, bool windows)
{
	struct span rest = span_of(lost), one;

	while (rest.n > 0) {
		one = span_take(&rest, ' ');
		if (windows ? span_is_nocase(one, name) : span_is(one, name))
			return true;
	}
	return false;
}

static char *
wrong_header(const struct strings *headers)
{
	const struct variables env = { some_value, NULL };
	struct headers all = { 0 };
	char *why = NULL;
	size_t i;

	for (i = 0; why == NULL && i < headers->n; i++)
		if (headers->list[i][0] != '@')
			(void)headers_add_line(&all, span_of(headers->list[i]),
			    &env, &why);
	headers_free(&all);
	return why;
}

static char *
not_understood(void)
{
	return xstrdup("mcpsplice does not understand how it starts its "
		       "program");
}

/* Returns why mcpsplice would refuse these arguments, or NULL. argv[0] is a
 * name. Variables count as set. */
static char *
wrong_arguments(const struct strings *argv)
{
	struct option_sources from = { .argc = (int)argv->n,
		.argv = argv->list };
	struct options o;
	char *why = NULL;

	if (options_load_from(&o, &from, &why) < 0)
		return why;
	if (o.command != COMMAND_PROXY || o.url == NULL)
		why = not_understood();
	else
		why = wrong_header(&o.headers);
	options_free(&o);
	return why;
}

/* Adds a name to a value of WSLENV, unless it is there. */
static void
add_name(struct buf *wslenv, struct span name)
{
	struct span rest = buf_span(wslenv);

	while (rest.n > 0 && wslenv->n <= BOUND_COOKIES_BYTES)
		if (span_eq(span_take(&rest, ':'), name))
			return;
	if (wslenv->n > 0)
		buf_addc(wslenv, ':');
	buf_addspan(wslenv, name);
}

/* Adds the variables that these words of mcpsplice name. */
static void
add_names(struct buf *wslenv, const struct strings *args)
{
	const char *word;
	struct span name;
	size_t i;

	for (i = 0; i < args->n; i++) {
		word = args->list[i];
		if (i > 0 && strcmp(args->list[i - 1], "--bearer-env") == 0)
			add_name(wslenv, span_of(word));
		while (option_next_reference(&word, &name))
			add_name(wslenv, name);
	}
}

/* --- how it starts mcpsplice --- */

static bool
has(const struct strings *all, const char *one)
{
	return string_index(one, (const char *const *)all->list, all->n) <
	    all->n;
}

static void
add(struct wrap_start *s, const char *word)
{
	strings_add(&s->words, xstrdup(word));
}

/* Takes over value. */
static void
add_variable(struct wrap_start *s, const char *name, char *value)
{
	strings_add(&s->variables, xstrdup(name));
	strings_add(&s->variables, value);
}

/* The command itself. Where a host of Windows starts a program of Linux, that
 * is wsl.exe, which hands the words to a shell unless it is told not to: & and $
 * in a URL would not arrive. A path in the cache of npx will be gone one day, so
 * npx starts it; on Windows that is a file for cmd. */
static void
add_self(struct wrap_start *s, const char *self, bool windows)
{
	if (windows) {
		add(s, "wsl.exe");
		add(s, "--exec");
	}
	if (strstr(self, "/_npx/") != NULL ||
	    strstr(self, "\\_npx\\") != NULL) {
		if (is_of_windows(self)) {
			add(s, "cmd");
			add(s, "/c");
		}
		add(s, "npx");
		add(s, "-y");
		self = "mcpsplice";
	}
	add(s, self);
	s->first = s->words.n;
}

/* Has the text a placeholder that the host replaces, and that would mean
 * something else or nothing to mcpsplice, which knows ${NAME}? */
static bool
is_foreign(const char *text)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t n;

	for (; (text = strpbrk(text, "${")) != NULL; text++) {
		n = text[1] == '{' ? strspn(text + 2, name) + 2 : 2;
		if (text[0] == '{' ? strncmp(text, "{env:", 5) == 0 ||
			    strncmp(text, "{file:", 6) == 0 :
				     n == 2 || text[n] != '}')
			return true;
		text += text[0] == '$' ? n : 0;
	}
	return false;
}

/* May only the host replace what is in this text, and not mcpsplice? */
static bool
is_for_host(const struct wrap_start *s, const char *text)
{
	return is_foreign(text) || (s->literal && strstr(text, "${") != NULL);
}

void
wrap_start_url(struct wrap_start *s, const char *url, const char *self,
    bool windows)
{
	add_self(s, self, windows);
	add(s, url);
}

void
wrap_start_header(struct wrap_start *s, const char *name, const char *value,
    bool in_words)
{
	/* a name is never the @ in front of a file, nor a part of one: what
	 * is put in front of it makes it one that is refused */
	const char *mark = name[0] == '@' ? " " :
	    strpbrk(name, ": \t") != NULL ? " @" :
					    "";
	bool foreign = is_for_host(s, value);
	char *variable;

	/* mcpsplice sends its own */
	if (strcasecmp(name, "Accept") == 0 ||
	    strcasecmp(name, "Content-Type") == 0)
		return;
	if (in_words || foreign)
		add(s, "-H");
	if (foreign) {
		variable = xasprintf("MCP_HEADER_%zu", s->variables.n / 2 + 1);
		strings_add(&s->words,
		    xasprintf("%s%s: ${%s}", mark, name, variable));
		strings_add(&s->variables, variable);
		strings_add(&s->variables, xstrdup(value));
	} else {
		strings_add(in_words ? &s->words : &s->headers,
		    xasprintf("%s%s: %s", mark, name, value));
	}
}

/* Would cmd, which starts npx on Windows, act on a part of its arguments? Not
 * all hosts quote them, and batch files read them twice. */
static bool
meets_cmd(const struct wrap_start *s)
{
	size_t i = s->first;

	if (s->first < 2 || strcmp(s->words.list[1], "/c") != 0)
		return false;
	while (i < s->words.n &&
	    strpbrk(s->words.list[i], "&|<>^%\"\r\n") == NULL)
		i++;
	return i < s->words.n;
}

char *
wrap_start_check(struct wrap_start *s, bool windows)
{
	struct strings argv = { 0 };
	struct buf lines = { 0 }, wslenv = { 0 };
	bool ours = false;
	char *why;
	size_t i;

	strings_add(&argv, xstrdup("mcpsplice"));
	for (i = s->first; i < s->words.n; i++)
		strings_add(&argv, xstrdup(s->words.list[i]));
	for (i = 0; i < s->headers.n; i++)
		buf_addf(&lines, "%s%s", i > 0 ? "\n" : "", s->headers.list[i]);
	if (lines.n > 0)
		add_variable(s, "MCPSPLICE_HEADER", buf_take(&lines));
	for (i = 0; windows && i + 1 < s->variables.n; i += 2)
		add_name(&wslenv, span_of(s->variables.list[i]));
	if (windows)
		add_names(&wslenv, &argv);
	for (i = 0; i < s->headers.n; i++) {
		strings_add(&argv, xstrdup("-H"));
		strings_add(&argv, xstrdup(s->headers.list[i]));
	}
	for (i = 0; i < s->env.n; i++)
		ours = ours || strcmp(s->env.list[i], "<<") == 0 ||
		    strncasecmp(s->env.list[i], "MCPSPLICE_", 10) == 0 ||
		    strncasecmp(s->env.list[i], "MCP_HEADER_", 11) == 0;
	if (ours)
		why = xstrdup("mcpsplice does not understand its "
			      "environment, or it sets MCPSPLICE_... or "
			      "MCP_HEADER_..., which would only affect "
			      "mcpsplice");
	else if (wslenv.n > (has(&s->env, "WSLENV") ? 0 : BOUND_COOKIES_BYTES))
		why = xstrdup("its WSLENV does not, or cannot, name all of "
			      "its variables");
	else if (meets_cmd(s))
		why = xstrdup("cmd would act on a & | < > ^ % or \" in its "
			      "arguments; install mcpsplice for this entry");
	else
		why = wrong_arguments(&argv);
	if (wslenv.n > 0)
		add_variable(s, "WSLENV", buf_take(&wslenv));
	strings_free(&argv);
	buf_free(&wslenv);
	return why;
}

void
wrap_start_free(struct wrap_start *s)
{
	strings_free(&s->words);
	strings_free(&s->headers);
	strings_free(&s->variables);
	strings_free(&s->env);
}

void
wrap_list(struct buf *out, struct span old, const struct strings *words,
    size_t from)
{
	struct span lead = no_span, tail = no_span;
	bool lines;
	size_t i;

	if (old.n > 0) {
		lead.p = old.p + 1;
		tail.p = old.p + old.n - 1;
		for (; is_space(lead.p[lead.n]); lead.n++)
			continue;
		for (; is_space(tail.p[-1]); tail.n++)
			tail.p--;
	}
	lines = lead.n > 0 && lead.n < LEAD_MAX &&
	    memchr(lead.p, '\n', lead.n) != NULL;
	buf_addc(out, '[');
	for (i = from; i < words->n; i++) {
		buf_adds(out, i == from ? "" : lines ? "," : ", ");
		if (i == from || lines)
			buf_addspan(out, lead);
		codec_json_string(out, span_of(words->list[i]));
	}
	buf_addspan(out, tail);
	buf_addc(out, ']');
}

/* --- a command line --- */

/* Does a word speak of a program that could be replaced? */
static bool
speaks_of(const struct strings *words)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		if (strstr(words->list[i], "mcp-remote") != NULL ||
		    strstr(words->list[i], "mcp-proxy-for-aws") != NULL ||
		    strstr(words->list[i], "supergateway") != NULL)
			return true;
	return false;
}

const char *
wrap_program_in(struct span text)
{
	const char *at = NULL;
	size_t i;

	for (i = 1; at == NULL && i < sizeof programs / sizeof programs[0]; i++)
		at = span_find(text, programs[i].name);
	return at;
}

/* A command line on its way into a start. */
struct change {
	struct wrap_start *s;
	const struct program *program;
	const struct strings *words;
	size_t from, at;
};

/* Is the option at this place one with one value that was there before?
 * mcp-remote takes the first, mcpsplice the last. */
static bool
is_again(const struct change *c, const struct option_row *row)
{
	const char *option = c->words->list[c->at], *word;
	size_t n = strcspn(option, "="), k;

	if (row == NULL || row->arg == NULL || row->kind == OPTION_LIST ||
	    row->kind == OPTION_HEADER || row->kind == OPTION_HEADER_FILE)
		return false;
	for (k = c->from; k < c->at; k++) {
		word = c->words->list[k];
		if (strncmp(word, option, n) == 0 &&
		    (word[n] == '=' || word[n] == '\0'))
			return true;
	}
	return false;
}

/* Finds how the program has this option: "", "=", ">..." or "=>...". */
static bool
find_option(const struct program *p, const char *option, size_t n,
    struct span *how)
{
	struct span rest = span_of(p->options), one;

	while (rest.n > 0) {
		one = span_take(&rest, ' ');
		*how = (struct span){ one.p + n, one.n - n };
		if (one.n >= n && memcmp(one.p, option, n) == 0 &&
		    (one.n == n || strchr("=>", one.p[n]) != NULL))
			return one.n > n || option[n] == '\0';
	}
	return false;
}

/* Is the value of an option a token? to: its name here, or NULL. */
static bool
is_bearer(const struct option_row *row, const char *to)
{
	return to != NULL ? strncmp(to, ">--oauth2Bearer", 15) == 0 :
			    row != NULL && row->kind == OPTION_BEARER;
}

/* Whoever wrote or checked the entry knew what the program of now does with it.
 * Returns why mcpsplice would do something else, or NULL. What it does not know
 * either is found later. */
static char *
take_option(struct change *c)
{
	struct wrap_start *s = c->s;
	const char *option = c->words->list[c->at], *value = NULL, *to = NULL;
	size_t n = option[1] == '-' ? strcspn(option, "=") : 2;
	bool glued = option[n] != '\0', header, valued, off;
	struct span how = no_span;
	bool known = find_option(c->program, option, n, &how);
	const struct option_row *row = option[1] == '-' ?
	    option_table_find((struct span){ option + 2, n - 2 }, &off) :
	    option_table_letter(option[1]);
	char *name;

	if (row == NULL && !known && option[2] != '\0') {
		n = option[1] == '-' ? strcspn(option, "=: ") : n;
		return xasprintf("unknown option %.*s%s", (int)n, option,
		    option[n] == ' ' ? ", in one word with its value" : "");
	}
	if (known)
		to = memchr(how.p, '>', how.n);
	valued = to != NULL ? how.p[0] == '=' : row != NULL && row->arg != NULL;
	if (glued)
		value = option + n + (option[1] == '-');
	else if (c->at + 1 < c->words->n)
		value = c->words->list[c->at + 1];
	header = to == NULL && value != NULL &&
	    (row == NULL ? c->program->python && known :
			   row->kind == OPTION_HEADER);
	if ((row != NULL && !known) || (header && value[0] == '@'))
		return xasprintf("its %.*s%s means nothing to %s, or "
				 "something different to mcpsplice",
		    (int)n, option, header && value[0] == '@' ? " @FILE" : "",
		    c->program->name);
	if (is_again(c, row))
		return xasprintf("it has %.*s twice", (int)n, option);
	if (header && c->program->python) {
		c->at += 2;
		if (c->at >= c->words->n)
			return not_understood();
		wrap_start_header(s, value, c->words->list[c->at], true);
		return NULL;
	}
	c->at += valued && !glued && value != NULL;
	if (is_bearer(row, to) && value != NULL && is_for_host(s, value)) {
		name = xasprintf("Bearer %s", value);
		wrap_start_header(s, "Authorization", name, true);
		string_wipe(&name);
		return NULL;
	}
	if (header && strchr(value, ':') != NULL && is_for_host(s, value)) {
		name = xstrndup(value, strcspn(value, ":"));
		value += strlen(name) + 1;
		wrap_start_header(s, name, value + strspn(value, " "), true);
		free(name);
		return NULL;
	}
	name = to != NULL ? xstrndup(to + 1, strcspn(to + 1, " ")) :
			    xstrdup(option);
	strings_add(name[0] == '-' ? &s->words : &s->variables, name);
	if (valued && value != NULL && (to != NULL || !glued))
		strings_add(name[0] == '-' ? &s->words : &s->variables,
		    xstrdup(value));
	return NULL;
}

/* Adds the new command line, in the place of the words from..r->at. */
static char *
replace(struct change *c, const struct reader *r, size_t from, const char *self,
    bool windows)
{
	const struct program *p = c->program;
	const char *word;
	char *why = NULL;
	bool proxy = has(c->words, "--enable-proxy");
	size_t i, operands = 0;

	for (i = 0; i < c->s->env.n; i++) {
		word = c->s->env.list[i];
		if (is_lost(p->lost, word, is_of_windows(self)) &&
		    !(proxy && is_lost(PROXIES, word, is_of_windows(self))))
			return xasprintf("its environment has %s", word);
	}
	c->s->literal = p->literal;
	for (i = 0; i < from; i++)
		add(c->s, r->words->list[i]);
	add_self(c->s, self, windows);
	for (c->at = c->from = r->at; why == NULL && c->at < c->words->n;
	     c->at++) {
		word = c->words->list[c->at];
		if (word[0] == '-' && word[1] != '\0')
			why = take_option(c);
		else if (operands++ == 0 ||
		    word[strspn(word, "0123456789")] == '\0')
			add(c->s, word);
		else
			why = is_url(word) ?
			    not_understood() :
			    xstrdup("it has an unexpected argument after its "
				    "URL");
	}
	if (why != NULL)
		return why;
	if (p->sign != NULL && !has(&c->s->words, "--aws-sigv4"))
		return xstrdup("it has no --region");
	if (c->s->variables.n > 0 && p->sign != NULL &&
	    (has(&c->s->env, "AWS_PROFILE") ||
		has(&c->s->env, "AWS_ACCESS_KEY_ID")))
		return xstrdup("its --profile differs from the one in its "
			       "environment");
	if (p->sign != NULL && !has(&c->s->env, "AWS_ACCESS_KEY_ID")) {
		add(c->s, "--auth-command");
		add(c->s, p->sign);
	}
	if (p->token != NULL && has(&c->s->env, p->token)) {
		add(c->s, "--bearer-env");
		add(c->s, p->token);
	}
	return wrap_start_check(c->s, windows);
}

/* Copies the words. The first may be a whole command line, which is split.
 * Returns false if it is one word, or a quote in it is not closed; or if it has
 * words for a program and others follow, since what is a secret among them could
 * not be told when they are shown. */
static bool
split_first(struct strings *out, const struct strings *words)
{
	const char *at = words->list[0];
	const char *program = wrap_program_in(span_of(at));
	char quote = '\0';
	struct buf one = { 0 };
	size_t i;

	if (program != NULL && words->n > 1 &&
	    strpbrk(program, " \t\r\n") != NULL)
		return false;
	for (; *at != '\0'; at++)
		if (quote != '\0' ? *at == quote : strchr("\"'", *at) != NULL)
			quote = quote != '\0' ? '\0' : *at;
		else if (quote != '\0' || !is_space(*at))
			buf_addc(&one, *at);
		else if (one.n > 0)
			strings_add(out, buf_take(&one));
	if (one.n > 0)
		strings_add(out, buf_take(&one));
	for (i = 1; i < words->n; i++)
		strings_add(out, xstrdup(words->list[i]));
	return out->n > words->n && quote == '\0';
}

bool
wrap_words_read(struct wrap_start *s, struct wrap_plan *plan, struct span name,
    const struct strings *words, const char *self)
{
	struct change c = { .s = s, .words = words };
	struct strings split = { 0 };
	struct reader r = { words, 0 };
	bool windows = plan->windows, found;
	size_t from = 0, i;
	char *why = NULL;

	/* it is for Windows, but starts a program of Linux already */
	if (skip_wsl(&r)) {
		from = is_of_windows(self) ? 0 : r.at;
		windows = false;
	} else if (skip_cmd(&r)) {
		windows = true;
	}
	skip_runner(&r);
	for (i = 0;
	     i < sizeof programs / sizeof programs[0] && c.program == NULL; i++)
		if (is_package(word(&r), programs[i].name))
			c.program = &programs[i];
	if (c.program == NULL && split_first(&split, words)) {
		found = wrap_words_read(s, plan, name, &split, self);
		strings_free(&split);
		return found;
	}
	strings_free(&split);
	r.at += c.program != NULL;
	found = c.program == NULL ? speaks_of(words) : is_client(c.program, &r);
	for (i = from; i < r.at && from == 0; i++)
		windows = windows || is_of_windows(words->list[i]);
	windows = windows && !is_of_windows(self);
	if (found)
		why = c.program == NULL ? not_understood() :
					  replace(&c, &r, from, self, windows);
	if (why != NULL)
		wrap_plan_leave(plan, name, why);
	return found && why == NULL;
}
