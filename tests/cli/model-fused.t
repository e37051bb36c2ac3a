# SPDX-License-Identifier: GPL-2.0-or-later
# Fused multiply-adds round once under the modelled processor, too.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
native=$("$build/tests/programs/fused")
run perfex -source model -e 17 -o counts -- "$build/tests/programs/fused"
is "exit status" "$status" 0
is "to the last bit what the processor gives" "$out" "$native"
like "there were some, or a word why not" "$out" '^([0-9a-f]{16}|no fused.*)$'
done_testing
