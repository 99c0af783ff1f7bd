/* Schedules as tests, and what tests need that play by hand. */
#ifndef MCPSPLICE_TESTS_PLAY_SUITE_H
#define MCPSPLICE_TESTS_PLAY_SUITE_H

#include <check.h>

#include "play/play.h"

/* Adds a case for each schedule of tests/play/schedules/NAME.txt. Ends the
 * program if a file is not as it should be. */
void suite_add_schedules(Suite *suite, const char *name);
/* The lines of a fragment of these files; borrowed. */
const char *suite_fragment(const char *name);
/* Runs the suite and frees it, and the schedules; returns the exit status. */
int suite_run(Suite *suite);

/* In a test: all is as the schedule says. */
void play_check(const struct reducer *reducer, const char *options,
    const char *schedule);
void play_check_lines(struct play *p, const char *lines);
/* The line is right: an input that is understood, and nothing is left of what
 * came before it; or what comes next. */
void play_must(struct play *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The input is understood; what came before it may be left. */
void play_feed(struct play *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Nothing more came. */
void play_must_rest(struct play *p);
/* Takes all lines that came; returns how many began like this. */
unsigned play_count(struct play *p, const char *beginning);
/* How often is this in the lines that came and were not taken? */
unsigned play_seen(struct play *p, const char *text);

#endif
