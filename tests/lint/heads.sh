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
	(cd "$1" && find src -name '*.[ch]' -exec awk '
	FNR == 1 {
		says[FILENAME] = /^\/\*/
	}
	END {
		for (name in says) {
			header = name
			sub(/c$/, "h", header)
			of_os = header
			sub(/^src\/os\/(posix|windows)\//, "src/os/", of_os)
			if (!says[name] && !says[header] && !says[of_os])
				print name ": no comment at its top says " \
				    "what it is for"
		}
	}' {} +)
}

# some of each kind, to see that those that are silent are found
mkdir -p "$dir/src/os/posix"
echo '/* The clock. */' >"$dir/src/os/clock.h"
for name in os/posix/clock.c silent.c silent.h; do
	echo '#include <stdio.h>' >"$dir/src/$name"
done
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
