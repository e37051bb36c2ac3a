# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles: what instructions did adds up to what the run did, edges to executions, samples to counts.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "profiles" "the model's tool is not built here"; done_testing; }
command -v jq >/dev/null || { skip "profiles" "jq is not installed"; done_testing; }
profiled=$build/tests/programs/profiled

# Sums over the profile that differ from the counts of the run, by event.  Cycles and what is reckoned in them belong to
# no instruction; what other cores ask for is not the asked one's, nor what is written back for them.
cat > sums.py <<'END'
import collections, json, sys
profile, threads = sys.argv[1], sys.argv[2] == "threads"
skipped = "cy cy1 wcy fes bes ei eih ev evh pf".split() + (["wbsc", "wbdc"] if threads else [])
sums = collections.Counter()
for row in map(json.loads, open(profile)):
    if row["type"] == "instruction":
        for event, n in row["counts"].items():
            sums[event] += n
for e in json.load(open("counts.json"))["events"]:
    if e["count"] and e["short"] not in skipped and e["count"]["value"] != sums[e["short"]]:
        print("%s: %s counted, %s in the profile" % (e["short"], e["count"]["value"], sums[e["short"]]))
END
profile() { # name options... -- command
	_what=$1; shift
	run perfex -q -machine zen4 -a -json -o counts.json -profile profile.json "$@"
	is "$_what: runs" "$status $err" "0 "
	is "$_what: instructions add up to the run's counts, all events" "$(python3 sums.py profile.json "$_what" 2>&1)" ""
	is "$_what: nothing is lost" "$(jq -c 'select(.type == "end") | [(.instructions == .profiled), ([.lost[]] | add)]' profile.json)" "[true,0]"
}
# How often the loop's branch was taken, over all lines.
taken() { jq -s "[.[] | select(.type == \"edge\" and .kind == \"conditional\" and .taken and .count == $1)] | length" "${2:-profile.json}"; }

profile "a loop" -sample gi:1009,dc:101,gl:307 -- "$profiled" loop 12345
is "a branch taken so often" "$(taken 12344)" 1
is "the loop is a block" "$(jq -c 'select(.type == "block" and .executions == 12345) | .instructions' profile.json)" "3"
# Where execution goes to a block, it comes from somewhere: all blocks but those that the kernel enters.
is "edges into each block add up to its executions, but for entries" "$(jq -s '
	(reduce (.[] | select(.type == "edge")) as $e ({}; .["\($e.to_image) \($e.to)"] += $e.count)) as $in |
	[.[] | select(.type == "block") | select((.image > 0) and .executions != ($in["\(.image) \(.address)"] // 0))] | length <= 2' profile.json)" true
for event in gi:1009 dc:101 gl:307; do
	is "samples at every period-th: $event" "$(jq -s --arg e "${event%:*}" '
		([.[] | select(.type == "sampler" and .event == $e)][0].sampler) as $s | [.[] | select(.type == "sample" and .sampler == $s) | .count] | add' profile.json)" \
		"$(jq --arg e "${event%:*}" --argjson p "${event#*:}" '[.events[] | select(.short == $e)][0].count.value / $p | floor' counts.json)"
done
is "samples of loads name their data" "$(jq -s '([.[] | select(.type == "sampler" and .event == "gl")][0].sampler) as $s |
	([.[] | select(.type == "data" and .sampler == $s) | .count] | add) == ([.[] | select(.type == "sample" and .sampler == $s) | .count] | add)' profile.json)" true
is "images have build-ids" "$(jq -r 'select(.type == "image" and (.path | endswith("profiled"))) | .build_id' profile.json)" \
	"$(readelf -n "$profiled" | sed -n 's/.*Build ID: //p')"
is "addresses are the file's" "$(objdump -d "$profiled" | grep -c "^ *$(jq -r 'select(.type == "block" and .executions == 12345) | .address[2:]' profile.json):")" 1
grep -v '"pid"' profile.json > first
profile "the same again" -sample gi:1009,dc:101,gl:307 -- "$profiled" loop 12345
ok "is the same but for the numbers of processes" sh -c 'grep -v "\"pid\"" profile.json | cmp - first'

profile "string instructions" -- "$profiled" strings
is "of 100, with their traffic" "$(jq -sc '[.[] | select(.type == "instruction" and .counts.gi == 100 and .counts.gl == 4950 and .counts.gs == 4950)] | length' profile.json)" 1
profile "faults that are caught" -- "$profiled" faults
profile "threads" -sample gi:997 -- "$profiled" threads
is "samples know their threads" "$(jq -s '[.[] | select(.type == "sample") | .tid] | unique | length' profile.json)" 4
profile "code made at run time" -- "$profiled" made
is "is anonymous, each piece of the same length one" "$(jq -s '([.[] | select(.type == "image" and .kind == "anonymous")][0].image) as $i |
	[.[] | select(.type == "instruction" and .image == $i) | .executions]' profile.json | tr -d ' \n')" "[50,50]"

for name in one two; do
	echo "long work(long n) { long s = 0; for (long i = 0; i < n; i++) { s += i * $([ $name = one ] && echo 3 || echo i); __asm__ volatile(\"\"); } return s; }" > $name.c
	cc -O1 -shared -fPIC -Wl,--build-id -o ./lib$name.so $name.c
done
profile "libraries loaded and removed" -- "$profiled" libraries ./libone.so ./libtwo.so
is "each is an image of its own" "$(jq -sr '[.[] | select(.type == "image" and (.path | test("/lib(one|two).so$"))) | .build_id] | unique | length' profile.json)" 2
is "with calls into each" "$(jq -sc '[.[] | select(.type == "image" and (.path | test("/lib(one|two).so$"))) | .image] as $i |
	([.[] | select(.type == "image" and (.path | endswith("/profiled")))][0].image) as $from |
	[$i[] as $k | [.[] | select(.type == "edge" and .to_image == $k and .image == $from and .kind == "indirect call") | .count] | add]' profile.json)" "[15,15]"

profile "forks and an exec" -- "$profiled" forks
is "are processes of their own" "$(jq -s '[.[] | select(.type == "process")] | length' profile.json)" 5
is "and one profile" "$(taken $((3 * 999 + 1999)))" 1
run perfex -q -machine zen4 -e gi -o counts -profile profile.json sh -c 'exec sh -c "exec sh -c :"'
is "a process that executes others has an image for each" "$(jq -s '[.[] | select(.type == "process")] | length' profile.json)" 3
profile "phases" -- "$profiled" phases
is "have names" "$(jq -sc '[.[] | select(.type == "caliper") | .name]' profile.json)" '["one","two"]'
is "and counts" "$(jq -s '[.[] | select(.type == "caliper") | .threads[0].counts.tbr] | .[1] - .[0] >= 2999 and .[1] - .[0] < 3100' profile.json)" true

for what in "loop 12345" strings threads forks "libraries ./libone.so ./libtwo.so"; do
	# shellcheck disable=SC2086 # words
	perfex -q -e gi -machine zen4 -o counts -profile model.json "$profiled" $what
	# shellcheck disable=SC2086
	run perfex -q -a -machine zen4 -json -o counts.json -blocks -profile blocks.json "$profiled" $what
	grep -E '"type": ?"(edge|block)"' model.json > model
	grep -E '"type": ?"(edge|block)"' blocks.json > blocks
	ok "-blocks: $what: there are some" test -s model
	case $what in
	threads | forks) ;; # what the C library does there is not the same in every run
	*) ok "-blocks: $what: the same blocks and edges as from the model" cmp model blocks ;;
	esac
	is "-blocks: $what: counts add up" "$(python3 sums.py blocks.json all 2>&1)" ""
done

run perfex -machine zen4 -e gi -o counts -profile killed.json "$profiled" killed
is "killed: the status is the command's" "$status" 137
like "killed: what is missing is said" "$err" 'the profile lacks [0-9]+ of [0-9]+ instructions'
is "killed: what was done until shortly before is there" "$(jq -s '[.[] | select(.type == "end") | .profiled * 2 > .instructions][0]' killed.json)" true

# Cycles by what was waited for: with a slot for each instruction they are all that passed. A fused one has none.
run perfex -q -machine zen4:fusion=none -clock retirement -e cy -json -o counts.json -profile stalls.json "$profiled" loop 12345
is "the retirement clock: waits by instruction and the instructions' turns are the cycles of the run" \
	"$(jq -s --slurpfile counts counts.json '[.[] | select(.type == "instruction") | ([.stalls // {} | .[]] | add // 0) + .counts.gi / 6] | add / $counts[0].events[0].count.value | . > 0.999 and . < 1.001' stalls.json)" true
is "a branch that is taken each time was mispredicted where the loop ends" "$(jq -s '[.[] | select(.stalls.mispredict > 0)] | length > 0' stalls.json)" true
is "the first-order clock knows no causes" "$(jq -s '[.[] | select(.stalls)] | length' profile.json)" 0

run perfex -q -machine zen4 -e gi -profile counters.json -counters 4 -slices 20000 "$profiled" loop 3000000
is "an imitated processor: exact counts beside the estimates" "$(jq -s '[.[] | select(.type == "multiplexed" and .estimate.label == "scaled" and .exact.label == "model")] | length > 10' counters.json)" true
for bad in "-blocks true" "-profile x -blocks -sample gi:7 true" "-profile x -sample gi true" "-profile x -sample gi:0 true" "-profile x -source os true" \
	"-profile x -r 2 true" "-profile x -sample pf:7 true" "-profile x -counters 1 true" "-profile /nonexistent/x true" "-profile x -sample gi:7:9 true"; do
	# shellcheck disable=SC2086
	run perfex $bad
	is "refused: perfex $bad" "$status" 125
done
done_testing
