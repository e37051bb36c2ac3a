# SPDX-License-Identifier: GPL-2.0-or-later
# A run models only what its events need, and counts the same as a run that models everything.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
programs=$build/tests/programs
unset _ # the length of the environment moves the stack
# Its label and counts, of each thread; events in the order of their numbers, threads in that of their counts: which of two that
# wait for each other begins first may differ from run to run.
cat > counts.py <<'END'
import json, sys
want = [int(n) for n in sys.argv[2:]]
j = json.load(open(sys.argv[1]))
def counts(row):
    c = {e["number"]: e["count"] for e in row["events"]}
    return [(n, c[n]["label"], c[n]["value"]) for n in want]
print(counts(j), *sorted(map(counts, j.get("threads", []))), sep="\n")
END
counts() { python3 counts.py "$@" || echo "none in $1"; }
# The events of alone.N.json, each as all.json has it: the number of those that are, and each that is not.
cat > compare.py <<'END'
import glob, json
def counts(file, n):
    try:
        j = json.load(open(file))
        return [[(e["count"]["label"], e["count"]["value"]) for e in row["events"] if e["number"] == n] for row in [j] + j.get("threads", [])]
    except Exception as e:
        return str(e)
def sorted_counts(file, n):
    c = counts(file, n)
    return c if isinstance(c, str) else [c[0], sorted(c[1:])]
equal = 0
for file in glob.glob("alone.*.json"):
    n = int(file.split(".")[1])
    one, of_all = sorted_counts(file, n), sorted_counts("all.json", n)
    if one == of_all and one[0]:
        equal += 1
    else:
        print(n, one, open("alone.%d.out" % n).read(), "with all", of_all)
print("equal", equal > 15 and "many" or equal)
END

# What execution alone determines.
executed="6 15 17 18 19 20 21 42 45 46 47 48 52 53 55 57 59 60 61 62 64"
asked=$(for n in $executed; do printf ' -e %s' "$n"; done)
pair() { # options command...
	_options=$1; shift
	# shellcheck disable=SC2086 # lists
	run perfex -q -source model $_options -a -json -o all.json -- "$@"
	_status=$status _out=$out
	# shellcheck disable=SC2086
	run perfex -q -source model $_options $asked -json -o some.json -- "$@"
	# shellcheck disable=SC2086
	_some=$(counts some.json $executed) _all=$(counts all.json $executed)
}
same() { # name options command...
	_same=$1; shift
	pair "$@"
	# Who waits for a lock, and how often, may differ from run to run: one equal pair of four will do.
	for _try in $again; do [ "$_some" = "$_all" ] || pair "$@"; done
	is "$_same: exit status and output" "$status $out" "$_status $_out"
	is "$_same: the same counts" "$_some" "$_all"
}
again=
same "faults in superblocks and string instructions" "-machine zen4" "$programs/faulting"
for what in faults repair divide nested self-modifying contexts exec-in-thread; do
	same "$what" "-machine r10000" "$programs/model-hostile" "$what"
done
for what in "forks 3" killed crash "chain 1" vfork exit-in-handler; do
	# shellcheck disable=SC2086 # words
	same "$what" "-machine zen4" "$programs/model-tree" $what
done
same "threads" "-mp -machine zen4" "$programs/model-tree" threads 3
again="2 3 4"
same "threads that wait for each other" "-mp -machine zen4" "$programs/model-tree" contend 4
again=
same "cachegrind's geometry" "-machine cachegrind:I1=32768,8,64:D1=32768,8,64:LL=8388608,16,64" ls -l "$top/lib"

# Each event alone: only the parts of the model that it needs. In make check, every second event with one program, and the others
# with the other.
alone() { # options, remainder of the number of those, command...
	_options=$1 _every=$2; shift 2
	# shellcheck disable=SC2086 # lists
	perfex -q -source model $_options -a -json -o all.json -- "$@" > all.out 2>&1
	for n in $(python3 -c 'import json; print(*(e["number"] for e in json.load(open("all.json"))["events"] if e["count"]["label"] == "model"))'); do
		[ "${LONG:-}" ] || [ $((n % 2)) = "$_every" ] || continue
		# shellcheck disable=SC2086
		perfex -q -source model $_options -e "$n" -json -o "alone.$n.json" -- "$@" > "alone.$n.out" 2>&1
	done
	is "$_options: each event alone, which are many" "$(python3 compare.py)" "equal many"
	rm -f alone.*
}
alone "-machine zen4" 0 ls -l "$top/lib"
alone "-machine r10000 -mp" 1 "$programs/model-tree" contend 2
for n in 25 24; do
	perfex -q -source model -machine zen4 -clock retirement -e $n -json -o some.json -- "$programs/faulting" > some.out
	perfex -q -source model -machine zen4 -a -json -o all.json -- "$programs/faulting" > all.out
	is "event $n with the retirement clock, which it does not need" "$(counts some.json $n)" "$(counts all.json $n)"
done

# Alone, and with intervals requested: there is nothing to estimate.
for n in 17 18 61; do
	run perfex -q -source model -machine zen4 -fast -e $n -json -o alone.json -- "$programs/model-tree" chain 1
	run perfex -q -source model -machine zen4 -a -json -o all.json -- "$programs/model-tree" chain 1
	is "event $n alone, with -fast" "$(counts alone.json $n)" "$(counts all.json $n)"
done
run perfex -q -source model -machine zen4 -p 0.05 -e 17 -e 18 -o readouts -- "$programs/model-tree" chain 1
like "read-outs while it runs" "$(cat readouts)" 'Graduated loads'

# Samples alone model what their events need; with cycles, everything.
if command -v jq >/dev/null; then
	for event in dc:101 gi:1009 br:53; do
		ssrun -q -source model -machine zen4 -o alone.x -e $event "$programs/model-tree" contend 2
		ssrun -q -source model -machine zen4 -o both.x -e cy:100003 -e $event "$programs/model-tree" contend 2
		where() { prof -json "$1" 2>/dev/null | jq -c --argjson n "$2" '[.experiments[$n].total, ([.rows[] | select((.counts[$n].value // 0) > 0) | [.procedure, .counts[$n].value]] | sort)]'; }
		is "samples of $event alone" "$(where alone.x 0)" "$(where both.x 1)"
		like "there are some" "$(where alone.x 0)" '^\[[1-9]'
	done
else
	skip "samples alone" "jq is not installed"
fi

# A long run says so once, on a terminal.
cat > terminal.py <<'END'
import os, pty, signal, sys
# Runs a command on a terminal until it has said that the run is long; then interrupts it.
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
while True:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    if b"a long run" not in text and b"a long run" in text + part:
        os.kill(pid, signal.SIGTERM)
    text += part
os.waitpid(pid, 0)
print([l.strip() for l in text.decode().replace("\r", "\n").split("\n") if "a long run" in l])
END
endless="while :; do :; done"
like "a long run says so once" "$(python3 terminal.py perfex -source model -machine zen4 -e 0 -expect 100000000000 sh -c "$endless")" "^\['perfex: a long run: [0-9.]* G instructions in [0-9]* s, [0-9.e-]* s on the modelled processor, which is [0-9]* times faster; about [0-9]* s to go; -fast is faster, with estimates and their intervals'\]\$"
like "without a clock, no time of the modelled processor" "$(python3 terminal.py perfex -source model -machine zen4 -e 25 -expect 100000000000 sh -c "$endless")" "instructions in [0-9]* s; about [0-9]* s to go; -fast"

# A program that asks for its counts itself may ask for any event.
if [ "${SAN:-}" ]; then
	skip "linked with libperfex: any event" "programs with sanitizers do not run under Valgrind"
else
	run perfex -q -source model -machine zen4 -e 17 -o counts -- "$build/examples/count" dc
	is "linked with libperfex: any event" "$status" 0
fi
run perfex -q -source model -machine zen4 -e 17 -o counts -- "$programs/model-known"
is "not known to ask: zeros for what was not asked for" "$(printf '%s\n' "$out" | sed -n 1p)" "loop of 1000: instructions=2001"
run perfex -q -source model -machine zen4 -e 17 -e 53 -e 60 -o counts -- "$programs/model-known"
is "and the others" "$(printf '%s\n' "$out" | sed -n 1p)" "loop of 1000: instructions=2001 conditional=1000 taken=999"
done_testing
