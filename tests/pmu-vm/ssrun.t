#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ssrun on a real kernel with an emulated PMU; its experiments are read by prof on this host.
. "$TOP/tests/lib.sh"
guest=$build/arm64
"$top/tests/pmu-vm/vm" "$top/tests/pmu-vm/guest-ssrun.sh" "$guest/bin/ssrun" "$guest/share" "$guest/pmu-vm/work" \
	> console 2>&1
is "the guest ran" $? 0
[ -z "${KEEP:-}" ] || cp console "$KEEP"
tr -d '\r' < console | awk '/^file / { name = $2; next } /^end$/ { name = ""; next } name { print > (name ".base64") }'
for f in *.base64; do base64 -d "$f" > "${f%.base64}"; done
said() { tr -d '\r' < console | awk -v want="== $1" '$0 == want { on = 1; next } /^== / { on = 0 } /^file / { on = 0 } on'; }
report() { run prof -root "$guest/pmu-vm" "$@"; }

like "cycles: sampled by the PMU" "$(said cycles)" 'cy_hwc: a sample every [0-9]+ cycles'
unlike "which needs no model" "$(said cycles)" 'model'
report -summary cycles
like "measured, by its encoding" "$out" 'pmu \(measured\).*CPU_CYCLES'
report cycles
like "the report says so in short" "$out" 'Samples .* cy \(measured\): [0-9]+ samples of [0-9]+'
like "in the loop" "$out" '(100\.0|9[0-9]\.[0-9])% .* loop \(work'
report -dump given
like "-e: the period as it was given" "$out" 'period 100003'
like "80 million cycles make 800 samples" "$(said given)" ': (799|800|801) samples'
report -summary forced
like "-source pmu: the event's own encoding" "$out" 'INST_RETIRED'
report both
ok "both periods" test "$(printf '%s\n' "$out" | grep -c '^Samples .* cy (measured)')" = 2
report -calltree stacks
like "call paths by the rules of AArch64" "$out" 'main \(work'
report -summary time
like "time, by the clock" "$out" 'os \(measured\)'
report -calltree paths
like "time by call path" "$out" 'main \(work'
report -usage tree
ok "threads and processes" test "$(printf '%s\n' "$out" | grep -cE ' work( |$)')" -ge 4
like "no model where there is no Valgrind: said" "$(said model)" '^-- 125'
done_testing
