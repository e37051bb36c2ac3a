# SPDX-License-Identifier: GPL-2.0-or-later
# perfex -stacks: samples know which calls led to them.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "call paths" "the model's tool is not built here"; done_testing; }
command -v jq >/dev/null || { skip "call paths" "jq is not installed"; done_testing; }
paths=$build/tests/programs/paths
echo 'void work(void (*leaf)(long)) { for (volatile int i = 0; i < 3; i++) leaf(90000); }' > library.c
cc -O1 -shared -fPIC -o library.so library.c

# Paths by the names of functions: "main;catcher;leaf N" for the samples of conditional branches taken in leaf.
cat > fold.py <<'END2'
import bisect, collections, json, subprocess, sys
images, nodes, own, symbols = {0: ""}, {0: None}, collections.Counter(), {}
def name(image, address):
    path = images[image]
    if path not in symbols:
        lines = subprocess.run(["nm", "-n", "--defined-only", path], capture_output=True, text=True).stdout.splitlines() if path else []
        symbols[path] = sorted((int(w[0], 16), w[2]) for w in map(str.split, lines) if len(w) > 2 and w[1] in "tTwW")
    at = bisect.bisect_right(symbols[path], (int(address, 16), "~")) - 1
    return symbols[path][at][1] if at >= 0 else "?"
for line in open(sys.argv[1]):
    row = json.loads(line)
    if row["type"] == "image": images[row["image"]] = row["path"]
    if row["type"] == "node": nodes[row["node"]] = (row["parent"], name(row["image"], row["address"]) + ("!" if row.get("interrupted") else ""))
    if row["type"] == "sample" and name(row["image"], row["address"]) == "leaf": own[row.get("node")] += row["count"]
def path(node):
    names = []
    while node:
        node, one = nodes[node][0], nodes[node][1]
        names.append(one)
    return [n for n in reversed(names) if n != "?" and not n.startswith("_")]
folded = collections.Counter()
for node, count in own.items(): folded[";".join(path(node) + ["leaf"]) if node is not None else "lost"] += count
for names, count in sorted(folded.items()): print(names, count)
END2
run perfex -q -machine zen4 -e tbr -o counts -profile profile.json -sample tbr:1 -stacks "$paths" "$work/library.so"
is "runs" "$status $err" "0 "
python3 fold.py profile.json > folded
has() { # name path iterations times
	is "$1" "$(grep "^$2 " folded)" "$2 $(($4 * $3))"
}
# Of n iterations n - 1 branches are taken; the return is one more.
has "recursion" "main;recursion;recursion;recursion;recursion;recursion;recursion;leaf" 10000 1
has "behind a longjmp" "main;catcher;leaf" 20000 1
is "in handlers of signals, behind what they interrupted" "$(grep -c '^main;signals;.*!;handler;leaf 60000$' folded),$(grep -c '!;handler;leaf' folded)" "1,1" ||
	cat folded
is "in a handler that is left by a longjmp" "$(grep -c '^main;signals;.*!;leaving_handler;leaf 40000$' folded)" 1
has "behind that" "main;signals;leaf" 50000 1
is "in callbacks" "$(sed -n 's/^main;callbacks;.*compare;leaf //p' folded | awk '{ n += $1 } END { print n }')" "$((3 * 1000))"
has "in a coroutine, on each side of a switch" "coroutine;inner;leaf" 12000 4
has "outside of it" "main;coroutines;leaf" 500 5
is "in threads" "$(sed -n 's/^thread;leaf //p' folded)" 360000
has "in the child of a fork" "main;forks;leaf" 80000 1
has "from a library" "main;library;work;leaf" 90000 3
is "no path is lost" "$(jq -s '[.[] | select(.type == "sample" and (has("node") | not))] | length' profile.json)" 0
is "samples are as many as without paths" "$(jq -s '[.[] | select(.type == "sample") | .count] | add' profile.json)" \
	"$(perfex -q -machine zen4 -e tbr -o counts -profile flat.json -sample tbr:1 "$paths" "$work/library.so" && jq -s '[.[] | select(.type == "sample") | .count] | add' flat.json)"
grep -v '"pid"' profile.json > first
perfex -q -machine zen4 -e tbr -o counts -profile again.json -sample tbr:1 -stacks "$paths" "$work/library.so"
ok "the same again is the same, but for the numbers of processes" sh -c 'grep -v "\"pid\"" again.json | cmp - first'

# Callgrind counts each iteration of a repeated string instruction, and takes a handler for a function that the
# interrupted one did not call.
head -c 30000 "$(command -v sh)" > data
cat > sort.lua <<'END2'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 200 do t[i] = (i * 7919) % 1009 end
table.sort(t, function(a, b) return a < b end)
print(fib(12), t[1], pcall(error, "x"))
END2
for command in "gzip -c data" "lua5.4 sort.lua"; do
	# shellcheck disable=SC2086 # words
	run "$TOP/tests/accuracy/paths" "$build" $command
	is "callgrind has as many instructions below each call: $command" "$(echo "$out" | jq -c '[.calls > 200, .near > 0.97, .lost]')" "[true,true,0]" ||
		echo "# $out"
done

for bad in "-stacks true" "-profile x -stacks true" "-profile x -blocks -stacks true"; do
	# shellcheck disable=SC2086
	run perfex $bad
	is "refused: perfex $bad" "$status" 125
done
done_testing
