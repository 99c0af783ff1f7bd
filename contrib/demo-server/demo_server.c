/*
 * A small MCP server (Streamable HTTP, 2025-11-25) on evhttp that forgets its
 * sessions on purpose: for contrib/demo, the tests and the figures. It is
 * strict about the headers of a request, so a proxy in front of it must send
 * the right ones.
 *
 * A session is forgotten after --forget-after requests; the requests that
 * still carry its id are refused in one of three ways that servers use.
 * With --oauth every request must have a token, which is valid for a number
 * of them. What happened is logged before the answer is sent.
 */
#include "config.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <event2/event.h>
#include <event2/http.h>
#include <json-c/json.h>

#include "demo_http.h"
#include "demo_oauth.h"
#include "demo_options.h"
#include "demo_tools.h"

struct session {
	struct session *next;
	unsigned long number;
	unsigned long requests;
	struct evhttp_request *listener; /* its GET stream, or NULL */
};

/* An answer that waits for its time. */
struct late {
	struct late *next;
	struct evhttp_request *req;
	struct event *timer;
	struct json_object *answer;
};

static struct {
	struct event_base *base;
	struct session *sessions;
	struct late *late;
	unsigned long made; /* sessions so far */
	struct demo_options options;
} server;

/* Answers: */

/* An answer with a JSON-RPC message; takes the message. */
static void
reply_json(struct evhttp_request *req, int status, const char *reason,
    struct json_object *message)
{
	if (server.options.sse && status == HTTP_OK)
		demo_reply_sse(req, message);
	else
		demo_reply_json(req, status, reason, message);
}

/* Sessions: */

static struct session *
session_find(const char *id)
{
	struct session *s;
	unsigned long n;
	char *end;

	if (id == NULL || id[0] != 's' || id[1] < '1' || id[1] > '9')
		return NULL;
	n = strtoul(id + 1, &end, 10);
	for (s = server.sessions; s != NULL; s = s->next)
		if (s->number == n && *end == '\0')
			return s;
	return NULL;
}

static struct session *
session_new(void)
{
	struct session *s = calloc(1, sizeof *s);

	if (s == NULL)
		abort();
	s->number = ++server.made;
	s->next = server.sessions;
	server.sessions = s;
	demo_say("new session s%lu", s->number);
	return s;
}

/* evhttp does not free a request whose connection broke; its user must. */
static void
request_drop(struct evhttp_request *req)
{
	if (evhttp_request_get_connection(req) == NULL)
		evhttp_request_free(req);
}

static void
listener_gone(struct evhttp_connection *c, void *arg)
{
	struct session *s;

	(void)c;
	for (s = server.sessions; s != NULL; s = s->next)
		if (s->listener == arg)
			s->listener = NULL;
	request_drop(arg);
}

static void
session_drop(struct session *gone)
{
	struct session **at = &server.sessions;

	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	if (gone->listener != NULL) {
		evhttp_connection_set_closecb(
		    evhttp_request_get_connection(gone->listener), NULL, NULL);
		evhttp_send_reply_end(gone->listener);
	}
	free(gone);
}

/* Counts a request of s, and forgets s after --forget-after requests. */
static void
session_count(struct session *s)
{
	s->requests++;
	if (server.options.forget_after == 0 ||
	    s->requests < server.options.forget_after)
		return;
	demo_say("forgot session s%lu", s->number);
	session_drop(s);
}

/* Refuses a request of an unknown session in the way of a real server: each
 * session in one way. */
static void
refuse(struct evhttp_request *req, const char *method, struct json_object *id)
{
	enum demo_style style = server.options.style;
	const char *sid = demo_header(req, "Mcp-Session-Id");

	if (style == DEMO_ROTATE)
		style = (enum demo_style)(strtoul(sid + strspn(sid, "s"), NULL,
					      10) %
		    DEMO_ROTATE);
	if (id == NULL) /* nothing to answer in a JSON-RPC message */
		style = DEMO_404;
	switch (style) {
	case DEMO_200:
		demo_say("refused %s in %s: 200, error 32600 \"Session "
			 "terminated\"",
		    method, sid);
		reply_json(req, HTTP_OK, "OK",
		    demo_error(id, 32600, "Session terminated"));
		break;
	case DEMO_400:
		demo_say(
		    "refused %s in %s: 400, error -32600 \"Invalid or expired "
		    "session\"",
		    method, sid);
		reply_json(req, HTTP_BADREQUEST, "Bad Request",
		    demo_error(id, -32600, "Invalid or expired session"));
		break;
	default:
		demo_say("refused %s in %s: 404 \"Session not found\"", method,
		    sid);
		reply_json(req, HTTP_NOTFOUND, "Not Found",
		    demo_error(NULL, -32001, "Session not found"));
		break;
	}
}

/* Answers that wait: */

static void
late_free(struct late *gone)
{
	struct late **at = &server.late;

	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	event_free(gone->timer);
	json_object_put(gone->answer);
	free(gone);
}

static void
late_gone(struct evhttp_connection *c, void *arg)
{
	struct late *l = arg;

	(void)c;
	request_drop(l->req);
	late_free(l);
}

static void
late_now(struct late *l)
{
	evhttp_connection_set_closecb(evhttp_request_get_connection(l->req),
	    NULL, NULL);
	reply_json(l->req, HTTP_OK, "OK", json_object_get(l->answer));
	late_free(l);
}

static void
late_fire(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	late_now(arg);
}

static void
reply_later(struct evhttp_request *req, struct json_object *answer, long ms)
{
	struct timeval tv = { ms / 1000, (ms % 1000) * 1000 };
	struct late *l = calloc(1, sizeof *l);

	if (l == NULL)
		abort();
	l->req = req;
	l->answer = answer;
	l->timer = evtimer_new(server.base, late_fire, l);
	l->next = server.late;
	server.late = l;
	evhttp_connection_set_closecb(evhttp_request_get_connection(req),
	    late_gone, l);
	evtimer_add(l->timer, &tv);
}

/* The HTTP side: */

static bool
accepts(struct evhttp_request *req, const char *type)
{
	const char *accept = demo_header(req, "Accept");

	return accept != NULL && strcasestr(accept, type) != NULL;
}

/* Serves a message of a session that exists. */
static void
post_in_session(struct evhttp_request *req, struct session *s,
    const char *method, struct json_object *id, struct json_object *params)
{
	struct json_object *answer;
	long delay_ms = 0;

	if (id == NULL || method == NULL) {
		demo_reply(req, 202, "Accepted", NULL);
		return;
	}
	answer = demo_serve(method, id, params, &delay_ms);
	if (strcmp(method, "ping") != 0)
		session_count(s);
	if (delay_ms > 0)
		reply_later(req, answer, delay_ms);
	else
		reply_json(req, HTTP_OK, "OK", answer);
}

static void
post_message(struct evhttp_request *req, struct json_object *message)
{
	struct json_object *method = NULL, *id = NULL, *params = NULL;
	const char *sid = demo_header(req, "Mcp-Session-Id");
	const char *name;
	char text[32];
	struct session *s;

	json_object_object_get_ex(message, "method", &method);
	json_object_object_get_ex(message, "id", &id);
	json_object_object_get_ex(message, "params", &params);
	name = method == NULL ? NULL : json_object_get_string(method);
	if (name != NULL && strcmp(name, "initialize") == 0) {
		if (sid != NULL) {
			demo_reply(req, HTTP_BADREQUEST, "Bad Request",
			    "initialize with a session id");
			return;
		}
		s = session_new();
		snprintf(text, sizeof text, "s%lu", s->number);
		demo_set_header(req, "Mcp-Session-Id", text);
		reply_json(req, HTTP_OK, "OK",
		    demo_result(id, demo_initialize(params)));
		return;
	}
	if (sid == NULL) {
		demo_reply(req, HTTP_BADREQUEST, "Bad Request",
		    "no session id");
		return;
	}
	if (!demo_version_known(demo_header(req, "MCP-Protocol-Version"))) {
		demo_reply(req, HTTP_BADREQUEST, "Bad Request",
		    "no good MCP-Protocol-Version");
		return;
	}
	s = session_find(sid);
	if (s == NULL)
		refuse(req, name == NULL ? "a response" : name, id);
	else
		post_in_session(req, s, name, id, params);
}

static void
on_post(struct evhttp_request *req)
{
	const char *type = demo_header(req, "Content-Type");
	struct json_object *message;

	if (!accepts(req, "application/json") ||
	    !accepts(req, "text/event-stream")) {
		demo_reply(req, 406, "Not Acceptable", "Accept must name both");
		return;
	}
	if (type == NULL || strncasecmp(type, "application/json", 16) != 0) {
		demo_reply(req, 415, "Unsupported Media Type", "JSON, please");
		return;
	}
	message = demo_body(req);
	if (!json_object_is_type(message, json_type_object))
		reply_json(req, HTTP_BADREQUEST, "Bad Request",
		    demo_error(NULL, -32700, "Parse error"));
	else
		post_message(req, message);
	json_object_put(message);
}

/* The listen stream; nothing is ever said on it. */
static void
on_get(struct evhttp_request *req)
{
	struct session *s = session_find(demo_header(req, "Mcp-Session-Id"));

	if (!server.options.listen || s == NULL || s->listener != NULL ||
	    !accepts(req, "text/event-stream")) {
		int status = !server.options.listen ? HTTP_BADMETHOD :
		    s == NULL                       ? HTTP_NOTFOUND :
		    s->listener != NULL             ? 409 :
						      406;
		demo_reply(req, status, NULL, NULL);
		return;
	}
	s->listener = req;
	demo_set_header(req, "Content-Type", "text/event-stream");
	evhttp_connection_set_closecb(evhttp_request_get_connection(req),
	    listener_gone, req);
	evhttp_send_reply_start(req, HTTP_OK, "OK");
}

static void
on_delete(struct evhttp_request *req)
{
	struct session *s = session_find(demo_header(req, "Mcp-Session-Id"));

	if (s == NULL) {
		demo_reply(req, HTTP_NOTFOUND, "Not Found", "no such session");
		return;
	}
	demo_say("session s%lu ended by the client", s->number);
	session_drop(s);
	demo_reply(req, HTTP_OK, "OK", NULL);
}

static void
on_request(struct evhttp_request *req, void *arg)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
	const char *path = evhttp_uri_get_path(uri);

	(void)arg;
	if (server.options.oauth && path != NULL && demo_oauth_serve(req, path))
		return;
	if (path == NULL || strcmp(path, DEMO_PATH) != 0) {
		demo_reply(req, HTTP_NOTFOUND, "Not Found", "try " DEMO_PATH);
		return;
	}
	if (server.options.oauth && !demo_oauth_allows(req))
		return;
	switch (evhttp_request_get_command(req)) {
	case EVHTTP_REQ_POST:
		on_post(req);
		break;
	case EVHTTP_REQ_GET:
		on_get(req);
		break;
	default:
		on_delete(req);
		break;
	}
}

/* The process: */

/* Binds to loopback and tells the port, which it returns. */
static int
bind_to(struct evhttp *http, long port)
{
	struct evhttp_bound_socket *bound;
	struct sockaddr_in sin;
	socklen_t n = sizeof sin;
	int fd, on = 1;

	bound = evhttp_bind_socket_with_handle(http, "127.0.0.1",
	    (ev_uint16_t)port);
	if (bound == NULL) {
		fprintf(stderr, "demo_server: cannot use port %ld\n", port);
		return -1;
	}
	fd = evhttp_bound_socket_get_fd(bound);
	/* inherited by what is accepted */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (getsockname(fd, (struct sockaddr *)&sin, &n) == -1)
		return -1;
	printf("listening on %d\n", ntohs(sin.sin_port));
	return fflush(stdout) == 0 ? ntohs(sin.sin_port) : -1;
}

static void
on_signal(evutil_socket_t signo, short what, void *arg)
{
	(void)signo;
	(void)what;
	event_base_loopbreak(arg);
}

int
main(int argc, char **argv)
{
	struct event *on_term, *on_int;
	struct evhttp *http;
	int port, status = 1;

	if (demo_options_parse(&server.options, argc, argv) == -1)
		return 2;
	demo_log(server.options.log);
	signal(SIGPIPE, SIG_IGN);
	server.base = event_base_new();
	http = evhttp_new(server.base);
	evhttp_set_allowed_methods(http,
	    EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_DELETE);
	evhttp_set_default_content_type(http, NULL);
	evhttp_set_gencb(http, on_request, NULL);
	on_term = evsignal_new(server.base, SIGTERM, on_signal, server.base);
	on_int = evsignal_new(server.base, SIGINT, on_signal, server.base);
	event_add(on_term, NULL);
	event_add(on_int, NULL);
	port = bind_to(http, server.options.port);
	demo_oauth_init(port, server.options.token_uses);
	if (port != -1)
		status = event_base_dispatch(server.base) == -1;
	while (server.sessions != NULL)
		session_drop(server.sessions);
	while (server.late != NULL)
		late_now(server.late);
	demo_oauth_free();
	event_free(on_term);
	event_free(on_int);
	evhttp_free(http);
	event_base_free(server.base);
	return status;
}
