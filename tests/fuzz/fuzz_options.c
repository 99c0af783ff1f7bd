/*
 * Options of any bytes in argv, the environment and the two default files. Each
 * start of a program either loads them, or says why not; both times in the same
 * way, and without the secret of the command line, which is overwritten.
 *
 * The input has lines: "-" and an argument, "$" and a variable, "e" or "h" and
 * a line of the file in /etc or in HOME.
 */
#include "config.h"

#include "options/options.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "options/set.h"

#define SECRET "a-secret-91"
#define WORDS_MAX 64

enum file { ETC, HOME, FILES };

struct world {
	char *argv[WORDS_MAX + 4];
	int argc;
	char *variables[WORDS_MAX + 1];
	size_t n;
	struct buf text[FILES];
};

static void
add_line(struct world *w, struct span line)
{
	struct buf *text = line.p[0] == 'e' ? &w->text[ETC] : &w->text[HOME];
	char kind = line.p[0], *word = xstrndup(line.p + 1, line.n - 1);

	if (kind == '-' && w->argc < WORDS_MAX) {
		w->argv[w->argc++] = word;
		return;
	}
	if (kind == '$' && w->n < WORDS_MAX && strchr(word, '=') != NULL) {
		w->variables[w->n++] = word;
		return;
	}
	free(word);
	if (kind != 'e' && kind != 'h')
		return;
	buf_add(text, line.p + 1, line.n - 1);
	buf_addc(text, '\n');
}

static void
world_init(struct world *w, struct span input)
{
	const char *end;
	struct span line;

	memset(w, 0, sizeof *w);
	buf_init(&w->text[ETC], 0);
	buf_init(&w->text[HOME], 0);
	w->argv[w->argc++] = xstrdup("mcpsplice");
	w->argv[w->argc++] = xstrdup("-H");
	w->argv[w->argc++] = xstrdup("Authorization: Bearer " SECRET);
	while (input.n > 0) {
		end = memchr(input.p, '\n', input.n);
		line = (struct span){ input.p,
			end != NULL ? (size_t)(end - input.p) : input.n };
		if (line.n > 0)
			add_line(w, line);
		line.n += end != NULL;
		input.p += line.n;
		input.n -= line.n;
	}
}

static void
world_free(struct world *w)
{
	while (w->argc > 0)
		free(w->argv[--w->argc]);
	while (w->n > 0)
		free(w->variables[--w->n]);
	buf_free(&w->text[ETC]);
	buf_free(&w->text[HOME]);
}

/* Makes a file of it that has the name in path. */
static int
make_file(const struct buf *text, char path[32])
{
	int fd = memfd_create("options", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(fchmod(fd, 0600) == 0); /* else it is refused */
	FUZZ_CHECK(write(fd, text->p, text->n) == (ssize_t)text->n);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void
check_words(const struct strings *words)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		FUZZ_CHECK(strstr(words->list[i], SECRET) == NULL);
}

static void
check_loaded(const struct options *o)
{
	struct buf identity;
	char *host = NULL;

	FUZZ_CHECK(o->url != NULL || o->show_config || o->help || o->version ||
	    o->command == COMMAND_STATUS || o->login_process ||
	    o->command == COMMAND_WRAP);
	check_words(&o->warnings);
	check_words(&o->notes);
	buf_init(&identity, 0);
	if (o->url != NULL && !o->help && !o->version &&
	    options_identity(o, &identity, &host) == 0)
		FUZZ_CHECK(host != NULL && identity.n > 0);
	free(host);
	buf_wipe(&identity);
}

/* Loads the options; returns what the user would see of them. */
static char *
load(const struct world *w)
{
	char path[FILES][32], *copy[WORDS_MAX + 4], *why = NULL, *said;
	int fd[FILES], i, rc;
	struct options o;

	for (i = 0; i < FILES; i++)
		fd[i] = make_file(&w->text[i], path[i]);
	for (i = 0; i < w->argc; i++)
		copy[i] = xstrdup(w->argv[i]);
	copy[i] = NULL;
	rc = options_load_from(&o,
	    &(struct option_sources){ .argc = w->argc,
		.argv = copy,
		.etc = path[ETC],
		.home = path[HOME],
		.variables = w->variables },
	    &why);
	if (rc == 0) {
		FUZZ_CHECK(why == NULL);
		check_loaded(&o);
		said = options_show(&o);
	} else {
		FUZZ_CHECK(rc == -1 && why != NULL && *why != '\0');
		said = why;
	}
	FUZZ_CHECK(strstr(said, SECRET) == NULL);
	for (i = 0; i < w->argc; i++) {
		FUZZ_CHECK(rc < 0 || o.help || o.version ||
		    strstr(copy[i], SECRET) == NULL);
		free(copy[i]);
	}
	options_free(&o);
	for (i = 0; i < FILES; i++)
		close(fd[i]);
	return said;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world w;
	char *one, *two;

	/* the fuzzer learns the secret from the comparisons here */
	if (memmem(data, size, SECRET, strlen(SECRET)) != NULL)
		return 0;
	world_init(&w, (struct span){ (const char *)data, size });
	one = load(&w);
	two = load(&w);
	FUZZ_CHECK(strcmp(one, two) == 0);
	free(one);
	free(two);
	world_free(&w);
	return 0;
}
