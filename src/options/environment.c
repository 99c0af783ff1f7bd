/* The environment as a source of options. */
#include "config.h"

#include <stdlib.h>

#include "options/set.h"

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
	option_set_add(out,
	    (struct option_setting){ .row = option_table_named(option),
		.weight = weight,
		.value = xstrndup(value.p, value.n),
		.from = xasprintf("environment %s", name),
		.label = xstrdup(name) });
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

void
option_environment_read(struct option_settings *out, char *const *variables)
{
	const struct option_row *row;
	struct span rest, value;
	char *name, end;

	for (row = option_table; row->name != NULL; row++) {
		if ((row->flags & (OPTION_HIDDEN | OPTION_ARGV_ONLY)) != 0)
			continue;
		name = option_table_variable(row);
		rest = span_of(option_environment_get(variables, name));
		end = option_is_list(row) ? '\n' : '\0';
		while (rest.n > 0) {
			value = span_take(&rest, end);
			if (end == '\n')
				value = span_trim(value, "\r");
			if (value.n > 0)
				add_variable(out, row->name, WEIGHT_ENVIRONMENT,
				    name, value);
		}
		free(name);
	}
}
