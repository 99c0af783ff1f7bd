#!/bin/sh
# References lead somewhere: in the comments of the code and in the documents
# each section of doc/protocol.md, each heading of doc/design.md, each file and
# each row of tests/data that is named must be there, and so must each case of a
# test, written as in doc/security.md: the file, a colon, the cases. In a table
# with a column "test" each row has one, or says "not tested". An RFC has a
# number, and nothing refers to papers that are not in the tree. Prints each
# breach; references_test.sh checks that each kind is found.
# usage: references.sh [TREE]
set -eu

cd "${1:-${abs_top_srcdir:?}}"
# only what people write, also where the tree is built in place
set -- $(find src tests contrib doc README NEWS configure.ac Makefile.am \
    \( -name corpus -o -name node_modules -o -name interop-work \
    -o -name '*.dir' -o -name __pycache__ \) -prune -o -type f \( \
    -name '*.[ch1]' -o -name '*.sh' -o -name '*.py' -o -name '*.mjs' \
    -o -name '*.md' -o -name '*.tsv' -o -name '*.txt' -o -name README \
    -o -name NEWS -o -name configure.ac -o -name Makefile.am \
    -o -path 'contrib/*' ! -name '*.*' \) -print | LC_ALL=C sort)
[ $# -gt 0 ] || {
	echo "no file in $(pwd)"
	exit 1
}

export LC_ALL=C
find . \( -name .git -o -name node_modules \) -prune -o -print |
    ${AWK:-awk} '
function breach(at, what,    n)
{
	for (n = n_lines; n > 1 && starts[n] > at; n--)
		;
	printf "%s:%d: %s\n", file, lines[n], what
	breaches++
}

# --- what is there ---

# The sections of doc/protocol.md: "## 4 Event streams", "**4.2 Events.** ...".
function read_sections(    line, found)
{
	while ((getline line < "doc/protocol.md") > 0) {
		if (line !~ /^(#+ |\*\*)[0-9]+(\.[0-9]+)? /)
			continue
		sub(/^[#*]+ */, "", line)
		sub(/ .*/, "", line)
		section[line] = 1
		found = 1
	}
	close("doc/protocol.md")
	if (!found)
		missing("doc/protocol.md has no numbered section")
}

function read_headings(    line, found)
{
	while ((getline line < "doc/design.md") > 0) {
		if (sub(/^#+ +/, "", line)) {
			heading[line] = 1
			found = 1
		}
	}
	close("doc/design.md")
	if (!found)
		missing("doc/design.md has no heading")
}

function missing(what)
{
	print what
	breaches++
}

function read_rows(file,    line)
{
	while ((getline line < file) > 0)
		if (match(line, /^[RN][0-9]+/))
			row[substr(line, 1, RLENGTH)] = 1
	close(file)
}

# Is one of these names such a one, with "*" for any?
function fits(names, pattern,    name)
{
	if (pattern !~ /\*/)
		return pattern in names
	gsub(/\./, "[.]", pattern)
	gsub(/\*/, "[^/]*", pattern)
	for (name in names)
		if (name ~ ("^" pattern "$"))
			return 1
	return 0
}

function is_there(path)
{
	sub(/\/$/, "", path)
	return fits(tree, path) || (path ".c") in tree || (path ".h") in tree
}

# --- what is said ---

# A word that names a file: by its place in the tree, in src or in tests, or
# by its name alone.
function check_file(word, at)
{
	sub(/^(\.\/)+/, "", word)
	# NAME stands for any; two files are made by a build
	if (word ~ /[A-Z][A-Z]/ || word ~ /^\// || word == "config.h" ||
	    word ~ /src\/mcpsplice$/)
		return
	if (word ~ /^(src|tests|doc|contrib|m4|build-aux)\/./) {
		if (!is_there(word))
			breach(at, "there is no " word)
	} else if (word ~ /^(auth|base|core|io|options|proxy|signin|store)\/./) {
		if (!is_there("src/" word) && !is_there("tests/unit/" word))
			breach(at, "there is no " word " in src")
	} else if (word ~ /^(data|e2e|explore|fuzz|interop|lint|play|schedules|unit)\/./) {
		if (!is_there("tests/" word) &&
		    !is_there("tests/play/" word))
			breach(at, "there is no " word " in tests")
	} else if (word ~ /^[a-z][a-z0-9_*-]+\.(c|h|sh|py|mjs|md|tsv)$/ &&
	    !fits(base, word)) {
		breach(at, "there is no file " word)
	}
}

# Marks of papers that are not in the tree, and of rows that may be.
function check_mark(word, at)
{
	if (word ~ /^[ABH][0-9]+(\.[0-9]+)?$/ || word ~ /^T[0-9][0-9]?$/)
		breach(at, "a mark of no paper here: " word)
	else if (word == "auth-security" || word == "protocol.md")
		breach(at, "no paper here: " word)
	else if (word ~ /^[RN][0-9][0-9][0-9]$/ && !(word in row))
		breach(at, "no row of tests/data is " word)
}

function check_words(said,    rest, at, word)
{
	rest = said
	at = 1
	# "<math.h>" and "%C3%A4" are words, too, and mean nothing here
	while (match(rest, /[A-Za-z0-9_.*\/%+<>-]+/)) {
		word = substr(rest, RSTART, RLENGTH)
		at += RSTART - 1
		rest = substr(rest, RSTART + RLENGTH)
		sub(/[.-]+$/, "", word)
		check_mark(word, at)
		# the rows name files of other projects
		if (kind != "tsv")
			check_file(word, at)
		at += RLENGTH
	}
	if (match(said, /session-loss row|\(row [0-9]|findings? [A-Z]?[0-9]/))
		breach(RSTART, "a row or finding of which paper?")
	if (match(said, /\302\247/))
		breach(RSTART, "a section sign: name the section")
}

function check_section(number, at)
{
	if (!(number in section))
		breach(at, "doc/protocol.md has no " number)
}

# "doc/protocol.md 4.2, 4.3 and 6.1"
function check_sections(said,    rest, at)
{
	rest = said
	at = 1
	while (match(rest, /doc\/protocol\.md [0-9]+(\.[0-9]+)?/)) {
		at += RSTART - 1
		check_section(substr(rest, RSTART + 16, RLENGTH - 16), at)
		rest = substr(rest, RSTART + RLENGTH)
		at += RLENGTH
		while (match(rest, /^(,|,? and|,? or| to) [0-9]+\.[0-9]+/)) {
			number = substr(rest, 1, RLENGTH)
			sub(/.* /, "", number)
			check_section(number, at)
			rest = substr(rest, RLENGTH + 1)
			at += RLENGTH
		}
	}
	rest = said
	if (file != "doc/protocol.md")
		return
	# in itself: "(4.2)", "of 4.2"
	at = 1
	while (match(rest, /(\(| of | in | for )[0-9]\.[0-9]+/)) {
		at += RSTART - 1
		number = substr(rest, RSTART, RLENGTH)
		sub(/.*[ (]/, "", number)
		check_section(number, at)
		rest = substr(rest, RSTART + RLENGTH)
		at += RLENGTH
	}
}

# doc/design.md "Eras", "Words"
function check_headings(said,    rest, at, name)
{
	rest = said
	at = 1
	while (match(rest, /doc\/design\.md "[^"]*"/)) {
		at += RSTART - 1
		name = substr(rest, RSTART + 15, RLENGTH - 16)
		rest = substr(rest, RSTART + RLENGTH)
		while (1) {
			if (!(name in heading))
				breach(at, "doc/design.md has no \"" name "\"")
			if (!match(rest, /^(,| and) "[^"]*"/))
				break
			name = substr(rest, 1, RLENGTH - 1)
			sub(/^[^"]*"/, "", name)
			rest = substr(rest, RLENGTH + 1)
		}
		at = length(said) - length(rest) + 1
	}
}

# The cases of a file in tests: "Class.test_name", a START_TEST, a schedule.
function read_cases(path,    line, class)
{
	cases_read[path] = 1
	while ((getline line < ("tests/" path)) > 0) {
		if (line ~ /^class [A-Za-z0-9_]+/) {
			sub(/^class /, "", line)
			sub(/[^A-Za-z0-9_].*/, "", line)
			class = line
		} else if (line ~ /^    def test_[a-z0-9_]+\(/) {
			sub(/^    def /, "", line)
			sub(/\(.*/, "", line)
			test_case[path, class "." line] = 1
		} else if (sub(/^START_TEST\(/, "", line)) {
			sub(/\).*/, "", line)
			test_case[path, line] = 1
		} else if (sub(/^== /, "", line)) {
			sub(/ : .*/, "", line)	# its options
			test_case[path, line] = 1
		}
	}
	close("tests/" path)
}

function check_case(path, name, at)
{
	if (!(path in cases_read))
		read_cases(path)
	if (!((path, name) in test_case))
		breach(at, "tests/" path " has no case " name)
}

# A file in tests in backquotes, a colon, its cases, each in backquotes.
function check_cases(said,    rest, at, path, name)
{
	rest = said
	at = 1
	while (match(rest, /`(e2e|unit|play)\/[^` ]+`: `[^`]+`/)) {
		at += RSTART - 1
		path = name = substr(rest, RSTART + 1, RLENGTH - 2)
		rest = substr(rest, RSTART + RLENGTH)
		sub(/`.*/, "", path)
		sub(/.*`/, "", name)
		check_case(path, name, at)
		while (match(rest, /^(,|,? and) `[^`\/]+`/)) {
			name = substr(rest, 1, RLENGTH - 1)
			sub(/.*`/, "", name)
			check_case(path, name, at)
			rest = substr(rest, RLENGTH + 1)
		}
		at = length(said) - length(rest) + 1
	}
}

# A row of a table whose last column is "test".
function check_proof(said,    n, cells)
{
	if (said !~ /^\|/) {
		in_table = 0
		return
	}
	if (!in_table) {
		in_table = 1
		proved = said ~ /\| test \|$/
		return
	}
	n = split(said, cells, "|")
	if (proved && said !~ /^\|-/ &&
	    cells[n - 1] !~ /`(e2e|unit|play)\/[^` ]+`: `|`(lint|fuzz)\/|not tested/)
		breach(1, "a row without a test")
}

# "RFC 9728": a blank, then three or four digits.
function check_rfc(said,    rest, at, word)
{
	rest = said
	at = 1
	while (match(rest, /(^|[^A-Za-z\/])[Rr][Ff][Cc][- _#]*[0-9]+/)) {
		word = substr(rest, RSTART, RLENGTH)
		at += RSTART - 1
		sub(/^[^Rr]/, "", word)
		if (word !~ /^RFC [1-9][0-9][0-9][0-9]?$/)
			breach(at, "write \"RFC \" and its number: " word)
		rest = substr(rest, RSTART + RLENGTH)
		at += RLENGTH
	}
}

# --- what is a comment ---

function flush()
{
	if (text != "") {
		check_words(text)
		check_sections(text)
		check_headings(text)
		check_rfc(text)
		check_cases(text)
		check_proof(text)
	}
	text = ""
	n_lines = 0
}

# One more line of a comment or of a paragraph.
function add(said)
{
	sub(/^[ \t]*(\*+ |\*$|[#>] )?[ \t]*/, "", said)
	if (text != "")
		text = text " "
	starts[++n_lines] = length(text) + 1
	lines[n_lines] = FNR
	text = text said
}

function c_line(line,    at)
{
	if (line !~ /^[ \t]*\/\// && !in_comment)
		flush()
	while (line != "") {
		if (in_comment) {
			at = index(line, "*/")
			if (at == 0) {
				add(line)
				return
			}
			add(substr(line, 1, at - 1))
			flush()
			line = substr(line, at + 2)
			in_comment = 0
			continue
		}
		at = match(line, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)+\047|\/\*|\/\//)
		if (at == 0)
			return
		if (substr(line, at, 2) == "//") {
			add(substr(line, at + 2))
			return
		}
		in_comment = substr(line, at, 2) == "/*"
		line = substr(line, at + RLENGTH)
	}
}

function hash_line(line)
{
	if (line ~ /^[ \t]*(#|dnl )/) {
		add(line)
		return
	}
	flush()
	if (match(line, /[ \t][ \t]# /)) {
		add(substr(line, RSTART + RLENGTH))
		flush()
	}
}

function python_line(line,    n)
{
	n = gsub(/"""/, "", line)
	if (n == 0 && !in_comment) {
		hash_line(line)
		return
	}
	if (!in_comment)
		flush()
	add(line)
	if (n % 2 == 1)
		in_comment = !in_comment
	if (!in_comment)
		flush()
}

function prose_line(line)
{
	if (line ~ /^[ \t]*$/ || line ~ /^[#|]/ || kind == "tsv")
		flush()
	if (line !~ /^[ \t]*$/)
		add(line)
	else
		in_table = 0
	if (line ~ /^#/)
		flush()
}

# The listing of the tree comes first.
NR == FNR {
	name = $0
	sub(/^\.\//, "", name)
	tree[name] = 1
	sub(/.*\//, "", name)
	base[name] = 1
	next
}

FNR == 1 {
	if (!began++) {
		read_sections()
		read_headings()
		read_rows("tests/data/session-loss.tsv")
		read_rows("tests/data/near-misses.tsv")
	}
	flush()
	in_comment = in_table = 0
	file = kind = FILENAME
	sub(/.*[.\/]/, "", kind)
}

FNR == 1 && /^#!/ {
	next
}

{
	if (kind ~ /^(c|h|mjs)$/)
		c_line($0)
	else if (kind == "py")
		python_line($0)
	else if (kind ~ /^(md|tsv|1|README|NEWS)$/)
		prose_line($0)
	else
		hash_line($0)
}

END {
	flush()
	exit breaches > 0
}
' - "$@"
