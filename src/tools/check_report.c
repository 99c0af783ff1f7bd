/* What "mcpsplice check" prints: a line for each step, or one JSON object for all
 * of them. One step is open at a time. */
#include "config.h"

#include "tools/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/codec.h"
#include "os/clock.h"
#include "os/terminal.h"

enum {
	ALL_MS = 27 * 1000, /* for all steps */
	NAME_COLUMNS = 15,
	STATE_COLUMNS = 8,
	TIME_COLUMNS = 8,
	TEXT_AT = NAME_COLUMNS + STATE_COLUMNS + TIME_COLUMNS + 2,
	LEAST_COLUMNS = 30, /* of the text; a narrower terminal breaks it */
	TEXT_BYTES = 2000
};

struct report {
	bool json, terminal, colours;
	size_t columns; /* of the text; SIZE_MAX: it is not broken */
	char *url;
	struct buf steps; /* JSON */
	struct buf data;  /* members of the open step, each after a comma */
	const char *name; /* of the open step */
	const char *failed;
	struct buf skipped; /* names, ", " between them */
	bool waiting;       /* the terminal shows what is waited for */
	unsigned warnings;
	int64_t begun, step_begun, took; /* in microseconds; took -1: no time */
	bool is_timed;                   /* took was given */
};

static const char *const words[] = { "ok", "warning", "failed" };

static int64_t
now_us(void)
{
	return os_clock_us(OS_CLOCK_STEADY);
}

/* --- pure parts --- */

void
report_time(struct buf *out, int64_t us)
{
	int64_t ms = (us + 500) / 1000;

	if (ms < 1000)
		buf_addf(out, "%" PRId64 " ms", ms);
	else
		buf_addf(out, "%" PRId64 ".%" PRId64 " s", ms / 1000,
		    ms % 1000 / 100);
}

/* How many bytes of the text fit into one line? */
static size_t
fitting(struct span text, size_t columns)
{
	size_t i, used = 0, blank = 0;

	for (i = 0; i < text.n && (used < columns || text.p[i] == ' '); i++) {
		if (text.p[i] == ' ' && (i == 0 || text.p[i - 1] != ' '))
			blank = i;
		used += ((unsigned char)text.p[i] & 0xc0) != 0x80;
	}
	while (i < text.n && ((unsigned char)text.p[i] & 0xc0) == 0x80)
		i++;
	return i == text.n || blank == 0 ? i : blank;
}

void
report_wrap(struct buf *out, struct span text, size_t columns, size_t indent)
{
	size_t n, before = out->n;

	while (text.n > 0) {
		n = fitting(text, columns);
		if (out->n > before && n > 0)
			buf_addf(out, "\n%*s", (int)indent, "");
		buf_add(out, text.p, n);
		for (; n < text.n && text.p[n] == ' '; n++)
			continue;
		text.p += n;
		text.n -= n;
	}
}

/* --- the report --- */

struct report *
report_new(bool json, const char *url)
{
	struct report *r = xcalloc(1, sizeof *r);
	unsigned columns;
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	r->json = json;
	r->terminal = !json && os_is_terminal(OS_STDOUT);
	r->colours = r->terminal && (no_colour == NULL || *no_colour == '\0') &&
	    term != NULL && strcmp(term, "dumb") != 0;
	columns = r->terminal ? os_terminal_columns() : 0;
	r->columns = columns < TEXT_AT + LEAST_COLUMNS ?
	    SIZE_MAX :
	    columns - (size_t)TEXT_AT - 1;
	r->url = xstrdup(url);
	r->begun = now_us();
	return r;
}

static void
wipe(struct report *r)
{
	if (r->waiting)
		printf("\r\033[K");
	r->waiting = false;
}

int64_t
report_elapsed(const struct report *r)
{
	return now_us() - r->step_begun;
}

void
report_step(struct report *r, const char *name, const char *what)
{
	r->name = name;
	r->step_begun = now_us();
	r->is_timed = false;
	buf_reset(&r->data);
	if (!r->terminal || what == NULL)
		return;
	wipe(r);
	printf("%-*swaiting for %.40s", NAME_COLUMNS, name, what);
	fflush(stdout);
	r->waiting = true;
}

void
report_told(struct report *r, const char *name, int64_t us)
{
	report_step(r, name, NULL);
	report_took(r, us);
}

void
report_text(struct report *r, const char *name, const char *value)
{
	if (value == NULL)
		return;
	report_raw(r, name, no_span);
	codec_json_string(&r->data, span_of(value));
}

void
report_number(struct report *r, const char *name, int64_t value)
{
	buf_addf(&r->data, ",\"%s\":%" PRId64, name, value);
}

void
report_flag(struct report *r, const char *name, bool value)
{
	report_raw(r, name, span_of(value ? "true" : "false"));
}

void
report_raw(struct report *r, const char *name, struct span raw)
{
	buf_addf(&r->data, ",\"%s\":", name);
	buf_addspan(&r->data, raw);
}

void
report_took(struct report *r, int64_t us)
{
	r->is_timed = true;
	r->took = us;
}

static void
print_json(struct report *r, enum step_state state, struct span text)
{
	struct buf *b = &r->steps;

	buf_adds(b, b->n > 0 ? "," : "");
	buf_adds(b, "{\"step\":");
	codec_json_string(b, span_of(r->name));
	buf_addf(b, ",\"state\":\"%s\"", words[state]);
	if (r->took >= 0)
		buf_addf(b, ",\"ms\":%" PRId64 ".%" PRId64, r->took / 1000,
		    r->took % 1000 / 100);
	buf_adds(b, ",\"text\":");
	codec_json_string(b, text);
	buf_addspan(b, buf_span(&r->data));
	buf_adds(b, "}");
}

static void
print_line(struct report *r, enum step_state state, struct span text)
{
	static const char *const colours[] = { "\033[32m", "\033[33m",
		"\033[31m" };
	struct buf took = { 0 }, wrapped = { 0 };

	if (r->took >= 0)
		report_time(&took, r->took);
	report_wrap(&wrapped, text, r->columns, TEXT_AT);
	wipe(r);
	printf("%-*s%s%-*s%s%*s  %s\n", NAME_COLUMNS, r->name,
	    r->colours ? colours[state] : "", STATE_COLUMNS, words[state],
	    r->colours ? "\033[0m" : "", TIME_COLUMNS, buf_str(&took),
	    buf_str(&wrapped));
	fflush(stdout);
	buf_free(&took);
	buf_free(&wrapped);
}

void
report_end(struct report *r, enum step_state state, const char *fmt, ...)
{
	struct buf text = { 0 };
	char *full;
	va_list ap;

	va_start(ap, fmt);
	full = xvasprintf(fmt, ap);
	va_end(ap);
	codec_visible(&text, span_of(full), TEXT_BYTES);
	free(full);
	if (!r->is_timed)
		r->took = report_elapsed(r);
	if (state == STEP_FAILED && r->failed == NULL)
		r->failed = r->name;
	r->warnings += state == STEP_WARNING;
	if (r->json)
		print_json(r, state, buf_span(&text));
	else
		print_line(r, state, buf_span(&text));
	buf_free(&text);
}

static void
close_json(struct report *r)
{
	buf_reset(&r->data);
	codec_json_string(&r->data, span_of(r->url));
	printf("{\"url\":%s,\"ok\":%s,\"ms\":%" PRId64 ",\"steps\":[%s]}\n",
	    buf_str(&r->data), r->failed == NULL ? "true" : "false",
	    (now_us() - r->begun) / 1000, buf_str(&r->steps));
}

static void
close_text(struct report *r)
{
	struct buf text = { 0 }, wrapped = { 0 };

	if (r->failed == NULL) {
		buf_adds(&text,
		    r->warnings > 0 ? "The server works, but see the warnings" :
				      "The server works");
		buf_adds(&text, ". The check took ");
		report_time(&text, now_us() - r->begun);
	} else {
		buf_addf(&text, "The check failed: %s", r->failed);
		if (r->skipped.n > 0)
			buf_addf(&text, ". Not tried: %s",
			    buf_str(&r->skipped));
	}
	report_wrap(&wrapped, buf_span(&text),
	    r->columns == SIZE_MAX ? SIZE_MAX : r->columns + TEXT_AT, 0);
	printf("\n%s.\n", buf_str(&wrapped));
	buf_free(&text);
	buf_free(&wrapped);
}

int
report_close(struct report *r)
{
	int status = r->failed != NULL;

	wipe(r);
	if (r->json)
		close_json(r);
	else
		close_text(r);
	buf_free(&r->skipped);
	buf_free(&r->steps);
	buf_free(&r->data);
	free(r->url);
	free(r);
	return status;
}

/* --- what more than one step says or asks --- */

int64_t
check_time(const struct check *c, int64_t ms)
{
	int64_t left = ALL_MS - (now_us() - c->report->begun) / 1000;

	return left < 1 ? 1 : left < ms ? left : ms;
}

void
check_add_login(struct buf *out, const struct check *c)
{
	bool whole = strcmp(c->shown, c->options->url) == 0;

	buf_addf(out, "run \"mcpsplice login %s\" with the same options",
	    whole ? c->shown : "URL");
}

bool
check_secure(const struct check *c)
{
	return strcmp(c->url.scheme, "https") == 0;
}

void
check_skip(struct check *c, const char *first)
{
	static const char *const steps[] = { "name", "connect", "TLS",
		"sign-in", "revision", "session", "listen stream", "tools",
		"prompts", "resources", "ping" };
	struct report *r = c->report;
	size_t i;
	bool on = false;

	for (i = 0; i < sizeof steps / sizeof *steps; i++) {
		on = on || strcmp(steps[i], first) == 0;
		if (!on || (strcmp(steps[i], "TLS") == 0 && !check_secure(c)))
			continue;
		buf_addf(&r->skipped, "%s%s", r->skipped.n > 0 ? ", " : "",
		    steps[i]);
		buf_addf(&r->steps, "%s{\"step\":\"%s\",\"state\":\"skipped\"}",
		    r->steps.n > 0 ? "," : "", steps[i]);
	}
}
