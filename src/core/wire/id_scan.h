/*
 * Finds the top-level "id" and "method" of a JSON object that is passed over
 * piece by piece, wherever they stand, in flat memory. It does not judge the
 * text: what is no JSON gives nothing, or an id that is one by itself.
 */
#ifndef MCPSPLICE_CORE_WIRE_ID_SCAN_H
#define MCPSPLICE_CORE_WIRE_ID_SCAN_H

#include "base/mem.h"

#define ID_SCAN_BYTES 1024 /* a longer id counts as not seen */

enum id_scan_member { ID_SCAN_OTHER, ID_SCAN_ID, ID_SCAN_METHOD };

struct id_scan {
	uint64_t depth;
	bool object;                /* the outermost value is one */
	bool over;                  /* the outermost value has ended */
	bool string;                /* inside a string */
	bool escaped;               /* the next byte is escaped */
	bool value;                 /* behind the colon of a top-level member */
	enum id_scan_member member; /* which one */
	bool method;                /* a top-level method was seen */
	bool token_over;
	size_t token_n; /* of the top-level key or value being read */
	char token[ID_SCAN_BYTES];
	size_t id_n; /* 0: none seen */
	char id[ID_SCAN_BYTES];
};

void id_scan_start(struct id_scan *s);
void id_scan_feed(struct id_scan *s, const char *p, size_t n);
/* The raw id (p NULL: none; valid until the next start), and whether there
 * was a method. */
struct span id_scan_end(struct id_scan *s, bool *method);

#endif
