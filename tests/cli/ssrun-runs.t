# SPDX-License-Identifier: GPL-2.0-or-later
# ssrun -runs: several runs of a command in one experiment.
# In real time: an interrupt comes in the middle of a run.
. "$TOP/tests/lib.sh"
branchy=$build/tests/programs/branchy

run ssrun -fpcsamp -runs 0 true
is "no run at all" "$status" 125
run ssrun -fpcsamp -runs 2 -pid $$
is "only of a command" "$status $err" \
	"125 ssrun: -runs needs a command that it can run again: leave out -pid and -a"

# Every run has the input, its output is shown, and the experiment has them all.
run sh -c "echo input | ssrun -q -fpcsamp -runs 3 -o three cat"
is "each run reads the same input" "$status $out $err" "0 $(printf 'input\ninput\ninput') "
echo "from a file" > input
run sh -c "{ read -r word; ssrun -q -fpcsamp -runs 3 -o file cat; } < input"
is "a file, too, from where it was" "$status $out" "0 "
run sh -c "ssrun -q -fpcsamp -runs 3 -o file cat < input"
is "and from its beginning" "$status $out" "0 $(printf 'from a file\nfrom a file\nfrom a file')"
is "all are in one experiment" "$(prof -head three | grep '^Files added up' | tr -s ' ')" "Files added up 3"
is "processes are apart" "$(prof -dump three | grep -c '^process .*"cat"')" 3

# The status is the first that is not 0, as of perfex -r.
cat > turns <<'END'
#!/bin/sh
echo turn >> turns.log
[ "$(wc -l < turns.log)" != "$1" ] || exit "$2"
END
chmod +x turns
run ssrun -fpcsamp -runs 4 -o second ./turns 2 7
is "the first status that is not 0" "$status $(wc -l < turns.log)" "7 4"
rm turns.log
run ssrun -fpcsamp -runs 3 -o good ./turns 9 7
is "else 0" "$status" 0
run ssrun -fpcsamp -runs 3 -o none ./nowhere
is "a command that cannot be run" "$status" 127
ok "leaves nothing" test ! -e none

# ^C ends the run that it comes in, and those after it.
cat > wait-in-second <<'END'
#!/bin/sh
echo turn >> waits.log
[ "$(wc -l < waits.log)" = 1 ] || exec sleep 100
END
chmod +x wait-in-second
ssrun -fpcsamp -runs 3 -o cut ./wait-in-second 2> cut.err &
pid=$!
wait_for sh -c '[ "$(wc -l < waits.log)" = 2 ]'
wait_for pgrep -P "$pid" sleep
kill -TERM "$pid"
wait "$pid"
is "interrupted in the second run" "$? $(cat cut.err)" "143 ssrun: interrupted: the experiment is of 1 of 3 runs"
is "the first is there" "$(prof -head cut | grep -c 'Files added up')" 0

only_on x86_64 "bursts" "branches are followed on x86-64 only"

# One run of this length has no burst; many have some, and say nothing.
run ssrun -branches -runs 3 -o short true
like "too short in all runs" "$err" 'too short for branch records .* in 3 runs.: give more runs'
is "it is said once" "$(printf '%s\n' "$err" | wc -l)" 1
"$branchy" mix 8000 > want
run ssrun -branches -runs 25 -o many "$branchy" mix 8000
is "the results of all" "$out" "$(for _ in 1 2 3 4 5; do cat want want want want want; done)"
prof -dump many > many.txt
ok "there are bursts in several runs" awk '/^tally bursts / { n = $4 } END { exit n < 2 }' many.txt
done_testing
