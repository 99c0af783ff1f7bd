/* What the processes that run, and those that have ended, tell of themselves. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/codec.h"
#include "core/wire/json.h"
#include "proxy/cache/process_note.h"
#include "tools/command.h"

struct running {
	struct buf *out;
	const char *server; /* of this one only, with all its troubles; NULL:
			     * what runs, with the last trouble of each */
	bool json;
	size_t n;
};

static int64_t
number(struct span note, const char *name)
{
	struct span value = json_get(note, name);

	return value.n == 0 ? 0 : strtoll(value.p, NULL, 10);
}

/* Appends a member's text, made safe for a terminal. */
static void
add_text(struct buf *out, struct span note, const char *name)
{
	struct buf text;

	buf_init(&text, 0);
	(void)json_string(json_get(note, name), &text);
	codec_visible(out, buf_span(&text), SIZE_MAX);
	buf_free(&text);
}

void
command_time_text(struct buf *out, int64_t at)
{
	time_t when = (time_t)at;
	char text[64] = "?";
	struct tm tm;

	if (localtime_r(&when, &tm) != NULL)
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &tm);
	buf_adds(out, text);
}

/* Adds the warnings, or the last one. */
static void
add_troubles(struct buf *out, struct span note, bool all)
{
	struct span list = json_get(note, "trouble"), key, one;
	size_t at = 0, before = out->n;

	while (json_next(list, &at, &key, &one)) {
		if (!all)
			out->n = before;
		buf_adds(out, "  trouble   ");
		command_time_text(out, number(one, "at"));
		buf_adds(out, "\n            ");
		add_text(out, one, "text");
		buf_addc(out, '\n');
	}
}

static void
add_process(struct buf *out, struct span note, bool lives)
{
	int64_t session = number(note, "session");

	buf_addf(out, "  process   %lld, %s ", (long long)number(note, "pid"),
	    lives ? "since" : "has ended; it began at");
	command_time_text(out, number(note, "started"));
	buf_adds(out, "\n  host      ");
	add_text(out, note, "client");
	buf_adds(out, json_get(note, "client").n > 0 ? ", " : "");
	buf_adds(out, "started by ");
	add_text(out, note, "parent");
	buf_addf(out, " (process %lld)\n",
	    (long long)number(note, "parent_pid"));
	if (!lives)
		return;
	buf_adds(out, "  session   ");
	if (session == 0) {
		buf_adds(out, "none yet");
	} else {
		buf_addf(out, "number %lld, since ", (long long)session);
		command_time_text(out, number(note, "session_began"));
	}
	buf_addc(out, '\n');
}

static void
add_note(struct span note, bool lives, void *arg)
{
	struct running *r = arg;
	struct buf *out = r->out;
	bool troubled = json_get(note, "trouble").n > 2;

	if (r->server != NULL ?
		!json_string_is(json_get(note, "server"), r->server) :
		!lives)
		return;
	if (!lives && !troubled)
		return;
	if (r->json) {
		buf_addf(out, "%s{\"lives\":%s,", r->n > 0 ? "," : "",
		    lives ? "true" : "false");
		buf_addspan(out, (struct span){ note.p + 1, note.n - 1 });
	} else {
		buf_adds(out, r->n == 0 ? "\nProcesses:\n" : "");
		add_text(out, note, "server");
		buf_addc(out, '\n');
		add_process(out, note, lives);
		add_troubles(out, note, r->server != NULL);
	}
	r->n++;
}

void
command_running(struct buf *out, const char *server, bool json)
{
	struct running r = { .out = out, .server = server, .json = json };

	process_notes_each(getenv("HOME"), add_note, &r);
}
