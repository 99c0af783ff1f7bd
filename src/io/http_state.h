/*
 * The structures of io/http and the functions of its parts, from the bottom up,
 * for its files only.
 *
 * Invariants:
 *  - no multi function and no pause is called while libcurl is on the stack:
 *    http_send, http_abort and http_pause only put the transfer on the to-do
 *    list, which is worked through at the end of the turn; done is called from
 *    there too, or from the loop's own callbacks;
 *  - each transfer in use is on the list of the http object;
 *  - an easy handle keeps its transfer for life, so that the constant options
 *    are set once; transfers are pooled, never reset.
 */
#ifndef MCPSPLICE_IO_HTTP_STATE_H
#define MCPSPLICE_IO_HTTP_STATE_H

#include "base/bounds.h"
#include "io/connections.h"
#include "io/http.h"

/* --- authorities.c: the certificate authorities that are trusted, in the form
 * that is cheapest for libcurl --- */

/* With neither folder nor file, libcurl's defaults stay. The names are
 * borrowed. */
struct authorities {
	const char *folder; /* links named by hash, or NULL */
	const char *file;
	/* The same for an https proxy, to which the option cacert says
	 * nothing. */
	const char *proxy_folder, *proxy_file;
	struct buf both; /* the system's bundle and the extra file, or empty */
	/* The same as a file that is only in memory, which file names then. */
	int fd; /* -1: there is none */
	char path[32];
	const char *sources[2]; /* the files by name, or NULL */
	uint64_t seen;          /* of both, for authorities_renewed */
};

/* Chooses for these options, which are as in struct http_config and may be
 * NULL; a is zeroed. libcurl must have TLS. A file that cannot be read is left
 * to libcurl, which reports it for each transfer. The caller calls
 * authorities_free. */
void authorities_choose(struct authorities *a, const char *cacert,
    const char *ca_folder, const char *cacert_extra);
/* Were the files changed since they were chosen, or asked about? Then what is
 * only in memory is made again, and file may be another. */
bool authorities_renewed(struct authorities *a);
void authorities_free(struct authorities *a);
/* Returns the first place where a system has links named by hash and this one
 * has them, or NULL. */
const char *authorities_folder(bool (*is_there)(const char *path));
/* Returns the first place where a system has its bundle and this one has one,
 * or NULL. */
const char *authorities_bundle(bool (*is_there)(const char *path));

/* --- cookies.c: the limits of a cookie jar, and its end: libcurl keeps the
 * cookies, and has no limit --- */

enum {
	COOKIES_KEPT = BOUND_FEW / 4, /* of the oldest, and the newest */
	COOKIES_NAME_BYTES = 64
};

/* The most that the jar can hold: the cookies of the last count, and each
 * Set-Cookie since then. Zeros are a new jar. */
struct cookies {
	size_t n, bytes;
	size_t set; /* how often a cookie was set */
	/* The names that came first. The jar does not tell: in that of a new
	 * libcurl, a cookie that is set again is the last one. Longer names are
	 * not noted. */
	char first[COOKIES_KEPT][COOKIES_NAME_BYTES];
	size_t n_first;
	bool told; /* the user was told that cookies were dropped */
};

/* Counts the cookie of this line of a head; libcurl has put it into the jar
 * already. Returns false if there is none. */
bool cookies_count(struct cookies *c, const char *line, size_t n);
/* Empties the jar, which easy uses. */
void cookies_drop(struct cookies *c, CURL *easy);
/* Counts the cookies in the jar of share, and removes some if there are too
 * many. */
void cookies_trim(struct cookies *c, CURLSH *share);

/* May there be too many? */
static inline bool
cookies_overflow(const struct cookies *c)
{
	return c->n > BOUND_FEW || c->bytes > BOUND_COOKIES_BYTES;
}

/* --- the object and its transfers --- */

enum {
	HTTP_SMALL_BODY_BYTES = 64 * 1024, /* such a body is sent at once */
	/* A new libcurl keeps a buffer of this size while a request is open,
	 * however small its body is. This is the least that it takes. */
	HTTP_SMALL_BUFFER_BYTES = 16 * 1024,
	HTTP_LARGE_BUFFER_BYTES = 64 * 1024
};

struct http {
	struct loop *l;
	struct http_config config;
	struct connections *connections;
	CURLSH *share;
	struct loop_timer *idle;       /* one timer for all transfers */
	int64_t idle_at;               /* when it fires; 0: it does not run */
	struct loop_timer *next_turn;  /* goes on with what was held for it */
	struct transfer *first, *last; /* those in use */
	struct transfer *spare;
	unsigned nspare;
	struct transfer *todo, **todo_end;
	loop_cb *on_turn_end; /* works through the to-do list */
	bool deferred;        /* on_turn_end will be called */
	struct curl_slist *resolve;
	char *codings; /* the line of Accept-Encoding; NULL: libcurl's */
	struct curl_slist *agent; /* the line of User-Agent; NULL: none */
	struct cookies cookies;
	struct authorities authorities;
	bool authorities_chosen; /* else no request needed them yet */
	int64_t renewed_at;      /* when their files were found changed; 0 */
	bool two;                /* the last answer came in HTTP/2 */
	bool answered;           /* the server has answered a request */
	bool connected;     /* if watched: a socket was that is closed now */
	int64_t doubted_at; /* when the way to the server was last in doubt */
	bool raw;           /* bodies are not decoded */
	char *asked_url;    /* http_takes_proxy was asked last about it, */
	bool takes_proxy;   /* and this was its answer */
};

struct transfer {
	struct http *h;
	struct multi *multi; /* what runs it; NULL: it does not run */
	CURL *easy;
	CURLcode refused;             /* first error of curl_easy_setopt */
	struct transfer *next, *prev; /* in use; spare by next alone */
	struct transfer *todo_next, **todo_prev; /* todo_prev is NULL when x is
						  * not on the to-do list */
	struct http_ops ops;
	void *arg;
	char *url;
	CURLU *parsed_url;
	struct curl_slist *lines; /* an array, linked, and its text after it */
	size_t lines_bytes;
	uint64_t stamp;     /* of the request that they are of; 0: none */
	bool is_other;      /* the last request was neither POST nor GET */
	bool fresh;         /* the last request wanted a new connection */
	bool may_be_two;    /* the last request may go out in HTTP/2 */
	bool trusts;        /* h->authorities are set */
	int64_t renewed_at; /* that of h, when it began */
	bool proxied;       /* the URL is reached through a proxy */
	size_t body_bytes;  /* progress callbacks are on for a body that is
			      * not small */
	bool asks; /* config.allow is asked: the URL is reached without a
			 * proxy */
	struct way_notes *notes; /* of http_way; NULL: it is not watched */

	/* From here on: of one request, and zero when it begins. */
	unsigned long stream; /* of HTTP/2, for what was sent; 0: not known */
	int64_t max_idle_ms;
	bool proof, wary, opens;
	size_t cookies_set; /* as the cookies count it, without what came by
			     * other answers since the request was sent */
	struct connection *connection; /* what the request was written to; NULL:
					* none yet, or it is not known */
	bool stale; /* the connection that libcurl chose was not good enough,
		       * and the transfer has to start again */
	int64_t idle_ms;
	int64_t expires;     /* end of the transfer in any case; 0: none */
	int64_t heard;       /* when the last byte came */
	unsigned initials;   /* of the names of the headers that came */
	int64_t turn_at;     /* the turn of the loop in which so many */
	size_t turn_bytes;   /* bytes of the body were taken */
	int64_t written;     /* when the last byte of the request went out */
	curl_off_t out;      /* bytes of the body sent so far */
	curl_off_t uploaded; /* bytes sent at the last idle timer */
	size_t head_bytes;   /* includes 1xx and trailers */
	int status; /* what ops.head was called with; 0: it was not called */
	bool abort;
	bool paused;         /* the caller asked for a pause */
	bool held;           /* the write callback paused the transfer */
	bool looks;          /* its connection may have ended */
	bool began;          /* libcurl began to write the request, and the
			      * server did not refuse it unprocessed */
	long written_before; /* bytes that libcurl wrote before that, as it
			      * counts them */
	curl_off_t uploaded_before; /* bytes of a body likewise */
	bool again;       /* after a 401 or 407 to a ticket the request may be
			   * written once more */
	char *no_ticket;  /* why there is none, in the words of GSS-API; NULL:
			   * nothing is known */
	bool ticket_sent; /* a request carried one */
	bool denied;      /* config.allow refused an address */
	bool let;         /* config.allow took an address */
	bool opened;      /* a socket was opened for it */
	bool reached;     /* and closed again while it was connected */
	bool too_large;
	char error[CURL_ERROR_SIZE];
};

/* A bit for the first letter of a header's name, in whatever case. */
static inline unsigned
initial_of(char c)
{
	return 1U << (c & 31);
}

/* Sets an option and remembers the first error; a transfer with an error ends
 * as HTTP_CONFIG. */
#define SET(x, option, value)                                                  \
	do {                                                                   \
		CURLcode set_rc;                                               \
		set_rc = curl_easy_setopt((x)->easy, option, value);           \
		if ((x)->refused == CURLE_OK)                                  \
			(x)->refused = set_rc;                                 \
	} while (0)

/* --- http_handles.c: the transfers in use, to use again, and to do --- */

/* Lets h->on_turn_end be called once, at the end of this turn. */
void http_todo_wake(struct http *h);
/* Adds x as the last of the list, if it is not there already. */
void http_todo_add(struct transfer *x);
/* Takes x from the list, if it is there. */
void http_todo_remove(struct transfer *x);
/* Puts the transfer into the pool if it may be used again, or frees it. */
void http_handle_release(struct transfer *x, bool reusable);
/* Frees all transfers, without callbacks. */
void http_handles_free(struct http *h);

/* --- http_way.c: what is noted of the way to the server, for http_way --- */

/* What libcurl tells only while a transfer runs. */
struct way_notes {
	char tls[16];     /* "TLSv1.3"; "": there was none */
	struct buf tried; /* addresses, ", " between them */
};

/* Sets the options of a transfer that is watched (config.watched), and makes
 * its notes. */
void http_way_set(struct transfer *x);
/* Takes one line of libcurl's words about x. */
void http_way_heard(struct transfer *x, const char *words);
/* Notes that this address is tried. */
void http_way_tried(struct transfer *x, const struct sockaddr *sa,
    unsigned sa_bytes);
/* Notes whether this socket, which will be closed, was connected. */
void http_way_closed(struct http *h, int fd);
/* Frees the notes; NULL is allowed. */
void http_way_forget(struct way_notes *n);

/* --- http_negotiate.c: Negotiate (RFC 4559), for the server or a proxy --- */

/* Sets the constant options of x. */
void http_negotiate_set(struct transfer *x);
/* Takes one line of libcurl's words about x. */
void http_negotiate_heard(struct transfer *x, struct span words);
/* Takes a head that was written. */
void http_negotiate_sends(struct transfer *x, struct span head);
/* Why x has no ticket; NULL: it had one. */
const char *http_negotiate_lacks(const struct transfer *x);
/* May libcurl write the request once more after an answer with this status? The
 * server did not process it then. */
bool http_negotiate_goes_on(const struct transfer *x, long status);
/* Did x end with the server's refusal of the ticket, or of a request without
 * one? */
bool http_negotiate_refused(const struct transfer *x);
/* Appends the reason for users, with what to do. */
void http_negotiate_say(const struct transfer *x, struct buf *why);

/* --- http_two.c: what is different with HTTP/2 (RFC 9113) --- */

/* Sets the constant options of x. */
void http_two_set(struct transfer *x);
/* Sets the options of x that depend on its URL: https may get HTTP/2, http has
 * HTTP/1.1 and pays nothing. */
void http_two_choose(struct transfer *x);
/* Does the server speak HTTP/2 on the latest connection? All exchanges share
 * it then. */
bool http_two_shared(const struct transfer *x);
/* Notes the head or a piece of the body of x, of whatever version. */
void http_two_heard(struct transfer *x);
/* The connection of x may be dead: it is forgotten. */
void http_two_stale(struct transfer *x);
/* Notes that x is over. If it failed, the others on its connection look whether
 * that has ended. If it was given up while the server said nothing, the
 * connection may be dead without any sign, and is forgotten: in HTTP/1.1 it
 * would have been closed with x. After an answer that breaks the rules of HTTP/2
 * later requests get HTTP/1.1. Returns false if the handle of x must not be
 * used again. */
bool http_two_over(struct transfer *x, CURLcode rc, enum http_end end);

/* --- http_why.c: why a transfer failed, in words for users. It has no state:
 * what is known of the failure goes in, and words come out. --- */

struct http_failure {
	enum http_end end;
	CURLcode result;
	const char *text; /* libcurl's words; may be "" */
	int os_error;     /* errno of the connection; 0: not known */
	int proxy_status; /* of a CONNECT, else 0 */
	bool of_proxy;    /* the proxy failed, not the server */
	bool https;       /* the URL's scheme */
	bool loopback;    /* the URL's host */
	bool fresh;       /* the connection was made for this transfer */
	bool answered;    /* the server has answered before, so it speaks this
			   * scheme */
	bool reached;     /* there was a connection to the server */
	const char *host; /* of the URL */
	/* What libcurl says of the server's certificate, "NAME:VALUE" for each
	 * item; NULL: nothing. */
	const struct curl_slist *certificate;
	int64_t now; /* of the clock of this machine, in s since 1970 */
	const struct http_config *config;
	/* Why there is no Kerberos ticket; NULL: there is one. */
	const char *no_ticket;
	/* Variables, "NAME=VALUE", that may be missing and that the host has and
	 * did not pass on; NULL: none. */
	char **missing;
};

/* Appends the cause and the remedy. The remedy may stay empty. */
void http_why(const struct http_failure *f, struct buf *why,
    struct buf *remedy);

/* --- http_transfer.c: what libcurl says of a transfer, and its meaning --- */

/* Sets the callbacks of x->easy. */
void http_transfer_set(struct transfer *x);
/* Both call done and release x. libcurl must not be on the stack. */

/* Ends a transfer that libcurl has ended, with this result. */
void http_finish(struct transfer *x, CURLcode rc);
/* Ends a transfer that libcurl has not ended. */
void http_finish_early(struct transfer *x, enum http_end end);

/* --- http_setup.c: the options of an easy handle --- */

/* Takes a transfer from the pool, or makes one, with all options for r. It is in
 * use until http_handle_release. The body stays the caller's; all else is copied.
 * If libcurl has no memory, x->easy is NULL, and x->refused ends the
 * transfer. */
struct transfer *http_setup(struct http *h, const struct http_request *r);
/* Lets x trust what the files of h->authorities have now, if they were found
 * changed. */
void http_setup_forget_trust(struct transfer *x);

/* --- http_proxy.c: which proxy, if any --- */

/* Sets the options that are the same for each request. */
void http_proxy_set(struct transfer *x);
/* Sets those of a request to this URL, and x->asks. A loopback address never
 * gets a proxy; other hosts without one are in config.noproxy. When addresses
 * have to be checked, libcurl must do what http_takes_proxy found: "*" means no
 * proxy, "" means always the proxy. */
void http_proxy_choose(struct transfer *x, const char *url);

/* --- http_sign.c --- */

/* Sets the constant options of x, if requests are signed. */
void http_sign_set(struct transfer *x);
/* Returns the URL that this libcurl has to be given in place of x->url, so that
 * it signs rightly; x->url is sent all the same. The caller owns it. NULL: it
 * needs none. x->proxied is set before. */
char *http_sign_url(struct transfer *x);
/* Sets the key of a request, NULL for none, and adds its headers to to, in a
 * form that each libcurl signs rightly. */
void http_sign(struct transfer *x, const struct header *key,
    const struct headers *first, const struct headers *more,
    struct headers *to);

#endif
