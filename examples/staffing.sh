# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=examples/figures.sh
# Figures 2 and 3: what the time goes to, and which source lines the secondary data cache misses are on.
. "$(dirname "$0")/figures.sh"
shifts=${short:+40}
shifts=${shifts:-400}
say "counting"
count "$scratch/before" "$examples/staffing" 65536 "$shifts"
say "sampling secondary data cache misses"
ssrun -q -machine "$machine" -source model -dsc_hwc -o "$scratch/misses" "$examples/staffing" 65536 "$shifts" >/dev/null

dearest "$scratch/before" >"$directory/figure2.csv"
# A row a line: procedure, file, line, misses, their 95% interval, percent.
prof -heavy -csv "$scratch/misses" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "line,procedure,misses,low,high,label,percent" }
	$1 == "row" { n = split($at["file"], path, "/"); print path[n] ":" $at["line"] "," $at["procedure"] "," $at["dsc"] "," $at["dsc.low"] "," $at["dsc.high"] "," $at["dsc.label"] "," $at["dsc.percent"] }' \
	>"$directory/figure3.csv"

draw figure2 costs "$scratch/before"
draw figure3 lines "$scratch/misses"
