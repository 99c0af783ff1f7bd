/* Schedules, read from files. */
#ifndef MCPSPLICE_TESTS_PLAY_SCHEDULE_H
#define MCPSPLICE_TESTS_PLAY_SCHEDULE_H

#include "play/play.h"

struct schedule {
	char *name; /* a fragment's begins with "@" */
	char *options;
	struct buf lines; /* a C string; fragments are written out */
	const struct reducer *reducer;
};

struct schedules {
	struct schedule *list;
	size_t n;
	const struct reducer *reducer; /* of those that come next */
};

/* Adds the schedules of a text, or of a file. Returns NULL, or what is wrong
 * with the text, to be freed. */
char *schedules_add(struct schedules *s, const char *text);
char *schedules_read(struct schedules *s, const char *path);
/* The schedule or fragment of this name, or NULL. */
const struct schedule *schedules_find(const struct schedules *s,
    const char *name);
void schedules_free(struct schedules *s);
/* Plays it. Returns NULL if all is as written, else what is not, to be
 * freed. */
char *schedule_play(const struct schedule *s);

#endif
