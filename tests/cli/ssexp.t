# SPDX-License-Identifier: GPL-2.0-or-later
# Experiment files are what the manual page says: a reader written from it sees in them what the toolkit sees; and sums
# of files are the same files in any order.
. "$TOP/tests/lib.sh"
make="$build/tests/programs/make_experiments"
compare() {
	"$make" -dump "$1" > ours || return 1
	"$top/tests/ssexp.py" "$1" > theirs || return 1
	[ -s ours ] && cmp ours theirs
}
for seed in "$top"/tests/fuzz/seeds/experiment/random*; do
	ok "$(basename "$seed") reads as ssexp(5) says" compare "$seed"
done
# shellcheck disable=SC2016 # the inner shell's
ok "a run of several processes is sampled" ssrun -pcsamp -o run sh -c 'for i in 1 2; do i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done & done; wait'
ok "what ssrun writes reads as ssexp(5) says" compare run
like "it has samples" "$(cat ours)" '^sample metric 0 '
if [ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ]; then
	for again in 1 2; do
		ssrun -q -fdc_hwc -machine r10000 -o model$again "$build/tests/programs/kernels" sweep-512K 0.02 > /dev/null
		prof -dump -q model$again > quiet$again
	done
	like "a run on the model" "$(cat quiet1)" '^sample metric 0 '
	not_ok "is another file the second time" cmp model1 model2
	ok "and the same without what changes from run to run, byte for byte" cmp quiet1 quiet2
else
	skip "runs on the model" "the model's tool is not built here"
fi
mkdir ranks
ok "twelve ranks" "$make" ranks 12 30000
ok "tables longer than a section" compare ranks/3
not_ok "the manual's reader notices a wrong bit" sh -c "sed 's|work|wurk|' '$top/tests/fuzz/seeds/experiment/random3' > wrong; '$top/tests/ssexp.py' wrong"
like "and says so" "$(cat .log)" 'wrong checksum'
not_ok "so does ours" "$make" -dump wrong
like "with the file's name" "$(cat .log)" '^wrong: corrupted: wrong checksum of the section at byte'
# shellcheck disable=SC2012,SC2046 # names are numbers
{
	ok "a sum" "$make" -sum forwards $(ls ranks/* | sort)
	ok "in another order" "$make" -sum backwards $(ls ranks/* | sort -r)
	ok "the same bytes" cmp forwards backwards
	ok "a part" "$make" -sum part ranks/1 ranks/5 ranks/7
	ok "and the others" "$make" -sum grouped ranks/1? ranks/9 ranks/8 part ranks/6 ranks/4 ranks/3 ranks/2 ranks/0
}
ok "in other groups, the same bytes" cmp forwards grouped
ok "which read as ssexp(5) says" compare forwards
like "twelve runs" "$(head -2 ours)" '^run type "" runs 12 complete 0 '
like "of twelve ranks" "$(head -2 ours)" '^folded processes 12 threads 12 failed 0 ranks 12 from 0 to 11$'
mkdir many
ok "ten thousand ranks" "$make" many 10000 60
# shellcheck disable=SC2012,SC2046 # names are numbers
{
	ok "added up" "$make" -sum forwards $(find many -type f | sort)
	ok "and in any other order" "$make" -sum anyhow $(find many -type f | sort -R)
}
ok "are the same bytes" cmp forwards anyhow
"$make" -dump forwards > ours
like "of all ranks" "$(head -2 ours)" '^folded .* ranks 10000 from 0 to 9999$'
ok "in less than 2 KB" test "$(wc -c < forwards)" -lt 2048
done_testing
