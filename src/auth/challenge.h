/*
 * WWW-Authenticate (RFC 9110 section 11, RFC 6750 section 3, RFC 9728
 * section 5.1, RFC 9449 section 7.1): the first Bearer and the first DPoP
 * challenge in it. Pure.
 */
#ifndef MCPSPLICE_AUTH_CHALLENGE_H
#define MCPSPLICE_AUTH_CHALLENGE_H

#include "base/mem.h"

struct challenge {
	bool bearer, dpop; /* there is such a challenge */
	/* Parameters of them, each of the first that has it; NULL: absent.
	 * Visible ASCII and blanks only. */
	char *resource_metadata, *scope, *error_description;
	/* of one of them; which one counts is told by challenge_error */
	char *error, *dpop_error;
	char *algs; /* of DPoP */
	/* RFC 6750 section 3; RFC 9470 section 3; RFC 9396 section 2, where
	 * servers put it here; Microsoft's claims challenge */
	char *error_uri, *acr_values, *max_age, *authorization_details, *claims;
	/* schemes that were offered instead, for people: "Basic, Negotiate";
	 * NULL when there is no challenge at all */
	char *schemes;
};

/* value: all field lines, joined by ", ". One that is longer than the bound,
 * or malformed, counts as absent. Fills c; free it with challenge_free. */
void challenge_parse(struct challenge *c, struct span value);
/* The error that is about a token which was sent by the scheme DPoP, or by
 * Bearer; NULL: none. */
const char *challenge_error(const struct challenge *c, bool dpop);
/* Does the server take tokens that are bound to a key of ours (ES256)? */
bool challenge_offers_dpop(const struct challenge *c);
void challenge_free(struct challenge *c);
/* Does the server know its users by Kerberos tickets, and asks for no token? */
bool challenge_wants_ticket(const struct challenge *c);

#endif
