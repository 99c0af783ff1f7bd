#!/bin/sh
# readme.sh takes README and doc/symptoms as they are, and finds each kind of
# fault that it looks for.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=${abs_top_srcdir:-${srcdir:-$here/..}/..}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# finds WORDS PAGE LINE: is the page with one line more refused with these words?
finds()
{
	cp "$top/README" "$dir/README"
	cp "$top/doc/symptoms" "$dir/symptoms"
	printf '%s\n' "$3" >>"$dir/$2"
	if sh "$here/readme.sh" "$dir/README" "$dir/symptoms" >"$dir/out" 2>&1; then
		echo "not found in $2: $3"
		failed=1
	fi
	grep -q -e "$1" "$dir/out" || {
		echo "in $2, \"$3\": $(cat "$dir/out")"
		failed=1
	}
}

for page in README symptoms; do
	finds 'names --no-such-option' $page 'Set: --no-such-option'
	finds 'names mcpsplice frobnicate' $page '    mcpsplice frobnicate URL'
	finds 'names call_lost' $page 'The call ends with call_lost.'
	finds 'names doc/nowhere' $page 'See doc/nowhere.'
	finds '79 columns' $page "$(printf '%080d' 0)"
	finds 'has a tab' $page "$(printf 'a\tb')"
done
finds 'more than 250 lines' README "$(seq 250)"
exit $failed
