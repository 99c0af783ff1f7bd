/* The life of transfers, the work at the end of a turn, and an end for what is
 * silent, or late. */
#include "config.h"

#include "io/http.h"

#include <stdlib.h>

#include "io/http_state.h"

enum {
	HTTP_NAME_AGE_S = 60,
	HTTP_TEXT_BYTES = 512, /* most requests have less, without the body */
	HTTP_OLDEST_CURL = 0x075500 /* CURLOPT_PROTOCOLS_STR */
};

static const char not_started[] = "cannot initialize libcurl";

/* Returns for how many seconds libcurl may know the address of a name: not from
 * before the way there was in doubt, because the server may have moved. A name
 * that config.resolve gives has no age. */
static long
name_age(const struct http *h)
{
	int64_t age = (loop_now(h->l) - h->doubted_at) / 1000;

	return age < HTTP_NAME_AGE_S ? (long)age : HTTP_NAME_AGE_S;
}

/* Starts the transfer. config.resolve is set here, because the multi handle
 * keeps these names, but takes them from an easy handle only once. */
static void
start(struct transfer *x)
{
	if (x->h->resolve != NULL)
		SET(x, CURLOPT_RESOLVE, x->h->resolve);
	SET(x, CURLOPT_DNS_CACHE_TIMEOUT, name_age(x->h));
	http_setup_forget_trust(x);
	if (x->refused != CURLE_OK) {
		http_finish(x, x->refused);
		return;
	}
	x->multi = connections_add(x->h->connections, x->easy);
	if (x->multi == NULL)
		http_finish(x, CURLE_FAILED_INIT);
}

/* Resumes a transfer. curl_easy_pause runs its callbacks, which may pause it
 * again. It fails for a transfer that is over; the message of that one is on
 * its way. */
static void
resume(struct transfer *x)
{
	CURLcode rc;

	x->held = false;
	rc = curl_easy_pause(x->easy, CURLPAUSE_CONT);
	if (rc != CURLE_OK && rc != CURLE_BAD_FUNCTION_ARGUMENT)
		http_finish(x, rc);
}

/* Lets libcurl read from the connection, although the system has nothing to
 * report. What it finds is only for this transfer. */
static void
look(struct transfer *x)
{
	x->looks = false;
	(void)curl_easy_pause(x->easy, CURLPAUSE_RECV);
	resume(x);
	connections_work(x->h->connections);
}

static void
http_on_deferred(void *arg)
{
	struct http *h = arg;
	struct transfer *x;

	h->deferred = false;
	if (cookies_overflow(&h->cookies))
		cookies_trim(&h->cookies, h->share);
	while ((x = h->todo) != NULL) {
		http_todo_remove(x);
		if (x->abort)
			http_finish_early(x, HTTP_ABORTED);
		else if (x->multi == NULL)
			start(x);
		else if (x->held && !x->paused)
			resume(x);
		else if (x->looks && !x->held)
			look(x);
	}
	/* New requests are written in this turn, not in the next. */
	connections_work(h->connections);
}

/* Goes on with the transfers that were held for the turn before. */
static void
http_on_next_turn(void *arg)
{
	struct http *h = arg;
	struct transfer *x;

	for (x = h->first; x != NULL; x = x->next)
		if (x->held && !x->paused)
			http_todo_add(x);
}

/* Lets the timer fire at this time (loop_now), or earlier. */
static void
idle_watch(struct http *h, int64_t at)
{
	if (h->idle_at != 0 && h->idle_at <= at)
		return;
	h->idle_at = at;
	loop_timer_set(h->idle, at - loop_now(h->l));
}

/* A transfer is not silent while a large body is going out, or while the
 * caller pauses it. */
static void
idle_excuse(struct transfer *x, int64_t now)
{
	curl_off_t uploaded;

	uploaded = 0;
	curl_easy_getinfo(x->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
	if (x->paused ||
	    (x->body_bytes > HTTP_SMALL_BODY_BYTES && uploaded != x->uploaded))
		x->heard = now;
	x->uploaded = uploaded;
}

/* Returns when the transfer has to end; INT64_MAX: never. */
static int64_t
ends_at(const struct transfer *x)
{
	int64_t at = x->idle_ms == 0 ? INT64_MAX : x->heard + x->idle_ms;

	return x->expires != 0 && x->expires < at ? x->expires : at;
}

/* Ends what is late, and sets the timer again. */
static void
on_idle(void *arg)
{
	struct http *h = arg;
	struct transfer *x, *next;
	int64_t now, at;

	now = loop_now(h->l);
	h->idle_at = 0;
	for (x = h->first; x != NULL; x = next) {
		next = x->next;
		if (x->idle_ms != 0 && x->heard + x->idle_ms <= now)
			idle_excuse(x, now);
		at = ends_at(x);
		if (at <= now)
			http_finish_early(x,
			    x->abort ? HTTP_ABORTED : HTTP_IDLE);
		else if (at != INT64_MAX)
			idle_watch(h, at);
	}
	connections_settle(h->connections);
}

struct transfer *
http_send(struct http *h, const struct http_request *r,
    const struct http_ops *ops, void *arg)
{
	struct transfer *x = http_setup(h, r);

	x->ops = *ops;
	x->arg = arg;
	x->heard = loop_now(h->l);
	x->idle_ms = r->idle_ms;
	if (x->idle_ms > 0)
		idle_watch(h, x->heard + x->idle_ms);
	http_todo_add(x);
	return x;
}

int64_t
http_written_at(const struct transfer *x)
{
	return x->written;
}

void
http_abort(struct transfer *x)
{
	x->abort = true;
	http_todo_add(x);
}

void
http_expire(struct transfer *x, int64_t ms)
{
	x->expires = loop_now(x->h->l) + ms;
	idle_watch(x->h, x->expires);
}

void
http_pause(struct transfer *x, bool paused)
{
	if (x->paused == paused)
		return;
	x->paused = paused;
	/* The time of the pause does not count as silence. */
	x->heard = loop_now(x->h->l);
	if (!paused && x->held)
		http_todo_add(x);
}

/* Returns why this libcurl cannot be used, or NULL if it can. */
static const char *
unfit(const struct http *h)
{
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);

	if (v->version_num < HTTP_OLDEST_CURL)
		return "libcurl is older than 7.85";
	if (!(v->features & CURL_VERSION_SSL) || v->ssl_version == NULL)
		return "libcurl was built without TLS";
	if (h->config.negotiate && !(v->features & CURL_VERSION_SPNEGO))
		return "it was built without GSS-API, which --negotiate "
		       "needs; the .deb package has it";
	if (h->config.proxy_negotiate && !(v->features & CURL_VERSION_SPNEGO))
		return "it was built without GSS-API, which "
		       "--proxy-negotiate needs; the .deb package has it";
	if (h->share == NULL || h->connections == NULL)
		return not_started;
	return NULL;
}

static void
share_new(struct http *h)
{
	h->share = curl_share_init();
	if (h->share == NULL)
		return;
	curl_share_setopt(h->share, CURLSHOPT_SHARE,
	    CURL_LOCK_DATA_SSL_SESSION);
	if (!h->config.no_cookies)
		curl_share_setopt(h->share, CURLSHOPT_SHARE,
		    CURL_LOCK_DATA_COOKIE);
}

/* As xrealloc, for libcurl: it lets the text of a request grow from 32 bytes on,
 * by doubling, and each time the bytes are moved. */
static void *
roomy_realloc(void *p, size_t size)
{
	return xrealloc(p, size < HTTP_TEXT_BYTES ? HTTP_TEXT_BYTES : size);
}

struct http *
http_new(struct loop *l, const struct http_config *config, const char **why)
{
	const char *const *entry;
	struct http *h;
	char *line;

	*why = not_started;
	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, xmalloc, free,
		roomy_realloc, xstrdup, xcalloc) != CURLE_OK)
		return NULL;
	h = xcalloc(1, sizeof *h);
	h->l = l;
	h->config = *config;
	h->todo_end = &h->todo;
	h->on_turn_end = http_on_deferred;
	h->idle = loop_timer_new(l, on_idle, h);
	h->next_turn = loop_timer_new(l, http_on_next_turn, h);
	share_new(h);
	h->connections = connections_new(l,
	    (long)config->max_inflight + BOUND_CONNECTIONS, config->http2,
	    http_finish);
	*why = unfit(h);
	if (*why != NULL) {
		http_free(h);
		return NULL;
	}
	/* libcurl signs the headers that it is given: not these, which are
	 * changed on the way (io/http_sign) */
	if (config->sigv4 == NULL && config->codings != NULL &&
	    config->codings[0] != '\0')
		h->codings = xasprintf("Accept-Encoding: %s", config->codings);
	if (config->sigv4 == NULL && config->user_agent != NULL) {
		line = xasprintf("User-Agent: %s", config->user_agent);
		h->agent = curl_slist_append(NULL, line);
		free(line);
	}
	for (entry = config->resolve; entry != NULL && *entry != NULL; entry++)
		h->resolve = curl_slist_append(h->resolve, *entry);
	return h;
}

/* The old connections stay with the transfers that use them. */
void
http_forget(struct http *h)
{
	if (connections_forget(h->connections))
		http_todo_wake(h);
}

void
http_free(struct http *h)
{
	if (h == NULL)
		return;
	loop_undefer(h->l, h->on_turn_end, h);
	http_handles_free(h);
	connections_free(h->connections);
	loop_timer_free(h->idle);
	loop_timer_free(h->next_turn);
	curl_share_cleanup(h->share);
	curl_slist_free_all(h->resolve);
	curl_slist_free_all(h->agent);
	free(h->codings);
	authorities_free(&h->authorities);
	free(h->asked_url);
	curl_global_cleanup();
	free(h);
}

const char *
http_version(void)
{
	return curl_version();
}

char *
http_features(void)
{
	static const struct {
		int bit;
		const char *name;
	} known[] = {
		{ CURL_VERSION_ASYNCHDNS, "AsynchDNS" },
		{ CURL_VERSION_BROTLI, "brotli" },
		{ CURL_VERSION_HTTP2, "HTTP2" },
		{ CURL_VERSION_HTTPS_PROXY, "HTTPS-proxy" },
		{ CURL_VERSION_IDN, "IDN" },
		{ CURL_VERSION_IPV6, "IPv6" },
		{ CURL_VERSION_LIBZ, "libz" },
		{ CURL_VERSION_PSL, "PSL" },
		{ CURL_VERSION_SPNEGO, "SPNEGO" },
		{ CURL_VERSION_ZSTD, "zstd" },
	};
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
	struct buf names = { 0 };
	size_t i;

	for (i = 0; i < sizeof known / sizeof *known; i++) {
		if (!(v->features & known[i].bit))
			continue;
		buf_adds(&names, names.n > 0 ? " " : "");
		buf_adds(&names, known[i].name);
	}
	return buf_take(&names);
}
