/*
 * One table: the first row that matches a failure has the words for it. libcurl
 * reports most causes only as text, which comes from the TLS library and
 * changes with versions; so a row looks for a few words of it.
 */
#include "config.h"

#include "io/http_state.h"

#include <errno.h>
#include <time.h>

#include "base/codec.h"
#include "os/desktop.h"
#include "os/error.h"

enum { NAMES_SHOWN_MAX = 200, TEXT_SHOWN_MAX = 300 };

/* When a row applies: all of its conditions hold. */
enum {
	OF_PROXY = 1 << 0,
	OF_SERVER = 1 << 1,
	HTTPS = 1 << 2,
	PLAIN = 1 << 3,
	WITH_CERT = 1 << 4,
	WITH_USER = 1 << 5,
	WITH_SOCKET = 1 << 6,
	WITH_NAMES = 1 << 7,
	CUT = 1 << 8,
	TLS = 1 << 9,
	UNREACHED = 1 << 10,
	SETTING = 1 << 11,
	FRESH = 1 << 12,
	REACHED = 1 << 13,
	WITH_TICKET = 1 << 14,
	NO_TICKET = 1 << 15,
	NO_KEY = 1 << 16
};

struct row {
	unsigned when;
	CURLcode result;  /* CURLE_OK: any */
	int os_error;     /* 0: any */
	int proxy_status; /* 0: any */
	/* In libcurl's text, case ignored: one of these, with "|" between them;
	 * NULL: any. */
	const char *needles;
	const char *why, *remedy;
};

#define ROW(when, result, os_error, status, needles, why, remedy)              \
	{                                                                      \
		when, result, os_error, status, needles, why, remedy           \
	}
/* by libcurl's text; by its code; by the system's errno; by CONNECT's status */
#define SAYS(when, needles, why, remedy)                                       \
	ROW(when, CURLE_OK, 0, 0, needles, why, remedy)
#define CODE(when, code, why, remedy) ROW(when, code, 0, 0, NULL, why, remedy)
#define ERRNO(when, number, why, remedy)                                       \
	ROW(when, CURLE_OK, number, 0, NULL, why, remedy)
#define STATUS(when, status, why, remedy)                                      \
	ROW(when, CURLE_OK, 0, status, NULL, why, remedy)

#define PROXY_SETTING "Correct {from}, or bypass the proxy: --noproxy {host}"
#define PROXY_CANNOT "the proxy{proxy} cannot connect to it ({status})"
#define PROXY_HOST                                                             \
	"Check the host in the URL, or bypass the proxy: --noproxy {host}"
#define PROXY_RULES "Ask whoever runs the proxy, or bypass it: --noproxy {host}"
#define UNKNOWN_ISSUER                                                         \
	"its certificate is signed by an authority that is not {trusted}"
#define SAVE_IT                                                                \
	"To trust only this server's own, save it with "                       \
	"\"mcpsplice check --save-certificate FILE URL\""
#define TRUST_ISSUER                                                           \
	"If you trust it, add that authority's certificate: --cacert "         \
	"FILE. " SAVE_IT "{insecure}"
#define ADD_CERT "Add --cert FILE and --key FILE"
#define OTHER_CERT "Use one that it trusts: --cert FILE --key FILE"
#define CUT_AFTER_HANDSHAKE                                                    \
	"it cut the connection right after the TLS handshake"
#define WRITE_HTTPS "If it speaks https on this port, write https:// in the URL"
#define TLS_IN_TIME                                                            \
	"Check that the server speaks https on this port, or raise "           \
	"--connect-timeout"
#define SUSPECT_CERT                                                           \
	"It may have rejected the client certificate: use one that it "        \
	"trusts with --cert and --key"
#define SUSPECT_NO_CERT                                                        \
	"If it requires a client certificate, add --cert FILE and --key FILE"
#define KEY_FITS                                                               \
	"Check that --key belongs to --cert, and the password in "             \
	"--key-password-file"

static const struct row rows[] = {
	/* the proxy */
	CODE(OF_PROXY, CURLE_COULDNT_RESOLVE_PROXY,
	    "the name of the proxy{proxy} was not found", PROXY_SETTING),
	SAYS(OF_PROXY | SETTING, "Unsupported proxy",
	    "the proxy{proxy} has an unknown scheme",
	    "Begin {from} with http://, https:// or socks5h://"),
	STATUS(OF_PROXY | WITH_TICKET | NO_TICKET, 407,
	    "the proxy{proxy} requires a Kerberos ticket (407: {ticket})",
	    "To get one, {advice}"),
	STATUS(OF_PROXY | WITH_TICKET, 407,
	    "the proxy{proxy} rejected the Kerberos ticket (407)",
	    "\"klist\" shows whose it is and when it expires; to get another, "
	    "{advice}"),
	STATUS(OF_PROXY | WITH_USER, 407,
	    "the proxy{proxy} rejected the user name or password given with "
	    "--proxy-user (407)",
	    "Correct --proxy-user, or use --proxy-negotiate"),
	STATUS(OF_PROXY, 407,
	    "the proxy{proxy} requires a user name and a password (407)",
	    "Add --proxy-user USER:PASSWORD or --proxy-negotiate"),
	STATUS(OF_PROXY, 403, "the proxy{proxy} does not allow it (403)",
	    PROXY_RULES),
	STATUS(OF_PROXY, 502, PROXY_CANNOT, PROXY_HOST),
	STATUS(OF_PROXY, 503, PROXY_CANNOT, PROXY_HOST),
	STATUS(OF_PROXY, 504, PROXY_CANNOT, PROXY_HOST),
	STATUS(OF_PROXY, -1, "the proxy{proxy} refused to connect ({status})",
	    PROXY_RULES),
	ROW(OF_PROXY | UNREACHED, CURLE_PROXY, 0, 0, NULL,
	    "the proxy{proxy} cannot connect to it", PROXY_HOST),
	SAYS(OF_PROXY, "invalid version",
	    "the proxy{proxy} does not speak SOCKS",
	    "Begin {from} with http:// if it is an HTTP proxy"),
	CODE(OF_PROXY, CURLE_PROXY, "the proxy{proxy} refused: {text}",
	    PROXY_RULES),
	ERRNO(OF_PROXY | UNREACHED, ECONNREFUSED,
	    "connection refused by the proxy{proxy}", PROXY_SETTING),
	CODE(OF_PROXY, CURLE_OPERATION_TIMEDOUT,
	    "no connection through the proxy{proxy} within {timeout}",
	    PROXY_SETTING),
	SAYS(OF_PROXY, "wrong version number|packet length too long",
	    "the proxy{proxy} does not speak TLS",
	    "Begin {from} with http:// instead of https://"),
	CODE(OF_PROXY | TLS, CURLE_PEER_FAILED_VERIFICATION,
	    "the certificate of the proxy{proxy} is not trusted: {text}",
	    "Add the certificate of its authority: --proxy-cacert FILE"),
	SAYS(OF_PROXY | TLS, NULL,
	    "the TLS handshake with the proxy{proxy} failed: {text}",
	    PROXY_SETTING),
	CODE(OF_PROXY, CURLE_COULDNT_CONNECT,
	    "the proxy{proxy} cannot be reached{errno}", PROXY_SETTING),
	SAYS(OF_PROXY | UNREACHED, NULL,
	    "the proxy{proxy} closed the connection", PROXY_SETTING),

	/* no connection */
	CODE(OF_SERVER, CURLE_COULDNT_RESOLVE_HOST, "host name not found",
	    "Check the host in the URL, and this machine's network and DNS"),
	SAYS(OF_SERVER, "Resolving timed out",
	    "host name not found within {timeout}",
	    "Check this machine's network and DNS"),
	SAYS(OF_SERVER, "SSL connection timeout",
	    "it did not finish the TLS handshake within {timeout}",
	    TLS_IN_TIME),
	ROW(OF_SERVER | UNREACHED | HTTPS | REACHED, CURLE_OPERATION_TIMEDOUT,
	    0, 0, NULL, "it did not finish the TLS handshake within {timeout}",
	    TLS_IN_TIME),
	CODE(OF_SERVER | UNREACHED, CURLE_OPERATION_TIMEDOUT,
	    "no connection within {timeout}",
	    "Check the host and port in the URL, your firewall and your VPN"),
	ERRNO(OF_SERVER | UNREACHED | WITH_SOCKET, ECONNREFUSED,
	    "nothing is listening at {socket}",
	    "Start the server, or correct --unix-socket"),
	ERRNO(OF_SERVER | UNREACHED | WITH_SOCKET, ENOENT,
	    "{socket} does not exist",
	    "Start the server, or correct --unix-socket"),
	ERRNO(OF_SERVER | UNREACHED | WITH_SOCKET, EACCES,
	    "{socket} cannot be used: permission denied",
	    "Change its mode, or run mcpsplice as a user with access to it"),
	ERRNO(OF_SERVER | UNREACHED, ECONNREFUSED, "connection refused",
	    "Start the server, or check the host and port in the URL"),
	ERRNO(OF_SERVER | UNREACHED, ENETUNREACH, "network unreachable",
	    "Check this machine's network"),
	ERRNO(OF_SERVER | UNREACHED, EHOSTUNREACH, "no route to host",
	    "Check this machine's network and VPN"),
	ERRNO(OF_SERVER | UNREACHED, ETIMEDOUT, "no answer from that address",
	    "Check the host and port in the URL, your firewall and your VPN"),
	ERRNO(OF_SERVER | UNREACHED, EMFILE,
	    "mcpsplice has too many files open",
	    "Raise the limit of open files (ulimit -n)"),
	/* TLS 1.3 looks at the client certificate after the handshake. */
	CODE(HTTPS | FRESH | WITH_CERT, CURLE_SEND_ERROR, CUT_AFTER_HANDSHAKE,
	    SUSPECT_CERT),
	CODE(HTTPS | FRESH, CURLE_SEND_ERROR, CUT_AFTER_HANDSHAKE,
	    SUSPECT_NO_CERT),
	ROW(OF_SERVER | UNREACHED, CURLE_SSL_CONNECT_ERROR, 0, 0, NULL,
	    "it closed the connection during the TLS handshake",
	    "Check that the server speaks https on this port"),
	CODE(OF_SERVER | UNREACHED, CURLE_COULDNT_CONNECT,
	    "the connection failed{errno}",
	    "Start the server, or check the host and port in the URL"),

	/* TLS: not its own */
	SAYS(OF_SERVER | HTTPS,
	    "wrong version number|packet length too long|record layer "
	    "failure|unexpected TLS packet",
	    "it does not speak TLS on this port",
	    "If it speaks plain http, write http:// in the URL{allow}"),

	/* TLS: the server refuses */
	SAYS(OF_SERVER | TLS,
	    "alert protocol version|unsupported protocol|sigalg disallowed",
	    "it does not support TLS 1.2 or newer",
	    "Whoever runs the server has to enable TLS 1.2 or 1.3"),
	SAYS(OF_SERVER | TLS, "alert certificate required",
	    "it requires a client certificate", ADD_CERT),
	SAYS(OF_SERVER | TLS | WITH_CERT, "alert unknown ca",
	    "it does not trust the client certificate given with --cert",
	    OTHER_CERT),
	SAYS(OF_SERVER | TLS | WITH_CERT, "alert certificate expired",
	    "the client certificate given with --cert has expired", OTHER_CERT),
	SAYS(OF_SERVER | TLS | WITH_CERT, "alert certificate",
	    "it rejected the client certificate given with --cert ({text})",
	    OTHER_CERT),
	SAYS(OF_SERVER | TLS, "alert bad certificate",
	    "it requires a client certificate", ADD_CERT),
	SAYS(OF_SERVER | TLS, "unrecognized name",
	    "it does not serve the name {host}", "Check the host in the URL"),
	SAYS(OF_SERVER | TLS | WITH_CERT, "alert handshake failure",
	    "it refused the TLS handshake",
	    "Check that it accepts the client certificate given with --cert"),
	SAYS(OF_SERVER | TLS, "alert handshake failure",
	    "it refused the TLS handshake", SUSPECT_NO_CERT),
	SAYS(OF_SERVER | TLS, " alert ",
	    "it refused the TLS handshake ({text})",
	    "Ask whoever runs the server"),

	/* TLS: its certificate */
	SAYS(OF_SERVER | TLS, "has expired|expiration date",
	    "its certificate has expired",
	    "Whoever runs the server has to renew it, unless this machine's "
	    "clock is wrong: it says {clock}"),
	SAYS(OF_SERVER | TLS, "not yet valid|activation date",
	    "its certificate is not valid yet",
	    "If this machine's clock is wrong, set it: it says {clock}"),
	SAYS(OF_SERVER | TLS | WITH_NAMES, "match",
	    "its certificate is for {names}, not for {host}",
	    "Use the name from the certificate in the URL"),
	SAYS(OF_SERVER | TLS, "match", "its certificate is not for {host}",
	    "Use the name from the certificate in the URL"),
	SAYS(OF_SERVER | TLS, "in certificate chain|issuer", UNKNOWN_ISSUER,
	    TRUST_ISSUER),
	SAYS(OF_SERVER | TLS, "signed certificate",
	    "its certificate is self-signed, and not {trusted}",
	    "If you trust it, add that certificate: --cacert FILE. " SAVE_IT
	    "{insecure}"),
	SAYS(OF_SERVER | TLS, "verification failed", UNKNOWN_ISSUER,
	    TRUST_ISSUER),
	CODE(OF_SERVER | TLS, CURLE_PEER_FAILED_VERIFICATION,
	    "its certificate was rejected: {text}",
	    "Whoever runs the server has to replace it{insecure}"),
	SAYS(OF_SERVER | TLS, NULL, "the TLS handshake failed: {text}",
	    "Check that the server speaks https on this port"),

	/* files of the user */
	CODE(SETTING, CURLE_SSL_CACERT_BADFILE,
	    "the certificates to trust cannot be read: {cacert}",
	    "Correct --cacert"),
	SAYS(SETTING, "client certificate",
	    "{cert} contains no PEM certificate", "Correct --cert"),
	SAYS(SETTING | NO_KEY, "private key", "{cert} contains no private key",
	    "Add --key FILE"),
	SAYS(SETTING, "private key", "the key for --cert cannot be used",
	    KEY_FITS),
	CODE(SETTING, CURLE_SSL_CERTPROBLEM,
	    "the client certificate cannot be used: {text}", KEY_FITS),
	CODE(SETTING, CURLE_URL_MALFORMAT,
	    "a host name has letters that this libcurl cannot use",
	    "Write the name in the URL, or in the proxy's, in its xn-- form"),
	CODE(SETTING, CURLE_READ_ERROR, "cannot use the netrc file",
	    "Correct --netrc-file"),

	/* the connection broke */
	SAYS(CUT | PLAIN, "HTTP/0.9", "it does not speak plain http",
	    "{fresh}"),
	SAYS(CUT | HTTPS, "HTTP/0.9", "it does not speak HTTP on this port",
	    "Check the port in the URL"),
	SAYS(CUT, "reset by peer", "it reset the connection", "{fresh}"),
	CODE(CUT, CURLE_GOT_NOTHING,
	    "it closed the connection without an answer", "{fresh}"),
	CODE(CUT, CURLE_RECV_ERROR, "{text}", "{fresh}"),
	CODE(CUT, CURLE_ABORTED_BY_CALLBACK,
	    "the connection was closed before an answer came", ""),
};

static bool names_of(const struct http_failure *f, struct buf *out);

/* Returns the conditions that hold. */
static unsigned
state_of(const struct http_failure *f)
{
	const struct http_config *c = f->config;

	return (f->of_proxy ? OF_PROXY : OF_SERVER) |
	    (f->https ? HTTPS : PLAIN) | (c->cert != NULL ? WITH_CERT : 0) |
	    (c->key == NULL ? NO_KEY : 0) |
	    (c->proxy_user != NULL ? WITH_USER : 0) |
	    (c->unix_socket != NULL ? WITH_SOCKET : 0) |
	    (names_of(f, NULL) ? WITH_NAMES : 0) |
	    (f->end == HTTP_CUT ? CUT : 0) | (f->end == HTTP_TLS ? TLS : 0) |
	    (f->end == HTTP_CONNECT ? UNREACHED : 0) |
	    (f->end == HTTP_CONFIG ? SETTING : 0) | (f->fresh ? FRESH : 0) |
	    (f->reached ? REACHED : 0) |
	    (c->proxy_negotiate ? WITH_TICKET : 0) |
	    (f->no_ticket != NULL ? NO_TICKET : 0);
}

static bool
says(const char *text, const char *needles)
{
	struct span rest = span_of(needles), needle;
	bool found = needles == NULL;
	char word[64];

	while (!found && rest.n > 0) {
		needle = span_take(&rest, '|');
		snprintf(word, sizeof word, "%.*s", (int)needle.n, needle.p);
		found = strcasestr(text, word) != NULL;
	}
	return found;
}

static bool
fits(const struct row *r, const struct http_failure *f, unsigned state)
{
	return (r->when & state) == r->when &&
	    (r->result == CURLE_OK || r->result == f->result) &&
	    (r->os_error == 0 || r->os_error == f->os_error) &&
	    (r->proxy_status == 0 || r->proxy_status == f->proxy_status ||
		(r->proxy_status == -1 && f->proxy_status >= 300)) &&
	    says(f->text, r->needles);
}

/* Returns the value of an item of the certificate, or NULL. The first one is
 * that of the server's own certificate. */
static const char *
item(const struct http_failure *f, const char *name)
{
	const struct curl_slist *s;
	size_t n = strlen(name);

	for (s = f->certificate; s != NULL; s = s->next)
		if (strncmp(s->data, name, n) == 0 && s->data[n] == ':')
			return s->data + n + 1;
	return NULL;
}

/* Appends the names that the certificate is for; out may be NULL. */
static bool
names_of(const struct http_failure *f, struct buf *out)
{
	static const char *const kinds[] = { "DNS:", "IP Address:" };
	const char *p = item(f, "X509v3 Subject Alternative Name");
	struct buf names = { 0 };
	size_t i, n;

	if (p == NULL)
		return false;
	for (; *p != '\0'; p += n + strspn(p + n, ", ")) {
		n = strcspn(p, ",");
		for (i = 0; i < 2; i++)
			if (strncmp(p, kinds[i], strlen(kinds[i])) == 0)
				buf_addf(&names, "%s%.*s",
				    names.n > 0 ? ", " : "",
				    (int)(n - strlen(kinds[i])),
				    p + strlen(kinds[i]));
	}
	if (out != NULL)
		codec_visible(out, buf_span(&names), NAMES_SHOWN_MAX);
	n = names.n;
	buf_free(&names);
	return n > 0;
}

/* Appends libcurl's words without what only a programmer reads:
 * "OpenSSL/3.0.19: error:0A000410:SSL routines::REASON, errno 0". */
static void
add_text(struct buf *out, const char *text)
{
	const char *from = strstr(text, "routines::");
	struct span s = span_of(from == NULL ? text :
					       from + strlen("routines::"));
	const char *end = strstr(s.p, ", errno");

	if (strncmp(s.p, "SSL certificate problem: ", 25) == 0)
		s = span_of(s.p + 25);
	if (end != NULL)
		s.n = (size_t)(end - s.p);
	while (s.n > 0 && (s.p[s.n - 1] == '.' || s.p[s.n - 1] == ' '))
		s.n--;
	codec_visible(out, s, TEXT_SHOWN_MAX);
}

static void
add_clock(struct buf *out, int64_t now)
{
	time_t t = (time_t)now;
	char text[64];
	struct tm tm;

	if (gmtime_r(&t, &tm) != NULL &&
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &tm) > 0)
		buf_adds(out, text);
}

/* Appends the proxy that libcurl uses, or where it was set. */
static void
add_proxy(struct buf *out, const struct http_failure *f, bool setting)
{
	const struct http_proxy_setting *s = &f->config->proxies[f->https];

	if (setting)
		buf_adds(out, s->from == NULL ? "the setting" : s->from);
	else if (s->url != NULL)
		buf_addf(out, " %s (from %s)", s->url, s->from);
}

/* Appends that the host has variables which may be what is missing, and only
 * their names. */
static void
add_missing(struct buf *out, const struct http_failure *f)
{
	size_t name;
	char **v;
	int n = 0;

	for (v = f->missing; v != NULL && *v != NULL; v++) {
		name = strcspn(*v, "=");
		if (strlen(*v) > name + 1)
			buf_addf(out, "%s%.*s",
			    n++ == 0 ? "; your host has " : ", ", (int)name,
			    *v);
	}
	if (n > 0)
		buf_addf(out, " set but does not pass %s on; add %s to \"env\"",
		    n == 1 ? "it" : "them", n == 1 ? "it" : "them");
}

/* Appends where the certificate would have to be: "in FILE, nor in FILE". */
static void
add_trusted(struct buf *out, const struct http_failure *f)
{
	const struct http_config *c = f->config;

	if (c->cacert != NULL)
		buf_addf(out, "in %s", c->cacert);
	else
		buf_adds(out, "trusted here");
	if (c->cacert_extra != NULL)
		buf_addf(out, ", nor in %s (NODE_EXTRA_CA_CERTS)",
		    c->cacert_extra);
	add_missing(out, f);
}

/* Appends the value of the placeholder with this name. */
static bool
add_hole(struct buf *out, struct span hole, const void *arg)
{
	const struct http_failure *f = arg;
	const struct http_config *c = f->config;

	if (span_is(hole, "proxy") || span_is(hole, "from"))
		add_proxy(out, f, span_is(hole, "from"));
	else if (span_is(hole, "host"))
		buf_adds(out, f->host);
	else if (span_is(hole, "status"))
		buf_addf(out, "%d", f->proxy_status);
	else if (span_is(hole, "timeout"))
		buf_addf(out, "%lld s",
		    (long long)(c->connect_timeout_ms + 999) / 1000);
	else if (span_is(hole, "errno") && f->os_error != 0)
		buf_addf(out, " (%s)", os_error_text(f->os_error));
	else if (span_is(hole, "text"))
		add_text(out, f->text);
	else if (span_is(hole, "ticket"))
		codec_visible(out, span_of(f->no_ticket), TEXT_SHOWN_MAX);
	else if (span_is(hole, "advice"))
		buf_adds(out, os_ticket_advice);
	else if (span_is(hole, "clock"))
		add_clock(out, f->now);
	else if (span_is(hole, "names"))
		names_of(f, out);
	else if (span_is(hole, "cacert"))
		buf_adds(out, c->cacert != NULL ? c->cacert : "");
	else if (span_is(hole, "trusted"))
		add_trusted(out, f);
	else if (span_is(hole, "cert"))
		buf_adds(out, c->cert != NULL ? c->cert : "");
	else if (span_is(hole, "socket"))
		buf_adds(out, c->unix_socket);
	else if (span_is(hole, "allow"))
		buf_adds(out, f->loopback ? "" : " and add --allow-http");
	else if (span_is(hole, "insecure"))
		buf_adds(out,
		    c->node_insecure ?
			". NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: "
			"mcpsplice always checks certificates" :
			"");
	else if (span_is(hole, "fresh") && f->fresh && !f->answered)
		buf_adds(out,
		    !f->https           ? WRITE_HTTPS :
			c->cert == NULL ? SUSPECT_NO_CERT :
					  SUSPECT_CERT);
	return true;
}

void
http_why(const struct http_failure *f, struct buf *why, struct buf *remedy)
{
	unsigned state = state_of(f);
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!fits(&rows[i], f, state))
			continue;
		buf_fill(why, rows[i].why, add_hole, f);
		/* of TLS only where a certificate is not trusted */
		if (f->end != HTTP_TLS || f->of_proxy)
			add_missing(why, f);
		buf_fill(remedy, rows[i].remedy, add_hole, f);
		return;
	}
	add_text(why, f->text);
}
