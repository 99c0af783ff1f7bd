/*
 * The system's text for an error.
 */
#ifndef MCPSPLICE_OS_ERROR_H
#define MCPSPLICE_OS_ERROR_H

/* Returns the words for an errno; they are valid until the next call. */
const char *os_error_text(int error);
/* Returns the errno for what libcurl has as the system's error. */
int os_error_of_socket(long code);

#endif
