/*
 * What other bridges, curl and habits call things, and the looks at a value that
 * was quoted or not replaced.
 */
#include "config.h"

#include "options/mistype.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "options/argv.h"
#include "options/table.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Names without "-" and "_", commands and options alike, and what they mean. */
static const char *const words[][2] = {
	{ "|ls|list|listtools|show|tools|", "mcpsplice tools URL" },
	{ "|ping|doctor|test|verify|inspect|health|", "mcpsplice check URL" },
	{ "|add|configure|init|setup|import|migrate|", "mcpsplice wrap" },
	{ "|run|connect|serve|start|proxy|bridge|npx|", "mcpsplice URL" },
	{ "|auth|authorize|signin|oauth|", "mcpsplice login URL" },
	{ "|invoke|execute|calltool|", "mcpsplice call URL TOOL KEY=VALUE" },
	{ "|token|bearer|bearertoken|apikey|accesstoken|authtoken|",
	    "to send a token: --bearer-env NAME, or --bearer-file FILE" },
	{ "|clientsecret|", "use --client-secret-file or --client-secret-env" },
	{ "|url|server|serverurl|endpoint|remote|uri|mcpurl|sseurl|u|",
	    "the URL needs no option: mcpsplice URL" },
	{ "|timeout|requesttimeout|readtimeout|tooltimeout|maxtime|t|m|",
	    "did you mean --call-timeout or --init-timeout?" },
	{ "|loglevel|level|d|", "use -v or -vv" },
	{ "|stdio|", "mcpsplice itself is the stdio side: mcpsplice URL" },
	{ "|y|yes|", "it belongs to npx; leave it out" },
	{ "|allowtools|allowedtools|includetools|filter|", "only-tool" },
	{ "|excludetools|blockedtools|disabledtools|", "ignore-tool" },
	{ "|ca|cabundle|cafile|", "cacert" },
	{ "|insecure|k|noverify|noverifyssl|nosslverify|skiptlsverify|",
	    "certificates are always checked; --cacert trusts your own" },
	{ "|all|helpall|", "write \"mcpsplice help all\"" },
	{ "|dryrun|diff|n|", "wrap changes nothing without --write" },
	{ "|undo|revert|rollback|", "restore" },
};

const char *
mistype_meant(struct span word)
{
	char key[32] = "|";
	size_t n = 1, i;

	for (i = 0; i < word.n && n < sizeof key - 2; i++)
		if (word.n == 1)
			key[n++] = *word.p;
		else if (strchr("-_", word.p[i]) == NULL)
			key[n++] = (char)tolower((unsigned char)word.p[i]);
	key[n] = '|';
	for (i = 0; n > 1 && i < sizeof words / sizeof *words; i++)
		if (strstr(words[i][0], key) != NULL)
			return words[i][1];
	return NULL;
}

static char *
phrase(const char *meant, const char *dashes)
{
	if (meant == NULL)
		return NULL;
	if (strncmp(meant, "mcpsplice ", 10) == 0)
		return xasprintf(" (did you mean \"%s\"?)", meant);
	if (strchr(meant, ' ') != NULL)
		return xasprintf(": %s", meant);
	return xasprintf(" (did you mean %s%s?)", dashes, meant);
}

char *
mistype_option(struct span name, const char *dashes)
{
	const char *meant = mistype_meant(name);

	return phrase(meant != NULL ? meant : option_table_nearest(name),
	    dashes);
}

char *
mistype_command(const char *word)
{
	const char *meant = mistype_meant(span_of(word));
	char *answer, *why;

	if (meant == NULL)
		meant = option_nearest_word(span_of(word),
		    option_commands + COMMAND_LOGIN,
		    OPTION_WORDS - COMMAND_LOGIN);
	/* a URL has other characters, or a "$" that the host left */
	if (meant == NULL &&
	    (word[strspn(word, LETTERS "0123456789-_")] != '\0' ||
		*word == '\0' || strcasecmp(word, "localhost") == 0))
		return NULL;
	answer = phrase(meant, "");
	why = xasprintf("there is no command \"%s\"%s",
	    meant != NULL ? word : string_shown(word),
	    answer != NULL ? answer : "; see \"mcpsplice help\"");
	free(answer);
	return why;
}

static bool
is_placeholder(const char *text)
{
	const char *ends;
	size_t n = strlen(text);

	if (strstr(text, "${") != NULL ||
	    (*text == '$' && n > 2 && strspn(text + 1, LETTERS "_") == n - 1))
		return true;
	if (strpbrk(text, "./\"") != NULL)
		return false;
	for (ends = "%%{}<>"; n > 2 && *ends != '\0'; ends += 2)
		if (text[0] == ends[0] && text[n - 1] == ends[1])
			return true;
	return strncasecmp(text, "your", 4) == 0 ||
	    strncasecmp(text, "replace", 7) == 0 ||
	    strncasecmp(text, "change", 6) == 0;
}

const char *
mistype_value(const char *text)
{
	if (is_placeholder(text))
		return "has a placeholder that was not replaced by your host";
	if (*text == '\0' ||
	    (strchr("\"'`<\xc2", *text) == NULL &&
		strncmp(text, "\xe2\x80", 2) != 0))
		return NULL;
	return "has quotes around it; remove them";
}

const char *
mistype_token(const char *header)
{
	const char *at = strchr(header, ':');
	size_t n;

	if (at == NULL)
		return header;
	at += 1 + strspn(at + 1, " \t");
	n = strncasecmp(at, "Bearer", 6) == 0 ? 6 :
	    strncasecmp(at, "Basic", 5) == 0  ? 5 :
	    strncasecmp(at, "Token", 5) == 0  ? 5 :
						0;
	/* a blank, or the end */
	return strchr(" ", at[n]) != NULL ? at + n + strspn(at + n, " ") : at;
}
