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

dearest "$scratch/before" >"$directory/figure8.csv"
{
	echo quantity,before,after,label
	for event in cy gi gl gfp cbr br; do
		echo "$event,$(value "$scratch/before" $event),$(value "$scratch/after" $event),model"
	done
} >"$directory/figure9.csv"

draw figure8 costs "$scratch/before"
draw figure9 costs "$scratch/before" "$scratch/after"
