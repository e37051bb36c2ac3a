# SPDX-License-Identifier: GPL-2.0-or-later
# Files that may not be longer than some number of bytes, and a full standard output. `make check-faults` lets each call fail as well.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
for run in "prof -export" "prof -html" "ssrun -fpcsamp" "ssrun -ideal" "perfex, os" "perfex -list"; do
	ok "$run" "$top/tests/faults/all" "$build" "$build" -only "$run" -step 20
done
done_testing
