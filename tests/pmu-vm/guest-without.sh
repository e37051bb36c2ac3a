# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Runs in the guest that has no PMU.
export PERFEX_DATA=/share/perfex
run() {
	echo "== $1"
	shift
	"$@" 2>&1
	echo "-- $?"
}
run 'pmu' perfex -source pmu -e r8 work loop:1000
run 'auto' perfex -a work loop:1000
run 'auto one' perfex -e 25 work loop:1000
run 'os' perfex -source os -json -e task-clock work loop:1000000
exit 0
