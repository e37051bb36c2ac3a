# SPDX-License-Identifier: GPL-2.0-or-later
# prof -calc on samples made by hand of a program in assembly language, whose executions are known.
. "$TOP/tests/lib.sh"
only_on x86_64 "prof -calc" "the program is x86-64's"

# A chain of multiplications, which nothing can make faster: 12 cycles a turn, 9 more in every fourth one.
cat > app.s <<'END'
	.text
	.globl _start, chain, unknown
	.type chain, @function
chain:	imul %rax, %rax
	imul %rax, %rax
	imul %rax, %rax
	test $3, %dl
	jne 1f
	imul %rax, %rax
	imul %rax, %rax
	imul %rax, %rax
1:	imul %rax, %rax
	dec %edx
	jne chain
	ret
	.size chain, .-chain
	.type unknown, @function
unknown: test %edx, %edx
	je 2f
	jmp *%rax
2:	ret
	.size unknown, .-unknown
	.type _start, @function
_start:	call chain
	call unknown
	jmp _start
	.size _start, .-_start
END
assemble app
# A sample every millisecond at 3 GHz is one in 3000000 cycles: 900 million turns of 3 cycles for each multiplication are 900
# samples, found one instruction later.
samples() {
	cat <<END
type fpcsamp
fact clock_hz 3000000000
image elf $work/app
metric time 1000000 measured clock,skid
sample 0 0 0 900 1:$(at chain 4)
sample 0 0 0 900 1:$(at chain 8)
sample 0 0 0 900 1:$(at chain 12)
sample 0 0 0 225 1:$(at chain 21)
sample 0 0 0 225 1:$(at chain 25)
sample 0 0 0 225 1:$(at chain 29)
sample 0 0 0 900 1:$(at chain 33)
sample 0 0 0 20 1:$(at unknown 4)
END
}
samples | make_experiment time.exp || exit 1

shown() { # name prof-options...
	name=$1; shift
	run prof "$@"
	printf '%s\n' "$out" | sed "s|$work|WORK|g" > "$name.shown"
	golden "prof/$name" "$name.shown"
}
shown calc -calc chain -core zen4 time.exp
is "a report that lacks nothing ends with 0" "$status" 0
shown calc-classic -calc chain -calc unknown -core zen4 -classic -ci time.exp

cat > look.py <<'END'
import json, sys
rows = {r["address"]: r for r in json.load(open(sys.argv[1]))["rows"] if "block" in r}
r = rows[sys.argv[2]]
x = r["executions"]
assert x["label"] == "estimated" and x["low"] <= x["value"] <= x["high"], x
if sys.argv[3] in r:
    print(r[sys.argv[3]])
else: # millions of executions, and how far these may be off
    print(abs(x["value"] / 1e6 / float(sys.argv[3]) - 1) <= float(sys.argv[4]) and "near" or x)
END
for how in -intel -classic; do
	run prof -calc chain -core zen4 $how -json time.exp
	printf '%s\n' "$out" > out.json
	is "$how: turns of the loop" "$(python3 look.py out.json "$(at chain 0)" 900 .15)" near
	is "$how: its end is executed as often" "$(python3 look.py out.json "$(at chain 29)" 900 .15)" near
	is "$how: the way that was taken less often" "$(python3 look.py out.json "$(at chain 17)" 225 .4)" near
done
run prof -calc -core zen4 -json time.exp
like "without a function, an option after -calc is no function" "$status $out" '^0 .*"report":"calc"'
run prof -calc unknown -core zen4 -json time.exp
printf '%s\n' "$out" > out.json
is "where code jumps to unknown places, confidence is low" "$(python3 look.py out.json "$(at unknown 0)" confidence)" low

exact() {
	echo "type ideal"
	echo "image elf $work/app"
	echo "metric gi 1 model exact 15"
	for i in 0 4 8 12 15 29 33 35; do echo "sample 0 0 0 900000000 1:$(at chain $i)"; done
	for i in 17 21 25; do echo "sample 0 0 0 225000000 1:$(at chain $i)"; done
}
exact | make_experiment ideal.exp || exit 1
shown calc-exact -calc chain -core zen4 time.exp ideal.exp

# Exact counts of another command are not the executions of these samples.
{ samples; echo "fact command ./app long"; } | make_experiment long.exp || exit 1
{ exact; echo "fact command /else/where/app long"; } | make_experiment same.exp || exit 1
{ exact; echo "fact command ./app short"; } | make_experiment short.exp || exit 1
run prof long.exp same.exp
unlike "counts of the same command, by another path" "$out" '^Other run'
like "have cycles an instruction" "$out" ' cpi '
run prof -stalls -core zen4 long.exp same.exp
like "and are its executions" "$out" '^Analysis .*executions from exact counts'
run prof long.exp short.exp
like "counts of another command: which" "$out" '^Other run +of short.exp, not executions of these samples: ./app short'
unlike "no cycles an instruction are derived" "$out" ' cpi '
run prof -stalls -core zen4 long.exp short.exp
like "and executions are not from them" "$out" '^Analysis .*executions from samples'
unlike "nor exact" "$out" ' exact '
run prof -calc chain -core zen4 -json long.exp short.exp
printf '%s\n' "$out" > out.json
is "-calc: estimated" "$(python3 look.py out.json "$(at chain 0)" 900 .15)" near
run prof -compare long.exp short.exp
unlike "-compare is meant to compare commands" "$out" '^Other run'

# What is called waits much longer than its code must: it is not called that many times for each execution of its caller.
cat > calls.s <<'END'
	.text
	.globl _start, leaf
	.type leaf, @function
leaf:	mov (%rdi), %rax
	add %rax, %rcx
	ret
	.size leaf, .-leaf
	.type _start, @function
_start:	imul %rbx, %rbx
	imul %rbx, %rbx
	imul %rbx, %rbx
	imul %rbx, %rbx
	call leaf
	dec %edx
	jne _start
	hlt
	.size _start, .-_start
END
assemble calls
begin() { nm calls | awk -v n="$1" '$3 == n { print $1 }'; }
found() { printf '0x%x' $((0x$(begin "$1") + $2)); }
{
	echo "type fpcsamp"
	echo "fact clock_hz 3000000000"
	echo "image elf $work/calls"
	echo "metric time 1000000 measured clock,skid"
	for i in 4 8 12 16; do echo "sample 0 0 0 300 1:$(found _start $i)"; done
	echo "sample 0 0 0 9000 1:$(found leaf 6)"
} | make_experiment calls.exp || exit 1
cat > ratio.py <<'END'
import json, sys
rows = {int(r["address"], 16): r["executions"]["value"] for r in json.load(open("out.json"))["rows"] if "block" in r}
print(rows[int(sys.argv[1], 16)] / rows[int(sys.argv[2], 16)] < 5 and "tied")
END
run prof -calc '*' -core zen4 -json calls.exp
printf '%s\n' "$out" > out.json
is "a function is entered about as often as it is called" "$(python3 ratio.py "$(begin leaf)" "$(begin _start)")" tied

functions() { printf '%s\n' "$out" | sed -n 's/^\([a-z_]*\): in app.*/\1/p' | sort | tr '\n' ' '; }
run prof -calc -core zen4 time.exp
is "without a procedure: those with most samples" "$(functions)" "chain "
run prof -core zen4 -calc time.exp
is "also where a file follows" "$status $(functions)" "0 chain "
run prof -calc time.exp -core zen4 unknown
is "a procedure may come later" "$status $(functions)" "0 unknown "
run prof -core zen4 -calc -csv time.exp
like "or another option" "$out" '^role,.*,executions,'
run prof -core zen4 -calc nosuch time.exp
is "a procedure that is none" "$status $out" "1 "
like "is said" "$err" "-calc: no function or image matches 'nosuch', and no file has that name"

run prof -calc chain -core nosuch time.exp
is "an unknown core is refused" "$status" 125
run prof -calc chain -core zen4 ideal.exp
is "exact counts alone have no cycles" "$status" 125
like "and that is said" "$err" '^prof: executions and waits need samples of time'
# ---- a terminal ----
# at_width COLUMNS: the rows that are longer
at_width() { prof -calc -only chain -width "$1" time.exp > "at.$1"; sed -n '/^ *time/,$p' "at.$1" | awk -v w="$1" 'length > w'; }
for width in 80 100 120; do
	is "-width $width: rows, notes and headings fit" "$(at_width $width)" ""
done
like "-width 80: instructions are there" "$(cat at.80)" ' imul %rax, %rax$'
like "and it is said what is not" "$(cat at.80)" '^Left out for the width: bar, samples, .*
*.*-names full: all'
like "the letters of waits are explained below" "$(cat at.80)" 's = by the schedule'
unlike "whole rows have all columns" "$(prof -calc time.exp)" 'Left out for'
is "also with -names full" "$(prof -calc -names full -width 80 time.exp)" "$(prof -calc time.exp)"
is "CSV has all" "$(prof -calc -width 80 -csv time.exp)" "$(prof -calc -csv time.exp)"
done_testing
