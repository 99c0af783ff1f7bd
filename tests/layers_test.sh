#!/bin/sh
# layers.sh finds each kind of breach, and nothing where none is.
set -eu

: "${abs_srcdir:?}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# A tree in which all is well, also what only looks like a breach.
fresh()
{
	rm -rf "$dir/src"
	for room in base wire io upstream auth app; do
		mkdir -p "$dir/src/$room"
	done
	cat >"$dir/src/base/mem.c" <<-'END'
	/* printf("to stdout"); getenv("X"); #include "app/options.h"
	 * #include <curl/curl.h>
	#include <curl/curl.h>
	 */
	#include "config.h"
	#include "base/mem.h"
	#include <string.h>
	static const char *text = "call system() and getenv(\"PATH\") /* ";
	END
	cat >"$dir/src/wire/json.c" <<-'END'
	#include "base/mem.h"
	#include "wire/json.h"
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
	echo '#include <curl/curl.h>' >"$dir/src/io/http.c"
	echo '#include <event2/event.h>' >"$dir/src/io/loop.c"
	echo 'x = write(1, "a", 1); fflush(stdout);' >"$dir/src/io/pipes.c"
	echo '#include "io/http.h"' >"$dir/src/upstream/streamable.c"
	echo '#include "wire/sse.h"' >>"$dir/src/upstream/streamable.c"
	echo '#include <json-c/json.h>' >"$dir/src/auth/oauth.c"
	echo '#include <openssl/evp.h>' >"$dir/src/app/profile.c"
	echo 'x = flock(fd, 1); y = openat(dir, n, 0);' >"$dir/src/io/file.c"
	echo 'x = rename(a, b); y = open(a, 0);' >"$dir/src/base/log.c"
	echo 'x = open(a, 0); fclose(f); file_open(a);' \
	    >"$dir/src/app/option_file.c"
	echo 'fputs(help, stdout);' >"$dir/src/app/main.c"
	echo 'x = getenv("HOME");' >"$dir/src/app/options.c"
	echo '#include "upstream/streamable.h"' >"$dir/src/app/proxy.c"
	echo 'p = pipes_new(l, STDIN_FILENO, STDOUT_FILENO, x);' \
	    >>"$dir/src/app/proxy.c"
}

# breach FILE LINE: with LINE added to src/FILE the check must fail there
breach()
{
	fresh
	mkdir -p "$dir/src/${1%/*}"
	printf '%s\n' "$2" >>"$dir/src/$1"
	if sh "$abs_srcdir/layers.sh" "$dir" >"$dir/out" 2>&1; then
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
if ! sh "$abs_srcdir/layers.sh" "$dir"; then
	echo 'FAIL: a good tree is refused'
	failed=1
fi

# arrows that point up or sideways
breach base/log.c '#include "wire/json.h"'
breach base/log.h '#include "io/loop.h"'
breach wire/msg.c '#include "io/loop.h"'
breach wire/msg.h '#include "upstream/streamable.h"'
breach io/url.c '#include "wire/verdict.h"'
breach io/url.c '#  include "auth/static.h"'
breach upstream/listen.c '#include "auth/static.h"'
breach auth/static.c '#include "upstream/streamable.h"'
breach auth/static.c '#include "app/options.h"'
breach wire/json.c '#include "json.h"'
breach wire/json.c '#include "../io/loop.h"'
breach other/x.c '#include "base/mem.h"'

# libraries out of their rooms
breach io/loop.c '#include <curl/curl.h>'
breach upstream/listen.c '#include <curl/curl.h>'
breach app/proxy.c '#include <event2/event.h>'
breach upstream/listen.c '#include <event.h>'
breach io/listener.c '#include <event2/http.h>'
breach wire/json.c '#include <json-c/json.h>'
breach io/file.c '#include <json-c/json.h>'
breach io/file.c '#include <openssl/evp.h>'
breach upstream/listen.c '#include <openssl/evp.h>'

# descriptors, clocks and state where none are
breach wire/sse.c '#include <unistd.h>'
breach wire/sse.c '#include <time.h>'
breach base/codec.c '#include <sys/socket.h>'
breach wire/sse.c 'static int count;'
breach wire/sse.c '	static struct span last = { 0 };'

# the environment
breach base/log.c 'if (getenv("DEBUG") != NULL)'
breach io/http.c '	setenv("X", "", 1);'
breach auth/static.c 'extern char **environ;'

# processes
breach io/loop.c '	pid = fork();'
breach auth/browser.c '	execvp(argv[0], argv);'
breach auth/browser.c '	posix_spawn(&pid, path);'
breach app/proxy.c '	system("true");'
breach io/child.c '	f = popen(s, "r");'

# files
breach app/memory.c '	rc = renameat(dir, from, dir, to);'
breach auth/store.c '	flock(fd, LOCK_EX);'
breach io/http.c '	unlink(path);'
breach app/memory.c '	fd = open(path, O_RDONLY);'
breach upstream/listen.c '	d = opendir("/tmp");'

# stdout
breach wire/msg.c '	printf("x");'
breach app/options.c '	puts("x");'
breach app/options.c '	fprintf(stdout, "x");'
breach app/proxy.c '	write(STDOUT_FILENO, "x", 1);'
breach io/loop.c '	write(1, "x", 1);'
breach io/loop.c '	dprintf(1, "x");'
breach io/loop.c '/* a comment */ puts("x"); /* another'

# functions nobody uses here
breach base/codec.c '	strcpy(a, b);'
breach app/options.c '	n = atoi(s);'
breach app/options.c '	p = alloca(3);'

# a tree without files is no good tree
rm -rf "$dir/src"
mkdir "$dir/src"
if sh "$abs_srcdir/layers.sh" "$dir" >/dev/null 2>&1; then
	echo 'FAIL: an empty tree passes'
	failed=1
fi
fresh
echo 'int x;' >"$dir/src/stray.c"
if sh "$abs_srcdir/layers.sh" "$dir" >/dev/null 2>&1; then
	echo 'FAIL: a file above the folders passes'
	failed=1
fi

exit $failed
