#!/bin/sh
# Measures mcpsplice, other ways to do its job and other programs that do it, in
# one run on this machine, and prints a table. See README beside this file.
#
#   run.sh [--quick] [--json FILE] [--figures FOLDER] [--log FILE]
#   run.sh --link RTT [--long] [--http2] [the options above]
#   run.sh --instructions
#
# MCPSPLICE         the program (build/src/mcpsplice, then src/mcpsplice)
# MCPSPLICE_STATIC  a static one, as contrib/release.d/programs makes it
# PEERS             a folder with mcp-remote and supergateway in node_modules;
#                   if they are not there, npm installs them in it (a folder
#                   that is removed at the end)
# CC, CFLAGS        as usual
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${CC:=cc}" "${CFLAGS:=-O2}"
supergateway=4.0.0
instructions='' log='' json='' figures='' http2=''
starts=30 turns=3 calls=10000
all=yes rtts='20 80 150' silence=20 waits=3

say() { printf '%s\n' "$*" >&2; }

while [ $# -gt 0 ]; do
	case $1 in
	--instructions) instructions=yes ;;
	--quick) starts=5 turns=1 calls=2000 waits=1 rtts=${rtts#20 80 } ;;
	--link)
		all='' rtts=80
		case ${2:-} in [0-9]*) rtts=$2; shift ;; esac
		;;
	--long) silence=300 ;;
	--http2) http2=--http2 ;;
	--json) shift; json=${1:?--json needs a file} ;;
	--figures) shift; figures=${1:?--figures needs a folder} ;;
	--log) shift; log=${1:?--log needs a file} ;;
	*) sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done

work=$(mktemp -d)
pids=''
# shellcheck disable=SC2086 # a list of numbers
stop() {
	[ -z "$pids" ] || kill $pids 2>/dev/null || :
	pids=''
}
end() {
	stop
	rm -rf "$work"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
: "${log:=$work/stderr}" "${PEERS:=$work/peers}"
failed=''

build() { # NAME "SOURCES" "PACKAGES" [LIBS]
	set -f
	# shellcheck disable=SC2046,SC2086 # lists of words
	(cd "$here" && $CC -std=c11 -D_GNU_SOURCE $CFLAGS -o "$work/$1" $2 \
	    ${3:+$(pkg-config --cflags $3)} \
	    ${3:+$(pkg-config --libs $3)} ${4:-})
	set +f
}
host='cand.c host.c child.c web.c answer.c lines.c pattern.c figures.c rpc.c'

# The bundle is the system's, plus the benchmark's own authority: a real start
# over https also spends time on reading all of the system's certificates.
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

line_of() { # FILE: waits for the line that a program writes there
	n=0
	until [ -s "$1" ]; do
		n=$((n + 1))
		[ $n -lt 400 ] || { say "$1: no answer"; exit 1; }
		sleep 0.05
	done
	cat "$1"
}

server() { # NAME [CERT KEY]: starts one, which writes its URL to that file
	name=$1
	shift
	"$work/server" "$@" >"$work/$name" &
	pids="$pids $!"
	line_of "$work/$name" >/dev/null
}

port_of() { # URL
	set -- "${1##*:}"
	echo "${1%%/*}"
}

find_mcpsplice() {
	for f in "${MCPSPLICE:-}" "$top/build/src/mcpsplice" \
	    "$top/src/mcpsplice"; do
		[ -z "$f" ] || [ ! -x "$f" ] || { echo "$f"; return; }
	done
	say "skipping mcpsplice: it is not built; set MCPSPLICE to its path"
}

find_static() {
	[ ! -x "${MCPSPLICE_STATIC:-}" ] || { echo "$MCPSPLICE_STATIC"; return; }
	say "skipping the static mcpsplice: set MCPSPLICE_STATIC to its path"
}

# Prints the version that tests/interop uses; the same one is measured here.
version_of() { # PACKAGE
	sed -n "s/.*\"$1\": \"\(.*\)\".*/\1/p" "$top/tests/interop/package.json"
}

fetch_peers() {
	[ ! -d "$PEERS/node_modules" ] || return 0
	npm install --prefix "$PEERS" --no-audit --no-fund --loglevel=error \
	    "mcp-remote@$(version_of mcp-remote)" "node@$(version_of node)" \
	    "supergateway@$supergateway" >"$work/npm.log" 2>&1 ||
	    say "npm cannot fetch mcp-remote and supergateway"
}

find_peer() { # NAME FILE
	[ ! -f "$PEERS/node_modules/$1/$2" ] || {
		echo "$PEERS/node_modules/$1/$2"
		return
	}
	say "skipping $1: it is not in $PEERS/node_modules"
}

find_node() {
	[ ! -x "$PEERS/node_modules/.bin/node" ] || {
		echo "$PEERS/node_modules/.bin/node"
		return
	}
	command -v node || say "skipping everything that needs Node.js: it is not installed"
}

find_nginx() {
	PATH=$PATH:/usr/sbin command -v nginx ||
	    say "skipping nginx: it is not installed"
}

# nginx runs as one process and only forwards. Its port was free a moment ago.
configure_nginx() { # URL
	server free
	nginx_port=$(port_of "$(cat "$work/free")")
	kill "${pids##* }"
	pids=${pids% *}
	mkdir "$work/nginx"
	cat >"$work/nginx/nginx.conf" <<-END
	daemon off;
	master_process off;
	pid $work/nginx/pid;
	error_log stderr;
	worker_rlimit_nofile 8192;
	events { worker_connections 4096; }
	http {
		access_log off;
		client_body_temp_path $work/nginx/body;
		client_max_body_size 0;
		proxy_temp_path $work/nginx/proxy;
		proxy_buffering off;
		proxy_request_buffering off;
		proxy_http_version 1.1;
		keepalive_requests 1000000;
		upstream server {
			server 127.0.0.1:$(port_of "$1");
			keepalive 1024;
			keepalive_requests 1000000;
		}
		server {
			listen 127.0.0.1:$nginx_port backlog=4096;
			location / {
				proxy_pass http://server;
				proxy_set_header Connection "";
			}
		}
	}
	END
}

far_server() { # NAME OPTION...: writes its URL to the file NAME
	out=$work/$1
	shift
	nsenter --net="$far" "$node" "$here/far.mjs" "$@" 10.77.0.2 \
	    "$work/server.pem" "$work/server.key" >"$out" 2>>"$log" &
	pids="$pids $!"
	line_of "$out" >/dev/null
}

# The relay (link.c) ends when the pipe that it reads orders from is closed.
measure_link() { # RTT CANDIDATE...
	rtt=$1
	shift
	rm -f "$work/orders" "$work/ends" "$work/keeps" "$work/closes"
	mkfifo "$work/orders"
	"$work/link" "$(echo "$rtt" | awk '{ print $1 / 2 }')" \
	    <"$work/orders" >"$work/ends" &
	pids="$pids $!"
	exec 9>"$work/orders"
	ends=$(line_of "$work/ends")
	far=${ends#* }
	# shellcheck disable=SC2086 # an option or nothing
	far_server keeps $http2
	# shellcheck disable=SC2086
	far_server closes $http2 --idle 5
	nsenter --net="${ends% *}" "$work/waits" -u "$(cat "$work/keeps")" \
	    -c "$(cat "$work/closes")" -t "$rtt" -r "$waits" -l "$silence" \
	    -e "$log" "$@" >>"$work/lines" || failed=yes
	exec 9>&-
	stop
}

measure_links() { # CANDIDATE...
	build link link.c
	if ! "$work/link" </dev/null >/dev/null 2>&1; then
		say "skipping the distant server: it needs root and /dev/net/tun"
		[ -n "$all" ] || exit 1
		return 0
	fi
	if [ -z "$node" ] || [ $# -eq 0 ]; then
		say "skipping the distant server: Node.js or a program to measure is missing"
		return 0
	fi
	build waits "waits.c $host" "" -lm
	for rtt in $rtts; do
		measure_link "$rtt" "$@"
	done
}

# The lines that e2e/test_budget.sh reads.
print_instructions() {
	printf '%-12s %12s %12s %14s\n' instructions start "per call" \
	    "system calls"
	awk -F '\t' '
	!($3 in seen) { seen[$3] = 1; name[++n] = $3 }
	{ value[$3, $1] = $4 }
	END {
		for (i = 1; i <= n; i++)
			printf "%-12s %12d %12d %14.1f\n", name[i],
			    value[name[i], "instructions of a start"],
			    value[name[i], "instructions per call"],
			    value[name[i],
			    "system calls per call, 1 in flight"]
	}' "$work/lines"
}

# Prints the machine and the versions with which the figures were measured.
tell_machine() {
	printf '#\t%s\t%s\n' \
	    date "$(date -u +%Y-%m-%d)" \
	    CPU "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
	    cores "$(getconf _NPROCESSORS_ONLN)" \
	    kernel "$(uname -sr)" \
	    libcurl "$(pkg-config --modversion libcurl)" \
	    libevent "$(pkg-config --modversion libevent)" \
	    mcpsplice "$(set -- ${mcpsplice:+$("$mcpsplice" --version)}
		echo "${2:-}" | tr -d ,)" \
	    nginx "$(${nginx:+"$nginx" -v} 2>&1 | sed 's/.*nginx\///')" \
	    Node "$(${node:+"$node" --version})" \
	    mcp-remote "$(package_version mcp-remote)" \
	    supergateway "$(package_version supergateway)"
}

package_version() { # PACKAGE
	[ ! -f "$PEERS/node_modules/$1/package.json" ] ||
	    sed -n 's/^  "version": "\(.*\)".*/\1/p' \
		"$PEERS/node_modules/$1/package.json"
}

[ -n "$instructions" ] || command -v python3 >/dev/null || {
	say "python3 is missing; it prints the table"
	exit 1
}
certificate >"$work/openssl.log" 2>&1 || { cat "$work/openssl.log"; exit 1; }

# npm runs with the caller's environment, which a candidate must not see.
[ -n "$instructions" ] || fetch_peers
export HOME="$work" MCP_REMOTE_CONFIG_DIR="$work/auth"
export SSL_CERT_FILE="$work/bundle.pem" NODE_EXTRA_CA_CERTS="$work/ca.pem"
unset NODE_OPTIONS CURL_CA_BUNDLE SSL_CERT_DIR \
    http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || :

mcpsplice=$(find_mcpsplice)
build pipe pipe.c "libevent_core libcurl"
build server "server.c tools.c pattern.c" "libevent_core openssl"
build drive "drive.c starts.c calls.c heavy.c count.c $host" "" -lm
server http
http=$(cat "$work/http")

if [ -n "$instructions" ]; then
	drive() { "$work/drive" -i -d "$work" -e "$log" -u "$http" "$@"; }
	drive "bare pipe" "$work/pipe" URL \
	    ${mcpsplice:+-- mcpsplice "$mcpsplice" URL} >"$work/lines"
	[ -z "$mcpsplice" ] || drive -m "  2026-07-28" "$mcpsplice" URL \
	    >>"$work/lines"
	print_instructions
	exit
fi

node=$(find_node)
remote=$(find_peer mcp-remote dist/proxy.js)
gateway=$(find_peer supergateway dist/index.js)
[ -n "$node" ] || remote='' gateway=''
nginx=''
[ -z "$all" ] || nginx=$(find_nginx)
tell_machine >"$work/lines"

set --
[ -z "$remote" ] || set -- "$@" -- mcp-remote,third \
    "$node" "$remote" URL --allow-http
[ -z "$gateway" ] || set -- "$@" -- supergateway,third \
    "$node" "$gateway" --streamableHttp URL --logLevel none
if [ -n "$all" ]; then
	server https "$work/server.pem" "$work/server.key"
	build forward "forward.c answer.c lines.c"
	static=$(find_static)
	[ -z "$nginx" ] || configure_nginx "$http"
	"$work/drive" -d "$work" -e "$log" -u "$http" -v "${http%mcp}events" \
	    -t "$(cat "$work/https")" -s "$starts" -r "$turns" -n "$calls" \
	    "direct,http:$(port_of "$http")" \
	    -- forwarder,plain,one "$work/forward" URL \
	    -- pipe "$work/pipe" URL \
	    ${mcpsplice:+-- mcpsplice "$mcpsplice" --max-result 0 URL} \
	    ${static:+-- static "$static" --max-result 0 URL} \
	    ${nginx:+-- "nginx,http:$nginx_port" "$nginx" -e stderr
		-c "$work/nginx/nginx.conf"} \
	    "$@" >>"$work/lines" || failed=yes
	stop
fi
# shellcheck disable=SC2086 # an option or nothing
[ -z "$mcpsplice" ] || set -- mcpsplice "$mcpsplice" URL $http2 "$@"
measure_links "$@"

python3 "$here/report.py" "$work/json" <"$work/lines" | tee "$work/table"
[ -z "$json" ] || cp "$work/json" "$json"
if [ -n "$figures" ]; then
	mkdir -p "$figures"
	cp "$work/table" "$figures/table"
	cp "$work/json" "$figures/figures.json"
	python3 "$here/charts.py" "$work/json" "$figures"
fi
[ -z "$failed" ]
