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

static bool
is_one_of(const char *text, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
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
	static const char *const ends[] = { "", ".exe", ".cmd", NULL };
	size_t n = strlen(name);

	text = base_name(text);
	return strncmp(text, name, n) == 0 && is_one_of(text + n, ends);
}

/* --- what leads to another system --- */

/* Skips "wsl -d NAME -e". */
static bool
skip_wsl(struct reader *r)
{
	static const char *const valued[] = { "-d", "--distribution", "-u",
		"--user", "--cd", "--shell-type", NULL };
	static const char *const plain[] = { "-e", "--exec", "--", "~", NULL };

	if (!is_called(word(r), "wsl"))
		return false;
	for (r->at++;; r->at++) {
		if (is_one_of(word(r), valued))
			r->at++;
		else if (!is_one_of(word(r), plain))
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
	const char *name, *sub, *sub2;
	const char *valued; /* options with a value, with a blank around each */
};

static const struct runner runners[] = {
	{ "npx", NULL, NULL, " -p --package --registry " },
	{ "pnpx", NULL, NULL, " --package " },
	{ "bunx", NULL, NULL, " -p --package " },
	{ "uvx", NULL, NULL, " --from --with --python -p " },
	{ "npm", "exec", NULL, " -p --package --registry " },
	{ "npm", "x", NULL, " -p --package --registry " },
	{ "pnpm", "dlx", NULL, " --package " },
	{ "yarn", "dlx", NULL, " -p --package " },
	{ "bun", "x", NULL, " -p --package " },
	{ "deno", "run", NULL, " " },
	{ "uv", "tool", "run", " --from --with --python -p " },
	{ "pipx", "run", NULL, " --spec --python " },
	{ "node", NULL, NULL, " -r --require " },
};

static bool
takes_value(const struct runner *run, const char *option)
{
	char *padded = xasprintf(" %s ", option);
	bool takes = strstr(run->valued, padded) != NULL;

	free(padded);
	return takes;
}

/* Skips a runner with its options; the program is next. */
static void
skip_runner(struct reader *r)
{
	const struct runner *run = NULL;
	size_t i, from = r->at;

	for (i = 0; i < sizeof runners / sizeof runners[0]; i++) {
		run = &runners[i];
		r->at = from;
		if (!is_called(word(r), run->name))
			continue;
		r->at++;
		if (run->sub != NULL && strcmp(word(r), run->sub) != 0)
			continue;
		r->at += run->sub != NULL;
		if (run->sub2 != NULL && strcmp(word(r), run->sub2) != 0)
			continue;
		r->at += run->sub2 != NULL;
		for (; word(r)[0] == '-'; r->at++)
			if (takes_value(run, word(r)))
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

/* Supergateway: a client if it is given a URL, and speaks stdio. */
static bool
is_client_of_supergateway(const struct reader *r)
{
	const struct strings *w = r->words;
	bool url = false;
	size_t i;

	for (i = r->at; i < w->n; i++) {
		if (strcmp(w->list[i], "--stdio") == 0 ||
		    (strcmp(w->list[i], "--outputTransport") == 0 &&
			i + 1 < w->n && strcmp(w->list[i + 1], "stdio") != 0))
			return false;
		if (strcmp(w->list[i], "--streamableHttp") == 0 ||
		    strcmp(w->list[i], "--sse") == 0)
			url = true;
	}
	return url;
}

/* mcp-proxy of Python: a client if its first operand is a URL. */
static bool
is_client_of_mcp_proxy(const struct reader *r)
{
	const struct strings *w = r->words;
	size_t i;

	for (i = r->at; i < w->n; i++) {
		if (is_url(w->list[i]))
			return true;
		if (w->list[i][0] != '-')
			return false;
		if (strcmp(w->list[i], "-H") == 0 ||
		    strcmp(w->list[i], "--headers") == 0)
			i += 2;
		else if (strcmp(w->list[i], "--transport") == 0)
			i++;
	}
	return false;
}

static bool
is_always_client(const struct reader *r)
{
	(void)r;
	return true;
}

static bool
is_never_client(const struct reader *r)
{
	(void)r;
	return false;
}

static const struct program {
	const char *name;
	/* Does it connect to a URL here? The reader is behind its name. */
	bool (*is_client)(const struct reader *r);
	/* The options that mean the same to mcpsplice; "=": also as
	 * --name=value. */
	const char *options;
	bool python; /* it has "-H NAME VALUE" */
} programs[] = {
	{ "mcpsplice", is_never_client, "", false },
	/* 0.15.1 */
	{ "mcp-remote", is_always_client,
	    "--header= --header-file --ignore-tool --authorize-param "
	    "--allow-http --client-credentials --debug --device-code "
	    "--disable-cookies --disable-resource-parameter --enable-proxy "
	    "--help --version --ipv4 --keep-alive --silent --use-id-token "
	    "--auth-success-url --auth-timeout --callback-path "
	    "--client-metadata-url --host --protocol --resource "
	    "--static-oauth-client-info --static-oauth-client-metadata "
	    "--token-endpoint --transport --connect-timeout --headers-timeout "
	    "--body-timeout --ping-interval",
	    false },
	/* 4.0.0, as a client */
	{ "supergateway", is_client_of_supergateway,
	    "--header= --oauth2Bearer= --streamableHttp= --sse= --logLevel= "
	    "--outputTransport= --help --version",
	    false },
	/* 0.11, as a client: its --host is for a server */
	{ "mcp-proxy", is_client_of_mcp_proxy,
	    "-H --headers --transport= --debug --help --version", true },
};

/* --- would mcpsplice take it? --- */

static const char *
some_value(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return "x";
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
	return xstrdup("how it starts its program is not understood");
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
	const char *word, *at, *end;
	size_t i;

	for (i = 0; i < args->n; i++) {
		word = args->list[i];
		if (i > 0 && strcmp(args->list[i - 1], "--bearer-env") == 0)
			add_name(wslenv, span_of(word));
		for (at = strstr(word, "${"); at != NULL;
		     at = strstr(end, "${")) {
			end = strchr(at, '}');
			if (end == NULL)
				break;
			add_name(wslenv,
			    (struct span){ at + 2, (size_t)(end - at) - 2 });
		}
	}
}

/* --- how it starts mcpsplice --- */

const char wrap_ours[] = "its environment has a variable MCPSPLICE_..., which "
			 "would act on mcpsplice only";

static void
add(struct wrap_start *s, const char *word)
{
	strings_add(&s->words, xstrdup(word));
}

/* The command itself. For Windows that is wsl.exe, which hands the words to a
 * shell unless it is told not to: & and $ in a URL would not arrive. */
static void
add_self(struct wrap_start *s, const char *self, bool windows)
{
	if (windows) {
		add(s, "wsl.exe");
		add(s, "--exec");
	}
	add(s, self);
	s->first = s->words.n;
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
    bool has_env)
{
	char *line;

	/* mcpsplice sends its own */
	if (strcasecmp(name, "Accept") == 0 ||
	    strcasecmp(name, "Content-Type") == 0)
		return;
	/* a name is never the @ in front of a file */
	line = xasprintf("%s%s: %s", name[0] == '@' ? " " : "", name, value);
	if (has_env || strchr(value, '$') != NULL) {
		add(s, "-H");
		strings_add(&s->words, line);
	} else {
		strings_add(&s->headers, line);
	}
}

char *
wrap_start_check(struct wrap_start *s, bool windows)
{
	struct strings argv = { 0 };
	char *why;
	size_t i;

	strings_add(&argv, xstrdup("mcpsplice"));
	for (i = s->first; i < s->words.n; i++)
		strings_add(&argv, xstrdup(s->words.list[i]));
	if (windows && s->headers.n > 0)
		buf_adds(&s->wslenv, "MCPSPLICE_HEADER");
	if (windows)
		add_names(&s->wslenv, &argv);
	for (i = 0; i < s->headers.n; i++) {
		strings_add(&argv, xstrdup("-H"));
		strings_add(&argv, xstrdup(s->headers.list[i]));
	}
	why = s->wslenv.n > BOUND_COOKIES_BYTES ?
	    xstrdup("it has more variables than WSLENV can name") :
	    wrong_arguments(&argv);
	strings_free(&argv);
	return why;
}

void
wrap_start_free(struct wrap_start *s)
{
	strings_free(&s->words);
	strings_free(&s->headers);
	buf_free(&s->wslenv);
}

void
wrap_start_env(struct buf *out, const struct wrap_start *s, const char *quote,
    const char *is)
{
	struct buf lines;
	size_t i;

	buf_init(&lines, 0);
	for (i = 0; i < s->headers.n; i++)
		buf_addf(&lines, "%s%s", i > 0 ? "\n" : "", s->headers.list[i]);
	if (lines.n > 0) {
		buf_addf(out, "%sMCPSPLICE_HEADER%s%s", quote, quote, is);
		codec_json_string(out, buf_span(&lines));
	}
	if (lines.n > 0 && s->wslenv.n > 0)
		buf_adds(out, ", ");
	if (s->wslenv.n > 0) {
		buf_addf(out, "%sWSLENV%s%s", quote, quote, is);
		codec_json_string(out, buf_span(&s->wslenv));
	}
	buf_wipe(&lines);
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
		    strstr(words->list[i], "supergateway") != NULL)
			return true;
	return false;
}

/* Does the program have the option that begins with this name? */
static bool
has_option(const struct program *p, const char *option, size_t n)
{
	struct span rest = span_of(p->options), one;

	while (rest.n > 0) {
		one = span_take(&rest, ' ');
		if (span_eq(one, (struct span){ option, n }))
			return option[n] == '\0';
		if (one.n == n + 1 && one.p[n] == '=' &&
		    memcmp(one.p, option, n) == 0)
			return true;
	}
	return false;
}

/* Is the word at i an option with one value that was there before? mcp-remote
 * takes the first, mcpsplice the last. */
static bool
is_again(const struct reader *r, size_t i, const struct option_row *row)
{
	size_t k;

	if (row->arg == NULL || row->kind == OPTION_LIST ||
	    row->kind == OPTION_HEADER || row->kind == OPTION_HEADER_FILE)
		return false;
	for (k = r->at; k < i; k++)
		if (strcmp(r->words->list[k], r->words->list[i]) == 0)
			return true;
	return false;
}

/* Whoever wrote or checked the entry knew what the program of now does with it.
 * Returns why mcpsplice would do something else, or NULL. What it does not know
 * either is found later. */
static char *
something_else(const struct program *p, const struct reader *r)
{
	const struct strings *w = r->words;
	const struct option_row *row;
	const char *option, *value;
	size_t i, n, operands = 0;
	bool off, at;

	for (i = r->at; i < w->n && (option = w->list[i]) != NULL; i++) {
		if (option[0] != '-' || option[1] == '\0') {
			if (operands++ > 0 &&
			    option[strspn(option, "0123456789")] != '\0')
				return is_url(option) ?
				    not_understood() :
				    xstrdup("there is an unexpected "
					    "argument behind its URL");
			continue;
		}
		n = option[1] == '-' ? strcspn(option, "=") : 2;
		row = option[1] == '-' ?
		    option_table_find((struct span){ option + 2, n - 2 },
			&off) :
		    option_table_letter(option[1]);
		value = option[n] != '\0' ? option + n + 1 : w->list[i + 1];
		at = row != NULL && row->kind == OPTION_HEADER &&
		    value != NULL && value[0] == '@';
		if (row != NULL && (at || !has_option(p, option, n)))
			return xasprintf("its %.*s%s means nothing to %s, or "
					 "something else than to mcpsplice",
			    (int)n, option, at ? " @FILE" : "", p->name);
		if (row != NULL && is_again(r, i, row))
			return xasprintf("it has %.*s twice", (int)n, option);
		if (p->python && (option[1] == 'H' || row == NULL))
			i += 2;
		else if (row != NULL && row->arg != NULL && option[n] == '\0')
			i++;
	}
	return NULL;
}

/* Adds the words behind the program. "--headers NAME VALUE" of the one in
 * Python becomes "-H 'NAME: VALUE'". Returns -1 if that is not understood. */
static int
add_arguments(struct wrap_start *s, const struct reader *r, bool python)
{
	const struct strings *w = r->words;
	size_t i;

	for (i = r->at; i < w->n; i++) {
		if (!python ||
		    (strcmp(w->list[i], "-H") != 0 &&
			strcmp(w->list[i], "--headers") != 0)) {
			add(s, w->list[i]);
			continue;
		}
		if (i + 2 >= w->n)
			return -1;
		add(s, "-H");
		strings_add(&s->words,
		    xasprintf("%s: %s", w->list[i + 1], w->list[i + 2]));
		i += 2;
	}
	return 0;
}

/* Adds the new command line, in the place of the words from..r->at. */
static char *
replace(struct wrap_start *s, const struct reader *r, size_t from,
    const char *self, bool windows, bool token, const struct program *p)
{
	char *why = something_else(p, r);
	size_t i;

	if (why != NULL)
		return why;
	for (i = 0; i < from; i++)
		add(s, r->words->list[i]);
	add_self(s, self, windows);
	if (add_arguments(s, r, p->python) < 0)
		return not_understood();
	if (token) {
		add(s, "--bearer-env");
		add(s, "API_ACCESS_TOKEN");
	}
	return wrap_start_check(s, windows);
}

bool
wrap_words_read(struct wrap_start *s, struct wrap_plan *plan, struct span name,
    const struct strings *words, const char *self, bool variable)
{
	struct reader r = { words, 0 };
	const struct program *p = NULL;
	bool windows = plan->windows;
	size_t from = 0, i;
	char *why;

	/* it is for Windows, but starts a program of Linux already */
	if (skip_wsl(&r)) {
		from = r.at;
		windows = false;
	} else if (skip_cmd(&r)) {
		windows = true;
	}
	skip_runner(&r);
	for (i = 0; i < sizeof programs / sizeof programs[0] && p == NULL; i++)
		if (is_package(word(&r), programs[i].name))
			p = &programs[i];
	r.at += p != NULL;
	if (p == NULL ? !speaks_of(words) : !p->is_client(&r))
		return false;
	for (i = from; i < r.at && from == 0; i++)
		windows = windows || is_of_windows(words->list[i]);
	why = p == NULL ?
	    not_understood() :
	    replace(s, &r, from, self, windows, p->python && variable, p);
	if (why != NULL)
		wrap_plan_leave(plan, name, why);
	return why == NULL;
}

const char *
wrap_words_dollars(struct span text)
{
	size_t i, n;

	for (i = 0; i + 1 < text.n; i++) {
		if (text.p[i] != '$')
			continue;
		if (text.p[i + 1] == '$')
			return "it has $$, which is one dollar sign in "
			       "mcpsplice";
		if (text.p[i + 1] != '{')
			continue;
		for (n = i + 2; n < text.n &&
		     (isalnum((unsigned char)text.p[n]) || text.p[n] == '_');)
			n++;
		if (n == i + 2 || n == text.n || text.p[n] != '}')
			return "mcpsplice replaces ${NAME} only";
	}
	return NULL;
}
