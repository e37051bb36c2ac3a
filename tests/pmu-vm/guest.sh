# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Runs in the guest with a PMU.  Prints for each case "== NAME", what the command printed, and "-- STATUS"; check.py
# judges.  Counts go in as JSON, on one line each.
export PERFEX_DATA=/share/perfex
paranoid() { echo "$1" > /proc/sys/kernel/perf_event_paranoid; }
run() { # NAME COMMAND...
	echo "== $1"
	shift
	"$@" 2>&1
	echo "-- $?"
}
pmu() { # NAME OPTIONS... COMMAND...
	name=$1
	shift
	run "$name" perfex -source pmu -json "$@"
}
paranoid -1
twelve="-e r8 -e r10008 -e r20008 -e r30008 -e r40008 -e r50008 -e r11 -e r10011 -e r20011 -e r30011 -e r40011 -e r50011"

run encodings /encodings
for t in /unit/*; do run "unit $t" "$t"; done

# Numbers of equal length, as reading them is work too.
pmu 'loop 1000' -e r8 -e r11 work loop:00001000
pmu 'loop 100000' -e r8 -e r11 work loop:00100000
pmu 'loop 10000000' -e r8 -e r11 work loop:10000000
pmu 'again 10000000' -e r8 -e r11 work loop:10000000
pmu 'rows' -e gi -e cy work loop:10000000

pmu 'calls user 0' -e r8 work call:0000
pmu 'calls user 1000' -e r8 work call:1000
pmu 'calls kernel 0' -k -e r8 -e arm_n1::INST_RETIRED:u -e arm_n1::INST_RETIRED:k work call:0000
pmu 'calls kernel 1000' -k -e r8 -e arm_n1::INST_RETIRED:u -e arm_n1::INST_RETIRED:k work call:1000

pmu 'threads' -e r8 work threads:4:100000 loop:1000000
pmu 'threads mp' -mp -e r8 work threads:4:100000 loop:1000000
pmu 'forks' -e r8 work forks:3:100000 loop:1000000
pmu 'forks mp' -mp -e r8 work forks:3:100000 loop:1000000
pmu 'none' -e r8 work loop:0000000
pmu 'exec mp' -mp -e r8 work threads:2:100000 exec:/work loop:1000000
# shellcheck disable=SC2086
pmu 'threads multiplexed' -mp $twelve work threads:3:20000000 loop:10000000

pmu 'signals' -s -e r8 work loop:1000000 start loop:200000 stop loop:1000000 start loop:30000 stop loop:1000000

attach() { # NAME OPTIONS WORK...
	name=$1 options=$2
	shift 2
	rm -f /tmp/go
	"$@" &
	pid=$!
	sleep 0.1
	(sleep 0.3; : > /tmp/go) &
	# shellcheck disable=SC2086
	pmu "$name" $options -pid $pid
}
attach 'attach' '-e r8' work loop:5000000 await:/tmp/go loop:1000000
attach 'attach mp' '-mp -e r8' work loop:5000000 await:/tmp/go threads:2:100000 loop:1000000

run 'auto' perfex -json -e gi work loop:1000000
run 'lies' perfex -e 24 true
run 'taken as given' perfex -source pmu -json -e 24 work loop:1000

: > /tmp/hog
work hog:7 > /tmp/hog &
while ! grep -q has /tmp/hog; do sleep 0.05; done
run 'taken' perfex -source pmu -json -e r8 work loop:1000
run 'taken auto' perfex -e r8 work loop:1000
kill %%
work hog:3 > /tmp/hog &
while ! grep -q has /tmp/hog; do sleep 0.05; done
# shellcheck disable=SC2086
pmu 'some taken' $twelve work loop:50000000
kill %%

chmod 755 /share /share/perfex 2>/dev/null
paranoid 2
run 'user' work user:1000 exec:perfex -source pmu -json -e r8 work loop:1000000
run 'user kernel' work user:1000 exec:perfex -source pmu -k -e r8 work loop:1000
run 'user os' work user:1000 exec:perfex -source os -json -e task-clock -e page-faults -e context-switches -e cpu-migrations work sleep:1 loop:1000000
paranoid 3
run 'user forbidden' work user:1000 exec:perfex -source pmu -e r8 work loop:1000
paranoid -1
# shellcheck disable=SC2086
run 'soft limit' sh -c "ulimit -Sn 12; exec perfex -source pmu -json $twelve work loop:1000000"
# shellcheck disable=SC2086
run 'hard limit' sh -c "ulimit -n 12; exec perfex -source pmu -json $twelve work loop:1000000"

# Estimates: 12 events on 7 counters, exact counts beside them.  The anchor counts both levels, so that the events, of
# user mode alone, are not proportional to it.  "blend": the share of user mode changes from phase to phase, as
# the rates of a program's events do; "sharp": it is all or nothing, which is as hard as it gets.
# (The encodings differ in bits that the driver ignores, so that these are 12 events and not two.)
levels="-e arm_n1::INST_RETIRED:u -e arm_n1::CPU_CYCLES:u"
for code in 10008 20008 30008 40008 50008 10011 20011 30011 40011 50011; do
	levels="$levels -e perf_raw::r$code:u"
done
estimate() { # NAME WORK MILLISECONDS MEANS SEEDS
	for mean in $4; do
		for seed in $5; do
			work=$2:$seed:$3:$mean
			pmu "exact $work" -e r8 -e r11 work "$work"
			# shellcheck disable=SC2086
			pmu "$1 $work" -k $levels work "$work"
		done
	done
}
estimate blend blend 500 '1000 3000 10000 30000 100000' '1 2 3 4 5 6 7 8'
estimate sharp phases 500 '1000 3000 10000 30000 100000' '1 2'
for mean in 1000 10000 100000; do
	# shellcheck disable=SC2086
	pmu "plain phases:1:500:$mean" $twelve work phases:1:500:$mean
done
exit 0
