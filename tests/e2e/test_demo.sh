#!/bin/sh
# contrib/demo shows three lost sessions and six answers, then sign-in in three
# starts, and fails when something of it does not hold.
set -eu

: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

DEMO_BUILD=$abs_top_builddir
export DEMO_BUILD
# what is done to a home below is not done to anybody's
HOME=$dir/home
export HOME
mkdir "$HOME"
demo=$abs_top_srcdir/contrib/demo
programs=$abs_top_builddir/contrib/demo-server

fail()
{
	echo "FAIL: $1"
	cat "$dir/out"
	exit 1
}

sh "$demo" >"$dir/out" 2>&1 || fail 'the demo failed'
grep -q '^3 sessions lost, 6 calls, 6 answers, the client noticed nothing$' \
    "$dir/out" || fail 'no summary'
# So many lines of the show look like this.
shows()
{
	n=$(grep -c "$2" "$dir/out" || :)
	[ "$n" -eq "$1" ] || fail "$n and not $1 of \"$2\""
}

shows 9 '^→ [0-9]*  tools/call'
shows 9 '^← [0-9]*  "'
shows 3 '^ *server: refused tools/call'
shows 7 '^ *server: new session'
shows 3 '^ *mcpsplice: replayed 1 request$'
shows 2 '^ *browser: opened$'
shows 2 '^ *server: refused: 401, no token$'
shows 2 '^ *server: a user signs in and consents$'
shows 1 '^ *server: issues a token for a refresh token$'
shows 1 '^ *server: revokes the token$'
shows 0 '^ *browser: .* error'
shows 1 '^  token     valid until .*, renewed automatically$'
shows 1 '^Signed out of 127\.0\.0\.1:[0-9]*\.$'
shows 1 '^3 starts, 2 sign-ins, 1 renewal, 1 logout$'
if grep -q "$(printf '\033')" "$dir/out"; then
	fail 'colours where no terminal is'
fi

# a conversation that fails makes the demo fail
if sh "$demo" http://127.0.0.1:1/mcp --init-timeout 1s >"$dir/out" 2>&1; then
	fail 'a server that is not there went unnoticed'
fi
grep -q '^demo: ' "$dir/out" || fail 'no reason given'

# a proxy that dies
if "$programs/demo_talk" --server \
    "$programs/demo_server" false >"$dir/out" 2>&1; then
	fail 'a client that dies went unnoticed'
fi

# a server that does not start
if "$programs/demo_talk" --server /nonexistent/server \
    "${MCPSPLICE:?}" >"$dir/out" 2>&1; then
	fail 'a server that does not start went unnoticed'
fi

# A build whose mcpsplice runs $2 first, and where the browser is $1: does the
# demo notice, and say $3?
notices()
{
	mkdir -p "$dir/build/src" "$dir/build/contrib/demo-server"
	for program in demo_server demo_talk; do
		ln -sf "$programs/$program" "$dir/build/contrib/demo-server"
	done
	ln -sf "$1" "$dir/build/contrib/demo-server/demo_browser"
	printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' "$2" "$MCPSPLICE" \
	    >"$dir/build/src/mcpsplice"
	chmod +x "$dir/build/src/mcpsplice"
	if DEMO_BUILD=$dir/build sh "$demo" >"$dir/out" 2>&1; then
		fail "went unnoticed: $2"
	fi
	grep -q "^demo: .*$3" "$dir/out" || fail "no reason given: $2"
}

browser=$programs/demo_browser
# who is signed in is forgotten
notices "$browser" 'rm -rf "$HOME/.local/state/mcpsplice/auth"' \
    'a refresh token'
notices "$browser" '[ "$1" != logout ] || exit 0' 'revokes the token'
# no browser starts
notices /nonexistent/browser \
    'export MCPSPLICE_INIT_TIMEOUT=2 MCPSPLICE_LOGIN_TIMEOUT=3' \
    'the answer is an error'
