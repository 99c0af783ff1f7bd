/* Profiles for the tests of the caches. */
#ifndef MCPSPLICE_TESTS_UNIT_CACHE_PROFILES_H
#define MCPSPLICE_TESTS_UNIT_CACHE_PROFILES_H

#include "options/options.h"
#include "proxy/cache/profile.h"

/* Makes the profile of these options. Returns 0, or -1 if they have no valid
 * URL. */
int make_profile(struct profile *p, const struct options *o);
/* The profile of a URL without any other option. */
struct profile profile_of(const char *url);

#endif
