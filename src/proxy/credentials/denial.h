/*
 * A challenge that denies: the token is good, and not enough. What a server
 * says so is for the client, as another token of the same kind gets the same
 * answer. Pure.
 */
#ifndef MCPSPLICE_PROXY_CREDENTIALS_DENIAL_H
#define MCPSPLICE_PROXY_CREDENTIALS_DENIAL_H

#include "auth/challenge.h"

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
