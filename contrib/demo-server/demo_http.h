/* What the parts of the demo server have in common: its log, and answers. */
#ifndef MCPSPLICE_DEMO_HTTP_H
#define MCPSPLICE_DEMO_HTTP_H

#include <stdbool.h>

#include <event2/http.h>
#include <json-c/json.h>

#define DEMO_PATH "/mcp"

/* Is what demo_say says written to stderr? */
void demo_log(bool on);
/* A line of the log, without its end. */
void demo_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

const char *demo_header(struct evhttp_request *req, const char *name);
void demo_set_header(struct evhttp_request *req, const char *name,
    const char *value);
/* The body as JSON, or NULL. */
struct json_object *demo_body(struct evhttp_request *req);

/* A bare answer; text may be NULL. */
void demo_reply(struct evhttp_request *req, int status, const char *reason,
    const char *text);
/* An answer with a JSON document; takes it. */
void demo_reply_json(struct evhttp_request *req, int status, const char *reason,
    struct json_object *document);
/* The same as an event stream of one event. */
void demo_reply_sse(struct evhttp_request *req, struct json_object *document);

#endif
