/* What core/client, core/session and core/server say to each other. */
#ifndef MCPSPLICE_CORE_STAGE_H
#define MCPSPLICE_CORE_STAGE_H

/* Has the session a stream for what belongs to no request: may one come to be,
 * is it open, or will there be none? */
enum session_listening { LISTENS_PERHAPS, LISTENS, LISTENS_NOT };

#endif
