/* The command line of the demo server. */
#ifndef MCPSPLICE_DEMO_OPTIONS_H
#define MCPSPLICE_DEMO_OPTIONS_H

#include <stdbool.h>

/* How the requests of a forgotten session are refused; ROTATE takes the others
 * in turn, from one session to the next. */
enum demo_style { DEMO_404, DEMO_200, DEMO_400, DEMO_ROTATE };

struct demo_options {
	long port;                  /* 0: any */
	unsigned long forget_after; /* requests of a session; 0: never */
	enum demo_style style;
	bool sse;                 /* answers come as event streams */
	bool listen;              /* GET is a stream and no 405 */
	bool log;                 /* to stderr */
	bool oauth;               /* every request needs a token */
	unsigned long token_uses; /* requests of a token; 0: any number */
};

/* o is zeroed. Returns 0, or -1 after telling how it is used. */
int demo_options_parse(struct demo_options *o, int argc, char **argv);

#endif
