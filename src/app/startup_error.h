/*
 * A wrong option must reach the user. Hosts hide stderr, so if stdin is not a
 * terminal, one waiting request is answered with the message.
 */
#ifndef MCPSPLICE_APP_STARTUP_ERROR_H
#define MCPSPLICE_APP_STARTUP_ERROR_H

/* Writes why to stderr. If stdin is not a terminal, one request that arrives
 * within 2 s is also answered with why on stdout. */
void refuse(const char *why);

#endif
