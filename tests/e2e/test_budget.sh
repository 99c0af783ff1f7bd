#!/bin/sh
# What a small call may cost, in figures that no clock and no other program
# changes: instructions (callgrind), compared with those of the bare pipe of
# contrib/bench, and system calls (strace). contrib/bench/README has those of
# today.
#
# per call, at most:       2025-11-25    2026-07-28, on both sides
# instructions, of pipe's     1.30          1.60
# system calls                8             9
set -eu

: "${MCPSPLICE:?}" "${abs_top_srcdir:?}"
unset LD_PRELOAD
if [ -n "${SANITIZERS-}" ]; then
	echo 'a sanitizer'
	exit 77
fi
if grep -q 'q->bytes == bytes' "$MCPSPLICE"; then
	echo 'the program looks after itself in each step (--enable-debug)'
	exit 77
fi
for tool in "valgrind -q" "strace -qq -o /dev/null"; do
	if ! $tool true >/dev/null 2>&1; then
		echo "${tool%% *} does not work here"
		exit 77
	fi
done

measure()
{
	"$abs_top_srcdir/contrib/bench/run.sh" --instructions 2>/dev/null
}

judge()
{
	awk '
	function over(what, now, most) {
		if (now > most) {
			printf "%s: %s is more than %s\n", what, now, most
			bad = 1
		}
	}
	/^bare pipe/ { pipe = $(NF - 1) }
	/^mcpsplice/ {
		over("instructions", $(NF - 1) / pipe, 1.30)
		over("system calls", $NF, 8)
		seen++
	}
	/^ *2026-07-28/ {
		over("instructions, 2026-07-28", $(NF - 1) / pipe, 1.60)
		over("system calls, 2026-07-28", $NF, 9)
		seen++
	}
	END {
		if (seen != 2)
			print "no figures"
		exit bad || seen != 2
	}'
}

figures=$(measure) || :
echo "$figures"
echo "$figures" | judge
