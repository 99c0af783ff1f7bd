/* Profiles made of options, as proxy/proxy makes them. */
#include "config.h"

#include "unit/proxy/cache/profiles.h"

#include <stdlib.h>

#include "options/options.h"
#include "unit/unit.h"

int
make_profile(struct profile *p, const struct options *o)
{
	struct buf identity;
	char *of;
	int rc;

	buf_init(&identity, 0);
	if (options_identity(o, &identity, &of) != 0)
		return -1;
	rc = profile_make(p, of, buf_span(&identity));
	buf_free(&identity);
	free(of);
	return rc;
}

struct profile
profile_of(const char *url)
{
	char *copy = xstrdup(url);
	struct options o = { .url = copy };
	struct profile p;

	ck_assert_int_eq(make_profile(&p, &o), 0);
	free(copy);
	return p;
}
