/* How a player begins and ends, and schedules as tests; see
 * server_play.h. */
#include "config.h"

#include "play/server_play.h"

#include <stdlib.h>

#include <check.h>

#define CLIENT                                                                 \
	"{\"roots\":{\"listChanged\":true},\"sampling\":{},"                   \
	"\"elicitation\":{\"form\":{},\"url\":{}}}"
#define SERVER                                                                  \
	"{\"tools\":{\"listChanged\":true},\"prompts\":{\"listChanged\":true}," \
	"\"resources\":{\"listChanged\":true,\"subscribe\":true},"              \
	"\"logging\":{}}"

/* --- words --- */

bool
server_play_word(const char **at, struct buf *b)
{
	size_t n;

	*at += strspn(*at, " ");
	n = strcspn(*at, " ");
	buf_reset(b);
	buf_add(b, *at, n);
	buf_str(b);
	*at += n;
	*at += strspn(*at, " ");
	return n > 0;
}

/* --- options --- */

const char *
server_play_value(const char *word, const char *name)
{
	size_t n = strlen(name);

	return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 :
							       NULL;
}

static bool
option_flag(struct server_play *p, const char *word)
{
	struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "bodies", &p->bodies },
		{ "headers", &p->headers },
		{ "flags", &p->flags },
		{ "notes", &p->notes },
		{ "modern", &p->modern },
	};
	size_t i;

	for (i = 0; i < sizeof flags / sizeof *flags; i++)
		if (strcmp(word, flags[i].name) == 0) {
			*flags[i].flag = true;
			return true;
		}
	return false;
}

static bool
option_text(struct server_play *p, const char *word)
{
	struct {
		const char *name;
		char **text;
	} texts[] = {
		{ "client", &p->client },
		{ "server", &p->server },
		{ "version", &p->version },
	};
	const char *value;
	size_t i;

	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		value = server_play_value(word, texts[i].name);
		if (value == NULL)
			continue;
		free(*texts[i].text);
		*texts[i].text = xstrdup(value);
		return true;
	}
	return false;
}

int
server_play_index(const char *value, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(value, names[i]) == 0)
			return (int)i;
	ck_abort_msg("\"%s\" is unknown", value);
	return 0;
}

static void
option(struct server_play *p, const char *word)
{
	static const char *const protocols[] = { "auto", "legacy", "modern" };
	static const char *const transports[] = { "auto", "http", "sse",
		"sse-first" };
	static const char *const was[] = { "legacy", "modern", "sse" };
	struct server_config *c = &p->config;
	const char *value;
	int i;

	if (option_flag(p, word) || option_text(p, word))
		return;
	if ((value = server_play_value(word, "protocol")) != NULL) {
		c->protocol = (enum era_protocol)server_play_index(value,
		    protocols, 3);
	} else if ((value = server_play_value(word, "transport")) != NULL) {
		i = server_play_index(value, transports, 4);
		c->transport = (enum era_transport)i;
	} else if ((value = server_play_value(word, "was")) != NULL) {
		i = server_play_index(value, was, 3);
		c->remembered = true;
		c->was_modern = i == 1;
		c->was_sse = i == 2;
	} else {
		ck_abort_msg("option \"%s\" is unknown", word);
	}
}

/* --- the beginning and the end --- */

/* A client of this version opens, and the server is a modern one. */
static void
open_modern(struct server_play *p)
{
	char *line;

	line = xasprintf("> initialize 0 {\"protocolVersion\":\"%s\","
			 "\"capabilities\":%s,\"clientInfo\":"
			 "{\"name\":\"c\",\"version\":\"1\"}}",
	    p->version, p->client);
	ck_assert(server_play_input(p, line));
	free(line);
	ck_assert(server_play_input(p, "< #1 400 err -32022 no"));
	line = xasprintf("< #2 200 ok {\"resultType\":\"complete\","
			 "\"supportedVersions\":[\"2026-07-28\"],"
			 "\"capabilities\":%s,\"_meta\":"
			 "{\"io.modelcontextprotocol/serverInfo\":"
			 "{\"name\":\"s\",\"version\":\"1\"}}}",
	    p->server);
	ck_assert(server_play_input(p, line));
	free(line);
	ck_assert_msg(memmem(p->out.p, p->out.n, "found modern\n", 13) != NULL,
	    "the opening failed:\n%s", buf_str(&p->trace));
	buf_reset(&p->out);
	buf_reset(&p->trace);
	p->hidden_orders = p->n_orders;
	p->hidden_ours = p->n_ours;
}

struct server_play *
server_play_new(const char *options)
{
	struct server_play *p = xcalloc(1, sizeof *p);
	struct buf word;

	p->config.host = "mcp.test";
	p->config.prefix = "mine";
	p->client = xstrdup(CLIENT);
	p->server = xstrdup(SERVER);
	p->version = xstrdup("2025-11-25");
	p->now = 1000000;
	buf_init(&word, 0);
	while (server_play_word(&options, &word))
		option(p, word.p);
	buf_free(&word);
	p->era = server_new(&p->config);
	if (p->modern)
		open_modern(p);
	return p;
}

static void
free_played(struct played *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		while (list[i].n_values > 0)
			free(list[i].values[--list[i].n_values]);
		frame_unref(list[i].frame);
	}
	free(list);
}

void
server_play_free(struct server_play *p)
{
	server_free(p->era);
	free_played(p->orders, p->n_orders);
	free_played(p->ours, p->n_ours);
	free(p->client);
	free(p->server);
	free(p->version);
	buf_free(&p->meta);
	buf_free(&p->out);
	buf_free(&p->trace);
	free(p);
}

/* --- a test --- */

static bool
is_same(const char *want, const char *seen)
{
	size_t n = strlen(want);

	if (n > 3 && strcmp(want + n - 3, "...") == 0)
		return strncmp(want, seen, n - 3) == 0;
	return strcmp(want, seen) == 0;
}

static void
expect(struct server_play *p, const char *want)
{
	struct buf seen;
	bool some;

	buf_init(&seen, 0);
	some = server_play_take(p, &seen);
	if (want == NULL ? some : !some || !is_same(want, buf_str(&seen)))
		ck_abort_msg("wanted: %s\nseen:   %s\nin:\n%s",
		    want == NULL ? "nothing more" : want,
		    some ? buf_str(&seen) : "nothing", buf_str(&p->trace));
	buf_free(&seen);
}

/* ' stands for ". */
static char *
quoted(const char *text, size_t n)
{
	char *line = xstrndup(text, n), *quote = line;

	while ((quote = strchr(quote, '\'')) != NULL)
		*quote = '"';
	return line;
}

static void
play_line(struct server_play *p, const char *line)
{
	if (line[0] == '#' || line[0] == '\0')
		return;
	if (strchr("><!", line[0]) == NULL) {
		expect(p, line);
		return;
	}
	expect(p, NULL);
	ck_assert_msg(server_play_input(p, line), "not understood: %s", line);
}

void
server_play_check(const char *options, const char *schedule)
{
	char *line = quoted(options, strlen(options));
	struct server_play *p = server_play_new(line);
	const char *at = schedule, *end;

	free(line);
	for (; *at != '\0'; at = *end == '\0' ? end : end + 1) {
		end = at + strcspn(at, "\n");
		line = quoted(at, (size_t)(end - at));
		play_line(p, line);
		free(line);
	}
	expect(p, NULL);
	server_play_free(p);
}
