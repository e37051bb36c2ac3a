# SPDX-License-Identifier: GPL-2.0-or-later
# Under a filter of system calls as Docker's default profile is one: counts and the model work, and what needs perf_event_open says so.
# In real time: running programs are sampled.
. "$TOP/tests/lib.sh"
confined=$build/tests/programs/confined branchy=$build/tests/programs/branchy
"$confined" true
[ $? != 99 ] || { skip "a filter of system calls" "the kernel takes none here"; done_testing; exit; }
"$branchy" mix 500 > want
run "$confined" perfex -source os -a "$branchy" mix 500
is "perfex: the program's output" "$status $out" "0 $(cat want)"
run "$confined" ssrun -totaltime -o totaltime "$branchy" mix 500
like "-totaltime: refused with the remedy" "$status $err" '^125 ssrun: this container.s seccomp filter forbids perf_event_open'
not_ok "and no file" test -e totaltime

# Samples by stops, of all that is by CPU time.
"$branchy" mix 30000 > want
# Levels of memory cannot be told apart at each moment: others may use it, too.
record() {
	for _try in 1 2 3 4 5; do
		run "$confined" ssrun -"$1" -o "$1" "$branchy" mix 30000
		case $err in *"loads from memory take no longer here"*) ;; *) return ;; esac
	done
}
for experiment in fpcsamp usertime branches values values=latency; do
	record "$experiment"
	case $err in *"loads from memory take no longer here"*) skip "-$experiment" "${err%%
*}"; continue ;; esac
	is "-$experiment: the program's output" "$status $out" "0 $(cat want)"
	like "and how it is sampled" "$err" '^ssrun: no samples by the kernel \(this container.s seccomp filter forbids perf_event_open\): a thread is stopped for each sample'
	run prof "$experiment"
	like "functions" "$out" ' mix \(branchy: branchy.c, '
done
run prof -head fpcsamp
like "-head says so" "$out" 'by stops \(ptrace\)'
run prof -butterfly usertime
like "call paths" "$out" ' main \(branchy: branchy.c, '

# At a rate that is given, there are bursts however slow the machine is at the moment.
run "$confined" ssrun -q -branches -bursts 100 -o bursts "$branchy" mix 30000
is "bursts at a rate: the program's output" "$status $out" "0 $(cat want)"
run prof -head bursts
like "they run copies, as memory may be mapped" "$out" '^Branches followed in them +[0-9]{5,} '
run "$confined" ssrun -q -branches -bursts 300 -o early "$branchy" mix 15000
run prof -head early
like "what is followed before the first sample is known, too" "$out" '^Branches followed in them +[0-9]{5,} \([1-9]'

# Threads and processes; what starts them may have a sample, too.
rows_of() { echo "$out" | sed -n "s/^$1 [0-9].*, \\([0-9]*\\)[.0-9]*%:\$/\\1/p" | awk '$1 >= 10 { n++ } END { print n + 0 }'; }
"$branchy" threads 3 8000 > want
run "$confined" ssrun -q -fpcsamp -o threads "$branchy" threads 3 8000
is "threads" "$status $out" "0 $(cat want)"
run prof -by thread threads
is "have rows of their own" "$(rows_of thread)" 3
like "and no thread has it all" "$(echo "$out" | sed -n 's/^thread .*, \([0-9]*\)[.0-9]*%:$/\1/p' | sort -n | tail -1)" '^[3-5][0-9]$'
"$branchy" forks 3 8000 > want
run "$confined" ssrun -q -fpcsamp -o forks "$branchy" forks 3 8000
is "processes" "$status $out" "0 $(cat want)"
run prof -by process forks
is "likewise" "$(rows_of process)" 3
run "$confined" ssrun -q -fpcsamp -o shell sh -c "'$branchy' mix 10000; exec '$branchy' mix 10000"
run prof -by process shell
is "exec changes the program" "$(echo "$out" | grep -c '^process .* branchy')" 2

# A thread that sleeps often: time in user mode is not taken for time in the system call.
run "$confined" ssrun -q -fpcsamp -o calls "$branchy" calls 15000
run prof -csv calls
# All functions of the program: which of them depends on where samples fall in its rounds, that are all alike.
is "a program that sleeps often" "$(echo "$out" | awk -F , '
	/^role/ { for (i = 1; i <= NF; i++) if ($i == "time.percent") column = i; else if ($i == "file") file = i }
	$file ~ /branchy.c$/ { sum += $column }
	END { print (sum > 20 ? "works, too" : sum) }')" "works, too"

# A process that its parent does not wait for has ended all the same, also where no descriptor of it may be had.
for tool in "perfex -source os" "ssrun -q -fpcsamp -o unwaited"; do
	sh -c '"$0" until go & echo $! > child.new; mv child.new child; exec sleep 1000' "$build/tests/programs/sampled" & parent=$!
	wait_for test -e child
	# shellcheck disable=SC2086 # words
	timeout 60 "$confined" -pidfd $tool -pid "$(cat child)" > out 2> err & tool_pid=$!
	sleep 0.3
	touch go
	wait $tool_pid
	is "${tool%% *} -pid of a process that nobody waits for ends" $? 0
	kill $parent
	wait $parent
	rm -f go child
done

"$branchy" mix 100000 > want &
run "$confined" ssrun -q -fpcsamp -o pid -pid $!
wait
is "a running process" "$status" 0
run prof pid
like "has samples" "$out" ' mix \(branchy: branchy.c, '
run "$confined" perfex -source os -pid $$
like "perfex -pid: what forbids it is the filter" "$status $err" "^125 .*seccomp filter forbids perf_event_open"
run "$confined" ssrun -fpcsamp -o none -pid 999999999
like "none" "$status $err" 'process 999999999 does not exist'
run "$confined" ssrun -pcsamp -a -for 1 -o all
like "-a is refused" "$status $err" '^125 '
run "$confined" perfex -doctor
is "-doctor" "$status" 0
like "samples by stops are part of what works" "$out" '^in part  sampling by time'
run "$confined" perfex -source model -e gi "$branchy" mix 5
like "the model" "$status $err" '^0 '

# Ended while processes begin: a parent in vfork waits for a child that nobody follows yet.
hung=0
for i in 1 2 3 4 5 6 7 8; do
	rm -f ended
	"$confined" ssrun -q -fpcsamp -o ended "$branchy" forks 4000 1 > out 2> err & pid=$!
	wait_for test -e ended
	sleep "0.0$i"
	kill -TERM $pid
	timeout 60 tail -s 0.05 --pid=$pid -f /dev/null || { hung=$((hung + 1)); kill -KILL $pid; }
	wait $pid
done
is "ended by SIGTERM while processes begin" $hung 0

# The kernel says of a main thread that it has ended when all others have: that is not waited for.
"$branchy" leaves go enough & pid=$!
"$confined" ssrun -q -fpcsamp -o leaves -for 1 -pid $pid 2> err & tool=$!
wait_for grep -q 'TracerPid:.[1-9]' "/proc/$pid/status"
touch go
timeout 60 tail -s 0.05 --pid=$tool -f /dev/null
is "a main thread that ends: following it ends" $? 0
touch enough
wait $tool
is "without an error" "$? $(cat err)" "0 "
wait $pid

# A main thread that has ended before: the kernel has the memory of the process by its other threads only.
"$branchy" leaves go still & pid=$!
wait_for grep -q 'State:.Z' "/proc/$pid/status"
for how in "$confined" env; do
	run "$how" ssrun -branches -o after -for 2 -pid $pid
	is "a main thread that has ended: -branches" "$status" 0
	unlike "the others are followed" "$err" 'only samples'
	run prof after
	like "and their code is known" "$out" ' (mix|whole) \(branchy: branchy.c, '
done
touch still
wait $pid

# A process that has ended, and for which its parent has not waited: a shell might, so it ends when that has become another program.
sh -c '(until grep -qx sleep "/proc/$$/comm"; do sleep 0.01; done) & echo $! > number; exec sleep 600' & parent=$!
wait_for test -s number
pid=$(cat number)
wait_for grep -q 'State:.Z' "/proc/$pid/status"
run "$confined" ssrun -fpcsamp -o none -pid "$pid"
is "a process that has ended" "$status $err" "125 ssrun: process $pid has ended"
run ssrun -branches -o none -pid "$pid"
like "likewise with the kernel's samples" "$err" "only samples: process $pid has ended"
kill $parent
wait $parent

# Without /proc, our files are found beside the program.
if [ "${SAN:-}" ]; then
	skip "without /proc" "sanitizers need it"
elif [ "$(id -u)" = 0 ] && unshare -m sh -c 'mount -t tmpfs none /proc' 2> /dev/null; then
	without_proc() { unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"; }
	run without_proc perfex -source model -machine zen4 -list
	is "without /proc: the descriptions of machines are found" "$status" 0
	run without_proc perfex -source model -e gi true
	is "the model cannot run" "$status" 126
	like "and what it lacks is named" "$err" 'cannot read /proc/self/exe, which the model needs'
	like "and the remedy" "$err" 'mount -t proc'
	unlike "not Valgrind, which was not begun" "$err" 'tool=none'
	unlike "not a machine" "$err" 'no machine is called'
else
	skip "without /proc" "needs root, and mounts"
fi
done_testing
