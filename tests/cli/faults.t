# SPDX-License-Identifier: GPL-2.0-or-later
# Files that may not be longer than some number of bytes, and a full standard output. `make check-faults` lets each call fail as well.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
for run in "prof -export" "prof -html" "ssrun -fpcsamp" "ssrun -ideal" "perfex, os" "perfex -list"; do
	ok "$run" "$top/tests/faults/all" "$build" "$build" -only "$run" -step 20
done

# Larger than files may be (ulimit -f): an error, where the signal would end us; of the command it does.
out=$(sh -c '(ulimit -f 0; perfex -source os -a -o counts true 2>&1; echo "status $?") | cat')
like "perfex: an error" "$out" 'cannot write counts: File too large'
like "and what to do" "$out" 'ulimit -f'
like "and its status" "$out" '^status 125'
run ssrun -fpcsamp -o x sh -c 'ulimit -f 0; echo more > than'
is "the command has the signal" "$status" $((128 + $(python3 -c 'import signal; print(int(signal.SIGXFSZ))')))
done_testing
