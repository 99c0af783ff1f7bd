/* "mcpsplice check": where the options come from. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/append.h"
#include "base/codec.h"
#include "options/network.h"
#include "options/set.h"
#include "proxy/proxy.h"
#include "tools/check.h"

/* Options that come from one place. */
struct place {
	char *from;
	struct buf names;
};

struct places {
	struct place *list;
	size_t n;
	size_t options;
	struct buf json;
};

static void
add_origin(const char *name, const char *from, void *arg)
{
	struct places *p = arg;
	size_t i, n = strlen(from);
	struct place *at;

	/* "FILE:LINE": all lines of a file are one place */
	while (n > 0 && from[n - 1] >= '0' && from[n - 1] <= '9')
		n--;
	n = n > 0 && from[n - 1] == ':' ? n - 1 : strlen(from);
	for (i = 0; i < p->n; i++)
		if (strlen(p->list[i].from) == n &&
		    strncmp(p->list[i].from, from, n) == 0)
			break;
	if (i == p->n) {
		p->list = xrealloc(p->list, ++p->n * sizeof *p->list);
		p->list[i].from = xstrndup(from, n);
		buf_init(&p->list[i].names, 0);
	}
	at = &p->list[i];
	/* a variable of other programs has no option */
	buf_addf(&at->names, "%s%s%s", at->names.n > 0 ? ", " : "",
	    name[0] >= 'A' && name[0] <= 'Z' ? "" : "--", name);
	buf_addf(&p->json,
	    "%s{\"option\":\"%s\",\"from\":", p->options++ > 0 ? "," : "",
	    name);
	codec_json_string(&p->json, span_of(from));
	buf_adds(&p->json, "}");
}

static void
add_strings(struct report *r, const char *name, const struct strings *list)
{
	struct buf json;
	size_t i;

	buf_init(&json, 0);
	for (i = 0; i < list->n; i++) {
		buf_adds(&json, i > 0 ? "," : "[");
		codec_json_string(&json, span_of(list->list[i]));
	}
	buf_adds(&json, list->n > 0 ? "]" : "[]");
	report_raw(r, name, buf_span(&json));
	buf_free(&json);
}

/* Opens a file as a start does, which goes on without it. */
static void
try_file(struct strings *faults, const char *option, const char *path, bool own)
{
	struct append a;

	if (path == NULL)
		return;
	if (append_open(&a, path, INT64_MAX, own) != 0)
		strings_add(faults,
		    xasprintf("%s %s cannot be opened: %s", option, path,
			strerror(errno)));
	append_close(&a);
}

/* Does not open the file: a pipe can be read once only. */
static void
try_read(struct strings *faults, const char *option, const char *path)
{
	if (path != NULL && access(path, R_OK) != 0)
		strings_add(faults,
		    xasprintf("%s %s cannot be read: %s", option, path,
			strerror(errno)));
}

/* Finds what stops no start, and is wrong all the same. */
static void
find_faults(struct strings *faults, const struct options *o)
{
	size_t i;

	for (i = 0; i < o->warnings.n; i++)
		strings_add(faults, xstrdup(o->warnings.list[i]));
	try_file(faults, "--log-file", o->log_file, false);
	try_file(faults, "--trace", o->trace, true);
	try_read(faults, "--client-secret-file", o->client_secret_file);
	try_read(faults, "--client-key", o->client_key);
	try_read(faults, "--assertion-file", o->assertion_file);
	try_read(faults, "--idp-client-secret-file", o->idp_client_secret_file);
	try_read(faults, "--idp-key", o->idp_key);
	try_read(faults, "--idp-token-file", o->idp_token_file);
	strings_add(faults, network_extra_why(o));
}

bool
check_configuration(struct check *c)
{
	const struct options *o = c->options;
	struct report *r = c->report;
	struct strings faults = { 0 };
	struct places p = { 0 };
	char *why = NULL;
	bool good = proxy_check(o, &why) == 0;
	struct buf text;
	size_t i;

	report_told(r, "configuration", -1);
	buf_init(&text, 0);
	buf_init(&p.json, 0);
	buf_adds(&p.json, "[");
	options_origins(o, add_origin, &p);
	buf_adds(&p.json, "]");
	report_raw(r, "options", buf_span(&p.json));
	add_strings(r, "ignored", &o->notes);
	find_faults(&faults, o);
	add_strings(r, "warnings", &faults);
	if (p.n == 0)
		buf_adds(&text, "all options have their defaults");
	for (i = 0; i < p.n; i++) {
		buf_addf(&text, "%s%s (%s)", i > 0 ? "; " : "",
		    buf_str(&p.list[i].names), p.list[i].from);
		free(p.list[i].from);
		buf_free(&p.list[i].names);
	}
	for (i = 0; i < o->notes.n; i++)
		buf_addf(&text, "; ignored: %s", o->notes.list[i]);
	for (i = 0; i < faults.n; i++)
		buf_addf(&text, "; %s", faults.list[i]);
	if (good)
		report_end(r, faults.n > 0 ? STEP_WARNING : STEP_OK, "%s",
		    buf_str(&text));
	else
		report_end(r, STEP_FAILED, "%s", why);
	if (!good)
		check_skip(c, "name");
	free(why);
	strings_free(&faults);
	free(p.list);
	buf_free(&p.json);
	buf_free(&text);
	return good;
}
