# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=examples/figures.sh
# Figures 6 and 7: coherence traffic and speed-up over the number of processors, with and without false sharing.
. "$(dirname "$0")/figures.sh"
cells=4000 steps=${short:+30}
steps=${steps:-100}

# events THREADS [-fixed]: misses, interventions, invalidation hits, and the cycles of the whole: what the first
# thread does alone, then the longest of the others.
events() {
	_threads=$1 _out="$scratch/weather${2:-}.$1"
	shift
	perfex -turn 10 -mp -json -source model -machine "$machine" -o "$_out" -e cy -e dsc -e ei -e evh \
		"$examples/weather" "$@" "$_threads" $((cells / _threads)) "$steps" >/dev/null
	table "$_out" | awk -F, '$1 == "" { n[$3] = $5 }
		$1 != "" && $3 == "cy" { if ($1 == $2) alone = $5; else if ($5 > longest) longest = $5 }
		END { printf "%d,%d,%d,%d", n["dsc"], n["ei"], n["evh"], alone + longest }'
}

echo threads,misses,interventions,invalidation_hits,cycles,fixed_misses,fixed_interventions,fixed_invalidation_hits,fixed_cycles,label >"$directory/figure6.csv"
for threads in 1 2 4 8 16; do
	say "$threads threads"
	echo "$threads,$(events "$threads"),$(events "$threads" -fixed),model" >>"$directory/figure6.csv"
done
awk -F, 'NR == 1 { print "threads,speedup,fixed_speedup,label"; next }
	NR == 2 { one = $5; fixed = $9 }
	{ printf "%d,%.3f,%.3f,model\n", $1, one / $5, fixed / $9 }' "$directory/figure6.csv" >"$directory/figure7.csv"

draw figure6 sweep -x arg1 -y dsc,ei,evh "$scratch"/weather*
plot figure7 <<'END'
set title 'Speed-up of weather (model)'
set xlabel 'threads'
set ylabel 'speed-up'
set key left top
plot 'figure7.csv' using 1:2 with linespoints title 'with false sharing', \
     '' using 1:3 with linespoints title 'fixed', x with lines dashtype 2 title 'ideal'
END
