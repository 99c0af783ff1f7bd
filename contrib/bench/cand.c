/*
 * The candidates.
 */
#include "cand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
refuse(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(2);
}

static void
add(struct cand *c, char **arg, int n)
{
	char *word = strchr(arg[0], ',');

	memset(c, 0, sizeof *c);
	c->name = arg[0];
	c->words = arg + 1;
	c->n = n - 1;
	if (n > HOST_ARGS)
		refuse("a candidate has too many words");
	while (word != NULL) {
		*word++ = '\0';
		if (strncmp(word, "third", 5) == 0)
			c->third = true;
		else if (strncmp(word, "plain", 5) == 0)
			c->plain = true;
		else if (strncmp(word, "one", 3) == 0)
			c->one = true;
		else if (strncmp(word, "http:", 5) == 0)
			c->port = word + 5;
		else
			refuse("a candidate has an unknown word");
		word = strchr(word, ',');
	}
	if (c->n == 0 && c->port == NULL)
		refuse("a candidate has no command");
}

size_t
cand_read(struct cand *all, char **arg, int n)
{
	size_t cands = 0;
	int first = 0, i;

	for (i = 0; i <= n; i++) {
		if (i < n && strcmp(arg[i], "--") != 0)
			continue;
		if (i > first && cands == CAND_MAX)
			refuse("there are too many candidates");
		if (i > first)
			add(&all[cands++], arg + first, i - first);
		first = i + 1;
	}
	return cands;
}

int
cand_spawn(const struct cand *c, struct host *h, const char *url,
    const char *err)
{
	char *argv[HOST_ARGS], text[256], web[256];
	const char *path;

	snprintf(text, sizeof text, "%s", url);
	host_words(argv, c->words, c->n, text);
	if (c->port == NULL)
		return host_spawn(h, argv, NULL, err);
	path = strchr(url + strlen("http://"), '/');
	snprintf(web, sizeof web, "http://127.0.0.1:%s%s", c->port, path);
	return host_spawn(h, argv, web, err);
}

int
cand_open(const struct cand *c, struct host *h, const char *url,
    const char *err)
{
	if (cand_spawn(c, h, url, err) != 0 || host_started(h) != 0)
		return -1;
	return host_settle(h);
}
