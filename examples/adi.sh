# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=examples/figures.sh
# Figures 4 and 5: cycles of the X, Y and Z sweeps over the size of the grid, and how much of them cache and TLB
# misses cost, before and after the fix.
. "$(dirname "$0")/figures.sh"
sizes='16 24 32 40 48 56 64 72 80 88 96 104 112 120 128'
[ -n "$short" ] && sizes='16 32 48 64'

# typical SHORT: an event's typical cost in cycles.
typical() { perfex -t -machine "$machine" | awk -v short="$1" '$1 == short { print $2 }'; }
tlb=$(typical tlb) dc=$(typical dc) dsc=$(typical dsc)

# sweeps RUN N [-fixed]: N,sweep,cycles,tlb,dsc,dc,other,label, in cycles a point; misses at their typical costs, which
# may overlap.
sweeps() {
	_run=$1 _n=$2
	shift 2
	ssrun -q -machine "$machine" -source model -o "$_run" -e cy:3779 -e tlb:53 -e dsc:29 -e dc:419 \
		"$examples/adi" "$@" "$_n" 1 >/dev/null
	prof -csv -only 'sweep_*' "$_run" | awk -F, -v n="$_n" -v tlb="$tlb" -v dc="$dc" -v dsc="$dsc" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == "row" {
			points = n * n * n
			t = $at["tlb"] * tlb; s = $at["dsc"] * dsc; d = $at["dc"] * dc; all = $at["cy"]
			other = all - t - s - d
			row[substr($at["procedure"], 7, 1)] = sprintf("%d,%s,%.3f,%.3f,%.3f,%.3f,%.3f,estimated", n,
				substr($at["procedure"], 7, 1), all / points, t / points, s / points, d / points,
				(other > 0 ? other : 0) / points)
		}
		END { for (i = 1; i <= 3; i++) { s = substr("xyz", i, 1); if (s in row) print row[s] } }'
}

figure() { # NAME TITLE [-fixed]; the picture shows seconds a point
	_name=$1 _title=$2
	shift 2
	echo n,sweep,cycles,tlb,dsc,dc,other,label >"$directory/$_name.csv"
	for n in $sizes; do
		say "$_title, $n points a side"
		sweeps "$scratch/$_name.$n" "$n" "$@" >>"$directory/$_name.csv"
	done
	draw "$_name" sweep -x arg1 -y costs/x^3 -only 'sweep_*' "$scratch/$_name".*
}

figure figure4 before
figure figure5 after -fixed
