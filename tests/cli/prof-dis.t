# SPDX-License-Identifier: GPL-2.0-or-later
# prof -dis and -archinfo on experiments made by hand (tests/tools/experiment), of a program in assembly language, so that its
# bytes are the same everywhere.
. "$TOP/tests/lib.sh"
only_on x86_64 "prof -dis" "the program is x86-64's"

cat > app.s <<'END'
	.text
	.globl _start, search, helper
	.type search, @function
search:	xor %eax, %eax
1:	cmp (%rdi), %esi
	je 2f
	add $64, %rdi
	dec %edx
	jne 1b
	ret
2:	mov %rdi, %rax
	ret
	.size search, .-search
	.type helper, @function
helper:	call search
	imul %rax, %rax
	ret
	.size helper, .-helper
	.type _start, @function
_start:	call helper
	jmp _start
	.size _start, .-_start
END
assemble app -g
samples() {
	cat <<END
type pcsamp
image elf $work/app
metric time 1000000 measured clock,skid
sample 0 0 0 900 1:$(at search 6)
sample 0 0 0 50 1:$(at search 2)
sample 0 0 0 40 1:$(at search 15)
sample 0 0 0 10 1:$(at helper 5)
END
}
samples | make_experiment time.exp || exit 1
exact() {
	cat <<END
type ideal
image elf $work/app
metric gi 1 model exact 15
END
	# 10 calls of 100 turns; found in 4 of them
	for i in "0 10" "2 1000" "4 1000" "6 996" "10 996" "12 996" "14 6" "15 4" "18 4"; do
		echo "sample 0 0 0 ${i#* } 1:$(at search "${i% *}")"
	done
	echo "edge 1 $(at search 4) $(at search 15) 4 1"
	echo "edge 1 $(at search 4) $(at search 6) 996 0"
	echo "edge 1 $(at search 12) $(at search 2) 990 1"
	echo "edge 1 $(at search 12) $(at search 14) 6 0"
}
exact | make_experiment ideal.exp || exit 1

shown() { # name prof-options...
	name=$1; shift
	run prof "$@"
	printf '%s\n' "$out" | sed "s|$work|WORK|g" > "$name.shown"
	golden "prof/$name" "$name.shown"
}
shown dis -dis time.exp
is "a report that lacks nothing ends with 0" "$status" 0
shown dis-raw -dis -raw -intel -ci -q 1 time.exp
shown dis-ideal -dis -only search ideal.exp
shown dis-both -dis -only search time.exp ideal.exp

run prof -dis -q 1000 -json time.exp
printf '%s\n' "$out" > out.json
cat > look.py <<'END'
import json, sys
d = json.load(open("out.json"))
rows = {int(r["address"], 16): r for r in d["rows"] if "address" in r and r.get("role") != "head"}
search = int(sys.argv[1], 16)
moved, raw = d["columns"].index("time"), d["columns"].index("time.raw")
def cell(offset, column): return rows[search + offset]["counts"][column]
# cmp and je are one: what is behind them waited for the load
print(cell(2, moved)["value"], cell(2, moved)["label"], cell(6, raw)["value"], cell(6, raw)["label"])
print(cell(10, moved)["label"], rows[search + 2]["bytes"], rows[search + 2]["text"])
print(round(sum(r["counts"][moved]["value"] for r in rows.values()), 6), round(sum(r["counts"][raw]["value"] for r in rows.values()), 6))
print([r["target"] for r in rows.values() if r["text"].startswith("call")])
low = [r for r in rows.values() for c in r["counts"] if c and not c["low"] <= c["value"] <= c["high"]]
print(len(low))
END
is "JSON: moved and raw counts, bytes and text" "$(python3 look.py "$(at search 0)")" "0.94 measured 0.9 measured
estimated 3b37 cmp (%rdi), %esi
1.0 1.0
['search']
0"

# with executions, the split at the loop's head is that of its edges: 10 of 1000 come from before
run prof -dis -json time.exp ideal.exp
printf '%s\n' "$out" > out.json
cat > split.py <<'END'
import json, sys
d = json.load(open("out.json"))
search = int(sys.argv[1], 16)
rows = {int(r["address"], 16): r for r in d["rows"] if "address" in r and r.get("role") != "head"}
moved = d["columns"].index("time")
def value(offset): return rows[search + offset]["counts"][moved]["value"]
print(round(value(0), 6), round(value(10), 6))
END
is "with edges counted, samples at a head are split by them" "$(python3 split.py "$(at search 0)")" "0.0005 0.0495"

shown archinfo -archinfo -q 12 ideal.exp
is "-archinfo lacks nothing" "$status" 0
like "-archinfo: headings are whole" "$(COLUMNS=80 prof -archinfo -names short -width 80 ideal.exp)" '^Instructions by kind [(]one may be of several[)]$'
run prof -archinfo -json ideal.exp
printf '%s\n' "$out" > out.json
cat > mix.py <<'END'
import json
d = json.load(open("out.json"))
n = {(r["section"], r["text"]): r["counts"][0] or r["counts"][1] for r in d["rows"] if "section" in r}
def value(*key): return round(n[key]["value"], 4)
# 1000 compares that load; 1996 conditional branches, of which 4 + 990 taken; 10 returns
print(value("kind", "load"), value("branch", "conditional branches"), value("branch", "conditional branches taken"), value("branch", "returns"))
print(value("load", "base"), value("load size", "4 bytes"), value("name", "je"), value("register written", "rdi"))
print(value("average", "instructions a block (between branches)") == round(5012 / 2006, 4), {c["label"] for c in n.values()})
END
is "-archinfo counts what was executed" "$(python3 mix.py)" "1010 1996 994 10
1000 1000 1000 996
True {'model'}"
run prof -archinfo time.exp
is "-archinfo without exact counts" "$status" 125
like "says what gives them" "$err" 'ssrun -ideal'

# what is large, what is not known, what is no code
cat > odd.s <<'END'
	.text
	.globl _start, long, odd
	.type long, @function
long:	inc %eax
	.rept 400
	nop
	.endr
	inc %ecx
	ret
	.size long, .-long
	.type odd, @function
odd:	test %edi, %edi
	je 2f
1:	inc %eax
2:	dec %edi
	jne 1b
	add $8, %rcx
	jmp *%rcx
	.byte 6
	.size odd, .-odd
	.type _start, @function
_start:	jmp *8(%rax)
	.size _start, .-_start
END
assemble odd
make_experiment odd.exp <<END
type pcsamp
image elf $work/odd
image kernel [kernel]
metric time 1000000 measured clock,skid
symbol 2 ffff0000 64 schedule
sample 0 0 0 50 1:401001
sample 0 0 0 30 1:401004
sample 0 0 0 20 1:$(printf %x $((0x401000 + 402 + 6)))
sample 0 0 0 12 1:$(printf %x $((0x401000 + 402 + 6 + 10)))
sample 0 0 0 9 2:ffff0010
sample 0 0 0 5 0:99
END
run prof -dis -q 100cum% odd.exp
like "of a large function, what has no samples is left out" "$out" '[0-9]+ instructions without samples are left out \(-whole\)'
like "a loop entered at several places" "$out" 'loop 1, entered at several places'
like "a jump to where a register says" "$out" 'jmp \*?%rcx +goes to an unknown target'
like "is counted" "$out" '^1 jump goes to an unknown target'
like "what cannot be decoded" "$out" '\.byte 0x06'
like "code that cannot be had: addresses" "$out" 'ffff0010'
like "which says so" "$out" 'schedule: its code is not available'
like "samples in no function" "$out" '^5 samples are in no function'
run prof -dis -q 100cum% -whole odd.exp
unlike "-whole: nothing is left out" "$out" 'left out'
is "all is there" "$(printf '%s\n' "$out" | grep -c ' nop$')" 400
rm odd
run prof -dis -q 100cum% odd.exp
is "without the file there is less" "$status" 1
like "but the samples" "$out" '5 samples|122 samples|TOTAL'
done_testing
