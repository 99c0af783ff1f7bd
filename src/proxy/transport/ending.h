/* What the end of a transfer is called among the facts of an exchange. */
#ifndef MCPSPLICE_PROXY_TRANSPORT_ENDING_H
#define MCPSPLICE_PROXY_TRANSPORT_ENDING_H

#include "core/exchange/facts.h"
#include "io/http.h"

enum ending ending_of(enum http_end end);

#endif
