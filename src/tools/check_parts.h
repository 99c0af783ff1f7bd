/* The parts of "mcpsplice check", in their order. */
#ifndef MCPSPLICE_TOOLS_CHECK_PARTS_H
#define MCPSPLICE_TOOLS_CHECK_PARTS_H

#include "signin/account.h"
#include "tools/check_report.h"
#include "tools/probe.h"

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

/* How long a step may take that would like to take this long. */
int64_t check_time(const struct check *c, int64_t ms);
/* Notes that the steps from this one on are not tried. */
void check_skip(struct check *c, const char *first);
/* Is there TLS? */
bool check_secure(const struct check *c);
/* Appends how the user can sign in. */
void check_add_login(struct buf *out, const struct check *c);

/* Each part returns whether the next one may be tried; else it has noted what is
 * not. */

/* Where the options come from, and whether a start would take them. */
bool check_configuration(struct check *c);
/* The way to the server: name, proxy, connection, TLS. p is filled. */
bool check_network(struct check *c, struct probe *p);
/* What the server wants, what is known of the user, what the server offers. */
bool check_sign_in(struct check *c, const struct probe *p);
/* A session, the lists of the server, a ping: the last part. */
void check_session(struct check *c);

/* --- pure parts --- */

/* Appends the name that people know of a subject or an issuer: its CN, else its
 * O, else all of it. */
void check_show_name(struct buf *out, const char *name);
/* Appends a day, in UTC. */
void check_show_day(struct buf *out, int64_t at);

#endif
