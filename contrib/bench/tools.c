/*
 * The tools of the server, and the HTTP and JSON around them. It keeps no
 * state: initialize gets a session id, notifications 202, GET 405, DELETE 200.
 * A POST without the session id after initialize gets 400, so that a candidate
 * which loses it is found out. It speaks 2026-07-28, too, with who says that in
 * MCP-Protocol-Version. At /mcp the answers are JSON, at /events they are SSE.
 *
 *   echo            a short text; so does any other request
 *   big SIZE        a text of so many bytes
 *   notes SIZE      so many notifications before the answer; at /events only
 *   slow SIZE       the answer after so many milliseconds
 *   take SIZE BLOB  a short text, if the blob has so many bytes of the pattern
 *
 * The names in capitals are arguments.
 */
#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"

#define QUICK "the quick brown fox jumps over the lazy dog"
#define TEXT_BEGIN "{\"content\":[{\"type\":\"text\",\"text\":\""
#define TEXT_END "\"}]}"

static const char *
skip_string(const char *p, const char *end)
{
	const char *q;
	int n;

	for (p++; (q = memchr(p, '"', (size_t)(end - p))) != NULL; p = q + 1) {
		for (n = 0; q[-1 - n] == '\\'; n++)
			;
		if (n % 2 == 0)
			return q + 1;
	}
	return end;
}

/* Skips a value: up to the comma or bracket that ends it on this level. */
static const char *
skip_value(const char *p, const char *end)
{
	int depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		if (depth == 0 && (*p == ',' || *p == '}' || *p == ']'))
			break;
		if (*p == '{' || *p == '[')
			depth++;
		if (*p == '}' || *p == ']')
			depth--;
		p++;
	}
	return p;
}

/* The value of a member of this object; NULL if it is not there. */
static const char *
find(const char *p, const char *end, const char *key)
{
	size_t n = strlen(key);
	const char *name;

	if (p == NULL)
		return NULL;
	for (p++; p < end && *p != '}'; p++) {
		if (*p != '"')
			continue;
		name = p + 1;
		p = skip_string(p, end);
		while (p < end && (*p == ':' || *p == ' '))
			p++;
		if ((size_t)(end - name) > n && name[n] == '"' &&
		    memcmp(name, key, n) == 0)
			return p;
		p = skip_value(p, end);
		if (p < end && *p == '}')
			break;
	}
	return NULL;
}

static bool
is(const char *value, const char *end, const char *text)
{
	size_t n = strlen(text);

	return value != NULL && (size_t)(end - value) >= n + 2 &&
	    memcmp(value + 1, text, n) == 0 && value[n + 1] == '"';
}

static int
status(struct reply *r, const char *text)
{
	int n = snprintf(r->text, sizeof r->text,
	    "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", text);

	r->n = (size_t)n;
	return 0;
}

/* A result in two halves, between which the fill stands, or after the
 * notifications. */
static int
result(struct reply *r, const struct request *q, const char *id,
    const char *begin, const char *end, bool session)
{
	bool sse = strstr(q->head, " /events ") != NULL;
	char first[1024], length[64] = "Transfer-Encoding: chunked";
	const char *after = sse ? "\n\n" : "";
	size_t id_n = (size_t)(skip_value(id, q->body + q->body_len) - id);
	int n, last;

	if (id_n > 100)
		return -1;
	n = snprintf(first, sizeof first,
	    "%s{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s",
	    sse ? "event: message\ndata: " : "", (int)id_n, id, begin);
	last = snprintf(r->last, sizeof r->last, "%s}%s", end, after);
	if (r->notes > 0)
		last = snprintf(r->last, sizeof r->last,
		    "%x\r\n%s%s}%s\r\n0\r\n\r\n", (unsigned)(n + last), first,
		    end, after);
	else
		snprintf(length, sizeof length, "Content-Length: %zu",
		    (size_t)(n + last) + r->fill);
	r->last_n = (size_t)last;
	n = snprintf(r->text, sizeof r->text,
	    "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n%s%s\r\n\r\n%s",
	    sse ? "text/event-stream" : "application/json",
	    session ? "Mcp-Session-Id: " TOOLS_SESSION "\r\n" : "", length,
	    r->notes > 0 ? "" : first);
	r->n = (size_t)n;
	if (r->fill > 0 || r->notes > 0)
		return 0;
	memcpy(r->text + r->n, r->last, r->last_n);
	r->n += r->last_n;
	r->last_n = 0;
	return 0;
}

static int
call(struct reply *r, const struct request *q, const char *id,
    const char *params)
{
	const char *end = q->body + q->body_len;
	const char *name = find(params, end, "name");
	const char *arguments = find(params, end, "arguments");
	const char *size = find(arguments, end, "size"), *blob;
	long n = size == NULL ? 0 : strtol(size, NULL, 10);

	if (n < 0)
		return -1;
	if (is(name, end, "big")) {
		r->fill = (size_t)n;
		return result(r, q, id, TEXT_BEGIN, TEXT_END, false);
	}
	if (is(name, end, "notes"))
		r->notes = (int)n;
	if (is(name, end, "slow"))
		r->delay = (int)n;
	if (is(name, end, "take")) {
		blob = find(arguments, end, "blob");
		if (blob == NULL || end - blob < n + 2 || blob[n + 1] != '"' ||
		    !pattern_is(blob + 1, (size_t)n))
			return status(r, "400 Bad Request");
	}
	return result(r, q, id, TEXT_BEGIN QUICK, TEXT_END, false);
}

static int
post(struct reply *r, const struct request *q)
{
	const char *end = q->body + q->body_len;
	const char *id = find(q->body, end, "id");
	const char *method = find(q->body, end, "method");

	if (id != NULL && is(method, end, "initialize"))
		return result(r, q, id,
		    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
		    "{\"tools\":{},\"logging\":{}},\"serverInfo\":"
		    "{\"name\":\"bench\",\"version\":\"1\"}}",
		    "", true);
	if (id != NULL && q->modern && is(method, end, "server/discover"))
		return result(r, q, id,
		    "{\"resultType\":\"complete\",\"supportedVersions\":["
		    "\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}",
		    "", false);
	if (!q->session && !q->modern)
		return status(r, "400 Bad Request");
	if (id == NULL || method == NULL)
		return status(r, "202 Accepted");
	return call(r, q, id, find(q->body, end, "params"));
}

int
tools_reply(struct reply *r, const struct request *q)
{
	const char *path = strchr(q->head, ' ');

	r->n = r->fill = r->filled = r->last_n = 0;
	r->notes = r->noted = r->delay = 0;
	if (path == NULL)
		return -1;
	if (strncmp(path, " /mcp ", 6) != 0 &&
	    strncmp(path, " /events ", 9) != 0)
		return status(r, "404 Not Found");
	if (strncmp(q->head, "POST ", 5) == 0)
		return post(r, q);
	if (strncmp(q->head, "DELETE ", 7) == 0)
		return status(r, "200 OK");
	return status(r, "405 Method Not Allowed");
}

/* Each notification is an event and a chunk of its own. */
static size_t
notes(struct reply *r)
{
	char event[256];
	size_t n = 0;
	int len;

	while (r->noted < r->notes && n + 300 < sizeof r->text) {
		len = snprintf(event, sizeof event,
		    "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
		    "\"notifications/message\",\"params\":{\"level\":"
		    "\"info\",\"data\":%d}}\n\n",
		    r->noted++);
		n += (size_t)snprintf(r->text + n, sizeof r->text - n,
		    "%x\r\n%s\r\n", (unsigned)len, event);
	}
	return n;
}

size_t
reply_next(struct reply *r, const char **p)
{
	size_t n = r->n;

	*p = r->text;
	r->n = 0;
	if (n == 0 && r->noted < r->notes)
		n = notes(r);
	if (n == 0 && r->filled < r->fill) {
		n = pattern_at(r->filled, p);
		if (n > r->fill - r->filled)
			n = r->fill - r->filled;
		r->filled += n;
	}
	if (n == 0) {
		*p = r->last;
		n = r->last_n;
		r->last_n = 0;
	}
	return n;
}
