/*
 * Uses getentropy or getrandom, otherwise /dev/urandom.
 */
#include "config.h"

#include "os/random.h"

#include <errno.h>
#include <fcntl.h>
#ifdef HAVE_SYS_RANDOM_H
#include <sys/random.h>
#endif
#include <unistd.h>

/* The most that getentropy gives in one call. */
#define RANDOM_PART 256

/* For systems without a call for random bytes, or with an old kernel that
 * refuses it. */
static int
random_from_device(unsigned char *p, size_t n)
{
	ssize_t got;
	int fd;

	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	while (n > 0) {
		got = read(fd, p, n);
		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		p += got;
		n -= (size_t)got;
	}
	close(fd);
	return n == 0 ? 0 : -1;
}

static int
random_part(unsigned char *p, size_t n)
{
#if defined(HAVE_GETENTROPY)
	if (getentropy(p, n) == 0)
		return 0;
#elif defined(HAVE_GETRANDOM)
	if (getrandom(p, n, 0) == (ssize_t)n)
		return 0;
#endif
	return random_from_device(p, n);
}

int
os_random(void *p, size_t n)
{
	unsigned char *at = p;
	size_t part;

	for (; n > 0; n -= part, at += part) {
		part = n < RANDOM_PART ? n : RANDOM_PART;
		if (random_part(at, part) == -1)
			return -1;
	}
	return 0;
}
