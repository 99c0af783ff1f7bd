/* Client assertions (RFC 7523), and the keys that sign them and DPoP's proofs.
 * libcrypto does the work. */
#ifndef MCPSPLICE_AUTH_ASSERTION_H
#define MCPSPLICE_AUTH_ASSERTION_H

#include "base/mem.h"

/* Lets libcrypto end the process when there is no memory, as we do; some of its
 * versions would crash. Has to come before the first use of libcrypto.
 * io/loop and io/http do the same for libevent and libcurl. */
void memory_of_crypto(void);

struct assertion_key;

/* PEM, PKCS#8 or what libcrypto reads, not encrypted: EC P-256, RSA of 2048
 * bits or more, Ed25519. NULL with *why for people (owned), never with a part
 * of the key in it. */
struct assertion_key *assertion_key(struct span pem, char **why);
void assertion_key_free(struct assertion_key *k);
/* A new key on P-256 as PEM, for assertion_key. The caller owns it and wipes it
 * (string_wipe). NULL when libcrypto cannot make one. */
char *assertion_make_key(void);
/* Appends the public half of a key on P-256 as a JWK (RFC 7518 6.2.1). Returns
 * 0, or -1 if it is another key. */
int assertion_jwk(const struct assertion_key *k, struct buf *json);
/* Ends a JWT that has header and claims: appends a dot and the signature. alg
 * fits the key. Returns 0, or -1 with token as it was. */
int assertion_sign(const struct assertion_key *k, const char *alg,
    struct buf *token);
/* private_key_jwt (RFC 7523 section 3): iss and sub are the client, exp is now
 * (s since 1970) and 60 s, jti random. algs: what the server lists, blanks
 * between, or NULL; it chooses RS256 or PS256. The token, owned by the caller;
 * NULL with *why when no algorithm fits. */
char *assertion_make(const struct assertion_key *k, const char *client,
    const char *audience, const char *algs, int64_t now, char **why);

#endif
