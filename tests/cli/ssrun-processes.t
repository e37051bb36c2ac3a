# SPDX-License-Identifier: GPL-2.0-or-later
# Trees of threads and processes, address spaces that change, runs that end badly.
# In real time: samples of processes that run, and signals to them.
. "$TOP/tests/lib.sh"
sampled=$build/tests/programs/sampled

run ssrun -fpcsamp -o threads "$sampled" threads 2000
is "2,000 threads" "$status" 0
run prof -usage threads
like "are all there" "$out" ' 2001 +exit 0 .*sampled'
run ssrun -fpcsamp -o forks "$sampled" forks 500
is "500 processes" "$status" 0
run prof -usage -whole forks
ok "are all there" test "$(printf '%s\n' "$out" | grep -c ' sampled\( forks 500\)*$')" -ge 501
run ssrun -fpcsamp -o execs "$sampled" execs 20
is "a process that becomes another, and again" "$status $err" "0 "
run prof execs
like "is the same program each time" "$out" 'work \(sampled'
unlike "and nothing is unknown" "$out" 'unknown'

# A third of these happen within a burst: its copies go with the old program, and samples stand for no more time than there was.
# Under a sanitizer many rounds: what is used after an exec has freed it is seen in most of them, not in all.
if [ "$(uname -m)" = x86_64 ]; then
	rounds=$([ -z "${SAN:-}${LONG:-}" ] && echo 1 || echo 12)
	within() { # name, words before ssrun
		_name=$1 _round=1
		shift
		while [ $_round -le 24 ]; do
			run "$@" ssrun -q -branches -bursts 300 -o within "$sampled" execs 120
			_ended="$status $err"
			[ "$_ended" = "0 " ] || break
			run prof -head within
			# In a quarter of the rounds each burst ends at an exec.
			[ $_round -lt "$rounds" ] || ! printf '%s\n' "$out" | grep -q '^Bursts  *[1-9]' || break
			_round=$((_round + 1))
		done
		is "$_name: becomes another within bursts" "$_ended" "0 "
		like "... there were bursts" "$out" '^Bursts  *[1-9]'
		like "... and their branches are known" "$out" '^Branches followed in them  *[0-9]* \([1-9]'
		like "... and as many samples as the time has" "$out" '^Total samples  *[0-9]{1,4}$'
	}
	within "samples by the kernel"
	within "samples by stops" "$build/tests/programs/confined"
fi

run ssrun -fpcsamp -o many sh -c 'for n in 1 1 400 1 1; do "$0" loop $n turns & done; wait' "$sampled"
run prof -usage -q 1 many
like "which of many processes took the time: the first row, with its arguments" "$(printf '%s\n' "$out" | grep -A1 '^ *$' | head -2)" ' sampled loop 400 turns$'
like "-q 1: the others are counted" "$out" '^[1-9][0-9]* more processes are left out \(-q\)$'

# Processes of a tenth of a second, long after the beginning.
run ssrun -fpcsamp -o later sh -c 'sleep 2.2; for n in 1 2 3 4 5 6; do sleep 0.1$n; done'
run prof -usage -whole later
is "short processes of a long run have their arguments" "$(printf '%s\n' "$out" | grep -c ' sleep 0\.1[1-6]$')" 6

for l in a b; do
	echo "volatile unsigned long s; static __attribute__((noinline)) void in_$l(int n) { for (long i = 0; i < n * 300000L; i++) s += i; }
	void work(int n) { in_$l(n); s++; }" > $l.c
	ok "library $l" "${CC:-gcc}" -g -O1 -fPIC -shared -o lib$l.so $l.c
done
run ssrun -fpcsamp -archive kept -o reuse "$sampled" reuse ./liba.so ./libb.so
is "a library in another's place" "$status $out" "0 same"
run prof -q 10 reuse
like "the first one's samples are its own" "$out" 'in_a \(liba.so'
like "and the second one's" "$out" 'in_b \(libb.so'
rm liba.so libb.so
run prof -q 10 -archive kept reuse
like "the archive has both when they are gone" "$out" 'in_b \(libb.so'

run ssrun -fpcsamp -o jit "$sampled" jit
rm -f "$out"
run prof jit
like "code that a process made has its names" "$out" 'made_here'

run ssrun -fpcsamp -o jitdump "$sampled" jitdump
rm -f jit-*.dump
run prof jitdump
like "or of the jitdump file that it mapped" "$out" 'dumped_here'

# A program that is not there any more when it is sampled is known by its build-id all the same.
cp "$sampled" gone
run ssrun -fpcsamp -o moved sh -c 'mv gone elsewhere; ./elsewhere execs 20'
run prof moved
like "another name for a file" "$out" 'work \(elsewhere'

"$sampled" until enough & pid=$!
run ssrun -fpcsamp -for 1 -cal 0.3 -v -o attached -pid $pid
is "-pid, for a while" "$status" 0
like "what ran was a process" "$(prof attached)" "^Command     process $pid \\(-pid\\)\$"
touch enough
wait $pid
is "leaves the process alone" $? 0
run prof attached
like "and sees it" "$out" 'work \(sampled'
run prof -summary attached
like "-cal: phases" "$out" '^Caliper points +([3-9]|[1-9][0-9]+)$'
run ssrun -pcsamp -pid $$@1
like "its number has gone to another process" "$status $err" "^125 ssrun: process $$ is not the one that began at tick 1"
run ssrun -pcsamp -pid $$@1x
like "no tick" "$status $err" "^125 ssrun: -pid takes a process number"
run ssrun -pcsamp -pid 4194304
like "no such process" "$status $err" '^125 .*process 4194304 does not exist'

ssrun -q -usertime -o brief sh -c 'i=0; while [ $i -lt 150 ]; do /bin/true; i=$((i + 1)); done'
run prof -head brief
if printf '%s' "$out" | grep -q 'kernel included'; then
	like "of processes too short for samples the time is known" "$out" '^Counted time .* [0-9.]+ \(measured\)'
	like "and how much of it is in samples" "$out" '^Of that, in samples +[0-9.]+%'
	run prof -head attached
	like "so it is of one that is attached to" "$out" 'Counted time'
else
	skip "time of processes too short for samples" "the kernel may not be sampled here"
fi

ssrun -fpcsamp -o killed "$sampled" until killed.enough & pid=$!
wait_for test -s killed
kill -9 $pid
wait $pid 2>/dev/null
touch killed.enough
run prof -summary killed
is "ssrun killed: what it wrote can be read" "$status" 0
like "and says that it is not complete" "$out" 'not recorded to its end'

ssrun -fpcsamp -o interrupted "$sampled" until interrupted.enough 2>err & pid=$!
wait_for test -s interrupted
wait_for worked "$(sed 's/ .*//' /proc/$pid/task/$pid/children)" 30
kill -TERM $pid
wait $pid
is "a signal goes on to the command" $? 143
run prof interrupted
like "and the experiment is written" "$out" 'work \(sampled'
unlike "whole" "$out" 'not recorded'

run ssrun -totaltime -o total "$sampled" sleep
is "totaltime" "$status $err" "0 "
run prof -calltree total
if [ "$(id -u)" = 0 ]; then
	like "time off the processor is where it was spent" "$out" ' rest \(sampled'
else
	skip "time off the processor is where it was spent" "needs root"
fi
run ssrun -usertime -o user "$sampled" loop 1000
run prof -calltree user
like "usertime: who called whom" "$out" 'main \(sampled'
run ssrun -usertime -stack fp -o frames "$sampled" loop 200
is "-stack fp" "$status $err" "0 "
done_testing
