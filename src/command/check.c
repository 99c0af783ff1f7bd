/* "mcpsplice check": one step after the other, until one fails that the next
 * ones need. */
#include "config.h"

#include "command/check_parts.h"
#include "core/wire/redact.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"

enum { ALL_MS = 27 * 1000 };

/* Returns the URL without what may be a secret, owned by the caller. */
static char *
shown_url(const char *url)
{
	struct buf b;

	buf_init(&b, 0);
	redact_path(&b, span_of(url), "...");
	return buf_take(&b);
}

static void
try_all(struct check *c)
{
	static const char *const rest[] = { "revision", "session",
		"listen stream", "tools", "prompts", "resources", "ping" };
	struct probe p = { .watched = true };
	bool goes_on;
	size_t i;

	goes_on = check_configuration(c);
	if (goes_on)
		goes_on = check_network(c, &p);
	else
		check_skip_network(c);
	if (goes_on)
		goes_on = check_sign_in(c, &p);
	else
		report_skip(c->report, "sign-in");
	probe_free(&p);
	if (goes_on)
		check_session(c);
	for (i = 0; !goes_on && i < sizeof rest / sizeof *rest; i++)
		report_skip(c->report, rest[i]);
}

int
command_check(const struct options *o, char **why)
{
	struct check c = { .options = o };

	account_log(o, LEVEL_ERROR);
	if (url_parse(&c.url, o->url) != URL_OK) {
		*why = xasprintf("\"%s\" is no URL", o->url);
		return 2;
	}
	if ((c.loop = account_loop(why)) == NULL) {
		url_free(&c.url);
		return 1;
	}
	c.shown = shown_url(o->url);
	c.report = report_new(o->json, c.shown);
	check_begin(&c, ALL_MS);
	try_all(&c);
	loop_free(c.loop);
	url_free(&c.url);
	free(c.shown);
	return report_close(c.report);
}
