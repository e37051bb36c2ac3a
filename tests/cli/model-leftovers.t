# SPDX-License-Identifier: GPL-2.0-or-later
# A run under the model that was killed itself leaves its directory; the next one removes it, but not what is in use.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
mkdir scratch
# Runs' directories. Valgrind has files beside them for a moment when a process begins, so programs of killed runs must have ended
# before all files are looked at.
ended() { for n in 3 4 5; do ! kill -0 "$(cat who$n)" 2>/dev/null || return 1; done; }
directories() { ls -d scratch/perfex-model.* | wc -l; }
TMPDIR=$work/scratch
export TMPDIR
perfex -q -source model -machine zen4 -e 17 -o counts -- sh -c ': > begun; until [ -e end ]; do sleep 0.1; done' &
goes_on=$!
wait_for test -e begun
perfex -q -source model -machine zen4 -e 17 -o counts2 -- sh -c ': > begun2; until [ -e end ]; do sleep 0.1; done; : > ended2' &
killed=$!
wait_for test -e begun2
kill -9 $killed
wait $killed 2>/dev/null
is "two directories" "$(directories)" 2
# Also of another command, which has no use for the model.
perfex -q -source model -machine zen4 -e 17 -o counts3 -- sh -c 'echo $$ > who3; : > begun3; until [ -e end ]; do sleep 0.1; done' &
another=$!
wait_for test -e begun3
kill -9 $another
wait $another 2>/dev/null
run perfex -q -source os -e page-faults true
is "perfex without the model removes what killed runs left" "$(directories)" 1
perfex -q -source model -machine zen4 -e 17 -o counts4 -- sh -c 'echo $$ > who4; : > begun4; until [ -e end ]; do sleep 0.1; done' &
another=$!
wait_for test -e begun4
kill -9 $another
wait $another 2>/dev/null
run ssrun -q -o sample.x -pcsamp true
is "so does ssrun" "$(directories)" 1
# Its program goes on and makes files there: each process its counts.
perfex -q -source model -machine zen4 -e 17 -o counts5 -- sh -c 'echo $$ > who5; : > begun5; n=0; while [ $n -lt 40 ]; do n=$((n + 1)); true & /bin/true & done; wait' &
another=$!
wait_for test -e begun5
kill -9 $another
wait $another 2>/dev/null
run perfex -q -source os -e page-faults true
has() { [ "$(directories)" = "$1" ]; }
ok "also while the killed run's program begins processes" wait_for has 1
mkdir scratch/perfex-model.others scratch/perfex-model.empty scratch/perfex-model.new
: > scratch/perfex-model.others/file
ln -s "$work" scratch/perfex-model.link
touch -h -d '1 hour ago' scratch/* scratch/*/config
touch scratch/perfex-model.new
run perfex -q -source model -machine zen4 -e 17 -- true
is "the next run" "$status" 0
for kept in link new others; do
	ok "$kept: stays" test -e scratch/perfex-model.$kept
done
ok "what the killed one left is gone, and the empty one: the one in use and these three are there" wait_for has 4
: > end
wait $goes_on
is "the run in use goes on" "$?" 0
like "and counts" "$(cat counts)" ' 17 Graduated instructions\.+ +[0-9]{6,} +model$'
wait_for test -e ended2
ok "the program of the killed one does, too" test -e ended2
wait_for ended
rm -rf scratch/perfex-model.others scratch/perfex-model.new scratch/perfex-model.link
is "nothing is left" "$(ls scratch)" ""

# Valgrind names files by its process, and removes the names at once unless it is killed before.  The program begins no other.
mkfifo never
perfex -q -source model -machine zen4 -e 17 -o counts6 -- sh -c 'echo $$ > who; : > begun6; read -r _ < never' &
another=$!
wait_for test -e begun6
who=$(cat who)
: > "scratch/valgrind_proc_${who}_cmdline_12345678"
ok "the process is known before Valgrind begins" sh -c "ls scratch/perfex-model.*/process.$who"
rm scratch/perfex-model.*/log.*
: > scratch/valgrind_proc_1_cmdline_12345678
kill -9 $another "$who"
wait $another 2>/dev/null
wait_for sh -c "! kill -0 $who 2>/dev/null"
run perfex -q -source model -machine zen4 -e 17 -- true
is "files of Valgrind's that a killed process left are removed, but no other's" "$status $(ls scratch)" "0 valgrind_proc_1_cmdline_12345678"
rm scratch/valgrind_proc_1_cmdline_12345678
done_testing
