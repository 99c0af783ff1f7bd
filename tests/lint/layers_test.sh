#!/bin/sh
# layers.sh finds each kind of breach, and nothing where none is.
set -eu

: "${abs_srcdir:?}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# A tree without a breach, but with code that looks like one.
fresh()
{
	rm -rf "$dir/src"
	for room in base core/wire core/session core/modern_client io store auth \
	    options proxy proxy/transport proxy/cache signin os/posix; do
		mkdir -p "$dir/src/$room"
	done
	cat >"$dir/src/base/mem.c" <<-'END'
	/* printf("to stdout"); getenv("X"); #include "proxy/options.h"
	 * #include <curl/curl.h>
	#include <curl/curl.h>
	 */
	#include "config.h"
	#include "base/mem.h"
	#include <string.h>
	static const char *text = "call system() and getenv(\"PATH\") /* ";
	END
	cat >"$dir/src/core/wire/json.c" <<-'END'
	#include "base/mem.h"
	#include "core/wire/json.h"
	#include <stdbool.h>
	static const char names[] = "x";
	static void step(int x);
	static int
	hex(char c)
	{
		static const int n = '"';	/* don't: "stdout */
		snprintf(p, n, "%d", c);
		fprintf(stderr, "x");
	}
	END
	echo '#include <curl/curl.h>' >"$dir/src/io/http_state.h"
	echo '#include <event2/event.h>' >"$dir/src/io/loop.c"
	echo 'x = write(1, "a", 1); fflush(stdout);' >"$dir/src/os/posix/stream.c"
	echo '#include "io/http.h"' >"$dir/src/proxy/transport/streamable.c"
	echo '#include "core/wire/sse.h"' >>"$dir/src/proxy/transport/streamable.c"
	echo '#include <json-c/json.h>' >"$dir/src/store/record.c"
	echo '#include <openssl/evp.h>' >"$dir/src/proxy/cache/profile.c"
	cat >"$dir/src/core/session/actions.c" <<-'END'
	#include "core/session/parts.h"
	#include "core/session/state.h"
	void
	session_send(struct session *s)
	{
		own(s);
		s->step(s);
	}
	END
	cat >"$dir/src/core/session/step.c" <<-'END'
	#include "core/session/parts.h"
	static void
	own(struct session *s)
	{
		session_send(s);
	}
	void
	session_step(struct session *s)
	{
		own(s);
	}
	END
	echo 'void session_send(struct session *s);' \
	    >"$dir/src/core/session/parts.h"
	echo 'x = flock(fd, 1); y = openat(dir, n, 0);' \
	    >"$dir/src/os/posix/file.c"
	echo '#include <sys/stat.h>' >>"$dir/src/os/posix/file.c"
	echo 'fclose(f); file_open(a); os_file_open(a);' \
	    >"$dir/src/options/options.c"
	echo 'fputs(help, stdout);' >"$dir/src/main.c"
	echo 'x = getenv("HOME");' >>"$dir/src/options/options.c"
	echo '#include "proxy/transport/streamable.h"' >"$dir/src/proxy/proxy.c"
	echo 'p = pipes_new(l, OS_STDIN, OS_STDOUT, x);' \
	    >>"$dir/src/proxy/proxy.c"
}

# breach FILE LINE: with LINE added to src/FILE the check must fail there
breach()
{
	fresh
	mkdir -p "$dir/src/${1%/*}"
	printf '%s\n' "$2" >>"$dir/src/$1"
	if sh "$abs_srcdir/lint/layers.sh" "$dir" >"$dir/out" 2>&1; then
		echo "FAIL: not found: $2 in $1"
		failed=1
	elif [ "$(grep -c "^src/$1:$(wc -l <"$dir/src/$1"): " "$dir/out")" \
	    -lt 1 ]; then
		echo "FAIL: not told: $2 in $1"
		cat "$dir/out"
		failed=1
	elif grep -v "^src/$1:" "$dir/out"; then
		echo "FAIL: more was told than $2 in $1"
		failed=1
	fi
}

fresh
if ! sh "$abs_srcdir/lint/layers.sh" "$dir"; then
	echo 'FAIL: a good tree is refused'
	failed=1
fi

# arrows that point up or sideways
breach base/log.c '#include "core/wire/json.h"'
breach base/log.h '#include "io/loop.h"'
breach core/wire/msg.c '#include "io/loop.h"'
breach core/wire/msg.h '#include "proxy/transport/streamable.h"'
breach core/wire/msg.c '#include "core/era/era.h"'
breach core/era/era.c '#include "core/exchange/verdict.h"'
breach core/exchange/verdict.c '#include "core/era/era.h"'
breach core/modern_client/listen.c '#include "core/session/session.h"'
breach core/session/step.c '#include "core/server/server.h"'
breach core/chain.c '#include "core/session/state.h"'
breach core/chain.c '#include "core/server/state.h"'
breach core/chain.c '#include "core/session/parts.h"'
breach proxy/proxy.c '#include "signin/state.h"'
breach io/url.c '#include "core/exchange/verdict.h"'
breach io/url.c '#  include "auth/given_headers.h"'
breach proxy/transport/listen.c '#include "auth/given_headers.h"'
breach auth/given_headers.c '#include "proxy/transport/streamable.h"'
breach store/record.c '#include "signin/login.h"'
breach signin/browser.c '#include "proxy/credentials/authorize.h"'
breach proxy/proxy.c '#include "signin/login.h"'
breach signin/browser.c '#include "proxy/transport/streamable.h"'
breach signin/browser.c '#include "signin/token.h"'
breach auth/given_headers.c '#include "signin/token.h"'
breach auth/given_headers.c '#include "options/options.h"'
breach proxy/cache/profile.c '#include "options/options.h"'
breach proxy/cache/profile.c '#include "store/record.h"'
breach proxy/proxy.h '#include "main.h"'
breach core/wire/json.c '#include "json.h"'
breach core/wire/json.c '#include "../io/loop.h"'
breach other/x.c '#include "base/mem.h"'

# the order inside a folder
breach core/session/actions.c '#include "core/session/step.h"'
breach core/session/actions.c '	session_step(s);'
breach core/session/actions.c '	if (session_step (s))'
breach core/session/other.c '#include "core/session/parts.h"'
breach core/session/other.c '	session_send(s);'

# the parts of io/http
breach proxy/transport/streamable.c '#include "io/connections.h"'
breach options/from_options.c '#include "io/http_state.h"'
breach io/http.h '#include <curl/curl.h>'

# calls that no include shows
breach core/modern_client/listen.c '	session_step(s);'
breach base/codec.c '	session_send(s);'
breach io/loop.c '	x = session_send(s);'

# libraries out of their rooms
breach io/loop.c '#include <curl/curl.h>'
breach proxy/transport/listen.c '#include <curl/curl.h>'
breach proxy/proxy.c '#include <event2/event.h>'
breach proxy/transport/listen.c '#include <event.h>'
breach io/listener.c '#include <event2/http.h>'
breach core/wire/json.c '#include <json-c/json.h>'
breach io/private_file.c '#include <json-c/json.h>'
breach io/private_file.c '#include <openssl/evp.h>'
breach proxy/transport/listen.c '#include <openssl/evp.h>'

# descriptors, clocks and state where none are
breach core/wire/sse.c '#include <unistd.h>'
breach core/wire/sse.c '#include <time.h>'
breach base/codec.c '#include <sys/socket.h>'
breach core/wire/sse.c 'static int count;'
breach core/wire/sse.c '	static struct span last = { 0 };'

# the environment
breach base/log.c 'if (getenv("DEBUG") != NULL)'
breach io/http.c '	setenv("X", "", 1);'
breach auth/given_headers.c 'extern char **environ;'
breach io/ancestor_environment.c '	setenv("X", "", 1);'

# processes
breach proxy/proxy.c '#include "tools/wrap.h"'
breach tools/wrap.c '	rename(a, b);'
breach io/private_file.c '	rc = flock(fd, LOCK_EX);'
breach base/append.c '	rename(a, b);'
breach base/append.c '#include <fcntl.h>'
breach io/private_file.c '#include <sys/stat.h>'
breach store/import.c '#include <dirent.h>'
breach io/listener.c '#include <netinet/in.h>'
breach tools/proxy_child.c '#include <signal.h>'
breach options/config_file.c '	rc = fstat(fd, &st);'
breach tools/wrap.c '	real = realpath(path, NULL);'
breach tools/wrap.c '	fd = open(a, O_RDONLY);'
breach io/loop.c '	pid = fork();'
breach signin/browser.c '	execvp(argv[0], argv);'
breach signin/browser.c '	posix_spawn(&pid, path);'
breach proxy/proxy.c '	system("true");'
breach io/child.c '	f = popen(s, "r");'

# files
breach proxy/cache/startup_cache.c '	rc = renameat(dir, from, dir, to);'
breach store/store.c '	flock(fd, LOCK_EX);'
breach io/http.c '	unlink(path);'
breach proxy/cache/startup_cache.c '	fd = open(path, O_RDONLY);'
breach proxy/transport/listen.c '	d = opendir("/tmp");'

# stdout
breach core/wire/msg.c '	printf("x");'
breach options/options.c '	puts("x");'
breach options/options.c '	fprintf(stdout, "x");'
breach proxy/proxy.c '	write(STDOUT_FILENO, "x", 1);'
breach io/loop.c '	write(1, "x", 1);'
breach io/loop.c '	dprintf(1, "x");'
breach io/loop.c '/* a comment */ puts("x"); /* another'

# functions nobody uses here
breach base/codec.c '	strcpy(a, b);'
breach options/options.c '	n = atoi(s);'
breach options/options.c '	p = alloca(3);'

# a tree without files is no good tree
rm -rf "$dir/src"
mkdir "$dir/src"
if sh "$abs_srcdir/lint/layers.sh" "$dir" >/dev/null 2>&1; then
	echo 'FAIL: an empty tree passes'
	failed=1
fi

# circles, of calls and of headers
fresh
printf 'int\nloop_new(void)\n{\n\treturn url_parse();\n}\n' >"$dir/src/io/loop.c"
printf 'int\nurl_parse(void)\n{\n\treturn loop_new();\n}\n' >"$dir/src/io/url.c"
printf '#include "io/url.h"\n' >"$dir/src/io/loop.h"
printf '#include "io/loop.h"\n' >"$dir/src/io/url.h"
sh "$abs_srcdir/lint/layers.sh" "$dir" >"$dir/out" 2>&1 || :
cat >"$dir/wanted" <<'END'
src/io/loop.c:1: stands in a circle with io/url.c
src/io/loop.h:1: stands in a circle with io/url.h
src/io/url.c:1: stands in a circle with io/loop.c
src/io/url.h:1: stands in a circle with io/loop.h
END
if ! LC_ALL=C sort "$dir/out" | cmp -s - "$dir/wanted"; then
	echo 'FAIL: circles are not told:'
	cat "$dir/out"
	failed=1
fi

exit $failed
