# SPDX-License-Identifier: GPL-2.0-or-later
# prof -stalls and -why on samples made by hand of a program in assembly language, whose executions are counted.
. "$TOP/tests/lib.sh"
only_on x86_64 "prof -why" "the program is x86-64's"

# A list that is walked, one store too narrow for its load, divisions, a branch that cannot be foreseen, a loop that can.
cat > app.s <<'END'
	.text
	.globl _start, walk, narrow, divide, toss, turns
	.type walk, @function
	.p2align 6
walk:	mov (%rdi), %rdi
	test %rdi, %rdi
	jne walk
	ret
	.size walk, .-walk
	.type narrow, @function
	.p2align 6
narrow:	movb $1, -8(%rsp)
	mov -8(%rsp), %rax
	mov -16(%rsp), %rdx
	ret
	.size narrow, .-narrow
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
	.type turns, @function
	.p2align 6
turns:	dec %edi
	jne turns
	ret
	.size turns, .-turns
	.type _start, @function
	.p2align 6
_start:	call walk
	call narrow
	call divide
	call toss
	call turns
	jmp _start
	.size _start, .-_start
END
assemble app
# A sample is 3 million cycles, exactly where it was waited.
time_of() {
	cat <<END
type cy_hwc
fact model.clock 3000000000
image elf $work/app
metric cy 3000000 model - 0
sample 0 0 0 4000 1:$(at walk 0)
sample 0 0 0 900 1:$(at narrow 5)
sample 0 0 0 100 1:$(at narrow 10)
sample 0 0 0 1000 1:$(at divide 2)
sample 0 0 0 600 1:$(at toss 10)
sample 0 0 0 300 1:$(at toss 6)
sample 0 0 0 300 1:$(at turns 0)
END
}
counts_of() {
	echo "type ideal"
	echo "image elf $work/app"
	echo "metric gi 1 model exact 17"
	for i in 0 3 6; do echo "sample 0 0 0 100000000 1:$(at walk $i)"; done
	for i in 0 5 10 15; do echo "sample 0 0 0 150000000 1:$(at narrow $i)"; done
	for i in 0 2 5; do echo "sample 0 0 0 150000000 1:$(at divide $i)"; done
	for i in 0 4 10 14; do echo "sample 0 0 0 150000000 1:$(at toss $i)"; done
	echo "sample 0 0 0 75000000 1:$(at toss 6)"
	for i in 0 2; do echo "sample 0 0 0 900000000 1:$(at turns $i)"; done
	echo "edge 1 $(at walk 6) $(at walk 0) 99999000 1"
	echo "edge 1 $(at toss 4) $(at toss 10) 75000000 1"
	echo "edge 1 $(at turns 2) $(at turns 0) 899999000 1"
}
time_of | make_experiment time.exp || exit 1
counts_of | make_experiment ideal.exp || exit 1

shown() { # name prof-options...
	name=$1; shift
	run prof "$@"
	printf '%s\n' "$out" | sed "s|$work|WORK|g" > "$name.shown"
	golden "prof/$name" "$name.shown"
}
shown stalls -stalls -core zen4 time.exp ideal.exp
is "a report that lacks nothing ends with 0" "$status" 0
if command -v script > /dev/null; then
	script -qec "COLUMNS=80 NO_COLOR=1 prof -stalls -core zen4 time.exp ideal.exp" /dev/null < /dev/null | tr -d '\r' > narrow.shown
	is "no row is wider than a terminal of 80 columns" "$(sed '/^static: /,$d' narrow.shown | grep -E '.{81}')" ""
	like "cause and place have a line of their own" "$(cat narrow.shown)" '^      add [$]0x5, %rcx +mispredict 88%, s[.]{3} +4010c4  toss [(]app[)]$'
	like "and a heading of their own" "$(cat narrow.shown)" '^      instruction  +likely cause  +blame +function$'
	is "numbers are as they are in a file" "$(grep -E '^ +[0-9]+  +[0-9.]+%' narrow.shown)" "$(prof -stalls -core zen4 time.exp ideal.exp | grep -E '^ +[0-9]+  +[0-9.]+%' | sed -E 's/( exact +[0-9.]+  [0-9a-f]+) .*/\1/')"
	script -qec "COLUMNS=180 NO_COLOR=1 prof -stalls -core zen4 time.exp ideal.exp" /dev/null < /dev/null | tr -d '\r' > wide.shown
	prof -stalls -core zen4 time.exp ideal.exp > file.shown
	ok "a wide terminal shows what a file has" cmp wide.shown file.shown
else
	skip "rows that fit the terminal" "script is not installed"
fi
shown why -why -core zen4 time.exp ideal.exp
shown topblocks -topblocks -core zen4 time.exp ideal.exp
shown cfg -cfg toss -core zen4 time.exp ideal.exp
shown cfg-dot -cfg toss -dot -core zen4 time.exp ideal.exp
shown calc-culprits -calc narrow -calc toss -core zen4 time.exp ideal.exp
shown why-walk -why walk -core zen4 time.exp ideal.exp

cat > look.py <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
if report["report"] == "why":
    rows = {r["note"]: r for r in report["rows"]}
    r = rows[sys.argv[2]]
    assert r["from"]["value"] <= r["likely"]["value"] <= r["to"]["value"] * 1.000001, r
    print(round(r["percent"][0]), round(r["percent"][1]))
else:
    rows = {r["address"]: r for r in report["rows"]}
    c = rows[sys.argv[2]]["culprits"]
    assert all(x["cycles"]["low"] <= x["cycles"]["value"] <= x["cycles"]["high"] for x in c), c
    c.sort(key=lambda x: -x["cycles"]["value"])
    print(c[0]["cause"].split("-")[0], c[0].get("blame", ""))
END
# A wait of 60 cycles that nothing explains, seen by few samples and by many, at the same executions for each.
seldom() { # samples
	printf '%s\n' "type cy_hwc" "fact model.clock 3000000000" "image elf $work/app" "metric cy 3000000 model - 0" "sample 0 0 0 $1 1:$(at toss 14)" | make_experiment seldom.exp
	{
		printf '%s\n' "type ideal" "image elf $work/app" "metric gi 1 model exact 17"
		for i in 0 4 6 10 14; do echo "sample 0 0 0 $((50000 * $1)) 1:$(at toss $i)"; done
	} | make_experiment seldom-ideal.exp
	prof -stalls -core zen4 -q 100 seldom.exp seldom-ideal.exp
}
like "few samples are no verdict" "$(seldom 3)" ' few samples(: perhaps [a-z, -]+)? '
like "... which is said" "$(seldom 3)" '^few samples: fewer than four'
unlike "many are one" "$(seldom 40)" 'few samples'
like "... and nothing explains it" "$(seldom 40)" 'unexplained [0-9]+%'
run prof -stalls -core zen4 -json -q 100 time.exp ideal.exp
printf '%s\n' "$out" > stalls.json
is "rows have the instruction" "$(jq -r '.rows[0] | .at + " " + .instruction' stalls.json)" "401000 mov (%rdi), %rdi"
is "in Intel's syntax as well" "$(prof -stalls -intel -core zen4 -json -q 1 time.exp ideal.exp | jq -r '.rows[0].instruction')" "mov rdi, qword ptr [rdi]"
is "the load of a list waits for memory" "$(python3 look.py stalls.json "$(at walk 0)")" "dcache $(at walk 0)"
is "a load wider than the store before it" "$(python3 look.py stalls.json "$(at narrow 5)")" "forward $(at narrow 0)"
is "the division" "$(python3 look.py stalls.json "$(at divide 2)" | grep -o divider)" "divider"
is "behind a branch that goes both ways" "$(python3 look.py stalls.json "$(at toss 10)")" "mispredict $(at toss 4)"

# Where samples of values have seen what loads did, rules do not guess: from L1 only, and never a store in the way.
seen() {
	cat <<-END
	type values
	image elf $work/app
	metric time 1000000 measured clock
	moments 120
	site 1 $(at walk 0) 16 0 8 0 500 100 0
	value 0 0 $1 500 500
	site 1 $(at narrow 5) 12 0 12 4 500 100 0
	value 1 0 $2 500 500
	END
}
seen 11 1 | make_experiment near.exp || exit 1
seen 44 21 | make_experiment far.exp || exit 1
for of in near far; do prof -stalls -core zen4 -json -q 100 time.exp ideal.exp $of.exp > $of.json; done
unlike "a load that was seen to hit L1 does not wait for memory" "$(python3 look.py near.json "$(at walk 0)")" dcache
unlike "a load that no store was seen to block" "$(python3 look.py near.json "$(at narrow 5)")" forward
is "one that was seen to wait for memory" "$(python3 look.py far.json "$(at walk 0)")" "dcache $(at walk 0)"
is "one that was seen to be blocked" "$(python3 look.py far.json "$(at narrow 5)")" "forward $(at narrow 0)"

# Many procedures, which several threads explain: the report is the same as of one.
{
	echo "type cy_hwc"
	echo "fact model.clock 3000000000"
	echo "image elf $build/bin/prof"
	echo "metric cy 3000000 model - 0"
	nm "$build/bin/prof" | awk '$2 ~ /^[tT]$/ { print "sample 0 0 0", NR % 97 + 1, "1:" $1 }' | head -n 400
} | make_experiment many.exp || exit 1
for report in -stalls -why; do
	run prof "$report" -core zen4 -json many.exp
	all=$out
	run taskset -c "$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')" prof "$report" -core zen4 -json many.exp
	is "prof $report of one processor ends with 0" "$status" 0
	is "prof $report is the same on one processor" "$(printf %s "$out" | cksum)" "$(printf %s "$all" | cksum)"
done

run prof -why -core zen4 -json time.exp ideal.exp
printf '%s\n' "$out" > why.json
is "all shares make the whole" "$(python3 look.py why.json total)" "100 100"
is "nothing is locked" "$(python3 look.py why.json locked)" "0 0"
run prof -why turns -core zen4 -json time.exp ideal.exp
printf '%s\n' "$out" > why.json
is "a loop that goes on for long is not mispredicted" "$(python3 look.py why.json mispredict | cut -d' ' -f1)" 0
# A cause of the schedule has its remedy, and stands before smaller ones.
run prof -why turns -core zen4 time.exp ideal.exp
like "a wait of the schedule has a remedy" "$out" 'Static: front end, about [0-9]+%: the front end delivers'
run prof -stalls -core zen4 -q 5% time.exp ideal.exp
like "-q leaves out rows, and counts them" "$out" '[0-9] more rows are left out \(-q\)'
like "blame is explained" "$out" '^blame: the address'
unlike "the divider has one name" "$out" 'divider.*divider'
run prof -why nosuch -core zen4 -json time.exp ideal.exp
is "no such function: nothing is shown, and that is said" "$status" 1
run prof -why ideal.exp
is "without samples of time nothing is explained" "$status" 125
run prof -dot time.exp
is "-dot draws nothing but graphs" "$status" 125
run prof -cfg toss -core zen4 -json time.exp ideal.exp
printf '%s\n' "$out" > cfg.json
is "edges of a graph are in JSON" "$(python3 -c 'import json; r = json.load(open("cfg.json")); print(*sorted((r["rows"][e["from"]]["address"][-2:] + r["rows"][e["to"]]["address"][-2:], e["kind"], round(e["executions"]["value"] / 1e6)) for e in r["edges"]))')" \
	"('c0c6', 'fall', 75) ('c0ca', 'taken', 75) ('c6ca', 'fall', 75)"
# A function of many blocks, most of them never sampled.
{
	printf '\t.text\n\t.globl _start\n\t.type _start, @function\n_start:\n'
	for i in $(seq 60); do printf '\ttest $1, %%dil\n\tje 1f\n\tinc %%eax\n1:'; done
	printf '\tjmp _start\n\t.size _start, .-_start\n'
} > many.s
assemble many
printf '%s\n' "type pcsamp" "fact clock_hz 3000000000" "image elf $work/many" "metric time 1000000 measured clock,skid" "sample 0 0 0 900 1:0x401018" | make_experiment many.exp
run prof -cfg -core zen4 many.exp
like "blocks without cycles are left out of a large graph" "$out" '[1-9][0-9] blocks without cycles are left out \(-whole\)'
ok "which is short then" test "$(printf '%s\n' "$out" | wc -l)" -lt 40
run prof -cfg -whole -core zen4 many.exp
ok "-whole: all of them" test "$(printf '%s\n' "$out" | wc -l)" -gt 120
run prof -cfg -whole -core zen4 -json many.exp
whole=$(printf '%s\n' "$out" | jq '.edges | length' 2>/dev/null || echo 2)
run prof -cfg -core zen4 -json many.exp
ok "edges are between rows that are there" test "$(printf '%s\n' "$out" | jq '[.edges[] | select(.from >= .to - 200)] | length' 2>/dev/null || echo 1)" -lt "$whole"
run prof -why nosuch
is "without a file there is nothing to explain" "$status" 125
# Misses that were counted there say that the load did not wait for memory.
misses() {
	printf '%s\n' "type lld_hwc" "image elf $work/app" "metric lld 101 model - 32" "sample 0 0 0 1 1:$(at divide 2)"
}
misses | make_experiment misses.exp || exit 1
run prof -why walk -core zen4 -json time.exp ideal.exp misses.exp
printf '%s\n' "$out" > why.json
is "what was counted elsewhere was not it" "$(python3 look.py why.json dcache-memory)" "0 0"

# ---- causes of nothing ----
run prof -why -only walk time.exp ideal.exp
unlike "causes of 0.0% are left out" "$out" '(Multiplier|Page fault) +0.0%$'
like "which is said" "$out" '^[0-9]+ causes of 0.0% are left out .-whole.$'
like "what may be there at most is not" "$out" ' 0.0% to +[0-9.]+% +0.0%$'
like "-whole shows them" "$(prof -why -only walk -whole time.exp ideal.exp)" ' Multiplier +0.0%$'
like "and so does CSV" "$(prof -why -only walk -csv time.exp ideal.exp)" 'ultiplier'
done_testing
