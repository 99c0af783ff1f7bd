#!/bin/sh
# contrib's packages, as far as they can be looked at without a network and
# without building: scripts and recipes parse, the Debian files can be read by
# Debian's own tools, manifests keep the token out of the arguments, all name
# the libraries' floors of configure.ac, and none names a package registry.
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

# Is the program installed? If not, the log says what was not checked.
has()
{
	command -v "$1" >/dev/null 2>&1 || {
		echo "$1 is not here: $2 was not checked by it"
		return 1
	}
}

cd "$top/contrib"
for script in address deb container/build debian/tests/manual install-deps mcpb/pack \
    mcpb/start; do
	sh -n "$script" || fail "$script: sh does not take it"
	[ -x "$script" ] || fail "$script cannot be run"
done
for script in debian/rules debian/tests/session; do
	[ -x "$script" ] || fail "$script cannot be run"
done
for usage in address deb mcpb/pack container/build; do
	status=0
	"./$usage" >/dev/null 2>"$dir/usage" || status=$?
	[ $status -eq 2 ] || fail "$usage without arguments exits $status"
	grep -q '^usage: ' "$dir/usage" || fail "$usage does not say its usage"
done

# On a Mac, played: the names are Homebrew's, and nothing is installed.
mkdir "$dir/mac"
printf '#!/bin/sh\necho Darwin\n' >"$dir/mac/uname"
chmod +x "$dir/mac/uname"
for group in build check; do
	status=0
	PATH=$dir/mac ./install-deps $group >"$dir/said" 2>&1 || status=$?
	[ $status -eq 1 ] || fail "install-deps $group on a Mac exits $status"
	for words in 'xcode-select --install' \
	    'brew install .* curl .*libevent .*check$' 'Their Debian names: .* libevent-dev'; do
		grep -q -e "$words" "$dir/said" ||
		    fail "install-deps $group on a Mac says: $(cat "$dir/said")"
	done
done

# The templates of Debian, filled in as contrib/deb does.
version=$(sed -n 's/^AC_INIT(\[mcpsplice\], \[\(.*\)\])$/\1/p' ../configure.ac)
for file in control changelog.in; do
	sed -e 's|@MAINTAINER@|A <a@b.invalid>|' -e 's|@HOME@|https://a.test|' -e "s|@VERSION@|$version-1|" \
	    -e "s|@UPSTREAM@|$version|" -e 's|@DISTRIBUTION@|unstable|' \
	    -e 's|@DATE@|Thu, 01 Jan 1970 00:00:00 +0000|' \
	    "debian/$file" >"$dir/$file"
	! grep -n '@[A-Z]*@' "$dir/$file" || fail "$file: contrib/deb misses that"
done
if has dpkg-parsechangelog changelog.in; then
	got=$(dpkg-parsechangelog -l "$dir/changelog.in" -S Version \
	    2>"$dir/warnings") || :
	[ "$got" = "$version-1" ] || fail "changelog.in: its version is \"$got\""
	[ ! -s "$dir/warnings" ] || fail "changelog.in: $(cat "$dir/warnings")"
fi
if perl -MDpkg::Control::Info -e 1 2>/dev/null; then
	perl -MDpkg::Control::Info -MDpkg::Deps -e '
	my $c = Dpkg::Control::Info->new($ARGV[0]);
	for ($c->get_source()->{"Build-Depends"},
	    $c->get_pkg_by_idx(1)->{Recommends}) {
		s/\$\{[^}]*\}//g;
		deps_parse($_, build_dep => 1) or die "cannot read: $_\n";
	}' "$dir/control" || fail 'control cannot be read'
else
	echo 'Dpkg is not here: control was not checked by it'
fi

# floor MODULE PACKAGE: the same number in configure.ac and in control
floor()
{
	number=$(sed -n "s/.*PKG_CHECK_MODULES(\[[A-Z]*\], \[$1 >= \([0-9.]*\)\].*/\1/p" \
	    ../configure.ac)
	[ -n "$number" ] || fail "configure.ac has no floor of $1"
	grep -q "^ *$2 (>= $number)" debian/control ||
	    fail "control wants another $2 than $number"
}
floor libcurl libcurl4-openssl-dev
floor libevent_core libevent-dev
floor libcrypto libssl-dev
floor json-c libjson-c-dev
floor check check

if has python3 'mcpb/manifest.json'; then
	for file in mcpb/manifest.json mcpb/vendor/manifest.json; do
		python3 - "$file" <<-'END' || fail "$file is wrong"
		import json, sys
		m = json.load(open(sys.argv[1]))
		server, user = m["server"], m["user_config"]
		config = server["mcp_config"]
		token = user["token"]
		assert m["version"] == "@VERSION@", "version"
		assert server["type"] == "binary", "type"
		assert config["command"] == "${__dirname}/" + server["entry_point"]
		assert token["sensitive"] is True, "the token is no secret"
		assert token["required"] is False and token["default"] == ""
		assert "token" not in json.dumps(config["args"]), "arguments"
		assert config["env"] == {"BUNDLE_TOKEN": "${user_config.token}"}
		assert config["args"][-2] == "--", "a URL may become an option"
		END
	done
fi

# start: which arguments the program gets
platform=$(uname -s -m | tr 'A-Z ' 'a-z-' | sed 's/^linux-arm64/linux-aarch64/')
mkdir -p "$dir/server/$platform"
cp mcpb/start "$dir/server/start"
printf '#!/bin/sh\necho "$# $* ${BUNDLE_TOKEN-unset}"\n' \
    >"$dir/server/$platform/mcpsplice"
chmod 755 "$dir/server/start" "$dir/server/$platform/mcpsplice"
# starts TOKEN WANTED
starts()
{
	got=$(BUNDLE_TOKEN=$1 "$dir/server/start" -- 'https://a b/')
	[ "$got" = "$2" ] || fail "start with the token \"$1\": $got"
}
starts t '4 --bearer-env BUNDLE_TOKEN -- https://a b/ t'
starts '' '2 -- https://a b/ unset'
starts '${user_config.token}' '2 -- https://a b/ unset'
rm "$dir/server/$platform/mcpsplice"
! "$dir/server/start" -- https://a/ 2>/dev/null ||
    fail 'start without a program succeeds'

# Recipes of systems that are seldom at hand.
if has bash packaging/arch/PKGBUILD; then
	bash -n packaging/arch/PKGBUILD || fail 'bash does not take PKGBUILD'
	bash -c '. ./packaging/arch/PKGBUILD
	[ "$pkgname" = mcpsplice ] && [ "${#source[@]}" = "${#sha256sums[@]}" ] &&
	    declare -F build check package >/dev/null' || fail 'PKGBUILD lacks something'
fi
if has ruby packaging/homebrew/mcpsplice.rb; then
	ruby -c packaging/homebrew/mcpsplice.rb >/dev/null || fail 'ruby does not take it'
fi
if has nix-instantiate packaging/nix/package.nix; then
	HOME=$dir NIX_STATE_DIR=$dir/nix NIX_STORE_DIR=$dir/nix/store \
	    nix-instantiate --parse packaging/nix/package.nix >/dev/null \
	    2>"$dir/nix.err" || fail "nix does not take it: $(cat "$dir/nix.err")"
fi

# The release says where files are, not the recipe.
! grep -rnE '(registry|index|hub|pypi|ghcr|quay|crates)\.[a-z]*\.?(org|io|com)' deb \
    container debian mcpb packaging || fail 'a registry is named'
exit $failed
