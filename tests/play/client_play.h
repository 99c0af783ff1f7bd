/*
 * A player for the core/client reducer. A schedule is text: inputs, and after
 * each what comes out of it, all of it and in order.
 *
 * Inputs:
 *   > {...}         a frame of the client
 *   < {...}         a frame the session writes
 *   < @ID {...}     the same, on the stream of the request sent with this id
 *   + {...}         the server is a modern one: its DiscoverResult frame
 *   -               it is none any more
 *   ~ ID|METHOD     what was sent with this id, or a notification, goes out
 *   ! eof | ! wait MS (a tick at each deadline) | ! secret N |
 *   ! notes         decisions come out, too
 *   ! stream open|none|perhaps    the session's own (open at first)
 *   ! initialized {...}           another session answered this to initialize
 * Questions:
 *   ? passes {...} yes|no | ? legacy yes|no | ? holds yes|no |
 *   ? due MS|never | ? says TEXT (its lines for people)
 * What comes out:
 *   probe {...}|-  |  send {...}  |  write {...}  |  note TEXT  |
 *   fits  |  fit {...}  (what goes out in its place)
 *
 * In all of them ' is a double quote, and these stand for more:
 *   $J  'jsonrpc':'2.0'           $I  io.modelcontextprotocol/
 *   $M  '_meta':{version, no capabilities}
 *   $A  '_meta':{version, capabilities for all questions}
 *   $W  '_meta':{serverInfo s, 1}
 *   $C  'name':'book','arguments':{'d':1}
 *   $S  the requestState made of the first secret
 * An expected line with <*> in it may have anything there.
 */
#ifndef MCPSPLICE_TESTS_PLAY_CLIENT_PLAY_H
#define MCPSPLICE_TESTS_PLAY_CLIENT_PLAY_H

#include <stddef.h>

/* Plays it, with so many bytes that may be held (0: many). Returns NULL if
 * all went as written, else what did not, to be freed. */
char *client_play(const char *schedule, size_t max_held);

#endif
