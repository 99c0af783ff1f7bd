/*
 * A small MCP server (Streamable HTTP, 2025-11-25) on evhttp that forgets its
 * sessions on purpose: for contrib/demo, the tests and the figures. It is
 * strict about the headers of a request, so that a proxy in front of it has
 * to be right.
 *
 * A session is forgotten after --forget-after requests; the next request that
 * still carries its id is refused in one of three ways that servers use.
 * What happened is logged before the answer leaves.
 */
#include "config.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <json-c/json.h>

#include "demo_options.h"
#include "demo_tools.h"

#define PATH "/mcp"

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
	unsigned long made;    /* sessions so far */
	unsigned long refused; /* requests of forgotten ones */
	struct demo_options options;
} server;

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One write for each line: others may write to the same stderr. */
static void
say(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!server.options.log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	fprintf(stderr, "server: %s\n", line);
}

/* Answers: */

static const char *
header(struct evhttp_request *req, const char *name)
{
	return evhttp_find_header(evhttp_request_get_input_headers(req), name);
}

static void
set_header(struct evhttp_request *req, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(req), name, value);
}

/* A bare answer; text may be NULL. */
static void
reply(struct evhttp_request *req, int status, const char *reason,
    const char *text)
{
	struct evbuffer *body = evbuffer_new();

	if (text != NULL) {
		set_header(req, "Content-Type", "text/plain");
		evbuffer_add(body, text, strlen(text));
	}
	evhttp_send_reply(req, status, reason, body);
	evbuffer_free(body);
}

/* An answer with a JSON-RPC message; takes the message. */
static void
reply_json(struct evhttp_request *req, int status, const char *reason,
    struct json_object *message)
{
	struct evbuffer *body = evbuffer_new();
	size_t n;
	const char *text = json_object_to_json_string_length(message,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);

	if (server.options.sse && status == HTTP_OK) {
		set_header(req, "Content-Type", "text/event-stream");
		set_header(req, "Cache-Control", "no-cache");
		evbuffer_add(body, "event: message\ndata: ", 21);
		evbuffer_add(body, text, n);
		evbuffer_add(body, "\n\n", 2);
		evhttp_send_reply_start(req, status, reason);
		evhttp_send_reply_chunk(req, body);
		evhttp_send_reply_end(req);
	} else {
		set_header(req, "Content-Type", "application/json");
		evbuffer_add(body, text, n);
		evhttp_send_reply(req, status, reason, body);
	}
	evbuffer_free(body);
	json_object_put(message);
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
	say("new session s%lu", s->number);
	return s;
}

/* evhttp leaves a request whose connection broke to its user. */
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

/* Counts a request of s, and forgets s when it had its share. */
static void
session_count(struct session *s)
{
	s->requests++;
	if (server.options.forget_after == 0 ||
	    s->requests < server.options.forget_after)
		return;
	say("forgot session s%lu", s->number);
	session_drop(s);
}

/* Refuses a request whose session is not known, as some server would. */
static void
refuse(struct evhttp_request *req, const char *method, struct json_object *id)
{
	enum demo_style style = server.options.style;
	const char *sid = header(req, "Mcp-Session-Id");

	if (style == DEMO_ROTATE)
		style = (enum demo_style)(server.refused % DEMO_ROTATE);
	if (id == NULL) /* nothing to answer in a JSON-RPC message */
		style = DEMO_404;
	else
		server.refused++;
	switch (style) {
	case DEMO_200:
		say("refused %s in %s: 200, error 32600 \"Session "
		    "terminated\"",
		    method, sid);
		reply_json(req, HTTP_OK, "OK",
		    demo_error(id, 32600, "Session terminated"));
		break;
	case DEMO_400:
		say("refused %s in %s: 400, error -32600 \"Invalid or expired "
		    "session\"",
		    method, sid);
		reply_json(req, HTTP_BADREQUEST, "Bad Request",
		    demo_error(id, -32600, "Invalid or expired session"));
		break;
	default:
		say("refused %s in %s: 404 \"Session not found\"", method, sid);
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
	const char *accept = header(req, "Accept");

	return accept != NULL && strcasestr(accept, type) != NULL;
}

/* The body as JSON, or NULL. */
static struct json_object *
body_of(struct evhttp_request *req)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(req);
	size_t n = evbuffer_get_length(in);
	struct json_tokener *t;
	struct json_object *o;

	if (n == 0 || n > INT_MAX)
		return NULL;
	t = json_tokener_new_ex(128);
	json_tokener_set_flags(t, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(t, (const char *)evbuffer_pullup(in, -1),
	    (int)n);
	json_tokener_free(t);
	return o;
}

/* A message in a session that is there. */
static void
post_in_session(struct evhttp_request *req, struct session *s,
    const char *method, struct json_object *id, struct json_object *params)
{
	struct json_object *answer;
	long delay_ms = 0;

	if (id == NULL || method == NULL) {
		reply(req, 202, "Accepted", NULL);
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
	const char *sid = header(req, "Mcp-Session-Id");
	const char *name;
	char text[32];
	struct session *s;

	json_object_object_get_ex(message, "method", &method);
	json_object_object_get_ex(message, "id", &id);
	json_object_object_get_ex(message, "params", &params);
	name = method == NULL ? NULL : json_object_get_string(method);
	if (name != NULL && strcmp(name, "initialize") == 0) {
		if (sid != NULL) {
			reply(req, HTTP_BADREQUEST, "Bad Request",
			    "initialize with a session id");
			return;
		}
		s = session_new();
		snprintf(text, sizeof text, "s%lu", s->number);
		set_header(req, "Mcp-Session-Id", text);
		reply_json(req, HTTP_OK, "OK",
		    demo_result(id, demo_initialize(params)));
		return;
	}
	if (sid == NULL) {
		reply(req, HTTP_BADREQUEST, "Bad Request", "no session id");
		return;
	}
	if (!demo_version_known(header(req, "MCP-Protocol-Version"))) {
		reply(req, HTTP_BADREQUEST, "Bad Request",
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
	const char *type = header(req, "Content-Type");
	struct json_object *message;

	if (!accepts(req, "application/json") ||
	    !accepts(req, "text/event-stream")) {
		reply(req, 406, "Not Acceptable", "Accept must name both");
		return;
	}
	if (type == NULL || strncasecmp(type, "application/json", 16) != 0) {
		reply(req, 415, "Unsupported Media Type", "JSON, please");
		return;
	}
	message = body_of(req);
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
	struct session *s = session_find(header(req, "Mcp-Session-Id"));

	if (!server.options.listen || s == NULL || s->listener != NULL ||
	    !accepts(req, "text/event-stream")) {
		int status = !server.options.listen ? HTTP_BADMETHOD :
		    s == NULL                       ? HTTP_NOTFOUND :
		    s->listener != NULL             ? 409 :
						      406;
		reply(req, status, NULL, NULL);
		return;
	}
	s->listener = req;
	set_header(req, "Content-Type", "text/event-stream");
	evhttp_connection_set_closecb(evhttp_request_get_connection(req),
	    listener_gone, req);
	evhttp_send_reply_start(req, HTTP_OK, "OK");
}

static void
on_delete(struct evhttp_request *req)
{
	struct session *s = session_find(header(req, "Mcp-Session-Id"));

	if (s == NULL) {
		reply(req, HTTP_NOTFOUND, "Not Found", "no such session");
		return;
	}
	say("session s%lu ended by the client", s->number);
	session_drop(s);
	reply(req, HTTP_OK, "OK", NULL);
}

static void
on_request(struct evhttp_request *req, void *arg)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
	const char *path = evhttp_uri_get_path(uri);

	(void)arg;
	if (path == NULL || strcmp(path, PATH) != 0) {
		reply(req, HTTP_NOTFOUND, "Not Found", "try " PATH);
		return;
	}
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

/* Binds to loopback and tells the port. */
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
		fprintf(stderr, "demo_server: port %ld cannot be had\n", port);
		return -1;
	}
	fd = evhttp_bound_socket_get_fd(bound);
	/* inherited by what is accepted */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (getsockname(fd, (struct sockaddr *)&sin, &n) == -1)
		return -1;
	printf("listening on %d\n", ntohs(sin.sin_port));
	return fflush(stdout);
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
	int status = 1;

	if (demo_options_parse(&server.options, argc, argv) == -1)
		return 2;
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
	if (bind_to(http, server.options.port) == 0)
		status = event_base_dispatch(server.base) == -1;
	while (server.sessions != NULL)
		session_drop(server.sessions);
	while (server.late != NULL)
		late_now(server.late);
	event_free(on_term);
	event_free(on_int);
	evhttp_free(http);
	event_base_free(server.base);
	return status;
}
