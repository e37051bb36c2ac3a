# SPDX-License-Identifier: GPL-2.0-or-later
# Data space on the model: which object misses are about, false sharing and true, both ends, fixes.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "data space" "the model's tool is not built here"; done_testing; }
command -v jq >/dev/null || { skip "data space" "jq is not installed"; done_testing; }
sharing=$build/tests/programs/sharing
collect() { # file command...
	_file=$1; shift
	run ssrun -q -machine zen4 -o "$_file" -dataspace "$@"
	is "$*: runs" "$status $err" "0 "
}
rows() { prof -json -dataspace "$1" 2>/dev/null > "$1.json"; }
# object FILE REGEX COLUMN: the count of the objects of that name
object() { jq --arg name "$2" --arg column "$3" '(.columns | index($column)) as $c |
	if $c == null then 0 else [.rows[] | select(.kind == "object" and (.procedure | test($name))) | .counts[$c].value] | add // 0 end' "$1.json"; }
# lines FILE REGEX: kinds of sharing below the object of that name
lines() { jq -rc --arg name "$2" '.rows as $r | [range(0; $r | length)] |
	map(. as $i | select($r[$i].kind == "line") | {line: $r[$i].sharing, object: (last(range(0; $i) | select($r[.].kind == "object")) | $r[.].procedure)}) |
	map(select(.object | test($name)) | .line) | unique | join(" ")' "$1.json"; }
# threads FILE REGEX: numbers of threads at ends whose text matches
threads() { jq -rc --arg text "$2" '[.rows[] | select(.kind == "end" and (.procedure | test($text))) | .procedure | capture("^thread (?<n>[0-9]+)").n] | unique | join(" ")' "$1.json"; }

# ---- the paper's weather (figure 6): false sharing of the sums, and its fix ----
collect weather.x "$build/examples/weather" 4 400 40
collect fixed.x "$build/examples/weather" -fixed 4 400 40
rows weather.x
rows fixed.x
is "weather: the line of its sums is falsely shared" "$(lines weather.x '^sums$')" false
is "and the other end is another thread: all four are named, with their line of code" "$(threads weather.x 'reads and writes bytes .* in physics \(weather: weather.c, [0-9]+\): took it [0-9]+ times')" "1 2 3 4"
is "each with bytes of its own" "$(jq -rc '[.rows[] | select(.kind == "end" and (.procedure | test("physics.*weather.c"))) | .procedure | capture("bytes (?<b>[0-9-]+) ").b] | sort | join(" ")' weather.x.json)" "0-7 16-23 24-31 8-15"
before=$(object weather.x '^sums$' ei) after=$(object fixed.x '^sums$' ei)
ok "there are interventions ($before)" test "$before" -gt 100
ok "and the fix removes over 95% of them ($before, $after)" test $((after * 20)) -lt "$before"
is "counts are the model's" "$(jq -rc '[.rows[].counts[] | select(.) | .label] | unique | join(" ")' weather.x.json)" "model"
is "all objects together are the whole" "$(jq '[.total as $t | .rows as $r | range(0; .columns | length) as $i | ([$r[] | select(.kind == "object") | .counts[$i].value // 0] | add) == $t.counts[$i].value] | all' weather.x.json)" true
collect again.x "$build/examples/weather" 4 400 40
prof -dump -q weather.x > first
prof -dump -q again.x > second
ok "the same again is the same" cmp first second
prof -merge -o ab.x weather.x fixed.x
prof -merge -o ba.x fixed.x weather.x
ok "sums do not depend on the order of files" cmp ab.x ba.x
prof -merge -o more.x ab.x again.x
prof -merge -o other.x weather.x again.x fixed.x
ok "nor on how they were grouped" cmp more.x other.x

# ---- false and true ----
for how in static heap member; do
	collect $how.x "$sharing" $how
	rows $how.x
done
is "packed counters, static: false" "$(lines static.x '^packed$')" false
is "on the heap, by who allocated them: false" "$(lines heap.x '^allocated in make_counters < main$')" false
is "in a structure: false" "$(lines member.x '^board$')" false
for how in apart read true lock; do
	collect $how.x "$sharing" $how
	rows $how.x
done
is "a line apart: nothing is shared" "$(lines apart.x '^spaced$')" ""
is "what is only read is not" "$(lines read.x '^table$')" ""
is "one counter for all: true" "$(lines true.x '^one$')" true
unlike "a lock and what it guards: not false" "$(lines lock.x '^guarded$')" false

# ---- misuse ----
run prof -dataspace "$top/tests/cli/dataspace.t"
isnt_zero=$status
ok "what is no experiment is refused" test "$isnt_zero" -ne 0
run ssrun -q -machine zen4 -o plain.x -dsc_hwc "$sharing" static 10
run prof -dataspace plain.x
like "an experiment without data space says how to get it" "$err" 'ssrun -dataspace finds out'
done_testing
