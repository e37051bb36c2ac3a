# SPDX-License-Identifier: GPL-2.0-or-later
# Two runs, one answer: time and branches of a native run, and counts of one on the model, in one file.
# In real time: the first of two runs samples the clock.
. "$TOP/tests/lib.sh"
small="-machine skl -clock first-order"

run ssrun -explain -pid 1
like "-pid is refused" "$status $err" '^125 .*runs a command twice.*leave out -pid'
run ssrun -explain -a -for 1
like "-a is refused" "$status $err" '^125 .*leave out -a'
run env PMI_RANK=0 ssrun -explain true
like "a rank of MPI is refused" "$status $err" '^125 .*other ranks '
run ssrun -explain ./nowhere
like "no such command" "$status $err" '^127 .*cannot find'
is "no file" "$(ls ./*.explain.* 2>/dev/null)" ""

only_on x86_64 "prof" "branch records are x86-64's"

# What the command writes appears once, and the exit status is the first run's.
cat > twice.sh <<'END'
echo run >> runs
cat
echo error >&2
[ -e ended ] && exit 3
touch ended
exit 7
END
echo "from a file" > input
# shellcheck disable=SC2086 # words
run ssrun -explain $small -o twice sh twice.sh < input
is "the native run's status and output" "$status $out" "7 from a file"
is "it ran twice" "$(grep -c run runs)" 2
is "standard error once" "$(printf '%s\n' "$err" | grep -cx error)" 1
like "the second run is announced" "$err" 'second run, on a model of skl.*its output is discarded'
like "it ended differently" "$err" 'second run ended with status 3, the first with 7'
prof -dump twice > twice.txt
like "one run" "$(head -1 twice.txt)" '^run type "explain" runs 1 complete 1'
like "time comes first" "$(grep '^metric 0' twice.txt)" 'short "time".*label measured.*branches'
like "then what the model counted" "$(grep '"dc"' twice.txt)" 'source "model".*label model flags exact'
like "of which machine" "$(cat twice.txt)" 'fact "model" '
is "processes of the first run alone" "$(awk '/^process/ { ours[$4] = 1; parent[$4] = $6 }
	END { for (p in parent) n += !(parent[p] in ours); print n }' twice.txt)" 1

# shellcheck disable=SC2086
run ssrun -q -explain -machine skl -o waits sh -c :
like "the retirement clock, for the causes of waits" "$(prof -dump waits)" '^wait .*(dependency|fetch-memory)'
unlike "and nothing of the model's own" "$(prof -dump waits)" '^sample.*vgpreload'
# Data of misses are what the model knows: of the second run.
run ssrun -q -dataspace -explain -machine skl -o data "$build/tests/programs/sharing" static 20000
is "with -dataspace" "$status $err" "0 "
like "the second run has the data of misses" "$(prof -dataspace data)" '^ +[0-9]+ +[0-9.]+% .* packed .*sharing.c'
like "and the first one the time" "$(prof -dump data)" '^metric 0 .*short "time"'
rm -f ended
# shellcheck disable=SC2086
run sh -c "printf 'from a pipe' | ssrun -q -explain $small -o pipe sh twice.sh"
is "input from a pipe" "$status $out" "7 from a pipe"
is "-q says nothing" "$err" error
# The second run reads it as well: its last word is the name of a file.
# shellcheck disable=SC2086
run sh -c "printf kept | ssrun -q -explain $small -o pipe sh -c 'read n; echo \$n >> names'"
is "the second run reads the same" "$(tr '\n' ' ' < names)" "kept kept "
# shellcheck disable=SC2086
run sh -c "(ssrun -q -explain $small -o rest head -c 1; cat) < input"
like "a file is left where the first run left it" "$out" '^f'

# A second run that cannot be leaves the first.
run ssrun -explain -machine nowhere -o alone true
is "no such machine" "$status" 0
like "and it is said what is missing" "$err" 'only the first run: .*nowhere'
like "the first run is there" "$(prof -dump alone)" '^metric 0 .*"time"'
# shellcheck disable=SC2086
run ssrun -explain $small -o interrupted sh -c 'if [ -e stop ]; then kill -TERM $PPID; else touch stop; fi'
like "an interrupted second run" "$status $err" 'only the first run: .*interrupted'
unlike "has no counts" "$(prof -dump interrupted)" '^metric 1'

done_testing
