/*
 * Addresses and what kind of place they are: every class, the first and the
 * last address of networks, IPv4 inside of IPv6, and literals.
 */
#include "config.h"

#include "io/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/un.h>

#include "unit/unit.h"

struct place {
	const char *text;
	enum address_class class;
};

static const struct place places[] = {
	{ "1.1.1.1", ADDRESS_PUBLIC },
	{ "8.8.8.8", ADDRESS_PUBLIC },
	{ "9.255.255.255", ADDRESS_PUBLIC },
	{ "11.0.0.0", ADDRESS_PUBLIC },
	{ "93.184.216.34", ADDRESS_PUBLIC },
	{ "100.63.255.255", ADDRESS_PUBLIC },
	{ "100.128.0.0", ADDRESS_PUBLIC },
	{ "126.255.255.255", ADDRESS_PUBLIC },
	{ "128.0.0.0", ADDRESS_PUBLIC },
	{ "168.63.129.15", ADDRESS_PUBLIC },
	{ "168.63.129.17", ADDRESS_PUBLIC },
	{ "169.253.255.255", ADDRESS_PUBLIC },
	{ "169.255.0.0", ADDRESS_PUBLIC },
	{ "172.15.255.255", ADDRESS_PUBLIC },
	{ "172.32.0.0", ADDRESS_PUBLIC },
	{ "192.0.1.0", ADDRESS_PUBLIC },
	{ "192.0.3.0", ADDRESS_PUBLIC },
	{ "192.167.255.255", ADDRESS_PUBLIC },
	{ "192.169.0.0", ADDRESS_PUBLIC },
	{ "198.17.255.255", ADDRESS_PUBLIC },
	{ "198.20.0.0", ADDRESS_PUBLIC },
	{ "203.0.112.255", ADDRESS_PUBLIC },
	{ "223.255.255.255", ADDRESS_PUBLIC },
	{ "10.0.0.0", ADDRESS_PRIVATE },
	{ "10.255.255.255", ADDRESS_PRIVATE },
	{ "100.64.0.0", ADDRESS_PRIVATE },
	{ "100.100.100.199", ADDRESS_PRIVATE },
	{ "100.127.255.255", ADDRESS_PRIVATE },
	{ "172.16.0.0", ADDRESS_PRIVATE },
	{ "172.31.255.255", ADDRESS_PRIVATE },
	{ "192.168.0.0", ADDRESS_PRIVATE },
	{ "192.168.255.255", ADDRESS_PRIVATE },
	{ "198.18.0.1", ADDRESS_PRIVATE },
	{ "198.19.255.255", ADDRESS_PRIVATE },
	{ "127.0.0.0", ADDRESS_LOOPBACK },
	{ "127.0.0.1", ADDRESS_LOOPBACK },
	{ "127.255.255.255", ADDRESS_LOOPBACK },
	{ "0.0.0.0", ADDRESS_FORBIDDEN },
	{ "0.255.255.255", ADDRESS_FORBIDDEN },
	{ "100.100.100.200", ADDRESS_FORBIDDEN },
	{ "168.63.129.16", ADDRESS_FORBIDDEN },
	{ "169.254.0.0", ADDRESS_FORBIDDEN },
	{ "169.254.169.254", ADDRESS_FORBIDDEN },
	{ "169.254.170.2", ADDRESS_FORBIDDEN },
	{ "169.254.255.255", ADDRESS_FORBIDDEN },
	{ "192.0.0.0", ADDRESS_FORBIDDEN },
	{ "192.0.0.192", ADDRESS_FORBIDDEN },
	{ "192.0.2.1", ADDRESS_FORBIDDEN },
	{ "192.88.99.1", ADDRESS_FORBIDDEN },
	{ "198.51.100.7", ADDRESS_FORBIDDEN },
	{ "203.0.113.7", ADDRESS_FORBIDDEN },
	{ "224.0.0.0", ADDRESS_FORBIDDEN },
	{ "239.255.255.255", ADDRESS_FORBIDDEN },
	{ "240.0.0.1", ADDRESS_FORBIDDEN },
	{ "255.255.255.255", ADDRESS_FORBIDDEN },

	{ "2000::", ADDRESS_PUBLIC },
	{ "2001:200::1", ADDRESS_PUBLIC },
	{ "2001:db7:ffff::", ADDRESS_PUBLIC },
	{ "2001:db9::", ADDRESS_PUBLIC },
	{ "2606:4700::1111", ADDRESS_PUBLIC },
	{ "3ffe::1", ADDRESS_PUBLIC },
	{ "3fff:1000::", ADDRESS_PUBLIC },
	{ "fc00::", ADDRESS_PRIVATE },
	{ "fd00:ec1::254", ADDRESS_PRIVATE },
	{ "fd00:ec3::254", ADDRESS_PRIVATE },
	{ "fd12:3456::1", ADDRESS_PRIVATE },
	{ "fdff:ffff::1", ADDRESS_PRIVATE },
	{ "fec0::1", ADDRESS_PRIVATE },
	{ "::1", ADDRESS_LOOPBACK },
	{ "::", ADDRESS_FORBIDDEN },
	{ "100::1", ADDRESS_FORBIDDEN },
	{ "2001::1", ADDRESS_FORBIDDEN },
	{ "2001:1ff:ffff::", ADDRESS_FORBIDDEN },
	{ "2001:db8::1", ADDRESS_FORBIDDEN },
	{ "3fff::1", ADDRESS_FORBIDDEN },
	{ "4000::1", ADDRESS_FORBIDDEN },
	{ "5f00::1", ADDRESS_FORBIDDEN },
	{ "fbff::1", ADDRESS_FORBIDDEN },
	{ "fd00:ec2::254", ADDRESS_FORBIDDEN },
	{ "fd00:ec2::23", ADDRESS_FORBIDDEN },
	{ "fd20:ce::254", ADDRESS_FORBIDDEN },
	{ "fe00::1", ADDRESS_FORBIDDEN },
	{ "fe80::1", ADDRESS_FORBIDDEN },
	{ "febf::1", ADDRESS_FORBIDDEN },
	{ "ff02::1", ADDRESS_FORBIDDEN },
	{ "ff0e::1", ADDRESS_FORBIDDEN },

	/* mapped */
	{ "::ffff:8.8.8.8", ADDRESS_PUBLIC },
	{ "::ffff:10.0.0.1", ADDRESS_PRIVATE },
	{ "::ffff:127.0.0.1", ADDRESS_LOOPBACK },
	{ "::ffff:169.254.169.254", ADDRESS_FORBIDDEN },
	{ "::ffff:0.0.0.0", ADDRESS_FORBIDDEN },
	/* compatible */
	{ "::8.8.8.8", ADDRESS_PUBLIC },
	{ "::192.168.1.1", ADDRESS_PRIVATE },
	{ "::127.0.0.1", ADDRESS_LOOPBACK },
	{ "::169.254.169.254", ADDRESS_FORBIDDEN },
	{ "::2", ADDRESS_FORBIDDEN },
	/* translated */
	{ "::ffff:0:8.8.8.8", ADDRESS_FORBIDDEN },
	/* NAT64 */
	{ "64:ff9b::8.8.8.8", ADDRESS_PUBLIC },
	{ "64:ff9b::10.0.0.1", ADDRESS_PRIVATE },
	{ "64:ff9b::127.0.0.1", ADDRESS_LOOPBACK },
	{ "64:ff9b::169.254.169.254", ADDRESS_FORBIDDEN },
	{ "64:ff9b:0:1::8.8.8.8", ADDRESS_FORBIDDEN },
	/* of the local network */
	{ "64:ff9b:1::8.8.8.8", ADDRESS_PRIVATE },
	{ "64:ff9b:1::10.0.0.1", ADDRESS_PRIVATE },
	{ "64:ff9b:1::127.0.0.1", ADDRESS_LOOPBACK },
	{ "64:ff9b:1::169.254.169.254", ADDRESS_FORBIDDEN },
	/* 6to4 */
	{ "2002:808:808::1", ADDRESS_PUBLIC },
	{ "2002:a00:1::1", ADDRESS_PRIVATE },
	{ "2002:7f00:1::1", ADDRESS_LOOPBACK },
	{ "2002:a9fe:a9fe::1", ADDRESS_FORBIDDEN },
	{ "2002::1", ADDRESS_FORBIDDEN },
	{ "2003::1", ADDRESS_PUBLIC },
};

static enum address_class
class_of(const char *text)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	memset(&v4, 0, sizeof v4);
	memset(&v6, 0, sizeof v6);
	v4.sin_family = AF_INET;
	v6.sin6_family = AF_INET6;
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return address_class((struct sockaddr *)&v4);
	ck_assert_msg(inet_pton(AF_INET6, text, &v6.sin6_addr) == 1, "%s",
	    text);
	return address_class((struct sockaddr *)&v6);
}

/* As a socket address and as a literal. */
START_TEST(classes)
{
	const struct place *p = &places[_i];
	enum address_class class = (enum address_class)99;

	ck_assert_msg(class_of(p->text) == p->class, "%s", p->text);
	ck_assert_int_eq(address_literal(p->text, &class), 0);
	ck_assert_msg(class == p->class, "%s", p->text);
}
END_TEST

START_TEST(other_families)
{
	struct sockaddr_un un;
	struct sockaddr sa;

	memset(&un, 0, sizeof un);
	memset(&sa, 0, sizeof sa);
	un.sun_family = AF_UNIX;
	ck_assert_int_eq(address_class((struct sockaddr *)&un),
	    ADDRESS_LOOPBACK);
	sa.sa_family = AF_UNSPEC;
	ck_assert_int_eq(address_class(&sa), ADDRESS_FORBIDDEN);
}
END_TEST

static const struct place literals[] = {
	{ "[::1]", ADDRESS_LOOPBACK },
	{ "[2606:4700::1111]", ADDRESS_PUBLIC },
	{ "[::FFFF:127.0.0.1]", ADDRESS_LOOPBACK },
	{ "fe80::1%eth0", ADDRESS_FORBIDDEN },
	{ "[fe80::1%25eth0]", ADDRESS_FORBIDDEN },
	{ "[fd12::1%1]", ADDRESS_PRIVATE },
	/* what resolvers take for an address */
	{ "127.1", ADDRESS_LOOPBACK },
	{ "0x7f.1", ADDRESS_LOOPBACK },
	{ "0X7F000001", ADDRESS_LOOPBACK },
	{ "2130706433", ADDRESS_LOOPBACK },
	{ "017700000001", ADDRESS_LOOPBACK },
	{ "169.254.43518", ADDRESS_FORBIDDEN },
	{ "127.0.0.1.", ADDRESS_LOOPBACK },
	{ "0", ADDRESS_FORBIDDEN },
};

START_TEST(other_literals)
{
	const struct place *p = &literals[_i];
	enum address_class class = (enum address_class)99;

	ck_assert_msg(address_literal(p->text, &class) == 0, "%s", p->text);
	ck_assert_msg(class == p->class, "%s", p->text);
}
END_TEST

static const char *const names[] = {
	"",
	".",
	"..",
	"[",
	"]",
	"[]",
	"localhost",
	"example.com",
	"1.2.3.4.5",
	"1.2.3.256",
	"4294967296",
	"1.2.3.4 x",
	"1.2.3.4%eth0",
	"1.2.3.4..",
	"[1.2.3.4]",
	"[::1",
	"::1]",
	"[[::1]]",
	"::1%",
	":::1",
	"::ffff:1.2.3",
	"dead.beef",
	"0x7g",
	"1:2:3:4:5:6:7:8:9",
	"-1",
	"+1",
};

START_TEST(no_literals)
{
	enum address_class class = ADDRESS_PUBLIC;

	ck_assert_msg(address_literal(names[_i], &class) == -1, "%s",
	    names[_i]);
}
END_TEST

START_TEST(a_long_literal)
{
	enum address_class class = ADDRESS_PUBLIC;
	char text[100000];

	memset(text, '1', sizeof text);
	text[sizeof text - 1] = '\0';
	ck_assert_int_eq(address_literal(text, &class), -1);
	memcpy(text, "fe80::1%", 8);
	ck_assert_int_eq(address_literal(text, &class), -1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("address");
	TCase *t = tcase_create("address");

	tcase_add_loop_test(t, classes, 0, COUNT(places));
	tcase_add_test(t, other_families);
	tcase_add_loop_test(t, other_literals, 0, COUNT(literals));
	tcase_add_loop_test(t, no_literals, 0, COUNT(names));
	tcase_add_test(t, a_long_literal);
	suite_add_tcase(s, t);
	return unit_run(s);
}
