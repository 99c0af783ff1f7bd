/*
 * The memory of the start: what the server answered to initialize and to
 * tools/list the last time, for when it is down. One file for each profile in
 * HOME/.cache/mcpsplice. It is a convenience: what goes wrong is one line of
 * debug, never more, and a file that is not exactly what was written is no
 * memory.
 */
#ifndef MCPSPLICE_APP_MEMORY_H
#define MCPSPLICE_APP_MEMORY_H

#include "app/profile.h"

struct memory;

/* Touches no disk yet. home may be NULL, as HOME may: then it is off, and
 * NULL, which all below take. The profile is copied. */
struct memory *memory_new(const char *home, const struct profile *profile);
void memory_free(struct memory *m);

/* All spans are raw JSON: the client's protocolVersion (a string), the result
 * of initialize (an object) and that of tools/list (an object with an array
 * "tools"), or empty. Line breaks between tokens come back as blanks. */

/* Appends what is remembered for a client that asks for this version; nothing
 * to tools when only initialize is known. false, and nothing appended, when
 * there is no such memory. */
bool memory_load(const struct memory *m, struct span requested,
    struct buf *initialize, struct buf *tools);
/* Writes when it differs from what is there. Without tools those of the file
 * are kept while initialize is the same. What is no such JSON, or over 8 MiB,
 * is not written; tools that are too big are left out. */
void memory_save(const struct memory *m, struct span requested,
    struct span initialize, struct span tools);

#endif
