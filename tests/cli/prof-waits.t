# SPDX-License-Identifier: GPL-2.0-or-later
# What threads wait for: ssrun -totaltime and prof -waits, on programs that wait for one thing each.
# In real time: waits.
. "$TOP/tests/lib.sh"
waits=$build/tests/programs/waits

# record NAME KIND [FILE]: waits of a third of a second
record() { run ssrun -totaltime -o "$1" "$waits" "$2" 300 ${3:+"$3"}; is "$2: recorded" "$status $err" "0 "; }
# report FILE [OPTIONS]: without names of threads and processes
report() { run prof -waits -whole "$@"; }
# row TEXT: of a wait, however long
row() { printf ' [1-9][0-9]* +[0-9.]+ +%s' "$1"; }
# joined TEXT: perhaps with the figures of the row above
joined() { printf '^[ 0-9.%%]+ %s' "$1"; }

for kind in sleep pipe socket child suspend alarm futex poll join; do
	record $kind $kind
done
record file file locked
report sleep
is "a report" "$status $err" "0 "
like "elapsed time, within a sentence" "$(prof sleep)" '^Samples .* s of elapsed time [(]measured[)]'
like "sleep: the reason and the call" "$out" "$(row "sleep")"
like "sleep: the reason and the call, below" "$out" "$(joined "clock_nanosleep")"
unlike "nobody ends a sleep or a wait for the processor: nothing is said of who did" "$out" 'What let threads go on|let another go on'
report pipe
like "pipe: which, and the call" "$out" "$(row "pipe")"
like "which is said" "$out" '^Rows without figures have those of the row above'
is "scripts have all figures" "$(prof -waits -json pipe | jq '[.rows[] | select(.counts[0] == null)] | length')" 0
like "pipe: which, and the call, below" "$out" "$(joined "pipe 1, read")"
report socket
like "socket: likewise" "$out" "$(row "socket")"
like "socket: likewise, below" "$out" "$(joined "unix socket 1, read")"
report poll
like "poll of one descriptor waits for that" "$out" "$(joined 'pipe 1, poll')"
report child
like "child: its name and number" "$out" "$(row "child")"
like "child: its name and number, below" "$out" "$(joined "waits, process [0-9]+, wait4")"
report suspend
like "a signal of a child is that child" "$out" "$(joined "waits, process [0-9]+, rt_sigsuspend")"
report alarm
like "that of a timer is a signal" "$(printf '%s\n' "$out" | grep -A1 ' signal$')" "$(joined "rt_sigsuspend")"
report file
like "file: its path" "$out" "$(row "file")"
like "file: its path, below" "$out" "$(joined "$work/locked, flock")"
report futex
like "futex: the variable that it is" "$out" "$(joined 'planted_lock \(waits\), futex')"

if [ "$(id -u)" = 0 ]; then
	like "with the place in the program" "$out" 'waits_for_futex \[thread [0-9]+ waits, in (__)?(pthread_mutex_lock|lll_lock_wait)[^]]*called by main\] \(waits: waits.c, [0-9]+\)'
	report pipe
	like "and the function of the library" "$out" 'reads_one \[thread [0-9]+ waits, in (__)?(libc_)?read, called by waits_for_pipe < main\]'
	run ssrun -totaltime -o often "$waits" often 100
	is "often: recorded" "$status" 0
	report often
	like "short waits, too, are of their pipe" "$out" ' [0-9]{2,} +[0-9.]+ +pipe 1, read'
	run ssrun -totaltime -o gone "$waits" often 1
	report gone
	like "and of programs that are gone when ssrun looks" "$out" ' +pipe$'
else
	skip "with the place in the program" "needs root"
fi

# Of C++, what the library has inlined into the program is not the place. A single wait is known by its registers.
if command -v g++ > /dev/null; then
	cat > lock.cc <<-'END'
		#include <chrono>
		#include <mutex>
		#include <thread>
		std::mutex shop;
		__attribute__((noinline)) void keeper() { std::lock_guard<std::mutex> g(shop); std::this_thread::sleep_for(std::chrono::milliseconds(300)); }
		__attribute__((noinline)) void customer() { std::lock_guard<std::mutex> g(shop); asm volatile(""); }
		int main() { std::thread a(keeper); std::this_thread::sleep_for(std::chrono::milliseconds(50)); std::thread b(customer); a.join(); b.join(); }
	END
	g++ -O2 -g -pthread -o lock lock.cc
	run ssrun -totaltime -o locked.x ./lock
	report -by thread locked.x
	like "C++: the lock" "$out" "$(joined 'shop \(lock\), futex')"
	if [ "$(id -u)" = 0 ]; then
		like "... the program's function, and that of the library" "$out" 'customer\(\) \[in std::lock_guard.*\] \(lock: lock.cc, 6\)'
		unlike "no place is the library's own" "$out" '__gthread_[a-z_]* \[|gthr-default.h'
	fi
else
	skip "waits of C++" "g++ is not installed"
fi

report futex
like "the head: which threads waited longest, and why" "$out" '^Waited +[0-9]+ waits 0[.][0-9]+ s [(][0-9]+% (futex|sleep)[)]; [0-9]+ waits 0[.][0-9]+ s [(][0-9]+% (futex|sleep)[)]'
like "the end of a thread is one" "$(report -whole join; printf '%s' "$out")" 'end of thread [0-9]+ late, futex'
run prof -waits -json futex
is "JSON: threads of a place" "$(printf '%s' "$out" | jq -r '[.rows[] | select(.kind == "place") | .threads] | all(test("^threads? [0-9]+ waits"))')" true
like "JSON: which threads waited longest, of the run" "$(printf '%s' "$out" | jq -r '.run[] | objects | select(.name == "Waited") | .value')" '^[0-9]+ waits 0[.][0-9]+ s '
report futex
is "times of one column have one form" "$(printf '%s\n' "$out" | grep -E '^ +[0-9.]+ +[0-9.]+%' | grep -vE '^ +[0-9]+[.][0-9]{6} +[0-9.]+% +[0-9]+  [0-9]+[.][0-9]{6}  ')" ""
longest() { awk 'length > n { n = length } END { print n + 0 }'; }
rows_of() { "$@" | grep -E '^ +[0-9.]+ +[0-9.]+%|^ {40}'; }
is "-width: rows fit it without a terminal" "$(rows_of prof -waits -whole -width 90 futex | longest)" 90
is "COLUMNS is of terminals: in a pipe rows are whole" "$(rows_of env COLUMNS=90 prof -waits -whole futex | longest)" "$(rows_of prof -waits -whole futex | longest)"
ok "-width is of files, too" prof -waits -whole -width 90 -o fitted futex
is "as wide" "$(rows_of cat fitted | longest)" 90
if command -v script > /dev/null; then
	# on_terminal COLUMNS COMMAND: as long rows as it prints, beside those that are wrapped in words
	on_terminal() { script -qec "COLUMNS=$1 NO_COLOR=1 $2" /dev/null < /dev/null | tr -d '\r' | grep -E '^ +[0-9.]+ +[0-9.]+%|^ {40}'; }
	like "longer rows than a terminal has columns" "$(rows_of prof -waits -whole futex | longest)" '^1[3-9][0-9]|^[2-9][0-9][0-9]'
	for columns in 90 120; do
		is "on one of $columns they end with it" "$(on_terminal $columns 'prof -waits -whole futex' | longest)" "$columns"
	done
	like "with file and line, if there is room" "$(on_terminal 120 'prof -waits -whole futex')" '[.][.][.] [(](waits: )?waits[.]c, [0-9]+[)]$'
	is "-names full: whole" "$(on_terminal 90 'prof -waits -whole -names full futex' | longest)" "$(rows_of prof -waits -whole -names full futex | longest)"
	like "and it is said" "$(script -qec 'COLUMNS=90 prof -waits -whole futex' /dev/null < /dev/null)" 'Rows are cut to the width .-names full.'
else
	skip "rows that fit the terminal" "script is not installed"
fi
report -by thread futex
unlike "-by thread: not again at each place" "$out" '\[thread |^Waited'
like "-by thread: what one waits for" "$(printf '%s\n' "$out" | grep -A1 'thread [0-9]* of')" ' sleep$'
like "and the other" "$(printf '%s\n' "$out" | grep -A1 ' main thread [0-9]* waits')" ' futex: '
report -only waits_for_futex futex
unlike "-only: waits of that function" "$out" 'clock_nanosleep'
prof -waits -json futex > json
run python3 - <<'END'
import json
rows = json.load(open("json"))["rows"]
words = {row["kind"] for row in rows}
lock = [row for row in rows if row["what"].startswith("planted_lock")]
print({"futex", "sleep", "object", "place"} <= words or words, lock[0]["counts"][0]["value"] > 0 and rows[lock[0]["parent"]]["kind"])
END
like "JSON: kinds of rows, times, parents" "$out" '^True futex$|^\{.*futex.*\} futex$'
run prof -waits -csv futex
like "CSV" "$out" 'planted_lock'

ok "a page for a browser" prof -html page.html futex
is "has the same rows" "$(python3 -c 'import re; print(re.search("id=\"data\">(.*?)</script>", open("page.html", encoding="utf-8").read(), re.S).group(1))' |
	jq -c '.waits.rows')" "$(prof -waits -json futex | jq -c .rows)"

# ---- the file ----
run python3 "$top/tests/ssexp.py" futex
is "a reader of older sections passes over them" "$status" 0
run prof -dump futex
like "a dump has them" "$out" 'obstacle [0-9]+ futex image [1-9][0-9]* address [0-9a-f]+ hash [0-9a-f]+ call "futex" name ""'
like "and the pauses" "$out" 'pause obstacle [0-9]+ thread [0-9]+ .* count 1 time [0-9]+ longest [0-9]+'
run prof -merge -o both futex futex
run prof -waits -whole both
is "two runs add up: twice the waits" "$(prof -waits -whole -json both | jq '[.rows[] | select(.what // "" | startswith("planted_lock")) | .counts[1].value][0]')" 2
head -c "$(($(wc -c < futex) - 30))" futex > cut
run prof -waits cut
unlike "a file that was cut short does not crash" "$status" '^1[3-9][0-9]'

# ---- other reports of the same file ----
for view in "" -calltree -butterfly; do
	run prof $view sleep
	like "prof $view: waits are said, and what reports them" "$out" '^In the whole run, threads waited [0-9.]+ s [(]measured[)]: prof -waits reports what for$'
done
run prof -waits sleep
unlike "not in the report itself" "$out" 'reports what for'
# Samples come every 30 ms of a run: a short one has none, but its waits are exact.
try=0 samples=1
while [ $try -lt 20 ] && [ "$samples" != 0 ]; do
	ssrun -q -totaltime -o unsampled "$waits" sleep 5
	samples=$(prof -waits -json unsampled | jq '.experiments[0].samples')
	try=$((try + 1))
done
run prof -waits unsampled
is "no sample" "$samples" 0
like "but waits" "$out" ' [1-9][0-9]*[.][0-9]% .* sleep$'
unlike "nothing is said of samples" "$out" '^Samples|for a sample'

# ---- frequent waits ----
# The program prints how often both processes came to a processor, and how long they were on none.
run ssrun -totaltime -o frequent "$waits" often 2000
is "frequent waits: recorded" "$status" 0
counted=$out
run prof -waits frequent
like "are recorded in a part of the run" "$out" '^Waits were so frequent that each was recorded in [0-9.]+% of the run only'
is "and the rest is estimated" "$(prof -waits -json frequent | jq -r '[.rows[] | .counts[0].label] | unique | join(" ")')" estimated
# within PARTS OF: as many as the kernel counts, or nearly
total() { prof -waits -json frequent | jq -r ".total.counts[$1].value"; }
within() { awk -v a="$1" -v b="$2" 'BEGIN { print (a > 0.75 * b && a < 1.25 * b) ? "yes" : a " for " b }'; }
is "in all, there are as many as the kernel counts" "$(within "$(total 1)" "${counted% *}")" yes
is "and they take as much time" "$(within "$(total 0)" "${counted#* }")" yes
if [ "$(id -u)" = 0 ]; then
	run ssrun -totaltime -o uneven "$waits" uneven 2000
	share=$(prof -waits -whole -json uneven | jq -r '[.rows[] | select(.kind == "place" and (.what | startswith("sleeps_"))) | {(.what): .counts[0].value}] | reduce .[] as $r ({}; . as $s | reduce ($r | to_entries[]) as $e ($s; .[$e.key] += $e.value)) | 100 * .sleeps_long / (.sleeps_long + .sleeps_short)')
	is "each place has its part of them" "$(awk -v a="$share" -v b="$out" 'BEGIN { print (a > b - 15 && a < b + 15) ? "yes" : a " for " b }')" yes
else
	skip "each place has its part of them" "needs root"
fi

# ---- refusals ----
run ssrun -fpcsamp -o samples "$waits" sleep 10
run prof -waits samples
is "no waits: our failure" "$status" 125
like "no waits: says so" "$err" 'no waits were recorded in samples'
like "and how to get them" "$err" 'ssrun -totaltime'
# Beside much other work, it waits for a processor.
try=0 status=0
while [ $try -lt 20 ] && [ "$status" = 0 ]; do
	run ssrun -totaltime -o refused "$waits" nothing
	run prof -waits refused
	try=$((try + 1))
done
like "waits were sought, and there were none" "$status $err" '^125 prof: no thread waited in the [0-9.]+ s of refused'
run prof -waits -from 50% futex
like "-from: they have no times" "$status $err" '^125 .*no times within the run'

# ---- what let them go on ----
if [ "$(id -u)" = 0 ] && unshare -m sh -c '[ -e /sys/kernel/tracing/events/sched ] || mount -t tracefs none /sys/kernel/tracing' 2>/dev/null; then
	cat > traced <<-'END'
		[ -e /sys/kernel/tracing/events/sched ] || mount -t tracefs none /sys/kernel/tracing
		"$@"
	END
	run unshare -m sh traced ssrun -totaltime -o woken "$waits" futex 300
	is "recorded with tracefs" "$status $err" "0 "
	run prof -waits -whole woken
	like "which thread let it go on, and where" "$(printf '%s\n' "$out" | grep -A2 planted_lock)" ' woken by thread [0-9]+ waits in unlocker < holder'
	run unshare -m sh traced ssrun -totaltime -o alone "$waits" sleep 50
	run prof -waits alone
	unlike "of one thread alone, nothing is said that was seen" "$out" 'go on was seen'
	# More often than is recorded: parts of it stand for all.
	run unshare -m sh traced ssrun -totaltime -o sampled "$waits" often 2000
	run prof -waits sampled
	like "frequent handovers are recorded in a part of the run" "$out" 'What let threads go on was recorded in [0-9.]+% of the run'
	is "figures by parts are estimated" "$(prof -waits -json sampled | jq -r '[.rows[] | .counts[0].label] | unique | join(" ")')" estimated
	like "and say who ended most waits" "$(prof -waits -whole sampled | grep -A9 ' pipe 1, read')" 'woken by thread [0-9]+ waits in waits_often'
	run unshare -m sh -c 'umount -l /sys/kernel/tracing 2>/dev/null; umount -l /sys/kernel/debug 2>/dev/null; exec "$@"' sh ssrun -totaltime -o unseen "$waits" futex 50
	run prof -waits unseen
	like "without tracefs, the report says that it does not know" "$out" 'What let threads go on was not seen: tracefs is not mounted, or may not be read; as root, for the next run: mount -t tracefs nodev /sys/kernel/tracing$'
	# The kernel closes what ssrun leaves to it: no process of it is left, which somebody would have to reap.
	cat > left.py <<'END'
import ctypes, os, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans become ours
child = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
print("ssrun", os.waitpid(child, 0)[1])
try:
    print("left behind:", os.waitpid(-1, 0)[0] > 0)
except ChildProcessError:
    print("nothing")
END
	run unshare -m sh traced python3 left.py ssrun -totaltime -o left "$waits" sleep 10
	is "no process is left behind" "$out" "ssrun 0
nothing"
else
	skip "what let them go on" "tracefs cannot be mounted here"
fi
done_testing
