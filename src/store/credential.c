/*
 * Checks lines of credentials as users write them, and puts them into headers.
 * No error ever quotes a value, which may be half of a secret.
 */
#include "config.h"

#include "store/credential.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"

#define BLANKS " \t\r\n"

void
credential_check_file(const char *path, const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return;
	if (st->st_uid != geteuid() && st->st_uid != 0)
		log_warn("%s belongs to another user", path);
	else if ((st->st_mode & (S_IRWXG | S_IRWXO)) != 0)
		log_warn("%s holds a credential and is open to other users; "
			 "\"chmod 600\" it",
		    path);
}

/* Is this a header that the transport sets itself? */
static bool
reserved(struct span name)
{
	static const char *const ours[] = { "Accept", "Content-Type",
		"Content-Length", "Host", "Connection", "Transfer-Encoding",
		"Last-Event-ID" };
	size_t i;

	for (i = 0; i < sizeof ours / sizeof ours[0]; i++)
		if (span_is_nocase(name, ours[i]))
			return true;
	return name.n >= 4 && strncasecmp(name.p, "mcp-", 4) == 0;
}

/* Appends the value of the variable with this name. Returns 0, or -1 with
 * *why. */
static int
expand_one(struct span name, const struct credential_env *env, struct buf *out,
    char **why)
{
	char *variable = xstrndup(name.p, name.n);
	const char *value = env->get(variable, env->arg);

	if (value == NULL)
		*why = xasprintf("the variable %s is not set; set it, or write "
				 "$$ for a dollar sign",
		    variable);
	else
		buf_adds(out, value);
	free(variable);
	return value == NULL ? -1 : 0;
}

/* Replaces ${NAME} by the variable's value, once, and $$ by a dollar. A dollar
 * before any other character stands for itself. */
int
credential_expand(struct span in, const struct credential_env *env,
    struct buf *out, char **why)
{
	const char *end;
	size_t i, n;

	for (i = 0; i < in.n; i++) {
		if (in.p[i] != '$' || i + 1 == in.n ||
		    (in.p[i + 1] != '$' && in.p[i + 1] != '{')) {
			buf_addc(out, in.p[i]);
			continue;
		}
		i++;
		if (in.p[i] == '$') {
			buf_addc(out, '$');
			continue;
		}
		i++;
		end = memchr(in.p + i, '}', in.n - i);
		if (end == NULL || end == in.p + i) {
			*why = xstrdup("a ${ without NAME}; write $$ for a "
				       "dollar sign");
			return -1;
		}
		n = (size_t)(end - (in.p + i));
		if (expand_one((struct span){ in.p + i, n }, env, out, why) < 0)
			return -1;
		i += n;
	}
	return 0;
}

int
credential_line(struct headers *to, struct span line,
    const struct credential_env *env, char **why)
{
	const char *colon = line.n == 0 ? NULL : memchr(line.p, ':', line.n);
	struct span name, value;
	struct buf text;
	int rc;

	if (colon == NULL) {
		*why = xstrdup("a line without a colon; write \"Name: "
			       "value\"");
		return -1;
	}
	name = span_trim((struct span){ line.p, (size_t)(colon - line.p) },
	    BLANKS);
	if (reserved(name)) {
		*why = xasprintf("the header %.*s is set by mcpsplice itself; "
				 "leave it out",
		    (int)name.n, name.p);
		return -1;
	}
	value = (struct span){ colon + 1,
		line.n - (size_t)(colon + 1 - line.p) };
	buf_init(&text, 0);
	rc = credential_expand(value, env, &text, why);
	if (rc == 0 && headers_add(to, name, buf_span(&text), true) < 0) {
		*why = xasprintf("the header \"%.*s\" has bytes that cannot "
				 "be sent",
		    name.n > 60 ? 60 : (int)name.n, name.p);
		rc = -1;
	}
	buf_wipe(&text);
	return rc;
}

int
credential_lines(struct headers *to, struct span text,
    const struct credential_env *env, char **why)
{
	struct span line;
	char *what;
	unsigned number = 0;

	while (text.n > 0) {
		number++;
		line = span_trim(span_take(&text, '\n'), BLANKS);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		if (credential_line(to, line, env, &what) < 0) {
			*why = xasprintf("line %u: %s", number, what);
			free(what);
			return -1;
		}
	}
	return 0;
}

int
credential_bearer(struct headers *to, struct span token, char **why)
{
	struct buf value;

	token = span_trim(token, BLANKS);
	if (token.n == 0) {
		*why = xstrdup("there is no token in it");
		return -1;
	}
	if (!span_is_printable(token, '!')) {
		*why = xstrdup("it holds more than a token: a blank, a line "
			       "end or a byte that is not ASCII");
		return -1;
	}
	buf_init(&value, 0);
	buf_adds(&value, "Bearer ");
	buf_addspan(&value, token);
	headers_set(to, span_of("Authorization"), buf_span(&value), true);
	buf_wipe(&value);
	return 0;
}
