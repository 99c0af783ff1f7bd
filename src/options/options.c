/*
 * Loads the options. Every source is first read into settings, in rising
 * weight; then the URL is found, because sections of files depend on it; then
 * the settings that apply are applied, and contradictions are refused. Nothing
 * here prints or exits. This is the only room that reads the environment.
 */
#include "config.h"

#include "options/options.h"

#include <stdlib.h>

#include "core/wire/redact.h"
#include "options/set.h"
#include "os/place.h"

#define AT(field) offsetof(struct options, field)

extern char **environ;

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

static int
read_file(struct loader *l, const char *path, enum option_weight weight)
{
	return option_file_read(&l->settings, path, weight, &l->o->warnings,
	    l->why);
}

/* Reads the files that --config and its variable name. */
static int
read_named_files(struct loader *l)
{
	const struct option_setting *s;
	const char *value = option_environment_get(l->from->variables,
	    "MCPSPLICE_CONFIG");
	size_t i;

	if (read_file(l, value, WEIGHT_CONFIG) < 0)
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
	option_environment_ordinary(&l->settings, l->from->variables);
	if (read_file(l, l->from->etc, WEIGHT_ETC) < 0 ||
	    read_file(l, l->from->home, WEIGHT_HOME) < 0)
		return -1;
	option_environment_read(&l->settings, l->from->variables);
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

/* What can be no server, and what to do about it. */
static const char *const bad_urls[][2] = {
	{ "[ \t\r\n]",
	    "contains a space; write what follows it as another argument" },
	{ "^[A-Za-z]+://[Hh][Tt][Tt][Pp][Ss]?://",
	    "begins with http:// or https:// twice; remove one" },
	{ "^(https?://)?[0-9A-Fa-f]*:[0-9A-Fa-f.]*:[0-9A-Fa-f.:]*([/?#]|$)",
	    "has an IPv6 address without brackets; write it as in "
	    "http://[::1]:8080/mcp" },
	{ "^https?://(/+[^/.:?#]+([/?#]|$)|/*([?#]|$))",
	    "contains no host name; it should look like "
	    "https://mcp.example.com/mcp" },
};

static int
parse_url(struct loader *l, const char *text)
{
	const char *wrong = mistype_value(text);
	enum url_status status;
	size_t i;
	char end;

	for (i = 0; i < sizeof bad_urls / sizeof *bad_urls; i++)
		if (wrong == NULL && option_matches(text, bad_urls[i][0], NULL))
			wrong = bad_urls[i][1];
	if (wrong != NULL)
		return fail_why(l->why, "the URL %s", wrong);
	end = *text == '\0' ? '\0' : text[strlen(text) - 1];
	/* left of the JSON that it was copied from */
	if (end == ',' || end == ';' ||
	    (end == '"' && strchr(text, end) == text + strlen(text) - 1))
		return fail_why(l->why, "the URL must not end with %c", end);
	status = url_parse(&l->url, text);
	l->has_url = status == URL_OK;
	if (!l->has_url)
		*l->why = option_bad_url(status, text, l->o->command);
	return l->has_url ? 0 : -1;
}

static int
find_url(struct loader *l)
{
	const char *command = option_commands[l->o->command], *taker = NULL;
	const char *value;
	size_t i;

	l->url_by = last_url(&l->argv.settings);
	if (l->url_by == NULL)
		l->url_by = last_url(&l->settings);
	if (l->url_by != NULL)
		return parse_url(l, l->url_by->value);
	if (asked_for(l, "show-config"))
		return 0;
	if (l->o->command == COMMAND_STATUS || l->o->command == COMMAND_REPORT)
		return 0;
	for (i = 0; i < l->argv.settings.n; i++) {
		value = l->argv.settings.list[i].value;
		if (value != NULL && strncmp(value, "http", 4) == 0 &&
		    strstr(value, "://") != NULL)
			taker = l->argv.settings.list[i].row->name;
	}
	if (taker != NULL)
		return fail_why(l->why, "--%s took the URL as its value",
		    taker);
	return fail_why(l->why,
	    "no URL given; usage: mcpsplice %s%s[options] URL%s", command,
	    *command == '\0' ? "" : " ",
	    l->o->command == COMMAND_CALL ? " TOOL [ARGUMENT...]" : "");
}

/* Would the section be for this URL if it did not mean the default port?
 * *length: of its part in front of the path. */
static bool
lacks_port(const struct loader *l, const char *section, int *length)
{
	const char *host = strstr(section, "://");
	char *other;
	bool lacks;

	host = host == NULL ? section : host + 3;
	host += *host == '[' ? strcspn(host, "]") : 0;
	host += strcspn(host, ":/?");
	*length = (int)(host - section);
	other = xasprintf("%.*s:*%s", *length, section, host);
	lacks = *host != ':' && option_file_match(other, &l->url);
	free(other);
	return lacks;
}

/* Notes that a section of a file is for other URLs, once; warns if only its port
 * is missing, because then it was probably meant for this one. */
static void
note_section(struct loader *l, const struct option_setting *s)
{
	const char *end = strrchr(s->from, ':'); /* FILE:LINE */
	struct strings *notes = &l->o->notes;
	struct buf note = { 0 };
	int n;

	if (!l->has_url)
		return;
	buf_addf(&note, "%.*s: [", (int)(end - s->from), s->from);
	redact_path(&note, span_of(s->section), "...");
	if (lacks_port(l, s->section, &n)) {
		buf_addf(&note,
		    "] means the default port; write %.*s:%s or "
		    "%.*s:* for the host",
		    n, s->section, l->url.port, n, s->section);
		notes = &l->o->warnings;
	} else {
		buf_adds(&note, "] is not for this URL");
	}
	if (string_index(buf_str(&note), (const char *const *)notes->list,
		notes->n) == notes->n)
		strings_add(notes, buf_take(&note));
	buf_free(&note);
}

static int
apply(struct loader *l, const struct option_settings *all)
{
	const struct option_setting *s;
	size_t i;

	for (i = 0; i < all->n; i++) {
		s = &all->list[i];
		if (s->section != NULL &&
		    !option_file_match(s->section,
			l->has_url ? &l->url : NULL)) {
			note_section(l, s);
			continue;
		}
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
	const struct option_setting *by = l->url_by;
	struct option_setting s;
	int rc;

	if (by == NULL || by->row->as == NULL ||
	    by->weight <= o->from[0].weight)
		return 0;
	s = *by;
	s.row = row;
	s.value = xstrdup(by->row->help);
	rc = option_set_apply(l->o, &s, l->why);
	free(s.value);
	return rc;
}

/* A client that was registered for mcp-remote came with its redirect URI:
 * "http://localhost:PORT/oauth/callback". */
static int
apply_redirect(struct loader *l)
{
	static const char *const values[][2] = {
		{ "callback-host", "localhost" },
		{ "callback-path", "/oauth/callback" },
	};
	char from[] = "default of mcp-remote";
	struct option_setting s = { .weight = WEIGHT_DEFAULT, .from = from };
	const struct options *o = l->o;
	size_t i;
	int rc = 0;

	if (!l->argv.port && !l->argv.remote && o->client_info == NULL &&
	    o->client_metadata == NULL)
		return 0;
	for (i = 0; i < 2 && rc == 0; i++) {
		if (options_given(o, values[i][0]))
			continue;
		s.row = option_table_named(values[i][0]);
		s.value = xstrdup(values[i][1]);
		rc = option_set_apply(l->o, &s, l->why);
		free(s.value);
	}
	return rc;
}

/* Tells where the secrets of the command line are better kept. */
static void
warn_of_secrets(struct loader *l)
{
	const struct option_row *row = l->argv.password;
	char *name;

	if (l->argv.secret)
		strings_add(&l->o->warnings,
		    xstrdup("other users can read a secret on the command "
			    "line; use --bearer-env, -H 'Authorization: "
			    "Bearer ${VAR}' or @FILE"));
	if (row == NULL)
		return;
	name = option_table_variable(row);
	strings_add(&l->o->warnings,
	    xasprintf("other users can read the password given with --%s; "
		      "set the variable %s instead",
		row->name, name));
	free(name);
}

/* Is this the variable of an option, or one that an option names? */
static bool
is_known(const struct options *o, const char *variable)
{
	const struct option_row *row = option_table;
	char *reference = xasprintf("${%s}", variable), *name;
	bool known = false;
	size_t i;

	for (i = 0; !known && i < o->headers.n; i++)
		known = strstr(o->headers.list[i], reference) != NULL;
	for (; !known && row->name != NULL; row++) {
		name = option_table_variable(row);
		known = strcmp(name, variable) == 0 ||
		    string_eq(option_named_variable(o, row), variable);
		free(name);
	}
	free(reference);
	return known;
}

/* Returns the option whose variable may have been meant by MCPSPLICE_tail, or
 * NULL. meant: mistype_meant says this of it. */
static const struct option_row *
misspelt(const char *tail, const char *meant)
{
	char *name = xstrdup(tail), *c;
	const struct option_row *row;

	for (c = name; *c != '\0'; c++)
		if (*c == '_')
			*c = '-';
	row = meant != NULL && strchr(meant, ' ') == NULL ?
	    option_table_named(meant) :
	    option_table_misspelt(span_of(name));
	free(name);
	return row != NULL &&
		(row->flags & (OPTION_HIDDEN | OPTION_ARGV_ONLY)) == 0 ?
	    row :
	    NULL;
}

/* Warns of a variable that is meant for us but misspelt. One that is like no
 * option may be anybody's. If it would restrict something, this is an error. */
static void
warn_of_variables(const struct loader *l, struct strings *warnings)
{
	static const char prefix[] = "MCPSPLICE_";
	const struct option_row *row;
	const char *meant;
	char *const *at;
	char *name, *text;

	for (at = l->from->variables; at != NULL && *at != NULL; at++) {
		if (strncmp(*at, prefix, strlen(prefix)) != 0)
			continue;
		name = xstrndup(*at, strcspn(*at, "="));
		meant = mistype_meant(span_of(name + strlen(prefix)));
		row = misspelt(name + strlen(prefix), meant);
		text = NULL;
		if (is_known(l->o, name))
			row = NULL;
		else if (row != NULL &&
		    (row->kind != OPTION_HEADER || meant == NULL))
			text = option_table_variable(row);
		else if (row != NULL || /* "bearer" is like "header" */
		    (meant != NULL && strchr(meant, ' ') != NULL &&
			strncmp(meant, "mcpsplice ", 10) != 0))
			text = xstrdup(meant);
		if (row != NULL && (row->flags & OPTION_GUARD) != 0 &&
		    *l->why == NULL)
			*l->why = xstrdup("the name of a restriction is "
					  "misspelled");
		if (text != NULL)
			strings_add(warnings,
			    xasprintf(strchr(text, ' ') != NULL ?
				    "unknown variable %s: %s" :
				    "unknown variable %s (did you mean %s?)",
				name, text));
		free(text);
		free(name);
	}
}

static void
say(struct loader *l)
{
	struct options *o = l->o;

	warn_of_secrets(l);
	warn_of_variables(l, &o->warnings);
	if (l->argv.leftover > 0)
		strings_add(&o->notes,
		    xasprintf("ignoring \"-y %s\" before the URL: it belongs "
			      "to npx",
			l->argv.remote ? "mcp-remote" : PACKAGE_NAME));
	o->max_result_set = options_given(o, "max-result");
}

/* Is this the command line by which a proxy starts its login process, or a
 * command its proxy? The task comes through a pipe. */
static bool
is_process(const struct option_sources *from, const char *command)
{
	return from->argc == 3 && strcmp(from->argv[1], command) == 0 &&
	    strcmp(from->argv[2], "--agent") == 0;
}

/* The options of wrap are its own: no other is of use there, and of no other
 * source. */
static int
load_wrap(struct loader *l)
{
	const struct option_settings *all = &l->argv.settings;
	struct options *o = l->o;
	const char *word;
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (all->list[i].row->owner != COMMAND_WRAP)
			return fail_why(l->why, "wrap takes no --%s",
			    all->list[i].row->name);
		if (option_set_apply(o, &all->list[i], l->why) < 0)
			return -1;
	}
	if (o->wrap_list + o->wrap_restore + o->wrap_write > 1)
		return fail_why(l->why,
		    "wrap takes only one of --list, --restore and --write");
	if (o->wrap_list && o->operands.n > 0)
		return fail_why(l->why, "wrap --list takes no file");
	for (i = 0; i < o->operands.n; i++) {
		word = o->operands.list[i];
		if (strstr(word, "://") != NULL)
			return fail_why(l->why,
			    "wrap takes files, not a URL; to use a server, "
			    "run: mcpsplice URL");
		if (strcmp(word, "list") == 0 || strcmp(word, "restore") == 0 ||
		    strcmp(word, "write") == 0)
			return fail_why(l->why,
			    "did you mean \"mcpsplice wrap --%s\"?", word);
	}
	return 0;
}

/* Refuses the options of one command without it. */
static int
check_owner(struct loader *l)
{
	const struct option_settings *all = &l->argv.settings;
	enum command command = l->o->command;
	const struct option_row *row;
	bool json;
	size_t i;

	for (i = 0; i < all->n; i++) {
		row = all->list[i].row;
		json = row->offset == AT(json);
		if (row->owner != COMMAND_PROXY && row->owner != command &&
		    !(json && command == COMMAND_STATUS))
			return fail_why(l->why,
			    "--%s only works with \"mcpsplice %s\"%s",
			    row->name, option_commands[row->owner],
			    json ? " and \"mcpsplice status\"" : "");
	}
	return 0;
}

/* Writes --noproxy as libcurl reads it: other programs also take *.example.com,
 * and URLs. */
static void
tidy_hosts(char *list)
{
	const char *from = list, *mark, *end;
	char *to = list;
	bool is_url;
	size_t n;

	while (*from != '\0') {
		end = from + strcspn(from, ", ");
		mark = strstr(from, "://");
		is_url = mark != NULL && mark < end;
		if (is_url)
			from = mark + 3;
		from += strncmp(from, "*.", 2) == 0;
		n = strcspn(from, is_url ? "/:, " : ", ");
		memmove(to, from, n);
		to += n;
		if (*end != '\0')
			*to++ = ',';
		from = end + strspn(end, ", ");
	}
	*to = '\0';
}

static int
load(struct loader *l)
{
	struct options *o = l->o;

	o->login_process = is_process(l->from, "login");
	o->peer_process = is_process(l->from, "tools");
	if (o->login_process || o->peer_process) {
		o->command = o->login_process ? COMMAND_LOGIN : COMMAND_TOOLS;
		return 0;
	}
	if (option_argv_read(&l->argv, o, l->from->argc, l->from->argv,
		l->why) < 0)
		return -1;
	o->help = asked_for(l, "help");
	o->version = asked_for(l, "version");
	if (o->help || o->version)
		return 0; /* also works if a file is broken */
	if (o->command == COMMAND_WRAP)
		return load_wrap(l);
	if (check_owner(l) < 0 || read_sources(l) < 0 || find_url(l) < 0 ||
	    apply(l, &l->settings) < 0 || apply(l, &l->argv.settings) < 0 ||
	    apply_transport(l) < 0 || apply_redirect(l) < 0)
		return -1;
	if (o->noproxy != NULL)
		tidy_hosts(o->noproxy);
	*l->why = option_check(o, l->has_url ? &l->url : NULL);
	if (*l->why != NULL)
		return -1;
	say(l);
	return *l->why == NULL ? 0 : -1;
}

/* A variable that is misspelt may be the cause of an error. */
static void
add_hints(const struct loader *l)
{
	struct strings hints = { 0 };
	char *why = *l->why;
	size_t i;

	warn_of_variables(l, &hints);
	for (i = 0; i < hints.n; i++) {
		*l->why = xasprintf("%s; %s", why, hints.list[i]);
		free(why);
		why = *l->why;
	}
	strings_free(&hints);
}

int
options_load_from(struct options *o, const struct option_sources *from,
    char **why)
{
	struct loader l = { .o = o, .from = from, .why = why };
	enum command command;
	int rc, i;

	*o = (struct options){ 0 };
	*why = NULL;
	o->argv = xcalloc((size_t)from->argc + 1, sizeof *o->argv);
	for (i = 0; i < from->argc; i++) /* before secrets are overwritten */
		o->argv[i] = xstrdup(from->argv[i]);
	option_set_defaults(o);
	rc = load(&l);
	if (rc < 0)
		add_hints(&l);
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

int
options_load(struct options *o, int argc, char **argv, char **why)
{
	const char *base = os_place(OS_PLACE_CONFIG);
	char *path = NULL;
	struct option_sources from = { .argc = argc,
		.argv = argv,
		.etc = os_place(OS_PLACE_SYSTEM),
		.variables = environ };
	int rc;

	if (os_path_absolute(base))
		path = os_path_join(base,
		    os_place_below(".config/mcpsplice/config"));
	from.home = path;
	rc = options_load_from(o, &from, why);
	free(path);
	return rc;
}

void
options_free(struct options *o)
{
	struct option_origin *origin = o->origins;
	const struct option_row *row;
	void *field;

	for (row = option_table; row->name != NULL; row++) {
		field = (char *)o + row->offset;
		if (row->kind == OPTION_STRING && row->as == NULL)
			string_wipe(field);
		else if (option_is_list(row))
			strings_free(field);
		while (origin != NULL && origin->n > 0)
			free(origin->from[--origin->n].text);
		if (origin != NULL)
			free(origin++->from);
	}
	free(o->origins);
	string_list_free(o->argv);
	strings_free(&o->operands);
	strings_free(&o->notes);
	strings_free(&o->warnings);
	*o = (struct options){ 0 };
}
