/* The command line of the demo server. */
#include "config.h"

#include "demo_options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
usage(void)
{
	fputs("usage: demo_server [--port N] [--forget-after N] [--sse]\n"
	      "    [--style 404|200|400|rotate] [--listen] [--log | --quiet]\n"
	      "    [--oauth] [--token-uses N]\n",
	    stderr);
	return -1;
}

/* A number of at most max, or -1. */
static long
number(const char *text, long max)
{
	char *end;
	long n = strtol(text, &end, 10);

	return *text == '\0' || *end != '\0' || n < 0 || n > max ? -1 : n;
}

static int
style_of(const char *text)
{
	static const char *const names[] = { "404", "200", "400", "rotate" };
	int i;

	for (i = 0; i < 4; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	return -1;
}

int
demo_options_parse(struct demo_options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "forget-after", required_argument, NULL, 'f' },
		{ "style", required_argument, NULL, 's' },
		{ "sse", no_argument, NULL, 'S' },
		{ "listen", no_argument, NULL, 'l' },
		{ "log", no_argument, NULL, 'L' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "oauth", no_argument, NULL, 'o' },
		{ "token-uses", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	long n = 0;
	int c;

	while (n >= 0 && (c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'p')
			o->port = n = number(optarg, 65535);
		else if (c == 'f')
			o->forget_after = (unsigned long)(n = number(optarg,
							      LONG_MAX));
		else if (c == 's')
			o->style = (enum demo_style)(n = style_of(optarg));
		else if (c == 'S')
			o->sse = true;
		else if (c == 'l')
			o->listen = true;
		else if (c == 'L' || c == 'q')
			o->log = c == 'L';
		else if (c == 'o')
			o->oauth = true;
		else if (c == 't')
			o->token_uses = (unsigned long)(n = number(optarg,
							    LONG_MAX));
		else
			n = -1;
	}
	return n < 0 || optind != argc ? usage() : 0;
}
