# SPDX-License-Identifier: GPL-2.0-or-later
# Executions from branch records made by hand, of a program whose executions are known.
. "$TOP/tests/lib.sh"
only_on x86_64 "prof -calc with branch records" "the program is x86-64's"

# Two loops: one waits for memory (or not: samples do not tell), the other goes round often.
cat > app.s <<'END'
	.text
	.globl _start, waits, turns
	.type waits, @function
waits:	mov (%rdi), %rdi
	dec %ecx
	jne waits
	ret
	.size waits, .-waits
	.type turns, @function
turns:	add $1, %rax
	dec %edx
	jne turns
	ret
	.size turns, .-turns
	.type _start, @function
_start:	call waits
	call turns
	jmp _start
	.size _start, .-_start
END
assemble app
at() { printf '%x' $((0x$(nm app | awk -v n="$1" '$3 == n { print $1 }') + $2)); }
# 1000 ms each at 3 GHz: 10 million turns of 300 cycles, and 3000 million of one.
samples() {
	cat <<END
type branches
fact clock_hz 3000000000
image elf $work/app
metric time 1000000 measured clock,skid
sample 0 0 0 1000 1:0x$(at waits 3)
sample 0 0 0 1000 1:0x$(at turns 4)
END
}
# Waits 100 times for each call, turns 30000 times: bursts of 100 are in both equally often.
runs() {
	cat <<END
run 1 $(at waits 0) $(at waits 5) 1 $(at waits 0) 9900
run 1 $(at waits 0) $(at waits 5) 1 $(at waits 7) 100
run 1 $(at waits 7) $(at waits 7) 1 $(at _start 5) 100
run 1 $(at _start 5) $(at _start 5) 1 $(at turns 0) 100
run 1 $(at turns 0) $(at turns 6) 1 $(at turns 0) 299990
run 1 $(at turns 0) $(at turns 6) 1 $(at turns 8) 10
run 1 $(at turns 8) $(at turns 8) 1 $(at _start 10) 10
run 1 $(at _start 10) $(at _start 10) 1 $(at _start 0) 10
run 1 $(at _start 0) $(at _start 0) 1 $(at waits 0) 10
END
}
# 100 000 calls in two seconds, in 100 windows of a tenth of a millisecond.
rates() { for f in "waits 7" "turns 8"; do echo "rate 1 $(at $f) 500 10000000 100 2000000000"; done; }
cat > look.py <<'END'
import json, sys
rows = {int(r["address"], 16): r for r in json.load(open("out.json"))["rows"] if "block" in r}
x = rows[int(sys.argv[1], 16)]["executions"]
assert x["label"] == "estimated" and x["low"] <= x["value"] <= x["high"], x
print(1 / float(sys.argv[3]) <= x["value"] / float(sys.argv[2]) <= float(sys.argv[3]) and "near" or x["value"])
END
look() { python3 look.py "$@"; }
shown() {
	run prof -calc '*' -core zen4 -json "$@"
	printf '%s\n' "$out" > out.json
	is "prof -calc $*" "$status" 0
}
{ samples; runs; rates; } | make_experiment rated.exp || exit 1
shown rated.exp
like "says where executions come from" "$(cat out.json)" "estimated from branch records"
is "turns of the loop that waits" "$(look "$(at waits 0)" 10e6 1.25)" near
is "turns of the loop that goes round" "$(look "$(at turns 0)" 3000e6 2)" near
is "calls" "$(look "$(at waits 7)" 100e3 1.25)" near
{ samples; runs; } | make_experiment shares.exp || exit 1
shown shares.exp
like "without rates the scale is that of samples, and said to be" "$(cat out.json)" "no address was watched often"
samples | make_experiment samples.exp || exit 1
runs > runs.text
{ echo "type branches"; echo "image elf $work/app"; cat runs.text; rates; } | make_experiment runs.exp || exit 1
shown samples.exp runs.exp
is "records of another file count as well" "$(look "$(at waits 0)" 10e6 1.25)" near
# Timed bursts, 100 in two seconds, of which 50 meet either loop: 10 million turns of the one and
# 3000 million of the other are 1e7 and 3e9 a second there; those that go on are once a millisecond.
timed() {
	turn=$(at turns 0) wait=$(at waits 0)
	cat <<END
run 1 $wait $(at waits 5) 1 $wait 99000 50 4.95e8 4.9005e15
run 1 $wait $(at waits 5) 1 $(at waits 7) 1000 50 5e6 5e11
run 1 $turn $(at turns 6) 1 $turn 29999000 50 1.49995e11 4.4997e20
run 1 $turn $(at turns 6) 1 $(at turns 8) 50 50 5e6 5e11
tally 10 2000000000
tally 12 100
tally 13 20000000
tally 14 30000000
END
}
{ samples; timed; } | make_experiment timed.exp || exit 1
shown timed.exp
is "rates of timed bursts are executions: of the loop that waits" "$(look "$(at waits 0)" 10e6 1.01)" near
is "of the loop that goes round" "$(look "$(at turns 0)" 3000e6 1.01)" near
like "which is said" "$(cat out.json)" "branch records of 100 bursts"
samples | make_experiment samples.exp || exit 1
{ echo "type branches"; echo "image elf $work/app"; timed; } | make_experiment bursts.exp || exit 1
shown samples.exp bursts.exp
is "rates of another file count for the time of the samples" "$(look "$(at waits 0)" 10e6 1.01)" near
{ samples; timed | sed 's/tally 12 100/tally 12 1/'; } | make_experiment few.exp || exit 1
shown few.exp
unlike "one burst is no sample of a program" "$(cat out.json)" "branch records of"
run prof -stalls -core zen4 few.exp
like "executions are not known then, but what the code can wait for" "$out" 'executions not known: perhaps static: front end'
unlike "without shares" "$out" 'executions not known.*[0-9]%'
like "which is called so" "$out" '^perhaps: what the code can wait for and its samples allow'
# Of two loops, one was in no burst: nothing is known of its executions.
{ samples | sed 's/measured clock,skid/measured clock/'; timed | grep -v "^run 1 $(at waits 0)"; } | make_experiment one.exp || exit 1
run prof -stalls -core zen4 one.exp
like "executions of code in no burst are not shown" "$out" '50\.[0-9]% .* \?  +low +\?  +[0-9a-f]+ +[a-z].*  met by no burst'
unlike "and no cause follows from them" "$out" 'met by no burst.*(perhaps|[0-9]%)'
run prof -why -core zen4 one.exp
like "-why has them apart" "$out" 'Executions not known +50\.[0-9]%'
like "and says what to do" "$out" '^Executions not known, about 50%: .*run it for longer, or for exact ones, ssrun -ideal'
run prof -topblocks -core zen4 one.exp
like "so does a block" "$out" '50\.[0-9]% .* \?  +low +\? .*met by no burst'
run prof -stalls -core zen4 one.exp
like "which is explained" "$out" 'interval of executions is wider than a factor of 7'
unlike "those of the other loop are shown" "$(printf '%s\n' "$out" | grep 'turns (app)')" '\?'
like "the command that counts them is shown" "$out" 'for exact executions, ssrun -ideal -o X COMMAND; prof -stalls one.exp X'
run prof -stalls -core zen4 -json one.exp
is "scripts see the interval" "$(printf '%s\n' "$out" | jq '[.rows[] | select(.procedure == "waits" and .executions.low == 0 and .executions.high > 0)] | length > 0')" true
shown -classic rated.exp
unlike "-classic does without" "$(cat out.json)" "branch records"

# Samples in bursts are in no row: the head says how many there are.
{
	printf 'type branches\nimage elf /bin/sh\nmetric time 1000000 measured clock branches\nprocess 1 -1 app\nthread 0 1 app\n'
	printf 'tally 0 5\ntally 9 25\nsample 0 0 0 75 1:10\n'
} | make_experiment left
like "samples left out are counted in the head" "$(prof left)" \
	'^Left out +0.025 s: 25 samples in or after bursts$'

done_testing
