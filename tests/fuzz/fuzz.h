/*
 * What the fuzz targets share. A target aborts when an invariant breaks; it
 * is run by libFuzzer, or by fuzz_replay.c over the files of its corpus.
 */
#ifndef MCPSPLICE_TESTS_FUZZ_FUZZ_H
#define MCPSPLICE_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An assert() that no build option takes out. */
#define FUZZ_CHECK(what)                                                       \
	do {                                                                   \
		if (!(what)) {                                                 \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__,       \
			    __LINE__, #what);                                  \
			abort();                                               \
		}                                                              \
	} while (0)

#endif
