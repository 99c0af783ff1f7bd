/* The demo server's log, and its answers. */
#include "config.h"

#include "demo_http.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <event2/buffer.h>

static bool logs;

void
demo_log(bool on)
{
	logs = on;
}

/* One write for each line: others may write to the same stderr. */
void
demo_say(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!logs)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	fprintf(stderr, "server: %s\n", line);
}

const char *
demo_header(struct evhttp_request *req, const char *name)
{
	return evhttp_find_header(evhttp_request_get_input_headers(req), name);
}

void
demo_set_header(struct evhttp_request *req, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(req), name, value);
}

struct json_object *
demo_body(struct evhttp_request *req)
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

void
demo_reply(struct evhttp_request *req, int status, const char *reason,
    const char *text)
{
	struct evbuffer *body = evbuffer_new();

	if (text != NULL) {
		demo_set_header(req, "Content-Type", "text/plain");
		evbuffer_add(body, text, strlen(text));
	}
	evhttp_send_reply(req, status, reason, body);
	evbuffer_free(body);
}

static const char *
text_of(struct json_object *document, size_t *n)
{
	return json_object_to_json_string_length(document,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, n);
}

void
demo_reply_json(struct evhttp_request *req, int status, const char *reason,
    struct json_object *document)
{
	struct evbuffer *body = evbuffer_new();
	size_t n;
	const char *text = text_of(document, &n);

	demo_set_header(req, "Content-Type", "application/json");
	evbuffer_add(body, text, n);
	evhttp_send_reply(req, status, reason, body);
	evbuffer_free(body);
	json_object_put(document);
}

void
demo_reply_sse(struct evhttp_request *req, struct json_object *document)
{
	struct evbuffer *body = evbuffer_new();
	size_t n;
	const char *text = text_of(document, &n);

	demo_set_header(req, "Content-Type", "text/event-stream");
	demo_set_header(req, "Cache-Control", "no-cache");
	evbuffer_add(body, "event: message\ndata: ", 21);
	evbuffer_add(body, text, n);
	evbuffer_add(body, "\n\n", 2);
	evhttp_send_reply_start(req, HTTP_OK, "OK");
	evhttp_send_reply_chunk(req, body);
	evhttp_send_reply_end(req);
	evbuffer_free(body);
	json_object_put(document);
}
