# SPDX-License-Identifier: GPL-2.0-or-later
# What every run of ssrun does: the file, its name, the exit status, and what is said when it cannot be.
# In real time: samples of short runs.
. "$TOP/tests/lib.sh"
spin=$build/tests/programs/spin
run ssrun -fpcsamp -v "$spin" 0.05
is "a run succeeds" "$status" 0
like "-v says the period, a prime" "$err" 'fpcsamp: a sample every 1000003 ns'
like "and where the experiment is" "$err" 'wrote (spin\.fpcsamp\.[0-9]+): prof \1$'
is "one file" "$(find . -name "spin.fpcsamp.*" | wc -l)" 1
run prof spin.fpcsamp.*
is "which prof reads" "$status" 0

run ssrun -pcsamp -o mine sh -c 'exit 42'
is "the command's exit status" "$status" 42
ok "-o names the file" test -s mine
run ssrun -pcsamp -o mine sh -c 'kill -9 $$'
is "of a killed command" "$status" 137
like "whose signal is said" "$err" 'sh was ended by signal 9 \(Killed\)'
run ssrun -q -pcsamp -o mine sh -c 'kill -9 $$'
is "but not with -q" "$status:$err" 137:
run ssrun -pcsamp -o mine sh -c 'kill -13 $$'
is "nor of a closed pipe" "$status:$err" 141:
echo precious > text
run ssrun -pcsamp -o text true
is "what is no experiment is not written over" "$status:$(cat text)" 125:precious
like "and that is said" "$err" 'text exists but is not an experiment'

run ssrun -pcsamp -o - true
is "a file called - is not made, as prof - reads standard input" "$status $(ls -- -* 2> list)" "125 "
like "and a file is asked for" "$err" "^ssrun: -o -: standard output is the command's"

echo not a program > text
chmod -x text
printf '#!/nowhere/to/be/found\n' > script
chmod +x script
cp mine before
for what in ./text ./script ./absent; do
	run ssrun -branches -o mine $what
	ok "$what cannot be run: an earlier experiment of that name stays" \
		eval '[ "$status" -gt 125 ] && cmp -s mine before'
	run ssrun -pcsamp -o new $what
	ok "and nothing is left where none was" test ! -e new
done
run ssrun -pcsamp -o mine -pid 999999999
ok "nor does a process that is not there cost one" cmp -s mine before

run ssrun -pcsamp -o mine sh -c 'kill -INT $$'
is "^C is said, with the file" "$status:$err" "130:ssrun: interrupted: mine has what was recorded until then"
run ssrun -q -pcsamp -o mine sh -c 'kill -INT $$'
is "but not with -q" "$status:$err" 130:
mkdir named
cd named || exit
run ssrun -pcsamp true
name=$(echo true.pcsamp.*)
is "the name that ssrun chose is said, and what reads it" "$status:$err" "0:ssrun: wrote $name: prof $name"
run ssrun -q -pcsamp true
is "but not with -q" "$status:$err" 0:
run env PMI_RANK=1 ssrun -pcsamp true
is "nor by ranks" "$status:$err" 0:
run env PMI_RANK=0 ssrun -pcsamp true
like "but by the first" "$status:$err" '^0:ssrun: wrote true[.]pcsamp[.]r0[.][0-9]+, and each other rank a file$'
cd .. || exit
run ssrun -pcsamp -o mine true
is "nor the user's own" "$status:$err" 0:

run ssrun -pcsamp ./nowhere
is "a command that is not found" "$status" 127
run ssrun -pcsamp "$work"
is "one that cannot be run" "$status" 126
is "leave no file" "$(ls nowhere* ./*.pcsamp.* 2>/dev/null)" ""
run ssrun -pcsamp -o /nonexistent/file sh -c 'echo ran'
is "an unwritable directory" "$status" 125
unlike "is said before the run" "$out" ran
like "by name" "$err" '/nonexistent/file'

for archive in /proc/nothing/x "$spin"; do
	run ssrun -pcsamp -archive "$archive" -o mine sh -c 'echo ran'
	is "an archive that cannot be written: 125" "$status" 125
	is "found before the run" "$out" ""
	like "and what it needs" "$err" 'needs a directory that can be written'
done
run ssrun true
like "there must be an experiment" "$status $err" '^125 .*no experiment was given'
run ssrun -pcsamp
like "and a command" "$status $err" '^125 .*no command to run'
run ssrun -pcsam true
is "options may be abbreviated" "$status" 0
run ssrun -pcsmap true
like "and misspelt" "$status $err" "did you mean '-pcsamp'"
run ssrun -pcsamp -ca 1
like "an ambiguous one: the first is described" "$err" '^ssrun:   -cal SECONDS: begin a new phase'
run ssrun -e dsc true
like "-e without a period" "$status $err" '^125 .*no period'
run ssrun -pcsamp -pid 1 true
is "a process or a command" "$status" 125
run ssrun -a true
like "-a without an experiment: what to type" "$status $err" "^125 .*try ssrun -fpcsamp -a sleep 10; "
run ssrun -pcsamp -for 1 true
is "-for is not for commands" "$status" 125
run ssrun -pcsamp -calsig KILL true
is "-calsig takes what can be handled" "$status" 125
run ssrun -pcsamp -stack dwarf:1 true
is "-stack has limits" "$status" 125
run ssrun -version
like "-version" "$out" '^ssrun [0-9]'
run ssrun -list
like "-list: time" "$out" '^pcsamp +10000019 ns +os '
like "-list: any event" "$out" '^fdsc_hwc +[0-9]+ misses +(pmu|model) '
run ssrun -list -o there
like "... not into a file" "$status $err" '^125 ssrun: -list prints on standard output: leave out -o'
run ssrun -list -machine r10000 -source model
like "the R10000 has the classic periods" "$out" '^cy_hwc +16411 cycles +model '

mkdir there
run env _SPEEDSHOP_OUTPUT_DIRECTORY=there PMI_RANK=3 ssrun -pcsamp true
ok "a directory and a rank from the environment" sh -c 'ls there/true.pcsamp.r3.*'
run ssrun -pcsamp -fpcsamp -o two "$spin" 0.05
is "two experiments in one run" "$status" 0
run prof two
like "both are there" "$out" "Experiment .*\(pcsamp,fpcsamp\)"
done_testing
