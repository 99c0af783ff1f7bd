/*
 * Loads the options. Every source is first read into settings, in rising
 * weight; then the URL is found, because sections of files depend on it; then
 * the settings that apply are applied, and contradictions are refused. Nothing
 * here prints or exits. This is the only room that reads the environment.
 */
#include "config.h"

#include "options/options.h"

#include <stdlib.h>

#include "io/url.h"
#include "options/argv.h"
#include "options/check.h"
#include "options/file.h"
#include "options/set.h"
#include "options/table.h"

#define AT(field) offsetof(struct options, field)

struct loader {
	struct options *o;
	const struct option_sources *from;
	struct option_settings settings; /* of all sources except argv */
	struct option_argv argv;
	const struct option_setting *url_by; /* the setting that gave the URL,
					      * or NULL */
	struct url url;
	bool has_url;
	char **why;
};

static const char *
variable(const struct loader *l, const char *name)
{
	const char *value = l->from->env(name, l->from->env_arg);

	return value == NULL || value[0] == '\0' ? NULL : value;
}

static void
add_variable(struct loader *l, const char *option, enum option_weight weight,
    const char *name, struct span value)
{
	option_set_add(&l->settings, option_table_named(option), weight,
	    xstrndup(value.p, value.n), xasprintf("environment %s", name),
	    xstrdup(name));
}

/* Reads variables that other programs use too; the last one of an option wins.
 * http_proxy and the like are left to libcurl. */
static void
read_ordinary(struct loader *l)
{
	static const char *const known[][2] = {
		{ "SSL_CERT_FILE", "cacert" },
		{ "CURL_CA_BUNDLE", "cacert" },
		{ "NODE_EXTRA_CA_CERTS", "NODE_EXTRA_CA_CERTS" },
		{ "BROWSER", "browser" },
		{ "NO_PROXY", "noproxy" },
		{ "no_proxy", "noproxy" },
	};
	const char *value;
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++) {
		value = variable(l, known[i][0]);
		if (value != NULL)
			add_variable(l, known[i][1], WEIGHT_ORDINARY,
			    known[i][0], span_of(value));
	}
}

/* Adds a list from the environment: one item per line. */
static void
add_lines(struct loader *l, const char *option, const char *name,
    const char *value)
{
	struct span line;

	while (*value != '\0') {
		line = (struct span){ value, strcspn(value, "\n") };
		value += line.n + (value[line.n] == '\n');
		if (line.n > 0 && line.p[line.n - 1] == '\r')
			line.n--;
		if (line.n > 0)
			add_variable(l, option, WEIGHT_ENVIRONMENT, name, line);
	}
}

static void
read_environment(struct loader *l)
{
	const struct option_row *row;
	const char *value;
	char *name;
	size_t i;

	for (i = 0; i < option_table_rows; i++) {
		row = &option_table[i];
		if ((row->flags & (OPTION_HIDDEN | OPTION_ARGV_ONLY)) != 0 &&
		    row->kind != OPTION_REFUSED)
			continue;
		name = option_table_variable(row);
		value = variable(l, name);
		if (value != NULL &&
		    (row->kind == OPTION_HEADER || row->kind == OPTION_LIST))
			add_lines(l, row->name, name, value);
		else if (value != NULL)
			add_variable(l, row->name, WEIGHT_ENVIRONMENT, name,
			    span_of(value));
		free(name);
	}
}

static int
read_file(struct loader *l, const char *path, enum option_weight weight)
{
	bool exposed = false;

	if (path == NULL)
		return 0;
	if (option_file_read(&l->settings, path, weight,
		weight == WEIGHT_CONFIG, &exposed, l->why) < 0)
		return -1;
	if (exposed)
		option_set_string(&l->o->warnings,
		    xasprintf("%s holds a "
			      "secret and can be read by other users; \"chmod "
			      "600\" it",
			path));
	return 0;
}

/* Reads the files that --config and its variable name. */
static int
read_named_files(struct loader *l)
{
	const struct option_setting *s;
	const char *value = variable(l, "MCPSPLICE_CONFIG");
	size_t i;

	if (value != NULL && read_file(l, value, WEIGHT_CONFIG) < 0)
		return -1;
	for (i = 0; i < l->argv.settings.n; i++) {
		s = &l->argv.settings.list[i];
		if (s->row->kind == OPTION_CONFIG &&
		    read_file(l, s->value, WEIGHT_CONFIG) < 0)
			return -1;
	}
	return 0;
}

static int
read_sources(struct loader *l)
{
	read_ordinary(l);
	if (read_file(l, l->from->etc, WEIGHT_ETC) < 0 ||
	    read_file(l, l->from->home, WEIGHT_HOME) < 0)
		return -1;
	read_environment(l);
	return read_named_files(l);
}

/* Was the switch of this name given in argv? */
static bool
asked_for(const struct loader *l, const char *name)
{
	const struct option_row *row = option_table_named(name);
	size_t i;

	for (i = 0; i < l->argv.settings.n; i++)
		if (l->argv.settings.list[i].row == row)
			return true;
	return false;
}

/* Returns the last URL of a list. No section except "*" can set one. */
static const struct option_setting *
last_url(const struct option_settings *all)
{
	const struct option_setting *s, *url = NULL;
	size_t i;

	for (i = 0; i < all->n; i++) {
		s = &all->list[i];
		if (s->row->kind == OPTION_STRING && s->row->offset == AT(url))
			url = s;
	}
	return url;
}

/* Makes the error for a text without a scheme, with a hint. */
static char *
no_scheme(const char *text)
{
	char *guess = xasprintf("http://%s", text);
	struct url url;
	bool plain = false;

	if (url_parse(&url, guess) == URL_OK) {
		plain = url_is_loopback(&url);
		url_free(&url);
	}
	free(guess);
	return xasprintf("\"%s\" has no scheme; did you mean http%s://%s?",
	    text, plain ? "" : "s", text);
}

static char *
wrong_scheme(const char *text)
{
	const char *rest = strstr(text, "://");
	size_t n = strcspn(text, ":");
	bool plain = n < 5 && memchr(text, 's', n) == NULL;

	if (rest == NULL)
		return no_scheme(text);
	return xasprintf("\"%s\" has a scheme that is not spoken; did you "
			 "mean http%s%s?",
	    text, plain ? "" : "s", rest);
}

static int
parse_url(struct loader *l, const char *text)
{
	switch (url_parse(&l->url, text)) {
	case URL_OK:
		l->has_url = true;
		return 0;
	case URL_NO_SCHEME:
		*l->why = no_scheme(text);
		return -1;
	case URL_SCHEME:
		*l->why = wrong_scheme(text);
		return -1;
	case URL_USERINFO:
		/* not quoted, because it contains a password */
		*l->why =
		    xstrdup("a user name or password in the URL is "
			    "refused; use -H 'Authorization: Basic ${VAR}'");
		return -1;
	case URL_BAD:
		break;
	}
	*l->why = strchr(text, '@') != NULL ?
	    xstrdup("the URL cannot be understood; it should be like "
		    "https://mcp.example.com/mcp") :
	    xasprintf("\"%s\" is not a URL; it should be like "
		      "https://mcp.example.com/mcp",
		text);
	return -1;
}

static int
find_url(struct loader *l)
{
	static const char *const words[] = { [COMMAND_PROXY] = "",
		[COMMAND_LOGIN] = "login ",
		[COMMAND_LOGOUT] = "logout " };

	l->url_by = last_url(&l->argv.settings);
	if (l->url_by == NULL)
		l->url_by = last_url(&l->settings);
	if (l->url_by != NULL)
		return parse_url(l, l->url_by->value);
	if (asked_for(l, "show-config"))
		return 0;
	if (l->o->command == COMMAND_STATUS)
		return 0;
	*l->why = xasprintf("no URL given; usage: mcpsplice %s[options] URL",
	    words[l->o->command]);
	return -1;
}

static int
apply(struct loader *l, const struct option_settings *all)
{
	const struct option_setting *s;
	size_t i;

	for (i = 0; i < all->n; i++) {
		s = &all->list[i];
		if (s->section != NULL &&
		    !option_file_match(s->section, l->has_url ? &l->url : NULL))
			continue;
		if (option_set_apply(l->o, s, l->why) < 0)
			return -1;
	}
	return 0;
}

/* "--sse URL" also selects the transport. --transport with the same or a higher
 * weight wins. */
static int
apply_transport(struct loader *l)
{
	const struct option_row *row = option_table_named("transport");
	const struct option_origin *o = &l->o->origins[row - option_table];
	struct option_setting s;
	int rc;

	if (l->url_by == NULL || l->url_by->row->as == NULL ||
	    l->url_by->weight <= o->from[0].weight)
		return 0;
	s = *l->url_by;
	s.row = row;
	s.value = xstrdup(l->url_by->row->help);
	rc = option_set_apply(l->o, &s, l->why);
	free(s.value);
	return rc;
}

static void
say(struct loader *l)
{
	struct options *o = l->o;

	if (l->argv.secret)
		option_set_string(&o->warnings,
		    xstrdup("a secret on the "
			    "command line can be read by other users; use "
			    "--bearer-env, -H 'Authorization: Bearer ${VAR}' "
			    "or "
			    "@FILE"));
	o->max_result_set = o->origins[option_table_named("max-result") -
				 option_table]
				.from[0]
				.weight > WEIGHT_DEFAULT;
}

/* Is this the command line by which a proxy starts its login process? The task
 * comes through a pipe. */
static bool
is_login_process(const struct option_sources *from)
{
	return from->argc == 3 && strcmp(from->argv[1], "login") == 0 &&
	    strcmp(from->argv[2], "--agent") == 0;
}

/* Copies argv before the secrets in it are overwritten. */
static void
copy_argv(struct options *o, const struct option_sources *from)
{
	int i;

	o->argv = xcalloc((size_t)from->argc + 1, sizeof *o->argv);
	for (i = 0; i < from->argc; i++)
		o->argv[i] = xstrdup(from->argv[i]);
}

static int
load(struct loader *l)
{
	struct options *o = l->o;
	int rc;

	if (is_login_process(l->from)) {
		o->command = COMMAND_LOGIN;
		o->login_process = true;
		return 0;
	}
	rc = option_argv_read(&l->argv, l->from->argc, l->from->argv, l->why);
	o->command = l->argv.command;
	if (rc < 0)
		return -1;
	o->help = asked_for(l, "help");
	o->version = asked_for(l, "version");
	if (o->help || o->version)
		return 0; /* also works if a file is broken */
	if (read_sources(l) < 0 || find_url(l) < 0 ||
	    apply(l, &l->settings) < 0 || apply(l, &l->argv.settings) < 0 ||
	    apply_transport(l) < 0)
		return -1;
	*l->why = option_check(o, l->has_url ? &l->url : NULL);
	if (*l->why != NULL)
		return -1;
	say(l);
	return 0;
}

int
options_load_from(struct options *o, const struct option_sources *from,
    char **why)
{
	struct loader l = { .o = o, .from = from, .why = why };
	enum command command;
	int rc;

	*o = (struct options){ 0 };
	*why = NULL;
	copy_argv(o, from);
	option_set_defaults(o);
	rc = load(&l);
	option_set_free(&l.settings);
	option_set_free(&l.argv.settings);
	if (l.has_url)
		url_free(&l.url);
	if (rc < 0) {
		command = o->command;
		options_free(o);
		o->command = command;
	}
	return rc;
}

const char *
options_store_helper(const struct options *o)
{
	static const char word[] = "helper:";

	if (o->auth_store == NULL ||
	    strncmp(o->auth_store, word, strlen(word)) != 0)
		return NULL;
	return o->auth_store + strlen(word);
}

static const char *
env_of_process(const char *name, void *arg)
{
	(void)arg;
	return getenv(name);
}

int
options_load(struct options *o, int argc, char **argv, char **why)
{
	const char *home = getenv("HOME");
	char *path = NULL;
	struct option_sources from = { .argc = argc,
		.argv = argv,
		.etc = SYSCONFDIR "/mcpsplice.conf",
		.env = env_of_process };
	int rc;

	if (home != NULL && home[0] == '/')
		path = xasprintf("%s/.config/mcpsplice/config", home);
	from.home = path;
	rc = options_load_from(o, &from, why);
	free(path);
	return rc;
}

static void
strings_free(struct strings *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		string_wipe(&s->list[i]);
	free(s->list);
}

static void
argv_free(char **argv)
{
	size_t i;

	for (i = 0; argv != NULL && argv[i] != NULL; i++)
		string_wipe(&argv[i]);
	free(argv);
}

void
options_free(struct options *o)
{
	const struct option_row *row;
	size_t i, j;

	for (i = 0; i < option_table_rows; i++) {
		row = &option_table[i];
		if (row->kind == OPTION_STRING && row->as == NULL)
			string_wipe((char **)((char *)o + row->offset));
		for (j = 0; o->origins != NULL && j < o->origins[i].n; j++)
			free(o->origins[i].from[j].text);
		if (o->origins != NULL)
			free(o->origins[i].from);
	}
	free(o->origins);
	argv_free(o->argv);
	strings_free(&o->headers);
	strings_free(&o->authorize_params);
	strings_free(&o->resolve);
	strings_free(&o->session_lost_patterns);
	strings_free(&o->notes);
	strings_free(&o->warnings);
	*o = (struct options){ 0 };
}
