/* PKCE: libcrypto does the work. Its error queue is emptied after a failure, since
 * libcurl reads the same one. */
#include "config.h"

#include "auth/pkce.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/codec.h"

enum { RANDOM_BYTES = 32, HASH_BYTES = 32 /* SHA-256 */ };

static void
encode(char out[PKCE_BYTES], const unsigned char p[RANDOM_BYTES])
{
	struct buf b = { 0 };

	codec_base64url(&b, (struct span){ (const char *)p, RANDOM_BYTES });
	memcpy(out, buf_str(&b), PKCE_BYTES);
	buf_wipe(&b);
}

int
pkce_random(char out[PKCE_BYTES])
{
	unsigned char p[RANDOM_BYTES];

	if (RAND_bytes(p, sizeof p) != 1) {
		ERR_clear_error();
		return -1;
	}
	encode(out, p);
	mem_wipe(p, sizeof p);
	return 0;
}

int
pkce_challenge(char out[PKCE_BYTES], const char *verifier)
{
	unsigned char hash[HASH_BYTES];

	if (EVP_Digest(verifier, strlen(verifier), hash, NULL, EVP_sha256(),
		NULL) != 1) {
		ERR_clear_error();
		return -1;
	}
	encode(out, hash);
	return 0;
}
