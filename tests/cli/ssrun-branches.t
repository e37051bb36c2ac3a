# SPDX-License-Identifier: GPL-2.0-or-later
# Branches that are followed: which way they go, how often, and that the program is none the wiser.
# In real time: moments of a program that runs.
. "$TOP/tests/lib.sh"
branchy=$build/tests/programs/branchy unruly=$build/tests/programs/unruly
# Without these, each wait for a process below would last to its end.
ok "the programs are there (make check-built)" test -x "$branchy" -a -x "$unruly"
[ "$_failed" = 0 ] || { done_testing; exit 1; }

run ssrun -fpcsamp -bursts 5 true
is "-bursts alone" "$status $err" "125 ssrun: -bursts needs -branches"
run ssrun -branches -bursts often true
like "-bursts takes a rate" "$status $err" "^125 .*between 0.01 and 10000 per second, not 'often'"
run ssrun -branches -a -for 1
like "-branches follows a command" "$status $err" '^125 .*leave out -a'

if [ "$(uname -m)" != x86_64 ]; then
	run ssrun -branches -o elsewhere "$branchy" mix 10
	is "elsewhere, only samples" "$status" 0
	like "and it says so" "$err" 'no branch records, only samples: .*need x86-64'
	done_testing
fi

# The C library chooses the same string functions as under Valgrind.
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-RTM,-Prefer_No_VZEROUPPER
export GLIBC_TUNABLES
"$branchy" mix 15000 > want
run ssrun -branches -bursts 60 -o mix "$branchy" mix 15000
is "the program's result" "$status $out $err" "0 $(cat want) "
prof -dump mix > mix.txt
ok "branches were followed" awk '/^tally transfers/ { n = $4 } END { exit n < 3000 }' mix.txt
like "the metric says that there are branches" "$(grep ^metric mix.txt)" 'flags .*branches'
ssrun -q -ideal -o exact "$branchy" mix 300 > /dev/null
prof -dump exact > exact.txt
ok "they go where they do, as often" python3 "$TOP/tests/branches_agree.py" mix.txt exact.txt 50
if grep -q '^Seccomp:.0$' /proc/self/status; then
	ssrun -q -branches -bursts 200 -o long "$branchy" mix 60000 > /dev/null
	prof -dump long > long.txt
	ok "executions are right in size" python3 "$TOP/tests/branches_agree.py" long.txt exact.txt 200 executions
else
	skip "executions are right in size" "a filter of system calls is in force"
fi
unset GLIBC_TUNABLES
run prof -summary mix
like "-summary: bursts" "$out" '^Bursts +[0-9]+ \([0-9]+ of them cut short\)'
like "-summary: what they took" "$out" '^Time that recording branches took.* [0-9.]+% \(estimated\)'

# Returns to places that no return has gone to yet: what follows a call is copied with the call. Windows and bursts that wait for
# the processor stop more often: so there are several tries.
"$branchy" places 300 > want
for try in 1 2 3 4 5 6 7 8; do
	run ssrun -q -branches -bursts 20 -o "places.$try" "$branchy" places 300
	prof -dump "places.$try" > places.txt
	ok=$(awk '/^tally stops/ { stops = $4 } /^branch / { met++ } /^tally transfers/ { n = $4 } END { print (met > 256 && n > 10 * stops) }' places.txt)
	[ "$ok" = 1 ] && break
done
is "256 places that are returned to: the same" "$status $out" "0 $(cat want)"
is "and not each of them is a stop" "$ok" 1

# System calls that cannot block are done in copies; those of the pipe are not.
"$branchy" files 30000 > want
for try in 1 2 3 4 5 6 7 8; do
	run ssrun -q -branches -bursts 60 -o "files.$try" "$branchy" files 30000
	prof -dump "files.$try" > files.txt
	ok=$(awk '/^tally stops/ { stops = $4 } /^tally transfers/ { n = $4 } END { print (n > 20 * stops) }' files.txt)
	[ "$ok" = 1 ] && break
done
is "calls in copies: the same" "$status $out" "0 $(cat want)"
is "and not each of them is a stop" "$ok" 1

# The first burst costs milliseconds, and has to wait for as much time that it may have.
run ssrun -branches -o short true
like "a program without a burst: it is told" "$err" 'too short for branch records'
run prof -summary short
like "-summary: what following it took" "$out" '^Time that recording branches took.* ([1-9][0-9]*\.[0-9]|0\.[1-9])% \(estimated\)'

# What it could disturb: each checks itself and prints what must be the same.
for what in "threads 4 4000" "forks 8 500" "signals 300" "blocked 400" "calls 2000" "loops 30000"; do
	# shellcheck disable=SC2086 # words
	"$branchy" $what > want
	# shellcheck disable=SC2086
	run ssrun -branches -bursts 300 -o "${what%% *}" "$branchy" $what
	is "$what: the same" "$status $out $err" "0 $(cat want) "
	ok "$what: followed" awk '/^branch / { n++ } END { exit n == 0 }' <<-END
		$(prof -dump "${what%% *}")
	END
done

# Samples are not taken during bursts; what begins and ends then is recorded all the same.
ssrun -q -branches -bursts 300 -o begun "$build/tests/programs/threads" 1000
is "each thread is listed once" "$(prof -dump begun | grep -c '^thread ')" 1001
ssrun -q -branches -bursts 300 -o begun "$build/tests/programs/crowd" forks 300 > /dev/null
is "each process is listed" "$(prof -dump begun | grep -c '^process ')" 301

# What would notice that it runs from elsewhere than where its code is.
for what in "faults 1500" "code 3000" "patched 2000" "spawns 40" "filtered 50000" "deep 20000" "calls 5000"; do
	# shellcheck disable=SC2086 # words
	"$unruly" $what > want
	# shellcheck disable=SC2086
	run ssrun -branches -bursts 500 -o "${what%% *}" "$unruly" $what
	is "$what: the same" "$status $out $err" "0 $(cat want) "
done
if grep -q '^Seccomp:.0$' /proc/self/status; then
	ok "bursts in copies are long, and timed" awk '/^tally transfers/ { n = $4 } /^tally bursts-timed/ { t = $4 }
		END { exit n < 100000 || t == 0 }' mix.txt
	ok "runs have rates" awk '/^branch / && $14 > 0 && $16 > 0 && $18 > 0 { n++ } END { exit n < 10 }' mix.txt
	ok "branches count between bursts as well" awk '/^tally native-pairs/ { n = $4 } /^tally native / { t = $4 }
		/^tally copied/ { c = $4 } END { exit n == 0 || t == 0 || c == 0 }' mix.txt
else
	skip "bursts in copies" "a filter of system calls is in force"
fi
# The first bursts may come before the filter.
ok "a filter of system calls: breakpoints instead" awk '/^tally bursts / { n = $4 } /^tally bursts-timed/ { t = $4 }
	END { exit n < 8 || t > n / 2 }' <<-END
	$(prof -dump filtered)
END

"$branchy" until enough & pid=$!
run ssrun -branches -bursts 300 -for 0.6 -o attached -pid $pid
is "-pid, for a while" "$status $err" "0 "
ok "followed" test "$(prof -dump attached | grep -c '^branch ')" -gt 20
# Let go of in the middle of it, again and again: no breakpoint stays.
for _ in 1 2 3; do
	ssrun -q -branches -bursts 1000 -for 0.1 -o attached -pid $pid
	ssrun -q -branches -bursts 1000 -o attached -pid $pid & of=$!
	wait_for grep -q 'TracerPid:.[1-9]' "/proc/$pid/status"
	kill -TERM $of
	wait $of
done
is "who attached is gone" "$(grep TracerPid "/proc/$pid/status")" "TracerPid:	0"
touch enough
wait $pid
is "and the process is well" $? 0

# Branches are recorded every two seconds, and what there is of the experiment is written every five.
ssrun -q -branches -o killed "$branchy" until killed.enough 2>/dev/null & pid=$!
ok "it writes branches before its end" wait_for sh -c "prof -dump killed 2>/dev/null | grep -q '^branch '"
kill -9 $pid
wait $pid 2>/dev/null
touch killed.enough
like "ssrun killed: what it wrote until then has branches" "$(prof -dump killed)" '^branch '

# It ends or is killed at any moment: the program goes on to its end, and nothing is left.
worked_traced() { # PID N: or it has ended
	test ! -e "/proc/$1" || grep -q 'State:.Z' "/proc/$1/status" ||
		{ worked "$1" "$2" && grep -q 'TracerPid:.[1-9]' "/proc/$1/status"; }
}
for ends in KILL INT; do
	for what in "threads 4 3000" "calls 5000"; do
		bad=
		for at in 2 4 6 8 10 12; do
			# shellcheck disable=SC2086 # words
			"$branchy" $what > out.$at & pid=$!
			ssrun -q -branches -bursts 300 -o ends.$at -pid $pid 2>/dev/null & of=$!
			wait_for worked_traced $pid $at
			kill -$ends $of 2>/dev/null
			wait $pid || bad="$bad $?"
			wait $of 2>/dev/null
		done
		# shellcheck disable=SC2086
		is "$what: ssrun gets SIG$ends" "$bad $(cat out.* | sort -u)" " $("$branchy" $what)"
	done
done

"$branchy" until tracerless & pid=$!
ssrun -branches -o tracerless.x -pid $pid 2> err & of=$!
wait_for grep -q 'TracerPid:.[1-9]' "/proc/$pid/status"
tracer=$(sed -n 's/^TracerPid:.//p' "/proc/$pid/status")
is "the tracer is a process of its own" "$(cat "/proc/$tracer/comm")" branches
kill -9 "$tracer"
wait_for grep -q 'was killed' err
touch tracerless
wait $pid $of
like "the tracer is killed: that is said" "$(cat err)" 'no more branch records'

if command -v strace >/dev/null; then
	strace -o /dev/null "$branchy" until stop & tracer=$!
	wait_for pgrep -P $tracer -x branchy
	run ssrun -branches -for 0.2 -o traced -pid "$(pgrep -P $tracer -x branchy)"
	touch stop
	wait $tracer
	is "where another traces, there are samples" "$status" 0
	like "and it says why no more" "$err" 'no branch records, only samples: .*\(strace\) follows it already; .*need ptrace'
else
	skip "another tracer" "no strace"
fi

ok "a static program" "${CC:-gcc}" -O1 -static -pthread -o static "$TOP/tests/programs/branchy.c"
run ssrun -branches -bursts 300 -o static.x ./static mix 3000
is "is followed as well" "$status $out" "0 $("$branchy" mix 3000)"
ok "in its own code" sh -c "prof -dump static.x | grep -q '^branch '"

run ssrun -branches -bursts 300 -o trap "$branchy" trap 300
is "who handles SIGTRAP himself is left alone" "$status $out" "0 $("$branchy" trap 300)"

# Data of copies are in pages that both processes map; where the program could notice that, they are sent. Either way it has no more
# open files than before, and its executions are the same.
cat > shares.c <<'E2'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
__attribute__((noipa)) unsigned long twice(unsigned long n) { return n % 3 ? 2 * n : n + 1; }
int main(void)
{
	unsigned long sum = 0;
	static char line[512];
	int shared = 0, first;
	FILE *maps;
	for (unsigned long i = 0; i < 100000000; i++) sum += twice(i);
	first = open("/dev/null", O_RDONLY);
	close(first);
	maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps)) shared |= strstr(line, "memfd:") != NULL;
	printf("%lu %d %d\n", sum, first, shared);
	return 0;
}
E2
ok "a program that looks at its mappings" "${CC:-gcc}" -O2 -g -o shares shares.c
run ./shares
alone=${out% *}
is "has no memory of ours" "$out" "$alone 0"
run ssrun -branches -bursts 300 -o sent.x sh -c 'ulimit -f unlimited; exec ./shares'
if grep -q '^Seccomp:.*0' /proc/self/status && [ "$(ulimit -f)" = unlimited ]; then
	is "shares pages with us, and no descriptor" "$status $out" "0 $alone 1"
fi
run sh -c 'ulimit -f 1000000; exec ssrun -branches -bursts 300 -o sent.x ./shares'
is "where files are limited, shares none" "$status $out" "0 $alone 0"
like "and is followed" "$(prof -dump sent.x)" "tally transfers count [0-9]{6}"

# Loops that begin at each byte of a line, of several lengths: their copies do likewise. Short branches to the next copy must reach it.
cat > lines.c <<'E2'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	unsigned long sum = 0;
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i; i--)
		__asm__ volatile(".altmacro\n"
			".macro loop offset, length\n"
			" mov $100000, %%ecx\n jmp 1f\n .p2align 6\n .skip \\offset, 0x90\n"
			"1: add $1, %0\n .skip \\length, 0x90\n dec %%ecx\n jnz 1b\n"
			".endm\n"
			".set at, 0\n"
			".rept 64\n loop %%at, 0\n loop %%at, 5\n loop %%at, 55\n loop %%at, 56\n loop %%at, 118\n .set at, at + 1\n .endr\n"
			".purgem loop\n" : "+r"(sum) : : "rcx", "cc");
	printf("%lu\n", sum);
	return 0;
}
E2
ok "loops at all places of a line" "${CC:-gcc}" -O2 -Wa,-W -o lines lines.c
run ssrun -branches -bursts 300 -o lines.x ./lines 8
is "have all of their turns" "$status $out" "0 256000000"
like "their copies were executed" "$(prof -dump lines.x)" "tally transfers count [0-9]{7}"

# A loop that waits for memory: by the schedule alone, it would execute 25 to 250 times as often.
cat > chain.c <<'E2'
#include <stdlib.h>
#define N 200000ul
static struct node { struct node *next; long value, rest[14]; } nodes[N];
__attribute__((noipa)) long walk(const struct node *n) { long sum = 0; for (; n; n = n->next) sum += n->value; return sum; }
int main(void)
{
	long sum = 0;
	/* each node once, far from the one before */
	for (unsigned long i = 0; i < N; i++)
		nodes[i * 61803 % N].next = i + 1 < N ? &nodes[(i + 1) * 61803 % N] : NULL;
	for (int i = 0; i < 60; i++) sum += walk(nodes);
	return sum != 0;
}
E2
ok "a loop of 12 million turns that waits for memory" "${CC:-gcc}" -O2 -g -o chain chain.c
run ssrun -branches -bursts 100 -o chain.x ./chain
is "runs" "$status" 0
run prof -csv -calc walk chain.x
like "its executions are not those of the schedule" "$(echo "$out" | awk -F , '
	/^role/ { for (i = 1; i <= NF; i++) if ($i == "executions") column = i }
	/^row/ { gsub(/"[^"]*"/, "x"); if ($column > most) most = $column }
	END { print (most > 2e6 && most < 7e7 ? "near" : most) }')" near
done_testing
