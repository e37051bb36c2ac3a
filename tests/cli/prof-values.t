# SPDX-License-Identifier: GPL-2.0-or-later
# Reports on values (ssrun -values), made by hand; and of a program whose values are known by construction.
# In real time: moments of a program that runs.
. "$TOP/tests/lib.sh"
only_on x86_64 "prof" "the program is x86-64's"

cat > app.s <<'END'
	.text
	.globl _start, power, divide, walk, fill
	.type power, @function
	.p2align 6
power:	imul %edi, %eax
	mulsd %xmm0, %xmm1
	ret
	.size power, .-power
	.type divide, @function
	.p2align 6
divide:	xor %edx, %edx
	div %rsi
	ret
	.size divide, .-divide
	.type walk, @function
	.p2align 6
walk:	mov (%rdi), %rdi
	call *%rax
	ret
	.size walk, .-walk
	.type fill, @function
	.p2align 6
fill:	mov %al, (%rcx)
	mov (%rcx), %edx
	ret
	.size fill, .-fill
	.type _start, @function
	.p2align 6
_start:	call power
	jmp _start
	.size _start, .-_start
END
assemble app -g
site=-1
# place offset kind operand bits class count moments least, then values as "image value over sure"
site() {
	site=$((site + 1))
	echo "site 1 $(at "$1" "$2") $3 $4 $5 $6 $7 $8 $9"
	shift 9
	for v in "$@"; do echo "value $site $v"; done
}
text() {
	cat <<-END
	type values
	image elf $work/app
	metric time 1000000 measured clock
	sample 0 0 0 700 1:$(at power 0)
	sample 0 0 0 200 1:$(at divide 2)
	sample 0 0 0 100 1:$(at walk 0)
	moments 120
	END
	site power 0 6 0 64 0 1000 120 0 "0 7 900 900" "0 5 60 60" "0 ffffffffffffffff 40 40"
	site power 0 6 8 64 2 300 110 0 "0 3ff0000000000000 300 300"
	site power 0 1 0 32 0 1000 120 10 "0 0 190 200" "0 fffffffe 90 95" "0 12345678 80 85"
	site power 3 1 0 64 2 1000 120 60 "0 3ff8000000000000 2 1"
	site power 3 11 0 8 4 1000 120 0 "0 10 250 250" "0 0 750 750"
	site power 7 7 0 64 0 50 40 0 "0 1 50 50"
	site divide 2 2 1 64 0 400 100 0 "0 a 399 399" "0 3 1 1"
	site divide 2 11 0 8 4 400 100 0 "0 8 100 100" "0 0 300 300"
	site walk 0 12 0 12 4 500 100 0 "0 801 450 450" "0 5 50 50"
	site walk 0 5 0 64 1 500 100 31 "0 7ffe00001000 1 1"
	site walk 0 15 0 64 0 400 100 0 "0 40 300 300" "0 fffffffffffffff8 100 100"
	site walk 3 13 0 64 1 80 50 0 "1 $(printf '%x' $(($(at divide 0)))) 60 60" "0 7ffe00002000 20 20"
	site fill 0 12 0 12 4 600 90 0 "0 102 300 300" "0 202 200 200" "0 402 100 100"
	site fill 0 14 9 64 1 200 90 0 "1 $(printf '%x' $(($(at fill 0)))) 200 200"
	site fill 0 4 0 8 0 600 90 0 "0 20 600 600"
	site fill 2 12 0 12 4 600 90 0 "0 21 400 400" "0 11 100 100" "0 81 100 100"
	site fill 2 14 5 64 1 400 90 0 "1 $(printf '%x' $(($(at fill 0)))) 400 400"
	site fill 2 9 0 16 0 400 90 0 "0 1 400 400"
	site _start 0 1 0 64 0 3 2 3
}
text > text.exp || exit 1
make_experiment made < text.exp || exit 1
list() { sed "s|$work/||; s|^ *$work||" | sed -n '/^ *\(values\|calls\|seen\)  /,$p'; }
for view in values arguments operations access conflicts redundant; do
	prof "-$view" made 2>&1 | list > "$view"
	golden "prof/values-$view" "$view"
done
prof -values power made 2>&1 | list > of-power
golden prof/values-power of-power
prof -dis -only power -only walk made 2>&1 | sed -n '/^power:/,/TOTAL/p' | sed 's/in app/in app/' > dis
golden prof/values-dis dis
prof -values -json made | sed "s|$work/||g" | grep -o '"schema":"[^"]*"\|"list":[^]]*]' | head -2 > json
golden prof/values-json json
prof -arguments -csv made | sed "s|$work/||g" | grep -v '^#' | head -4 > csv
golden prof/values-csv csv

# The load has time at stake, the store before it has none but is silent more often.
sed "s/^sample 0 0 0 100 .*/&\\nsample 0 0 0 500 1:$(at fill 2)/" text.exp | make_experiment timed || exit 1
like "what is most at stake comes first" "$(prof -redundant timed | grep -m 1 'fill (')" ' mov [(]%rcx[)], %edx '
grep -vE '^(site|value) ' text.exp > bare.exp
{ cat bare.exp; site power 0 6 0 64 0 1000 120 0 "0 7 900 900"; } | sed 's/^value [0-9]*/value 0/' | make_experiment bare || exit 1
run prof -operations bare
like "no rows: it is said" "$out" '^Nothing of that kind was seen'
unlike "and there is no heading of columns" "$out" 'second operand|at stake'
like "scripts have the columns" "$(prof -operations -csv bare)" 'second'
like "and how many windows would do" "$out" 'in 20 values and 3 windows or more'

# Denormals in a share of the executions that so many windows saw; a divisor and a count in a quarter of theirs.
few() {
	{
		cat bare.exp
		site=-1
		site power 3 11 0 8 4 200 "$1" 0 "0 10 $2 $2" "0 0 $((200 - $2)) $((200 - $2))"
		site divide 2 11 0 8 4 400 "$3" 0 "0 0 400 400"
		[ "$4" != divisor ] || site divide 2 2 0 64 0 400 "$3" 90
		site divide 2 2 1 64 0 400 "$3" 0 "0 c 100 100" "0 3 20 20"
	} | make_experiment few && prof -operations few | list
}
out=$(few 3 50 100 divisor)
like "three windows: a row of weak figures" "$out" '^ +200 .* ~25 .*mulsd'
like "a divisor of a quarter" "$out" '^ +400 .* 12 25.0% +div'
like "and it is said" "$out" '^Weak figures are of fewer than 5 windows: '
out=$(few 3 8 4 divisor)
unlike "three windows, 4%: none" "$out" mulsd
like "a divisor, four windows" "$out" '^ +400 .* ~[0-9.]+ +12 25.0% +div'
out=$(few 5 8 2 divisor)
like "five windows, 4%: a row" "$out" '^ +200 .* 4 .*mulsd'
unlike "two windows: none" "$out" 'div |Weak'
unlike "a count of a quarter" "$(few 2 50 100 count)" 'mulsd|div |Weak'

# Two values whose intervals overlap: neither is called the most frequent one. The same shares in many windows differ.
tie() {
	{
		cat bare.exp
		site=-1
		site power 0 6 0 64 0 1000 "$1" 0 "0 7 $2 $2" "0 5 $3 $3" "0 8 100 100"
		site power 0 1 0 32 0 1000 "$1" 0 "0 7 $2 $2" "0 5 $3 $3" "0 8 100 100"
	} | make_experiment tie
}
tie 60 500 400 || exit 1
prof -values tie | list > tie.text
like "overlapping intervals: the first is not the most frequent for sure" "$(cat tie.text)" ' 1000 +50 .* 7 or 5 40.0%, 8 10.0% '
like "and it is said below" "$(cat tie.text)" '^Values joined by "or" may each be the most frequent: '
like "of arguments, too" "$(prof -arguments tie | list)" ' 7 or 5 40.0%, 8 10.0% '
like "and in the disassembly" "$(prof -dis tie)" ' 7 50% or 5 40% '
is "scripts have the number of rivals" "$(prof -values -json tie | python3 -c 'import json, sys; print({r["rivals"]["value"] for r in json.load(sys.stdin)["rows"]})')" "{1}"
is "as a column of CSV" "$(prof -values -csv tie | python3 -c 'import csv, sys; print({r["rivals"] for r in csv.DictReader(l for l in sys.stdin if l[0] != "#")})')" "{'1'}"
tie 1000 800 100 || exit 1
out=$(prof -values tie | list)
like "intervals apart: the first is the most frequent" "$out" ' 7, 5 10.0%, 8 10.0% '
unlike "and nothing is said" "$out" ' or |"or"'
tie 4 500 400 || exit 1
unlike "few windows have weak figures, not intervals" "$(prof -values power tie | list)" ' or '

run prof -values "$build/tests/programs/known"
like "no experiment" "$status" '^[1-9]'
echo "image elf $work/app" | make_experiment none || exit 1
run prof -values none
like "an experiment without values" "$status $err" '^125 .*(has no values|nothing to report|no metric)'
printf 'type values\nimage elf %s/app\nmoments 0\n' "$work" | make_experiment short || exit 1
run prof -operations short
like "a run without windows was too short" "$status $err" '^125 .*too short for values$'
printf 'type branches,values\nimage elf %s/app\nmetric time 2000003 measured clock,values\nsample 0 0 0 9 1:401000\n' "$work" | make_experiment unlogged || exit 1
run prof -arguments unlogged
like "nor had bursts the time to log some" "$status $err" '^125 .*the run was too short for values$'
prof -merge -o shorts short short
is "nor are several enough, and nobody is told to begin with several" "$(prof -operations shorts 2>&1)" \
	"prof: shorts: the runs were too short for values
prof:   give it more work, a rate (ssrun -values -rate 300), or more runs (ssrun -runs)"
prof -merge -o sum made made
is "a file twice has the same shares" "$(prof -arguments sum | list | awk '/argument 1/ { print $1, $2, $4 }')" "2000 70 90"

# Other values at the same places, of three runs: neither the order of files matters, nor whether sums are
# made of them before.
sed '/^value /s/ 7 900 900/ 8 900 900/' text.exp | make_experiment second || exit 1
sed '/^value /{ s/ 7 900 900/ 9 700 700/; s/ a 399 399/ b 200 190/; }' text.exp | make_experiment third || exit 1
prof -values power made second third | list > forth
prof -values power third made second | list > back
prof -merge -o two third second && prof -merge -o three two made || exit 1
prof -values power three | list > steps
is "values of three files in another order" "$(cat back)" "$(cat forth)"
is "values of three files, added up step by step" "$(cat steps)" "$(cat forth)"
like "and values of all three are listed" "$(cat forth)" ' 3000 .* 7 or 8 30.0% or 9 23.3% .*argument 1'

# Many runs, in which an argument has other values each time but for one: sums are limited, and the same in any
# order and grouping.
many=
for i in $(seq 40); do
	sed "/^value /d" text.exp > one.exp
	for k in $(seq 14); do printf 'value 0 0 %x 40 40\n' $((i * 1000 + k * 17)); done >> one.exp
	printf 'value 0 0 7 300 300\n' >> one.exp
	make_experiment "many$i" < one.exp || exit 1
	many="$many many$i"
done
# shellcheck disable=SC2086 # words
prof -merge -o sum1 $many
# shellcheck disable=SC2046
prof -merge -o sum2 $(printf '%s\n' $many | sort -r)
# shellcheck disable=SC2046
prof -merge -o sum3 $(printf '%s\n' $many | sort | head -23)
# shellcheck disable=SC2046
prof -merge -o sum4 sum3 $(printf '%s\n' $many | sort | tail -17)
rows=$(prof -dump sum1 | grep -c '^value ')
ok "a sum of 40 files is limited: $rows rows of 600" test "$rows" -gt 100 -a "$rows" -le 256
ok "equal bytes in another order" cmp sum1 sum2
ok "and grouping" cmp sum1 sum4
# shellcheck disable=SC2086
prof -values power $many | list > unsummed
prof -values power sum1 | list > summed
is "the files themselves are reported as their sum" "$(cat unsummed)" "$(cat summed)"
like "what all of them have is there" "$(cat summed)" ' 40000 +30 .* 7, .*argument 1'

# What is planted in this program is found, with its share.
run ssrun -values -rate 1000 -o known "$build/tests/programs/known" 3
for view in arguments operations access conflicts redundant; do
	prof "-$view" -json known > "$view.json" || exit 1
done
ok "what is planted is found" python3 - <<-'END'
	import json
	def rows(view): return json.load(open(view + ".json"))["rows"]
	def find(view, procedure, name, **more):
	    found = [r for r in rows(view) if r.get("procedure") == procedure and r.get(name) and
	             all(r.get(k) == v for k, v in more.items())]
	    assert found, (view, procedure, name)
	    return max(found, key=lambda r: r[name]["value"])
	def share(what, row, name, want, top=None):
	    got = row[name]
	    assert abs(got["value"] - want) <= 3 or got["low"] <= want <= got["high"], (what, got, want)
	    assert got["label"] == "estimated" and got["low"] <= got["value"] <= got["high"], got
	    assert top is None or row["list"][0]["value"] == top, (what, row["list"][0], top)
	share("constant argument", find("arguments", "power", "top", operand="argument 1"), "top", 90.3, "7")
	share("constant divisor", find("arguments", "divides", "top", operand="argument 2"), "top", 100, "10")
	share("denormals", find("operations", "denormal", "denormal"), "denormal", 100)
	share("blocked forwarding", find("conflicts", "blocked", "blocked"), "blocked", 100)
	share("4K alias", find("conflicts", "aliases", "alias"), "alias", 100)
	share("silent stores", find("redundant", "silent", "silent"), "silent", 100)
	share("redundant loads", find("redundant", "reloads", "redundant"), "redundant", 99.5)
	share("dead stores", find("redundant", "dead", "dead"), "dead", 99)
	share("a chain of loads", find("access", "chase", "chase"), "chase", 99)
	assert any(r["second"].startswith("10 ") for r in rows("operations") if r["procedure"] == "divides" and "second" in r)
	for view in ("conflicts", "redundant", "operations"):
	    clean = [r for r in rows(view) if r.get("procedure") == "plain"]
	    assert not clean, clean
END
done_testing
