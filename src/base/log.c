/*
 * Log records. This is the only file of base that reads the clock and keeps
 * state: a process has one stderr, so it has one log.
 *
 * A record is built in memory, at most 4 KiB long, and written by one write(2),
 * because several processes may share a pipe or append to one file. A record
 * that cannot be written at once is dropped, because a host that does not read
 * stderr must never stop its own calls.
 *
 * At most BOUND_LOG_LINES records of each level are written in each second of
 * the clock, so that a peer cannot fill a disk with warnings and notes cannot
 * hide a warning. The others are counted, and a later record tells the number.
 * At LEVEL_DEBUG all are written.
 */
#include "config.h"

#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/append.h"
#include "base/bounds.h"
#include "base/codec.h"
#include "os/file.h"
#include "os/process.h"

#define PREFIX_BYTES 160 /* of a record, for time, pid, level and punctuation */
#define TEXT_BYTES (BOUND_LINE_BYTES - PREFIX_BYTES)
#define RING 64
#define DECISION_BYTES 512

struct decision {
	struct timespec when;
	char text[DECISION_BYTES];
};

static struct {
	enum log_level level;
	bool json;
	struct append file; /* --log-file */
	log_sink_cb *sink, *tap, *watch;
	void *sink_arg, *tap_arg, *watch_arg;
	struct decision ring[RING];
	size_t decisions; /* number of decisions taken since the start */
	time_t second;    /* the second in which records[] was counted */
	unsigned records[LEVEL_DEBUG + 1];
	size_t left_out; /* dropped records that no record has told yet */
	int64_t dump_at; /* the earliest time of the next dump for an error */
} state = { .level = LEVEL_WARN, .file = { .fd = -1 } };

static const char *const level_names[] = { "error", "warn", "info", "debug" };
static const char *const level_words[] = { "error: ", "warning: ", "", "" };

static void
format_time(char text[40], const struct timespec *when)
{
	struct tm tm;
	size_t n;

	if (gmtime_r(&when->tv_sec, &tm) == NULL)
		memset(&tm, 0, sizeof tm);
	n = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, 40 - n, ".%03dZ", (int)(when->tv_nsec / 1000000));
}

/* Formats a record as one JSON object. Quoting makes the text longer, so the
 * text is cut until the record fits. */
static void
format_json(struct buf *out, enum log_level level, const char *when,
    struct span text)
{
	for (;;) {
		buf_reset(out);
		buf_addf(out,
		    "{\"time\":\"%s\",\"pid\":%ld,\"level\":\"%s\","
		    "\"message\":",
		    when, os_process_id(), level_names[level]);
		codec_json_string(out, text);
		buf_addc(out, '}');
		if (out->n < BOUND_LINE_BYTES)
			return;
		text.n /= 2;
	}
}

/* Formats a record as a line of text. Only the file's lines have time and
 * pid. */
static void
format_text(struct buf *out, enum log_level level, const char *when,
    struct span text)
{
	buf_reset(out);
	if (when != NULL)
		buf_addf(out, "%s ", when);
	buf_adds(out, "mcpsplice");
	if (when != NULL)
		buf_addf(out, "[%ld]", os_process_id());
	buf_addf(out, ": %s", level_words[level]);
	buf_addspan(out, text);
}

static void
write_stderr(struct buf *line)
{
	buf_addc(line, '\n');
	os_file_report(line->p, line->n);
	line->n--;
}

/* Formats a record and writes it to stderr, or to the sink instead, and to the
 * file. text must be safe to show. */
static void
emit(enum log_level level, const struct timespec *when, struct span text)
{
	struct buf line;
	char time_text[40];

	buf_init(&line, 0);
	format_time(time_text, when);
	if (state.json)
		format_json(&line, level, time_text, text);
	else
		format_text(&line, level, NULL, text);
	if (state.sink != NULL)
		state.sink(level, buf_str(&line), state.sink_arg);
	else
		write_stderr(&line);
	if (state.file.fd >= 0) {
		if (!state.json)
			format_text(&line, level, time_text, text);
		append_line(&state.file, &line);
	}
	buf_free(&line);
}

static void __attribute__((format(printf, 3, 0))) put(enum log_level level,
    const struct timespec *when, const char *fmt, va_list ap)
{
	char raw[BOUND_LINE_BYTES];
	struct buf text;
	int len;

	len = vsnprintf(raw, sizeof raw, fmt, ap);
	if (len < 0)
		return;
	buf_init(&text, 0);
	codec_visible(&text, span_of(raw), TEXT_BYTES);
	emit(level, when, buf_span(&text));
	buf_free(&text);
}

static void __attribute__((format(printf, 3, 4)))
put_now(enum log_level level, const struct timespec *now, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(level, now, fmt, ap);
	va_end(ap);
}

static void
tell_left_out(const struct timespec *now)
{
	size_t n = state.left_out;

	if (n == 0)
		return;
	state.left_out = 0;
	put_now(LEVEL_WARN, now,
	    "%zu more messages left out (at most %d per level and second; "
	    "-vv writes all)",
	    n, BOUND_LOG_LINES);
}

/* May a record of this level be written now? If not, it is counted. */
static bool
admit(enum log_level level, const struct timespec *now)
{
	unsigned *n = &state.records[level];

	if (now->tv_sec != state.second) {
		state.second = now->tv_sec;
		memset(state.records, 0, sizeof state.records);
		tell_left_out(now);
	}
	if (state.level >= LEVEL_DEBUG || *n < BOUND_LOG_LINES) {
		(*n)++;
		return true;
	}
	state.left_out++;
	return false;
}

int
log_open(const struct log_config *config)
{
	log_close();
	state.level = config->level;
	state.json = config->json;
	if (config->file == NULL)
		return 0;
	return append_open(&state.file, config->file, BOUND_LOG_FILE_BYTES,
	    false);
}

void
log_close(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	tell_left_out(&now);
	memset(state.records, 0, sizeof state.records);
	state.dump_at = 0;
	append_close(&state.file);
}

bool
log_wants(enum log_level level)
{
	return level <= state.level || state.tap != NULL ||
	    (state.watch != NULL && level <= LEVEL_WARN);
}

/* Tells the tap and the watch. */
static void __attribute__((format(printf, 2, 0)))
tell(enum log_level level, const char *fmt, va_list ap)
{
	bool watched = state.watch != NULL && level <= LEVEL_WARN;
	char raw[BOUND_LINE_BYTES];
	struct buf text;
	va_list copy;

	if (state.tap == NULL && !watched)
		return;
	va_copy(copy, ap);
	if (vsnprintf(raw, sizeof raw, fmt, copy) >= 0) {
		buf_init(&text, 0);
		codec_visible(&text, span_of(raw), TEXT_BYTES);
		if (state.tap != NULL)
			state.tap(level, buf_str(&text), state.tap_arg);
		if (watched)
			state.watch(level, buf_str(&text), state.watch_arg);
		buf_free(&text);
	}
	va_end(copy);
}

void
log_put(enum log_level level, const char *fmt, ...)
{
	struct timespec now;
	int saved = errno;
	va_list ap;

	if (!log_wants(level))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	va_start(ap, fmt);
	tell(level, fmt, ap);
	if (level <= state.level && admit(level, &now))
		put(level, &now, fmt, ap);
	va_end(ap);
	errno = saved;
}

void
log_error(const char *fmt, ...)
{
	struct timespec now;
	int saved = errno;
	va_list ap;

	clock_gettime(CLOCK_REALTIME, &now);
	va_start(ap, fmt);
	tell(LEVEL_ERROR, fmt, ap);
	put(LEVEL_ERROR, &now, fmt, ap);
	va_end(ap);
	errno = saved;
}

void
log_decision(const char *fmt, ...)
{
	struct decision *d = &state.ring[state.decisions++ % RING];
	int saved = errno;
	va_list ap;

	clock_gettime(CLOCK_REALTIME, &d->when);
	va_start(ap, fmt);
	vsnprintf(d->text, sizeof d->text, fmt, ap);
	va_end(ap);
	log_put(LEVEL_INFO, "%s", d->text);
	errno = saved;
}

/* Writes a line of the dump, whatever the level of the log is. */
static void __attribute__((format(printf, 1, 2)))
dump_line(const char *fmt, ...)
{
	struct timespec now;
	va_list ap;

	clock_gettime(CLOCK_REALTIME, &now);
	va_start(ap, fmt);
	put(LEVEL_INFO, &now, fmt, ap);
	va_end(ap);
}

void
log_dump(const char *title)
{
	size_t i, n = state.decisions < RING ? state.decisions : RING;
	const struct decision *d;
	int saved = errno, length;
	char when[40];

	for (; *title != '\0'; title += length + (title[length] == '\n')) {
		length = (int)strcspn(title, "\n");
		dump_line("%.*s", length, title);
	}
	if (n > 0)
		dump_line("the last %zu decisions:", n);
	for (i = 0; i < n; i++) {
		d = &state.ring[(state.decisions - n + i) % RING];
		format_time(when, &d->when);
		dump_line("%s %s", when, d->text);
	}
	errno = saved;
}

void
log_dump_for_error(const char *title, int64_t now)
{
	if (now < state.dump_at)
		return;
	state.dump_at = now + BOUND_MINUTE_MS;
	log_dump(title);
}

void
log_sink(log_sink_cb *cb, void *arg)
{
	state.sink = cb;
	state.sink_arg = arg;
}

void
log_tap(log_sink_cb *cb, void *arg)
{
	state.tap = cb;
	state.tap_arg = arg;
}

void
log_watch(log_sink_cb *cb, void *arg)
{
	state.watch = cb;
	state.watch_arg = arg;
}
