/*
 * Finds the top-level "id" and "method" of a JSON object that is fed piece by
 * piece, wherever they are, in flat memory. The text is not checked: a text
 * that is not JSON gives no id, or one that is a valid id in itself.
 */
#ifndef MCPSPLICE_CORE_WIRE_ID_SCAN_H
#define MCPSPLICE_CORE_WIRE_ID_SCAN_H

#include "base/bounds.h"
#include "base/mem.h"

enum id_scan_member { ID_SCAN_OTHER, ID_SCAN_ID, ID_SCAN_METHOD };

struct id_scan {
	uint64_t depth;
	bool object;                /* the outermost value is an object */
	bool over;                  /* the outermost value has ended */
	bool string;                /* inside a string */
	bool escaped;               /* the next byte is escaped */
	bool value;                 /* after the colon of a top-level member */
	enum id_scan_member member; /* the member that it belongs to */
	bool method;                /* a top-level method was seen */
	bool token_over;
	size_t token_n; /* length of the top-level key or value being read */
	char token[BOUND_LINE_ID_BYTES];
	size_t id_n; /* 0: none found */
	char id[BOUND_LINE_ID_BYTES];
};

/* Prepares s for the next object. */
void id_scan_start(struct id_scan *s);
/* Takes the next n bytes of the object. */
void id_scan_feed(struct id_scan *s, const char *p, size_t n);
/* Returns the raw id (p NULL: none; valid until the next start). *method tells
 * whether there was a method. */
struct span id_scan_end(struct id_scan *s, bool *method);

#endif
