#!/bin/sh
# contrib/release, as far as it can be tried without building: what it refuses,
# the list of sources, the SBOM and the licences.
set -eu

here=$(dirname "$0")
top=$(cd "${abs_top_srcdir:-${srcdir:-$here/..}/..}" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fail()
{
	echo "$*"
	failed=1
}

cd "$top/contrib"
for script in release release.d/build release.d/fetch release.d/notices \
    release.d/programs npm/pack; do
	sh -n "$script" || fail "$script: sh does not take it"
	[ -x "$script" ] || fail "$script cannot be run"
done
for part in darwin libraries linux; do
	sh -n "release.d/$part" || fail "release.d/$part: sh does not take it"
done
for usage in release release.d/programs npm/pack; do
	status=0
	"./$usage" >"$dir/usage" 2>&1 || status=$?
	[ $status -eq 2 ] || fail "$usage without arguments exits $status"
	grep -q VERSION "$dir/usage" || grep -q '^usage: ' "$dir/usage" ||
	    fail "$usage does not say its usage"
done

# What it refuses, in a history of its own.
# refuses WORDS VERSION: with these words, before it makes or installs anything
refuses()
{
	if "$dir/tree/contrib/release" "$2" >"$dir/out" 2>&1; then
		fail "release $2 is not refused: $1"
	fi
	grep -q -e "$1" "$dir/out" || fail "release $2 says: $(cat "$dir/out")"
	[ ! -e "$dir/tree/dist" ] || fail "release $2 makes dist"
}

if command -v git >/dev/null 2>&1; then
	mkdir -p "$dir/tree/contrib"
	cp release "$dir/tree/contrib"
	cp ../NEWS "$dir/tree"
	echo 'AC_INIT([mcpsplice], [7.8.9])' >"$dir/tree/configure.ac"
	(
		export HOME="$dir" GIT_CONFIG_NOSYSTEM=1
		cd "$dir/tree"
		git init -q
		git add .
		git -c user.name=a -c user.email=a@b.invalid commit -q -m a
	)
	refuses 'configure.ac has version 7.8.9, not 7.8.8' 7.8.8
	refuses 'NEWS begins with ".*", not with "7.8.9"' 7.8.9
	(
		export HOME="$dir" GIT_CONFIG_NOSYSTEM=1
		cd "$dir/tree"
		sed -i 3s/.*/7.8.9/ NEWS
		git -c user.name=a -c user.email=a@b.invalid commit -q -a -m b
		echo more >>configure.ac
	)
	refuses '^ M configure.ac' 7.8.9
else
	echo 'git is not here: what contrib/release refuses was not tried'
fi

# Each package has a version, its upstream source, and Debian's description.
awk '
function end() {
	if (name != "" && (orig != 1 || dsc != 1)) {
		print "sources: " name " lacks a file"; bad = 1
	}
}
/^# [a-z0-9-]+ [^ ]+$/ { end(); name = $2; orig = dsc = 0; n++; next }
/^#/ || /^$/ { next }
!/^[0-9a-f]+  [^ ]+$/ || length($1) != 64 { print "sources: " $0; bad = 1 }
/\.orig\.tar\.[a-z]+$/ { orig++ }
/\.dsc$/ { dsc++ }
END { end(); if (n != 8) { print "sources: " n " packages"; bad = 1 }; exit bad }
' release.d/sources || failed=1

# Which pins are old is told by the lists of Debian, played here: the newest of
# the versions counts, not the order of the text.
if command -v dpkg >/dev/null 2>&1; then
	mkdir -p "$dir/old/bin"
	cp release.d/fetch "$dir/old"
	printf '# head\n\n# lib-a 1.9-1\n# lib-b 1:2.0-1\n# lib-c 3-1\n' \
	    >"$dir/old/sources"
	cat >"$dir/old/bin/apt-get" <<'END'
#!/bin/sh
case "$*" in
*indextargets*) [ -z "${NO_MIRROR-}" ] && echo http://mirror.invalid/debian ;;
*update*) [ -z "${NO_NETWORK-}" ] ;;
*) exit 1 ;;
esac
END
	cat >"$dir/old/bin/apt-cache" <<'END'
#!/bin/sh
show()
{
	printf 'Package: %s\nVersion: %s\nDirectory: pool/%s\n\n' "$@"
}
show lib-a 1.10-1 main/l
show lib-a 1.9-1 main/l
show lib-a 1.9-1+deb13u1 updates/main/l
show lib-b 1:2.0-1 main/l
show lib-b 3.0-1 updates/main/l
show lib-c 3-2 main/l
show lib-c 3-1 updates/main/l
END
	chmod +x "$dir"/old/bin/*
	# outdated STATUS NAME=VALUE...
	outdated()
	{
		want=$1 status=0
		shift
		env PATH="$dir/old/bin:$PATH" "$@" "$dir/old/fetch" --outdated \
		    >"$dir/out" 2>"$dir/err" || status=$?
		[ $status -eq "$want" ] ||
		    fail "fetch --outdated exits $status: $(cat "$dir/err")"
	}
	outdated 1 X=
	diff - "$dir/out" <<'END' || fail 'fetch --outdated says something else'
lib-a 1.9-1: Debian has 1.10-1 (security update: 1.9-1+deb13u1)
lib-c 3-1: Debian has 3-2
END
	outdated 77 NO_NETWORK=1
	outdated 77 NO_MIRROR=1
	echo '# lib-b 1:2.0-1' >"$dir/old/sources"
	outdated 0 X=
	[ ! -s "$dir/out" ] || fail "what is new is old: $(cat "$dir/out")"
else
	echo 'dpkg is not here: fetch --outdated was not tried'
fi

# What the build unpacks is pinned, and nothing else is.
sed -n 's/^	unpack \([a-z0-9-]*\)$/\1/p' release.d/libraries release.d/linux |
    sort >"$dir/unpacked"
sed -n '/^$/,$s/^# \([^ ]*\) .*/\1/p' release.d/sources | sort >"$dir/pinned"
[ -s "$dir/unpacked" ] && diff "$dir/unpacked" "$dir/pinned" ||
    fail 'only one of build and sources has these'

mkdir "$dir/new" "$dir/new/deb"
for file in mcpsplice-1.2.3-linux-x86_64 mcpsplice-1.2.3-linux-x86_64.debug \
    mcpsplice-1.2.3.tgz mcpsplice-linux-x64-1.2.3.tgz deb/a.deb \
    mcpsplice-1.2.3-darwin-arm64 mcpsplice-1.2.3-darwin-arm64.tar.gz \
    mcpsplice-1.2.3-py3-none-macosx_11_0_arm64.whl \
    mcpsplice-1.2.3-windows-x86_64.zip; do
	echo "$file" >"$dir/new/$file"
done
export SOURCE_DATE_EPOCH=0
release.d/sbom 1.2.3 release.d/sources "$dir/new" >"$dir/sbom" || fail 'no SBOM'
# a list that is written into its own folder would list itself
grep -q 'sbom" .*>"$new' release && fail 'the SBOM has itself'
python3 - "$dir/sbom" "$dir/new" <<'END' || fail 'the SBOM is wrong'
import hashlib, json, sys
d = json.load(open(sys.argv[1]))
ids = {x["SPDXID"]: x["name"] for x in d["packages"]}
libraries = set(ids.values()) - {"mcpsplice"}
assert libraries == {"curl", "json-c", "libevent", "libgcc", "mimalloc", "musl",
                     "nghttp2", "openssl", "zlib"}, libraries
names = {x["SPDXID"]: x["fileName"] for x in d["files"]}
assert len(names) == 9, names
for f in d["files"]:
    text = open(sys.argv[2] + "/" + f["fileName"], "rb").read()
    assert hashlib.sha256(text).hexdigest() == f["checksums"][1]["checksumValue"]
known = {"SPDXRef-DOCUMENT"} | set(ids) | set(names)
parts = {}
for r in d["relationships"]:
    assert {r["spdxElementId"], r["relatedSpdxElement"]} <= known, r
    parts.setdefault(names.get(r["spdxElementId"]), set()).add(
        (r["relationshipType"], ids.get(r["relatedSpdxElement"])))
assert parts["./mcpsplice-1.2.3-linux-x86_64"] == {
    ("STATIC_LINK", x) for x in libraries}
assert parts["./mcpsplice-linux-x64-1.2.3.tgz"] == {("DEPENDS_ON", x) for x in libraries}
macos = libraries - {"libgcc", "mimalloc", "musl"}
assert parts["./mcpsplice-1.2.3-darwin-arm64"] == {
    ("STATIC_LINK", x) for x in macos}
for name in ("darwin-arm64.tar.gz", "py3-none-macosx_11_0_arm64.whl"):
    assert parts["./mcpsplice-1.2.3-" + name] == {
        ("DEPENDS_ON", x) for x in macos}, name
assert set(parts) == {None, "./mcpsplice-1.2.3-linux-x86_64",
                      "./mcpsplice-linux-x64-1.2.3.tgz",
                      "./mcpsplice-1.2.3-darwin-arm64",
                      "./mcpsplice-1.2.3-darwin-arm64.tar.gz",
                      "./mcpsplice-1.2.3-py3-none-macosx_11_0_arm64.whl",
                      "./mcpsplice-1.2.3-windows-x86_64.zip"}, parts
END
{
	echo '# unheard 1.0'
	echo "$(printf '%064d' 0)  unheard_1.0.orig.tar.gz"
} >"$dir/unheard"
! release.d/sbom 1.2.3 "$dir/unheard" "$dir/new" >"$dir/out" 2>&1 ||
    fail 'the SBOM takes a package without a known licence'

# The licences come from the sources; one without is an error.
mkdir -p "$dir/src/lib-1"
echo 'Use it well.' >"$dir/src/lib-1/COPYING"
tar -czf "$dir/src/lib_1.orig.tar.gz" -C "$dir/src" lib-1
tar -cf "$dir/sources.tar" -C "$dir/src" lib_1.orig.tar.gz
release.d/notices "$dir/sources.tar" ../COPYING >"$dir/out" || fail 'no licences'
for line in mcpsplice 'lib 1' 'Use it well.'; do
	grep -qx "$line" "$dir/out" || fail "the licences lack: $line"
done
mv "$dir/src/lib-1/COPYING" "$dir/src/lib-1/ABOUT"
tar -czf "$dir/src/lib_1.orig.tar.gz" -C "$dir/src" lib-1
tar -cf "$dir/sources.tar" -C "$dir/src" lib_1.orig.tar.gz
! release.d/notices "$dir/sources.tar" ../COPYING >"$dir/out" 2>&1 ||
    fail 'a source without a licence is taken'

# An archive for each program, the same bits again.
mkdir "$dir/archives"
for file in linux-x86_64 darwin-arm64 windows-x86_64.exe linux-x86_64.debug; do
	echo "$file" >"$dir/archives/mcpsplice-1.2.3-$file"
done
echo licences >"$dir/archives/mcpsplice-1.2.3-licenses.txt"
cp -r "$dir/archives" "$dir/archives2"
release.d/archives "$dir/archives" 1.2.3 || fail 'no archives'
(umask 077 && cd / && "$top/contrib/release.d/archives" "$dir/archives2" 1.2.3)
diff -r "$dir/archives" "$dir/archives2" || fail 'archives differ'
! release.d/archives "$dir/new/deb" 1.2.3 2>/dev/null ||
    fail 'archives of nothing'
python3 - "$dir/archives" <<'END' || fail 'an archive is wrong'
import glob, os, sys, tarfile, zipfile
os.chdir(sys.argv[1])
assert sorted(glob.glob("*.tar.gz") + glob.glob("*.zip")) == [
    "mcpsplice-1.2.3-darwin-arm64.tar.gz",
    "mcpsplice-1.2.3-linux-x86_64.tar.gz",
    "mcpsplice-1.2.3-windows-x86_64.zip"]
for name in ("darwin-arm64", "linux-x86_64"):
    t = tarfile.open("mcpsplice-1.2.3-%s.tar.gz" % name)
    at = "mcpsplice-1.2.3-%s/" % name
    assert t.getnames() == [at + f for f in (
        "mcpsplice", "LICENSE", "README", "mcpsplice.1")], t.getnames()
    assert t.getmember(at + "mcpsplice").mode == 0o755
    assert t.extractfile(at + "mcpsplice").read() == name.encode() + b"\n"
    assert t.extractfile(at + "LICENSE").read() == b"licences\n"
z = zipfile.ZipFile("mcpsplice-1.2.3-windows-x86_64.zip")
assert z.read("mcpsplice-1.2.3-windows-x86_64/mcpsplice.exe") == (
    b"windows-x86_64.exe\n")
END

# What the check of a program for macOS finds. The programs are small: they need
# no headers, and a libSystem of four functions.
if command -v clang-14 >/dev/null 2>&1 && command -v ld64.lld-14 >/dev/null 2>&1
then
	mkdir -p "$dir/mac/usr/lib"
	cat >"$dir/mac/usr/lib/libSystem.tbd" <<'END'
--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos, x86_64-macos ]
install-name: '/usr/lib/libSystem.B.dylib'
exports:
  - targets: [ arm64-macos, x86_64-macos ]
    symbols: [ ___stack_chk_fail, ___stack_chk_guard, _exit,
               dyld_stub_binder ]
  - targets: [ x86_64-macos ]
    symbols: [ '_puts' ]
...
END
	sed -e s/libSystem/libOther/ -e 's/_exit/_other/' \
	    "$dir/mac/usr/lib/libSystem.tbd" >"$dir/mac/usr/lib/libOther.tbd"
	cat >"$dir/mac/main.c" <<'END'
#ifdef OTHER
void other(void);
#endif
void exit(int);
int main(int argc, char **argv)
{
	char text[64];
	int i;

	for (i = 0; i < argc; i++)
		text[i] = argv[i][0];
#ifdef OTHER
	other();
#endif
	if (argc > 9)
		exit(1);
	return text[argc & 63];
}
END
	# links MACHINE VERSION OPTION...: $dir/mac/program
	links()
	{
		target=$1-apple-macos$2
		shift 2
		clang-14 -target "$target" -isysroot "$dir/mac" -O2 \
		    -fuse-ld=lld -mlinker-version=705 -fstack-protector-all \
		    -Wl,-adhoc_codesign "$@" "$dir/mac/main.c" \
		    -o "$dir/mac/program"
	}
	# finds WORDS MACHINE [FILE]: the check says that, or nothing
	finds()
	{
		status=0
		release.d/darwin-check "${3-$dir/mac/program}" "$2" \
		    "$dir/mac/usr/lib/libSystem.tbd" >"$dir/out" || status=$?
		[ $status -eq $((${#1} > 0)) ] &&
		    { [ -z "$1$(cat "$dir/out")" ] ||
			grep -q -e "$1" "$dir/out"; } ||
		    fail "darwin-check, not \"$1\": $(cat "$dir/out")"
	}
	for machine in arm64 x86_64; do
		links $machine 11.0
		finds '' $machine
	done
	finds 'another processor' arm64
	python3 - "$dir/mac/program" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
open(sys.argv[1] + ".more", "wb").write(data + b"more")
data[0x500] ^= 1
open(sys.argv[1] + ".changed", "wb").write(data)
END
	finds 'does not match page 0' x86_64 "$dir/mac/program.changed"
	finds 'something follows its signature' x86_64 "$dir/mac/program.more"
	finds 'it is not a 64-bit Mach-O' x86_64 ../COPYING
	links x86_64 12.0
	finds 'not for macOS 11.0' x86_64
	links x86_64 11.0 -Wl,-no_adhoc_codesign
	finds 'it has 0 signatures' x86_64
	links x86_64 11.0 -fno-stack-protector
	finds 'its stack is not protected' x86_64
	links x86_64 11.0 -DOTHER -lOther
	finds 'needs other libraries: .*libOther' x86_64
	links x86_64 11.0 -DOTHER -Wl,-undefined,dynamic_lookup
	finds 'libSystem does not have: _other' x86_64
	links x86_64 11.0 -Wl,-rpath,/tmp
	finds 'looks for libraries in some folder' x86_64
else
	echo 'clang-14 or lld-14 is not here: darwin-check was not tried'
fi

! grep -rnE '(registry|index|hub|pypi|ghcr|quay|crates)\.[a-z]*\.?(org|io|com)' \
    release release.d npm || fail 'a registry is named'
exit $failed
