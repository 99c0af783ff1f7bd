#!/bin/sh
# contrib/auth-store-libsecret against a secret-tool of our own, which has the
# faults of the real one: it cuts at 8 KiB and calls that success, and fails
# when there is nothing to look up or to clear.
set -eu

helper=${abs_top_srcdir:?}/contrib/auth-store-libsecret
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export DIR="$dir"
mkdir "$dir/bin" "$dir/ring"
PATH=$dir/bin:$PATH

# An entry is a file: its name is the attributes, each as ",NAME=VALUE".
cat >"$dir/bin/secret-tool" <<'TOOL'
#!/bin/sh
[ -d "$DIR/ring" ] || exit 1
echo "$*" >>"$DIR/argv"
verb=$1
shift
case ${1-} in --label=*) shift ;; esac
file=$DIR/ring/
wanted=
while [ $# -gt 0 ]; do
	file=$file,$1=$2
	wanted="$wanted,$1=$2 "
	shift 2
done
status=1
case $verb in
store) exec head -c 8192 >"$file," ;;
search) exit 0 ;;
esac
for file in "$DIR"/ring/*; do
	[ -f "$file" ] || continue
	for attribute in $wanted; do
		case $file in *"${attribute% }",*) ;; *) continue 2 ;; esac
	done
	status=0
	case $verb in
	lookup)
		cat "$file"
		break
		;;
	clear) rm "$file" ;;
	esac
done
exit $status
TOOL
chmod +x "$dir/bin/secret-tool"

status=0
fail() {
	echo "FAIL: $*"
	status=1
}

request() {
	printf 'name=%s\nnew=1\nurl=https://a.example/x\n\n' "$1"
}

A=a.example-0123456789abcdef
B=b.example-0123456789abcdef

# is the document of $1 the content of the file $2?
expect() {
	request "$1" | "$helper" get >"$dir/have" || fail "get $1: $?"
	cmp -s "$dir/have" "$2" || fail "get $1: not what was stored"
}

: >"$dir/empty"
# shellcheck disable=SC2016  # it must not be expanded
printf '{"x":"CANARY\\n\\\\ \303\251 $(id) %%s"}' >"$dir/small"
# around the size of a part, and the largest
for size in 1 5999 6000 6001 12000 262144; do
	head -c "$size" /dev/zero | tr '\0' x >"$dir/doc$size"
done

expect $A "$dir/empty"
# what the helper of 0.1.0 has put into a keyring
ring=$dir/ring/,service=mcpsplice,name=$A
printf '1795461754-17 2' >"$ring,part=index,"
printf '{"version"' >"$ring,set=1795461754-17,part=0,"
printf ':1}' >"$ring,set=1795461754-17,part=1,"
printf '{"version":1}' >"$dir/former"
expect $A "$dir/former"
for doc in "$dir/small" "$dir"/doc* "$dir/small"; do
	{ request $A && cat "$doc"; } | "$helper" store ||
		fail "store $doc: $?"
	expect $A "$doc"
done
[ "$(find "$dir/ring" -type f | wc -l)" -eq 2 ] || fail 'old parts stay'
expect $B "$dir/empty"
{ request $B && cat "$dir/doc6001"; } | "$helper" store || fail 'store B'
expect $A "$dir/small"
request $A | "$helper" erase || fail "erase: $?"
expect $A "$dir/empty"
expect $B "$dir/doc6001"
request $A | "$helper" erase || fail "erase again: $?"

grep -q CANARY "$dir/argv" && fail 'a secret in arguments'
[ -s "$dir/argv" ] || fail 'nothing was asked'

for bad in '' '../x' 'a b' '-x;id'; do
	request "$bad" | "$helper" erase 2>/dev/null &&
		fail "the name '$bad' passes"
done
request $A | "$helper" list 2>/dev/null && fail 'a strange verb passes'
request $A | "$helper" 2>/dev/null && fail 'no verb passes'

# a part is gone: no half of a document
rm "$dir"/ring/*part=1,
request $B | "$helper" get >"$dir/have" 2>/dev/null &&
	fail 'half a document passes'

# no keyring
rm -rf "$dir/ring"
for verb in get store erase; do
	{ request $A && cat "$dir/small"; } | "$helper" $verb 2>/dev/null &&
		fail "$verb passes without a keyring"
done
exit $status
