/* The memory of libcrypto. */
#ifndef MCPSPLICE_APP_MEMORY_H
#define MCPSPLICE_APP_MEMORY_H

/* Lets libcrypto end the process when there is no memory, as we do; some of its
 * versions would crash. Has to come before the first use of libcrypto.
 * io/loop and io/http do the same for libevent and libcurl. */
void memory_of_crypto(void);

#endif
