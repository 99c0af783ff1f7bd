#!/bin/sh
# Looks for faults in src without running it: clang-tidy (.clang-tidy says for
# what), cppcheck, and gcc's -fanalyzer.
# usage: tests/analysis/run.sh BUILD
#   BUILD  a folder that ./configure was run in
#
# os/windows is left out: it needs the headers of Windows.
# A finding that is no fault stands in tests/analysis/accepted, with the reason.
# The exit status is 0 when there is no other one, and each of those is still
# found. With ANALYSIS_CACHE=FOLDER what a tool said of a file is kept there, and
# it looks again only if the file, what it includes, the tool or this script has
# changed.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
if [ ! -f "${1-}/config.h" ]; then
	sed -n '2,14s/^#* \{0,1\}//p' "$0" >&2
	exit 2
fi
build=$(cd "$1" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/mcpsplice-analysis.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$top/src"
flags="-I. -I$build -I$build/src -DSYSCONFDIR=\"/etc\" $(pkg-config --cflags libcurl libevent_extra json-c \
    libcrypto)"

# A tool's findings depend on these, and on the headers that the file includes.
{
	cat "$top/.clang-tidy" "$top/tests/analysis/run.sh"
	clang-tidy --version
	gcc --version
	cppcheck --version
	echo "$flags"
} >"$work/tools"

# each TOOL COMMAND: runs it with $file for each source file, as many side by
# side as there are cores.
each()
{
	mkdir "$work/$1"
	find . -name '*.c' ! -path './os/windows/*' -printf '%P\n' |
	    LC_ALL=C sort |
	    FLAGS=$flags OUT=$work/$1 TOOL=$1 WORK=$work BUILD=$build TOP=$top \
		KEPT=${ANALYSIS_CACHE-} xargs -n 1 -P "$(nproc)" sh -euc '
	file=$1
	out=$OUT/$(echo "$file" | tr / _)
	includes=$(gcc -M $FLAGS "$file") || KEPT=
	if [ -n "$KEPT" ]; then
		sum=$({
			echo "$TOOL $file"
			cat "$WORK/tools" $(echo "$includes" |
			    sed "s/^[^ ]*:/ /" | tr -d "\\\\")
		} | sed "s|$BUILD||g" | sha256sum | cut -d " " -f 1)
		if [ -f "$KEPT/$sum" ]; then
			sed "s|^@TOP@|$TOP|" "$KEPT/$sum" >"$out"
			touch "$KEPT/$sum"
			exit
		fi
	fi
	status=0
	{ '"$2"'; } >"$out" 2>&1 || status=$?
	# a result is not kept if a signal stopped the tool
	if [ -n "$KEPT" ] && [ $status -lt 128 ]; then
		sed "s|^$TOP|@TOP@|" "$out" >"$KEPT/$sum.$$"
		mv "$KEPT/$sum.$$" "$KEPT/$sum"
	fi' each
}

if [ -n "${ANALYSIS_CACHE-}" ]; then
	mkdir -p "$ANALYSIS_CACHE"
	find "$ANALYSIS_CACHE" -type f -mtime +30 -delete
fi
each clang-tidy 'clang-tidy --quiet "$file" -- $FLAGS'
each gcc 'gcc -O1 -fanalyzer $FLAGS -c -o /dev/null "$file"'
each cppcheck 'cppcheck -q --template=gcc --std=c11 --library=posix \
    --enable=warning,performance,portability --suppress=readdirCalled \
    --suppress=unknownMacro -D"UINT64_C(n)=n##ULL" -I. -I"$BUILD" -I"$BUILD/src" "$file"'

# TOOL FILE CHECK: the line of the source, which needs no other mark.
for tool in clang-tidy cppcheck gcc; do
	cat "$work/$tool"/* | awk -v tool=$tool -v top="$top/src/" '
	{ sub(top, "") }
	/^[^ :]+:[0-9]+:[0-9]+: [a-z]+: .*\[[^]]*\]$/ && !/: note: / {
		split($0, part, ":")
		check = $0
		gsub(/^.*\[|\]$/, "", check)
		text = ""
		for (i = 0; i < part[2]; i++)
			if ((getline text <part[1]) <= 0)
				break
		close(part[1])
		gsub(/^[ \t]+|[ \t]+$/, "", text)
		print tool, part[1], check ": " text
	}'
done | LC_ALL=C sort -u >"$work/found"
grep -v -e '^#' -e '^$' "$top/tests/analysis/accepted" |
    LC_ALL=C sort >"$work/accepted"

status=0
comm -23 "$work/found" "$work/accepted" >"$work/new"
comm -13 "$work/found" "$work/accepted" >"$work/gone"
if [ -s "$work/new" ]; then
	echo 'Found, and not in tests/analysis/accepted:'
	cat "$work/new"
	echo
	cut -d ' ' -f 2 "$work/new" | sort -u | while read -r file; do
		cat "$work"/*/"$(echo "$file" | tr / _)"
	done | grep -v -e '^[0-9]* warning' -e '^Suppressed' -e '^Use -header'
	status=1
fi
if [ -s "$work/gone" ]; then
	echo 'In tests/analysis/accepted, and not found any more:'
	cat "$work/gone"
	status=1
fi
echo "$(wc -l <"$work/found") findings, $(wc -l <"$work/new") of them new"
exit $status
