/* PKCE (RFC 7636): random strings, and their S256, which stands for a token, too. */
#ifndef MCPSPLICE_AUTH_PKCE_H
#define MCPSPLICE_AUTH_PKCE_H

#define PKCE_BYTES 44 /* 32 bytes as base64url, and a NUL */

/* 32 random bytes, base64url: a verifier (RFC 7636 section 4.1), a state. Returns
 * 0, or -1. */
int pkce_random(char out[PKCE_BYTES]);
/* S256 (RFC 7636 section 4.2) of a verifier or of a token (the ath of RFC 9449).
 * Returns 0, or -1. */
int pkce_challenge(char out[PKCE_BYTES], const char *verifier);

#endif
