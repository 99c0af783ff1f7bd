# Counts the cases in the logs of a build's tests; contrib/check and run.sh read
# this file.

# Prints the paths of a build's test results (.trs), one a line.
results()
{
	find "$1/tests" -name '*.trs' | LC_ALL=C sort
}

# Cases in the logs of a build's tests: those of a program that tells them
# (check, tests/e2e), else the program is one. Prints how many passed, failed
# and were skipped.
count_cases()
{
	results "$1" | while read -r trs; do
		log=${trs%.trs}.log
		sed -n 's/^:test-result: /RESULT /p' "$trs"
		[ ! -f "$log" ] || cat "$log"
		echo END
	done | awk '
	/^RESULT / { result = $2; cases = bad = 0 }
	/^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/ {
		cases += $3
		bad += $5 + $7
	}
	/^[0-9]+ cases, [0-9]+ failed/ { cases += $1; bad += $3 }
	/^END$/ {
		if (result == "SKIP")
			skip++
		else if (result == "PASS")
			pass += cases > bad ? cases - bad : 1
		else {
			pass += cases > bad ? cases - bad : 0
			fail += bad > 0 ? bad : 1
		}
	}
	END { print pass + 0, fail + 0, skip + 0 }'
}

# The cases of a log that failed, with what they said: those of tests/e2e and of
# check.
failures()
{
	awk '/^[^ ].*  (ok|skip.*|FAIL)$/ { shown = $NF == "FAIL" ? 60 : 0 }
	shown-- > 0 { print }' "$1"
	grep '^[^:]*:[0-9]*:[FE]:' "$1" || :
}
