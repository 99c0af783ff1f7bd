/* The requests that mcpsplice itself sends. */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

struct frame *
session_own_request(struct session *s, const char *method, struct span params)
{
	return msg_call(span_of(own_id_new(&s->ids)), method, params);
}

struct frame *
session_own_page(struct session *s, const char *method, struct span cursor)
{
	char *params = xasprintf("{%s%.*s}", cursor.n > 0 ? "\"cursor\":" : "",
	    (int)cursor.n, cursor.p);
	struct frame *f = session_own_request(s, method, span_of(params));

	free(params);
	return f;
}

struct attempt *
session_own_attempt(struct session *s, enum attempt_kind kind,
    const char *method, struct span params, struct generation *g)
{
	struct frame *body = session_own_request(s, method, params);
	struct attempt *a = calls_attempt(&s->calls, kind, NULL, body, g);

	frame_unref(body);
	return a;
}

struct frame *
session_with_own_id(struct session *s, struct frame *request)
{
	return msg_with_id(request, span_of(own_id_new(&s->ids)));
}
