#!/bin/sh
# Measures mcpsplice, the bare pipe and (when it is there) mcp-remote in one
# run on this machine, and prints one table. See README beside this file.
#
#   run.sh [--instructions] [--sse] [--quick] [--log FILE]
#   run.sh --link [RTT] [--long] [--http2] [--quick] [--log FILE] [--json FILE]
#
# MCPSPLICE   the binary (build/src/mcpsplice, then src/mcpsplice)
# MCP_REMOTE  the directory of the npm package mcp-remote, or its proxy.js
# CC, CFLAGS  as usual
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${CC:=cc}" "${CFLAGS:=-O2}"
instructions='' sse='' log='' modern='' starts=30 rounds=5 calls=10000
rtt='' silence=20 turns=3 http2='' json=''

say() { printf '%s\n' "$*" >&2; }

while [ $# -gt 0 ]; do
	case $1 in
	--instructions) instructions=yes ;;
	--sse) sse=-s ;;
	--quick) starts=5 rounds=1 calls=2000 turns=1 ;;
	--link)
		rtt=80
		case ${2:-} in [0-9]*) rtt=$2; shift ;; esac
		;;
	--long) silence=300 ;;
	--http2) http2=--http2 ;;
	--json) shift; json=${1:?--json needs a file} ;;
	--log) shift; log=${1:?--log needs a file} ;;
	*) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

work=$(mktemp -d)
pids=''
# shellcheck disable=SC2086 # a list of numbers
end() {
	[ -z "$pids" ] || kill $pids || :
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
	printf 'subjectAltName=IP:127.0.0.1,IP:10.77.0.2\n' >ext
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
		[ $n -lt 400 ] || { say "the server did not start"; exit 1; }
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
	    "$top"/tests/*/node_modules/mcp-remote/dist/proxy.js \
	    "$work"/*/node_modules/mcp-remote/dist/proxy.js; do
		[ ! -f "$f" ] || { echo "$f"; return; }
	done
}

# Instructions of a start and of one call, by callgrind, and system calls of one
# call, by strace: the same on a busy machine as on an idle one.
count_with() { # "TOOL OPTION..." CALLS NAME COMMAND...
	tool=$1 n=$2 name=$3
	shift 3
	# shellcheck disable=SC2086 # lists of words
	"$work/drive" $modern -u "$http" -e "$log" -c "$n" "$name" $tool "$@"
}

instructions() { # CALLS NAME COMMAND...
	count_with "valgrind -q --tool=callgrind \
	    --callgrind-out-file=$work/callgrind" "$@"
	sed -n 's/^\(summary\|totals\): *//p' "$work/callgrind" | head -n 1
}

system_calls() { # CALLS NAME COMMAND...
	count_with "strace -f -q -c -o $work/strace" "$@"
	awk '$NF == "total" { print $4 }' "$work/strace"
}

instructions_of() { # NAME COMMAND...
	few=$(instructions 100 "$@")
	many=$(instructions 1100 "$@")
	call=$(((many - few) / 1000))
	few_calls=$(system_calls 100 "$@")
	many_calls=$(system_calls 1100 "$@")
	printf '%-12s %12d %12d %14s\n' "$1" $((few - 101 * call)) "$call" \
	    "$(echo "$few_calls $many_calls" |
		awk '{ printf "%.1f", ($2 - $1) / 1000 }')"
}

# The packages of the interop tests have it, and a Node that is new enough.
fetch_mcp_remote() {
	keep=$top/build/tests
	[ -d "$keep" ] || keep=$work
	BUILDDIR=$keep sh "$top/tests/interop/run.sh" --install-only \
	    >"$work/npm.log" 2>&1 || say "npm cannot fetch mcp-remote"
}

far_server() { # NAME OPTION...: writes its URL to the file NAME
	out=$work/$1
	shift
	nsenter --net="$far" "$node" "$here/far.mjs" "$@" 10.77.0.2 \
	    "$work/server.pem" "$work/server.key" >"$out" 2>>"$log" &
	pids="$pids $!"
}

# The relay ends when nobody can write orders any more.
measure_link() { # CANDIDATES...
	build waits "waits.c host.c child.c figures.c rpc.c" "" -lm
	mkfifo "$work/orders"
	"$work/link" "$(echo "$rtt" | awk '{ print $1 / 2 }')" \
	    <"$work/orders" >"$work/ends" &
	pids="$pids $!"
	exec 9>"$work/orders"
	ends=$(url_of "$work/ends")
	far=${ends#* }
	# shellcheck disable=SC2086 # an option or nothing
	far_server keeps $http2
	# shellcheck disable=SC2086
	far_server closes $http2 --idle 5
	open=$(url_of "$work/keeps")
	close=$(url_of "$work/closes")
	nsenter --net="${ends% *}" "$work/waits" -u "$open" -c "$close" \
	    -t "$rtt" -r "$turns" -l "$silence" -e "$log" ${json:+-j "$json"} \
	    "$@"
}

certificate >"$work/openssl.log" 2>&1 || { cat "$work/openssl.log"; exit 1; }

mcpsplice=$(find_mcpsplice)
remote=$(find_mcp_remote)
if [ -n "$rtt" ]; then
	build link link.c
	"$work/link" </dev/null >/dev/null || exit 1
	[ -n "$remote" ] || { fetch_mcp_remote; remote=$(find_mcp_remote); }
fi
node=${remote%/mcp-remote/dist/proxy.js}/.bin/node
[ -x "$node" ] || node=$(command -v node || :)
[ -n "$mcpsplice" ] || say "no mcpsplice (set MCPSPLICE): left out"
if [ -z "$remote" ] || [ -z "$node" ]; then
	remote=''
	say "no mcp-remote (set MCP_REMOTE) or no node: left out"
fi
[ -z "$rtt" ] || [ -n "$node" ] || { say "the server needs node"; exit 1; }

# Nothing of the caller's settings may reach a candidate.
export HOME="$work" MCP_REMOTE_CONFIG_DIR="$work/auth"
export SSL_CERT_FILE="$work/bundle.pem"
unset NODE_OPTIONS NODE_EXTRA_CA_CERTS CURL_CA_BUNDLE SSL_CERT_DIR \
    http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || :

set --
[ -z "$mcpsplice" ] || set -- -- mcpsplice "$mcpsplice" URL $http2
[ -z "$remote" ] || set -- "$@" -- mcp-remote \
    env NODE_EXTRA_CA_CERTS="$work/ca.pem" "$node" "$remote" URL --allow-http
if [ -n "$rtt" ]; then
	measure_link "$@"
	exit
fi

build pipe pipe.c "libevent_core libcurl"
build server server.c "libevent_core openssl"
build drive "drive.c host.c child.c figures.c rpc.c" "" -lm

# shellcheck disable=SC2086 # an option or nothing
"$work/server" $sse >"$work/http" &
pids="$pids $!"
# shellcheck disable=SC2086
"$work/server" $sse "$work/server.pem" "$work/server.key" >"$work/https" &
pids="$pids $!"
http=$(url_of "$work/http")
https=$(url_of "$work/https")

if [ -n "$instructions" ]; then
	for tool in valgrind strace; do
		command -v $tool >/dev/null || { say "$tool is missing"; exit 1; }
	done
	printf '%-12s %12s %12s %14s\n' instructions start "per call" \
	    "system calls"
	instructions_of "bare pipe" "$work/pipe" URL
	[ -n "$mcpsplice" ] || exit 0
	instructions_of mcpsplice "$mcpsplice" URL
	modern=-m
	instructions_of "  2026-07-28" "$mcpsplice" URL
	exit
fi

"$work/drive" -u "$http" -t "$https" -e "$log" -s "$starts" -r "$rounds" \
    -n "$calls" "bare pipe" "$work/pipe" URL "$@"
