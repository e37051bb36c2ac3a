# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Runs in the guest with a PMU: samples, and sends the experiments over the console, for prof on the host.
export PERFEX_DATA=/share/perfex
echo -1 > /proc/sys/kernel/perf_event_paranoid
take() { # NAME OPTIONS... COMMAND...
	echo "== $1"
	name=$1
	shift
	ssrun -v -o "/tmp/$name" "$@" 2>&1
	echo "-- $?"
	[ -e "/tmp/$name" ] && { echo "file $name"; base64 "/tmp/$name"; echo end; }
}
take cycles -cy_hwc work loop:10000000
take given -e r11:100003 work loop:10000000
take forced -source pmu -gi_hwc work loop:10000000
take both -cy_hwc -both work loop:10000000
take stacks -e r11:1000003:stacks work loop:10000000
take time -fpcsamp work loop:100000000
take paths -usertime work loop:300000000
take tree -cy_hwc work threads:4:1000000 forks:3:1000000 loop:1000000
take model -source model -cy_hwc work loop:1000
exit 0
