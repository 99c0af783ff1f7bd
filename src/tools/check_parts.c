/* "mcpsplice check": the time that is left, the steps that are not tried, and
 * what more than one part says or asks. */
#include "config.h"

#include "tools/check_parts.h"

#include <string.h>

int64_t
check_time(const struct check *c, int64_t ms)
{
	int64_t left = (c->until_us - report_now_us()) / 1000;

	return left < 1 ? 1 : left < ms ? left : ms;
}

void
check_add_login(struct buf *out, const struct check *c)
{
	bool whole = strcmp(c->shown, c->options->url) == 0;

	buf_addf(out, "run \"mcpsplice login %s\" with the same options",
	    whole ? c->shown : "URL");
}

bool
check_secure(const struct check *c)
{
	return strcmp(c->url.scheme, "https") == 0;
}

void
check_skip(struct check *c, const char *first)
{
	static const char *const steps[] = { "name", "connect", "TLS",
		"sign-in", "revision", "session", "listen stream", "tools",
		"prompts", "resources", "ping" };
	size_t i;
	bool on = false;

	for (i = 0; i < sizeof steps / sizeof *steps; i++) {
		on = on || strcmp(steps[i], first) == 0;
		if (on && (strcmp(steps[i], "TLS") != 0 || check_secure(c)))
			report_skip(c->report, steps[i]);
	}
}
