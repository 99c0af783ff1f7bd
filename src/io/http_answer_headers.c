/* What the headers of an answer say, as Retry-After and by how much Date differs
 * from this machine's clock; and who sent it. */
#include "config.h"

#include "io/http_state.h"

#include <time.h>

/* Before the head, a used easy handle still has the headers of its last
 * answer. */
const char *
http_header(struct transfer *x, const char *name, size_t index)
{
	struct curl_header *header;

	if (x->status == 0 || (x->initials & initial_of(*name)) == 0 ||
	    curl_easy_header(x->easy, name, index, CURLH_HEADER, -1, &header) !=
		CURLHE_OK)
		return NULL;
	/* An old libcurl leaves the CR in an empty value. */
	return header->value[0] == '\r' ? "" : header->value;
}

int
http_headers_all(struct transfer *x, const char *name, struct buf *out)
{
	size_t before = out->n, i;
	const char *value;

	for (i = 0; (value = http_header(x, name, i)) != NULL; i++) {
		if ((i > 0 && buf_adds(out, ", ") != 0) ||
		    buf_adds(out, value) != 0) {
			out->n = before;
			return -1;
		}
	}
	return i == 0 ? -1 : 0;
}

const char *
http_peer(struct transfer *x)
{
	char *address = NULL;

	if (x->status == 0 || x->h->config.unix_socket != NULL)
		return NULL;
	curl_easy_getinfo(x->easy, CURLINFO_PRIMARY_IP, &address);
	return address == NULL || *address == '\0' ? NULL : address;
}

/* --- times; libcurl parses the dates --- */

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
