/* The parts of "mcpsplice check", in their order. */
#ifndef MCPSPLICE_COMMAND_CHECK_PARTS_H
#define MCPSPLICE_COMMAND_CHECK_PARTS_H

#include "app/account.h"
#include "command/check_report.h"

/* Borrowed by all parts. */
struct check {
	const struct options *options;
	struct report *report;
	struct loop *loop;
	struct url url;
	bool signed_in;   /* there is a token of a login */
	char *shown;      /* the URL without what may be secret */
	int64_t until_us; /* when all has to be over */
};

/* All has to be over in so many ms. */
void check_begin(struct check *c, int64_t ms);
/* How long a step may take that would like to take this long. */
int64_t check_time(const struct check *c, int64_t ms);

/* Where the options come from, and whether a start would take them. Returns
 * whether the next part may be tried. */
bool check_configuration(struct check *c);
/* The way to the server: name, proxy, connection, TLS. p is filled. Returns the
 * same. */
bool check_network(struct check *c, struct probe *p);
/* Notes that none of it was tried. */
void check_skip_network(struct check *c);
/* What the server wants, what is known of the user, what the server offers.
 * Returns the same. */
bool check_sign_in(struct check *c, const struct probe *p);
/* A session, the lists of the server, a ping. */
void check_session(struct check *c);

/* Appends how the user can sign in. */
void check_add_login(struct buf *out, const struct check *c);

/* --- pure parts --- */

/* Appends the name that people know of a subject or an issuer: its CN, else its
 * O, else all of it. */
void check_show_name(struct buf *out, const char *name);
/* Appends a day, in UTC. */
void check_show_day(struct buf *out, int64_t at);

#endif
