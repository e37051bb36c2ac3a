# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that a filter of system calls watches, that may not have more memory, have children of vfork, change and unmap their code,
# call exec or end by a fault: value samples of all kinds leave their output and status as they are.
# In real time: programs that run.
. "$TOP/tests/lib.sh"
surprises=$build/tests/programs/surprises
limited() { sh -c 'ulimit -v 36000; exec "$@"' sh "$@"; }
run limited "$surprises" parts
want="$status $out"
for how in "-values -rate 200" "-branches -bursts 100" "-branches -values -bursts 100"; do
	# shellcheck disable=SC2086 # words
	run ssrun -q $how -o x sh -c 'ulimit -v 36000; exec "$@"' sh "$surprises" parts
	is "a limit of memory under $how" "$status $out" "$want"
done
for what in filter strict vfork changing exec fault; do
	run "$surprises" "$what"
	want="$status $out"
	for how in "-values -rate 200" "-values=watch" "-values=latency" "-branches -values -bursts 100"; do
		# shellcheck disable=SC2086 # words
		run ssrun -q $how -o x "$surprises" "$what"
		is "$what under $how" "$status $out" "$want"
	done
done
done_testing
