#!/bin/sh
# Builds the last commit on other systems than this one and runs its tests
# there; doc/platforms has what was seen.
# usage: tests/platforms/run.sh [NAME...]
#   debian13-gcc     Debian 13, gcc: all tests
#   debian13-clang   Debian 13, clang: all tests
#   newest           Debian's unstable, with the newest libraries: all tests
#   i386             32 bits, Debian 13 or 12: all tests
#   fallback         without the calls that only some systems have: all tests
#   musl             the C library of the static program: unit tests, explorers
#   aarch64, s390x   in an emulator: unit tests, explorers
# Without a name it is all of them; that takes two hours on two cores. Needs
# Debian 12, root, and what it installs itself. With PLATFORMS_ROOTS=FOLDER the
# systems stay there for the next time; PLATFORMS_LOGS=FOLDER keeps the logs.
#
# The last line of each is "NAME: N passed, N failed, N skipped"; the exit status
# is 0 when nothing failed.
set -eu

case ${1-} in
-*)
	sed -n '2,18s/^#* \{0,1\}//p' "$0"
	exit 2
	;;
'') set -- debian13-gcc debian13-clang newest i386 fallback musl aarch64 s390x ;;
esac

top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/platforms/count.sh"
if [ "$(id -u)" -ne 0 ]; then
	echo 'platforms: only root can make the systems' >&2
	exit 1
fi
"$top/contrib/install-deps" platforms

work=$(mktemp -d "${TMPDIR:-/tmp}/mcpsplice-platforms.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
roots=${PLATFORMS_ROOTS:-$work/roots}
logs=${PLATFORMS_LOGS:-$work/logs}
mkdir -p "$roots" "$logs"

# The packages that the build and the tests need there. A browser is not among
# them: the page that it would show does not depend on the system.
tools='gcc libc6-dev make autoconf automake pkg-config xz-utils git python3
    openssl ca-certificates mandoc nginx haproxy nodejs iproute2'
libraries='libc6-dev libcurl4-openssl-dev libevent-dev libssl-dev
    libjson-c-dev check'

## Systems

# mirror: where this system gets its packages from
mirror()
{
	apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' \
	    'Created-By: Packages' | head -n 1
}

# bootstrap VARIANT RELEASE ARCHITECTURE PACKAGE...: installs a system in a
# folder, unless it is there already, and sets root. A mirror's copy of unstable
# may be out of date, which is no error.
bootstrap()
{
	variant=$1 release=$2 arch=$3
	root=$roots/$variant-$release-$arch
	shift 3
	[ ! -d "$root" ] || return 0
	rm -rf "$root.new"
	mmdebstrap --mode=root --variant="$variant" --architectures="$arch" \
	    --dpkgopt=force-unsafe-io --include="$(echo $* | tr ' ' ,)" \
	    "$release" "$root.new" "deb [check-valid-until=no \
signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] \
$(mirror) $release main" || {
		rm -rf "$root.new"
		return 1
	}
	[ -s "$root.new/etc/hosts" ] ||
	    printf '127.0.0.1 localhost\n::1 localhost\n' \
		>"$root.new/etc/hosts"
	mv "$root.new" "$root"
}

# here COMMAND...: runs it on this system, in the folder $place.
here()
{
	(cd "$place" && "$@")
}

# inside COMMAND...: runs it in the system $root, in its own namespaces, and in
# the folder $place. All mounts and processes end with it.
inside()
{
	mkdir -p "$root/mcpsplice"
	unshare --mount --pid --fork --kill-child --propagation private \
	    sh -euc 'root=$1
	mount --bind "$2" "$root/mcpsplice"
	mount --rbind /dev "$root/dev"
	mount --rbind /sys "$root/sys"
	mount -t proc proc "$root/proc"
	mount -t tmpfs tmp "$root/tmp"
	shift 2
	exec chroot "$root" env -i -C /mcpsplice HOME=/root LC_ALL=C.UTF-8 \
	    PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' sh "$root" "$place" "$@"
}

# emulated COMMAND...: like "here", but programs for $cpu run in the emulator,
# with the libraries of $root. This affects no other process: the list of
# emulators belongs to a user namespace.
emulated()
{
	mkfifo "$place/pid" "$place/go"
	(cd "$place" && exec unshare --user --mount --propagation private \
	    sh -euc 'echo $$ >pid
	read -r go <go
	mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
	cat "/usr/lib/binfmt.d/qemu-$1.conf" \
	    >/proc/sys/fs/binfmt_misc/register
	export QEMU_LD_PREFIX="$2" CK_TIMEOUT_MULTIPLIER=5
	shift 2
	exec "$@"' sh "$cpu" "$root" "$@") &
	child=$!
	read -r pid <"$place/pid"
	# all users, because tests give files to others
	echo '0 0 4294967295' >"/proc/$pid/uid_map"
	echo '0 0 4294967295' >"/proc/$pid/gid_map"
	echo go >"$place/go"
	rm "$place/pid" "$place/go"
	wait $child
}

## Builds; $by is one of the three above

# build OPTION...: configures and compiles, and notes what with.
build()
{
	"$by" sh -euc '[ -x tree/configure ] || (cd tree && autoreconf -fi)
	mkdir build
	cd build
	../tree/configure --enable-werror "$@" >summary
	cat summary
	make -j2 -k
	make -j2 -k check TESTS=
	cc=$(sed -n "s/^CC = //p" Makefile)
	$cc --version | head -n 1 >seen
	$cc -dM -E -include stdlib.h -x c /dev/null | awk "
	/define __GLIBC__ / { major = \$3 }
	/define __GLIBC_MINOR__ / { minor = \$3 }
	END { print major ? \"glibc \" major \".\" minor : \"no glibc\" }" >>seen
	awk "/^  (libcurl|libevent|libcrypto|json-c) / {
	    print \$1, \$2 }" summary >>seen' sh "$@"
}

# test_all [VARIABLE=VALUE]: with SLOW=3 in slow motion (tests/slow), where the
# machine is one of 64 bits.
test_all()
{
	"$by" make -C build -j3 -k check "$@"
}

# Without the end-to-end tests. EXPLORE is the number of random schedules.
test_parts()
{
	"$by" make -C build check-unit || parts=failed
	"$by" env EXPLORE=1000 make -C build/tests check-TESTS TESTS="
	    explore/explore_chain explore/explore_client
	    explore/explore_session fuzz/fuzz_test.sh" || parts=failed
	[ -z "${parts-}" ]
}

# cross RELEASE ARCHITECTURE CPU: $root has the libraries, this system the
# compiler.
cross()
{
	cpu=$3
	bootstrap extract "$1" "$2" $libraries || return 1
	# only the libraries are visible to the emulator there
	rm -rf "$root/dev" "$root/etc" "$root/tmp" "$root/var"
	by=emulated
	lib=$root/usr/lib/$cpu-linux-gnu
	export PKG_CONFIG_LIBDIR="$lib/pkgconfig:$root/usr/share/pkgconfig"
	export PKG_CONFIG_SYSROOT_DIR="$root"
	build --host="$cpu-linux-gnu" CC="$cpu-linux-gnu-gcc --sysroot=$root" &&
	    test_parts
}

# Everything that configure finds on some systems only, and the knowledge that
# this is Linux.
without="$(for name in accept4 close_range closefrom explicit_bzero flock \
    getentropy getprogname getrandom kqueue memfd_create memmem pipe2 \
    strcasestr; do
	echo "ac_cv_func_$name=no"
done) $(for name in linux_rtnetlink_h net_route_h sys_event_h sys_prctl_h \
    sys_random_h sys_syscall_h; do
	echo "ac_cv_header_$name=no"
done) ac_cv_member_struct_tcp_info_tcpi_last_ack_recv=no CPPFLAGS=-U__linux__"

# The library of the unit tests, as a static one for musl. What fetches the
# other sources does it for the source package in its file "sources".
build_check()
{
	mkdir "$place/pins"
	cp "$parts/fetch" "$place/pins"
	printf '# what the unit tests need\n\n# check any\n' >"$place/pins/sources"
	"$place/pins/fetch" --pin "$place/sources" &&
	    dpkg-source --no-check -x "$place/sources"/check_*.dsc \
		"$place/check" &&
	    cmake -S "$place/check" -B "$place/check/build" \
		-DCMAKE_C_COMPILER=musl-cc -DCMAKE_INSTALL_PREFIX=/usr \
		-DCMAKE_INSTALL_LIBDIR=lib \
		-DCHECK_ENABLE_TESTS=OFF &&
	    make -C "$place/check/build" check compat || return 1
	# the rest of it is a shared library, which this compiler cannot make
	(cd "$place/check/build" &&
	    cp src/libcheck.a lib/libcompat.a "$root/usr/lib" &&
	    cp src/check.h check_stdint.h "$root/usr/include" &&
	    sed 's/-lcheck_pic/-lcheck -lcompat/' check.pc \
		>"$root/usr/lib/pkgconfig/check.pc")
}

# The libraries are there for optimisation at link time. Here they are compiled
# once, not with each test; their warnings are no errors of ours.
compile_libraries()
{
	for name in z nghttp2 json-c event_core event_extra curl; do
		x86_64-linux-gnu-gcc -r -no-pie -fPIE -nostdlib -O2 -w \
		    -flinker-output=nolto-rel -Wl,--whole-archive \
		    "$root/usr/lib/lib$name.a" -o "$place/$name.o" || return 1
		rm "$root/usr/lib/lib$name.a"
		ar crs "$root/usr/lib/lib$name.a" "$place/$name.o"
	done
}

# The toolchain and the libraries of the static program, and libcheck.
musl()
{
	by=here
	mkdir "$place/sources" "$place/static"
	parts=$place/tree/contrib/release.d
	(cd "$place/tree" && autoreconf -fi)
	"$parts/fetch" "$place/sources" &&
	    "$parts/build" x86_64 "$place/sources" "$place/tree" \
		"$place/static" mcpsplice || return 1
	root=$place/static/root
	export PATH="$place/static/bin:$PATH"
	export PKG_CONFIG_LIBDIR="$root/usr/lib/pkgconfig"
	export PKG_CONFIG_SYSROOT_DIR="$root"
	compile_libraries && build_check &&
	    build --host=x86_64-linux-gnu CC=musl-cc LDFLAGS=-static-pie &&
	    test_parts
}

one()
{
	case $1 in
	debian13-gcc)
		by=inside
		bootstrap minbase trixie amd64 $tools $libraries clang &&
		    build && test_all SLOW=3
		;;
	debian13-clang)
		by=inside
		bootstrap minbase trixie amd64 $tools $libraries clang &&
		    build CC=clang && test_all SLOW=3
		;;
	newest)
		by=inside
		bootstrap minbase sid amd64 $tools $libraries &&
		    build && test_all SLOW=3
		;;
	i386)
		# not each mirror has all of the newer release; a test has more
		# threads than there is room for, with stacks as large as usual
		by=inside
		ulimit -s 1024
		{ bootstrap minbase trixie i386 $tools $libraries ||
		    bootstrap minbase bookworm i386 $tools $libraries; } &&
		    build && test_all
		;;
	fallback)
		by=here
		build $without && test_all SLOW=3
		;;
	musl)
		musl
		;;
	aarch64)
		cross bookworm arm64 aarch64
		;;
	s390x)
		cross bookworm s390x s390x
		;;
	*)
		echo "platforms: there is no $1; see --help" >&2
		return 1
		;;
	esac
}

# platform NAME: in a folder of its own, and in a process, for its variables.
# Prints what it was built with, and the counts.
platform()
{
	place=$work/$1
	log=$logs/$1.log
	mkdir -p "$place/tree"
	git -C "$top" archive HEAD | tar -xf - -C "$place/tree"
	echo "$1 ..."
	status=0
	(one "$1") >"$log" 2>&1 || status=$?
	[ ! -f "$place/build/seen" ] ||
	    paste -s -d ';' "$place/build/seen" | sed 's/;/; /g'
	set -- "$1" $(count_cases "$place/build")
	passed=$2 failed=$3
	for trs in $(results "$place/build"); do
		! grep -qs '^:test-result: [FE]' "$trs" || {
			echo "==== ${trs#"$place/build/tests/"}"
			failures "${trs%.trs}.log"
		}
	done
	# what is not a case: a build
	if [ $status -ne 0 ] && [ "$failed" -eq 0 ]; then
		failed=1
		tail -n 50 "$log"
	fi
	[ "$passed" -gt 0 ] || [ "$failed" -gt 0 ] || failed=1
	echo "$1: $passed passed, $failed failed, $4 skipped"
	chmod -R u+w "$place"
	rm -rf "$place"
	[ "$failed" -eq 0 ]
}

bad=0
for name; do
	platform "$name" || bad=1
done
exit $bad
