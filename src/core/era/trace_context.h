/*
 * W3C trace context of a message: what its params._meta says of it becomes
 * headers of the request that carries it, for gateways that do not read bodies.
 */
#ifndef MCPSPLICE_CORE_ERA_TRACE_CONTEXT_H
#define MCPSPLICE_CORE_ERA_TRACE_CONTEXT_H

#include "base/frame.h"
#include "base/headers.h"

/* Adds traceparent, tracestate and baggage to out, those of params._meta that
 * are strings in the grammar of W3C Trace Context (level 2) and W3C Baggage,
 * with 8 KiB at most. tracestate goes only with a valid traceparent (Trace
 * Context, 3.3). */
void trace_context_headers(const struct frame *message, struct headers *out);

#endif
