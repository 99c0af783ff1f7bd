#!/bin/sh
# What people read first, README and doc/symptoms: at most 79 columns and no tab;
# options, commands, reasons of errors and paths of the tree are real ones. README
# has at most 250 lines, and its configuration is JSON that mcpsplice takes.
# readme_test.sh checks that each kind of fault is found.
# usage: readme.sh [README [SYMPTOMS]]
set -eu

here=$(dirname "$0")
top=${abs_top_srcdir:-${srcdir:-$here/..}/..}
program=${MCPSPLICE:-${abs_top_builddir:-${builddir:-.}}/src/mcpsplice}
readme=${1:-$top/README}
symptoms=${2:-$top/doc/symptoms}
man=$top/doc/mcpsplice.1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fail()
{
	echo "$*"
	failed=1
}

# What is real: options, commands, and reasons of errors.
"$program" --help >"$dir/help"
options()
{
	grep -o -e '--[A-Za-z0-9][A-Za-z0-9-]*' "$1" | LC_ALL=C sort -u
}
options "$dir/help" >"$dir/options"
sed -n 's/^\.It Fl .*Fl Fl \([A-Za-z0-9-]*\).*/--\1/p
    s/^\.It Fl Fl \([A-Za-z0-9-]*\).*/--\1/p' "$man" >>"$dir/options"
LC_ALL=C sort -u -o "$dir/options" "$dir/options"
sed -n 's/^\.It Sy \(.*\)/\1/p' "$man" | tr -d ' ' | tr , '\n' |
    LC_ALL=C sort -u >"$dir/reasons"

# known KIND PAGE: each line of the file "said" is one of KIND
known()
{
	LC_ALL=C sort -u "$dir/said" >"$dir/named"
	for name in $(LC_ALL=C comm -13 "$dir/$1" "$dir/named"); do
		fail "$2 names $name, which is not one of the $1"
	done
}

# Lines about other programs have those programs' options.
check_page()
{
	[ -s "$2" ] || fail "$1 is empty or not there"
	LC_ALL=C awk 'length($0) > 79 { print FNR ": " $0; bad = 1 }
	    END { exit bad }' "$2" || fail "$1: longer than 79 columns"
	! grep -n "$(printf '\t')" "$2" || fail "$1 has a tab"
	grep -v -e '\./configure' -e 'contrib/' -e 'wsl\.exe' -e '"--exec"' \
	    -e '^    npx ' "$2" >"$dir/page"
	options "$dir/page" >"$dir/said"
	known options "$1"
	for word in $(grep -oE 'mcpsplice [a-z]+(  | URL| http| --|")' "$2" |
	    sed 's/mcpsplice \([a-z]*\).*/\1/' | LC_ALL=C sort -u); do
		"$program" help "$word" >/dev/null 2>&1 ||
		    fail "$1 names mcpsplice $word, which is not a command"
	done
	# "ends with REASON", in brackets, or behind a comma at the end of a title
	tr '\n' ' ' <"$2" | grep -oE '(ends +with|", +|\() *[a-z]+_[a-z]+' |
	    sed 's/.*[ (]//' | grep -v -e '^code_' -e '^https_' >"$dir/said" || :
	known reasons "$1"
	grep -oE '(contrib|doc)/[A-Za-z0-9./-]*[A-Za-z0-9]' "$2" | LC_ALL=C sort -u |
	    while read -r path; do
		    [ -e "$top/$path" ] || echo "$1 names $path, which is not there"
	    done >"$dir/missing"
	[ ! -s "$dir/missing" ] || fail "$(cat "$dir/missing")"
}
check_page README "$readme"
check_page doc/symptoms "$symptoms"
for kind in options reasons; do
	[ -s "$dir/$kind" ] || fail "no $kind found"
done
[ "$(wc -l <"$readme")" -le 250 ] || fail 'README has more than 250 lines'

awk '/^    \{$/ { on = 1 } on; /^    \}$/ { exit }' "$readme" >"$dir/json"
[ -s "$dir/json" ] || fail 'README: no configuration block'
if python3 -c '' 2>/dev/null; then
	python3 - "$dir/json" "$program" <<'END' || fail 'README: configuration block'
import json, os, subprocess, sys
with open(sys.argv[1]) as f:
    servers = json.load(f)["mcpServers"]
if not servers:
    sys.exit("no server in it")
for server in servers.values():
    if not server["command"].startswith("/"):
        sys.exit("not an absolute path: " + server["command"])
    subprocess.run([sys.argv[2], *server["args"], "--show-config"],
                   env={**os.environ, **server.get("env", {})}, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
END
else
	echo 'python3 is not here: the configuration block was not read'
fi
exit $failed
