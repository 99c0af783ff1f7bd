/*
 * Streams: where bytes come from and where they go to, of any type: pipe,
 * socket, terminal, regular file, /dev/null. No function here blocks, except on
 * an output that cannot be watched.
 */
#ifndef MCPSPLICE_OS_STREAM_H
#define MCPSPLICE_OS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct os_input;
struct os_output;

/* Makes an input of this descriptor, which is borrowed. Its flags are left
 * alone: others may share it. */
struct os_input *os_input_open(int fd);
/* Returns what the loop watches for reading; -1: it cannot be watched, ask
 * os_input_ready from time to time. */
int os_input_stream(const struct os_input *in);
/* Would os_input_read return at once? */
bool os_input_ready(const struct os_input *in);
/* Reads once; call it when the stream is ready. Returns the number of bytes, 0
 * at the end, or -1 with errno; EAGAIN: nothing is there. */
int64_t os_input_read(struct os_input *in, void *p, size_t n);
/* Frees it, and closes what is not borrowed. NULL is allowed. */
void os_input_close(struct os_input *in);

/* A piece of what is to be written. */
struct os_part {
	const char *p;
	size_t n;
};

enum { OS_TO_READ = 1, OS_TO_WRITE = 2 };
/* The most parts of one call of os_output_write. */
extern const size_t os_output_parts;

/* Makes an output of this descriptor, which is borrowed and not left
 * non-blocking for others who share it; in is the input beside it. */
struct os_output *os_output_open(int fd, int in);
/* Returns what the loop watches until more can be written; -1: it cannot be
 * watched. */
int os_output_stream(const struct os_output *o);
/* What is watched of that stream, OS_TO_READ or OS_TO_WRITE. */
extern const int os_output_event;
/* Writes these parts, or the begin of them. Returns the number
 * of bytes that were written; 0: it takes no more for now, and the next call
 * must begin with the same bytes; -1 with errno: it is broken (EPIPE: nobody
 * reads it). */
int64_t os_output_write(struct os_output *o, const struct os_part *parts,
    size_t n);
/* Is it a regular file or a terminal, so that a user reads it? */
bool os_output_is_for_user(const struct os_output *o);
/* Returns what the loop watches for reading, to learn that the reader is gone:
 * then, or for another reason, it is ready; -1: it cannot be watched. */
int os_output_end_stream(const struct os_output *o);
bool os_output_has_no_reader(const struct os_output *o);
/* Frees it, restores the flags of what is borrowed, and closes what is not.
 * NULL is allowed. */
void os_output_close(struct os_output *o);

#endif
