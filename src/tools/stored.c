/* Records of the store, with the loop run until it has answered. */
#include "config.h"

#include <stdlib.h>

#include "signin/account.h"
#include "tools/command.h"

void
stored_free(struct stored *a)
{
	record_free(&a->record);
	free(a->why);
}

void
stored_done(const char *why, void *arg)
{
	struct stored *a = arg;

	a->answered = true;
	a->why = string_copy(why);
	loop_stop(a->loop, 0);
}

static void
on_record(const struct record *r, const char *why, void *arg)
{
	struct stored *a = arg;

	a->there = r != NULL;
	if (r != NULL)
		record_copy(&a->record, r);
	stored_done(why, a);
}

void
stored_read(struct stored *a, struct loop *l, struct store *s, const char *name)
{
	struct store_op *get;

	*a = (struct stored){ .loop = l };
	get = store_get(s, name, on_record, a);
	loop_run(l);
	if (a->answered)
		return;
	store_cancel(get);
	a->why = xstrdup("the store did not answer in time");
}

struct names {
	char (*list)[STORE_NAME_BYTES];
	size_t n;
};

static bool
on_name(const char *name, void *arg)
{
	struct names *l = arg;
	size_t i;

	if (strlen(name) >= STORE_NAME_BYTES)
		return true;
	for (i = 0; i < l->n; i++)
		if (strcmp(l->list[i], name) == 0)
			return true;
	l->list = xrealloc(l->list, (l->n + 1) * sizeof *l->list);
	memcpy(l->list[l->n++], name, strlen(name) + 1);
	return true;
}

char (*stored_names(struct store *s, size_t *n))[STORE_NAME_BYTES]
{
	struct names l = { 0 };

	store_list(s, on_name, &l);
	*n = l.n;
	return l.list;
}

bool
stored_is_provider(const struct record *r, const char *name)
{
	char own[STORE_NAME_BYTES];

	if (r->issuer == NULL || r->client.id == NULL)
		return false;
	two_logins_name(own, r->issuer, r->client.id, r->profile);
	return strcmp(own, name) == 0;
}

void
stored_name(const struct options *o, char name[STORE_NAME_BYTES])
{
	struct url url;

	url_parse(&url, o->url); /* which the options have checked */
	store_name(name, url.text, o->profile);
	url_free(&url);
}

bool
stored_find_provider(struct loop *loop, struct store *store, const char *url,
    const char *profile, char name[STORE_NAME_BYTES])
{
	char(*names)[STORE_NAME_BYTES];
	struct stored a;
	bool found = false;
	size_t i, n;

	if (store_stamp(store, name) != 0)
		return false;
	names = stored_names(store, &n);
	for (i = 0; i < n && !found; i++) {
		/* That it cannot be read is told when it is listed. */
		stored_read(&a, loop, store, names[i]);
		found = a.there && stored_is_provider(&a.record, names[i]) &&
		    string_eq(a.record.url, url) &&
		    string_eq(a.record.profile, profile);
		if (found)
			memcpy(name, names[i], strlen(names[i]) + 1);
		stored_free(&a);
	}
	free(names);
	return found;
}
