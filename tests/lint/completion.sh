#!/bin/sh
# contrib/completion: each shell takes what is made for it, and each option of
# "help all" is in it; bash completes options, values, files and commands.
set -eu

here=$(dirname "$0")
top=${abs_top_srcdir:-${srcdir:-$here/..}/..}
program=${MCPSPLICE:-${abs_top_builddir:-${builddir:-.}}/src/mcpsplice}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fail()
{
	echo "$*"
	failed=1
}

"$program" help all | grep -o -e '--[A-Za-z0-9][A-Za-z0-9-]*' |
    grep -v -e '^--no-NAME$' | sort -u >"$dir/names"
[ -s "$dir/names" ] || fail 'no options found'
for shell in bash zsh fish; do
	sh "$top/contrib/completion" $shell "$top/doc/mcpsplice.1" \
	    >"$dir/$shell" || fail "$shell: not made"
	for name in $(cat "$dir/names"); do
		case $shell in
		fish) name="-l ${name#--}" ;;
		esac
		grep -q -e "$name\\([ ':)]\\|\"\\|\$\\)" "$dir/$shell" ||
		    fail "$shell: no $name"
	done
	if command -v $shell >/dev/null 2>&1; then
		$shell -n "$dir/$shell" || fail "$shell does not take it"
	else
		echo "$shell is not here: its file was not checked by it"
	fi
done
if sh "$top/contrib/completion" bash /dev/null >/dev/null 2>&1; then
	fail 'a manual without options is taken'
fi

# completes LINE WANTED: the last word of LINE; WANTED stands among the answers
completes()
{
	(cd "$dir" && bash -c '. ./bash
	COMP_WORDS=($1) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	case $1 in
	*" ") COMP_WORDS+=("") COMP_CWORD=$((COMP_CWORD + 1)) ;;
	esac
	_mcpsplice mcpsplice "${COMP_WORDS[COMP_CWORD]}" \
	    "${COMP_WORDS[COMP_CWORD - 1]}"
	printf "%s\n" "${COMPREPLY[@]}"' bash "$1") >"$dir/got"
	grep -q -x -e "$2" "$dir/got" || fail "\"$1\" is not completed: $2"
}

if command -v bash >/dev/null 2>&1; then
	: >"$dir/my.json"
	completes 'mcpsplice --ca' --cacert
	completes 'mcpsplice --cacert my' my.json
	completes 'mcpsplice https://a/ --start st' stand-in
	completes 'mcpsplice log' logout
	completes 'mcpsplice wrap ' my.json
	completes 'mcpsplice wrap --wr' --write
	completes 'mcpsplice --bearer-env ' ''
fi
exit $failed
