# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=tests/lib.sh
# prof calibrate: a wrong description comes out corrected, and says how.
# In real time: instructions are measured on this processor.
. "$(dirname "$0")/../lib.sh"
only_on x86_64 "calibration" "only x86-64 is measured"

# A core on which multiplication takes 9 cycles, and addition 4: no processor of today is like it.
cat >wrong.core <<'END'
base golden-cove
[core]
name wrong
[instructions]
imul : r64, r64 : p1 : 9
add : r64, r64 : p1 : 4
END
run prof calibrate -core ./wrong.core -o right.core
is "it runs" "$status" 0
like "and says what it did" "$out" '^[0-9]+ instruction forms, [0-9]+ measured; [0-9]+ corrected in right.core$'
ok "multiplication is corrected" grep -q '^imul : r64, r64 : .*# latency [0-9.]* measured, 9.00 before' right.core
ok "so is addition" grep -q '^add : r64, r64 : .*# latency [0-9.]* measured, 4.00 before' right.core
before=$(printf '%s\n' "$out" | sed -n 's/.*measured: \([0-9]*\)\.[0-9]*% by wrong.*/\1/p')
after=$(printf '%s\n' "$out" | sed -n 's/.*, \([0-9]*\)\.[0-9]*% by the corrected one.*/\1/p')
ok "the corrected one is nearer ($before%, $after%)" test "$after" -lt "$before"
run prof block -static -core ./right.core -hex 480fafc3
like "the corrected description is read" "$out" 'by the schedule \(estimated, host\), bound by dependency on imul'
unlike "and is another" "$out" '^  9.000 cycles'
mkdir sub
run prof calibrate -core ./wrong.core -o sub/right.core
like "a path is suggested as it is" "$out" '^to use it: prof block -core sub/right.core'
run prof calibrate -core ./wrong.core -o right.core -json
is "as JSON: all forms, what was measured and what was said" "$(printf '%s\n' "$out" | python3 -c "
import json, sys
d = json.load(sys.stdin)
f = {f['form']: f for f in d['forms']}['imul r64, r64']
print(d['schema'], d['core'], d['written'], f['label'], f['schedule_label'], f['latency_before'], f['corrected'], 1 < f['latency'] < 9)")" \
	"prof.calibration/1 wrong right.core measured estimated 9 True True"
run prof calibrate -core none
is "no description, no calibration" "$status" 125
run prof calibrate nonsense
is "arguments are refused" "$status" 125
run prof calibrate -help
like "help" "$out" '^usage: prof calibrate'
done_testing
