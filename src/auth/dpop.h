/*
 * DPoP (RFC 9449): a token that is bound to a key of ours, and the proof that
 * goes with each request. Proofs are dated by this machine's clock, never by a
 * server's: else a server could collect proofs for later (RFC 9449 11.2).
 */
#ifndef MCPSPLICE_AUTH_DPOP_H
#define MCPSPLICE_AUTH_DPOP_H

#include "base/headers.h"
#include "store/record.h"

/* The key, and the newest nonce of one server. */
struct dpop;

/* Has neither key nor nonce; the caller owns it. */
struct dpop *dpop_new(void);
/* Takes the key of a record (PEM; NULL: none) for the proofs from now on; the
 * nonce stays. Returns whether there is one. */
bool dpop_set_key(struct dpop *d, const char *pem);
/* Notes the nonce of an answer, the value of DPoP-Nonce. NULL, or one that is
 * malformed or too long, leaves the one before. */
void dpop_hear(struct dpop *d, const char *nonce);
bool dpop_has_nonce(const struct dpop *d);
/* Appends the DPoP header of one request: a proof for this method and URL,
 * dated now (s since 1970), for the token whose S256 is ath (NULL: a request to
 * a token endpoint). Each call makes another one. Returns 0, or -1 if there is
 * no key or it cannot sign. */
int dpop_prove(const struct dpop *d, const char *method, const char *url,
    const char *ath, int64_t now, struct headers *to);
/* NULL is fine. */
void dpop_free(struct dpop *d);

/* Is the access token of the record bound to the key of the record? */
bool dpop_is_bound(const struct record *r);
/* What is said if this machine's clock is so far from a host's that proofs may
 * be refused for it, owned by the caller; NULL: it is not. ahead_s: negative if
 * it is behind. */
char *dpop_clock(int64_t ahead_s, const char *host);

#endif
