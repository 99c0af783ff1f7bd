/*
 * Runs a fuzz target over files, or over all files of a directory, without
 * libFuzzer. Having nothing to run is a failure.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "fuzz/fuzz.h"

static unsigned long replayed;

static void
fail(const char *path)
{
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	exit(1);
}

static void
replay_file(const char *path)
{
	char chunk[4096];
	struct buf b;
	uint8_t *exact;
	size_t n;
	FILE *in;

	in = fopen(path, "rb");
	if (in == NULL)
		fail(path);
	buf_init(&b, 0);
	while ((n = fread(chunk, 1, sizeof chunk, in)) > 0)
		buf_add(&b, chunk, n);
	if (ferror(in))
		fail(path);
	fclose(in);
	/* Exactly as large as the input, so that a sanitizer sees a byte
	 * read behind it. */
	exact = xmalloc(b.n);
	if (b.n != 0)
		memcpy(exact, b.p, b.n);
	LLVMFuzzerTestOneInput(exact, b.n);
	free(exact);
	buf_free(&b);
	replayed++;
}

static void
replay_directory(const char *path)
{
	struct dirent *entry;
	char *file;
	DIR *dir;

	dir = opendir(path);
	if (dir == NULL)
		fail(path);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		file = xasprintf("%s/%s", path, entry->d_name);
		replay_file(file);
		free(file);
	}
	closedir(dir);
}

int
main(int argc, char **argv)
{
	struct stat st;
	int i;

	for (i = 1; i < argc; i++) {
		if (stat(argv[i], &st) != 0)
			fail(argv[i]);
		if (S_ISDIR(st.st_mode))
			replay_directory(argv[i]);
		else
			replay_file(argv[i]);
	}
	fprintf(stderr, "%s: %lu inputs\n", argv[0], replayed);
	return replayed == 0;
}
