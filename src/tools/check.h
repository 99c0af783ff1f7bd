/* The parts of "mcpsplice check", in their order. */
#ifndef MCPSPLICE_TOOLS_CHECK_H
#define MCPSPLICE_TOOLS_CHECK_H

#include "base/mem.h"
#include "signin/account.h"
#include "tools/command.h"

/* Borrowed by all parts. */
struct check {
	const struct options *options;
	struct report *report;
	struct loop *loop;
	struct url url;
	bool signed_in;    /* there is a token of a login */
	const char *shown; /* the URL without what may be secret */
};

/* How long a step may take that would like to take this long, so that all is over
 * in time. */
int64_t check_time(const struct check *c, int64_t ms);
/* Notes that the steps from this one on are not tried. */
void check_skip(struct check *c, const char *first);
/* Is there TLS? */
bool check_secure(const struct check *c);
/* Appends how the user can sign in. */
void check_add_login(struct buf *out, const struct check *c);

/* Each part returns whether the next one may be tried; else it has noted what is
 * not. */

/* The way to the server: name, proxy, connection, TLS. p is filled. */
bool check_network(struct check *c, struct probe *p);
/* Saves the certificate that the server shows in a new file, and tells what it
 * is. Returns 0, or 1 with *why for users. */
int check_save_certificate(struct check *c, const char *file, char **why);
/* What the server wants, what is known of the user, what the server offers. */
bool check_sign_in(struct check *c, const struct probe *p);

/* --- pure parts --- */

/* Appends the name that people know of a subject or an issuer: its CN, else its
 * O, else all of it. */
void check_show_name(struct buf *out, const char *name);
/* Appends a day, in UTC. */
void check_show_day(struct buf *out, int64_t at);

/* --- check_report.c --- */

enum step_state { STEP_OK, STEP_WARNING, STEP_FAILED };

struct report;

/* Makes a report, which the caller owns. url is what was checked, without its
 * secrets. */
struct report *report_new(bool json, const char *url);
/* Begins a step; its time runs from now. A terminal shows what is waited for
 * until a step ends, in words that go on after "waits for"; NULL: for nothing.
 * name is borrowed. */
void report_step(struct report *r, const char *name, const char *what);
/* Begins a step that is over already, as report_took tells. */
void report_told(struct report *r, const char *name, int64_t us);
/* Add a member to the JSON of the open step. A text that is NULL is left out.
 * raw is JSON. */
void report_text(struct report *r, const char *name, const char *value);
void report_number(struct report *r, const char *name, int64_t value);
void report_flag(struct report *r, const char *name, bool value);
void report_raw(struct report *r, const char *name, struct span raw);
/* The open step took us microseconds, not the time since report_step; -1: no
 * time worth telling. */
void report_took(struct report *r, int64_t us);
/* Ends the open step, and prints its line. What is not printable in the text is
 * made visible. */
void report_end(struct report *r, enum step_state state, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns the time since report_step, in microseconds. */
int64_t report_elapsed(const struct report *r);
/* Prints the end, and frees r. Returns the exit status. */
int report_close(struct report *r);

/* --- pure parts --- */

/* Appends a time as "12 ms" or "1.3 s". */
void report_time(struct buf *out, int64_t us);
/* Appends text, broken into lines of this many columns where it has blanks;
 * each but the first is indented. */
void report_wrap(struct buf *out, struct span text, size_t columns,
    size_t indent);

#endif
