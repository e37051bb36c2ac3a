#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Why there are no hardware counters: each refusal of perf_event_open, injected, has its own words and remedy.  And the
# kernel's own counts by thread, by process, and without perf_event_open.
# In real time: processes are stopped and attached to.
. "$TOP/tests/lib.sh"
programs=$build/tests/programs

# A descriptor for a file is a poor counter, so nothing here may be taken for one.
inject() { # ERRNO COMMAND...
	_errno=$1
	shift
	# LeakSanitizer cannot work under strace.
	run env ASAN_OPTIONS=detect_leaks=0 strace -f -o /dev/null -e trace=perf_event_open -e "inject=perf_event_open:error=$_errno" "$@"
}
refused() { # ERRNO MESSAGE HINT
	inject "$1" perfex -source pmu -e r8 true
	is "$1: status 125" "$status" 125
	like "$1: says why" "$err" "$2"
	like "$1: says what to do" "$err" "$3"
	is "$1: counts nothing" "$out" ''
}
if ! strace -f -o /dev/null true 2>/dev/null; then
	skip "injected errors" "strace cannot trace here"
else
	pmu=
	for d in /sys/bus/event_source/devices/cpu /sys/bus/event_source/devices/cpu_* /sys/bus/event_source/devices/armv*; do
		[ -e "$d" ] && pmu=$d
	done
	if [ -n "$pmu" ]; then
		refused ENOENT 'does not know the event' 'perfex -list'
	else
		refused ENOENT 'no PMU in this virtual machine' 'bare metal'
		refused EOPNOTSUPP 'no PMU in this virtual machine' 'bare metal'
	fi
	refused EACCES 'perf_event_open is forbidden|perf_event_paranoid is|seccomp' 'CAP_PERFMON|cap_perfmon|PERFMON'
	refused EPERM 'perf_event_open is forbidden|perf_event_paranoid is|seccomp' 'CAP_PERFMON|cap_perfmon|PERFMON'
	refused ENOSYS 'perf_event_open' 'seccomp'
	refused EBUSY 'counters are taken' 'profiler|nmi_watchdog'
	refused EMFILE 'too many open files' 'ulimit'
	refused EINVAL 'encoding' 'levels'

	# Without perf_event_open the kernel's counts come from rusage, and say so; what rusage has not is not counted.
	for errno in EACCES ENOSYS; do
		inject $errno perfex -source os -json -e task-clock -e page-faults -e context-switches -e cpu-migrations \
			"$programs/threads" 4
		is "$errno: the command runs" "$status" 0
		like "$errno: task clock" "$err$out" '"short":"tclk"[^}]*"count":\{"value":[1-9]'
		like "$errno: page faults" "$err$out" '"short":"pf"[^}]*"count":\{"value":[1-9]'
		unlike "$errno: no count of migrations" "$err$out" '"short":"mig"[^}]*"count":\{'
		like "$errno: and why" "$err$out" 'perf_event_open|perf_event_paranoid|seccomp'
	done
fi

# One row a thread, one a process; they add up.
rows() { # prints: rows, sum of them, the sum that perfex gives, processes
	python3 -c '
import json, sys
text = open(sys.argv[1]).read()
report = json.loads(text[text.index("{"):])
each = [t["events"][0]["count"]["value"] for t in report["threads"]]
print(len(each), sum(each) == report["events"][0]["count"]["value"], len({t["pid"] for t in report["threads"]}), sorted(each)[0] > 0)
' "$1" 2>&1
}
if perfex -source os -mp -e task-clock true 2>/dev/null; then
	perfex -source os -mp -json -e task-clock -o report "$programs/threads" 5
	is "-mp: five threads and the first" "$(rows report)" "6 True 1 True"
	perfex -source os -mp -json -e task-clock -o report sh -c 'true; (sh -c "true; true"; true) | cat; true; exit 0'
	like "-mp: processes of processes" "$(rows report)" '^[4-9] True [4-9] True$'
	perfex -source os -mp -json -e task-clock -o report "$programs/threads" 300
	is "-mp: hundreds of threads" "$(rows report)" "301 True 1 True"
	run perfex -source os -mp -e task-clock sh -c 'kill -USR1 $$'
	is "-mp: a signal still kills" "$status" 138
	run perfex -source os -mp -e task-clock sh -c 'trap "echo caught" USR1; kill -USR1 $$; exit 3'
	is "-mp: or is caught" "$status:$out" 3:caught
	run perfex -source os -mp -e task-clock ./nowhere
	is "-mp: not found is still 127" "$status" 127
	if [ "${SAN:-}" ]; then
		skip "-mp: a second thread before the exec" "a sanitizer has to be loaded first"
	else
		cat > second.c <<'END'
#include <pthread.h>
#include <unistd.h>
static void *rest(void *a) { pause(); return a; }
static void begin(void) { pthread_t t; pthread_create(&t, NULL, rest, NULL); }
__attribute__((constructor)) static void ask(void) { pthread_atfork(NULL, NULL, begin); }
END
		"${CC:-gcc}" -shared -fPIC -pthread -o second.so second.c
		run timeout -k 1 100 env LD_PRELOAD="$work/second.so" perfex -source os -mp -e task-clock ./nowhere
		is "-mp: a second thread before the exec, as sanitizers have" "$status" 127
	fi
	perfex -source os -mp -e task-clock -o report sh -c 'kill -STOP $$; exit 4' &
	pid=$!
	child_of() { sed 's/ .*//' "/proc/$1/task/$1/children"; }
	# Not at the gate, where it waits as well: itself.
	stopped() { grep -q '^State:[[:space:]]*[Tt]' "/proc/$(child_of $pid)/status" && grep -q STOP "/proc/$(child_of $pid)/cmdline"; }
	wait_for stopped
	sleep 0.3
	ok "-mp: a stopped command stays stopped" stopped
	kill -CONT "$(child_of $pid)"
	wait $pid
	is "-mp: and goes on" "$?" 4
	# A process that runs already; what it does before and after is not ours.
	"$programs/threads" 3 wait go > /dev/null &
	pid=$!
	# It may go on when it is traced.
	(wait_for grep '^TracerPid:[[:space:]]*[1-9]' "/proc/$pid/status"; sleep 0.3; : > go) &
	perfex -source os -mp -json -e task-clock -o report -pid $pid
	like "-pid -mp: the first thread and those to come" "$(rows report)" '^4 True 1 '
else
	skip "rows per thread" "ptrace or perf_event_open is forbidden here"
fi
done_testing
