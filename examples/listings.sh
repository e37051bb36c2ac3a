# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The listings of the paper on value profiles: the values of each instruction (its slide 15), where loads get their data
# from (slide 16), and which store a load has to wait for (slides 18 to 20).
#
#     sh examples/listings.sh [PERCENT]
#
# PERCENT: how long the programs run, 100 by default. The commands are taken from build/bin, or else from the PATH; O=DIR names
# another build.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${O:-$here/../build}
[ -d "$build/bin" ] && PATH=$(cd "$build/bin" && pwd):$PATH
percent=${1:-100}
case $percent in *[!0-9]* | '') echo "usage: sh listings.sh [PERCENT]" >&2; exit 2 ;; esac
for program in ledger adi replay; do
	[ -x "$build/examples/$program" ] || { echo "listings.sh: there is no $build/examples/$program: run make first" >&2; exit 1; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

echo "Values: samples of each instruction, and what it worked on (slide 15)"
ssrun -q -values -rate 500 -o "$scratch/values" "$build/examples/ledger" $((percent * 10000)) >/dev/null
prof -dis -only put "$scratch/values" | sed -n '/^put:/,/TOTAL/p'

echo "Latencies: samples of each instruction, and where loads get their data from (slide 16)"
ssrun -q -values=latency -rate 200 -o "$scratch/latency" "$build/examples/adi" 128 $((1 + percent / 10)) >/dev/null
prof -latency -q 10 "$scratch/latency" | sed -n '/^ *loads  /,$p'
prof -dis -only sweep_z "$scratch/latency" | sed -n '/^sweep_z:/,/TOTAL/p'

echo "Conflicts: loads that wait for a store, and that store (slides 18 to 20)"
ssrun -q -values -rate 500 -o "$scratch/conflicts" "$build/examples/replay" $((percent * 2000)) >/dev/null
prof -conflicts "$scratch/conflicts" | sed -n '/^ *seen  /,$p'
