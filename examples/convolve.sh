# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=examples/figures.sh
# Figures 8 and 9: what the convolution's time goes to, and what the fix changes.
. "$(dirname "$0")/figures.sh"
side=${short:+200}
side=${side:-512}
say "before"
count "$scratch/before" "$examples/convolve" "$side" 2
say "after"
count "$scratch/after" "$examples/convolve" -fixed "$side" 2

# The causes that cost most, in seconds by typical costs.
awk -F, 'NR == 1 { print "event,name,seconds,label" } $1 == "" && $11 > 0 { print $4 "," $5 "," $11 "," $14 }' \
	"$scratch/before" | { read -r head; echo "$head"; sort -t, -k3,3gr | head -8; } >"$directory/figure8.csv"
{
	echo quantity,before,after,label
	for event in cy gi gl gfp cbr br; do
		echo "$event,$(value "$scratch/before" $event 7),$(value "$scratch/after" $event 7),model"
	done
} >"$directory/figure9.csv"

plot figure8 <<'END'
set title 'Convolution: estimated cost of events'
set style fill solid
set boxwidth 0.7
set ylabel 'seconds, by typical costs (estimated)'
set xtics rotate by -30
plot 'figure8.csv' every ::1 using 0:3:xtic(1) with boxes notitle
END
plot figure9 <<'END'
set title 'Convolution, before and after (model)'
set style data histogram
set style fill solid
set logscale y
set ylabel 'events'
plot 'figure9.csv' every ::1 using 2:xtic(1) title 'before', '' every ::1 using 3 title 'fixed'
END
