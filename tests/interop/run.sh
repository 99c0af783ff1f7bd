#!/bin/sh
# The interop tests: mcpsplice against the official MCP parts from npm, run by
# Node 22 from the npm package "node". Nothing is written beside this script.
#
# usage: MCPSPLICE=PROGRAM [BUILDDIR=DIR] run.sh [ARGUMENT of node --test ...]
#
# With --install-only as its one argument it stops when the packages are there
# (for the bench, which measures mcp-remote too) and needs no program.
#
# BUILDDIR (default: the current directory) receives a folder "interop-work";
# its packages are kept and reused as long as the lock file stays the same.
set -eu

if test "${1-}" != --install-only; then
	: "${MCPSPLICE:?must name the mcpsplice program}"
	case $MCPSPLICE in
	/*) ;;
	*) MCPSPLICE=$PWD/$MCPSPLICE ;;
	esac
	test -x "$MCPSPLICE" || {
		echo "run.sh: $MCPSPLICE is no program" >&2
		exit 2
	}
	export MCPSPLICE
fi

srcdir=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "${BUILDDIR:-.}/interop-work"
work=$(CDPATH='' cd -- "${BUILDDIR:-.}/interop-work" && pwd)

rm -f "$work"/*.mjs "$work"/package.json "$work"/package-lock.json \
	"$work"/.npmrc
cp "$srcdir"/*.mjs "$srcdir"/package.json "$srcdir"/package-lock.json \
	"$srcdir"/.npmrc "$work"/
chmod u+w "$work"/*.mjs "$work"/package*.json "$work"/.npmrc
cd "$work"

node=$work/node_modules/.bin/node
stamp=$work/node_modules/.installed-lock
if ! cmp -s package-lock.json "$stamp" || ! "$node" -v >/dev/null 2>&1; then
	npm ci --no-audit --no-fund --loglevel=error
	"$node" -v >/dev/null || {
		echo "run.sh: the npm package \"node\" brought no program" >&2
		exit 1
	}
	cp package-lock.json "$stamp"
fi

test "${1-}" != --install-only || exit 0

MCPB_FOLDER=$(CDPATH='' cd -- "$srcdir/../../contrib/mcpb" && pwd)
export MCPB_FOLDER

# The user's own settings of mcpsplice must not steer the tests.
INTEROP_HOME=$work/home
mkdir -p "$INTEROP_HOME"
export INTEROP_HOME
NPM_PACK=$srcdir/../../contrib/npm/pack
export NPM_PACK
README=$srcdir/../../README
export README

PATH=$work/node_modules/.bin:$PATH
export PATH
exec "$node" --test --test-reporter=spec --test-concurrency=4 \
	--test-timeout=300000 --test-force-exit "$@" \
	requirements.test.mjs forget.test.mjs auth.test.mjs \
	conformance.test.mjs conformance-era.test.mjs everything.test.mjs \
	session.test.mjs matrix.test.mjs mcpb.test.mjs npm.test.mjs
