#!/bin/sh
# Each patch of tests/mutants can be applied: code that moves takes its mutants
# along.
set -eu

if ! command -v patch >/dev/null; then
	echo 'SKIP: no patch here'
	exit 77
fi
cd "${srcdir:?}/.."
failed=0
for mutant in tests/mutants/*.patch; do
	patch -s -f -p1 --dry-run <"$mutant" || {
		echo "FAIL: $mutant"
		failed=1
	}
done
exit $failed
