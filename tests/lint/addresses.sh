#!/bin/sh
# The project's own addresses stand in contrib/addresses: README, the manual,
# doc/security.md and "mcpsplice version" say the same, and the packages take
# them from there, with no line for one that is not set.
set -eu

here=$(dirname "$0")
top=$(cd "${abs_top_srcdir:-${srcdir:-$here/..}/..}" && pwd)
program=${MCPSPLICE:-${abs_top_builddir:-${builddir:-.}}/src/mcpsplice}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fail()
{
	echo "$*"
	failed=1
}

# says PAGE TEXT: has the page a line with this text alone?
says()
{
	sed -e 's/^ *//' -e 's/  */ /g' "$1" | grep -Fqx "$2" ||
	    fail "${1#"$top/"} does not say \"$2\""
}

"$program" version >"$dir/version"
for name in home issues security; do
	address=$(sed -n "s/^$name = //p" "$top/contrib/addresses")
	[ -n "$address" ] || fail "contrib/addresses has no $name"
	word=$(echo "$name" | sed 's/^h/H/; s/^i/I/; s/^s/S/')
	says "$top/README" "$name $address"
	says "$top/doc/mcpsplice.1" "$word: $address"
	says "$dir/version" "$word: $address"
done
says "$top/doc/security.md" "security $address"

# The packages, with each address set and not set.
mkdir "$dir/contrib"
cp "$top/contrib/address" "$dir/contrib"
# prints SET WANTED: what contrib/address prints of this home
prints()
{
	echo "home = $1" >"$dir/contrib/addresses"
	got=$("$dir/contrib/address" home '<' '>')
	[ "$got" = "$2" ] || fail "address prints \"$got\" for the home \"$1\""
}
prints 'not set' ''
prints https://a.test/b '<https://a.test/b>'
for pack in deb npm/pack mcpb/pack release; do
	grep -q '/address" home' "$top/contrib/$pack" ||
	    fail "contrib/$pack does not take the home"
done
for pack in npm/pack mcpb/pack; do
	grep -q '/address" issues' "$top/contrib/$pack" ||
	    fail "contrib/$pack does not take the issues"
done
exit $failed
