# SPDX-License-Identifier: GPL-2.0-or-later
# The retirement clock: latencies of the machine description appear where instructions depend on each other, and only there.
. "$TOP/tests/lib.sh"
run perfex -clock sundial true
is "a clock that there is not: status" "$status" 125
like "and what there is" "$err" "-clock takes sampled, retirement or first-order, not 'sundial'"
run perfex -clock retirement -source model -machine cachegrind:I1=32768,8,64:D1=32768,8,64:LL=1048576,16,64 true
is "cachegrind has none" "$status" 125
like "and it is said" "$err" "cachegrind has no retirement clock"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
chains() { run perfex -source model -machine "$1" -clock "$2" -e cy -o counts -- "$build/tests/programs/model-chains"; }
time_of() { printf '%s\n' "$out" | sed -n "s/^$1: \([0-9]*\) cycles.*/\1/p"; }
chains zen4 retirement
is "exit status" "$status" 0
cat > machine.zen4 <<'END'
xor chain=100
multiply chain=300
moves between=300
division chain=1400
loads in L1, going on=400
loads in L2, going on=1400
through memory=800
END
while IFS='=' read -r name hundredths; do
	is "zen4, $name: hundredths of a cycle" "$(time_of "$name")" "$hundredths"
done < machine.zen4
is "independent instructions do not wait for each other" "$([ "$(time_of independent)" -lt 40 ] && echo so)" so
is "nor do loads of which the address is known" "$([ "$(time_of 'loads in L1')" -lt 60 ] && echo so)" so
is "the stack pointer is not waited for" "$([ "$(time_of 'push and pop')" -lt 110 ] && echo so)" so
first=$out
chains zen4 retirement
is "the same each time" "$out" "$first"
chains zen4 first-order
is "the first-order clock knows of none of this" "$([ "$(time_of 'multiply chain')" -lt 30 ] && echo so)" so
chains skl retirement
is "another machine divides in its own time" "$(time_of 'division chain')" 2600
# Loads that look as if a store of another page had some of their bytes.
turns() { # of the kernel: cycles
	run perfex -q -source model -machine zen5 -clock retirement -e cy -json -o counts.json -- "$build/tests/programs/mechanisms" aliases "$1" 0 0 adds "$2"
	jq .events[0].count.value counts.json
}
each() { echo "$(turns "$1" 2000) $(turns "$1" 1000)" | awk '{ printf "%.0f\n", ($1 - $2) / 16000 }'; }
is "a load behind a store, of the same page or another: cycles" "$(each 128)" 5
is "one that has some bytes of the store, by bits 11 to 0 of the address" "$(each 68)" 12
is "one that has all of them" "$(each 64)" 5
# Windows of the default clock.
cycles() { # options: cycles, and their interval
	run perfex -q -source model -machine zen4 -e cy -e gi -json -o counts.json "$@" -- "$build/tests/programs/small" qsort 0.2
	jq -r '.events[0].count | "\(.value) \(.low) \(.high)"' counts.json
}
within() { echo "$1" | awk '{ print ($2 < $1 && $1 < $3 && ($3 - $2) / $1 < 0.1) ? "yes" : "no: " $0 }'; }
one=$(cycles)
all=$(cycles -clock retirement)
two=$(cycles -r 2)
is "by default, cycles have an interval" "$(within "$one")" yes
is "which holds those of the clock that never stops, nearly" \
	"$(echo "$one $all" | awk '{ d = $1 / $4 - 1; print (d < 0.03 && d > -0.03) ? "yes" : "no: " $0 }')" yes
is "these have none" "$(echo "$all" | awk '{ print ($1 == $2 && $1 == $3) }')" 1
is "two runs have the same windows, and the same interval" "$two" "$one"
run perfex -q -source model -machine zen4 -e cy -e gi -profile p.json -clock sampled true
is "a profile needs the cycles of single instructions: status" "$status" 125
like "and it is said" "$err" "with -profile, use -clock retirement"
run perfex -source model -machine zen4 -clock retirement -e cy -e fes -e bes -json -o counts.json -- "$build/tests/programs/threads"
is "threads" "$status" 0
done_testing
