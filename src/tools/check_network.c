/* "mcpsplice check": the way to the server, as one request without credentials
 * finds it. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/codec.h"
#include "io/user_file.h"
#include "os/file.h"
#include "proxy/cache/profile.h"
#include "tools/check.h"

enum {
	PROBE_MS = 10 * 1000,
	LOOK_MS = 4 * 1000,
	DAY_S = 24 * 3600,
	SOON_DAYS = 14
};

/* --- where it ends --- */

enum place { PLACE_NAME, PLACE_PROXY, PLACE_CONNECT, PLACE_TLS, PLACE_ANSWER };

/* What comes next on a way that ended so early? */
static enum place
next_of(const struct check *c, const struct http_way *w)
{
	if (w->connected)
		return check_secure(c) && w->tls_us == 0 ? PLACE_TLS :
							   PLACE_ANSWER;
	if (w->proxied)
		return PLACE_PROXY;
	return w->name_us == 0 && c->options->unix_socket == NULL ?
	    PLACE_NAME :
	    PLACE_CONNECT;
}

static enum place
place_of(const struct check *c, const struct probe *p)
{
	const struct http_way *w = &p->way;

	switch (p->end) {
	case HTTP_PROXY:
		return PLACE_PROXY;
	case HTTP_TLS:
		return PLACE_TLS;
	case HTTP_RESOLVE:
		return w->proxied ? PLACE_PROXY : PLACE_NAME;
	case HTTP_CONFIG:
		/* once there is a socket, only TLS has settings */
		return w->tried != NULL && check_secure(c) ? PLACE_TLS :
							     next_of(c, w);
	case HTTP_CONNECT:
		return w->connected || w->proxied ? next_of(c, w) :
						    PLACE_CONNECT;
	default:
		return next_of(c, w);
	}
}

/* --- the lines --- */

/* The step fails with the words of a start. */
static void
fail(struct check *c, const char *name, const struct http_way *w,
    int64_t since_us, const char *why)
{
	bool named = w->tried != NULL && strstr(c->url.host, w->tried) == NULL;

	report_told(c->report, name, w->total_us - since_us);
	report_text(c->report, "tried", w->tried);
	report_end(c->report, STEP_FAILED, named ? "%s It tried %s." : "%s",
	    why, w->tried);
}

static void
tell_name(struct check *c, const struct http_way *w)
{
	struct report *r = c->report;
	const char *address = w->address != NULL ? w->address : w->tried;

	report_told(r, "name", w->name_us);
	report_text(r, "host", c->url.host);
	report_text(r, "address", address);
	report_end(r, STEP_OK, "%s %s%s", c->url.host,
	    address == NULL ? "has " : "is ",
	    address == NULL || strstr(c->url.host, address) != NULL ?
		"an address" :
		address);
}

/* Tells of the proxy that was used, or failed; or that there is one which is
 * not. */
static void
tell_proxy(struct check *c, const struct http_way *w, const char *why)
{
	struct report *r = c->report;
	char *from = NULL;
	char *proxy = network_proxy(c->options, check_secure(c), &from);
	bool used = w->proxied || why != NULL;

	if (!used && proxy == NULL)
		return;
	report_told(r, "proxy",
	    why != NULL    ? w->total_us :
		w->proxied ? w->connect_us :
			     -1);
	report_text(r, "proxy", used ? proxy : NULL);
	report_text(r, "from", from);
	if (why != NULL) {
		report_end(r, STEP_FAILED, "%s", why);
	} else if (used) {
		report_text(r, "address", w->address);
		report_end(r, STEP_OK, "%s, from %s",
		    proxy != NULL ? proxy : "a proxy",
		    from != NULL ? from : "libcurl");
	} else {
		report_end(r, STEP_OK,
		    "%s names one, but this host bypasses it (--noproxy, "
		    "NO_PROXY, or this machine itself)",
		    from);
	}
	free(proxy);
	free(from);
}

static void
tell_connect(struct check *c, const struct http_way *w)
{
	struct report *r = c->report;

	report_told(r, "connect",
	    w->connect_us > 0 ? w->connect_us - w->name_us : -1);
	report_text(r, "address", w->address);
	report_text(r, "port", c->url.port);
	if (c->options->unix_socket != NULL)
		report_end(r, STEP_OK, "the socket %s accepts connections",
		    c->options->unix_socket);
	else
		report_end(r, STEP_OK, "%s port %s accepts connections",
		    w->address != NULL ? w->address : c->url.host, c->url.port);
}

/* --- certificates --- */

/* Finds the value of "CN = x" or "CN=x" among parts with commas between. */
static struct span
part_of(const char *name, const char *key)
{
	const char *at = name;
	size_t n = strlen(key);

	for (; at != NULL; at = strchr(at, ',')) {
		at += strspn(at, ", ");
		if (strncmp(at, key, n) != 0 ||
		    at[n + strspn(at + n, " ")] != '=')
			continue;
		at += n + strspn(at + n, " ") + 1;
		at += strspn(at, " ");
		n = *at == '"' ? 1 + strcspn(at + 1, "\"") : strcspn(at, ",");
		return (struct span){ at, n };
	}
	return no_span;
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

/* Is so little left of its life that somebody has forgotten it? What renews
 * itself does so when a third is left; others get two weeks. */
static bool
is_late(const struct http_certificate *cert)
{
	int64_t left = cert->until - (int64_t)time(NULL);

	return cert->until > 0 && left < SOON_DAYS * DAY_S &&
	    left < (cert->until - cert->from) / 3;
}

static void
add_text(struct buf *json, const char *name, const char *value)
{
	buf_adds(json, name);
	codec_json_string(json, span_of(value));
}

/* Appends its first and its last day, with words before each. */
static void
add_life(struct buf *out, const struct http_certificate *cert, const char *from,
    const char *until)
{
	buf_adds(out, from);
	check_show_day(out, cert->from);
	buf_adds(out, until);
	check_show_day(out, cert->until);
}

/* Adds the chain to the JSON, and returns when the first of it expires, 0 if
 * that is not known. Sets *late if one has to be renewed. */
static int64_t
add_chain(struct report *r, const struct http_way *w, bool *late)
{
	const struct http_certificate *cert;
	struct buf json = { 0 };
	int64_t first = 0;
	size_t i;

	for (i = 0; i < w->n; i++) {
		cert = &w->chain[i];
		*late = *late || is_late(cert);
		if (cert->until > 0 && (first == 0 || cert->until < first))
			first = cert->until;
		add_text(&json,
		    i > 0 ? ",{\"subject\":" : "[{\"subject\":", cert->subject);
		add_text(&json, ",\"issuer\":", cert->issuer);
		add_text(&json, ",\"names\":", cert->names);
		add_life(&json, cert, ",\"from\":\"", "\",\"until\":\"");
		buf_adds(&json, "\"}");
	}
	if (w->n > 0) {
		buf_adds(&json, "]");
		report_raw(r, "chain", buf_span(&json));
	}
	buf_free(&json);
	return first;
}

/* Appends whom a certificate is for and who issued it. */
static void
describe(struct buf *out, const struct http_way *w)
{
	const struct http_certificate *cert = &w->chain[0];
	const char *dns = cert->names == NULL ? NULL :
						strstr(cert->names, "DNS:");

	buf_adds(out, "the certificate of \"");
	if (dns != NULL)
		buf_add(out, dns + 4, strcspn(dns + 4, ", "));
	else
		check_show_name(out,
		    cert->subject != NULL ? cert->subject : "?");
	buf_adds(out, "\", issued by \"");
	check_show_name(out, cert->issuer != NULL ? cert->issuer : "?");
	buf_addc(out, '"');
}

static void
tell_tls(struct check *c, const struct http_way *w)
{
	struct report *r = c->report;
	int64_t first, days;
	bool late = false;
	struct buf text = { 0 };

	report_told(r, "TLS", w->tls_us - w->connect_us);
	report_text(r, "version", w->tls);
	first = add_chain(r, w, &late);
	buf_adds(&text, w->tls != NULL ? w->tls : "TLS");
	if (w->n > 0) {
		buf_adds(&text, "; ");
		describe(&text, w);
	}
	days = (first - (int64_t)time(NULL)) / DAY_S;
	if (first > 0) {
		report_number(r, "days", days);
		buf_adds(&text, ", valid until ");
		check_show_day(&text, first);
		buf_addf(&text, ", %lld day%s left", (long long)days,
		    days == 1 ? "" : "s");
	}
	if (late)
		buf_adds(&text, ": the server's operator has to renew it soon");
	report_end(r, late ? STEP_WARNING : STEP_OK, "%s", buf_str(&text));
	buf_free(&text);
}

/* Looks at the certificate that was refused, and tells what it is. */
static void
fail_tls(struct check *c, const struct probe *p, const char *why)
{
	struct report *r = c->report;
	struct http_way seen = { 0 };
	bool late = false;
	struct buf text = { 0 };

	buf_adds(&text, why);
	report_step(r, "TLS", "a second look at the certificate");
	report_took(r,
	    p->way.total_us -
		(p->way.connect_us > 0 ? p->way.connect_us : p->way.name_us));
	if (p->end == HTTP_TLS)
		probe_look(&seen, c->loop, c->options, check_time(c, LOOK_MS));
	(void)add_chain(r, &seen, &late);
	if (seen.n > 0) {
		buf_adds(&text, " The server shows ");
		describe(&text, &seen);
		add_life(&text, seen.chain, ", valid from ", " until ");
		if (seen.chain[0].names != NULL)
			buf_addf(&text, ", for %.300s", seen.chain[0].names);
		buf_adds(&text, ".");
	}
	report_end(r, STEP_FAILED, "%s", buf_str(&text));
	http_way_free(&seen);
	buf_free(&text);
}

/* Appends SHA-256 of a certificate as OpenSSL and browsers show it. */
static int
fingerprint(struct buf *out, const char *pem)
{
	char hex[PROFILE_HEX_BYTES] = "";
	struct buf text = { 0 }, der = { 0 };
	struct span all;
	size_t i;
	int rc = -1;

	/* between the lines of its begin and its end, in another alphabet */
	for (pem += strcspn(pem, "\n"); *pem != '\0' && *pem != '-'; pem++)
		if (strchr("\n\r=", *pem) == NULL)
			buf_addc(&text,
			    *pem == '+'     ? '-' :
				*pem == '/' ? '_' :
					      *pem);
	if (codec_base64url_read(&der, buf_span(&text)) == 0) {
		all = buf_span(&der);
		rc = profile_digest(hex, &all, 1);
	}
	for (i = 0; rc == 0 && hex[i] != '\0'; i += 2)
		buf_addf(out, "%s%c%c", i > 0 ? ":" : "",
		    toupper((unsigned char)hex[i]),
		    toupper((unsigned char)hex[i + 1]));
	buf_free(&text);
	buf_free(&der);
	return rc;
}

static int
save_certificate(const struct http_way *w, const char *file, char **why)
{
	const struct http_certificate *cert = &w->chain[0];
	char *error = NULL, *path;
	struct buf text = { 0 };
	int rc;

	buf_adds(&text, "The server shows ");
	describe(&text, w);
	buf_adds(&text, "\n  for      ");
	codec_visible(&text, span_of(cert->names != NULL ? cert->names : "?"),
	    SIZE_MAX);
	add_life(&text, cert, "\n  valid    from ", " until ");
	buf_adds(&text, "\n  SHA-256  ");
	rc = fingerprint(&text, cert->pem);
	if (rc != 0)
		*why = xstrdup("cannot read the server's certificate");
	else if ((rc = user_file_new(file, span_of(cert->pem), &error)) != 0)
		*why = xasprintf("%s cannot be written: %s", file, error);
	if (rc == 0) {
		path = os_file_real(file);
		printf("%s\nSaved. Compare the SHA-256 with the one that the "
		       "server's operator gives you.\nTo trust this "
		       "certificate and no other, start mcpsplice with\n  "
		       "--cacert %s\n",
		    buf_str(&text), path != NULL ? path : file);
		free(path);
	}
	free(error);
	buf_free(&text);
	return rc;
}

int
check_save_certificate(struct check *c, const char *file, char **why)
{
	struct http_way seen = { 0 };
	int status = 1;

	probe_look(&seen, c->loop, c->options, PROBE_MS);
	if (seen.n > 0 && seen.chain[0].pem != NULL)
		status = save_certificate(&seen, file, why) != 0;
	else
		*why = xasprintf("%s shows no certificate; to see why, run "
				 "\"mcpsplice check\" without "
				 "--save-certificate",
		    url_authority(&c->url));
	http_way_free(&seen);
	return status;
}

/* --- all of it --- */

/* Prints the lines up to the place where it ended. */
static void
tell(struct check *c, const struct probe *p, enum place end, const char *why)
{
	const struct http_way *w = &p->way;
	bool named = !w->proxied && c->options->unix_socket == NULL;

	if (named && end == PLACE_NAME) {
		fail(c, "name", w, 0, why);
		return;
	}
	if (named)
		tell_name(c, w);
	tell_proxy(c, w, end == PLACE_PROXY ? why : NULL);
	if (end == PLACE_PROXY)
		return;
	if (end == PLACE_CONNECT) {
		fail(c, "connect", w, w->name_us, why);
		return;
	}
	if (!w->proxied)
		tell_connect(c, w);
	if (end == PLACE_TLS)
		fail_tls(c, p, why);
	else if (check_secure(c))
		tell_tls(c, w);
	else if (!url_is_loopback(&c->url) && c->options->unix_socket == NULL) {
		report_told(c->report, "TLS", -1);
		report_end(c->report, STEP_WARNING,
		    "none (--allow-http): anyone on the network path can read "
		    "everything, tokens included");
	}
}

/* Says what was waited for in vain, for a way that ended in silence; the caller
 * owns it. */
static char *
say_waited(enum place end, int64_t ms)
{
	static const char *const what[] = {
		[PLACE_NAME] = "the host name was not found",
		[PLACE_PROXY] = "the proxy did not answer",
		[PLACE_CONNECT] = "nothing accepted the connection",
		[PLACE_TLS] = "the TLS handshake was not answered",
		[PLACE_ANSWER] = "a request without a token got no answer",
	};

	return xasprintf("%s within %lld s%s.", what[end],
	    (long long)((ms + 500) / 1000),
	    end == PLACE_TLS ? "; check that this port speaks https" : "");
}

bool
check_network(struct check *c, struct probe *p)
{
	static const char *const next[] = { [PLACE_NAME] = "connect",
		[PLACE_PROXY] = "connect",
		[PLACE_CONNECT] = "TLS",
		[PLACE_TLS] = "sign-in" };
	enum place end = PLACE_ANSWER;
	char *why = NULL;
	int rc;

	p->limit_ms = check_time(c, PROBE_MS);
	report_step(c->report, "connect", "the server");
	rc = probe_send(p, c->loop, c->options, &why);
	if (rc != 0)
		end = place_of(c, p);
	if (rc != 0 && p->end == HTTP_IDLE) {
		free(why);
		why = say_waited(end, p->limit_ms);
	}
	tell(c, p, end, why);
	if (end != PLACE_ANSWER)
		check_skip(c, next[end]);
	if (rc != 0 && end == PLACE_ANSWER) {
		report_told(c->report, "answer", p->way.total_us);
		report_end(c->report, STEP_WARNING,
		    "%s The session is tried anyway.", why);
	}
	free(why);
	return end == PLACE_ANSWER;
}
