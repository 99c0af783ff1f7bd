/* What a start needs before all else, and what it says when it cannot go on. */
#ifndef MCPSPLICE_PROXY_STARTUP_H
#define MCPSPLICE_PROXY_STARTUP_H

/* Lets libcrypto end the process when there is no memory, as we do; some of its
 * versions would crash. Has to come before the first use of libcrypto.
 * io/loop and io/http do the same for libevent and libcurl. */
void memory_of_crypto(void);

/* Writes why to stderr. Hosts hide stderr, so if stdin is not a terminal, one
 * request that arrives within 2 s is also answered with why on stdout. */
void refuse(const char *why);

#endif
