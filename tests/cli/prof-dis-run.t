# SPDX-License-Identifier: GPL-2.0-or-later
# prof -dis from recorded runs: the load that the search of examples/staffing waits for is the instruction with most time and
# most misses, and executions agree with edges.
# In real time: the first of three experiments samples the clock.
. "$TOP/tests/lib.sh"
program=$build/examples/staffing
search=$(grep -n 'while (e->badge != badge)' "$top/examples/staffing.c" | head -1 | cut -d: -f1)
ok "there is a line that searches" test -n "$search"

ok "a clock profile" ssrun -q -fpcsamp -o time.exp "$program" 65536 20000
ok "a profile of misses on the model" ssrun -q -dsc_hwc -source model -machine r10000 -o misses.exp "$program"
ok "exact counts" ssrun -q -ideal -o ideal.exp "$program"
cat > top.py <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
k = d["columns"].index(sys.argv[2])
rows = [r for r in d["rows"] if "bytes" in r]
best = max(rows, key=lambda r: r["counts"][k]["value"] if r["counts"][k] else 0)
print(best.get("line"), "(%" in best["text"], best["percent"][k] > 40)
END
run prof -dis -q 100 -json time.exp
printf '%s\n' "$out" > time.json
is "most time: at the load of the search, moved there" "$(python3 top.py time.json time)" "$search True True"
run prof -dis -q 100 -json misses.exp
printf '%s\n' "$out" > misses.json
is "most misses: there, too, without being moved" "$(python3 top.py misses.json dsc)" "$search True True"
unlike "what the model counts is not moved" "$(cat misses.json)" 'dsc\.raw'

run prof -dis -q 1000 -only staffing -whole -json ideal.exp
printf '%s\n' "$out" > ideal.json
run prof -dis staffing -q 1000 -whole -json ideal.exp
printf '%s\n' "$out" > named.json
ok "a function by its name: as with -only" python3 -c '
import json
a, b = (json.load(open(f)) for f in ("ideal.json", "named.json"))
assert a["rows"] and a["rows"] == b["rows"]'
is "and of what is piped in" "$(prof -dis staffing -q 1000 -whole -csv - < ideal.exp | grep -c ^row)" "$(prof -dis staffing -q 1000 -whole -csv ideal.exp | grep -c ^row)"
for report in dis why; do
	run prof -$report staffing missing.exp
	is "-$report of a file that is missing: which" "$status $err" "125 prof: missing.exp: No such file or directory"
done
ok "executions agree: what is taken and what falls through" python3 - <<'END'
import json
d = json.load(open("ideal.json"))
c = d["columns"]
times, taken = c.index("executions"), c.index("taken")
rows = [r for r in d["rows"] if "bytes" in r]
branches = 0
for a, b in zip(rows, rows[1:]):
    if a["procedure"] != b["procedure"] or not a["counts"][taken] or not a["text"].startswith("j") or a["text"].startswith("jmp"):
        continue
    n = a["counts"][times]["value"]
    assert 0 <= a["counts"][taken]["value"] <= n, a
    # what follows is executed at least as often as the branch fell through
    assert b["counts"][times]["value"] >= n - a["counts"][taken]["value"], (a, b)
    branches += 1
assert branches > 5, branches
loops = [r for r in rows if r.get("loop")]
assert loops and max(r["counts"][times]["value"] for r in loops) == max(r["counts"][times]["value"] for r in rows)
END
run prof -archinfo -json ideal.exp
printf '%s\n' "$out" > mix.json
ok "-archinfo: the sum of all names is the number of instructions" python3 - <<'END'
import json
d = json.load(open("mix.json"))
n = sum(r["counts"][0]["value"] for r in d["rows"] if r.get("section") == "name")
assert n == d["experiments"][0]["samples"], (n, d["experiments"][0]["samples"])
END
done_testing
