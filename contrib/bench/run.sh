#!/bin/sh
# Measures mcpsplice, the bare pipe and (when it is there) mcp-remote in one
# run on this machine, and prints one table. See README beside this file.
#
#   run.sh [--instructions] [--sse] [--quick] [--log FILE]
#
# MCPSPLICE   the binary (build/src/mcpsplice, then src/mcpsplice)
# MCP_REMOTE  the directory of the npm package mcp-remote, or its proxy.js
# CC, CFLAGS  as usual
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${CC:=cc}" "${CFLAGS:=-O2}"
instructions='' sse='' log='' modern='' starts=30 rounds=5 calls=10000

say() { printf '%s\n' "$*" >&2; }

while [ $# -gt 0 ]; do
	case $1 in
	--instructions) instructions=yes ;;
	--sse) sse=-s ;;
	--quick) starts=5 rounds=1 calls=2000 ;;
	--log) shift; log=${1:?--log needs a file} ;;
	*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

work=$(mktemp -d)
http_pid='' https_pid=''
# shellcheck disable=SC2086 # either id may be absent
end() {
	[ -z "$http_pid$https_pid" ] || kill $http_pid $https_pid || :
	rm -rf "$work"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
: "${log:=$work/stderr}"

build() { # NAME "SOURCES" "PACKAGES" [LIBS]
	set -f
	# shellcheck disable=SC2046,SC2086 # lists of words
	(cd "$here" && $CC -std=c11 -D_GNU_SOURCE $CFLAGS -o "$work/$1" $2 \
	    ${3:+$(pkg-config --cflags $3)} \
	    ${3:+$(pkg-config --libs $3)} ${4:-})
	set +f
}

# The bundle is the system's with our own authority added: a start over
# https pays for reading a real one.
certificate() (
	cd "$work"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
	    -days 2 -subj "/CN=bench authority" -keyout ca.key -out ca.pem
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
	    -subj "/CN=127.0.0.1" -keyout server.key -out server.csr
	printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\n' >ext
	openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key \
	    -CAcreateserial -days 2 -extfile ext -out server.pem
	cat ca.pem >bundle.pem
	[ ! -r /etc/ssl/certs/ca-certificates.crt ] ||
	    cat /etc/ssl/certs/ca-certificates.crt >>bundle.pem
)

url_of() { # FILE: waits for the line the server prints
	n=0
	until [ -s "$1" ]; do
		n=$((n + 1))
		[ $n -lt 100 ] || { say "the server did not start"; exit 1; }
		sleep 0.05
	done
	cat "$1"
}

find_mcpsplice() {
	for f in "${MCPSPLICE:-}" "$top/build/src/mcpsplice" \
	    "$top/src/mcpsplice"; do
		[ -z "$f" ] || [ ! -x "$f" ] || { echo "$f"; return; }
	done
}

find_mcp_remote() {
	for f in "${MCP_REMOTE:-}" "${MCP_REMOTE:-}/dist/proxy.js" \
	    "$top"/build/tests/*/node_modules/mcp-remote/dist/proxy.js \
	    "$top"/tests/*/node_modules/mcp-remote/dist/proxy.js; do
		[ ! -f "$f" ] || { echo "$f"; return; }
	done
}

# Instructions of a start and of one call, by callgrind: the same on a busy
# machine as on an idle one.
count() { # CALLS NAME COMMAND...
	n=$1
	shift
	name=$1
	shift
	# shellcheck disable=SC2086 # an option or nothing
	"$work/drive" $modern -u "$http" -e "$log" -c "$n" "$name" \
	    valgrind -q --tool=callgrind \
	    --callgrind-out-file="$work/callgrind.$n" "$@"
	sed -n 's/^\(summary\|totals\): *//p' "$work/callgrind.$n" | head -n 1
}

instructions_of() { # NAME COMMAND...
	few=$(count 100 "$@")
	many=$(count 1100 "$@")
	call=$(((many - few) / 1000))
	printf '%-12s %12d %12d\n' "$1" $((few - 101 * call)) "$call"
}

build pipe pipe.c "libevent_core libcurl"
build server server.c "libevent_core openssl"
build drive "drive.c host.c child.c figures.c rpc.c" "" -lm
certificate >"$work/openssl.log" 2>&1 || { cat "$work/openssl.log"; exit 1; }

# Nothing of the caller's settings may reach a candidate.
export HOME="$work" MCP_REMOTE_CONFIG_DIR="$work/auth"
export SSL_CERT_FILE="$work/bundle.pem"
unset NODE_OPTIONS NODE_EXTRA_CA_CERTS CURL_CA_BUNDLE SSL_CERT_DIR \
    http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || :

# shellcheck disable=SC2086 # an option or nothing
"$work/server" $sse >"$work/http" &
http_pid=$!
# shellcheck disable=SC2086
"$work/server" $sse "$work/server.pem" "$work/server.key" >"$work/https" &
https_pid=$!
http=$(url_of "$work/http")
https=$(url_of "$work/https")

mcpsplice=$(find_mcpsplice)
remote=$(find_mcp_remote)
node=$(command -v node || :)
[ -n "$mcpsplice" ] || say "no mcpsplice (set MCPSPLICE): left out"
if [ -z "$remote" ] || [ -z "$node" ]; then
	remote=''
	say "no mcp-remote (set MCP_REMOTE) or no node: left out"
fi

if [ -n "$instructions" ]; then
	command -v valgrind >/dev/null || { say "valgrind is missing"; exit 1; }
	printf '%-12s %12s %12s\n' instructions start "per call"
	instructions_of "bare pipe" "$work/pipe" URL
	[ -n "$mcpsplice" ] || exit 0
	instructions_of mcpsplice "$mcpsplice" URL
	modern=-m
	instructions_of "  2026-07-28" "$mcpsplice" URL
	exit
fi

set -- "bare pipe" "$work/pipe" URL
[ -z "$mcpsplice" ] || set -- "$@" -- mcpsplice "$mcpsplice" URL
[ -z "$remote" ] || set -- "$@" -- mcp-remote \
    env NODE_EXTRA_CA_CERTS="$work/ca.pem" "$node" "$remote" URL --allow-http
"$work/drive" -u "$http" -t "$https" -e "$log" -s "$starts" -r "$rounds" \
    -n "$calls" "$@"
