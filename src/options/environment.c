/* The environment as a source of options. */
#include "config.h"

#include "options/set.h"

#include <stdlib.h>
#include <string.h>

const char *
option_environment_get(char *const *variables, const char *name)
{
	size_t n = strlen(name);
	char *const *at;

	for (at = variables; at != NULL && *at != NULL; at++)
		if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
			return (*at)[n + 1] == '\0' ? NULL : *at + n + 1;
	return NULL;
}

static void
add_variable(struct option_settings *out, const char *option,
    enum option_weight weight, const char *name, struct span value)
{
	option_set_add(out, option_table_named(option), weight,
	    xstrndup(value.p, value.n), xasprintf("environment %s", name),
	    xstrdup(name));
}

void
option_environment_ordinary(struct option_settings *out, char *const *variables)
{
	static const char *const known[][2] = {
		{ "SSL_CERT_FILE", "cacert" },
		{ "CURL_CA_BUNDLE", "cacert" },
		{ "SSL_CERT_DIR", "SSL_CERT_DIR" },
		{ "NODE_EXTRA_CA_CERTS", "NODE_EXTRA_CA_CERTS" },
		{ "BROWSER", "browser" },
		{ "NO_PROXY", "noproxy" },
		{ "no_proxy", "noproxy" },
	};
	const char *value;
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++) {
		value = option_environment_get(variables, known[i][0]);
		if (value != NULL)
			add_variable(out, known[i][1], WEIGHT_ORDINARY,
			    known[i][0], span_of(value));
	}
}

/* Adds a list from the environment: one item per line. */
static void
add_lines(struct option_settings *out, const char *option, const char *name,
    const char *value)
{
	struct span line;

	while (*value != '\0') {
		line = (struct span){ value, strcspn(value, "\n") };
		value += line.n + (value[line.n] == '\n');
		if (line.n > 0 && line.p[line.n - 1] == '\r')
			line.n--;
		if (line.n > 0)
			add_variable(out, option, WEIGHT_ENVIRONMENT, name,
			    line);
	}
}

void
option_environment_read(struct option_settings *out, char *const *variables)
{
	const struct option_row *row;
	const char *value;
	char *name;
	size_t i, n = variables == NULL ? 0 : option_table_rows;

	for (i = 0; i < n; i++) {
		row = &option_table[i];
		if ((row->flags & (OPTION_HIDDEN | OPTION_ARGV_ONLY)) != 0)
			continue;
		name = option_table_variable(row);
		value = option_environment_get(variables, name);
		if (value != NULL &&
		    (row->kind == OPTION_HEADER || row->kind == OPTION_LIST))
			add_lines(out, row->name, name, value);
		else if (value != NULL)
			add_variable(out, row->name, WEIGHT_ENVIRONMENT, name,
			    span_of(value));
		free(name);
	}
}
