#!/bin/sh
# Runs each fuzz target over its corpus, tests/fuzz/corpus/NAME for fuzz_NAME,
# whether it was built for libFuzzer or with fuzz_replay.c. With FUZZ_SECONDS
# libFuzzer goes on from the corpus for so long (make check-fuzz), with the words
# of tests/fuzz/dictionaries/NAME, and keeps new inputs in FUZZ_CORPUS/NAME if
# that is set; contrib/fuzz does so for longer.
# usage: fuzz_test.sh [TARGET]    without one: all of them, some side by side
set -eu

: "${abs_srcdir:?}" "${abs_builddir:?}"
if [ $# -eq 0 ]; then
	if [ -z "${FUZZ_TARGETS-}" ]; then
		echo 'FAIL: there are no targets'
		exit 1
	fi
	printf '%s\n' $FUZZ_TARGETS | xargs -n 1 -P "$(nproc)" sh "$0"
	exit
fi

target=$1
name=${target#fuzz/fuzz_}
corpus=$abs_srcdir/fuzz/corpus/$name
words=$abs_srcdir/fuzz/dictionaries/$name
new=$(mktemp -d "${TMPDIR:-/tmp}/mcpsplice-fuzz.XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
more=${FUZZ_CORPUS:-$new/corpus}/$name
mkdir -p "$more"

# Runs the target over the corpus, and then, with FUZZ_SECONDS, fuzzes from it.
run()
{
	"$abs_builddir/$target" "$@" || return 1
	[ -n "${FUZZ_SECONDS-}" ] || return 0
	"$abs_builddir/$target" -max_total_time="$FUZZ_SECONDS" -timeout=60 \
	    -rss_limit_mb=4096 -artifact_prefix="$new/" -print_final_stats=1 \
	    $([ ! -f "$words" ] || echo "-dict=$words") \
	    "$more" "$corpus"
}

# Prints the inputs on which libFuzzer failed, to be added to the corpus.
show_found()
{
	for input in "$new"/crash-* "$new"/timeout-* "$new"/oom-* \
	    "$new"/leak-*; do
		[ ! -f "$input" ] || { echo "${input##*/}, base64:" &&
		    base64 "$input"; }
	done
}

set -- "$corpus"/*
if [ ! -f "$1" ]; then
	echo "FAIL: $target: no corpus in $corpus"
	exit 1
elif run "$@" >"$new/out" 2>&1; then
	echo "PASS: $target: $# inputs" $(sed -n \
	    's/^stat::number_of_executed_units: */and runs: /p' "$new/out")
else
	{
		cat "$new/out"
		show_found
		echo "FAIL: $target"
	} >"$new/all"
	cat "$new/all"
	exit 1
fi
