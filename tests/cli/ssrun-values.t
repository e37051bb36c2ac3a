# SPDX-License-Identifier: GPL-2.0-or-later
# Values at random moments: what is known by construction is found, and the program is not changed.
# In real time: moments of a program that runs.
. "$TOP/tests/lib.sh"
known=$build/tests/programs/known branchy=$build/tests/programs/branchy unruly=$build/tests/programs/unruly
oracle=$build/tests/tools/values_oracle

run ssrun -fpcsamp -rate 5 true
is "-rate alone" "$status $err" "125 ssrun: -rate needs -values"
run ssrun -fpcsamp -length 5 true
is "-length alone" "$status $err" "125 ssrun: -length needs -values"
run ssrun -values -budget much true
like "-budget takes a percentage" "$status $err" "^125 .*between 0.01 and 50, not 'much'"
run ssrun -values -rate often true
like "-rate takes a rate" "$status $err" "^125 .*between 0.01 and 10000 per second, not 'often'"
run ssrun -values -length 20000 true
like "-length has an end" "$status $err" "^125 .*at most 10000 instructions, not 20000"
run ssrun -values -explain true
like "-values and -explain" "$status $err" '^125 .*record them in two runs'
run ssrun -values -a -for 1
like "-values follows a command" "$status $err" '^125 .*leave out -a'

run ssrun -values=shapes true
like "-values=HOW" "$status $err" "^125 .*HOW is shape, latency, watch or a module, FILE.so, not 'shapes'"
run ssrun -fpcsamp=shape true
like "other experiments take nothing" "$status $err" '^125 .*takes no argument'

if [ "$(uname -m)" != x86_64 ]; then
	run ssrun -values -o elsewhere "$branchy" mix 10
	is "elsewhere, only samples" "$status" 0
	like "and it says so" "$err" 'no values, only samples: .*need x86-64'
	done_testing
fi

# The interpreter against single steps.
for what in "$known 60" "$branchy mix 100000000" "sh -c 'while :; do x=\$((x*7+1)); done'"; do
	run sh -c "$oracle 300 64 $what"
	like "single steps: ${what##*/}" "$out" ' differ 0;'
done

"$known" 30000r > want
run ssrun -values -rate 400 -o values "$known" 30000r
is "the program's result" "$status $out $err" "0 $(cat want) "
is "only its owner may read the file" "$(stat -c %a values)" 600
prof -dump values > values.txt
ok "there were windows" awk '/^value-tally moments count/ { n = $4 } END { exit n < 50 }' values.txt
like "the metric says that there are values" "$(grep ^metric values.txt)" 'flags .*values'
run prof -summary values
like "-summary: windows" "$out" 'Windows of values +[0-9]+ \(and [0-9]+ in system calls\), [0-9]+ instructions each'
prof -merge -o twice values values
is "a sum is private, too" "$(stat -c %a twice)" 600
is "and has twice the values" "$(prof -dump twice | awk '/^site/ { n += $13 } END { print n }')" \
	"$(awk '/^site/ { n += 2 * $13 } END { print n }' values.txt)"

# What it could disturb: each checks itself and prints what must be the same.
for what in "threads 4 1000" "forks 8 500" "signals 300" "blocked 400" "calls 500"; do
	# shellcheck disable=SC2086 # words
	"$branchy" $what > want
	# shellcheck disable=SC2086
	run ssrun -values -rate 500 -o "${what%% *}" "$branchy" $what
	is "$what: the same" "$status $out $err" "0 $(cat want) "
done
for what in "faults 1500" "code 3000" "patched 2000" "spawns 40" "filtered 10000" "deep 20000"; do
	# shellcheck disable=SC2086 # words
	"$unruly" $what > want
	# shellcheck disable=SC2086
	run ssrun -values -rate 500 -o "${what%% *}" "$unruly" $what
	is "$what: the same" "$status $out $err" "0 $(cat want) "
done

"$known" 60 & pid=$!
run ssrun -values -rate 300 -for 0.5 -o attached -pid $pid
is "-pid, for a while" "$status $err" "0 "
kill $pid
ok "followed" test "$(prof -dump attached | grep -c '^site ')" -gt 20

# A program whose tracer is killed goes on; what there is of the experiment is written every five seconds.
ssrun -q -values -rate 500 -o killed "$branchy" until killed.enough 2>/dev/null & pid=$!
wait_for sh -c "prof -dump killed 2>/dev/null | grep -q '^site '"
child=$(pgrep -P $pid -x branchy)
kill -9 $pid
wait $pid 2>/dev/null
like "ssrun killed: what it wrote until then has values" "$(prof -dump killed)" '^value '
ok "and the program goes on" kill -0 "$child"
touch killed.enough

if command -v strace >/dev/null; then
	strace -o /dev/null "$branchy" until stop & tracer=$!
	wait_for pgrep -P $tracer -x branchy
	run ssrun -values -for 0.2 -o traced -pid "$(pgrep -P $tracer -x branchy)"
	touch stop
	wait $tracer
	is "where another traces, there are samples" "$status" 0
	like "and it says why no more" "$err" 'no values, only samples: cannot follow process [0-9]+: process [0-9]+ \(strace\) follows it already; value samples need ptrace, '
else
	skip "another tracer" "no strace"
fi

run ssrun -values -rate 500 -o trap "$branchy" trap 3000
is "who handles SIGTRAP himself is the same" "$status $out $err" "0 $("$branchy" trap 3000) "
ok "and is followed" sh -c "prof -dump trap | grep -q '^site '"
done_testing
