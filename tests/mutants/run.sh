#!/bin/sh
# Would the random tests notice? Each patch of this folder breaks the program
# in a way that it was broken once (a mutant). What the patch names in its line
# "Found-by" must fail then: the explorer of the chain or of the session, the
# schedules of the chain, the chaos, or the fault proxy, each of them for no
# longer than contrib/check runs it.
#
# tests/mutants/run.sh [PATCH...]
#
# Works in a copy of the tree, which must have been through autoreconf. Says of
# each whether it was found; the exit status is 0 if all were.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
[ $# -gt 0 ] || set -- "$here"/*.patch

work=$(mktemp -d "${TMPDIR:-/tmp}/mcpsplice-mutants.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

mkdir "$work/tree" "$work/build"
(cd "$top" && tar -cf - --exclude=./.git --exclude=./build \
    --exclude='./build-[!a]*' --exclude=node_modules .) |
    tar -xf - -C "$work/tree"
# without --enable-debug, so that the tests find the mutant, not an assertion
(cd "$work/build" && "$work/tree/configure" CFLAGS='-O2 -g' >"$work/log")

build()
{
	make -j2 -C "$work/build/src" >"$work/log" 2>&1 &&
	    make -j2 -C "$work/build/tests" explore/explore_chain \
		explore/explore_session unit/core/check_chain >>"$work/log" 2>&1 && return
	cat "$work/log"
	exit 1
}

run_explorer()
{
	"$work/build/tests/explore/explore_chain"
}

run_session()
{
	"$work/build/tests/explore/explore_session"
}

run_schedules()
{
	(cd "$work/build/tests" && abs_srcdir=$work/tree/tests \
	    unit/core/check_chain)
}

run_chaos()
{
	CHAOS_UNTIL_FOUND=yes CHAOS_SECONDS=50 MCPSPLICE="$work/build/src/mcpsplice" \
	    python3 "$work/tree/tests/e2e/test_chaos.py"
}

run_faults()
{
	CHAOS_UNTIL_FOUND=yes CHAOS_SECONDS=40 MCPSPLICE="$work/build/src/mcpsplice" \
	    python3 "$work/tree/tests/e2e/test_faultproxy.py" Book.test_rounds
}

build
if ! EXPLORE=5000 run_explorer >"$work/log" ||
    ! EXPLORE=5000 run_session >"$work/log" ||
    ! run_schedules >"$work/log"; then
	cat "$work/log"
	echo 'FAIL: without a mutant'
	exit 1
fi
missed=0
for patch; do
	patch -s -p1 -F3 -d "$work/tree" <"$patch"
	build
	for by in $(sed -n 's/^Found-by: //p' "$patch"); do
		name="$(basename "$patch" .patch), $by"
		if "run_$by" >"$work/log" 2>&1; then
			echo "MISSED  $name"
			missed=1
		else
			echo "found   $name: $(grep -E \
			    'breaks a rule|in a crash|:F:' "$work/log" | tail -n 1)"
		fi
	done
	patch -s -R -p1 -F3 -d "$work/tree" <"$patch"
done
exit $missed
