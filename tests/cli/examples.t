# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=tests/lib.sh
# The case studies: each gives the same result before and after its fix, and refuses what it cannot do.
. "$(dirname "$0")/../lib.sh"
examples=$build/examples

for p in staffing adi convolve weather copy ledger replay; do
	run "$examples/$p"
	before=$out
	is "$p runs" "$status" 0
	run "$examples/$p" -fixed
	is "$p -fixed gives the same result" "$out" "$before"
	run "$examples/$p" -fixed 0
	is "$p 0 is refused" "$status" 2
	like "$p 0 shows the usage" "$err" "^usage: $p "
	run "$examples/$p" 10 10 10 10
	is "$p with too many arguments is refused" "$status" 2
done
for p in staffing adi convolve copy ledger replay; do
	run "$examples/$p" 7x
	is "$p 7x is refused" "$status" 2
done

# What the first case study is for: perfex finds what its fix mends, on several machines.
largest() { # machine arguments: the first cause of the breakdown
	_machine=$1
	shift
	perfex -a -y -source model -machine "$_machine" "$examples/staffing" "$@" 2>&1 >/dev/null | sed -n '/^=====/{n;s/\.\..*//p;q;}'
}
if perfex -source model -e 17 true >/dev/null 2>&1; then
	for machine in host zen4 r10000; do
		is "on $machine, staffing loses most to second-level data misses" "$(largest $machine 65536 80)" "L2 data misses"
		got=$(largest $machine -fixed 65536 80)
		like "staffing -fixed has a largest cost" "$got" '^[a-zA-Z]'
		unlike "which is another" "$got" 'L2 data misses'
	done
else
	skip "what perfex finds in staffing" "there is no model here"
fi

# The scripts that draw the paper's figures: small, and what each figure shows.
column() { # file line column
	sed -n "$2p" "$1" | cut -d, -f"$3"
}
if perfex -source model -e 17 true >/dev/null 2>&1; then
	for p in staffing adi weather convolve; do
		run env O="$build" sh "$top/examples/$p.sh" -short -o figures
		is "$p.sh draws its figures" "$status" 0
	done
	is "figure 2: secondary data misses cost most" "$(column figures/figure2.csv 2 1)" dsc
	ok "figure 3: one line has over 40% of them" test "$(column figures/figure3.csv 2 7 | cut -d. -f1)" -ge 40
	is "figure 4: three sweeps for each size" "$(tail -n +2 figures/figure4.csv | cut -d, -f2 | sort | uniq -c | tr -s ' \n' ' ')" " 4 x 4 y 4 z "
	ok "figure 6: false sharing shows" test "$(column figures/figure6.csv 4 3)" -gt $((5 * $(column figures/figure6.csv 4 7)))
	ok "figure 7: and costs speed" awk -F, 'NR == 4 { exit !($3 > 1.25 * $2) }' figures/figure7.csv
	ok "figure 9: mispredictions vanish" awk -F, '$1 == "br" { exit !($3 < $2 / 10) }' figures/figure9.csv
	command -v gnuplot >/dev/null && is "there is a picture of each" "$(ls figures/*.png | wc -l | tr -d ' ')" 8
	run env O="$build" sh "$top/examples/adi.sh" -nonsense
	is "they refuse what they do not know" "$status" 2
else
	skip "the figures" "there is no model here"
fi

# Every keyword of the format has its place in the manual page.
page=$top/docs/man/perfex-machine.5
for word in $(sed -n 's/.*{"[a-z]*", "\([A-Za-z0-9-]*\)", FIELD.*/\1/p' "$top/lib/machine/machine_fields.c"); do
	ok "perfex-machine(5) explains '$word'" grep -Eq -- "^\.(It|Pq) .*Cm .*$word( |$)" "$page"
done
ok "perfex-machine(5) is clean" mandoc -T lint -W warning "$page"
done_testing
