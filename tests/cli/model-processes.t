# SPDX-License-Identifier: GPL-2.0-or-later
# Processes and threads under the modelled processor: whatever becomes of them, their counts are kept.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
mkdir scratch
TMPDIR=$work/scratch
export TMPDIR
tree=$build/tests/programs/model-tree
field() { python3 -c 'import json, sys; print(int(json.load(open(sys.argv[1]))["events"][0]["count"]["value"]))' "$1"; }
# Counts of what is around the loops: starting up, and leaving.
count() { # name status least most argument...
	_name=$1 _want=$2 _least=$3 _most=$4; shift 4
	run perfex -source model -machine zen4 -json -e 17 -o o.json -- "$tree" "$@"
	is "$_name: exit status" "$status" "$_want"
	_got=$(field o.json)
	ok "$_name: $_got instructions, of $_least to $_most" test "$_got" -ge "$_least" -a "$_got" -le "$_most"
}
count "forked one after the other" 0 2000000 2700000 forks 100
count "killed by SIGKILL" 137 4000000 4500000 killed
count "crashes" 139 4000000 4500000 crash
count "closes all descriptors" 4 4000000 5500000 close-all
count "executes itself twice" 6 12000000 13500000 chain 2
count "vfork and exec" 6 4000000 5000000 vfork
count "an exec that fails" 3 4000000 4500000 exec-fails
count "exits in a signal handler" 7 4000000 4500000 exit-in-handler
count "threads at a time" 0 40000000 41000000 threads 10
count "threads one after the other, more than there are slots" 0 80000000 81500000 threads-in-turn 20

run perfex -source model -machine zen4 -json -mp -e 17 -o o.json -- "$tree" threads 10
is "-mp: a row for each thread, and each loop in a row of its own" "$(python3 - <<'END'
import json
j = json.load(open("o.json"))
n = [t["events"][0]["count"]["value"] for t in j["threads"]]
print(len(n), sum(4e6 <= x < 4.1e6 for x in n), sum(n) == j["events"][0]["count"]["value"])
END
)" "11 10 True"

for n in 1 2 3; do
	perfex -q -a -source model -machine zen4 -json -o "$n.json" -- "$tree" contend 6
	python3 -c 'import json, sys; print([e["count"]["value"] for e in json.load(open(sys.argv[1]))["events"]])' "$n.json" > "$n.counts"
done
ok "threads that wait for each other: the same counts each time" sh -c 'cmp 1.counts 2.counts && cmp 2.counts 3.counts'

# The kernel ignores the signal of a child's end, and so must what waits for a lock.
for n in 1 2 3 4; do
	perfex -q -e gi -source model -machine zen4 -o /dev/null -- "$tree" contend-and-fork 8
done > orders
is "children that end do not change whose turn it is" "$(sort -u orders | wc -l) of $(wc -l < orders)" "1 of 4"

# What the program sees and says is its own.
cat > talk <<'END'
#!/bin/sh
cat; echo err >&2; echo "$0 $1"; exit 3
END
chmod +x talk
printf 'in\n' > in
./talk arg < in > native.out 2> native.err
perfex -q -source model -machine zen4 -e 17 -o counts -- ./talk arg < in > model.out 2> model.err
is "a script: exit status" "$?" 3
ok "stdout is the program's" cmp native.out model.out
ok "stderr is the program's" cmp native.err model.err
printf '.globl _start\n_start: mov $1000,%%ecx\n1: dec %%ecx\njnz 1b\nmov $60,%%eax\nmov $9,%%edi\nsyscall\n' > s.s
if ${CC:-cc} -nostdlib -static -s -o static s.s 2>/dev/null; then
	run perfex -source model -machine zen4 -json -e 17 -o o.json -- ./static
	is "a stripped static program: exit status" "$status" 9
	is "and its instructions, to the last" "$(field o.json)" 2004
else
	skip "a stripped static program" "no assembler for x86-64"
fi
is "argv[0] survives an exec" "$(perfex -q -source model -machine zen4 -e 17 -o counts -- bash -c 'exec -a "my name" sh -c "echo \$0"')" "my name"
run perfex -source model -machine zen4 -e 17 -o counts -- sh -c 'exec /proc/self/exe -c "exit 5"'
is "executing /proc/self/exe" "$status" 5
perfex -q -source model -machine zen4 -e 17 -o counts -- sh -c '(sleep 1; ls -d / > late) >/dev/null 2>&1 &'
wait_for test -s late
is "what outlives the run goes on, and so do the programs that it executes" "$(cat late)" /
env | sort | grep -v '^_=' > native.env
perfex -q -source model -machine zen4 -e 17 -o counts -- env | sort | grep -v '^_=' > model.env
is "the environment has a preloaded library more, and nothing else" "$(diff native.env model.env | grep -c '^[<>]')" 1
is "scratch files are gone" "$(ls "$TMPDIR")" ""

# What cannot be run is refused, or said.
run perfex -source model -machine zen4 -e 17 -- ./nonesuch
is "no such command: 127" "$status" 127
run perfex -source model -machine zen4 -e 17 -- ./in
is "not executable: 126" "$status" 126
cp /bin/true privileged && chmod 4755 privileged
run perfex -source model -machine zen4 -e 17 -- ./privileged
is "a set-user-ID program: 126" "$status" 126
like "and why" "$err" "set-user-ID"
head -c 3000 "$build/tests/programs/spin" > cut-off && chmod +x cut-off
run perfex -source model -e gi ./cut-off
like "a program that was cut off says so" "$status $err" '^126 .*cannot run .*cut-off: the file ends at byte 3000, its segments at [0-9]+'
run perfex -source model -machine zen4 -e 17 -- sh -c './privileged; echo $?; :'
is "executed by another, it runs natively" "$out" 0
like "and is said not to be counted" "$err" "not counted: 1 program .*privileged"
run perfex -source model -machine zen4 -k -e 17 -- true
like "-k: what is not counted is said" "$err" "user mode only"
run perfex -source model -machine zen4 -e 17 -pid $$
is "attaching is refused" "$status" 125
run perfex -source model -machine zen4 -e 17 sh -c '(: > there; until [ -e ended ] || ! [ -e there ]; do sleep 0.1; done) & until [ -e there ]; do :; done'
: > ended
like "processes that outlive the command are told of" "$err" 'not counted: [0-9]+ process(es)? of the command still run'
done_testing
