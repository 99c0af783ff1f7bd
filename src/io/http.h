/*
 * HTTP on a curl multi handle. A request goes in, head, data and done come
 * out. Owns every trap of libcurl:
 *  - curl callbacks move bytes inward only; sending, aborting and resuming
 *    are put off to the end of the turn, with an empty curl stack;
 *  - a POST is never sent twice by the library: the first call of
 *    PREREQFUNCTION for a transfer sets "sent", a second one aborts;
 *  - no redirect is followed here.
 */
#ifndef MCPSPLICE_IO_HTTP_H
#define MCPSPLICE_IO_HTTP_H

#include "base/headers.h"
#include "io/loop.h"

struct sockaddr;
struct http;
struct exchange;

/* Strings are borrowed for the life of the http object; NULL or 0: off. */
struct http_config {
	const char *user_agent;
	const char *proxy;      /* NULL: the usual environment */
	const char *noproxy;    /* instead of NO_PROXY; loopback is exempt */
	const char *proxy_user; /* user:password */
	bool proxy_negotiate;
	const char *proxy_cacert;
	const char *cacert;       /* PEM file instead of the system's store */
	const char *cacert_extra; /* PEM file added to the system's store */
	const char *cert;
	const char *key;
	const char *key_password;
	/* User and password for the server's host, as curl reads them; an
	 * Authorization header of a request wins. */
	const char *netrc_file;
	bool ipv4_only, ipv6_only;
	const char *const *resolve; /* NULL-ended list of HOST:PORT:ADDR */
	const char *unix_socket;
	bool no_cookies;
	bool compressed; /* ask for gzip */
	bool http2;
	int64_t connect_timeout_ms;
	unsigned max_inflight; /* the connection cache is larger than this */
	/* May this address be connected to? Asked for each address before
	 * each connect, but not for those of a proxy; NULL: all may. */
	bool (*allow)(const struct sockaddr *sa, void *arg);
	void *allow_arg;
};

struct http_request {
	const char *method;            /* "POST", "GET", "DELETE" */
	const char *url;               /* copied */
	struct span body;              /* borrowed until done; POST only */
	const struct headers *headers; /* copied */
	/* End with HTTP_IDLE after so many ms without a byte; 0: never. */
	int64_t idle_ms;
	/* Do not reuse a connection that was idle for so many seconds; 0:
	 * libcurl's own limit. */
	long max_idle_conn_s;
};

enum http_end {
	HTTP_DONE,    /* the answer is complete */
	HTTP_CUT,     /* the connection broke, or the peer broke the protocol */
	HTTP_IDLE,    /* idle_ms passed */
	HTTP_ABORTED, /* http_abort */
	/* Nothing was written (but see http_answer.sent: TLS 1.3 tells of a
	 * missing client certificate late): */
	HTTP_RESOLVE, /* no such host */
	HTTP_CONNECT, /* refused, unreachable, or the connect timeout */
	HTTP_TLS,     /* the certificate or the handshake */
	HTTP_PROXY,   /* the proxy refused (why holds its status) */
	HTTP_CONFIG,  /* an option cannot be used: a file, a scheme */
	HTTP_REFUSED  /* config.allow allows none of the host's addresses */
};

struct http_answer {
	enum http_end end;
	/* May the server have seen the request? false is certain. */
	bool sent;
	int status;       /* 0 when there was none */
	int proxy_status; /* of a CONNECT, else 0 */
	const char *why;  /* for people; may be "" */
	bool too_large_head;
};

struct http_ops {
	/* Status line and headers are complete (never for 1xx, nor for a
	 * proxy's answer to CONNECT). http_header works from here on. */
	void (*head)(struct exchange *x, int status, void *arg);
	/* Body bytes. Returns false to end the exchange (HTTP_ABORTED). */
	bool (*data)(struct exchange *x, const char *p, size_t n, void *arg);
	/* Once, the last call; x is gone after it. */
	void (*done)(struct exchange *x, const struct http_answer *a,
	    void *arg);
};

/* NULL when libcurl cannot start or is too old (7.85) or has no TLS; *why
 * then says it. */
struct http *http_new(struct loop *l, const struct http_config *config,
    const char **why);
/* Starts a request, at the end of this turn. Callbacks come later, never from
 * inside this call. The exchange belongs to the http object. */
struct exchange *http_send(struct http *h, const struct http_request *r,
    const struct http_ops *ops, void *arg);
/* Value of the index-th header of that name, or NULL. From head until done
 * has returned. */
const char *http_header(struct exchange *x, const char *name, size_t index);
/* Appends all values of headers of that name, ", " between. Returns 0, or -1
 * when there is none, or out is full: out is as it was then. */
int http_headers_all(struct exchange *x, const char *name, struct buf *out);
/* When the last byte of the request was written (loop_now), 0 before that. It
 * is the time of a socket's buffer, not of the server's. */
int64_t http_written_at(const struct exchange *x);
/* The address of the server, or of the proxy that was asked, as text; NULL
 * for a unix socket. From head until done has returned. */
const char *http_peer(struct exchange *x);
/* Ends it: done comes later with HTTP_ABORTED. */
void http_abort(struct exchange *x);
/* Ends it with HTTP_IDLE when it is not over in so many ms from now, whatever
 * comes. */
void http_expire(struct exchange *x, int64_t ms);
/* Stops and goes on taking the body from the network. */
void http_pause(struct exchange *x, bool paused);
/* What begins from now on, in this turn too, gets connections that are made
 * from now on, and looks names up again. What is under way goes on. */
void http_forget(struct http *h);
/* Ends all without callbacks, closes the connections. */
void http_free(struct http *h);
/* Would a request to this URL go to an HTTP proxy? */
bool http_takes_proxy(const struct http_config *config, const char *url);
/* "libcurl/7.88.1 OpenSSL/3.0.19 ..." */
const char *http_version(void);

#endif
