/*
 * Splits a user's command line into words without a shell: quotes and
 * backslashes are known; variables, wildcards and operators are plain bytes.
 */
#include "config.h"

#include "io/child.h"

#include <stdlib.h>

#include "base/mem.h"

/* Reads one word from *at on into word. Returns NULL, or why the text is
 * wrong. */
static const char *
take_word(const char **at, struct buf *word)
{
	const char *p;
	char quote = '\0';

	for (p = *at; *p != '\0' && (quote != '\0' || !is_space(*p)); p++) {
		if (*p == quote) {
			quote = '\0';
		} else if (quote == '\0' && (*p == '\'' || *p == '"')) {
			quote = *p;
		} else if (*p == '\\' && quote != '\'') {
			if (*++p == '\0')
				return "it ends with a backslash";
			buf_addc(word, *p);
		} else {
			buf_addc(word, *p);
		}
	}
	*at = p;
	return quote == '\0' ? NULL : "a quote is not closed";
}

char **
child_words(const char *text, char **why)
{
	char **words = xcalloc(1, sizeof *words);
	const char *problem = NULL;
	struct buf word;
	size_t n = 0;

	buf_init(&word, 0);
	for (;;) {
		while (is_space(*text))
			text++;
		if (*text == '\0')
			break;
		problem = take_word(&text, &word);
		if (problem != NULL)
			break;
		words = xrealloc(words, (n + 2) * sizeof *words);
		words[n++] = xstrdup(buf_str(&word));
		words[n] = NULL;
		buf_reset(&word);
	}
	buf_free(&word);
	if (n == 0 && problem == NULL)
		problem = "there is no word in it";
	if (problem == NULL)
		return words;
	child_words_free(words);
	*why = xstrdup(problem);
	return NULL;
}

void
child_words_free(char **words)
{
	size_t i;

	for (i = 0; words != NULL && words[i] != NULL; i++)
		free(words[i]);
	free(words);
}
