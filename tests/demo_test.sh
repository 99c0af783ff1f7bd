#!/bin/sh
# contrib/demo shows three lost sessions and six answers, and fails when the
# conversation does.
set -eu

: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

DEMO_BUILD=$abs_top_builddir
export DEMO_BUILD
demo=$abs_top_srcdir/contrib/demo

fail()
{
	echo "FAIL: $1"
	cat "$dir/out"
	exit 1
}

sh "$demo" >"$dir/out" 2>&1 || fail 'the demo failed'
grep -q '^3 sessions lost, 6 calls, 6 answers, the client noticed nothing$' \
    "$dir/out" || fail 'no summary'
[ "$(grep -c '^→ [0-9]*  tools/call' "$dir/out")" -eq 6 ] || fail 'not 6 calls'
[ "$(grep -c '^← [0-9]*  "' "$dir/out")" -eq 6 ] || fail 'not 6 answers'
[ "$(grep -c '^ *server: refused' "$dir/out")" -eq 3 ] || fail 'not 3 refusals'
[ "$(grep -c '^ *server: new session' "$dir/out")" -eq 4 ] ||
    fail 'not 4 sessions'
[ "$(grep -c '^ *mcpsplice: replayed 1 request$' "$dir/out")" -eq 3 ] ||
    fail 'not 3 replays'
if grep -q "$(printf '\033')" "$dir/out"; then
	fail 'colours where no terminal is'
fi

# a conversation that fails makes the demo fail
if sh "$demo" http://127.0.0.1:1/mcp --init-timeout 1s >"$dir/out" 2>&1; then
	fail 'a server that is not there went unnoticed'
fi
grep -q '^demo: ' "$dir/out" || fail 'no reason given'

# a proxy that dies
if "$abs_top_builddir/tests/demo_talk" --server \
    "$abs_top_builddir/tests/demo_server" false >"$dir/out" 2>&1; then
	fail 'a client that dies went unnoticed'
fi

# a server that does not start
if "$abs_top_builddir/tests/demo_talk" --server /nonexistent/server \
    "${MCPSPLICE:?}" >"$dir/out" 2>&1; then
	fail 'a server that does not start went unnoticed'
fi
