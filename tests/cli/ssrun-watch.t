# SPDX-License-Identifier: GPL-2.0-or-later
# Watched addresses: what is planted is found, with nothing else, and the program is not changed.
# In real time: moments of a program that runs.
. "$TOP/tests/lib.sh"
watched=$build/tests/programs/watched branchy=$build/tests/programs/branchy unruly=$build/tests/programs/unruly
registers=$build/tests/tools/debug_registers

run ssrun -values=watching true
like "-values=HOW" "$status $err" "^125 .*HOW is shape, latency, watch or a module, FILE.so, not 'watching'"
run ssrun -values=watch -values=latency true
like "one way only" "$status $err" '^125 .*leave out -values=latency'
only_on x86_64 "watched addresses" "the interpreter is x86-64's"

run ssrun -values=watch -rate 50 -o tried "$watched" 0.1
case $err in
*"no watched addresses"*)
	is "without debug registers, the command runs" "$status" 0
	like "and values are sampled" "$(prof -dump tried)" '^value-tally moments'
	skip "watched addresses" "${err##*: }"
	done_testing
	;;
esac
is "a run" "$status $err" "0 "

# Enough of each kind, however busy the machine is.
seconds=2
while :; do
	ssrun -q -values=watch -rate 3000 -o planted "$watched" $seconds > /dev/null
	n=$(prof -dump planted | awk '/^value-tally watched / { n = $4 } END { print n + 0 }')
	[ "$n" -lt 400 ] && [ $seconds -lt 40 ] || break
	seconds=$((seconds * 3))
done
ssrun -q -values=watch -rate 3000 -o clean "$watched" $seconds clean > /dev/null
prof -watch -json stores_dead overwrites stores_silent stores_used loads loads_again planted > planted.json
prof -watch -json stores_used loads clean > clean.json
python3 - <<'END'
import json
for of in ("planted", "clean"):
    for r in json.load(open(of + ".json"))["rows"]:
        cells = {k: v for k, v in r.items() if isinstance(v, dict)}
        shares = " ".join(f"{k}={round(v['value'])}" for k, v in cells.items() if k not in ("n", "time") and v.get("value") is not None)
        if r["n"]["value"] >= 10:
            print(of, r["procedure"], "n=%d" % r["n"]["value"], shares, r.get("next", ""), file=open("rows", "a"))
END
like "dead stores are" "$(cat rows)" '^planted stores_dead .*dead=(9[0-9]|100) .*overwrites'
like "also those that are themselves overwritten" "$(cat rows)" '^planted overwrites .*dead=(9[0-9]|100) .*stores_dead'
like "silent stores are" "$(cat rows)" '^planted stores_silent .*silent=(9[0-9]|100) used=(9[0-9]|100)'
like "loads of what was loaded are" "$(cat rows)" '^planted loads_again .*reloaded=(9[0-9]|100) '
like "stores that are read are used" "$(cat rows)" '^planted stores_used .*dead=[0-3] silent=[0-3] used=(9[0-9]|100) .*loads'
unlike "no other is dead or silent" "$(grep -v '^planted \(stores_dead\|overwrites\|stores_silent\)' rows)" '(dead|silent)=([4-9]|[0-9][0-9])'
like "the clean program was watched" "$(cat rows)" '^clean stores_used '
unlike "and is clean" "$(prof -watch clean)" 'stores_dead|stores_silent'

run prof -watch planted
like "as text" "$out" 'dead %.*again within'
like "with what was lost" "$out" 'accesses were watched; [0-9]+ of them did not come first'
run prof -watch -csv planted
like "as CSV" "$out" 'dead.*reuse.*next'
like "in the file" "$(prof -dump planted)" '^site .* watch operand '
run prof -watch tried
is "few say nothing" "$status" 0
ssrun -q -values -rate 300 -o unwatched "$watched" 0.3 > /dev/null
like "without watches, it says what makes them" "$(prof -watch unwatched)" 'ssrun -values=watch watches them'

# What it could disturb: each checks itself and prints what must be the same.
for what in "threads 4 1000" "forks 8 500" "signals 300" "blocked 400" "calls 500" "trap 2000"; do
	# shellcheck disable=SC2086 # words
	"$branchy" $what > want
	# shellcheck disable=SC2086
	run ssrun -values=watch -rate 1000 -o "${what%% *}" "$branchy" $what
	is "$what: the same" "$status $out $err" "0 $(cat want) "
done
for what in "faults 1500" "code 3000" "patched 2000" "spawns 40" "filtered 10000" "deep 20000"; do
	# shellcheck disable=SC2086 # words
	"$unruly" $what > want
	# shellcheck disable=SC2086
	run ssrun -values=watch -rate 1000 -o "${what%% *}" "$unruly" $what
	is "$what: the same" "$status $out $err" "0 $(cat want) "
done

# Addresses that are watched when we are killed do not harm the program.
ssrun -q -values=watch -rate 2000 -o killed "$branchy" until killed.enough 2>/dev/null & pid=$!
wait_for sh -c "prof -dump killed 2>/dev/null | grep -q '^site '"
child=$(pgrep -P $pid -x branchy)
kill -9 $pid
wait $pid 2>/dev/null
sleep 0.2
ok "ssrun killed: the program goes on" kill -0 "$child"
touch killed.enough

if command -v strace >/dev/null; then
	strace -o /dev/null "$branchy" until stop & tracer=$!
	wait_for pgrep -P $tracer -x branchy
	run ssrun -values=watch -for 0.2 -o traced -pid "$(pgrep -P $tracer -x branchy)"
	touch stop
	wait $tracer
	like "where another traces, there are samples, and it says why no more" "$status $err" '^0 .*no values, only samples: .*\(strace\) follows it already'
else
	skip "another tracer" "no strace"
fi

run "$registers" true
if [ "$status" = 0 ]; then
	run "$registers" ssrun -values=watch -rate 200 -o none "$watched" 0.3
	like "all debug registers are taken: the command's status, and it says so" "$status $err" \
		'^0 .*no watched addresses, only values: the kernel gives no debug registers: .*; a debugger may have them'
	ok "and there are values" sh -c "prof -dump none | grep -q '^site '"
else
	skip "all debug registers are taken" "they cannot be"
fi
done_testing
