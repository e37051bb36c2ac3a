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

awk -F, 'NR == 1 { print "event,name,seconds,label" } $1 == "" && $11 > 0 { print $4 "," $5 "," $11 "," $14 }' \
	"$scratch/before" | { read -r head; echo "$head"; sort -t, -k3,3gr | head -8; } >"$directory/figure2.csv"
# A row a line: procedure, file, line, misses, their 95% interval, percent.
prof -heavy -csv "$scratch/misses" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "line,procedure,misses,low,high,label,percent" }
	$1 == "row" { n = split($at["file"], path, "/"); print path[n] ":" $at["line"] "," $at["procedure"] "," $at["dsc"] "," $at["dsc.low"] "," $at["dsc.high"] "," $at["dsc.label"] "," $at["dsc.percent"] }' \
	>"$directory/figure3.csv"

plot figure2 <<'END'
set title 'Staffing: estimated cost of events'
set style fill solid
set boxwidth 0.7
set ylabel 'seconds, by typical costs (estimated)'
set xtics rotate by -30
plot 'figure2.csv' every ::1 using 0:3:xtic(1) with boxes notitle
END
plot figure3 <<'END'
set title 'Staffing: secondary data cache misses by source line (model, sampled)'
set style fill solid
set boxwidth 0.7
set ylabel 'percent of all'
set yrange [0:100]
set xtics rotate by -30
plot 'figure3.csv' every ::1 using 0:7:xtic(1) with boxes notitle
END
