/* "mcpsplice check": one step after the other, until one fails that the next
 * ones need. */
#include "config.h"

#include "tools/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/redact.h"
#include "tools/command.h"

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
	struct probe p = { .watched = true };

	if (check_configuration(c) && check_network(c, &p) &&
	    check_sign_in(c, &p))
		check_session(c);
	probe_free(&p);
}

int
command_check(const struct options *o, char **why)
{
	struct check c = { .options = o };
	int status;

	setup_log(o, LEVEL_ERROR);
	if (url_parse(&c.url, o->url) != URL_OK) {
		*why = xasprintf("\"%s\" is no URL", o->url);
		return 2;
	}
	if ((c.loop = setup_loop(why)) == NULL) {
		url_free(&c.url);
		return 1;
	}
	if (o->save_certificate != NULL) {
		status = check_save_certificate(&c, o->save_certificate, why);
		loop_free(c.loop);
		url_free(&c.url);
		return status != 0;
	}
	c.shown = shown_url(o->url);
	c.report = report_new(o->json, c.shown);
	c.until_us = report_now_us() + ALL_MS * INT64_C(1000);
	try_all(&c);
	loop_free(c.loop);
	url_free(&c.url);
	free(c.shown);
	status = report_close(c.report);
	if (status != 0 && o->hint != NULL && !o->json)
		printf("Hint: %s\n", o->hint);
	return status;
}
