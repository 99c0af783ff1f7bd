/*
 * WWW-Authenticate (RFC 9110 section 11, RFC 6750 section 3, RFC 9728
 * section 5.1): the first Bearer or DPoP challenge in it. Pure.
 */
#ifndef MCPSPLICE_LOGIN_CHALLENGE_H
#define MCPSPLICE_LOGIN_CHALLENGE_H

#include "base/mem.h"

struct challenge {
	bool bearer; /* there is such a challenge */
	/* Parameters of it; NULL: absent. Visible ASCII and blanks only. */
	char *resource_metadata, *scope, *error, *error_description;
	/* schemes that were offered instead, for people: "Basic, Negotiate";
	 * NULL when there is no challenge at all */
	char *schemes;
};

/* value: all field lines, joined by ", ". One that is longer than the bound,
 * or malformed, counts as absent. Fills c; free it with challenge_free. */
void challenge_parse(struct challenge *c, struct span value);
void challenge_free(struct challenge *c);
/* Does the server know its users by Kerberos tickets, and asks for no token? */
bool challenge_wants_ticket(const struct challenge *c);

#endif
