/* Streams of handles that we own, and that are closed with the stream. */
#ifndef MCPSPLICE_OS_WINDOWS_ENDS_H
#define MCPSPLICE_OS_WINDOWS_ENDS_H

#include "os/windows/common.h"

#include "os/stream.h"

struct os_input *os_input_of(HANDLE h);
struct os_output *os_output_of(HANDLE h);

#endif
