#!/bin/sh
# contrib/wheel/pack, with files in place of the programs: what is in a wheel, on
# which systems pip takes which, and that what pip installs is the program alone.
set -eu

here=$(dirname "$0")
top=$(cd "${abs_top_srcdir:-${srcdir:-$here/..}/..}" && pwd)
pack=$top/contrib/wheel/pack
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fail()
{
	echo "$*"
	failed=1
}

# packs STATUS DIST VERSION OUT
packs()
{
	status=0
	"$pack" "$dir/$2" "$3" "$dir/$4" >"$dir/said" 2>&1 || status=$?
	[ $status -eq "$1" ] ||
	    fail "pack $2 $3 exits $status: $(cat "$dir/said")"
}

status=0
"$pack" >/dev/null 2>"$dir/usage" || status=$?
[ $status -eq 2 ] && grep -q '^usage: ' "$dir/usage" ||
    fail "without arguments: $status, $(cat "$dir/usage")"

mkdir "$dir/dist" "$dir/none"
platforms='linux-x86_64 linux-aarch64 darwin-arm64 darwin-x86_64 windows-x86_64.exe'
for platform in $platforms; do
	printf '#!/bin/sh\necho %s "$#" "$@"\n' "$platform" \
	    >"$dir/dist/mcpsplice-1.2.3-$platform"
	cp "$dir/dist/mcpsplice-1.2.3-$platform" \
	    "$dir/dist/mcpsplice-1.2.4-rc.1-$platform"
done
export SOURCE_DATE_EPOCH=1700000000
packs 0 dist 1.2.3 out
packs 0 dist 1.2.4-rc.1 candidate
packs 1 none 1.2.3 nothing
grep -q 'no program of version 1.2.3' "$dir/said" || fail "$(cat "$dir/said")"
for version in 1.2 v1.2.3 1.2.3-test.1 1.2.3.dev1; do
	packs 2 dist $version wrong
done
[ ! -e "$dir/wrong" ] || fail 'a wrong version makes files'
(umask 077 && cd / && "$pack" "$dir/dist" 1.2.3 "$dir/again")
diff -r "$dir/out" "$dir/again" || fail 'twice packed is not the same'
[ "$(find "$dir/candidate" -name 'mcpsplice-1.2.4rc1-py3-none-*.whl' |
    wc -l)" -eq 5 ] || fail "a candidate: $(ls "$dir/candidate")"

python3 - "$dir" <<'END' || fail 'a wheel is wrong'
import base64, hashlib, os, sys, zipfile
out = os.path.join(sys.argv[1], "out")
held = set()
for file in sorted(os.listdir(out)):
    name, version, python, abi, tags = file[:-4].split("-")
    assert (name, version, python, abi) == ("mcpsplice", "1.2.3", "py3", "none")
    z = zipfile.ZipFile(os.path.join(out, file))
    info = "mcpsplice-1.2.3.dist-info/"
    script = ("mcpsplice-1.2.3.data/scripts/mcpsplice"
              + (".exe" if tags == "win_amd64" else ""))
    assert z.namelist() == [script, info + "LICENSE", info + "METADATA",
                            info + "WHEEL", info + "RECORD"], z.namelist()
    for i in z.infolist():
        mode = 0o100755 if i.filename == script else 0o100644
        assert i.external_attr >> 16 == mode, i
        assert i.date_time == (2023, 11, 14, 22, 13, 20), i
    platform = z.read(script).decode().split()[2]
    assert z.read(script) == open(os.path.join(
        sys.argv[1], "dist", "mcpsplice-1.2.3-" + platform), "rb").read()
    held.add((platform, tags.split(".")[-1]))
    told = z.read(info + "WHEEL").decode().splitlines()
    assert [t[5:] for t in told if t.startswith("Tag: ")] == [
        "py3-none-" + t for t in tags.split(".")], told
    lines = z.read(info + "RECORD").decode().splitlines()
    assert lines.pop() == info + "RECORD,,", lines
    assert len(lines) == 4, lines
    for line in lines:
        path, digest, size = line.split(",")
        data = z.read(path)
        assert int(size) == len(data), line
        assert digest == "sha256=" + base64.urlsafe_b64encode(
            hashlib.sha256(data).digest()).decode().rstrip("="), line
    head = z.read(info + "METADATA").decode().split("\n\n")[0]
    assert "Name: mcpsplice\nVersion: 1.2.3\n" in head + "\n", head
assert held == {("linux-x86_64", "musllinux_1_1_x86_64"),
                ("linux-aarch64", "musllinux_1_1_aarch64"),
                ("darwin-arm64", "macosx_11_0_arm64"),
                ("darwin-x86_64", "macosx_11_0_x86_64"),
                ("windows-x86_64.exe", "win_amd64")}, held
END

# As a user installs it, without a network and without the user's settings.
export HOME="$dir" PIP_CONFIG_FILE=/dev/null
if ! python3 -m venv "$dir/venv" >"$dir/said" 2>&1; then
	echo 'no venv with pip: nothing was installed by it'
	exit $failed
fi
"$dir/venv/bin/python" - "$dir/out" <<'END' || fail 'pip takes another wheel'
import os, sys
from pip._vendor.packaging import tags
from pip._vendor.packaging.utils import parse_wheel_filename
wheels = {w: parse_wheel_filename(w)[3] for w in os.listdir(sys.argv[1])}
def taken(platforms):
    fits = set(tags.compatible_tags((3, 11), "cp311", list(platforms)))
    return [w.rsplit("-", 1)[1][:-4] for w, t in wheels.items() if t & fits]
linux = "manylinux2014_%s.manylinux_2_17_%s.musllinux_1_1_%s"
for platforms, wanted in (
        (["manylinux_2_17_x86_64"], linux.replace("%s", "x86_64")),
        (["musllinux_1_1_aarch64"], linux.replace("%s", "aarch64")),
        (tags.mac_platforms((14, 0), "arm64"), "macosx_11_0_arm64"),
        (tags.mac_platforms((11, 0), "x86_64"), "macosx_11_0_x86_64"),
        (["win_amd64"], "win_amd64"),
        (tags.mac_platforms((10, 15), "x86_64"), None),
        (["linux_s390x", "manylinux_2_17_s390x"], None)):
    assert taken(platforms) == [wanted] * (wanted is not None), wanted
END
case $(uname -s -m) in
'Linux x86_64' | 'Linux aarch64')
	"$dir/venv/bin/pip" --disable-pip-version-check install --no-index \
	    --no-cache-dir --find-links "$dir/out" mcpsplice \
	    >"$dir/said" 2>&1 || fail "pip: $(cat "$dir/said")"
	got=$("$dir/venv/bin/mcpsplice" a 'b  c' || :)
	[ "$got" = "linux-$(uname -m) 2 a b  c" ] || fail "it says: $got"
	found=$(find "$dir/venv" -path '*mcpsplice*' ! -type d \
	    ! -path '*dist-info*')
	[ "$found" = "$dir/venv/bin/mcpsplice" ] || fail "installed: $found"
	;;
*)
	echo 'no wheel for this system: none was installed'
	;;
esac
exit $failed
