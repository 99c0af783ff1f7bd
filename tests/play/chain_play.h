/*
 * A player for the chain (core/client, session and core/server in a row): a
 * schedule is text. Lines that begin with ">", "<" or "!" are inputs, all
 * others are what must come of the input before them, all of it, in order.
 *
 *   > METHOD [ID] [PARAMS] | > {...}      a frame of the client
 *   < #N STATUS [FACT=X...] [MESSAGE]     a whole answer to the send #N
 *   < #N head STATUS [FACT=X...] | < #N msg MESSAGE | < #N endpoint ok|bad
 *   < #N end|cut|connect                  how it ended
 *   < #N person [TEXT]
 *   ! wait MS (a tick at each deadline) | ! eof | ! memory RESULT | ! wake
 *   ! stall MS       what falls due meanwhile does so in one tick
 *   ! describe       its page for people comes out, as "page" lines
 * MESSAGE is ok [RESULT] | ok=ID [RESULT] | err[=ID] CODE TEXT |
 *   note METHOD [PARAMS] | ask ID METHOD | {...} with $ for the send's id.
 * FACT is one of media session id body retry-after.
 *
 * What comes:
 *   send #N POST METHOD ID | GET | DELETE [@SESSION] [v=VERSION] [listen]
 *     [announces] [endpoint] [mirrored]   (POSTs whole with option bodies)
 *   abort #N | write {...} | found modern|legacy|sse|dual | warn TEXT |
 *   exit N | recall VERSION | remember VERSION | keep @SESSION|- (these three
 *   with option memory)
 * What it aborts ends at once, as transport does it. In all lines ' is a
 * double quote, $M the _meta of a modern client's request; a wanted line that
 * ends with "..." is the beginning of one.
 * Options: bodies warnings (else none is told) memory protocol=...
 * transport=... was=modern|sse|legacy replay=never|refused.
 */
#ifndef MCPSPLICE_TESTS_PLAY_CHAIN_PLAY_H
#define MCPSPLICE_TESTS_PLAY_CHAIN_PLAY_H

void chain_play_check(const char *options, const char *schedule);

#endif
