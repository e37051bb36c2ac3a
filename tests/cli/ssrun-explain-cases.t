# SPDX-License-Identifier: GPL-2.0-or-later
# The case studies, each from one ssrun -explain: the function, and what it waits for.
# In real time: the function that takes the time is found by samples of the clock.
. "$TOP/tests/lib.sh"
examples=$build/examples
only_on x86_64 "case studies" "branch records are x86-64's"

# Too short for bursts within their budget.
run ssrun -q -explain -bursts 300 -machine zen4 -o staffing "$examples/staffing" 65536 700
is "staffing runs" "$status" 0
# Where first accesses to pages are slow, main and the kernel may take as long.
run prof -q 4 staffing
like "the search takes the time, and waits for data" "$out" ' last-level [0-9]+%.* find_in_records'
like "with its misses beside" "$out" ' dsc .* calls +cpi +modelled wait'
run prof -stalls -core zen4 -q 4 staffing
# The samples are few: one or two of them at the addition beside it may exceed those at the load.
like "of the four longest waits, one is the load of the search" "$out" ' counted +[0-9.]+ .*dcache [0-9]+%.* find_in_records.*staffing.c, 114'
like "executions agree" "$out" '^Analysis .* the second run \(0[.]0% differ\)$'
run prof -why find_in_records.isra.0 -core zen4 staffing
like "-why says so in words" "$out" 'D-cache miss, from the last level, about'
run prof -lines staffing
like "-lines: executions, misses and causes of the line" "$out" ' [0-9]{7,} .*last-level [0-9]+%.*while \(e->badge != badge\)'

run ssrun -q -explain -bursts 300 -machine zen4 -o cured "$examples/staffing" -fixed 65536 700
run prof -stalls -core zen4 cured
unlike "with the fix, the search waits for no data" "$out" 'dcache [5-9][0-9]%.* find_in_records'

run ssrun -q -explain -machine zen4 -o adi "$examples/adi" 96 2
run prof -q 4 adi
like "adi: the sweep along Z takes the time" "$out" ' sweep_z'
like "and misses the TLB at every point" "$(printf '%s\n' "$out" | sed -n '/time  /p')" ' dtlb '

done_testing
