# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that a filter of system calls watches, that have children of vfork, change and unmap their code, call exec or end by a
# fault: value samples of all kinds leave their output and status as they are.
# In real time: programs that run.
. "$TOP/tests/lib.sh"
surprises=$build/tests/programs/surprises
for what in filter vfork changing exec fault; do
	run "$surprises" "$what"
	want="$status $out"
	for how in "-values -rate 200" "-values=watch" "-values=latency" "-branches -values -bursts 100"; do
		# shellcheck disable=SC2086 # words
		run ssrun -q $how -o x "$surprises" "$what"
		is "$what under $how" "$status $out" "$want"
	done
done
done_testing
