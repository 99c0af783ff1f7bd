/*
 * A command line has up to three parts: what leads to another system (cmd,
 * wsl), a runner of packages with its options, and the program.
 */
#include "config.h"

#include "command/wrap_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "store/credential.h"

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
	bool python; /* it has the options of mcp-proxy */
} programs[] = {
	{ "mcpsplice", is_never_client, false },
	{ "mcp-remote", is_always_client, false },
	{ "supergateway", is_client_of_supergateway, false },
	{ "mcp-proxy", is_client_of_mcp_proxy, true },
};

/* --- the change --- */

static void
add_swap(struct wrap_swaps *s, size_t from, size_t to, char *first,
    char *second)
{
	s->list[s->n++] = (struct wrap_swap){ .from = from,
		.to = to,
		.words = { first, second },
		.n = second != NULL ? 2 : 1 };
}

/* Its "--headers NAME VALUE" becomes "-H 'NAME: VALUE'". */
static bool
swap_headers(struct wrap_swaps *s, const struct reader *r)
{
	const struct strings *w = r->words;
	size_t i, n = 0;

	for (i = r->at; i < w->n; i++) {
		if (strcmp(w->list[i], "-H") != 0 &&
		    strcmp(w->list[i], "--headers") != 0)
			continue;
		if (i + 2 >= w->n || n++ == BOUND_WRAP_HEADERS)
			return false;
		add_swap(s, i, i + 3, xstrdup("-H"),
		    xasprintf("%s: %s", w->list[i + 1], w->list[i + 2]));
		s->list[s->n - 1].secret = true;
		i += 2;
	}
	return true;
}

static char *
not_understood(void)
{
	return xstrdup("how it starts its program is not understood");
}

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

/* Returns the words of the new command line that mcpsplice gets: those from
 * here on, with the swaps from this one on. */
static void
new_args(struct strings *args, const struct strings *words,
    const struct wrap_swaps *s, size_t from, size_t at)
{
	size_t i = from, k;

	for (; at < s->n; at++) {
		for (; i < s->list[at].from; i++)
			strings_add(args, xstrdup(words->list[i]));
		for (k = 0; k < s->list[at].n; k++)
			strings_add(args, xstrdup(s->list[at].words[k]));
		i = s->list[at].to;
	}
	for (; i < words->n; i++)
		strings_add(args, xstrdup(words->list[i]));
}

/* Adds a name to a value of WSLENV, unless it is there. */
static void
add_name(struct buf *wslenv, struct span name)
{
	struct span rest = buf_span(wslenv);
	size_t n;

	for (; rest.n > 0; rest.p += n, rest.n -= n) {
		const char *end = memchr(rest.p, ':', rest.n);

		n = end == NULL ? rest.n : (size_t)(end - rest.p);
		if (span_eq((struct span){ rest.p, n }, name))
			return;
		n += end != NULL;
	}
	if (wslenv->n > 0)
		buf_addc(wslenv, ':');
	buf_addspan(wslenv, name);
}

void
wrap_words_share(struct buf *wslenv, const struct strings *args)
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

/* Puts mcpsplice in the place of the words from..r->at and checks what is
 * behind. For Windows that is wsl.exe, which hands the words to a shell unless
 * it is told not to: & and $ in a URL would not arrive. */
static enum wrap_what
replace(struct wrap_swaps *s, const struct reader *r, size_t from,
    const char *self, bool wsl, bool token, bool python, char **why)
{
	struct strings args = { 0 };
	struct buf names;
	size_t front;

	if (wsl) {
		add_swap(s, 0, 1, xstrdup("wsl.exe"), NULL);
		add_swap(s, 1, r->at, xstrdup("--exec"), xstrdup(self));
	} else {
		add_swap(s, from, r->at, xstrdup(self), NULL);
	}
	front = s->n;
	if (python && !swap_headers(s, r)) {
		*why = not_understood();
		return WRAP_LEAVE;
	}
	if (token)
		add_swap(s, r->words->n, r->words->n, xstrdup("--bearer-env"),
		    xstrdup("API_ACCESS_TOKEN"));
	new_args(&args, r->words, s, r->at, front);
	*why = wrap_words_wrong(&args);
	buf_init(&names, 0);
	wrap_words_share(&names, &args);
	if (wsl && names.n > 0)
		s->wslenv = buf_take(&names);
	buf_free(&names);
	strings_free(&args);
	return *why == NULL ? WRAP_CHANGE : WRAP_LEAVE;
}

enum wrap_what
wrap_words_read(struct wrap_swaps *swaps, const struct strings *words,
    const char *self, bool windows, bool variable, char **why)
{
	struct reader r = { words, 0 };
	const struct program *p;
	size_t from = 0, i;

	*swaps = (struct wrap_swaps){ .n = 0 };
	/* it is for Windows, but starts a program of Linux already */
	if (skip_wsl(&r)) {
		from = r.at;
		windows = false;
	} else if (skip_cmd(&r)) {
		windows = true;
	}
	skip_runner(&r);
	for (i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		p = &programs[i];
		if (!is_package(word(&r), p->name))
			continue;
		r.at++;
		if (!p->is_client(&r))
			return WRAP_OTHER;
		for (i = from; i < r.at && from == 0; i++)
			windows = windows || is_of_windows(words->list[i]);
		return replace(swaps, &r, from, self, windows,
		    p->python && variable, p->python, why);
	}
	if (!speaks_of(words))
		return WRAP_OTHER;
	*why = not_understood();
	return WRAP_LEAVE;
}

void
wrap_swaps_free(struct wrap_swaps *swaps)
{
	size_t i;

	for (i = 0; i < swaps->n; i++) {
		string_wipe(&swaps->list[i].words[0]);
		string_wipe(&swaps->list[i].words[1]);
	}
	free(swaps->wslenv);
	*swaps = (struct wrap_swaps){ .n = 0 };
}

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
	const struct credential_env env = { some_value, NULL };
	struct headers all = { 0 };
	char *why = NULL;
	size_t i;

	for (i = 0; why == NULL && i < headers->n; i++)
		if (headers->list[i][0] != '@')
			(void)credential_line(&all, span_of(headers->list[i]),
			    &env, &why);
	headers_free(&all);
	return why;
}

char *
wrap_words_wrong(const struct strings *args)
{
	struct option_sources from = { 0 };
	struct options o;
	struct strings argv = { 0 };
	char *why = NULL;
	size_t i;

	strings_add(&argv, xstrdup("mcpsplice"));
	for (i = 0; i < args->n; i++)
		strings_add(&argv, xstrdup(args->list[i]));
	from.argc = (int)argv.n;
	from.argv = argv.list;
	if (options_load_from(&o, &from, &why) == 0) {
		if (o.command != COMMAND_PROXY || o.url == NULL)
			why = not_understood();
		else
			why = wrong_header(&o.headers);
		options_free(&o);
	}
	strings_free(&argv);
	return why;
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
