# SPDX-License-Identifier: GPL-2.0-or-later
# -native: the command also runs without the model.  Its output appears once, it reads the same input, and both times are reported.
. "$TOP/tests/lib.sh"
# A signal ends repetitions, also where the command has a status of its own.
cat > third <<'END'
echo x >> times
[ "$(wc -l < times)" -lt 3 ] && exit 0
trap 'exit 0' INT
kill -INT $PPID
while :; do sleep 0.1; done
END
run perfex -source os -e tclk -r 5 sh third
is "interrupted in the third of five runs: status" "$status" 130
like "it is said how many the report has" "$err" 'interrupted: the report is of 2 of 5 runs'
like "and the report is there" "$err" 'means of 2 runs'

run perfex -native -pid $$
is "not of a process that runs" "$status" 125
like "and why" "$err" "-native times whole runs"
run perfex -native -s true
like "nor of a part" "$err" "-native times whole runs"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
field() { python3 -c 'import json, sys; v = json.load(open(sys.argv[1])); print(eval(sys.argv[2], {"v": v}))' "$1" "$2"; }

run perfex -native -source model -y -e cy sh -c 'echo once; echo too >&2; echo run >> runs'
is "status" "$status" 0
is "output appears once" "$out" once
is "standard error, too" "$(printf '%s\n' "$err" | grep -cx too)" 1
is "the command ran several times" "$([ "$(wc -l < runs)" -gt 2 ] && echo so)" so
like "measured time comes first" "$(printf '%s\n' "$err" | grep -A1 '^perfex: sh')" '^measured: user [0-9.]+ s.*, system [0-9.]+ s.*, elapsed [0-9.]+ s .*[(]measured without the model'
like "then the modelled" "$err" '^modelled: user [0-9.]+ s [(]model[)], [0-9.]+ of the measured; the run took'
like "measured time is divided" "$err" 'Where the time goes: [0-9.]+ s on the processor [(]measured[)]'
unlike "how to get it is not said" "$err" 'add -native'

run perfex -source model -y -e cy true
like "without -native it is said" "$err" '^measured: not yet; add -native'
run perfex -source model -e cy true
unlike "but only with costs" "$err" 'add -native'
run perfex -source model -machine zen4 -y -e cy true
unlike "and of this host" "$err" 'add -native'

for name in cache-references cache-misses bus-cycles ref-cycles cpu-clock minor-faults L1-dcache-loads L1-dcache-load-misses \
	L1-dcache-stores L1-icache-load-misses LLC-loads LLC-load-misses LLC-store-misses dTLB-loads dTLB-load-misses dTLB-store-misses \
	iTLB-load-misses branch-loads branch-load-misses node-loads ex_ret_instr longest_lat_cache.miss l2_rqsts.miss l1d_cache_refill slots \
	node-stores node-store-misses node-prefetches L1-icache-prefetches dTLB-prefetches cgroup-switches msr/tsc/ user_time \
	instructions:u cycles:k cpu/cache-misses/ cpu/instructions/u ls_l1_d_tlb_miss.all; do
	for source in model auto; do # auto counts what the processor has
		run perfex -source $source -e "$name" true
		[ "$status" = 0 ] || like "perf's $name, -source $source" "$err" 'what comes nearest is -e [a-z0-9]+, .*: '
	done
done

for name in duration_time alignment-faults emulation-faults dummy bpf-output mem:0x1000 tma_retiring; do
	run perfex -source model -e "$name" true
	[ "$status" = 0 ] || like "perf's $name: why there is none" "$err" 'nothing comes near it: [a-z]'
done
# What is the same as a row is that row: of user mode, which is all that the model sees, and by a maker's name.
for pair in cycles:u=0 instructions:u=17 branch-misses:u=24 L1-icache-load-misses=9 branch-loads=61 cpu/instructions/u=17 \
	ex_ret_instr=17 ex_ret_brn_misp=24 inst_retired.any=17 br_retired=61; do
	run perfex -source model -e "${pair%=*}" true
	like "perf's ${pair%=*} is counted" "$status $out$err" "^0 .*|^ *${pair#*=} .* model$"
done
like "that of the kernel is not, and has no equal" "$(perfex -source model -e cycles:k true 2>&1)" 'nearest is -e cy, Cycles: in user mode, not in the kernel'
like "ssrun samples it as well" "$(ssrun -source model -e instructions:u:10007 -o user /bin/true 2>&1 && prof -dump user)" '^metric 0 .*Graduated instructions'
like "and says what comes nearest of what it cannot" "$(ssrun -e cycles:k:10007 -o kernel /bin/true 2>&1 || echo refused)" 'nearest is -e cy, Cycles: in user|^type'
# Raw codes of this processor: those that its rows have. Where there are counters, they are counted.
if grep -q AuthenticAMD /proc/cpuinfo; then codes='r00c0:gi r00c3:br cpu/event=0xc2/:bra'; elif grep -q GenuineIntel /proc/cpuinfo; then codes='r01c0:gi r00c5:br'; else codes=r0008:gi; fi
for code in $codes; do
	run perfex -source model -e "${code%:*}" true
	like "raw code ${code%:*}" "$err" "what comes nearest is -e ${code##*:}, .*: by this code"
done
run perfex -source model -e 'gi,cpu/event=0xfffff,umask=0x7f/,cy' true
like "commas between slashes do not separate events" "$err" "unknown event 'cpu/event=0xfffff,umask=0x7f/'"
run perfex -source model -e 'cpu/event=1' true
like "one slash is no pair" "$err" "unknown event 'cpu/event=1'"
run perfex -e sched:sched_switch true
like "a tracepoint: what comes nearest" "$err" 'what comes nearest is -e csw, .*: perfex counts no tracepoints$'
for name in sched:sched_waking syscalls:sys_enter_read; do
	run perfex -e $name true
	like "$name: tracepoints are not counted" "$err" 'nothing comes near it: perfex counts no tracepoints; ssrun -totaltime'
	unlike "$name: and no other event is meant" "$err" 'did you mean'
done

echo 'some lines' > input
run perfex -q -native -source model -json -o r.json -y -e gi -e cy sh -c 'cat; cat >> seen' < input
is "a file is read from its beginning each time" "$out" 'some lines'
run perfex -q -native -source model -json -o r.json -y -e gi -e cy sh -c 'tee -a seen2' < input
is "by all runs" "$(sort -u seen2)" 'some lines'
is "runs without the model, and the one on it" "$(field r.json 'v["native"]["runs"] + 1')" "$(wc -l < seen2)"
is "user time has a label" "$(field r.json 'v["native"]["user_seconds"]["label"]')" measured
is "it is what is divided" "$(field r.json 'v["divided_seconds"] == v["native"]["user_seconds"]')" True
is "shares are those of the default clock" "$(field r.json 'v["breakdown"][0]["share_label"]')" model
is "the ratio is that of the times" "$(field r.json 'abs(v["native"]["modelled_ratio"] - v["cpu_seconds"]["value"] / v["divided_seconds"]["value"]) < 1e-6 * v["native"]["modelled_ratio"]')" True

rm -f seen2
run sh -c "echo 'from a pipe' | perfex -q -native -source model -y -e cy tee -a seen2"
is "a pipe is kept" "$out$(sort -u seen2)" 'from a pipefrom a pipe'
is "for all runs" "$([ "$(wc -l < seen2)" -gt 2 ] && echo so)" so
mkfifo idle
sleep 600 <> idle & sleeper=$!
run perfex -native -source model -y -e cy true < idle
is "a pipe that does not end is not waited for" "$status" 0
kill $sleeper

run perfex -q -native -source model -machine r10000 -y -e cy true
unlike "another machine's time is not compared" "$err" 'of the measured'
like "its own is divided" "$err" 'Where the time goes: [0-9.]+ s on the processor [(]model[)]'
run perfex -q -native -source model -y -e cy sh -c 'mkdir once'
is "the status is that of the counted run" "$status" 0
like "a command that fails the second time" "$err" '^measured: .*; exit status 1$'
like "is not compared" "$err" 'ended differently without the model'
run perfex -q -native -source os -e tclk true
like "without a model as well" "$err" '^measured: user'

# What cycles waited for.
run perfex -q -source model -clock first-order -json -o r.json -y -e gi -e cy true
is "a clock without causes leaves shares to costs" "$(field r.json 'v["breakdown"][0]["share_label"], "breakdown_by_costs" in v')" "('estimated', False)"
run perfex -q -source model -clock retirement -json -o r.json -y -e gi -e cy -e dsc "$build/tests/programs/model-chains"
is "the retirement clock's shares are the model's" "$(field r.json '{c["share_label"] for c in v["breakdown"]} == {"model"}')" True
is "they add up" "$(field r.json 'abs(sum(c["share"] for c in v["breakdown"]) - 1) < 1e-9')" True
is "dependences are among them" "$(field r.json '[c["share"] > 0.1 for c in v["breakdown"] if c["cause"] == "dependences between instructions"]')" '[True]'
is "and the causes of costs beside them" "$(field r.json '{c["share_label"] for c in v["breakdown_by_costs"]}')" "{'estimated'}"
run perfex -q -source model -clock retirement -json -o two.json -y -e gi -e cy -e dsc sh -c "'$build/tests/programs/model-chains' & '$build/tests/programs/model-chains'; wait"
divides() { field "$1" '[c["seconds"]["value"] for c in v["breakdown"] if c.get("number") == 45][0]'; }
is "causes of processes add up" "$(awk "BEGIN { printf \"%.1f\", $(divides two.json) / $(divides r.json) }")" 2.0
run perfex -q -source model -fast -clock retirement -json -o r.json -y -e cy true
is "parts of a run have none" "$(field r.json '"breakdown_by_costs" in v')" False

run perfex -q -source model -r 2 -y -e cy true
like "-r measures, too" "$err" '^measured: user'
run perfex -q -source model -r 2 -e cy true
unlike "if times are of interest" "$err" '^measured: user'
run perfex -q -native -source model -csv -e cy true
like "CSV has the times" "$out" '^,,,,user time,seconds,[0-9.]+,[0-9.]+,[0-9.]+,measured,,,,,without the model$'
done_testing
