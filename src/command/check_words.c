/* "mcpsplice check": what several parts need: the time that is left, and words
 * for people. */
#include "config.h"

#include <string.h>
#include <time.h>

#include "command/check_parts.h"

void
check_begin(struct check *c, int64_t ms)
{
	c->until_us = report_now_us() + ms * 1000;
}

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

/* Finds the value of "CN = x" or "CN=x" among parts with commas between. */
static struct span
part_of(const char *name, const char *key)
{
	const char *at = name;
	size_t n = strlen(key);

	while (at != NULL) {
		at += strspn(at, ", ");
		if (strncmp(at, key, n) == 0) {
			size_t blanks = strspn(at + n, " ");

			if (at[n + blanks] == '=') {
				at += n + blanks + 1;
				at += strspn(at, " ");
				n = *at == '"' ? 1 + strcspn(at + 1, "\"") :
						 strcspn(at, ",");
				return (struct span){ at, n };
			}
		}
		at = strchr(at, ',');
	}
	return (struct span){ NULL, 0 };
}

void
check_show_name(struct buf *out, const char *name)
{
	struct span part = part_of(name, "CN");

	if (part.n == 0)
		part = part_of(name, "O");
	if (part.n > 0 && *part.p == '"') {
		part.p++;
		part.n--;
	}
	buf_addspan(out, part.n > 0 ? part : span_of(name));
}

void
check_show_day(struct buf *out, int64_t at)
{
	time_t t = (time_t)at;
	char text[32] = "?";
	struct tm tm;

	if (gmtime_r(&t, &tm) != NULL)
		strftime(text, sizeof text, "%Y-%m-%d", &tm);
	buf_adds(out, text);
}
