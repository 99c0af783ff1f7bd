/*
 * The ids of the requests that mcpsplice itself makes: the word "mcpsplice-"
 * and a random number of this process, the mark of the reducer that made the
 * id, and how many it made. (doc/protocol.md 2.6)
 */
#ifndef MCPSPLICE_CORE_WIRE_OWN_ID_H
#define MCPSPLICE_CORE_WIRE_OWN_ID_H

#include "base/mem.h"

enum own_id_maker { OWN_ID_SESSION, OWN_ID_CLIENT, OWN_ID_SERVER };

struct own_ids {
	enum own_id_maker maker;
	const char *prefix; /* borrowed */
	uint64_t made;      /* how many ids were made */
	struct buf latest;
};

/* Returns the prefix of all ids of this process; owned by the caller. */
char *own_id_prefix(uint32_t random);
void own_ids_init(struct own_ids *t, enum own_id_maker maker,
    const char *prefix);
void own_ids_free(struct own_ids *t);
/* Returns a new id as raw JSON, valid until the next call. */
const char *own_id_new(struct own_ids *t);
/* Is this an id (raw JSON) such as own_id_new makes for this maker? */
bool own_id_is(const struct own_ids *t, struct span id);

#endif
