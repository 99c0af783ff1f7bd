#!/bin/sh
# The layers of src/, as doc/design.md has them: which folder may include and
# call which, in which order the files of a folder may, which library is whose,
# who may read the environment, start a process, touch files, or write to
# stdout. Prints each breach; layers_test.sh checks that each kind is found.
# usage: layers.sh [TREE]
set -eu

cd "${1:-${abs_top_srcdir:?}}"
set -- $(find src -name '*.[ch]' | LC_ALL=C sort)
[ $# -gt 0 ] || {
	echo "no C file in $(pwd)/src"
	exit 1
}

exec ${AWK:-awk} '
function breach(what)
{
	printf "%s:%d: %s\n", FILENAME, FNR, what
	breaches++
}

function breach_at(name, what)
{
	printf "%s:1: %s\n", name, what
	breaches++
}

# The line without comments and without what is in quotes.
function code(line,    out, at)
{
	out = ""
	while (line != "") {
		if (in_comment) {
			at = index(line, "*/")
			if (at == 0)
				return out
			line = substr(line, at + 2)
			in_comment = 0
			continue
		}
		at = match(line, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)+\047|\/\*/)
		if (at == 0)
			return out line
		out = out substr(line, 1, at - 1)
		in_comment = substr(line, at, 2) == "/*"
		if (!in_comment)
			out = out "\"\""
		line = substr(line, at + RLENGTH)
	}
	return out
}

# Does the text contain one of these words, as a whole word?
function uses(line, words)
{
	return line ~ ("(^|[^A-Za-z0-9_])(" words ")([^A-Za-z0-9_]|$)")
}

function calls(line, words)
{
	return line ~ ("(^|[^A-Za-z0-9_.>])(" words ")[ \t]*\\(")
}

# The folder of a file, as a room: "src/main.c" stands in "main". What os has
# for one system is os.
function room_of(name)
{
	if (name == "main.c")
		return "main"
	sub(/^os\/(posix|windows)\//, "os/", name)
	sub(/\/[^\/]*$/, "", name)
	return name
}

function is_below(to)
{
	if (to == "os" && !is_core)
		return 1
	return index(" " below[room] " ", " " to " ") > 0
}

# "core/session/open" of "core/session/open.c"
function part_of(name)
{
	sub(/^os\/(posix|windows)\//, "os/", name)
	sub(/\.[ch]$/, "", name)
	return name
}

# Notes that one file needs another, by an include or a call.
function needs(name, what,    from, to)
{
	from = part_of(file)
	to = part_of(name)
	# the macros of a header may need its own functions
	if (from == to && file ~ /\.h$/)
		return
	edge[file, name] = 1
	if (from == to || !(room in ordered) || room_of(name) != room)
		return
	if (!(from in position))
		lost[from] = FILENAME
	else if (position[to] > position[from])
		breach(what ", which stands above it in the order of " room)
}

function own_header(name,    to)
{
	to = room_of(name)
	if (name == "config.h")
		return
	if (name ~ /\.\./ || name !~ /\// || !(to in below))
		breach("\"" name "\" is not written as \"folder/name.h\"")
	else if (!is_below(to))
		breach(room " may not include " name)
	else if (to != room && (name ~ /state\.h$/ || name ~ of_http ||
	    (to in ordered && !(part_of(name) in is_open))))
		breach("only " to " itself includes " name)
	else
		needs(name, "includes " name)
}

# Each call of a function that another file defines.
function check_calls(line,    name, before)
{
	while (match(line, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
		before = RSTART > 1 ? substr(line, RSTART - 1, 1) : " "
		name = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		sub(/[ \t]*\($/, "", name)
		if (before ~ /[.>]/ || !(name in defined) ||
		    (file, name) in own)
			continue
		if (!is_below(room_of(defined[name])))
			breach(room " may not call " name " of " defined[name])
		else
			needs(defined[name], "calls " name)
	}
}

# The first pass notes who defines what. A definition has its name at the
# begin of a line, and its type on the line before.
function note_definition(line,    name)
{
	if (file ~ /\.c$/ && match(line, /^[a-z_][A-Za-z_0-9]*\(/)) {
		name = substr(line, 1, RLENGTH - 1)
		own[file, name] = 1
		# text.c has what is in the C library of other systems
		if (type !~ /(^| )static( |$)/ && file != "os/windows/text.c")
			defined[name] = file
	}
	type = line
}

# Takes away, again and again, the files that need no other or that no other
# needs. What is left stands in a circle, or between two.
function find_circles(    pair, file, n, left, again, needing, needed)
{
	for (pair in edge) {
		split(pair, n, SUBSEP)
		left[n[1]] = left[n[2]] = 1
	}
	for (again = 1; again;) {
		again = 0
		split("", needing)
		split("", needed)
		for (pair in edge) {
			split(pair, n, SUBSEP)
			if (n[1] in left && n[2] in left)
				needing[n[1]] = needed[n[2]] = 1
		}
		for (file in left)
			if (!(file in needing) || !(file in needed)) {
				delete left[file]
				again = 1
			}
	}
	for (pair in edge) {
		split(pair, n, SUBSEP)
		if (n[1] in left && n[2] in left)
			breach_at("src/" n[1], "stands in a circle with " n[2])
	}
}

# The files of a folder from the bottom up. The first is the header for other
# folders, or all before a "|".
function order_of(room, names,    n, i, last)
{
	ordered[room] = 1
	last = 1
	for (i = split(names, n, " "); i > 0; i--)
		if (n[i] == "|")
			last = i
		else
			position[room "/" n[i]] = i
	for (i = 1; i <= last; i++)
		is_open[room "/" n[i]] = 1
}

function system_header(name)
{
	if (name ~ /^curl\// && file !~ /^io\/(http|url)\.c$/ &&
	    file !~ of_http)
		breach("libcurl belongs to the parts of io/http and to io/url")
	if ((name ~ /^event2\// || name ~ /^(event|evhttp|evutil)\.h$/) &&
	    room != "io")
		breach("libevent belongs to io")
	if (name ~ /^event2\/http/)
		breach("no evhttp in src")
	if (name ~ /^json-c\// && room != "store" && room != "proxy/credentials")
		breach("json-c belongs to store and proxy/credentials")
	if (name ~ /^openssl\// && room !~ /^(store|auth|signin|proxy|proxy\/cache)$/)
		breach("libcrypto belongs to store, auth, signin and proxy")
	if (is_core && name !~ pure && name != "regex.h" &&
	    !(name == "sys/types.h" && file == "core/exchange/verdict.h"))
		breach("core is pure: no <" name ">")
	if (tolower(name) ~ "^(windows|win[a-z0-9]+|ws2tcpip|bcrypt|io|direct)\\.h$" &&
	    file !~ /^os\/windows\//)
		breach("Windows belongs to os/windows")
	if (name ~ "^((unistd|fcntl|poll|dirent|signal|netdb)\\.h$|" \
	    "(sys|netinet|arpa|net|linux)/)" &&
	    file !~ /^os\/((posix|windows)\/|network\.c$)/ &&
	    !(name == "sys/types.h" && file == "core/exchange/verdict.h"))
		breach("systems of this kind belong to os/posix")
	if (room == "base" && name !~ pure &&
	    !(file == "base/log.c" && name == "time.h"))
		breach("base touches no descriptor and no clock: no <" name ">")
}

BEGIN {
	below["os"] = "os"
	below["base"] = "base"
	below["core/wire"] = "core/wire base"
	below["core/era"] = "core/era " below["core/wire"]
	below["core/exchange"] = "core/exchange " below["core/wire"]
	reducer = "core core/era core/exchange core/wire base"
	below["core/session"] = "core/session " reducer
	below["core/modern_client"] = "core/modern_client " reducer
	below["core/server"] = "core/server " reducer
	below["core"] = "core/session core/modern_client core/server " reducer
	below["io"] = "io base"
	below["store"] = "store io " below["core"]
	below["auth"] = "auth " below["store"]
	below["options"] = "options " below["auth"]
	# three programs: what hosts start, what signs in, what a person types
	below["proxy/transport"] = "proxy/transport io " below["core"]
	below["proxy/credentials"] = "proxy/credentials " below["auth"]
	below["proxy/cache"] = "proxy/cache io " below["core"]
	below["proxy"] = "proxy proxy/transport proxy/credentials proxy/cache " \
	    below["options"]
	below["signin"] = "signin " below["options"]
	below["tools"] = "tools signin proxy proxy/transport proxy/cache " \
	    below["options"]
	below["main"] = below["tools"]
	order_of("core/session", "session pages call_table tools state parts " \
	    "question_table settings actions to_client phase attempt own_request delete " \
	    "order held call one_way question_answers listen renew end " \
	    "mirrored replay own_ping witness sign_in waits early_start lists live open " \
	    "judge cancel from_client malformed from_server exchange_end due invariants step")
	order_of("core/modern_client", "client state parts actions table opening " \
	    "listen send input_required request opened become_legacy " \
	    "from_client from_session invariants step")
	order_of("core/server", "server state parts actions attempt belief order " \
	    "subscription resources listen input_required modern sse2024 " \
	    "detect sse2024_in invariants step")
	order_of("signin", "browser callback fetch discovery client_messages id_token " \
	    "login | state wait locks find_issuer scopes token assertion_grant pending ask_user device client " \
	    "steps turn issuer_guard renew flow two_logins account process")
	# what follows it is inside of it
	is_open["signin/two_logins"] = is_open["signin/account"] = 1
	# the parts of io/http, which other rooms use by io/http.h alone
	of_http = "^io/(http_[a-z_]+|authorities|connections|cookies)\\.[ch]$"
	pure = "^(assert|ctype|errno|inttypes|limits|math|stdarg|stdbool|" \
	    "stddef|stdint|stdio|stdlib|string|strings)\\.h$"
}

FNR == 1 {
	in_comment = 0
	type = ""
	if (FILENAME == ARGV[1])
		pass++
	file = FILENAME
	sub(/^src\//, "", file)
	room = room_of(file)
	is_core = room ~ /^core/
	if (!(room in below))
		breach("no such layer: " room)
}

pass == 1 {
	note_definition(code($0))
	next
}

!in_comment && /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	name = $0
	sub(/^[^<"]*[<"]/, "", name)
	sub(/[>"].*/, "", name)
	if ($0 ~ /include[ \t]*"/)
		own_header(name)
	else
		system_header(name)
	next
}

{
	line = code($0)
	# a definition and a prototype begin their line, a call does not
	if (line ~ /^\t/)
		check_calls(line)
	# to find what we have not is what io/ancestor_environment is for
	if (file == "io/ancestor_environment.c")
		gsub(/getenv/, "", line)
	if (room !~ /^(os|main|options|tools)$/ && file != "proxy/proxy.c" &&
	    file != "signin/account.c" && uses(line,
	    "getenv|secure_getenv|setenv|unsetenv|putenv|clearenv|environ"))
		breach("the environment belongs to options and tools")
	if (room != "os" && calls(line,
	    "fork|vfork|exec[lv]p?e?|fexecve|execvpe|posix_spawnp?"))
		breach("processes are started by os")
	# what changes folders, and what locks
	if (room != "os" && calls(line,
	    "openat|creat|mkdir|mkdirat|rmdir|mkdtemp|mkstemp|mkostemp|" \
	    "rename|renameat|remove|unlink|unlinkat|link|linkat|symlink|" \
	    "symlinkat|flock|lockf|truncate|ftruncate|fsync|fdatasync|" \
	    "fdopendir|chmod|fchmod|fchmodat|chown|fchown|umask"))
		breach("files and folders belong to os")
	if (room !~ /^(os|io)$/ && file != "main.c" &&
	    calls(line, "open|fopen|freopen|opendir|scandir"))
		breach("files are opened by os/file.h")
	if (room !~ /^(os|io|main)$/ && calls(line, "stat|fstat|lstat|" \
	    "fstatat|access|realpath|geteuid|getegid"))
		breach("what a file is belongs to os/file.h")
	if (calls(line, "system|popen"))
		breach("nothing is given to a shell")
	# the proxy hands the descriptor to io/pipes
	if (room == "proxy")
		sub(/pipes_new[ \t]*\(.*OS_STDOUT/, "", line)
	# a tool speaks to the user, a login process to its proxy
	if (file != "main.c" && room !~ /^(os|tools)$/ &&
	    file != "signin/process.c") {
		if (uses(line, "stdout|STDOUT_FILENO|OS_STDOUT") ||
		    calls(line, "printf|vprintf|puts|putchar") ||
		    line ~ /(^|[^A-Za-z0-9_])d?(write|printf|writev)[ \t]*\([ \t]*1[ \t]*,/)
			breach("stdout is the wire: io/pipes.c alone writes it")
	}
	if (calls(line, "strcpy|strcat|sprintf|vsprintf|gets|ato[ilf]|atoll|" \
	    "alloca|strtok|tmpnam|tempnam|mktemp|signal"))
		breach("a function that is not used here")
	# expressions that are compiled once never change
	if (is_core && file != "core/exchange/loss_phrases.c" &&
	    line ~ /^[ \t]*static[ \t][^(]*[;=]/ && line !~ /const/)
		breach("core keeps no state of its own")
}

END {
	for (part in lost)
		breach_at(lost[part], "has no place in the order of its folder")
	find_circles()
	exit breaches > 0
}
' "$@" "$@"
