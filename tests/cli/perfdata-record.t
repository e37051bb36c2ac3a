# SPDX-License-Identifier: GPL-2.0-or-later
# prof on what perf record wrote just now: to the sample what perf report finds.
. "$TOP/tests/lib.sh"
export PERF_BUILDID_DIR="$PWD/buildids"
# While an event of the whole system requests build-ids (ssrun -a, in other tests), Linux 6.18 marks the mappings of all events as having
# one. perf 6.1 believes that of its own, and aborts; not if it requests build-ids, too.
record() { # FILE, perf record's options
	perf record -q -o "$@" >"$1.log" 2>&1 </dev/null && return
	grep -qF util/build-id.c "$1.log" && record_ids "$@"
}
record_ids() {
	rm -rf "$1"
	perf record -q --buildid-mmap -o "$@" >"$1.log" 2>&1 </dev/null
}
compared() { # FILE, perf record's options
	python3 "$top/tests/perf_agree.py" "$build/bin/prof" "$1"
	_status=$?
	# No samples, as perf report aborted for that reason?
	[ $_status = 2 ] && perf report -i "$1" --stdio 2>&1 >/dev/null | grep -qF util/build-id.c || return $_status
	record_ids "$@" && python3 "$top/tests/perf_agree.py" "$build/bin/prof" "$1"
}
if ! record try.data -e cpu-clock:u true; then
	skip "prof against perf report" "perf record does not work here: $(head -1 try.data.log)"
	done_testing
fi
kernel=
record try.data -e cpu-clock true || kernel=:u
program=$build/tests/programs/sampled
agree() { # name, perf record's options...
	_what=$1; shift
	if ! record "$_what.data" "$@"; then
		skip "$_what: as perf report has it" "perf record $*: $(head -1 "$_what.data.log")"
		return
	fi
	ok "$_what: as perf report has it" compared "$_what.data" "$@"
}
agree flat -e cpu-clock$kernel -F 999 "$program" loop 60
agree stacks -g -e cpu-clock$kernel -F 999 "$program" threads 2
agree dwarf --call-graph dwarf -e cpu-clock$kernel -F 299 "$program" loop 60
agree compressed -z -g -e cpu-clock$kernel -F 999 "$program" execs 3
agree events -e cpu-clock$kernel,page-faults$kernel -c 1000003 "$program" forks 2
agree group -e "{cpu-clock$kernel,page-faults$kernel}:S" "$program" loop 40
agree thread --per-thread -e cpu-clock$kernel -F 999 "$program" loop 40
agree code-of-its-own -e cpu-clock$kernel -F 999 "$program" jit
agree directory --threads=core -g -e cpu-clock$kernel -F 999 "$program" threads 2
agree everybody -a -g -e cpu-clock -F 499 "$program" loop 20
agree no-build-ids -B -N -e cpu-clock$kernel -F 999 "$program" loop 40
agree build-ids --buildid-mmap -e cpu-clock$kernel -F 999 "$program" loop 40

# A pipe has its features among its records.
if perf record -q --buildid-mmap -g -e cpu-clock$kernel -o - "$program" loop 40 >piped.data 2>/dev/null; then
	ok "pipe: as perf report has it" python3 "$top/tests/perf_agree.py" "$build/bin/prof" piped.data
	is "a pipe that is read as one" "$(prof -csv - <piped.data | cut -d, -f3-12)" "$(prof -csv piped.data | cut -d, -f3-12)"
else
	skip "pipe" "perf record does not write to pipes here"
fi

# Without the files of the program, perf's copies name its functions.
cp "$program" own-copy
if record moved.data -g -e cpu-clock$kernel -F 999 ./own-copy loop 40; then
	before=$(prof -csv -only own-copy moved.data | cut -d, -f2-4,11)
	like "the program is found" "$before" ',[a-z_]+,own-copy'
	rm own-copy
	is "the copy in perf's cache is found by its build-id" "$(prof -csv -only own-copy moved.data | cut -d, -f2-4,11)" "$before"
	rm -rf .debug
	run prof moved.data
	like "without it, samples stay with the file" "$out$err" 'own-copy'
	is "and the report is incomplete" "$status" 1
fi

if perf stat record -o counts.data true >/dev/null 2>&1; then
	run prof counts.data
	is "counts of perf stat are no samples" "$status:$(printf '%s' "$err" | head -1)" "125:prof: counts.data: it is a file of perf stat, which has no samples"
else
	skip "counts of perf stat" "perf stat record does not work here"
fi

# Every report, and sums in our own format.
for report in -export\ folded -diff\ flat.data -heavy -lines -butterfly -calltree -dso -usage -dis -summary -inclusive -threads; do
	run prof $report stacks.data
	is "$report" "$status" 0
done
ok "-merge writes an experiment" prof -merge -o sum stacks.data stacks.data
samples() { prof -json "$@" | grep -o '"samples":[0-9]*' | head -1 | cut -d: -f2; }
is "of both" "$(samples sum)" "$(($(samples stacks.data) * 2))"
is "a directory holds it, too" "$(mkdir d && cp stacks.data d/perf.data && samples d)" "$(samples stacks.data)"
run prof -compare -csv stacks.data flat.data
is "beside each other" "$status" 0
done_testing
