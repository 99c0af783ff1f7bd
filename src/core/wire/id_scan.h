/*
 * Finds the top-level "id" and "method" of a JSON object that is passed over
 * piece by piece, wherever they stand, in flat memory. It does not judge the
 * text: what is no JSON gives nothing, or an id that is one by itself.
 */
#ifndef MCPSPLICE_CORE_WIRE_ID_SCAN_H
#define MCPSPLICE_CORE_WIRE_ID_SCAN_H

#include "base/mem.h"

#define SKIM_ID_BYTES 1024 /* a longer id counts as not seen */

enum skim_member { SKIM_OTHER, SKIM_ID, SKIM_METHOD };

struct skim {
	uint64_t depth;
	bool object;             /* the outermost value is one */
	bool over;               /* the outermost value has ended */
	bool string;             /* inside a string */
	bool escaped;            /* the next byte is escaped */
	bool value;              /* behind the colon of a top-level member */
	enum skim_member member; /* which one */
	bool method;             /* a top-level method was seen */
	bool token_over;
	size_t token_n; /* of the top-level key or value being read */
	char token[SKIM_ID_BYTES];
	size_t id_n; /* 0: none seen */
	char id[SKIM_ID_BYTES];
};

void skim_start(struct skim *s);
void skim_feed(struct skim *s, const char *p, size_t n);
/* The raw id (p NULL: none; valid until the next start), and whether there
 * was a method. */
struct span skim_end(struct skim *s, bool *method);

#endif
