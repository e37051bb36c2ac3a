# SPDX-License-Identifier: GPL-2.0-or-later
# prof on experiments that ssrun recorded: C++ names, inlined functions, call paths, exact counts beside time, phases.
. "$TOP/tests/lib.sh"
cat > app.cc <<'END'
#include <cstdio>
namespace work {
template <int N> static __attribute__((noinline)) long leaf(long x)
{
	for (int i = 0; i < N; i++)
		x = x * 3 + i;
	return x;
}
static inline __attribute__((always_inline)) long twice(long x)
{
	return x * 2 +
	       (x >> 3);
}
struct runner {
	long sum = 0;
	__attribute__((noinline)) void heavy(int n) { for (int i = 0; i < n; i++) sum += leaf<300>(sum); }
	__attribute__((noinline)) void light(int n) { for (int i = 0; i < n; i++) sum += leaf<100>(sum); }
	__attribute__((noinline)) void inlined(int n)
	{
		for (int i = 0; i < n; i++)
			sum = twice(sum) + i;
	}
};
}
int main(int argc, char **)
{
	work::runner r;
	for (int i = 0; i < (argc > 1 ? 2000 : 10); i++) {
		r.heavy(100);
		r.light(100);
		r.inlined(1000);
	}
	return std::printf("%ld\n", r.sum) < 0;
}
END
g++ -O1 -g -o app app.cc || exit 1
# The model counts the same each time, so that shares are known; -e: by themselves and with call paths.
ok "samples of instructions with call paths" ssrun -q -source model -e gi:1009:stacks -o paths.exp ./app

run prof -json -inclusive -only app paths.exp
printf '%s\n' "$out" > inclusive.json
ok "C++ names, and three to one" python3 - <<'END'
import json
d = json.load(open("inclusive.json"))
rows = {r["procedure"]: r for r in d["rows"]}
own, total = ({p: r["counts"][k]["value"] for p, r in rows.items()} for k in (0, 1))
three, one = own["long work::leaf<300>(long)"], own["long work::leaf<100>(long)"]
assert 2.7 < three / one < 3.3, (three, one)
assert all(r["counts"][0]["label"] == "model" for r in d["rows"])
heavy = total["work::runner::heavy(int)"]
assert heavy >= three and heavy < 1.1 * three and own["work::runner::heavy(int)"] < 0.1 * heavy
assert total["main"] >= heavy + total["work::runner::light(int)"] + total["work::runner::inlined(int)"]
assert d["rows"][0]["percent"][1] > 90
END
run prof -json -butterfly -only 'work::runner::heavy*' paths.exp
printf '%s\n' "$out" > butterfly.json
ok "callers and callees add up" python3 - <<'END'
import json
d = json.load(open("butterfly.json"))
roles = [(r.get("role"), r["procedure"], r["counts"][0]["value"]) for r in d["rows"]]
head = [r for r in d["rows"] if r.get("role") == "head"][0]
all_, own = (c["value"] for c in head["counts"])
assert [r for r in roles if r[0] == "caller"] == [("caller", "main", all_)], roles
assert sum(r[2] for r in roles if r[0] == "callee") + own == all_, roles
END
run prof -calltree -only app -q 5% paths.exp
like "the tree shows what leads to what is wanted" "$out" '  __libc_start'
like "and that" "$out" ' {6,}long work::leaf<300>\(long\) \(app: app.cc'
run prof -inlines paths.exp
like "-inlines: inlined functions have rows" "$out" 'twice \[inlined\] \(app: app.cc'
run prof -heavy paths.exp
like "-heavy says what was inlined where" "$out" 'work::runner::inlined\(int\) \[inlined twice\] \(app: app.cc, 1[12]\)'
run prof -lines -q 1 paths.exp
like "-lines has the source" "$out" '6  		x = x \* 3 \+ i;'

# exact counts beside time
ok "exact counts" ssrun -q -ideal -o ideal.exp ./app long
ok "time" ssrun -q -fpcsamp -o time.exp ./app long
run prof -json -only app ideal.exp time.exp
printf '%s\n' "$out" > cpi.json
ok "calls are exact, cycles for each instruction estimated" python3 - <<'END'
import json
d = json.load(open("cpi.json"))
calls, cpi = d["columns"].index("calls"), d["columns"].index("cpi")
rows = {r["procedure"]: r for r in d["rows"]}
c = rows["long work::leaf<300>(long)"]["counts"]
assert (c[calls]["value"], c[calls]["low"], c[calls]["high"], c[calls]["label"]) == (200000, 200000, 200000, "model"), c
assert c[cpi]["label"] == "estimated" and 0 < c[cpi]["low"] < c[cpi]["value"] < c[cpi]["high"], c
assert rows["main"]["counts"][calls]["value"] == 1
END

# what was sampled at both periods: a loop as long as one of them, and one that is not (x86-64)
both() { # instructions a turn
	ssrun -q -source model -machine r10000 -both -gi_hwc -o "both.$1" "$build/tests/programs/resonate" "$1" 4000 && prof "both.$1" > "both.$1.text"
}
if [ "$(uname -m)" = x86_64 ]; then
	ok "a loop in step with the finer period" both 6553
	like "is found out" "$(cat both.6553.text)" 'gi at periods 32771 and 6553: the profiles by function differ by more than chance'
	like "and where" "$(cat both.6553.text)" '[0-9.]+% at 32771, +(0.0|9[0-9.]+|100.0)% at 6553: (first|second)$'
	ok "another loop" both 6000
	like "looks the same at both" "$(cat both.6000.text)" 'gi at periods 32771 and 6553: the profiles by function agree'
else
	skip "both periods" "the program that is in step is for x86-64"
fi

# many files
mkdir ranks
for i in 1 2 3; do ssrun -q -source model -gi_hwc -o ranks/$i ./app > out || exit 1; done
prof -json ranks/1 > one.json
prof -json ranks > three.json
ok "three runs that are the same make three times as much" python3 -c '
import json; a, b = (json.load(open(f))["total"]["counts"][0]["value"] for f in ("one.json", "three.json")); assert b == 3 * a, (a, b)'
run prof -threads ranks
is "-threads: a main thread each" "$(printf '%s\n' "$out" | grep -c '^main thread [0-9]* app, [0-9.]*%')" 3
run prof -usage ranks
is "-usage, too" "$(printf '%s\n' "$out" | grep -c 'exit 0  [0-9]* app$')" 3
ssrun -q -fpcsamp -o parent sh -c 'sh -c "exit 3"; :'
run prof -usage parent
like "the status of the command is known, and that of others is not, which is said" "$out" '^Only the command.s own status is known: that of another process goes to its parent'
like "... of the command" "$out" ' exit 0  [0-9]+ sh'

# symbols and lines matter only where there are names of functions, and where there are samples
cp app bare && strip bare
ssrun -q -source model -gi_hwc -o bare.gi ./bare > out || exit 1
like "of a stripped program, functions miss symbols" "$(prof bare.gi)" '/bare \([0-9]+ samples\): it has no symbols'
is "but processes and images do not" "$({ prof -usage bare.gi; prof -dso bare.gi; } | grep symbols)" ""
run ssrun -branches -dataspace true
is "two runs are refused" "$status" 125
like "and what does both is said" "$err" 'ssrun -explain -dataspace'
like "... by their names" "$err" 'branches samples the command as it is, and dataspace here one on the model'
prof -dump -q ranks/1 > dump1
prof -dump -q ranks/2 > dump2
ok "-dump -q of equal runs is equal" cmp dump1 dump2

# phases
ok "phases by name" ssrun -q -source model -e gi:1009 -o phases.exp "$build/tests/programs/phased"
run prof -summary phases.exp
points=$(printf '%s\n' "$out" | sed -n 's/^Caliper points *\([0-9]*\)$/\1/p')
is "two points" "$points" 2
run prof -calipers one,two phases.exp
first=$(printf '%s\n' "$out" | sed -n 's/^Samples .*: \([0-9]*\) samples* of.*/\1/p')
run prof -calipers two phases.exp
second=$(printf '%s\n' "$out" | sed -n 's/^Samples .*: \([0-9]*\) samples* of.*/\1/p')
ok "the second phase is twice the first or more" test "$second" -gt "$first"

# A function that begins with its loop is called as often as it is called.
if [ "$(uname -m)" = x86_64 ] && perfex -source model -e 17 true >/dev/null 2>&1; then
	cat >spin.s <<'END'
	.text
	.globl spin
	.type spin, @function
spin:	dec %rdi
	jnz spin
	ret
	.size spin, .-spin
	.globl main
	.type main, @function
main:	push %rbx
	mov $7, %ebx
1:	mov $1000, %edi
	call spin
	dec %ebx
	jnz 1b
	xor %eax, %eax
	pop %rbx
	ret
	.size main, .-main
	.section .note.GNU-stack, "", @progbits
END
	${CC:-cc} -o spin spin.s
	run ssrun -q -ideal -o spin.exp ./spin
	run prof -only spin spin.exp
	like "seven calls, not seven thousand" "$out" '^ *14007 .* 7  spin \(spin\)'
else
	skip "calls of a loop" "there is no model here"
fi
# A command of 30,000 arguments takes one line of the head, which has five; -head: the beginning, and how long it is.
# shellcheck disable=SC2046 # words
ssrun -q -fpcsamp -o many sh -c : $(seq 30000) || exit 1
head_of() { awk '/^---/ && ++rules == 2 { exit } !/^---/'; }
like "30,000 arguments: five lines at most" "$(prof many 2>&1 | head_of | grep -c .)" '^[1-5]$'
is "as wide as a terminal" "$(prof many 2>&1 | head_of | awk 'length > 79 { print length }')" ""
is "-head: how long it is" "$(prof -head many 2>&1 | sed -n 's/^.*: 1 2 3 .*[.][.][.] //p')" "(168901 bytes)"
is "JSON has it whole" "$(prof -json many | jq -r '.run[] | objects | .value | select(startswith("sh -c : 1 ")) | length')" 168901
done_testing
