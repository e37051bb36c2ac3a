# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=examples/figures.sh
# Figures 6 and 7: coherence traffic and speed-up over the number of processors, with and without false sharing.
. "$(dirname "$0")/figures.sh"
cells=4000 steps=${short:+30}
steps=${steps:-100}

# events THREADS [-fixed]: misses, interventions, invalidation hits, and the cycles of the whole: what the first
# thread does alone, then the longest of the others.
events() {
	_threads=$1
	shift
	perfex -turn 10 -mp -csv -source model -machine "$machine" -o "$scratch/counts" -e cy -e dsc -e ei -e evh \
		"$examples/weather" "$@" "$_threads" $((cells / _threads)) "$steps" >/dev/null
	awk -F, '$1 == "" { n[$4] = $7 }
		$1 != "" && $4 == "cy" { if ($1 == $2) alone = $7; else if ($7 > longest) longest = $7 }
		END { printf "%d,%d,%d,%d", n["dsc"], n["ei"], n["evh"], alone + longest }' "$scratch/counts"
}

echo threads,misses,interventions,invalidation_hits,cycles,fixed_misses,fixed_interventions,fixed_invalidation_hits,fixed_cycles,label >"$directory/figure6.csv"
for threads in 1 2 4 8 16; do
	say "$threads threads"
	echo "$threads,$(events "$threads"),$(events "$threads" -fixed),model" >>"$directory/figure6.csv"
done
awk -F, 'NR == 1 { print "threads,speedup,fixed_speedup,label"; next }
	NR == 2 { one = $5; fixed = $9 }
	{ printf "%d,%.3f,%.3f,model\n", $1, one / $5, fixed / $9 }' "$directory/figure6.csv" >"$directory/figure7.csv"

plot figure6 <<'END'
set title 'Coherence traffic of weather (model)'
set xlabel 'threads'
set ylabel 'events'
set key left top
plot 'figure6.csv' using 1:2 with linespoints title 'secondary data misses', \
     '' using 1:3 with linespoints title 'interventions', \
     '' using 1:4 with linespoints title 'invalidation hits', \
     '' using 1:6 with linespoints title 'secondary data misses, fixed', \
     '' using 1:7 with linespoints title 'interventions, fixed', \
     '' using 1:8 with linespoints title 'invalidation hits, fixed'
END
plot figure7 <<'END'
set title 'Speed-up of weather (model)'
set xlabel 'threads'
set ylabel 'speed-up'
set key left top
plot 'figure7.csv' using 1:2 with linespoints title 'with false sharing', \
     '' using 1:3 with linespoints title 'fixed', x with lines dashtype 2 title 'ideal'
END
