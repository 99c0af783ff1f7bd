#!/bin/sh
# Each file of src begins with a comment that says what it is for, or the header
# of its name does.
# usage: heads.sh [TREE]
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

# find_silent TREE: prints each file that says nothing
find_silent()
{
	(cd "$1" && find src -name '*.[ch]' | while read -r file; do
		header=$(echo "${file%.?}.h" |
		    sed 's,^src/os/\(posix\|windows\)/,src/os/,')
		for one in "$file" "${file%.?}.h" "$header"; do
			head -n 1 "$one" 2>/dev/null
		done | grep -q '^/\*' ||
		    echo "$file: no comment at its top says what it is for"
	done)
}

# a file of each kind, to see that one without a comment is found
mkdir -p "$dir/src/os/posix"
echo '/* The clock. */' >"$dir/src/os/clock.h"
: >"$dir/src/os/posix/clock.c"
: >"$dir/src/silent.c"
echo '#include <stdio.h>' >"$dir/src/silent.h"
found=$(find_silent "$dir" | LC_ALL=C sort | sed 's/:.*//' | tr '\n' ' ')
[ "$found" = 'src/silent.c src/silent.h ' ] || {
	echo "of silent.c and silent.h these were found: $found"
	exit 1
}

silent=$(find_silent "${1:-${abs_top_srcdir:?}}")
[ -z "$silent" ] || {
	echo "$silent"
	exit 1
}
