/*
 * What the two eras have in common and how they differ: methods, versions,
 * capabilities. The messages themselves are made in to_modern.c (for a modern
 * peer) and to_legacy.c (for a legacy one).
 *
 * Methods and strings of a peer are compared decoded, because some peers write
 * a slash with a backslash.
 */
#include "config.h"

#include "core/era/era.h"

#include "core/era/parts.h"
#include "core/wire/json.h"

enum {
	ASKS = 1,  /* the answer may be input_required */
	CACHED = 2 /* the result has ttlMs and cacheScope */
};

struct method {
	const char *name;
	enum era_way to_modern, to_legacy;
	unsigned traits;
};

/* All methods of requests, and those of notifications that are not just
 * translated. */
static const struct method methods[] = {
	{ "completion/complete", ERA_BOTH, ERA_BOTH, 0 },
	{ "elicitation/create", ERA_BOTH, ERA_BOTH, 0 },
	{ "initialize", ERA_LOCAL, ERA_NONE, 0 },
	{ "logging/setLevel", ERA_LOCAL, ERA_NONE, 0 },
	{ "notifications/cancelled", ERA_LOCAL, ERA_LOCAL, 0 },
	{ "notifications/initialized", ERA_LOCAL, ERA_NONE, 0 },
	{ "notifications/progress", ERA_LOCAL, ERA_BOTH, 0 },
	{ "notifications/roots/list_changed", ERA_LOCAL, ERA_BOTH, 0 },
	{ "notifications/tasks/status", ERA_LOCAL, ERA_BOTH, 0 },
	{ "ping", ERA_LOCAL, ERA_NONE, 0 },
	{ "prompts/get", ERA_BOTH, ERA_BOTH, ASKS },
	{ "prompts/list", ERA_BOTH, ERA_BOTH, CACHED },
	{ "resources/list", ERA_BOTH, ERA_BOTH, CACHED },
	{ "resources/read", ERA_BOTH, ERA_BOTH, ASKS | CACHED },
	{ "resources/subscribe", ERA_LOCAL, ERA_NONE, 0 },
	{ "resources/templates/list", ERA_BOTH, ERA_BOTH, CACHED },
	{ "resources/unsubscribe", ERA_LOCAL, ERA_NONE, 0 },
	{ "roots/list", ERA_BOTH, ERA_BOTH, 0 },
	{ "sampling/createMessage", ERA_BOTH, ERA_BOTH, 0 },
	{ "server/discover", ERA_BOTH, ERA_LOCAL, CACHED },
	{ "subscriptions/listen", ERA_BOTH, ERA_LOCAL, 0 },
	{ "tasks/cancel", ERA_NONE, ERA_NONE, 0 },
	{ "tasks/get", ERA_NONE, ERA_NONE, 0 },
	{ "tasks/list", ERA_NONE, ERA_NONE, 0 },
	{ "tasks/result", ERA_NONE, ERA_NONE, 0 },
	{ "tasks/update", ERA_BOTH, ERA_NONE, 0 },
	{ "tools/call", ERA_BOTH, ERA_BOTH, ASKS },
	{ "tools/list", ERA_BOTH, ERA_BOTH, CACHED },
};

static const char *const legacy_versions[] = { "2024-11-05", "2025-03-26",
	"2025-06-18", REVISION_LEGACY };

const char *const era_levels[ERA_LEVELS] = { "debug", "info", "notice",
	"warning", "error", "critical", "alert", "emergency" };

const struct era_family era_families[ERA_FAMILIES] = {
	{ "tools", "toolsListChanged", "notifications/tools/list_changed" },
	{ "prompts", "promptsListChanged",
	    "notifications/prompts/list_changed" },
	{ "resources", "resourcesListChanged",
	    "notifications/resources/list_changed" },
};

size_t
era_family(struct span method)
{
	size_t i = 0;

	while (i < ERA_FAMILIES &&
	    !json_key_is(method, era_families[i].changed))
		i++;
	return i;
}

bool
era_method_is(struct span method, const char *name)
{
	struct buf text;
	bool same;

	if (method.n == 0 || memchr(method.p, '\\', method.n) == NULL)
		return span_is(method, name);
	if (method.n > 6 * strlen(name))
		return false; /* too long even with every letter escaped */
	buf_init(&text, 0);
	buf_addc(&text, '"');
	buf_addspan(&text, method);
	buf_addc(&text, '"');
	same = json_string_is(buf_span(&text), name);
	buf_free(&text);
	return same;
}

/* Returns NULL for a method that is not in the table. */
static const struct method *
find(struct span method)
{
	size_t i;

	for (i = 0; i < sizeof methods / sizeof *methods; i++) {
		if (era_method_is(method, methods[i].name))
			return &methods[i];
	}
	return NULL;
}

static bool
has_trait(struct span method, unsigned trait)
{
	const struct method *m = find(method);

	return m != NULL && (m->traits & trait) != 0;
}

/* Returns the index of this raw string in the list, or -1. */
static int
index_of(struct span value, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (json_string_is(value, list[i]))
			return (int)i;
	}
	return -1;
}

static int
legacy_index(struct span version)
{
	return index_of(version, legacy_versions,
	    sizeof legacy_versions / sizeof *legacy_versions);
}

struct span
era_legacy_version(struct span wanted)
{
	if (legacy_index(wanted) >= 0)
		return wanted;
	return span_of("\"" REVISION_LEGACY "\"");
}

const char *
era_named_version(struct span text, struct span wanted)
{
	const int n = sizeof legacy_versions / sizeof *legacy_versions;
	int known = legacy_index(wanted), i;
	const char *best = NULL;

	for (i = 0; i < n; i++)
		if (i != known && (best == NULL || known < 0 || i < known) &&
		    span_find(text, legacy_versions[i]) != NULL)
			best = legacy_versions[i];
	return best;
}

struct span
era_heard_version(struct span asked, struct span taken)
{
	int known = legacy_index(asked);

	return known >= 0 && known < legacy_index(taken) ? asked : taken;
}

int
era_level(struct span level)
{
	return index_of(level, era_levels, ERA_LEVELS);
}

struct span
era_request_version(const struct frame *request)
{
	return era_meta(request, META_REVISION);
}

struct span
era_meta(const struct frame *f, const char *key)
{
	return json_get(f->meta, key);
}

enum era_way
era_to_modern(const struct frame *legacy)
{
	const struct method *m = find(legacy->method);

	return m != NULL ? m->to_modern : ERA_BOTH;
}

enum era_way
era_to_legacy(const struct frame *modern)
{
	const struct method *m = find(modern->method);

	return m != NULL ? m->to_legacy : ERA_BOTH;
}

bool
era_is_request(struct span method)
{
	const struct method *m = find(method);

	return m != NULL && strncmp(m->name, "notifications/", 14) != 0;
}

bool
era_may_ask(struct span method)
{
	return has_trait(method, ASKS);
}

bool
era_is_cacheable(struct span method)
{
	return has_trait(method, CACHED);
}

/* An elicitation capability without modes is older than the modes: it means
 * forms. */
static bool
declares_mode(struct span elicitation, struct span mode)
{
	bool url = json_kind(json_get(elicitation, "url")) == '{';

	if (json_kind(elicitation) != '{')
		return false;
	if (json_string_is(mode, "url"))
		return url;
	if (mode.p != NULL && !json_string_is(mode, "form"))
		return false;
	return !url || json_kind(json_get(elicitation, "form")) == '{';
}

bool
era_declares(struct span capabilities, struct span method, struct span params)
{
	if (era_method_is(method, "sampling/createMessage"))
		return json_kind(json_get(capabilities, "sampling")) == '{';
	if (era_method_is(method, "roots/list"))
		return json_kind(json_get(capabilities, "roots")) == '{';
	if (era_method_is(method, "elicitation/create"))
		return declares_mode(json_get(capabilities, "elicitation"),
		    json_get(params, "mode"));
	return false;
}

bool
era_discovered(struct span result, bool *modern)
{
	struct span versions = json_get(result, "supportedVersions"), key, v;
	size_t at = 0;

	*modern = false;
	if (json_kind(versions) != '[')
		return false;
	while (json_next(versions, &at, &key, &v))
		*modern |= json_string_is(v, REVISION_MODERN);
	return true;
}

void
era_capabilities(struct buf *out, struct span capabilities)
{
	static const struct edit no_tasks = { META_PREFIX "tasks",
		{ NULL, 0 } };
	struct span extensions = json_get(capabilities, "extensions");
	struct edit edits[] = { { "roots", no_span }, { "tasks", no_span },
		{ "extensions", no_span } };
	struct buf kept;

	buf_init(&kept, 0);
	if (json_kind(json_get(capabilities, "roots")) == '{')
		edits[0].value = span_of("{}");
	if (json_kind(extensions) == '{') {
		edit_object(&kept, extensions, &no_tasks, 1);
		edits[2].value = buf_span(&kept);
	}
	if (json_kind(capabilities) != '{')
		capabilities = no_span;
	edit_object(out, capabilities, edits, ERA_EDITS(edits));
	buf_free(&kept);
}

struct edit
era_edit_meta(struct buf *out, struct span object, const struct edit *edits,
    size_t n)
{
	edit_object(out, json_get(object, "_meta"), edits, n);
	if (edit_is_empty(buf_span(out)))
		return (struct edit){ "_meta", no_span };
	return (struct edit){ "_meta", buf_span(out) };
}

struct frame *
era_edit_params(struct frame *f, const struct edit *edits, size_t n)
{
	if (json_kind(f->params) == '[')
		return frame_ref(f);
	return edit_part(f, "params", f->params, edits, n);
}

void
era_map(struct buf *out, struct span array,
    void (*map)(struct buf *, struct span))
{
	const char *from = array.p;
	struct span key, value;
	size_t at = 0;

	while (json_next(array, &at, &key, &value)) {
		buf_add(out, from, (size_t)(value.p - from));
		map(out, value);
		from = value.p + value.n;
	}
	buf_add(out, from, (size_t)(array.p + array.n - from));
}
