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

/*
 * A challenge that denies: the token is good, and not enough. What a server
 * says so is for the client, as another token of the same kind gets the same
 * answer. Pure.
 */

/* Is it about the token's making or rights, in a way that neither a refresh nor
 * the usual sign-in changes? A missing scope is not: that can be asked for. RFC
 * 9470 section 3, and "insufficient_authorization_details" of the IETF draft
 * oauth-rar-metadata, which SEP-2643 takes up. */
bool denial_stands(const struct challenge *c);
/* Appends why, for users, with what to do. */
void denial_say(const struct challenge *c, struct buf *why);
/* Fills out, which is empty, with the challenge for programs: an object with
 * its parameters, each as the text that it has in the header. Nothing is added
 * if there is no challenge for a token in it, or if it says nothing but that a
 * token is wanted. value is as in challenge_parse. */
void denial_json(struct span value, struct buf *out);

#endif
