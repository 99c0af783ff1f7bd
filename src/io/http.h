/*
 * HTTP on a curl multi handle. A request goes in; head, data and done come out.
 * This room deals with the pitfalls of libcurl:
 *  - curl callbacks only take in bytes; sending, aborting and resuming are
 *    deferred to the end of the turn, with an empty curl stack;
 *  - the library never sends a POST twice: the first call of
 *    PREREQFUNCTION for a transfer sets "sent", a second one aborts;
 *  - no redirect is followed here.
 */
#ifndef MCPSPLICE_IO_HTTP_H
#define MCPSPLICE_IO_HTTP_H

#include "base/headers.h"
#include "io/loop.h"

struct sockaddr;
struct http;
struct transfer;

/* The proxy of the URLs of one scheme, for the words of a failure. */
struct http_proxy_setting {
	const char *url;  /* without user and password; NULL: none */
	const char *from; /* the option or variable that names it */
};

/* The variables in which libcurl looks for the proxy of http and of https URLs,
 * in this order; NULL-ended. */
extern const char *const http_proxy_variables[2][5];

/* Strings are borrowed for the life of the http object; NULL or 0 switch an
 * option off. */
struct http_config {
	const char *user_agent;
	const char *proxy;      /* NULL: the usual environment variables */
	bool system_proxy[2];   /* of http and of https URLs: that of the
				 * system's settings */
	const char *noproxy;    /* hosts without a proxy, besides loopback:
				 * --noproxy or NO_PROXY */
	const char *proxy_user; /* user:password */
	bool proxy_negotiate;
	/* Requests to a server carry a Kerberos ticket of the user; they go out
	 * in HTTP/1.1, whatever http2 says. */
	bool negotiate;
	/* "aws:amz:REGION:SERVICE": requests to a server that have a key are
	 * signed for AWS by CURLOPT_AWS_SIGV4. */
	const char *sigv4;
	const char *proxy_cacert;
	struct http_proxy_setting proxies[2]; /* of http and of https URLs */
	const char *cacert; /* PEM file instead of the system's store */
	/* PEM files named by hash instead of the system's store; cacert has
	 * precedence. Not used, with a warning, if there are none. */
	const char *ca_folder;
	const char *cacert_extra; /* PEM file added to the system's store */
	const char *cert;
	const char *key;
	const char *key_password;
	/* Holds user and password for the server's host, as curl reads them; an
	 * Authorization header of a request has precedence. */
	const char *netrc_file;
	bool node_insecure; /* NODE_TLS_REJECT_UNAUTHORIZED asks for no checks:
			     * it has no effect, which is told */
	bool ipv4_only, ipv6_only;
	const char *const *resolve; /* NULL-ended list of HOST:PORT:ADDR */
	const char *unix_socket;
	bool no_cookies;
	/* Accept-Encoding; "": all that libcurl can decode. What comes is
	 * decoded, whether it was asked for or not. NULL: neither. */
	const char *codings;
	bool http2;
	int64_t connect_timeout_ms;
	unsigned max_inflight; /* the connection cache is larger than this */
	/* May this address be connected to? Called for each address before each
	 * connect, but not for those of a proxy; NULL: all are allowed. */
	bool (*allow)(const struct sockaddr *sa, void *arg);
	void *allow_arg;
	bool watched; /* http_way reports all that it can */
	/* Only connects, and accepts each certificate: to look at one that was
	 * refused. No request is sent, no certificate, no password. Each
	 * transfer ends without an answer. Implies watched. */
	bool only_looks;
};

struct http_request {
	const char *method;            /* "POST", "GET", "DELETE" */
	const char *url;               /* copied */
	struct span body;              /* borrowed until done; only for POST */
	const struct headers *headers; /* copied; NULL: none */
	uint64_t stamp; /* not 0: the headers are those of each request before
			 * that had this stamp */
	const struct headers *more_headers; /* likewise, and sent after them */
	const struct header *key;           /* likewise: the id and secret for
				   * config.sigv4 */
	/* Ends with HTTP_IDLE after this many ms without a byte; 0: never. */
	int64_t idle_ms;
	/* Connections that were idle for this many ms are not reused; 0: no
	 * limit. */
	int64_t max_idle_conn_ms;
	bool proof; /* but they are if the system can tell that they live */
	bool fresh; /* on a new connection, whatever is idle; the name is looked
		     * up again */
	bool wary;  /* on none whose last answer was an error (not in HTTP/2) */
	/* It begins a session. If it is refused by 404, 410 or 5xx, all cookies
	 * are dropped, unless another answer has set one since it was sent: they
	 * may lead to a replica that is gone. */
	bool opens;
};

enum http_end {
	HTTP_DONE,    /* the answer is complete */
	HTTP_CUT,     /* the connection broke, or the peer broke the protocol */
	HTTP_IDLE,    /* idle_ms or http_expire passed */
	HTTP_ABORTED, /* http_abort */
	/* Nothing was written (but see http_answer.sent: TLS 1.3 reports a
	 * missing client certificate late): */
	HTTP_RESOLVE, /* no such host */
	HTTP_CONNECT, /* refused, unreachable, or the connect timeout */
	HTTP_TLS,     /* the certificate or the handshake */
	HTTP_PROXY,   /* the proxy refused (why contains its status) */
	HTTP_CONFIG,  /* an option cannot be used: a file, a scheme */
	HTTP_REFUSED  /* config.allow allows none of the host's addresses */
};

struct http_answer {
	enum http_end end;
	/* May the server have seen the request? false is certain. */
	bool sent;
	int status;       /* 0: there was no answer */
	int proxy_status; /* of a CONNECT, else 0 */
	/* For users, a clause; may be "". A 401 or 407 has one if it refused
	 * the ticket of config.negotiate or config.proxy_negotiate. */
	const char *why;
	const char *remedy; /* a sentence without its full stop; may be "" */
	bool too_large_head;
	/* The body is as it came; or its Content-Encoding could not be decoded
	 * (HTTP_CUT). */
	bool undecoded;
	bool conn_refused; /* HTTP_CONNECT: nobody listens there */
};

struct http_ops {
	/* Status line and headers are complete (never for 1xx, nor for a
	 * proxy's answer to CONNECT). http_header works from here on. */
	void (*head)(struct transfer *x, int status, void *arg);
	/* Takes bytes of the body. Returns false to end the transfer
	 * (HTTP_ABORTED). */
	bool (*data)(struct transfer *x, const char *p, size_t n, void *arg);
	/* The last call, made once; x is gone after it. */
	void (*done)(struct transfer *x, const struct http_answer *a,
	    void *arg);
};

/* Makes an http object, which the caller owns. Returns NULL with *why, a static
 * text, if libcurl cannot start, is older than 7.85, has no TLS, or cannot do
 * config.negotiate or config.proxy_negotiate. */
struct http *http_new(struct loop *l, const struct http_config *config,
    const char **why);
/* Starts a request at the end of this turn. Callbacks come later, never from
 * inside this call. The http object owns the transfer. */
struct transfer *http_send(struct http *h, const struct http_request *r,
    const struct http_ops *ops, void *arg);
/* Returns the value of the index-th header of that name, or NULL. Works from
 * head until done has returned. */
const char *http_header(struct transfer *x, const char *name, size_t index);
/* Appends all values of headers of that name, with ", " between them. Returns
 * 0, or -1 with out unchanged if there is none or out is full. */
int http_headers_all(struct transfer *x, const char *name, struct buf *out);
/* Returns by how many seconds this machine's clock is ahead of the Date of the
 * answer, which has come right now: negative if it is behind, 0 if there is no
 * date. */
int64_t http_clock_ahead(struct transfer *x);
/* Returns the Retry-After of the answer in ms; -1 if it has none, or one that is
 * wrong or above most_ms. A date counts from the Date of the answer, or else
 * from this machine's clock; one that is over is 0 (RFC 9110 10.2.3). */
int64_t http_retry_after(struct transfer *x, int64_t most_ms);
/* Returns the time (loop_now) at which the last byte of the request was
 * written, 0 before that. The byte then is in the socket's buffer, not yet at
 * the server. */
int64_t http_written_at(const struct transfer *x);
/* Returns the address of the server, or of the proxy that was used, as text;
 * NULL for a unix socket. Works from head until done has returned. */
const char *http_peer(struct transfer *x);
/* One certificate, in the words of the TLS library; NULL and 0: not told. */
struct http_certificate {
	char *subject, *issuer;
	char *names;         /* "DNS:mcp.example.com, IP Address:192.0.2.1" */
	int64_t from, until; /* s since 1970 */
	char *pem;           /* the certificate itself */
};

/* The way to the server, as far as the transfer came. Strings are NULL if they
 * are not known. */
struct http_way {
	bool proxied;   /* what follows, except TLS, is then about the proxy */
	bool connected; /* also where connect_us is not known */
	/* When each was over, in microseconds since the start; 0: it was not.
	 * A connection that was there before has no times. */
	int64_t name_us, connect_us, tls_us, total_us;
	char *address; /* that it is connected to */
	char *tried;   /* all that were tried, ", " between them */
	char *tls;     /* "TLSv1.3" */
	struct http_certificate *chain; /* the server's own is the first */
	size_t n;
};

/* Tells the way of a transfer of a client with config.watched; another client
 * knows only times and address. Works from head until done has returned. Free
 * w with http_way_free. */
void http_way(struct transfer *x, struct http_way *w);
/* Frees what w holds, not w. */
void http_way_free(struct http_way *w);
/* Ends the transfer: done comes later with HTTP_ABORTED. */
void http_abort(struct transfer *x);
/* Ends the transfer with HTTP_IDLE if it is not over ms from now, whatever
 * arrives. */
void http_expire(struct transfer *x, int64_t ms);
/* Stops reading the body from the network, or continues. */
void http_pause(struct transfer *x, bool paused);
/* Transfers that start from now on, in this turn too, get new connections and
 * look names up again. Running transfers continue. */
void http_forget(struct http *h);
/* Ends all transfers without callbacks and closes the connections. */
void http_free(struct http *h);
/* Would a request to this URL go to an HTTP proxy? */
bool http_takes_proxy(const struct http_config *config, const char *url);
/* "libcurl/7.88.1 OpenSSL/3.0.19 ..." */
const char *http_version(void);
/* Returns what this libcurl can do, in the words of "curl --version": "HTTP2 IPv6
 * ...". The caller frees it. */
char *http_features(void);

#endif
