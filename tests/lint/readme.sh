#!/bin/sh
# README: at most 79 columns and no tab, the options are those of --help and
# the manual, and the configuration block is JSON that mcpsplice takes.
set -eu

here=$(dirname "$0")
top=${abs_top_srcdir:-${srcdir:-$here/..}/..}
program=${MCPSPLICE:-${abs_top_builddir:-${builddir:-.}}/src/mcpsplice}
readme=${1:-$top/README}
man=$top/doc/mcpsplice.1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fail()
{
	echo "README: $*"
	failed=1
}

[ -s "$readme" ] || {
	echo 'README is empty or not there'
	exit 1
}
LC_ALL=C awk 'length($0) > 79 { print FILENAME ":" FNR ": " $0; bad = 1 }
    END { exit bad }' "$readme" || fail 'longer than 79 columns'
! grep -n "$(printf '\t')" "$readme" || fail 'has a tab'

# Lines about another program have that one's options.
"$program" --help >"$dir/help"
names()
{
	grep -v -e '\./configure' -e 'contrib/' -e 'tests/' -e '^ *brew ' \
	    -e '^ *export ' -e 'wsl\.exe' "$1" |
	    grep -o -e '--[A-Za-z0-9][A-Za-z0-9-]*' | LC_ALL=C sort -u
}
names "$dir/help" >"$dir/known"
sed -n 's/^\.It Fl .*Fl Fl \([A-Za-z0-9-]*\).*/--\1/p
    s/^\.It Fl Fl \([A-Za-z0-9-]*\).*/--\1/p' "$man" >>"$dir/known"
LC_ALL=C sort -u -o "$dir/known" "$dir/known"
names "$readme" >"$dir/named"
[ -s "$dir/known" ] && [ -s "$dir/named" ] || fail 'no options found'
for name in $(LC_ALL=C comm -13 "$dir/known" "$dir/named"); do
	fail "names $name, which neither --help nor the manual knows"
done

# "Options" is the text of --help.
awk '/^usage: / { on = 1 } on && /^$/ { exit } on' "$readme" >"$dir/options"
diff "$dir/help" "$dir/options" || fail 'Options is not the text of --help'

awk '/^    \{$/ { on = 1 } on; /^    \}$/ { exit }' "$readme" >"$dir/json"
[ -s "$dir/json" ] || fail 'no configuration block'
if python3 -c '' 2>/dev/null; then
	python3 - "$dir/json" "$program" <<'END' || fail 'configuration block'
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
