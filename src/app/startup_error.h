/*
 * A wrong option must reach the person. Hosts hide stderr, so where stdin is
 * no terminal one waiting request is answered with the message.
 */
#ifndef MCPSPLICE_APP_STARTUP_ERROR_H
#define MCPSPLICE_APP_STARTUP_ERROR_H

/* Says why on stderr and, to one request that comes within 2 s on a stdin
 * that is no terminal, on stdout. */
void refuse(const char *why);

#endif
