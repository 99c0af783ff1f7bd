/*
 * The table of networks that are not the internet, from the special-purpose
 * registries of IANA, and of the addresses where clouds keep the secrets of
 * their machines. The first line that matches counts, so a narrow network
 * stands above a wide one. An IPv6 address that no line matches and that is
 * outside of 2000::/3 is reserved. An address that carries an IPv4 address is
 * judged by that one.
 */
#include "config.h"

#include "io/address.h"

#include <string.h>

#include "os/network.h"

#define V4_BYTES 4
#define V6_BYTES 16
#define COUNT(a) (sizeof(a) / sizeof *(a))
/* Longer than any address with its zone. */
#define LITERAL_MAX 128

/* carried is the offset of the IPv4 address inside the address; 0: none. */
struct network {
	unsigned char prefix[V6_BYTES];
	unsigned bits;
	enum address_class class;
	size_t carried;
};

static const struct network networks4[] = {
	{ { 0 }, 8, ADDRESS_FORBIDDEN, 0 }, { { 10 }, 8, ADDRESS_PRIVATE, 0 },
	/* metadata of Alibaba, of Oracle (192.0.0.192), host of Azure */
	{ { 100, 100, 100, 200 }, 32, ADDRESS_FORBIDDEN, 0 },
	{ { 192, 0, 0 }, 24, ADDRESS_FORBIDDEN, 0 },
	{ { 168, 63, 129, 16 }, 32, ADDRESS_FORBIDDEN, 0 },
	{ { 100, 64 }, 10, ADDRESS_PRIVATE, 0 },
	{ { 127 }, 8, ADDRESS_LOOPBACK, 0 },
	{ { 169, 254 }, 16, ADDRESS_FORBIDDEN, 0 },
	{ { 172, 16 }, 12, ADDRESS_PRIVATE, 0 },
	{ { 192, 168 }, 16, ADDRESS_PRIVATE, 0 },
	/* For benchmarks; local proxies use it for the names they answer. */
	{ { 198, 18 }, 15, ADDRESS_PRIVATE, 0 },
	{ { 192, 0, 2 }, 24, ADDRESS_FORBIDDEN, 0 },
	{ { 192, 88, 99 }, 24, ADDRESS_FORBIDDEN, 0 },
	{ { 198, 51, 100 }, 24, ADDRESS_FORBIDDEN, 0 },
	{ { 203, 0, 113 }, 24, ADDRESS_FORBIDDEN, 0 },
	{ { 224 }, 3, ADDRESS_FORBIDDEN, 0 }, /* multicast, reserved */
};

static const struct network networks6[] = {
	{ { 0 }, 128, ADDRESS_FORBIDDEN, 0 },
	{ { [15] = 1 }, 128, ADDRESS_LOOPBACK, 0 },
	{ { 0 }, 96, ADDRESS_PUBLIC, 12 },
	{ { [10] = 0xff, 0xff }, 96, ADDRESS_PUBLIC, 12 },
	{ { 0x00, 0x64, 0xff, 0x9b }, 96, ADDRESS_PUBLIC, 12 },
	/* Local NAT64: the IPv4 address may stand elsewhere in it. */
	{ { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48, ADDRESS_PRIVATE, 12 },
	{ { 0x20, 0x02 }, 16, ADDRESS_PUBLIC, 2 },
	/* Teredo, benchmarks, ORCHID and others that name no host */
	{ { 0x20, 0x01 }, 23, ADDRESS_FORBIDDEN, 0 },
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32, ADDRESS_FORBIDDEN, 0 },
	{ { 0x3f, 0xff }, 20, ADDRESS_FORBIDDEN, 0 },
	{ { 0x20 }, 3, ADDRESS_PUBLIC, 0 },
	/* metadata of Amazon (fd00:ec2::254) and of Google */
	{ { 0xfd, 0x00, 0x0e, 0xc2 }, 32, ADDRESS_FORBIDDEN, 0 },
	{ { 0xfd, 0x20, 0x00, 0xce }, 64, ADDRESS_FORBIDDEN, 0 },
	{ { 0xfc }, 7, ADDRESS_PRIVATE, 0 },
	{ { 0xfe, 0xc0 }, 10, ADDRESS_PRIVATE, 0 },
};

/* Do a and prefix have the same first bits? */
static bool
matches(const unsigned char *a, const unsigned char *prefix, unsigned bits)
{
	unsigned rest = bits % 8;
	size_t whole = bits / 8;

	if (memcmp(a, prefix, whole) != 0)
		return false;
	return rest == 0 || (a[whole] ^ prefix[whole]) >> (8 - rest) == 0;
}

/* Returns the first one that the address is in, or NULL. */
static const struct network *
find(const struct network *n, size_t count, const unsigned char *a)
{
	for (; count > 0; n++, count--)
		if (matches(a, n->prefix, n->bits))
			return n;
	return NULL;
}

static enum address_class
class4(const unsigned char *a)
{
	const struct network *n = find(networks4, COUNT(networks4), a);

	return n == NULL ? ADDRESS_PUBLIC : n->class;
}

/* In a network that is not the internet itself, the carried address can only
 * make the class stricter. */
static enum address_class
class6(const unsigned char *a)
{
	const struct network *n = find(networks6, COUNT(networks6), a);
	enum address_class carried = ADDRESS_PUBLIC;

	if (n == NULL)
		return ADDRESS_FORBIDDEN;
	if (n->carried > 0)
		carried = class4(a + n->carried);
	return carried > n->class ? carried : n->class;
}

static enum address_class
class_of(const struct os_address *a)
{
	if (a->n == V4_BYTES)
		return class4(a->bytes);
	return a->n == V6_BYTES ? class6(a->bytes) : ADDRESS_FORBIDDEN;
}

enum address_class
address_class(const struct sockaddr *sa)
{
	struct os_address a = os_address_of(sa);

	if (os_address_is_unix(sa))
		return ADDRESS_LOOPBACK;
	return class_of(&a);
}

/* Is text an IPv4 address for a resolver, the local one or that of an HTTP
 * proxy? Resolvers also take 127.1, 0x7f000001, 2130706433 and "127.0.0.1.". */
static struct os_address
literal4(char *text)
{
	size_t n = strlen(text);

	if (n > 1 && text[n - 1] == '.')
		text[n - 1] = '\0';
	/* It would accept any text after a blank. */
	if (text[strspn(text, "0123456789abcdefABCDEFxX.")] != '\0')
		return (struct os_address){ .n = 0 };
	return os_address_read_loosely(text);
}

/* The zone does not matter for the class, and os_address_read does not know
 * it. */
static struct os_address
literal6(char *text)
{
	char *zone = strchr(text, '%');
	struct os_address a = { .n = 0 };

	if (zone != NULL && zone[1] == '\0')
		return a;
	if (zone != NULL)
		*zone = '\0';
	a = os_address_read(text);
	if (a.n != V6_BYTES)
		a.n = 0;
	return a;
}

int
address_literal(const char *text, enum address_class *out)
{
	char copy[LITERAL_MAX];
	struct os_address a;
	size_t n = strlen(text);
	bool brackets = n >= 2 && text[0] == '[' && text[n - 1] == ']';

	if (brackets) {
		text++;
		n -= 2;
	}
	if (n >= sizeof copy)
		return -1;
	memcpy(copy, text, n);
	copy[n] = '\0';
	a = literal6(copy);
	if (a.n == 0 && !brackets && strpbrk(text, ":%") == NULL)
		a = literal4(copy);
	if (a.n == 0)
		return -1;
	*out = class_of(&a);
	return 0;
}
