/* Kept messages; see kept.h. */
#include "config.h"

#include "core/exchange/kept.h"

#include <stdlib.h>
#include <string.h>

bool
kept_add(struct kept *k, struct frame *m, size_t max, size_t max_bytes)
{
	size_t size = frame_size(m) + sizeof *k->list;

	if ((max > 0 && k->n == max) || k->bytes + size > max_bytes)
		return false;
	k->list = xrealloc(k->list, (k->n + 1) * sizeof *k->list);
	k->list[k->n++] = frame_ref(m);
	k->bytes += size;
	return true;
}

void
kept_clear(struct kept *k)
{
	while (k->n > 0)
		frame_unref(k->list[--k->n]);
	free(k->list);
	memset(k, 0, sizeof *k);
}
