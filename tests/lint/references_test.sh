#!/bin/sh
# references.sh finds each kind of reference that leads nowhere, and none in a
# tree where all lead somewhere.
set -eu

lint=$(cd "${0%/*}" && pwd)/references.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# A tree in which all is well, also what only looks like a breach.
fresh()
{
	rm -rf "$dir/tree"
	for folder in src/core/wire src/io tests/unit/core/wire tests/play/schedules \
	    tests/data tests/e2e tests/lint doc contrib; do
		mkdir -p "$dir/tree/$folder"
	done
	cd "$dir/tree"
	touch src/core/wire/json.c src/core/wire/json.h src/main.c \
	    tests/check_json.c tests/unit/core/wire/check_msg.c \
	    tests/play/schedules/a.txt tests/e2e/test_x.py tests/lint/a.sh \
	    README NEWS \
	    configure.ac Makefile.am
	printf 'id\tnote\nR009\tsrc/server/x.ts, RFC 6750\n' \
	    >tests/data/session-loss.tsv
	printf 'id\tnote\nN001\tas R009\n' >tests/data/near-misses.tsv
	cat >doc/protocol.md <<-'END'
	# The protocol
	## 1 Transports
	**1.1 HTTP.** A POST (1.2), as in JSON-RPC 2.0. (`core/wire/json`)

	**1.2 Events.** As of 1.1.
	END
	cat >doc/design.md <<-'END'
	# The design
	## Layers and rooms
	`tests/check_*.c` and `tests/check_ROOM.c`; doc/protocol.md.
	make check-one T=core/wire/check_msg; schedules/a.txt.
	END
	cat >src/io/http.c <<-'END'
	/*
	 * See doc/protocol.md 1.1, 1.2 and 1, doc/design.md "Layers
	 * and rooms", "The design", core/wire/json, core/wire/json.c, src/io,
	 * tests/check_json.c, data/near-misses.tsv, j*n.h, json.h, R009 and RFC
	 * 9728 section 3.3, the RFC's words and <math.h>; %C3%A4 and tools/call.
	 */
	static const char *url = "https://a.test/H9"; /* RFC 1918, 4193 */
	static const char *text = "A1.22 in doc/protocol.md 9.9";
	// nothing but C0 and C1
	END
	cat >tests/e2e/test_x.py <<-'END'
	#!/usr/bin/env python3
	"""All of doc/protocol.md 1.1,
	and RFC 7591."""
	NAME = "H9"  # as in R009
	class Case(Base):
	    def test_one(self):
	class Other:
	    def test_two(self):
	END
	echo 'START_TEST(one)' >tests/unit/core/wire/check_msg.c
	echo '== a schedule' >tests/play/schedules/a.txt
	cat >doc/security.md <<-'END'
	`e2e/test_x.py`: `Case.test_one`, `Other.test_two`;
	`unit/core/wire/check_msg.c`: `one` and `play/schedules/a.txt`: `a
	schedule`.

	| promise | test |
	|---|---|
	| a | `e2e/test_x.py`: `Case.test_one` |
	| b | not tested |

	| file | mode |
	|---|---|
	| a | 0600 |
	END
	echo '# made by main.c, which becomes src/mcpsplice' >Makefile.am
}

# breach FILE LINE: with LINE added to FILE the check must fail there
breach()
{
	fresh
	printf '%s\n' "$2" >>"$1"
	if sh "$lint" "$dir/tree" >"$dir/out" 2>&1; then
		echo "FAIL: not found: $2 in $1"
		failed=1
	elif ! grep -q "^$1:$(($(wc -l <"$1") - ${3:-0})): " "$dir/out"; then
		echo "FAIL: not told: $2 in $1"
		cat "$dir/out"
		failed=1
	elif grep -v "^$1:" "$dir/out"; then
		echo "FAIL: more was told than $2 in $1"
		failed=1
	fi
}

# none FILE LINE: with LINE added to FILE all is well
none()
{
	fresh
	printf '%s\n' "$2" >>"$1"
	if ! sh "$lint" "$dir/tree"; then
		echo "FAIL: refused: $2 in $1"
		failed=1
	fi
}

fresh
if ! sh "$lint" "$dir/tree"; then
	echo 'FAIL: a good tree is refused'
	failed=1
fi

# sections of doc/protocol.md
breach src/io/http.c '/* doc/protocol.md 1.3 */'
breach src/io/http.c '/* doc/protocol.md 2 */'
breach src/io/http.c '/* doc/protocol.md 1.1, 1.3 */'
breach src/io/http.c '/* doc/protocol.md 1.1 to 1.3 */'
breach src/io/http.c '/* doc/protocol.md
 * 1.3 */' 1
breach src/io/http.c '// doc/protocol.md 1.3'
breach tests/e2e/test_x.py '# doc/protocol.md 1.3'
breach tests/e2e/test_x.py '"""As doc/protocol.md 1.3 says."""'
breach tests/e2e/test_x.py 'x = 1  # doc/protocol.md 1.3'
breach doc/design.md 'As doc/protocol.md 1.3 says.'
breach doc/protocol.md 'More (1.3).'
breach doc/protocol.md 'The end of 1.3 is near.'
none doc/design.md 'See doc/protocol.md, 1.3 times.'

# headings of doc/design.md
breach src/io/http.c '/* doc/design.md "Words" */'
breach src/io/http.c '/* doc/design.md "Layers and rooms", "Words" */'
breach README 'doc/design.md "Layers"'

# files
breach src/io/http.c '/* core/wire/msg */'
breach src/io/http.c '/* core/wire/json.cc */'
breach src/io/http.c '/* src/core/wire/msg.c */'
breach src/io/http.c '/* tests/check_msg.c */'
breach src/io/http.c '/* tests/check_m*.c */'
breach src/io/http.c '/* data/losses.tsv */'
breach src/io/http.c '/* see msg.h */'
breach src/io/http.c '/* the other msg_*.c */'
breach src/io/http.c 'int x; /* a first line,
	* then msg.h */'
breach doc/design.md '- `io/loop`: timers'
breach doc/design.md 'make check-one T=core/wire/check_sse'
breach doc/design.md 'in schedules/loss.txt'
breach NEWS 'doc/people.md'
breach configure.ac '# contrib/check'
breach configure.ac 'dnl contrib/check'

# cases of tests, and rows without one
breach doc/security.md '`e2e/test_x.py`: `Case.test_two`'
breach doc/security.md '`e2e/test_x.py`: `test_one`'
breach doc/security.md '`e2e/test_x.py`: `Case.test_one`, `Case.test_no`'
breach doc/security.md '`unit/core/wire/check_msg.c`: `on`'
breach doc/security.md '`play/schedules/a.txt`: `schedule`'
breach doc/security.md '| promise | test |
|---|---|
| c | `e2e/test_x.py`: `Case.test_three` |'
breach doc/security.md '## More

| promise | test |
|---|---|
| c | tested |'
none doc/security.md '## More

| promise | test |
|---|---|
| c | `lint/a.sh`, but what it says is "tested" |'

# papers that are not in the tree
breach src/io/http.c '/* as it must be (A1.22) */'
breach src/io/http.c '/* B1.16 */'
breach src/io/http.c '/* H9, and more */'
breach src/io/http.c '/* A2 to A8 */'
breach src/io/http.c '/* not a lost session (T31) */'
breach src/io/http.c '/* protocol.md 1.1 */'
breach src/io/http.c '/* auth-security, all of it */'
breach src/io/http.c '/* session-loss row 14 */'
breach tests/e2e/test_x.py '# 401 for a session (row 14)'
breach src/io/http.c '/* finding F3 */'
breach src/io/http.c '/* as in § 8 */'
breach src/io/http.c '/* R010 */'
breach tests/data/near-misses.tsv 'N002	as R010'
none src/io/http.c 'x = A1.22; y = "H9"; printf("finding F3");'

# numbers of RFCs
breach src/io/http.c '/* RFC9728 */'
breach src/io/http.c '/* RFC-9728 */'
breach src/io/http.c '/* rfc 9728 */'
breach src/io/http.c '/* RFC 97 */'
breach src/io/http.c '/* RFC 97281 */'
none README 'https://www.rfc-editor.org/rfc/rfc9728'

# the documents must be there, also where nothing refers to them
fresh
rm src/io/http.c tests/e2e/test_x.py doc/security.md
echo '# The design' >doc/design.md
refused_without()
{
	if sh "$lint" "$dir/tree" >/dev/null 2>&1; then
		echo "FAIL: a tree without $1 passes"
		failed=1
	fi
}
if ! sh "$lint" "$dir/tree"; then
	echo 'FAIL: a small tree is refused'
	failed=1
fi
: >doc/design.md
refused_without 'a heading in doc/design.md'
echo '# The design' >doc/design.md
rm doc/protocol.md
refused_without 'doc/protocol.md'

exit $failed
