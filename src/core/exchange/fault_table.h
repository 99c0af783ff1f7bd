/*
 * The table of the errors that mcpsplice itself makes. Its rows are in
 * fault_rows.h.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_FAULT_TABLE_H
#define MCPSPLICE_CORE_EXCHANGE_FAULT_TABLE_H

enum {
	FAULT_PARSE = -32700,
	FAULT_REQUEST = -32600,
	FAULT_METHOD = -32601,
	FAULT_PARAMS = -32602,
	FAULT_INTERNAL = -32603,
	FAULT_REJECTED = -1 /* by the user: MCP 2025-11-25 "Sampling" */
};

enum fault_id {
	FAULT_NONE, /* no row */
#define FAULT(id, code, reason, ran, text) id,
#include "core/exchange/fault_rows.h"
	FAULT_COUNT
};

/* May the call have run? */
enum fault_ran { RAN_NO, RAN_MAYBE, RAN_AS_GIVEN /* by who makes the error */ };

/* A hole of the text is {NAME}: see value() in fault.c for the names. Instead,
 * {NAME?YES|NO} becomes YES if the value is not empty, else NO; these are plain
 * text. */
struct fault_row {
	int code;           /* of JSON-RPC */
	const char *reason; /* one of doc/design.md "Our errors", or NULL */
	enum fault_ran ran;
	const char *text;
};

extern const struct fault_row fault_rows[FAULT_COUNT];

#endif
