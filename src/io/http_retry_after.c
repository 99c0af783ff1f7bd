/* What an answer says of times: Retry-After, and by how much Date differs from
 * this machine's clock. libcurl parses the dates. */
#include "config.h"

#include "io/http_state.h"

#include <time.h>

/* Returns the date that this header of the answer has, in s since 1970; -1: it
 * has none. */
static int64_t
date_of(struct transfer *x, const char *name)
{
	const char *date = http_header(x, name, 0);

	return date == NULL ? -1 : (int64_t)curl_getdate(date, NULL);
}

int64_t
http_clock_ahead(struct transfer *x)
{
	int64_t then = date_of(x, "Date");

	return then < 0 ? 0 : (int64_t)time(NULL) - then;
}

int64_t
http_retry_after(struct transfer *x, int64_t most_ms)
{
	const char *value = http_header(x, "Retry-After", 0);
	int64_t s, now;

	if (value == NULL)
		return -1;
	if (is_digit(*value)) {
		s = span_number(span_of(value));
	} else if ((s = date_of(x, "Retry-After")) >= 0) {
		now = date_of(x, "Date");
		s -= now < 0 ? (int64_t)time(NULL) : now;
		if (s < 0)
			s = 0;
	}
	return s < 0 || s > most_ms / 1000 ? -1 : s * 1000;
}
