/* What core/client, core/session and core/server tell each other. */
#ifndef MCPSPLICE_CORE_STAGE_H
#define MCPSPLICE_CORE_STAGE_H

/* Does the session have a stream for messages that belong to no request? It may
 * get one, it has one, or it will have none. */
enum session_listening { LISTENS_PERHAPS, LISTENS, LISTENS_NOT };

#endif
