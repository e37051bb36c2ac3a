# SPDX-License-Identifier: GPL-2.0-or-later
# ssrun -branches -values: bursts log values. What is known by construction is found, and the program is not changed.
# In real time: bursts of programs that run.
. "$TOP/tests/lib.sh"
known=$build/tests/programs/known
for how in "=latency" "=watch" "=./x.so" " -length 100" " -rate 100"; do
	# shellcheck disable=SC2086 # words
	run ssrun -branches -values$how true
	like "-branches -values$how" "$status $err" "^125 .*values are those that its bursts log: leave out -"
done
if [ "$(uname -m)" != x86_64 ]; then
	run ssrun -branches -values -o elsewhere "$build/tests/programs/branchy" mix 10
	like "elsewhere, it is said" "$status $err" '^0 .*no branch records, only samples: .*x86-64'
	done_testing
fi

"$known" 60000r > want
run ssrun -branches -values -bursts 300 -o log "$known" 60000r
is "the program's result" "$status $out $err" "0 $(cat want) "
is "only its owner may read the file" "$(stat -c %a log)" 600
like "its name" "$(prof -summary log)" 'Experiment name +branches,values'
like "-summary: bursts with values" "$(prof -summary log)" 'Bursts that logged values +[1-9][0-9]*, [0-9]{4,} values at [0-9]+ places'
logged=$(prof -dump log | awk '$1 == "value-tally" { n[$2] = $4 } END { print int(n["values"] / n["moments"]) }')
like "a burst logs more than some ten thousand of them" "$([ "$logged" -gt 50000 ] || echo "$logged")" '^$'
like "it has branch records, too" "$(prof -summary log)" 'Bursts +[1-9]'
prof -values -json -q 100000 log > log.json
cat > judge.py <<'END'
import json
rows = json.load(open("log.json"))["rows"]
def top(function, operand, instruction=""):
    found = [r for r in rows if r.get("procedure") == function and r["operand"] == operand and instruction in r["instruction"]]
    assert found, (function, operand)
    r = max(found, key=lambda r: r["n"]["value"])
    return r["list"][0]["value"], 100 * r["list"][0]["share"]["value"], r["list"][0]["share"], r["n"]["value"]
value, share, whole, n = top("power", "argument 1")
true = 0.9 + 0.1 / 32  # the other arguments are drawn from 32 values
assert value == "7" and abs(share - 90) < 4 and n > 1000 and whole["low"] <= true <= whole["high"], (value, share, whole, n)
value, share, *_ = top("divides", "second operand", "div")
assert value == "10" and share == 100, (value, share)
value, share, *_ = top("power", "result", "movsd")
assert value == "1" and share == 100, (value, share)
END
is "arguments, divisors and results have their shares" "$(python3 judge.py 2>&1)" ""
like "the report says where values come from" "$(prof -values log)" 'Values were logged in bursts \(ssrun -branches -values\)'
like "-dis -values has them" "$(prof -dis -values -only divides log)" 'by 10 100%'
like "what needs windows says so" "$(prof -access log)" 'Nothing of that kind .*there were [0-9]+ in all'
prof -merge -o twice log log
is "a sum has twice the values" "$(prof -dump twice | awk '/^site/ { n += $13 } END { print n }')" \
	"$(prof -dump log | awk '/^site/ { n += 2 * $13 } END { print n }')"
run ssrun -q -branches -values=shape -bursts 300 -o shape "$known" 20000r
like "shape: no values" "$(prof -summary shape)" 'Values themselves +not kept'
is "shape: anyone may read it" "$(stat -c %a shape)" "$(printf '%o' $((0666 & ~$(umask))))"

# With these it works as natively.
for program in "branchy 3" "unruly" "faulting" "threads 3" "branchy signals 300" "branchy forks 8 500"; do
	# shellcheck disable=SC2086 # words
	set -- $program
	name=$1
	shift
	"$build/tests/programs/$name" "$@" > native 2> native.err
	want=$?
	"$build/bin/ssrun" -q -branches -values -bursts 400 -o one "$build/tests/programs/$name" "$@" > logged 2> logged.err
	is "$name $*: status" "$?" "$want"
	is "$name $*: output" "$(cat logged)" "$(cat native)"
done
gzip -1 < "$known" | sha256sum > native
ssrun -q -branches -values -bursts 1000 -o zipped gzip -1 < "$known" | sha256sum > logged
is "gzip" "$(cat logged)" "$(cat native)"
"$known" 60 & pid=$!
run ssrun -branches -values -bursts 100 -for 0.5 -o attached -pid $pid
is "-pid, for a while" "$status $err" "0 "
kill $pid
like "and there are values" "$(prof -summary attached)" 'Bursts that logged values +[1-9]'
done_testing
