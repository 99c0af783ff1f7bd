/* Variables in a text of the user. No error quotes more than a variable's name. */
#include "config.h"

#include "base/variables.h"

#include <stdlib.h>
#include <string.h>

/* Appends the value of the variable with this name. Returns 0, or -1 with
 * *why. */
static int
expand_one(struct span name, const struct variables *env, struct buf *out,
    char **why)
{
	char *variable = xstrndup(name.p, name.n);
	const char *value = env->get(variable, env->arg);

	if (value == NULL && variable[strcspn(variable, ":-+=?.[$ ")] != '\0')
		*why = xstrdup("\"${...}\" contains more than a variable's "
			       "name; write ${NAME}");
	else if (value == NULL)
		*why = xasprintf("the variable %s is not set; set it, or write "
				 "$$ for a dollar sign",
		    string_shown(variable));
	else
		buf_adds(out, value);
	free(variable);
	return value == NULL ? -1 : 0;
}

int
variables_expand(struct span in, const struct variables *env, struct buf *out,
    char **why)
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
			*why = xstrdup("${ without NAME}; write $$ for a "
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
