# SPDX-License-Identifier: GPL-2.0-or-later
# ssrun where something is missing: rights, room, names; and phases from the program.
# In real time: samples of programs that run, and signals to them.
. "$TOP/tests/lib.sh"
sampled=$build/tests/programs/sampled

cat > phases.c <<'E2'
#include <speedshop.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void early(void) { for (long i = 0; i < 60000000; i++) sink += i; }
__attribute__((noinline)) static void late(void) { for (long i = 0; i < 60000000; i++) sink += i; }
int main(void) { early(); ssrt_caliper_point("half"); late(); return 0; }
E2
ok "a program with a caliper point" "${CC:-gcc}" -g -O1 -I"$top/include" -o phases phases.c \
	-L"$build/lib" -lspeedshop -Wl,-rpath,"$build/lib"
run ssrun -fpcsamp -o cut ./phases
is "runs" "$status $err" "0 "
run prof -only 'early' -calipers half cut
unlike "what came before the point is not behind it" "$out" ' early \('
run prof -calipers half cut
like "what came behind it is" "$out" ' late \('

nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
chmod 755 .
if [ "$(id -u)" = 0 ] && $nobody test -r "$work" 2>/dev/null; then
	mkdir open && chmod 777 open
	cp "$build/bin/ssrun" open/ && cp "$sampled" open/
	# shellcheck disable=SC2086
	run $nobody open/ssrun -fpcsamp -o open/plain open/sampled loop 100
	is "an ordinary user" "$status $err" "0 "
	run prof -head open/plain
	like "samples programs" "$out" ' main \(sampled'
	case $(cat /proc/sys/kernel/perf_event_paranoid) in
	2 | 3 | 4)
		like "and is told that the kernel is not among it" "$out" 'user mode only'
		# shellcheck disable=SC2086
		run $nobody open/ssrun -pcsamp -x -o open/kernel open/sampled loop 1
		like "-x fails then" "$status $err" '^125 .*perf_event_paranoid'
		# shellcheck disable=SC2086
		run $nobody open/ssrun -pcsamp -a -for 1 -o open/all
		like "and -a, with a way out" "$err" 'your own process with -pid'
		# shellcheck disable=SC2086
		run $nobody open/ssrun -totaltime -o open/total open/sampled sleep
		is "-totaltime runs" "$status" 0
		run prof open/total
		like "and says that it does not know where the time went" "$out" 'unknown'
		;;
	*) skip "what the kernel keeps from ordinary users" "perf_event_paranoid is below 2" ;;
	esac
	mkdir closed && chmod 555 closed
	# shellcheck disable=SC2086
	run $nobody env _SPEEDSHOP_OUTPUT_DIRECTORY=closed open/ssrun -pcsamp sh -c 'echo ran'
	like "a directory that may not be written, before the run" "$status:$out $err" '^125: .*closed'
else
	skip "an ordinary user" "needs root, to become one, and a directory that others may read"
fi

if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
	run ssrun -fpcsamp -o small/x sh -c "'$sampled' loop 50; cat /dev/zero > small/full 2>/dev/null; exit 7"
	is "a disk that fills up while the command runs: its exit status" "$status" 7
	like "the reason is said" "$err" 'small/x.*No space left'
	like "and where the experiment is" "$err" 'the experiment is in /'
	other=$(printf '%s\n' "$err" | sed -n 's/.*the experiment is in \([^ ]*\) .*/\1/p')
	run prof "$other"
	like "which is whole" "$out" 'main \(sampled'
	rm -f "$other"
	run ssrun -fpcsamp -o small/y sh -c 'echo ran'
	is "one that is full before: not run" "$status:$out" 125:
	umount small
else
	skip "a full disk" "needs root and a mount of its own"
fi

# A file that only the command's own mount namespace has.
if [ "$(id -u)" = 0 ] && mkdir inside && unshare -m mount -t tmpfs none inside 2>/dev/null; then
	run ssrun -fpcsamp -archive kept -o contained unshare -m sh -c "mount -t tmpfs none inside &&
		cp '$sampled' inside/hidden && inside/hidden loop 500"
	is "a program in a namespace of its own" "$status $err" "0 "
	run prof -archive kept contained
	like "is found and archived all the same" "$out" ' main \(hidden'
else
	skip "a namespace of its own" "needs root"
fi

ssrun -fpcsamp -calsig USR2 -o signalled "$sampled" until enough & pid=$!
wait_for test -s signalled
kill -USR2 $pid
sleep 0.3
touch enough
wait $pid
run prof -dump signalled
like "-calsig: a signal begins a phase" "$out" '^phase 1 .*name "1"'

if command -v mpirun >/dev/null; then
	mkdir ranks
	run env _SPEEDSHOP_OUTPUT_DIRECTORY=ranks mpirun -np 3 ssrun -fpcsamp "$sampled" loop 20
	is "ranks of MPI" "$status" 0
	is "have a file each" "$(find ranks -name 'sampled.fpcsamp.r[012].*' | wc -l)" 3
	run prof ranks/*
	like "which prof adds up" "$out" ' main \(sampled'
else
	skip "ranks of MPI" "there is no mpirun"
fi

if strace -o /dev/null true 2>/dev/null; then
	run unchecked strace -f -e inject=perf_event_open:error=ENOSYS -o /dev/null ssrun -pcsamp sh -c 'echo ran'
	is "a container that forbids perf_event_open: not run" "$status:$out" 125:
	like "why" "$err" 'no perf_event_open|seccomp'
	like "and what is there instead" "$err" 'samples cycles of a model'
	is "no file" "$(find . -name 'sh.pcsamp.*')" ""
else
	skip "a container that forbids perf_event_open" "strace cannot trace here"
fi

if [ "$(id -u)" = 0 ]; then
	run ssrun -fpcsamp -a "$sampled" loop 30
	like "-a with a command, as perf has it: what to do next" "$status $err" '^0 ssrun: wrote (system[.]fpcsamp[.][0-9]+): prof -usage [^ ]* reports processes, prof -by process '
	file=$(printf '%s\n' "$err" | sed 's/^ssrun: wrote //; s/:.*//')
	like "until it has ended, and it is among the processes" "$(prof -usage "$file")" ' [0-9]+[.][0-9]+% .* [0-9]+ sampled'
	like "the head says so" "$(prof -usage "$file")" '^Command     the whole system [(]-a[)], beside '
	run ssrun -q -fpcsamp -a -o everybody sh -c 'exit 3'
	is "the status is that of the command" "$status" 3
	run ssrun -fpcsamp -a -o everybody nosuch
	like "no such command" "$status $err" '^127 .*cannot find nosuch'
	run ssrun -fpcsamp -a -for 0.3 -o everybody
	is "-a, for a while" "$status $err" "0 "
	like "what ran was everything" "$(prof everybody)" '^Command     the whole system \(-a\)$'
fi
done_testing
