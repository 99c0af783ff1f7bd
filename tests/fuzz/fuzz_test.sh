#!/bin/sh
# Runs each fuzz target over its corpus, tests/fuzz/corpus/NAME for fuzz_NAME,
# whether it was built for libFuzzer or with fuzz_replay.c. With FUZZ_SECONDS
# libFuzzer goes on from the corpus for so long (make check-fuzz).
set -eu

: "${abs_srcdir:?}" "${abs_builddir:?}"
if [ -z "${FUZZ_TARGETS-}" ]; then
	echo 'FAIL: there are no targets'
	exit 1
fi

new=
if [ -n "${FUZZ_SECONDS-}" ]; then
	new=$(mktemp -d "${TMPDIR:-/tmp}/mcpsplice-fuzz.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	trap 'exit 1' HUP INT TERM
fi

# Runs the target $1 over the files that follow, and then on from them.
run()
{
	"$abs_builddir/$@" || return 1
	[ -z "$new" ] && return
	mkdir -p "$new/$1"
	"$abs_builddir/$1" -max_total_time="$FUZZ_SECONDS" -timeout=60 \
	    -rss_limit_mb=4096 -artifact_prefix="$new/" -print_final_stats=1 \
	    "$new/$1" "$corpus"
}

# What libFuzzer found, to be put into the corpus.
show_found()
{
	for input in "$new"/crash-* "$new"/timeout-* "$new"/oom-* \
	    "$new"/leak-*; do
		[ ! -f "$input" ] || { echo "${input##*/}, base64:" &&
		    base64 "$input"; }
	done
}

status=0
for target in $FUZZ_TARGETS; do
	corpus=$abs_srcdir/fuzz/corpus/${target#fuzz/fuzz_}
	set -- "$corpus"/*
	if [ ! -f "$1" ]; then
		echo "FAIL: $target: no corpus in $corpus"
		status=1
	elif run "$target" "$@" >"$target.out" 2>&1; then
		echo "PASS: $target: $# inputs" $(sed -n \
		    's/^stat::number_of_executed_units: */and runs: /p' \
		    "$target.out")
	else
		cat "$target.out"
		[ -z "$new" ] || show_found
		echo "FAIL: $target"
		status=1
	fi
	rm -f "$target.out"
done
exit $status
