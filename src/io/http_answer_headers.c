/* What the headers of an answer say, and who sent it. */
#include "config.h"

#include "io/http_state.h"

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
