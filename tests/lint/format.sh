#!/bin/sh
# The C files look as .clang-format says. Only version 14 is asked: others
# format differently.
set -eu

: "${abs_top_srcdir:?}"
case $("${CLANG_FORMAT:-clang-format}" --version 2>/dev/null) in
*'version 14.'*) ;;
*)
	echo 'SKIP: clang-format 14 is not here'
	exit 77
	;;
esac
cd "$abs_top_srcdir"
set -- $(find src tests contrib -name '*.[ch]')
exec "${CLANG_FORMAT:-clang-format}" --style=file --dry-run -Werror "$@"
