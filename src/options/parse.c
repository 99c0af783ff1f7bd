/*
 * Parses the values of options. Numbers are parsed by hand, because strtod and
 * similar functions accept signs, blanks, exponents and the locale's decimal
 * point.
 */
#include "config.h"

#include "options/parse.h"

#include <sys/types.h>

#include <regex.h>
#include <strings.h>

#define WHOLE_MAX (INT64_MAX / 100000)

/* Reads digits and moves *s past them. A number beyond WHOLE_MAX becomes
 * WHOLE_MAX, which is out of any range, but still a number. */
static bool
whole(const char **s, int64_t *out)
{
	const char *start = *s;
	int64_t n = 0;

	for (; **s >= '0' && **s <= '9'; ++*s) {
		n = n * 10 + (**s - '0');
		if (n > WHOLE_MAX)
			n = WHOLE_MAX;
	}
	*out = n;
	return *s > start;
}

bool
option_parse_seconds(const char *s, int64_t *ms)
{
	int64_t n, unit = 1000;
	bool digits, rest = false;

	digits = whole(&s, &n);
	n *= 1000;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++) {
			unit /= 10;
			n += unit * (*s - '0');
			rest = rest || (unit == 0 && *s != '0');
			digits = true;
		}
	*ms = n + rest;
	return digits && *s == '\0';
}

bool
option_parse_number(const char *s, bool units, int64_t *out)
{
	static const char letters[] = "kmg";
	const char *unit;
	int64_t n;
	bool digits;
	int shift = 0;

	digits = whole(&s, &n);
	if (units && *s != '\0' && s[1] == '\0') {
		unit = strchr(letters, *s | 0x20);
		if (unit != NULL && *unit != '\0') {
			shift = 10 * (int)(unit - letters + 1);
			s++;
		}
	}
	if (n > INT64_MAX >> shift)
		n = INT64_MAX;
	else
		n = (int64_t)((uint64_t)n << shift);
	*out = n;
	return digits && *s == '\0';
}

bool
option_parse_bool(const char *s, bool *out)
{
	static const char *const words[] = { "no", "yes", "false", "true",
		"off", "on", "0", "1" };
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcasecmp(s, words[i]) == 0) {
			*out = i % 2 == 1;
			return true;
		}
	return false;
}

int
option_parse_choice(const char *words, const char *value)
{
	size_t n, len = strlen(value);
	int i;

	for (i = 0; *words != '\0'; i++) {
		n = strcspn(words, "|");
		if (n == len && memcmp(words, value, n) == 0)
			return i;
		words += n + (words[n] == '|');
	}
	return -1;
}

struct span
option_parse_word(const char *words, unsigned i)
{
	while (i-- > 0)
		words += strcspn(words, "|") + 1;
	return (struct span){ words, strcspn(words, "|") };
}

char *
option_parse_regex(const char *s)
{
	static const char blank[] =
	    "matches even a blank text, so it would match every answer";
	char words[256];
	regex_t re;
	bool hit;
	int rc;

	/* some libraries refuse it with a message of their own */
	if (s[0] == '\0')
		return xstrdup(blank);
	rc = regcomp(&re, s, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	if (rc != 0) {
		regerror(rc, &re, words, sizeof words);
		return xasprintf("is not a regular expression: %s", words);
	}
	/* the blank is for patterns such as "." */
	hit = regexec(&re, "", 0, NULL, 0) == 0 ||
	    regexec(&re, " ", 0, NULL, 0) == 0;
	regfree(&re);
	return hit ? xstrdup(blank) : NULL;
}
