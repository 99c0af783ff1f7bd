/* io/http_why: the words for each cause of a failure. */
#include "config.h"

#include "io/http_state.h"

#include <errno.h>

#include "unit/unit.h"

static const struct http_config
    plain = { .connect_timeout_ms = 10000 },
    with_cert = { .cert = "me.pem" }, with_cacert = { .cacert = "ca.pem" },
    with_extra = { .cacert = "ca.pem",
	    .cacert_extra = "more.pem",
	    .node_insecure = true },
    with_socket = { .unix_socket = "/run/s" },
    with_user = { .proxy_user = "me:secret",
	    .proxies = { { NULL, NULL }, { "http://p:1", "--proxy" } } },
    with_ticket = { .proxy_negotiate = true,
	    .proxies = { { NULL, NULL }, { "http://p:1", "--proxy" } } },
    with_proxy = { .connect_timeout_ms = 10000,
	    .proxies = { { NULL, NULL }, { "http://p:1", "https_proxy" } } };

static struct curl_slist subject = { (char[]){ "Subject:CN = one" }, NULL },
			 names = { (char[]){
				       "X509v3 Subject Alternative Name:"
				       "DNS:a.test, email:x@y, IP "
				       "Address:10.0.0.1, DNS:\xff.test" },
				 &subject };

#define OSSL "OpenSSL/3.0.19: error:0A000001:SSL routines::"
#define ISSUER "SSL certificate problem: unable to get local issuer certificate"
#define SAVE_IT                                                                \
	"\"mcpsplice check --save-certificate FILE URL\" saves the "           \
	"server's own, to be trusted alone"
#define TRUST                                                                  \
	"If you trust it, give a file with the certificate of that "           \
	"authority: --cacert FILE. " SAVE_IT
#define CORRECT                                                                \
	"Correct https_proxy, or name h.test in --noproxy to go there "        \
	"without a proxy"
#define NOT_BY_PROXY                                                           \
	"Check the host in the URL, or go there without the proxy: "           \
	"--noproxy h.test"
#define HOST_OR_PORT "Start the server, or check host and port in the URL"
#define PLAIN_HTTP "If it speaks plain http, write http:// in the URL"
#define WRITE_HTTPS "If it speaks https at this port, write https:// in the URL"

static const struct {
	struct http_failure f;
	const char *why, *remedy;
} cases[] = {
	/* no connection */
	{ { .end = HTTP_RESOLVE,
	      .result = CURLE_COULDNT_RESOLVE_HOST,
	      .text = "Could not resolve" },
	    "its name is not known",
	    "Check the host in the URL, and the network and DNS of this "
	    "machine" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_COULDNT_CONNECT,
	      .text = "Failed to connect to h",
	      .os_error = ECONNREFUSED },
	    "nothing listens there (connection refused)", HOST_OR_PORT },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_COULDNT_CONNECT,
	      .text = "Failed",
	      .os_error = ENETUNREACH },
	    "this machine has no way there (network unreachable)",
	    "Check the network of this machine" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_COULDNT_CONNECT,
	      .text = "Failed",
	      .os_error = EHOSTUNREACH },
	    "this machine has no way there (no route to host)",
	    "Check the network of this machine, and its VPN" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_COULDNT_CONNECT,
	      .text = "Failed" },
	    "there is no connection", HOST_OR_PORT },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_OPERATION_TIMEDOUT,
	      .text = "Failed to connect to h port 1: Timeout was reached" },
	    "there was no connection within 10 s",
	    "Check host and port in the URL, and firewall and VPN" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_OPERATION_TIMEDOUT,
	      .text = "Resolving timed out" },
	    "its name was not found within 10 s",
	    "Check the network and DNS of this machine" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_OPERATION_TIMEDOUT,
	      .text = "SSL connection timeout",
	      .https = true },
	    "it did not finish the TLS handshake within 10 s",
	    "Check that it speaks https at this port, or raise "
	    "--connect-timeout" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_OPERATION_TIMEDOUT,
	      .text = "Connection timed out",
	      .reached = true,
	      .https = true },
	    "it did not finish the TLS handshake within 10 s",
	    "Check that it speaks https at this port, or raise "
	    "--connect-timeout" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_OPERATION_TIMEDOUT,
	      .text = "Connection timed out",
	      .https = true },
	    "there was no connection within 10 s",
	    "Check host and port in the URL, and firewall and VPN" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_COULDNT_CONNECT,
	      .text = "Failed",
	      .os_error = ECONNREFUSED,
	      .config = &with_socket },
	    "nothing listens at /run/s",
	    "Start the server, or correct --unix-socket" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_COULDNT_CONNECT,
	      .text = "Failed",
	      .os_error = ENOENT,
	      .config = &with_socket },
	    "/run/s does not exist",
	    "Start the server, or correct --unix-socket" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_SSL_CONNECT_ERROR,
	      .text =
		  "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:1 ",
	      .https = true },
	    "it closed the connection during the TLS handshake",
	    "Check that it speaks https at this port" },

	/* http and https mixed up */
	{ { .end = HTTP_TLS,
	      .result = CURLE_SSL_CONNECT_ERROR,
	      .text = OSSL "wrong version number",
	      .https = true,
	      .loopback = true },
	    "it does not speak TLS at this port", PLAIN_HTTP },
	{ { .end = HTTP_TLS,
	      .result = CURLE_SSL_CONNECT_ERROR,
	      .text = OSSL "packet length too long",
	      .https = true },
	    "it does not speak TLS at this port",
	    PLAIN_HTTP " and add --allow-http" },
	{ { .end = HTTP_CUT,
	      .result = CURLE_UNSUPPORTED_PROTOCOL,
	      .text = "Received HTTP/0.9 when not allowed",
	      .fresh = true },
	    "it does not speak plain http", WRITE_HTTPS },
	{ { .end = HTTP_CUT,
	      .result = CURLE_UNSUPPORTED_PROTOCOL,
	      .text = "Received HTTP/0.9 when not allowed",
	      .https = true },
	    "it does not speak HTTP at this port",
	    "Check the port in the URL" },
	{ { .end = HTTP_CUT,
	      .result = CURLE_GOT_NOTHING,
	      .text = "Empty reply from server",
	      .fresh = true },
	    "it closed the connection without an answer", WRITE_HTTPS },
	{ { .end = HTTP_CUT,
	      .result = CURLE_GOT_NOTHING,
	      .text = "Empty reply from server",
	      .fresh = true,
	      .answered = true },
	    "it closed the connection without an answer", "" },
	{ { .end = HTTP_CUT,
	      .result = CURLE_GOT_NOTHING,
	      .text = "Empty reply from server" },
	    "it closed the connection without an answer", "" },
	{ { .end = HTTP_CUT,
	      .result = CURLE_GOT_NOTHING,
	      .text = "Empty reply from server",
	      .https = true,
	      .fresh = true },
	    "it closed the connection without an answer",
	    "If it wants a client certificate, add --cert FILE and --key "
	    "FILE" },
	{ { .end = HTTP_CUT,
	      .result = CURLE_RECV_ERROR,
	      .text = "Recv failure: Connection reset by peer",
	      .https = true,
	      .fresh = true,
	      .config = &with_cert },
	    "it reset the connection",
	    "If it refuses the client certificate, give one that it trusts "
	    "with --cert and --key" },
	{ { .end = HTTP_CUT,
	      .result = CURLE_RECV_ERROR,
	      .text = "Recv failure: Connection reset by peer",
	      .fresh = true },
	    "it reset the connection", WRITE_HTTPS },
	{ { .end = HTTP_CUT,
	      .result = CURLE_RECV_ERROR,
	      .text = "Recv failure: Connection reset by peer",
	      .https = true },
	    "it reset the connection", "" },

	/* its certificate */
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = "SSL certificate problem: certificate has expired",
	      .https = true },
	    "its certificate has expired",
	    "Whoever runs the server has to renew it, if the clock of this "
	    "machine is right: it says 2001-09-09 01:46 UTC" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = "SSL certificate problem: certificate is not yet valid",
	      .https = true },
	    "its certificate is not valid yet",
	    "Set the clock of this machine if it is wrong: it says "
	    "2001-09-09 01:46 UTC" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text =
		  "SSL: no alternative certificate subject name matches target "
		  "host name 'h.test'",
	      .https = true,
	      .certificate = &names },
	    "its certificate is for a.test, 10.0.0.1, \\xff.test, not for "
	    "h.test",
	    "Use a name in the URL that the certificate is for" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text =
		  "SSL: certificate subject name 'x' does not match target host "
		  "name 'h.test'",
	      .https = true,
	      .certificate = &subject },
	    "its certificate is not for h.test",
	    "Use a name in the URL that the certificate is for" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = ISSUER,
	      .https = true },
	    "its certificate is signed by an authority that is not trusted "
	    "here",
	    TRUST },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = ISSUER,
	      .https = true,
	      .config = &with_cacert },
	    "its certificate is signed by an authority that is not in ca.pem",
	    TRUST },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = "SSL certificate problem: self-signed certificate in "
		      "certificate chain",
	      .https = true,
	      .config = &with_extra },
	    "its certificate is signed by an authority that is not in ca.pem, "
	    "nor in more.pem (NODE_EXTRA_CA_CERTS)",
	    TRUST ". NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: mcpsplice "
		  "checks every certificate" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = "SSL certificate problem: self signed certificate",
	      .https = true },
	    "it has signed its certificate itself, and it is not trusted here",
	    "If you trust it, give a file with that certificate: --cacert "
	    "FILE. " SAVE_IT },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = "SSL certificate problem: EE certificate key too weak",
	      .https = true },
	    "its certificate is refused: EE certificate key too weak",
	    "Whoever runs the server has to replace it" },

	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = ISSUER,
	      .https = true,
	      .config = &with_cert },
	    "its certificate is signed by an authority that is not trusted "
	    "here",
	    TRUST },

	/* the client's certificate, and what else it refuses */
	{ { .end = HTTP_TLS,
	      .result = CURLE_RECV_ERROR,
	      .text = "OpenSSL SSL_read: " OSSL
		      "tlsv13 alert certificate required, errno 0",
	      .https = true },
	    "it wants a client certificate", "Add --cert FILE and --key FILE" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_RECV_ERROR,
	      .text = "OpenSSL SSL_read: " OSSL
		      "tlsv1 alert unknown ca, errno 0",
	      .https = true,
	      .config = &with_cert },
	    "it does not trust the client certificate of --cert",
	    "Give one that it trusts with --cert and --key" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_RECV_ERROR,
	      .text = OSSL "sslv3 alert certificate revoked, errno 0",
	      .https = true,
	      .config = &with_cert },
	    "it does not accept the client certificate of --cert (sslv3 alert "
	    "certificate revoked)",
	    "Give one that it trusts with --cert and --key" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_SSL_CONNECT_ERROR,
	      .text = OSSL "sslv3 alert handshake failure",
	      .https = true },
	    "it refused the TLS handshake",
	    "If it wants a client certificate, add --cert FILE and --key "
	    "FILE" },
	{ { .end = HTTP_CUT,
	      .result = CURLE_SEND_ERROR,
	      .text = "getpeername() failed with errno 107: Transport",
	      .https = true,
	      .fresh = true },
	    "it cut the connection right after the TLS handshake",
	    "If it wants a client certificate, add --cert FILE and --key "
	    "FILE" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_SEND_ERROR,
	      .text = "Send failure: Broken pipe",
	      .https = true,
	      .fresh = true,
	      .config = &with_cert },
	    "it cut the connection right after the TLS handshake",
	    "If it refuses the client certificate, give one that it trusts "
	    "with --cert and --key" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_SSL_CONNECT_ERROR,
	      .text = OSSL "tlsv1 alert protocol version",
	      .https = true },
	    "it speaks no version of TLS from 1.2 on",
	    "Whoever runs the server has to switch on TLS 1.2 or 1.3" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_SSL_CONNECT_ERROR,
	      .text = OSSL "tlsv1 unrecognized name",
	      .https = true },
	    "it knows no server of the name h.test",
	    "Check the host in the URL" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_SSL_CONNECT_ERROR,
	      .text = OSSL "tlsv1 alert internal error",
	      .https = true },
	    "it refused the TLS handshake (tlsv1 alert internal error)",
	    "Ask whoever runs the server" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_SSL_CONNECT_ERROR,
	      .text = OSSL "no suitable key share",
	      .https = true },
	    "the TLS handshake failed: no suitable key share",
	    "Check that it speaks https at this port" },

	/* the proxy */
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_COULDNT_CONNECT,
	      .text = "Failed to connect to p",
	      .os_error = ECONNREFUSED,
	      .of_proxy = true,
	      .https = true,
	      .config = &with_proxy },
	    "nothing listens at the proxy http://p:1 (from https_proxy)",
	    CORRECT },
	{ { .end = HTTP_RESOLVE,
	      .result = CURLE_COULDNT_RESOLVE_PROXY,
	      .text = "Could not resolve",
	      .of_proxy = true,
	      .https = true,
	      .config = &with_proxy },
	    "the name of the proxy http://p:1 (from https_proxy) is not known",
	    CORRECT },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_OPERATION_TIMEDOUT,
	      .text = "Proxy CONNECT aborted due to timeout",
	      .of_proxy = true,
	      .https = true,
	      .config = &with_proxy },
	    "the proxy http://p:1 (from https_proxy) gave no connection "
	    "within 10 s",
	    CORRECT },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_RECV_ERROR,
	      .text = "Proxy CONNECT aborted",
	      .of_proxy = true,
	      .https = true,
	      .config = &with_proxy },
	    "the proxy http://p:1 (from https_proxy) closed the connection",
	    CORRECT },
	{ { .end = HTTP_PROXY,
	      .result = CURLE_RECV_ERROR,
	      .text = "CONNECT tunnel failed",
	      0,
	      407,
	      true,
	      true,
	      .config = &with_proxy },
	    "the proxy http://p:1 (from https_proxy) wants a user and a "
	    "password (407)",
	    "Add --proxy-user USER:PASSWORD or --proxy-negotiate" },
	{ { .end = HTTP_PROXY,
	      .result = CURLE_RECV_ERROR,
	      .text = "CONNECT tunnel failed",
	      0,
	      407,
	      true,
	      true,
	      .config = &with_user },
	    "the proxy http://p:1 (from --proxy) does not accept the user and "
	    "password of --proxy-user (407)",
	    "Correct --proxy-user, or use --proxy-negotiate" },
	{ { .end = HTTP_PROXY,
	      .proxy_status = 407,
	      .text = "CONNECT tunnel failed",
	      .of_proxy = true,
	      .https = true,
	      .config = &with_ticket,
	      .no_ticket = "Ticket\texpired" },
	    "the proxy http://p:1 (from --proxy) wants a Kerberos ticket (407: "
	    "Ticket\\x09expired)",
	    "Run kinit" },
	{ { .end = HTTP_PROXY,
	      .proxy_status = 407,
	      .text = "CONNECT tunnel failed",
	      .of_proxy = true,
	      .https = true,
	      .config = &with_ticket },
	    "the proxy http://p:1 (from --proxy) does not accept the Kerberos "
	    "ticket (407)",
	    "\"klist\" shows whose it is and how long it is good, \"kinit\" "
	    "gets another" },
	{ { .end = HTTP_PROXY,
	      .result = CURLE_RECV_ERROR,
	      .text = "CONNECT tunnel failed",
	      0,
	      403,
	      true,
	      true,
	      .config = &with_proxy },
	    "the proxy http://p:1 (from https_proxy) does not allow it (403)",
	    "Ask whoever runs the proxy, or name h.test in --noproxy to go "
	    "there without it" },
	{ { .end = HTTP_PROXY,
	      .result = CURLE_RECV_ERROR,
	      .text = "CONNECT tunnel failed",
	      0,
	      503,
	      true,
	      true,
	      .config = &with_proxy },
	    "the proxy http://p:1 (from https_proxy) makes no connection to "
	    "it (503)",
	    NOT_BY_PROXY },
	{ { .end = HTTP_PROXY,
	      .result = CURLE_RECV_ERROR,
	      .text = "CONNECT tunnel failed",
	      0,
	      418,
	      true,
	      true,
	      .config = &with_proxy },
	    "the proxy http://p:1 (from https_proxy) refuses the way (418)",
	    "Ask whoever runs the proxy, or name h.test in --noproxy to go "
	    "there without it" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_PROXY,
	      .text = "Can't complete SOCKS5 connection",
	      .of_proxy = true,
	      .config = &with_proxy },
	    "the proxy makes no connection to it", NOT_BY_PROXY },
	{ { .end = HTTP_PROXY,
	      .result = CURLE_PROXY,
	      .text = "Received invalid version in initial SOCKS5 response.",
	      .of_proxy = true,
	      .https = true,
	      .config = &with_proxy },
	    "the proxy http://p:1 (from https_proxy) does not speak SOCKS",
	    "Begin https_proxy with http:// if it is an HTTP proxy" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_SSL_CONNECT_ERROR,
	      .text = OSSL "wrong version number",
	      .of_proxy = true,
	      .https = true,
	      .config = &with_proxy },
	    "the proxy http://p:1 (from https_proxy) does not speak TLS",
	    "Begin https_proxy with http:// instead of https://" },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = ISSUER,
	      .of_proxy = true,
	      .https = true,
	      .config = &with_proxy },
	    "the certificate of the proxy http://p:1 (from https_proxy) is "
	    "not trusted: unable to get local issuer certificate",
	    "Put its authority into the file of --proxy-cacert" },
	{ { .end = HTTP_CONFIG,
	      .result = CURLE_COULDNT_CONNECT,
	      .text = "Unsupported proxy scheme for 'foo://me:secret@p'",
	      .of_proxy = true,
	      .https = true,
	      .config = &with_proxy },
	    "the proxy http://p:1 (from https_proxy) has a scheme that is not "
	    "known",
	    "Begin https_proxy with http://, https:// or socks5h://" },

	/* files, and what no row knows */
	{ { .end = HTTP_CONFIG,
	      .result = CURLE_SSL_CACERT_BADFILE,
	      .text = "error setting",
	      .https = true,
	      .config = &with_cacert },
	    "the certificates to trust cannot be read: ca.pem",
	    "Correct --cacert" },
	{ { .end = HTTP_CONFIG,
	      .result = CURLE_SSL_CERTPROBLEM,
	      .text = "could not load PEM client certificate from me.pem",
	      .https = true,
	      .config = &with_cert },
	    "me.pem has no certificate in PEM form", "Correct --cert" },
	{ { .end = HTTP_CONFIG,
	      .result = CURLE_SSL_CERTPROBLEM,
	      .text = "unable to set private key file: 'x' type PEM",
	      .https = true,
	      .config = &with_cert },
	    "the key of --cert cannot be used",
	    "Check that --key belongs to --cert, and the password in "
	    "--key-password-file" },
	{ { .end = HTTP_CUT,
	      .result = CURLE_RECV_ERROR,
	      .text = OSSL "unexpected eof while reading, errno 0",
	      .https = true,
	      .fresh = true },
	    "unexpected eof while reading",
	    "If it wants a client certificate, add --cert FILE and --key "
	    "FILE" },
	{ { .end = HTTP_CUT,
	      .result = CURLE_PARTIAL_FILE,
	      .text = "transfer closed with 3 bytes. ",
	      .https = true },
	    "transfer closed with 3 bytes", "" },

	/* what the host has and does not pass on; never a value */
	{ { .end = HTTP_RESOLVE,
	      .result = CURLE_COULDNT_RESOLVE_HOST,
	      .text = "Could not resolve",
	      .missing = (char *[]){ (char[]){ "https_proxy=http://u:p@p:1" },
		  NULL } },
	    "its name is not known; your host has https_proxy set and does "
	    "not pass it on; put it into \"env\"",
	    "Check the host in the URL, and the network and DNS of this "
	    "machine" },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_COULDNT_CONNECT,
	      .os_error = ECONNREFUSED,
	      .text = "Failed",
	      .missing = (char *[]){ (char[]){ "http_proxy=" },
		  (char[]){ "all_proxy=x" }, (char[]){ "ALL_PROXY=x" },
		  NULL } },
	    "nothing listens there (connection refused); your host has "
	    "all_proxy, ALL_PROXY set and does not pass them on; put them "
	    "into \"env\"",
	    HOST_OR_PORT },
	{ { .end = HTTP_CONNECT,
	      .result = CURLE_COULDNT_CONNECT,
	      .os_error = ECONNREFUSED,
	      .text = "Failed",
	      .missing = (char *[]){ (char[]){ "http_proxy=" }, NULL } },
	    "nothing listens there (connection refused)", HOST_OR_PORT },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = ISSUER,
	      .https = true,
	      .missing = (char *[]){ (char[]){ "SSL_CERT_FILE=/ca" }, NULL } },
	    "its certificate is signed by an authority that is not trusted "
	    "here; your host has SSL_CERT_FILE set and does not pass it on; "
	    "put it into \"env\"",
	    TRUST },
	{ { .end = HTTP_TLS,
	      .result = CURLE_PEER_FAILED_VERIFICATION,
	      .text = "SSL certificate problem: certificate has expired",
	      .https = true,
	      .missing = (char *[]){ (char[]){ "SSL_CERT_FILE=/ca" }, NULL } },
	    "its certificate has expired",
	    "Whoever runs the server has to renew it, if the clock of this "
	    "machine is right: it says 2001-09-09 01:46 UTC" },
};

START_TEST(words_of_a_failure)
{
	struct http_failure f = cases[_i].f;
	struct buf why, remedy;

	f.host = "h.test";
	f.now = 1000000000;
	if (f.config == NULL)
		f.config = &plain;
	buf_init(&why, 0);
	buf_init(&remedy, 0);
	http_why(&f, &why, &remedy);
	ck_assert_str_eq(buf_str(&why), cases[_i].why);
	ck_assert_str_eq(buf_str(&remedy), cases[_i].remedy);
	buf_free(&why);
	buf_free(&remedy);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("http_why");
	TCase *t = tcase_create("words");

	tcase_add_loop_test(t, words_of_a_failure, 0, COUNT(cases));
	suite_add_tcase(s, t);
	return unit_run(s);
}
