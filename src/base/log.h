/*
 * Log records, written to stderr and to --log-file. Text from the network is
 * escaped, one record is one line, and the latest decisions are kept in memory
 * so that they can be shown when something goes wrong.
 */
#ifndef MCPSPLICE_BASE_LOG_H
#define MCPSPLICE_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LEVEL_ERROR, LEVEL_WARN, LEVEL_INFO, LEVEL_DEBUG };

struct log_config {
	enum log_level level; /* the least important level that is written */
	bool json;            /* one JSON object per line */
	const char
	    *file; /* appended to, two files of 5 MiB, pid on each line; NULL:
		    * none */
};

/* Opens the log file with mode 0600. Returns 0, or -1 with errno set if the
 * file cannot be opened; stderr works in both cases. stderr is never made
 * non-blocking and is never written to when it is closed. */
int log_open(const struct log_config *config);
/* Tells how many records were left out, and closes the log file. */
void log_close(void);

/* Writes one record. Control bytes, bidi controls and broken UTF-8 are written
 * as \xNN; a record is cut at 4 KiB. Never pass a secret. In each second at
 * most 100 records of each level are written; a later record, or log_close,
 * tells how many were left out. At LEVEL_DEBUG there is no such limit. */
void log_put(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Is this level written, or given to the tap? */
bool log_wants(enum log_level level);
/* Writes a record of LEVEL_ERROR that the limit never drops: for errors that
 * end the program, and for errors that are very rare. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Keeps a decision in a ring of 64, and logs it at LEVEL_INFO. */
void log_decision(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Writes the lines of title and the ring, oldest decision first, whatever the
 * level is. */
void log_dump(const char *title);
/* The same after an error, but only if BOUND_MINUTE_MS have passed since it was
 * last done. now: ms of a clock that never goes back. */
void log_dump_for_error(const char *title, int64_t now);

/* Sends records to cb instead of stderr, for tests and the dump. NULL:
 * stderr. */
typedef void log_sink_cb(enum log_level level, const char *line, void *arg);
void log_sink(log_sink_cb *cb, void *arg);
/* Gives the text of each record to cb as well, whatever its level is and
 * however many there are; the lines of a dump are left out. NULL: to nobody. */
void log_tap(log_sink_cb *cb, void *arg);
/* The same for warnings and errors alone. */
void log_watch(log_sink_cb *cb, void *arg);

#define log_warn(...) log_put(LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_put(LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)                                                         \
	do {                                                                   \
		if (log_wants(LEVEL_DEBUG))                                    \
			log_put(LEVEL_DEBUG, __VA_ARGS__);                     \
	} while (0)

#endif
