/*
 * The lists of a server, and one that it gives in several pages. Many hosts
 * read the first page only, so the pages are joined to one list.
 */
#ifndef MCPSPLICE_CORE_SESSION_PAGES_H
#define MCPSPLICE_CORE_SESSION_PAGES_H

#include "base/bounds.h"
#include "base/frame.h"

enum { LIST_KINDS = 4 };

struct list_kind {
	const char *method, *items; /* items: the member with the array */
	const char *empty;          /* the result of a server that has none */
	size_t family;              /* of era_families */
};

extern const struct list_kind list_kinds[LIST_KINDS];

/* The list that this request asks for, or NULL. */
const struct list_kind *list_kind_of(const struct frame *request);
/* Does this request for a list have no cursor? */
bool list_begins(const struct frame *request);
/* Does this nextCursor name a page? Many servers end with an empty one. */
bool list_goes_on(struct span cursor);

/* A sum of the items in this result: the same in whatever order they are. */
uint64_t list_sum(const struct list_kind *kind, struct span result);

/* The pages of a list that were read so far. */
struct pages {
	const struct list_kind *kind;
	struct frame *first; /* the result of the first page; NULL: none yet */
	struct buf items;    /* of all pages, without the closing bracket */
	struct buf cursor;   /* of the page that is to follow, raw */
	size_t room;         /* bytes of items that still fit */
	unsigned n;
	uint64_t seen[2 * BOUND_TOOL_PAGES]; /* hashes of pages and cursors */
	size_t n_seen;
};

/* Sets *at to NULL. */
void pages_free(struct pages **at);
/* Takes the result of a page; *at is NULL before the first one. Returns the list,
 * owned by the caller, and *at is NULL; or NULL if another page has to be asked
 * for. A list of one page is the result as it came. Otherwise it is the first
 * page with the items of all. A page or a cursor that came before ends the list:
 * that page is left out, and so is the cursor. At a bound the cursor of the rest
 * stays; max is how many bytes the list may have at most (0: any), if that is
 * less than is read. */
struct frame *pages_take(struct pages **at, const struct list_kind *kind,
    size_t max, struct frame *result);
/* Returns the list as far as it was read, owned by the caller; *at, which is not
 * NULL, becomes NULL. */
struct frame *pages_end(struct pages **at);

#endif
