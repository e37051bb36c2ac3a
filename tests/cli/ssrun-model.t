# SPDX-License-Identifier: GPL-2.0-or-later
# Experiments on the model: the paper's search line, exact counts, shares by call path that add up, threads and
# processes, phases, code made at run time.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "experiments on the model" "the model's tool is not built here"; done_testing; }
command -v jq >/dev/null || { skip "experiments on the model" "jq is not installed"; done_testing; }
programs=$build/tests/programs
collect() { # file options... -- command
	_file=$1; shift
	run ssrun -q -source model -machine zen4 -o "$_file" "$@"
	is "ssrun $1: runs" "$status $err" "0 "
}
rows() { prof -json "$@" 2>/dev/null; }
total() { rows "$1" | jq -c '[.experiments[].total]'; }

# ---- the paper's search line (figures 2 and 3) ----
collect staffing.x -dsc_hwc "$build/examples/staffing" 65536 60
rows -heavy staffing.x > heavy.json
is "most second-level data misses are of the line that searches" "$(jq -c '.rows[0] | [(.procedure | test("^find_in_records")), (.file | endswith("/staffing.c")), .percent[0] > 40]' heavy.json)" '[true,true,true]'
line=$(jq '.rows[0].line' heavy.json)
like "whose text searches" "$(sed -n "${line}p" "$top/examples/staffing.c")" 'for|if|while|next|records'
is "labels say where it is from" "$(jq -rc '[.experiments[0].label, .experiments[0].source, .experiments[0].note]' heavy.json)" '["model","model","zen4"]'

# ---- exact counts ----
collect ideal.x -ideal "$programs/profiled" loop 12345
perfex -q -machine zen4 -e gi -json -o counts.json "$programs/profiled" loop 12345
is "ideal: instructions are those of perfex" "$(total ideal.x)" "[$(jq '.events[0].count.value' counts.json)]"
is "ideal: and those of all functions add up" "$(rows ideal.x | jq '[.rows[].counts[0].value] | add')" "$(jq '.events[0].count.value' counts.json)"
is "ideal: counts have no error" "$(rows ideal.x | jq '[.rows[] | .counts[0] | select(.low != .value or .high != .value)] | length')" 0
ssrun -q -fpcsamp -o clock.x "$programs/profiled" loop 100000000
is "an image is the same as in a run in real time" "$(prof -dump ideal.x | sed -n 's/^image [0-9]* \(.*\/profiled".*\)/\1/p')" \
	"$(prof -dump clock.x | sed -n 's/^image [0-9]* \(.*\/profiled".*\)/\1/p')"
collect exact.x -e dc:exact -e br:exact "$programs/profiled" loop 12345
is "exact counts of any event: instructions add up to the run's" "$(rows exact.x | jq -c '[([.rows[].counts[0].value // 0] | add), ([.rows[].counts[1].value // 0] | add)]')" "$(total exact.x)"

# ---- call paths ----
collect paths.x -e tbr:101:stacks -e cy:1009:stacks "$programs/paths"
rows -inclusive paths.x > inclusive.json
# Taken branches below a function, by the program's own loops: 101 of each error of sampling.
is "shares by call path are what the program does" "$(jq -c '
	(.columns | index("tbr.inclusive")) as $c |
	def of(p): [.rows[] | select(.procedure == p) | .counts[$c].value] | add;
	def near(p; n): of(p) >= n - 202 and of(p) <= n * 1.02 + 202;
	[near("catcher"; 20000), near("recursion"; 10000), near("callbacks"; 3000), near("forks"; 80000), near("thread"; 360000),
	 of("main") >= of("recursion") + of("catcher") + of("signals") + of("callbacks") + of("forks") - 101]' inclusive.json)" '[true,true,true,true,true,true]'
ssrun -q -source model -machine zen4 -o again.x -e tbr:101:stacks,cy:1009:stacks "$programs/paths"
prof -dump -q paths.x > first
prof -dump -q again.x > second
# The order of its threads may differ under load: one equal pair of four will do.
for _try in 2 3 4; do
	cmp -s first second && break
	rm -f again.x
	ssrun -q -source model -machine zen4 -o again.x -e tbr:101:stacks,cy:1009:stacks "$programs/paths"
	prof -dump -q again.x > second
done
ok "the same again is the same, but for numbers of processes and real time" cmp first second

# ---- cycles, by either clock: each is some instruction's ----
for clock in first-order retirement; do
	collect cycles.x -clock $clock -e cy:101 -e fes:7 -e bes:11 "$programs/profiled" loop 1000000
	is "samples of cycles and stalls stand for all of them: $clock" "$(rows cycles.x | jq -c '[.experiments[] | (.samples * .period / .total * 100 | round)]')" '[100,100,100]'
done
like "cycles of a loop are of the loop" "$(rows cycles.x | jq -r '.rows[0] | "\(.procedure) \(.percent[0])"')" '^loop (8|9)[0-9]'

# ---- threads, processes, phases ----
collect threads.x -e tbr:997 "$programs/profiled" threads
is "threads have rows of their own" "$(rows -threads threads.x | jq '[.. | .thread? // empty] | unique | length >= 4')" true
collect forks.x -e tbr:97 "$programs/profiled" forks
is "processes of the tree: the first, three children, one of which is another program then" "$(prof -dump forks.x | grep -c '^process .* command "profiled"')" 4
collect phases.x -e tbr:10 "$programs/phased"
is "phases: between two points" "$(rows -calipers one,two phases.x | jq '[.rows[].counts[0].value] | add / 100000 | round')" 20
collect suspended.x -e tbr:10 "$programs/phased" clear
is "what is cleared is not in the total" "$(total suspended.x | jq '.[0] / 100000 | round')" 40

# ---- code made at run time, and what is refused ----
if command -v luajit >/dev/null; then
	echo 'local s = 0 for i = 1, 300000 do s = s + i % 7 end print(s)' > loop.lua
	collect jit.x -e gi:1009 luajit loop.lua
	is "code that a program makes is an image of its own" "$(rows -dso jit.x | jq '[.rows[] | select(.image | test("anonymous"))] | length')" 1
else
	skip "code that a program makes" "luajit is not installed"
fi
collect made.x -e gi:1 "$programs/profiled" made named
rm -f "/tmp/perf-$(prof -dump made.x | sed -n 's/^process 1 pid \([0-9]*\) .*/\1/p').map"
is "with the names that it gives it" "$(rows made.x | jq -c '[.rows[] | select(.procedure == "made_at_run_time") | .counts[0].value]')" '[100]'
run ssrun -q -source model -machine zen4 -dsc_hwc /nonexistent/command
is "a command that is not there" "$status" 127
run ssrun -q -source model -pcsamp true
like "time is no event of the model" "$status $err" '^125 ssrun: pcsamp: the source model cannot sample Task clock$'
run ssrun -q -source model -machine r10000 -o r.x -dsc_hwc true
is "other machines" "$status $err" "0 "

# ---- very many targets of indirect branches
python3 - <<'END' > targets.c
n = 20000
print("\n".join(f"__attribute__((noinline)) static int f{i}(int a) {{ return a + {i}; }}" for i in range(n)))
print("static int (*const all[])(int) = {" + ", ".join(f"f{i}" for i in range(n)) + "};")
print(f"int main(void) {{ int s = 0; for (int k = 0; k < 2; k++) for (int i = 0; i < {n}; i++) s = all[i](s); return s == 1; }}")
END
${CC:-gcc} -O0 -o targets targets.c
run ssrun -q -ideal -o targets.x ./targets
is "20,000 targets of one call: none is lost" "$status $err" "0 "
done_testing
