#!/bin/sh
# Runs each fuzz target over its corpus, tests/fuzz/corpus/NAME for
# fuzz_NAME,
# whether it was built for libFuzzer or with fuzz_replay.c.
set -eu

: "${abs_srcdir:?}" "${abs_builddir:?}"
if [ -z "${FUZZ_TARGETS-}" ]; then
	echo 'FAIL: there are no targets'
	exit 1
fi

status=0
for target in $FUZZ_TARGETS; do
	corpus=$abs_srcdir/fuzz/corpus/${target#fuzz/fuzz_}
	set -- "$corpus"/*
	if [ ! -f "$1" ]; then
		echo "FAIL: $target: no corpus in $corpus"
		status=1
	elif "$abs_builddir/$target" "$@" >"$target.out" 2>&1; then
		echo "PASS: $target: $# inputs"
	else
		cat "$target.out"
		echo "FAIL: $target"
		status=1
	fi
	rm -f "$target.out"
done
exit $status
