#!/bin/sh
# The manual and the table of options name the same options, --help names
# those of them that the table does not leave to the manual, each option that
# the manual names is understood, and mandoc finds no fault.
set -eu

here=$(dirname "$0")
top=${abs_top_srcdir:-${srcdir:-$here/..}/..}
program=${MCPSPLICE:-${abs_top_builddir:-${builddir:-.}}/src/mcpsplice}
man=$top/doc/mcpsplice.1
table=$top/src/options/table.c
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fail()
{
	echo "$*"
	failed=1
}

# Is the list $1 the list $2? $3 and $4 say what they are.
same()
{
	LC_ALL=C sort "$dir/$1" >"$dir/left"
	LC_ALL=C sort "$dir/$2" >"$dir/right"
	[ -s "$dir/left" ] || fail "$3: nothing found"
	[ -z "$(uniq -d "$dir/left")" ] ||
	    fail "$3: twice: $(uniq -d "$dir/left")"
	for name in $(LC_ALL=C comm -23 "$dir/left" "$dir/right"); do
		fail "$name is in $3, not in $4"
	done
	for name in $(LC_ALL=C comm -13 "$dir/left" "$dir/right"); do
		fail "$name is in $4, not in $3"
	done
}

# The long names of the .It lines, in all subsections but the one of other
# programs ($1 empty), or in that one only.
names_of_man()
{
	awk -v other="$1" '
	/^\.S[hs] / { options = 0; others = 0 }
	/^\.Sh (OPTIONS|COMMANDS)$/ { in_options = 1 }
	/^\.Sh / && !/^\.Sh (OPTIONS|COMMANDS)$/ { in_options = 0 }
	/^\.Ss Options of other programs$/ { others = 1 }
	in_options && (others ? other != "" : other == "") &&
	    /^\.It Fl / && match($0, /Fl Fl [A-Za-z0-9-]+/) {
		print substr($0, RSTART + 6, RLENGTH - 6)
	}' "$man"
}

"$program" help all >"$dir/help.txt" || fail "help all exits $?"
# --no-NAME explains itself, it is no option
grep -o -e '--[A-Za-z0-9][A-Za-z0-9-]*' "$dir/help.txt" | sed 's/^--//' |
    grep -v '^no-NAME$' >"$dir/help" || true
names_of_man '' >"$dir/man"
names_of_man other >"$dir/other"

# All rows but the URL, and what a variable alone can set.
sed -n '/^const struct option_row option_table/,/^};/ {
	s/^	[A-Z_]*("\([^"]*\)".*/\1/p; s/^	{ "\([^"]*\)".*/\1/p
}' "$table" | grep -v -e '^url$' -e '^NODE_EXTRA_CA_CERTS$' \
	-e '^SSL_CERT_DIR$' >"$dir/table"
cat "$dir/man" "$dir/other" >"$dir/both"
same both table 'the manual' 'the table'

# Rows begin with a tab and a name; what follows is indented further.
awk '/^	[A-Z_]*\("|^	\{ "/ { split($0, part, "\""); name = part[2] }
    /^};/ { exit }
    /OPTION_UNLISTED|(MANUAL|OWN)\("/ && name != "" { print name }' "$table" |
    LC_ALL=C sort -u >"$dir/unlisted"
[ -s "$dir/unlisted" ] || fail 'the table leaves nothing to the manual'
grep -v -x -F -f "$dir/unlisted" "$dir/man" >"$dir/listed"
same listed help 'the manual' '--help'

# With --help behind it, an option is only looked up.
for name in $(cat "$dir/both"); do
	"$program" "--$name" x --help >/dev/null 2>"$dir/why" ||
	    "$program" "--$name" --help >/dev/null 2>"$dir/why" ||
	    fail "--$name is in the manual: $(cat "$dir/why")"
done
if "$program" --no-such-option x --help >/dev/null 2>&1; then
	fail 'an unknown option is taken'
fi

# Every letter, too.
grep -o -e '-[A-Za-z0-9], --[a-z0-9-]*' "$dir/help.txt" >"$dir/letters"
sed -n 's/^\.It Fl \([A-Za-z0-9]\) , Fl Fl \([a-z0-9-]*\).*/-\1, --\2/p' \
    "$man" >"$dir/man_letters"
same man_letters letters 'the manual' '--help'

# The reasons of our errors: the third column of their table.
rows=$top/src/core/exchange/fault_rows.h
tr '\n\t' '  ' <"$rows" |
    grep -o 'FAULT([A-Z0-9_]*, *[A-Z_]*, *\("[a-z_]*"\|NULL\),' \
	>"$dir/faults" || true
[ "$(wc -l <"$dir/faults")" -eq "$(grep -c '^FAULT(' "$rows")" ] ||
    fail 'a row of the table of faults cannot be read'
for reason in $(sed -n 's/.*"\(.*\)".*/\1/p' "$dir/faults" | sort -u); do
	grep -q "^\.It Sy.*$reason" "$man" || fail "reason $reason: no words"
done

[ "$(wc -l <"$dir/help.txt")" -le 54 ] || fail 'help all is too long'
! grep -n '.\{80\}' "$dir/help.txt" || fail '--help is too wide'

mandoc=${MANDOC:-mandoc}
if command -v "$mandoc" >/dev/null 2>&1; then
	"$mandoc" -Tlint -Wwarning "$man" || fail 'mandoc has warnings'
else
	echo 'mandoc is not here: the manual was not checked by it'
fi
exit $failed
