#!/bin/sh
# The program that was built is hardened as configure says it is.
set -eu

: "${MCPSPLICE:?}"
case ${HARDENING-} in
*-pie*) ;;
*)
	echo 'SKIP: built without hardening'
	exit 77
	;;
esac
if ! readelf --version >/dev/null 2>&1; then
	echo 'SKIP: no readelf here'
	exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

# flaws FILE: prints what is wrong with it, a line each
flaws()
{
	readelf -W -h -l -d "$1" >"$dir/elf"
	readelf -W --dyn-syms "$1" >"$dir/symbols"
	grep -Eq '^ *Type: *DYN' "$dir/elf" || echo 'no PIE'
	grep -q 'GNU_RELRO' "$dir/elf" || echo 'no RELRO'
	grep -Eq 'BIND_NOW|FLAGS_1.* NOW' "$dir/elf" || echo 'lazy binding'
	grep -Eq 'GNU_STACK.* RW +0x' "$dir/elf" || echo 'executable stack'
	! grep -Eq '^ *LOAD.* RWE ' "$dir/elf" || echo 'a segment is W and X'
	! grep -q 'TEXTREL' "$dir/elf" || echo 'TEXTREL'
	! grep -Eq 'RPATH|RUNPATH' "$dir/elf" || echo 'RPATH'
	grep -q '__stack_chk_fail' "$dir/symbols" || echo 'no stack protector'
	grep -Eq ' __[a-z]+_chk(@|$)' "$dir/symbols" || echo 'no fortify'
	grep -Eo ' (system|popen|sprintf|strcpy|strcat|gets|tmpnam|mktemp)(@|$)' \
	    "$dir/symbols" | sed 's/[@ ]//g; s/^/calls /' || :
}

# a program with as many flaws as possible, to see that this script finds them
cat >"$dir/bad.c" <<'END'
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{ char *s = malloc(100); strcpy(s, argv[argc - 1]); return system(s); }
END
if ${CC:-cc} -O0 -no-pie -fno-pie -U_FORTIFY_SOURCE -fno-stack-protector \
    -Wl,-z,norelro -Wl,-z,lazy -Wl,-z,execstack -Wl,-rpath,/x \
    -o "$dir/bad" "$dir/bad.c" 2>"$dir/err"; then
	flaws "$dir/bad" >"$dir/found"
	for flaw in 'no PIE' 'no RELRO' 'lazy binding' 'executable stack' \
	    RPATH 'no stack protector' 'no fortify' 'calls strcpy' \
	    'calls system'; do
		if ! grep -qx "$flaw" "$dir/found"; then
			echo "FAIL: this test does not see: $flaw"
			exit 1
		fi
	done
fi

flaws "$MCPSPLICE" >"$dir/found"
if [ -s "$dir/found" ]; then
	sed 's/^/FAIL: /' "$dir/found"
	exit 1
fi
