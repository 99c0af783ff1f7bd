/*
 * Applies settings: their values are checked here and written into the field
 * that the table names. A later setting of an option replaces an earlier one.
 * Lists grow, but a header removes those of the same name with less weight.
 * Invariant: o->origins has a row for each row of the table, and for a list one
 * origin for each item, in the same order.
 */
#include "config.h"

#include "options/set.h"

#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <strings.h>

#define WHOLE_MAX (INT64_MAX / 100000)

/* Reads digits and moves *s past them. A number beyond WHOLE_MAX becomes
 * WHOLE_MAX, which is out of any range, but still a number. */
static bool
whole(const char **s, int64_t *out)
{
	const char *start = *s;

	for (*out = 0; is_digit(**s); ++*s) {
		*out = *out * 10 + (**s - '0');
		if (*out > WHOLE_MAX)
			*out = WHOLE_MAX;
	}
	return *s > start;
}

/* Reads "10", "2.5" or ".5"; fractions of a millisecond are rounded up. */
static bool
option_parse_seconds(const char *s, int64_t *ms)
{
	int64_t n, unit = 1000;
	bool digits, rest = false;

	digits = whole(&s, &n);
	n *= 1000;
	if (*s == '.')
		for (s++; is_digit(*s); s++) {
			unit /= 10;
			n += unit * (*s - '0');
			rest = rest || (unit == 0 && *s != '0');
			digits = true;
		}
	*ms = n + rest;
	return digits && *s == '\0';
}

/* Reads digits; with units, K, M or G may follow. */
static bool
option_parse_number(const char *s, bool units, int64_t *out)
{
	static const char letters[] = "kmg";
	const char *unit;
	int64_t n;
	bool digits;
	int shift = 0;

	digits = whole(&s, &n);
	if (units && *s != '\0' && s[1] == '\0') {
		unit = strchr(letters, *s | 0x20);
		if (unit != NULL && *unit != '\0') {
			shift = 10 * (int)(unit - letters + 1);
			s++;
		}
	}
	*out = n > INT64_MAX >> shift ? INT64_MAX :
					(int64_t)((uint64_t)n << shift);
	return digits && *s == '\0';
}

/* Reads yes, no, true, false, on, off, 1, 0. */
static bool
option_parse_bool(const char *s, bool *out)
{
	static const char *const words[] = { "no", "yes", "false", "true",
		"off", "on", "0", "1" };
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcasecmp(s, words[i]) == 0) {
			*out = i % 2 == 1;
			return true;
		}
	return false;
}

/* Returns the index of value among words like "text|json", or -1. */
static int
option_parse_choice(const char *words, const char *value)
{
	struct span rest = span_of(words);
	int i;

	for (i = 0; rest.n > 0; i++)
		if (span_is(span_take(&rest, '|'), value))
			return i;
	return -1;
}

struct span
option_parse_word(const char *words, unsigned i)
{
	while (i-- > 0)
		words += strcspn(words, "|") + 1;
	return (struct span){ words, strcspn(words, "|") };
}

bool
option_matches(const char *text, const char *pattern, struct span *second)
{
	regmatch_t at[3];
	regex_t re;
	bool found;

	if (regcomp(&re, pattern, REG_EXTENDED) != 0)
		out_of_memory(); /* the pattern is ours */
	found = regexec(&re, text, 3, at, 0) == 0;
	regfree(&re);
	if (found && second != NULL)
		*second = (struct span){ text + at[2].rm_so,
			(size_t)(at[2].rm_eo - at[2].rm_so) };
	return found;
}

/* --- what a text has to be --- */

#define AT(field) offsetof(struct options, field)
#define PATH_MAX_BYTES 255

/* Case is ignored. Neither an empty text nor a blank may match. */
static char *
wrong_regex(const char *value)
{
	bool blank = value[0] == '\0'; /* some libraries refuse it */
	char words[256];
	regex_t re;
	int rc;

	if (!blank) {
		rc = regcomp(&re, value, REG_EXTENDED | REG_ICASE | REG_NOSUB);
		if (rc != 0) {
			regerror(rc, &re, words, sizeof words);
			return xasprintf(": \"%s\" is not a regular "
					 "expression: %s",
			    value, words);
		}
		/* the blank is for patterns such as "." */
		blank = regexec(&re, "", 0, NULL, 0) == 0 ||
		    regexec(&re, " ", 0, NULL, 0) == 0;
		regfree(&re);
	}
	return !blank ? NULL :
			xasprintf(": \"%s\" matches even blank text, so it "
				  "would match every answer",
			    value);
}

/* The path may have no characters that a browser would write in another way. */
static char *
wrong_callback_path(const char *value)
{
	size_t n = strlen(value);

	if (value[0] == '/' && n <= PATH_MAX_BYTES &&
	    strspn(value, ALNUM "._~-/") == n && strstr(value, "/.") == NULL &&
	    strstr(value, "//") == NULL)
		return NULL;
	return xasprintf(": \"%.80s\" is not a plain path such as /callback",
	    value);
}

bool
option_is_url(const char *text)
{
	struct url url;
	bool good = url_parse(&url, text) == URL_OK;

	if (good)
		url_free(&url);
	return good;
}

static char *
wrong_url(const char *value)
{
	return option_is_url(value) ?
	    NULL :
	    xstrdup(": not a URL such as https://auth.example.com/");
}

/* The URL of the document is the client's id, so its path must not be empty. */
static char *
wrong_document(const char *value)
{
	const char *path;
	struct url url;
	bool ok = false;

	if (url_parse(&url, value) == URL_OK) {
		path = strstr(url.text, "://") + 3;
		path += strcspn(path, "/?#");
		ok = strcmp(url.scheme, "https") == 0 && path[0] == '/' &&
		    path[1] != '\0' && path[1] != '?';
		url_free(&url);
	}
	return ok ? NULL :
		    xstrdup(": not an https URL with a path, such as "
			    "https://example.com/client.json");
}

/* A parameter that we set ourselves could not be told from it. */
static char *
wrong_param(const char *value)
{
	static const char *const ours[] = { "response_type", "response_mode",
		"client_id", "client_secret", "client_assertion",
		"client_assertion_type", "redirect_uri", "scope", "state",
		"code_challenge", "code_challenge_method", "code", "iss",
		"resource", "request", "request_uri" };
	const char *equals = strchr(value, '=');
	size_t i;

	if (equals == NULL || equals == value)
		return xstrdup(": write NAME=VALUE");
	if (value + strspn(value, ALNUM "-._~") < equals)
		return xstrdup(": the name may contain only letters, digits, "
			       "and -._~");
	for (i = 0; i < sizeof ours / sizeof ours[0]; i++)
		if (span_is_nocase((struct span){ value,
				       (size_t)(equals - value) },
			ours[i]))
			return xasprintf(": mcpsplice sets %s itself; remove "
					 "it",
			    ours[i]);
	return NULL;
}

/* No tool has such a name, so the pattern would hide nothing. */
static char *
wrong_tool(const char *value)
{
	const char *odd = strpbrk(value, ",|");

	if (odd == NULL && (*value == '\0' || strchr("\"'`", *value) == NULL))
		return NULL;
	return xasprintf(" \"%.80s\" contains a %s; give the option once for "
			 "each name, without quotes",
	    value,
	    odd == NULL     ? "quote" :
		*odd == ',' ? "comma" :
			      "\"|\"");
}

/* base/headers says what it can not replace. */
static char *
wrong_header(const char *value)
{
	struct span name = { value, strcspn(value, ":") };
	const char *token = mistype_token(value), *wrong = NULL;

	if (*value == '{' || *value == '[')
		return xstrdup(": this is JSON; write \"Name: value\"");
	if (*token == '\0')
		wrong = "is empty";
	else if (strstr(token, "${") == NULL)
		wrong = mistype_value(token);
	return wrong != NULL && option_table_names_secret(name) ?
	    xasprintf(": the token in %.*s %s%s", (int)name.n, name.p, wrong,
		strstr(wrong, "placeholder") != NULL ?
		    "; for a variable, write ${NAME}, with braces" :
		    "") :
	    NULL;
}

static bool
takes_variable(const struct option_row *row)
{
	return string_eq(row->arg, "VAR");
}

/* Texts of one form, and what is wrong with those of another. */
static const struct {
	size_t offset;
	const char *form, *wrong; /* {value} is a hole */
} forms[] = {
	{ AT(profile), "^[A-Za-z0-9._-]{0,64}$",
	    ": \"{value}\" is not a name; use up to 64 letters, digits, dots, "
	    "\"_\" and \"-\"" },
	{ AT(callback_host), "^(127\\.0\\.0\\.1|localhost|0\\.0\\.0\\.0)$",
	    ": \"{value}\" is not 127.0.0.1, localhost or 0.0.0.0: the browser "
	    "has to come back to this machine" },
	{ AT(auth_store), "^(file|helper:[ \t]*[^ \t].*)$",
	    ": \"{value}\" is neither \"file\" nor \"helper:CMD\"" },
	{ AT(resource), "^[!\"$-~]*$",
	    ": not a URI, or it contains a space or \"#\"" },
	/* what libcurl takes, which also has "-" and "+" in front */
	{ AT(resolve),
	    "^(-.+:[0-9]+|[+]?(\\[[^]]*\\]|[^:]+):[0-9]+:"
	    "(([0-9]{1,3}\\.){3}[0-9]{1,3}|\\[?[0-9A-Fa-f.:]*:"
	    "[0-9A-Fa-f.:]*\\]?|,)+)$",
	    ": \"{value}\" is not HOST:PORT:ADDRESS" },
	{ AT(proxy_user), ":", ": write USER:PASSWORD" },
	/* RFC 6749 3.3, and its appendix A.1 */
	{ AT(scope), "^[]-~ !#-[]*$",
	    ": not a list of scopes separated by spaces" },
	{ AT(client_id), "^[ -~]*$",
	    ": it contains bytes other than printable ASCII" },
};

static bool
add_shown(struct buf *out, struct span name, const void *value)
{
	(void)name;
	return buf_addf(out, "%.80s", (const char *)value) == 0;
}

static char *
wrong_form(const struct option_row *row, const char *value)
{
	struct buf wrong = { 0 };
	size_t i = 0;

	while (i < sizeof forms / sizeof *forms &&
	    row->offset != forms[i].offset)
		i++;
	if (i == sizeof forms / sizeof *forms ||
	    option_matches(value, forms[i].form, NULL))
		return NULL;
	buf_fill(&wrong, forms[i].wrong, add_shown, value);
	return buf_take(&wrong);
}

/* Returns NULL if the value is valid for this row; else an error to append to
 * the option's name, owned by the caller. */
static char *
option_value_wrong(const struct option_row *row, const char *value)
{
	static const struct {
		size_t offset;
		char *(*wrong)(const char *value);
	} rules[] = {
		{ AT(session_lost_patterns), wrong_regex },
		{ AT(proxy), option_bad_proxy },
		{ AT(ignore_tools), wrong_tool },
		{ AT(only_tools), wrong_tool },
		{ AT(callback_path), wrong_callback_path },
		{ AT(issuer), wrong_url },
		{ AT(idp), wrong_url },
		{ AT(token_endpoint), wrong_url },
		{ AT(client_metadata_url), wrong_document },
		{ AT(authorize_params), wrong_param },
	};
	size_t i;

	for (i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (row->offset == rules[i].offset)
			return rules[i].wrong(value);
	if (row->kind == OPTION_HEADER && *value != '@')
		return wrong_header(value);
	if (takes_variable(row) &&
	    (value[strspn(value, ALNUM "_")] != '\0' || is_digit(*value)))
		return xstrdup(" takes the NAME of a variable, not the token");
	return wrong_form(row, value);
}

/* --- settings --- */

void
option_set_add(struct option_settings *all, struct option_setting s)
{
	all->list = xgrow(all->list, all->n, sizeof *all->list);
	all->list[all->n++] = s;
}

void
option_set_free(struct option_settings *all)
{
	struct option_setting *s;
	size_t i;

	for (i = 0; i < all->n; i++) {
		s = &all->list[i];
		string_wipe(&s->value);
		free(s->from);
		free(s->label);
		free(s->section);
	}
	free(all->list);
	*all = (struct option_settings){ 0 };
}

static void
origin_add(struct option_origin *origin, const struct option_setting *s)
{
	struct option_from *f;

	origin->from = xgrow(origin->from, origin->n, sizeof *origin->from);
	f = &origin->from[origin->n++];
	f->text = xstrdup(s->from);
	f->weight = s->weight;
}

static int
apply_number(void *field, const struct option_setting *s, const char *value,
    char **why)
{
	const struct option_row *row = option_table_main(s->row);
	bool time = row->kind == OPTION_SECONDS;
	bool size = row->kind == OPTION_SIZE;
	int64_t n, unit = time ? 1000 : 1;

	if (time ? !option_parse_seconds(value, &n) :
		   !option_parse_number(value, size, &n))
		return fail_why(why, "%s: \"%s\" is not a %s", s->label, value,
		    time     ? "number of seconds such as 10 or 2.5" :
			size ? "size such as 64K or 10M" :
			       "number");
	if (n > row->max || (n < row->min && !(time && n == 0)))
		return fail_why(why,
		    "%s: %s is out of range, %" PRId64 " to %" PRId64 "%s",
		    s->label, s->value, row->min / unit, row->max / unit,
		    time && row->min > 0 ? ", or 0 for never" : "");
	if (time)
		*(int64_t *)field = n;
	else if (size)
		*(size_t *)field = (size_t)n;
	else
		*(unsigned *)field = (unsigned)n;
	return 0;
}

static int
apply_choice(struct options *o, void *field, const struct option_setting *s,
    const char *value, char **why)
{
	int i = option_parse_choice(s->row->arg, value);
	bool transport = s->row->kind == OPTION_TRANSPORT;

	if (i < 0 && transport)
		i = option_parse_choice(option_transport_words, value);
	/* streamable-http, streamableHttp and so on: MCP's own name */
	if (i < 0 && transport && strncasecmp(value, "streamable", 10) == 0)
		i = TRANSPORT_HTTP;
	/* mcp-remote ignores what it does not know, and people have that */
	if (i < 0 && transport && s->behind) {
		strings_add(&o->warnings,
		    xasprintf("%s: \"%.60s\" is not one of %s; using auto",
			s->label, value, s->row->arg));
		i = TRANSPORT_AUTO;
	}
	if (i < 0)
		return fail_why(why, "%s: \"%s\" is not one of %s%s", s->label,
		    value, s->row->arg,
		    strcmp(value, "stdio") == 0 ?
			"; mcpsplice itself is the stdio side" :
			"");
	/* an enum without negative values is an unsigned */
	*(unsigned *)field = (unsigned)i;
	return 0;
}

static int
apply_switch(bool *field, const struct option_setting *s, char **why)
{
	bool on = true;

	if (s->value != NULL && !option_parse_bool(s->value, &on))
		return fail_why(why, "%s: \"%s\" is not yes or no", s->label,
		    s->value);
	*field = on != s->off;
	return 0;
}

static int
apply_fail(enum fail *field, const struct option_setting *s, char **why)
{
	bool any = !s->off && string_eq(s->value, "any"), on = true;

	if (!any && s->value != NULL && !option_parse_bool(s->value, &on))
		return fail_why(why, "%s: \"%s\" is not yes, no or \"any\"",
		    s->label, s->value);
	*field = any ? FAIL_ANY : on != s->off ? FAIL_OWN : FAIL_NEVER;
	return 0;
}

/* Applies the value for which a switch stands, or the default. */
static int
apply_fixed(struct options *o, const struct option_setting *s, char **why)
{
	struct option_setting value = *s;
	bool on = false;
	int rc;

	if (apply_switch(&on, s, why) < 0)
		return -1;
	value.row = option_table_main(s->row);
	value.value = xstrdup(on          ? strchr(s->row->as, '=') + 1 :
		value.row->preset != NULL ? value.row->preset :
					    "0");
	value.off = false;
	rc = option_set_apply(o, &value, why);
	free(value.value);
	return rc;
}

/* Counts within one source; a source with more weight starts again at 0. */
static int
apply_count(int *field, const struct option_setting *s,
    const struct option_origin *origin, char **why)
{
	bool on;

	if (origin->n == 0 || origin->from[0].weight < s->weight || s->off)
		*field = 0;
	if (s->off)
		return 0;
	if (s->value == NULL) {
		++*field;
	} else if (is_digit(s->value[0]) && s->value[1] == '\0') {
		*field = s->value[0] - '0';
	} else if (option_parse_bool(s->value, &on)) {
		*field = on;
	} else {
		return fail_why(why, "%s: \"%s\" is not a number from 0 to 9",
		    s->label, s->value);
	}
	return 0;
}

/* Does the value break a rule for its option? Returns 0, or -1 with *why. */
static int
check_value(const struct option_setting *s, const char *value, char **why)
{
	char *wrong = option_value_wrong(s->row, value);

	/* in a command, JSON or a password it may be meant */
	if (wrong == NULL && s->row->kind == OPTION_STRING &&
	    s->row->arg != NULL &&
	    (s->row->flags & (OPTION_SECRET | OPTION_HIDDEN)) == 0 &&
	    strstr(s->row->arg, "CMD") == NULL && strstr(value, "${") != NULL)
		wrong = xasprintf(" %s", mistype_value(value));
	if (wrong == NULL)
		return 0;
	*why = xasprintf("%s%s", s->label, wrong);
	free(wrong);
	return -1;
}

static int
apply_string(char **field, const struct option_setting *s, const char *value,
    char **why)
{
	/* the presets are right, and regexec may have no memory to say so */
	if (value != NULL && s->weight != WEIGHT_DEFAULT &&
	    check_value(s, value, why) < 0)
		return -1;
	string_set(field, value);
	return 0;
}

static void
list_drop(struct strings *list, struct option_origin *origin, size_t at)
{
	string_wipe(&list->list[at]);
	free(origin->from[at].text);
	list->n--;
	origin->n--;
	memmove(&list->list[at], &list->list[at + 1],
	    (list->n - at + 1) * sizeof *list->list);
	memmove(&origin->from[at], &origin->from[at + 1],
	    (origin->n - at) * sizeof *origin->from);
}

/* Removes headers with the name of line and less weight, which are in front. */
static void
drop_lighter(struct strings *list, struct option_origin *origin,
    const char *line, enum option_weight weight)
{
	size_t n = strcspn(line, ": \t"), i = 0;

	while (line[0] != '@' && i < list->n &&
	    origin->from[i].weight < weight) {
		if (strncasecmp(list->list[i], line, n) == 0 &&
		    strcspn(list->list[i], ": \t") == n)
			list_drop(list, origin, i);
		else
			i++;
	}
}

static int
apply_item(struct strings *list, struct option_origin *origin,
    const struct option_setting *s, char **why)
{
	char *item;

	if (check_value(s, s->value, why) < 0)
		return -1;
	if (s->value[0] == '\0')
		return fail_why(why, "%s: the value is empty", s->label);
	/* never quoted, because it may be half of a secret */
	if (s->row->kind == OPTION_HEADER && s->value[0] != '@' &&
	    strchr(s->value, ':') == NULL)
		return fail_why(why,
		    "%s: no colon; write \"Name: value\" or @FILE", s->label);
	if (s->row->kind == OPTION_HEADER_FILE)
		item = xasprintf("@%s", s->value);
	else if (s->row->kind == OPTION_BEARER)
		item = xasprintf("Authorization: Bearer %s", s->value);
	else
		item = xstrdup(s->value);
	if (s->row->kind != OPTION_LIST)
		drop_lighter(list, origin, item, s->weight);
	strings_add(list, item);
	origin_add(origin, s);
	return 0;
}

/* Returns the value to use: an empty one means the default, which is NULL for a
 * string. */
static const char *
effective(const struct option_setting *s)
{
	if (s->value != NULL && s->value[0] == '\0' &&
	    (s->row->flags & OPTION_KEEPS_EMPTY) == 0)
		return option_table_main(s->row)->preset;
	return s->value;
}

int
option_set_apply(struct options *o, const struct option_setting *s, char **why)
{
	struct option_origin
	    *origin = &o->origins[option_table_main(s->row) - option_table];
	void *field = (char *)o + s->row->offset;
	int rc = 0;

	switch (s->row->kind) {
	case OPTION_HEADER:
	case OPTION_HEADER_FILE:
	case OPTION_BEARER:
	case OPTION_LIST:
		return apply_item(field, origin, s, why);
	case OPTION_FIXED:
		return apply_fixed(o, s, why);
	case OPTION_NOTED:
		strings_add(&o->notes,
		    xasprintf("%s %s", s->label, s->row->help));
		return 0;
	case OPTION_CONFIG:
		return 0;
	case OPTION_STRING:
		rc = apply_string(field, s, effective(s), why);
		break;
	case OPTION_SECONDS:
	case OPTION_SIZE:
	case OPTION_UINT:
		rc = apply_number(field, s, effective(s), why);
		break;
	case OPTION_CHOICE:
	case OPTION_TRANSPORT:
		rc = apply_choice(o, field, s, effective(s), why);
		break;
	case OPTION_SWITCH:
		rc = apply_switch(field, s, why);
		break;
	case OPTION_FAIL:
		rc = apply_fail(field, s, why);
		break;
	case OPTION_COUNT:
		rc = apply_count(field, s, origin, why);
		break;
	}
	if (rc != 0)
		return rc;
	while (origin->n > 0)
		free(origin->from[--origin->n].text);
	origin_add(origin, s);
	return 0;
}

void
option_set_defaults(struct options *o)
{
	char from[] = "default", *why = NULL;
	struct option_setting s = {
		.row = option_table, .from = from, .label = from
	};

	o->origins = xcalloc(option_table_rows, sizeof *o->origins);
	strings_add(&o->notes, NULL);
	strings_add(&o->warnings, NULL);
	for (; s.row->name != NULL; s.row++) {
		if (option_is_list(s.row))
			strings_add((void *)((char *)o + s.row->offset), NULL);
		if (s.row->preset == NULL)
			continue;
		s.value = xstrdup(s.row->preset);
		if (option_set_apply(o, &s, &why) < 0)
			abort(); /* the table itself is wrong */
		free(s.value);
	}
}

const char *
option_named_variable(const struct options *o, const struct option_row *row)
{
	return takes_variable(row) ? *(char *const *)option_field(o, row) :
				     NULL;
}

bool
options_given(const struct options *o, const char *name)
{
	const struct option_row *row = option_table_named(name);
	const struct option_origin *origin = &o->origins[row - option_table];

	return origin->n > 0 && origin->from[0].weight > WEIGHT_ORDINARY;
}

char *
options_set_by(const struct options *o, const char *name)
{
	static const char variable[] = "environment ";
	const struct option_row *row = option_table_named(name);
	const struct option_origin *origin = &o->origins[row - option_table];
	const struct option_from *from = origin->from;
	size_t n = strlen(variable);

	if (origin->n == 0 || from->weight == WEIGHT_ARGV ||
	    from->weight == WEIGHT_DEFAULT)
		return xasprintf("--%s", name);
	if (strncmp(from->text, variable, n) == 0)
		return xstrdup(from->text + n);
	return xasprintf("%s in %s", name, from->text);
}
