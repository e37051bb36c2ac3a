# SPDX-License-Identifier: GPL-2.0-or-later
# ssrun monitor -branches: what is hot, can be optimised and is not yet known is followed; what must not be is not; what
# is followed goes on when the monitor ends in whatever way.
# In real time: running programs are sampled.
. "$TOP/tests/lib.sh"
PERFEX_STORE=$work/store
export PERFEX_STORE
export MALLOC_PERTURB_=85 # what is read and was never written is no valid address
cat > all.c <<'END'
#include <stdlib.h>
volatile unsigned long turns;
__attribute__((noinline)) void spin_here(unsigned long n) { for (unsigned long i = 0; i < n; i++) if (i % 3) turns += i; else turns ^= i; }
int main(int argc, char **argv) { for (long n = argc > 1 ? atol(argv[1]) : 1L << 62; n > 0; n--) spin_here(100000); return 0; }
END
for program in spinner others spared brief bare; do
	{ cat all.c; echo "int $program;"; } > $program.c
	gcc -O1 -g -o $program $program.c || exit 1
done 2> /dev/null
strip bare
begun=
begin() { "$@" & begun="$begun $!"; }
# shellcheck disable=SC2086
trap 'kill -9 $begun 2>/dev/null; chmod -R u+rwx "$work" 2>/dev/null; rm -rf "$work"' EXIT
# As `ssrun monitor -status -json` says it, without two programs at every look.
status() { sed -n "s/^$1 //p" "$at/monitor.status"; }
running() { ssrun monitor -status -store "$at"; }
watch() {
	at=$1
	shift
	ssrun monitor -branches -budget 50 -only "$work/[sb]*" -every 3600 -store "$at" "$@" 2>> log &
	monitor=$!
	begun="$begun $monitor"
	wait_for running
}
ends() { kill "$monitor"; wait "$monitor"; }
reached() { [ "$(status "$1")" -ge "$2" ]; }

run ssrun monitor -for 0.2 -branches -only nothing -store first
if [ "$status" != 0 ]; then
	skip "all of it" "this machine cannot be sampled, or branches not be recorded: $err"
	done_testing
fi
begin ./spinner
spinner=$!
for session in 1 2; do
	ssrun -q -branches -bursts 100 -pid $spinner -for 0.5 -o $session.branches 2> why
done
if [ ! -e 2.branches ]; then
	skip "all of it" "processes cannot be followed here: $(cat why)"
	done_testing
fi

# ---- what is hot ----
# The store has half of the sessions that it takes to be known well.
bursts() { prof store show "$1" -csv | awk -F, '$6 > 0 { n += $6 } END { print n + 0 }'; }
prof store add 1.branches 2.branches > log 2>&1
had=$(bursts "$work/spinner")
begin ./others
others=$!
watch "$PERFEX_STORE" -spare 'spar*'
ok "a hot image becomes known well" wait_for reached known 1
like "-status says so" "$(ssrun monitor -status)" '^branches +[1-9][0-9]* in [1-9][0-9]* bursts of [1-9][0-9]* sessions, which took [0-9.]+ s; [1-9][0-9]* images are known well$'
like "and of which" "$(status followed)" "^$work/spinner\$"
ok "the store has them" test "$(bursts "$work/spinner")" -gt "$had"
is "beside those that it had" "$(test "$had" -gt 0; echo $?)" 0
is "-only leaves out what is as hot" "$(bursts "$work/others")" 0
kill -9 $others # the rest has its processor
# shellcheck disable=SC2046
prof -export llvm -o spinner.llvm $(prof store files "$work/spinner") 2> export.log
like "the store has branches for a compiler" "$(cat spinner.llvm 2>&1)" '^spin_here:[1-9]'
ends
is "it ends" "$?" 0
ok "what was followed goes on" kill -0 $spinner
is "nothing else is left in the store" "$(find "$PERFEX_STORE" -name '.session*')" ""
ok "what sessions took is counted" test "$(ssrun monitor -status -json | jq '.overhead * .elapsed * 100000 >= .session_cpu')" = true

# ---- it is known ----
sessions=$(prof store show "$work/spinner" -csv | grep -vc '^file')
watch "$PERFEX_STORE"
begin ./bare
unfit() { status unfollowed | grep -q 'bare has neither lines'; }
ok "what has no lines is not followed" wait_for unfit
is "what is known well is not followed again" "$(status followed)" ""
ends
is "the store has one file more" "$(prof store show "$work/spinner" -csv | grep -vc '^file')" "$((sessions + 1))"
kill -9 $spinner
# shellcheck disable=SC2086
kill -9 $begun 2>/dev/null

# ---- what must not be followed ----
begin ./spared
spared=$!
watch spares -spare 'spar*'
is_spared() { status unfollowed | grep -q "$work/spared is spared"; }
ok "what is spared" wait_for is_spared
is "is not followed" "$(status sessions)" 0
ends
kill -9 $spared

# ---- short programs; ends of another kind ----
begin sh -c 'while :; do ./brief 2000; done'
loop=$!
watch short -spare spared
caught() { status followed | grep -q "$work/brief"; }
ok "a program of short runs is caught" wait_for caught
ends
kill -9 $loop
begin ./brief
brief=$!
watch killed -spare spared
session() { [ -e killed/.session.ssexp ] || reached sessions 1; }
wait_for session
kill -9 "$monitor"
wait "$monitor" 2>/dev/null
gone() { ! pgrep -f "ssrun -q -branches -bursts 100 -pid $brief" > /dev/null; }
ok "the session ends by itself if the monitor is killed" wait_for gone
ok "and the program goes on" kill -0 $brief
at=killed
like "another monitor may begin" "$(ssrun monitor -status -store killed; ssrun monitor -for 0.1 -store killed 2>&1)" '^not running'

run ssrun monitor -only 'x*'
like "-only alone" "$status$err" '125ssrun: -spare and -only need -branches'
run ssrun monitor -branches nonsense
like "a command" "$status$err" '125ssrun: ssrun monitor takes no command'
done_testing
