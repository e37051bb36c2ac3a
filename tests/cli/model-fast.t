# SPDX-License-Identifier: GPL-2.0-or-later
# -fast: windows of a run are modelled; what follows from execution stays exact, the rest has an interval.
. "$TOP/tests/lib.sh"
for other in "-profile p" "-profile p -sample dsc:2003" "-sample dsc:2003" "-counters 4"; do
	# shellcheck disable=SC2086 # words
	run perfex -fast $other true
	is "-fast $other: status" "$status" 125
	like "-fast $other: why" "$err" "-fast"
done
run perfex -fast -mp true
like "no threads" "$err" "-fast estimates the counts of a whole run: leave out -mp"
run perfex -fast -source os true
like "the model only" "$err" "-fast needs the model: leave out -source"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
events="-e gi -e 18 -e 61 -e 24 -e 25 -e cy -e 35 -e 36"
# shellcheck disable=SC2086 # words
counts() { run perfex "$@" -machine zen4 $events -csv -o counts -- "$build/tests/programs/small" "$program" "$length"; }
row() { grep "^,,$2," "$1"; }
# Where the interval has the whole run's count: as many lines.
inside() { for event in 24 25 0 35; do printf '%s\n' "$(row whole $event | cut -d, -f7),$(row counts $event | cut -d, -f8,9)"; done | awk -F, '$1 >= $2 && $1 <= $3' | wc -l; }
held=0
while read -r program length; do
	counts -source model
	is "$program, whole: status" "$status" 0
	cp counts whole
	counts -fast
	is "$program, in part: status" "$status" 0
	for event in 17 18 61; do
		is "$program: event $event is exact" "$(row counts $event)" "$(row whole $event)"
	done
	for event in 24 25 0 35; do
		like "$program: event $event is an estimate" "$(row counts $event)" "scaled"
	done
	held=$((held + $(inside)))
done <<-'END'
	qsort 0.5
	hash 1
	tree 1
END
# Events 25 and 35 are nearly the same here: they are outside together.
is "intervals have the whole run's counts: at least nine of twelve" "$([ "$held" -ge 9 ] && echo so || echo "$held")" so
run perfex -fast -machine zen4 -e gi -e cy -csv -o counts -- true
unlike "a short run is modelled from end to end" "$(cat counts)" scaled

# Two translations of each superblock: whatever a program does, what follows from execution is the same in both.
exact="-e gi -e gl -e gs -e bra -e call -e ret -e tbr -e uops -e sys -e div"
for what in jit signals strings forks threads; do
	for mode in -q -fast; do
		# shellcheck disable=SC2086 # words
		run perfex -q $mode -source model -machine zen4 $exact -csv -o "exact.$mode" -- "$build/tests/programs/modes" "$what" 250
		is "$what $mode: status" "$status" 0
		[ "$mode" = -fast ] && is "$what: the program's output" "$out" "$whole"
		whole=$out
	done
	is "$what: counts" "$(cut -d, -f1-10 exact.-fast)" "$(cut -d, -f1-10 exact.-q)"
	# The second time with VEX's checks and simplification of what the tool writes. The program sees the variable: equal lengths.
	for again in "no " yes; do
		run env VALGRIND_OPTS="--model-passes=$again" "$build/bin/perfex" -q -fast -source model -machine zen4 -a -csv -o "again.${again% }" -- "$build/tests/programs/modes" "$what" 250
		is "$what $again: status" "$status" 0
	done
	is "$what: the same again, and with all passes of VEX" "$(cut -d, -f3-10 again.no)" "$(cut -d, -f3-10 again.yes)"
done
done_testing
