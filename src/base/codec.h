/* Small encodings. All functions are pure; each appends its result to out. */
#ifndef MCPSPLICE_BASE_CODEC_H
#define MCPSPLICE_BASE_CODEC_H

#include "base/mem.h"

/* Appends in as a JSON string with its quotes. Bytes that are not UTF-8 become
 * U+FFFD, and what may end a line is escaped. */
void codec_json_string(struct buf *out, struct span in);
/* Appends base64 as in RFC 4648 section 4, padded. */
void codec_base64(struct buf *out, struct span in);
/* Appends base64url as in RFC 4648 section 5, not padded, as JOSE and PKCE use
 * it. */
void codec_base64url(struct buf *out, struct span in);
/* Decodes base64url strictly: no padding, no stray bits. Returns 0, or -1 and
 * leaves out as it was. */
int codec_base64url_read(struct buf *out, struct span in);
/* Spreads a word over all of its bits (splitmix64), so that one random word
 * makes many that look random. The results are not secret. */
uint64_t codec_mix(uint64_t word);
/* Appends text that is safe on a terminal and in a log line: a line break with the
 * blanks around it becomes a blank, or nothing at either end; other C0, DEL, C1,
 * bidi controls and broken UTF-8 become \xNN. At most max bytes are appended, then
 * "...". */
void codec_visible(struct buf *out, struct span in, size_t max);
/* Returns the length of the valid UTF-8 sequence at p (1 to 4), or 0 if it is
 * broken (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF). */
size_t codec_utf8(const char *p, size_t n);
/* Some programs end a line at U+0085, U+2028 and U+2029, which JSON allows in
 * strings. Returns the escape of the sequence at p, of len bytes, if it is one
 * of them (a static text), else NULL. */
const char *codec_line_end(const char *p, size_t len);

#endif
