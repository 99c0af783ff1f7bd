/* Makes the ids of our own requests, and knows them again. */
#include "config.h"

#include "core/wire/own_id.h"

#include <string.h>

static const char *const marks[] = { [OWN_ID_SESSION] = "-",
	[OWN_ID_CLIENT] = "-c",
	[OWN_ID_SERVER] = "-s" };

char *
own_id_prefix(uint32_t random)
{
	return xasprintf("mcpsplice-%08llx", (unsigned long long)random);
}

void
own_ids_init(struct own_ids *t, enum own_id_maker maker, const char *prefix)
{
	t->maker = maker;
	t->prefix = prefix;
	buf_init(&t->latest, 0);
}

void
own_ids_free(struct own_ids *t)
{
	buf_free(&t->latest);
}

const char *
own_id_new(struct own_ids *t)
{
	buf_reset(&t->latest);
	buf_addf(&t->latest, "\"%s%s%llu\"", t->prefix, marks[t->maker],
	    (unsigned long long)++t->made);
	return buf_str(&t->latest);
}

bool
own_id_is(const struct own_ids *t, struct span id)
{
	const char *mark = marks[t->maker];
	size_t n = strlen(t->prefix), m = strlen(mark);

	return id.n > n + m + 1 && id.p[0] == '"' &&
	    memcmp(id.p + 1, t->prefix, n) == 0 &&
	    memcmp(id.p + 1 + n, mark, m) == 0;
}
