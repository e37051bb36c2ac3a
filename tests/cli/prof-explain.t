# SPDX-License-Identifier: GPL-2.0-or-later
# Reports on an experiment of two runs (ssrun -explain), made by hand: measured time beside what a model counted.
. "$TOP/tests/lib.sh"
only_on x86_64 "prof" "the program is x86-64's"

# A list that is walked, divisions, a branch that cannot be foreseen, and code without samples.
cat > app.s <<'END'
	.text
	.globl _start, walk, divide, toss, idle
	.type walk, @function
	.p2align 6
walk:	mov (%rdi), %rdi
	test %rdi, %rdi
	jne walk
	ret
	.size walk, .-walk
	.type divide, @function
	.p2align 6
divide:	xor %edx, %edx
	div %rsi
	ret
	.size divide, .-divide
	.type toss, @function
	.p2align 6
toss:	test $1, %dil
	jne 1f
	add $3, %rax
1:	add $5, %rcx
	ret
	.size toss, .-toss
	.type idle, @function
	.p2align 6
idle:	nop
	ret
	.size idle, .-idle
	.type _start, @function
	.p2align 6
_start:	call walk
	call divide
	call toss
	call idle
	jmp _start
	.size _start, .-_start
END
assemble app -g
# A sample is 1 ms, 3 million cycles.
time_of() {
	cat <<END
type explain
fact clock_hz 3000000000
fact model skl
image elf $work/app
metric time 1000000 measured clock
sample 0 0 0 4000 1:$(at walk 0)
sample 0 0 0 1000 1:$(at divide 2)
sample 0 0 0 600 1:$(at toss 6)
END
}
counts_of() {
	cat <<END
metric gi 1 model exact 17
metric dc 1 model exact 25
metric lld 1 model exact 32
metric br 1 model exact 24
metric div 1 model exact 45
END
	for i in 0 3 6; do echo "sample 1 0 0 100000000 1:$(at walk $i)"; done
	for place in "walk 8" "divide 0" "divide 2" "divide 5" "toss 0" "toss 4" "toss 10" "toss 14" "idle 0" "idle 1"; do
		# shellcheck disable=SC2086 # words
		echo "sample 1 0 0 50000000 1:$(at $place)"
	done
	echo "sample 1 0 0 25000000 1:$(at toss 6)"
	for i in 0 5 10 15 20; do echo "sample 1 0 0 50000000 1:$(at _start $i)"; done
	echo "sample 2 0 0 99000000 1:$(at walk 0)"
	echo "sample 3 0 0 60000000 1:$(at walk 0)"
	echo "sample 4 0 0 25000000 1:$(at toss 4)"
	echo "sample 4 0 0 300 1:$(at walk 6)"
	echo "sample 5 0 0 50000000 1:$(at divide 2)"
	echo "wait 1 $(at walk 0) memory 9000000000"
	echo "wait 1 $(at walk 0) l2 700000000"
	echo "wait 1 $(at walk 0) dependency 300000000"
	echo "wait 1 $(at divide 2) divider 1500000000"
	echo "wait 1 $(at toss 6) mispredict 500000000"
	echo "edge 1 $(at walk 6) $(at walk 0) 50000000 1"
	echo "edge 1 $(at toss 4) $(at toss 10) 25000000 1"
}
{ time_of; counts_of; } | make_experiment both || exit 1
without_paths() { sed "s|$work/||; s|^ *$work||" | sed -n '/^Line list\|^Function list\|^walk:/,$p'; }

run prof both
is "functions" "$status" 0
printf '%s\n' "$out" | without_paths > functions
golden prof/explain-functions functions
prof -lines both 2>&1 | without_paths > lines
golden prof/explain-lines lines
prof -dis -only walk both 2>&1 | without_paths > dis
golden prof/explain-dis dis
run prof -summary both
like "the second run has one line" "$out" '^Counted in the second run +gi br dc lld div \(model\)$'
unlike "and not one for each event" "$out" 'Counter name'
run prof -json both
like "scripts see every event" "$out" '"short":"br"'
like "and waits" "$out" '"waits":"memory 90%, l2 7%"|memory 90%, l2 7%'

# Branch records of the first run: executions per second in a hundred bursts.
records_of() { # toss: its executions
	cat <<END
tally 0 100
tally 12 100
tally 13 10000000
tally 14 100000
tally 10 5600000000
END
	while read -r n from to_end to; do
		# shellcheck disable=SC2086 # words
		awk -v n="$n" -v b="$(at ${from%+*} ${from#*+})" -v e="$(at ${to_end%+*} ${to_end#*+})" -v t="$(at ${to%+*} ${to#*+})" \
			'BEGIN { r = n / 5.6; printf "run 1 %s %s 1 %s %d 100 %.9g %.9g\n", b, e, t, n / 10000, r * 100, r * r * 100 }'
	done <<END
50000000 walk+0 walk+6 walk+0
50000000 walk+0 walk+6 walk+8
50000000 walk+8 walk+8 _start+5
50000000 _start+5 _start+5 divide+0
50000000 divide+0 divide+5 _start+10
50000000 _start+10 _start+10 toss+0
$(($1 / 2)) toss+0 toss+4 toss+10
$(($1 / 2)) toss+0 toss+4 toss+6
$(($1 / 2)) toss+6 toss+14 _start+15
$(($1 / 2)) toss+10 toss+14 _start+15
50000000 _start+15 _start+15 idle+0
50000000 idle+0 idle+1 _start+20
50000000 _start+20 _start+20 _start+0
50000000 _start+0 _start+0 walk+0
END
}
{ time_of; counts_of; records_of 50000000; } | make_experiment same || exit 1
{ time_of; counts_of; records_of 5000000; } | make_experiment differs || exit 1
run prof -stalls -core skylake same
is "two runs that agree" "$status" 0
like "executions are those of the second" "$out" ' counted  .*  dcache'
like "all of them" "$out" '^Analysis .* the second run \(0[.]0% differ\)$'
printf '%s\n' "$out" | sed -n '/^Longest/,$p' > stalls
golden prof/explain-stalls stalls
run prof -stalls -core skylake -width 88 same
is "-width 88: all lines fit" "$status $(printf '%s\n' "$out" | awk 'length > 88')" "0 "
like "... with the place on a third" "$out" '^ +function [(]dso: file, line[)]$'
prof -why -core skylake same 2>&1 | sed -n '/^Where/,$p' > why
golden prof/explain-why why
run prof -json -why -core skylake same
like "modelled cycles for scripts" "$out" '"modelled"'
run prof -stalls -core skylake differs
like "where they differ, branch records decide" "$(printf '%s\n' "$out" | grep toss)" ' (high|medium|low) '
unlike "and the counts do not" "$(printf '%s\n' "$out" | grep toss)" ' counted '
like "elsewhere as before" "$(printf '%s\n' "$out" | grep walk)" ' counted '
like "it says how much" "$out" '^Analysis .* the second run \(10[.]7% differ\)$'
like "and what that means" "$out" 'events are those of each execution on the model'
run prof -json -stalls -core skylake differs
ok "a tenth of the executions" python3 -c '
import json, sys
rows = [r for r in json.loads(sys.argv[1])["rows"] if r["procedure"] == "toss"]
sys.exit(not rows or not all(1.5e6 < r["executions"]["value"] < 8e6 and r["executions"]["label"] == "estimated" for r in rows))' "$out"

# One burst says too little to contradict what was counted.
once() { sed 's/^tally \(0\|12\) .*/tally \1 1/; s/^tally 13 .*/tally 13 100000/; s/^tally 14 .*/tally 14 1000/' |
	awk '$1 == "run" { r = $9 / $8; printf "%s %s %s %s %s %s %d 1 %.9g %.9g\n", $1, $2, $3, $4, $5, $6, $7 / 100 + 1, r, r * r; next } { print }'; }
{ time_of; counts_of; records_of 50000000000 | once; } | make_experiment once || exit 1
run prof -stalls -core skylake once
like "one burst that met a function often does not decide against counts" "$(printf '%s\n' "$out" | grep toss)" ' counted '
like "and no executions differ" "$out" '^Analysis .* the second run \(0[.]0% differ\)$'

# The second run chose another function for what this processor has: its time is not without executions.
{ time_of; counts_of | grep -v " 1:$(at divide 0)\| 1:$(at divide 2)\| 1:$(at divide 5)\|wait 1 $(at divide 2)"; records_of 50000000; } | make_experiment chosen || exit 1
run prof -why divide -core skylake chosen
like "a function that only the first run has" "$out" 'Divider .* to +[0-9.]+%'
unlike "has executions" "$out" 'Executions not known'

# A short run: six samples of code that was executed 50 million times.
{ time_of | sed 's/^\(sample 0 0 0 [0-9]*\)000 /\1 /; s/ 600 / 1 /'; counts_of; } | make_experiment few || exit 1
run prof -why -core skylake few
like "too few samples are said to be" "$out" '^6 samples are too few .*run the command for longer'
unlike "as many as there should be are not" "$(prof -why -core skylake same)" 'too few'

done_testing
