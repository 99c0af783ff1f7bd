/* Collects what changed and hands it to memory and orphans; see keepsakes.h. */
#include "config.h"

#include "cache/state_cache.h"

#include <stdlib.h>

#include "cache/startup_cache.h"

enum { MEMORY_MS = 100, ORPHANS_AT_ONCE = 8 };

struct keepsakes {
	struct memory *memory;
	struct orphans *orphans;
	struct loop_timer *keep_timer, *memory_timer;
	orphans_cb *orphan;
	void *arg;
	/* what waits to be written */
	bool has_session, has_memory, has_era, no_era;
	bool modern, sse;
	struct buf session, session_version;
	struct buf version, result, tools;
	bool looked; /* for orphans: once */
};

static void
write_memory(struct keepsakes *k)
{
	if (k->has_memory)
		memory_save(k->memory, buf_span(&k->version),
		    buf_span(&k->result), buf_span(&k->tools));
	if (k->has_era)
		memory_save_era(k->memory, k->modern, k->sse);
	if (k->no_era)
		memory_forget_era(k->memory);
	k->has_memory = false;
	k->has_era = k->no_era = false;
}

static void
on_memory(void *arg)
{
	write_memory(arg);
}

static void
on_keep(void *arg)
{
	struct keepsakes *k = arg;

	k->has_session = false;
	orphans_keep(k->orphans, buf_span(&k->session),
	    buf_span(&k->session_version));
	if (k->session.n == 0 || k->looked)
		return;
	k->looked = true;
	orphans_take(k->orphans, ORPHANS_AT_ONCE, k->orphan, k->arg);
}

struct keepsakes *
keepsakes_new(struct loop *l, const char *home, const struct profile *profile,
    orphans_cb *orphan, void *arg)
{
	struct keepsakes *k = xcalloc(1, sizeof *k);

	k->memory = memory_new(home, profile);
	k->orphans = orphans_new(home, profile);
	k->keep_timer = loop_timer_new(l, on_keep, k);
	k->memory_timer = loop_timer_new(l, on_memory, k);
	k->orphan = orphan;
	k->arg = arg;
	return k;
}

void
keepsakes_free(struct keepsakes *k)
{
	if (k == NULL)
		return;
	write_memory(k);
	/* A session that was noted and is gone now need not be found. */
	if (k->has_session && k->looked)
		orphans_keep(k->orphans, buf_span(&k->session),
		    buf_span(&k->session_version));
	memory_free(k->memory);
	orphans_free(k->orphans);
	loop_timer_free(k->keep_timer);
	loop_timer_free(k->memory_timer);
	buf_free(&k->session);
	buf_free(&k->session_version);
	buf_free(&k->version);
	buf_free(&k->result);
	buf_free(&k->tools);
	free(k);
}

bool
keepsakes_recall(struct keepsakes *k, struct span version, struct buf *result,
    struct buf *tools)
{
	return k != NULL && memory_load(k->memory, version, result, tools);
}

static void
put(struct buf *b, struct span text)
{
	buf_reset(b);
	buf_addspan(b, text);
}

void
keepsakes_remember(struct keepsakes *k, struct span version, struct span result,
    struct span tools)
{
	if (k == NULL)
		return;
	put(&k->version, version);
	put(&k->result, result);
	put(&k->tools, tools);
	k->has_memory = true;
	loop_timer_set(k->memory_timer, MEMORY_MS);
}

bool
keepsakes_recall_era(struct keepsakes *k, bool *modern, bool *sse)
{
	if (k == NULL || k->no_era)
		return false;
	if (!k->has_era)
		return memory_load_era(k->memory, modern, sse);
	*modern = k->modern;
	*sse = k->sse;
	return true;
}

void
keepsakes_note_era(struct keepsakes *k, bool modern, bool sse)
{
	if (k == NULL)
		return;
	k->modern = modern;
	k->sse = sse;
	k->has_era = true;
	k->no_era = false;
	loop_timer_set(k->memory_timer, MEMORY_MS);
}

void
keepsakes_forget_era(struct keepsakes *k)
{
	if (k == NULL)
		return;
	k->has_era = false;
	k->no_era = true;
	loop_timer_set(k->memory_timer, MEMORY_MS);
}

void
keepsakes_keep(struct keepsakes *k, struct span session, struct span version)
{
	if (k == NULL)
		return;
	put(&k->session, session);
	put(&k->session_version, version);
	k->has_session = true;
	/* In the next turn: what the client waits for is on its way then. */
	loop_timer_set(k->keep_timer, 0);
}

bool
keepsakes_rival(struct keepsakes *k)
{
	return k != NULL && orphans_rival(k->orphans);
}
