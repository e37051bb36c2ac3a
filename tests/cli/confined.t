# SPDX-License-Identifier: GPL-2.0-or-later
# Under a filter of system calls as Docker's default profile is one: counts and the model work, and what needs perf_event_open says so.
. "$TOP/tests/lib.sh"
confined=$build/tests/programs/confined branchy=$build/tests/programs/branchy
"$confined" true
[ $? != 99 ] || { skip "a filter of system calls" "the kernel takes none here"; done_testing; exit; }
"$branchy" mix 500 > want
run "$confined" perfex -source os -a "$branchy" mix 500
is "perfex: the program's output" "$status $out" "0 $(cat want)"
for experiment in fpcsamp usertime branches values totaltime; do
	run "$confined" ssrun -"$experiment" -o "$experiment" "$branchy" mix 500
	like "-$experiment: refused with the remedy" "$status $err" '^125 ssrun: this container.s seccomp filter forbids perf_event_open'
	not_ok "and no file" test -e "$experiment"
done
run "$confined" perfex -doctor
is "-doctor" "$status" 0
run "$confined" perfex -source model -e gi "$branchy" mix 5
like "the model" "$status $err" '^0 '
done_testing
