/* Streams of descriptors that we own, that do not block, and that are closed
 * with the stream. */
#ifndef MCPSPLICE_OS_POSIX_ENDS_H
#define MCPSPLICE_OS_POSIX_ENDS_H

#include "os/stream.h"

struct os_input *os_input_of(int fd);
struct os_output *os_output_of(int fd);

#endif
