/* What is known about the way to the server: times, addresses, certificates. */
#include "config.h"

#include "io/http_state.h"

#include <stdio.h>
#include <stdlib.h>

/* libcurl has no question for the version of TLS that is the same with each TLS
 * library, but it says it in words: "SSL connection using TLSv1.3 / ...". */
void
http_way_heard(struct transfer *x, const char *words)
{
	static const char by[] = "SSL connection using ";
	const char *version = words + sizeof by - 1;

	if (x->notes != NULL && strncmp(words, by, sizeof by - 1) == 0)
		snprintf(x->notes->tls, sizeof x->notes->tls, "%.*s",
		    (int)strcspn(version, " \n"), version);
}

void
http_way_set(struct transfer *x)
{
	x->notes = xcalloc(1, sizeof *x->notes);
	buf_init(&x->notes->tried, 0);
	SET(x, CURLOPT_VERBOSE, 1L);
	SET(x, CURLOPT_CERTINFO, 1L);
	if (!x->h->config.only_looks)
		return;
	SET(x, CURLOPT_CONNECT_ONLY, 1L);
	SET(x, CURLOPT_SSL_VERIFYPEER, 0L);
	SET(x, CURLOPT_SSL_VERIFYHOST, 0L);
}

void
http_way_tried(struct transfer *x, const struct sockaddr *sa, unsigned sa_bytes)
{
	char text[256];

	if (x->notes == NULL || os_address_is_unix(sa) ||
	    os_address_text(text, sizeof text, sa, sa_bytes) != 0)
		return;
	buf_adds(&x->notes->tried, x->notes->tried.n > 0 ? ", " : "");
	buf_adds(&x->notes->tried, text);
}

/* libcurl reports the time of a connection only if TLS has worked, too. */
void
http_way_closed(struct http *h, int fd)
{
	struct os_address peer;

	if ((h->config.watched || h->config.only_looks) &&
	    os_socket_peer(fd, &peer))
		h->connected = true;
}

void
http_way_forget(struct way_notes *n)
{
	if (n != NULL)
		buf_free(&n->tried);
	free(n);
}

/* --- what is told --- */

/* Takes one line of what libcurl says of a certificate: "Name:value". */
static void
take_line(struct http_certificate *c, const char *line)
{
	const char *value = strchr(line, ':');
	struct span name;

	if (value == NULL)
		return;
	name = (struct span){ line, (size_t)(value++ - line) };
	if (span_is(name, "Subject") && c->subject == NULL)
		c->subject = xstrdup(value);
	else if (span_is(name, "Issuer") && c->issuer == NULL)
		c->issuer = xstrdup(value);
	else if (span_is(name, "X509v3 Subject Alternative Name") &&
	    c->names == NULL)
		c->names = xstrdup(value);
	else if (span_is(name, "Cert") && c->pem == NULL)
		c->pem = xstrdup(value);
	else if (span_is(name, "Start date"))
		c->from = (int64_t)curl_getdate(value, NULL);
	else if (span_is(name, "Expire date"))
		c->until = (int64_t)curl_getdate(value, NULL);
}

static void
take_chain(struct transfer *x, struct http_way *w)
{
	struct curl_certinfo *info = NULL;
	const struct curl_slist *line;
	size_t i;

	if (curl_easy_getinfo(x->easy, CURLINFO_CERTINFO, &info) != CURLE_OK ||
	    info == NULL || info->num_of_certs <= 0)
		return;
	w->n = (size_t)info->num_of_certs;
	w->chain = xcalloc(w->n, sizeof *w->chain);
	for (i = 0; i < w->n; i++)
		for (line = info->certinfo[i]; line != NULL; line = line->next)
			take_line(&w->chain[i], line->data);
}

static int64_t
microseconds(struct transfer *x, CURLINFO what)
{
	curl_off_t us = 0;

	curl_easy_getinfo(x->easy, what, &us);
	return us;
}

void
http_way(struct transfer *x, struct http_way *w)
{
	char *address = NULL;

	memset(w, 0, sizeof *w);
	w->proxied = x->proxied;
	w->name_us = microseconds(x, CURLINFO_NAMELOOKUP_TIME_T);
	w->connect_us = microseconds(x, CURLINFO_CONNECT_TIME_T);
	w->tls_us = microseconds(x, CURLINFO_APPCONNECT_TIME_T);
	w->connected = w->connect_us > 0 || x->h->connected;
	w->total_us = microseconds(x, CURLINFO_TOTAL_TIME_T);
	curl_easy_getinfo(x->easy, CURLINFO_PRIMARY_IP, &address);
	if (address != NULL && *address != '\0')
		w->address = xstrdup(address);
	if (x->notes == NULL)
		return;
	if (x->notes->tried.n > 0)
		w->tried = xstrdup(buf_str(&x->notes->tried));
	if (x->notes->tls[0] != '\0')
		w->tls = xstrdup(x->notes->tls);
	take_chain(x, w);
}

void
http_way_free(struct http_way *w)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		free(w->chain[i].subject);
		free(w->chain[i].issuer);
		free(w->chain[i].names);
		free(w->chain[i].pem);
	}
	free(w->chain);
	free(w->address);
	free(w->tried);
	free(w->tls);
	memset(w, 0, sizeof *w);
}
