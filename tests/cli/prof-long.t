# SPDX-License-Identifier: GPL-2.0-or-later
# Long reports show what matters, and say what they left out.
. "$TOP/tests/lib.sh"

# 30 functions; of 25 of them one sample each.
for i in $(seq 10 39); do
	echo "int f$i(int a) { return a + $i; }"
done > long.c
echo 'int main(void) { return f10(1) == 0; }' >> long.c
${CC:-gcc} -g -O0 -o long long.c || exit 1
nm long | sed -n 's/^0*\([0-9a-f]*\) T \(f[0-9][0-9]\|main\)$/\2 0x\1/p' > addresses
main=$(sed -n 's/^main //p' addresses)
# type flags callers first: samples of each function, of those from `first` on one
many() {
	echo "type $1"
	echo "image elf $work/long"
	echo "metric time 1000000 measured $2"
	echo "elapsed 2000000000"
	awk -v before="$3" -v first="$4" '/^f/ { i = substr($1, 2); print "sample 0 0 0", i < first ? 100 - i : 1, before "1:" $2 }' addresses
}
many pcsamp clock '' 15 | "$build/tests/tools/experiment" flat || exit 1
many usertime clock,stacks "1:$main " 15 | "$build/tests/tools/experiment" paths || exit 1

rows() { printf '%s\n' "$out" | grep -c ' f[0-9][0-9] (long: '; }
run prof flat
is "a list ends before its rows of one sample, but shows 20" "$status $(rows)" "0 20"
like "and says what it left out" "$out" '^10 more rows of one sample or none, 2\.2% in all, are left out \(-whole\)$'
like "which the total has" "$out" ' 465  TOTAL$'
run prof -whole flat
is "-whole shows them" "$status $(rows) $err" "0 30 "
run prof -q 25 flat
is "as many as were asked for are shown" "$(rows)" 25
unlike "and the rest is not one of -whole" "$out" '\(-whole\)'
run prof -csv flat
is "scripts have all" "$(printf '%s\n' "$out" | grep -c ',f[0-9][0-9],')" 30
run prof -heavy flat
is "lines likewise" "$(rows)" 20
run prof -inclusive paths
is "with callees likewise" "$(printf '%s\n' "$out" | grep -c ' (long: ')" 20
run prof -butterfly paths
like "callers and callees likewise" "$out" '^11 more functions of one sample or none are left out \(-whole\)$'
run prof -calltree -whole paths
is "a whole call tree" "$(rows)" 30
many usertime clock,stacks "1:$main " 30 | sed "s,^\(sample 0 0 0\) [2-9][0-9] ,\1 2 ," | "$build/tests/tools/experiment" few || exit 1
run prof -calltree few
is "a call tree without branches of one sample" "$(rows)" 20
like "which it counts" "$out" '^10 branches are left out \(of one sample, or below 0\.5%; -whole\)$'

# Of events that were all counted, rows of 0.0% mean nothing; of samples, they may.
{
	printf 'type ideal\nimage elf %s\nmetric gi 1 model exact 15\n' "$work/long"
	awk '/^f/ { i = substr($1, 2); print "sample 0 0 0", i < 17 ? 1000 : 2, "1:" $2 }' addresses
} | "$build/tests/tools/experiment" counted || exit 1
run prof counted
is "counted events: rows below 0.1% are left out" "$(rows)" 7
like "which is said" "$out" '^23 more rows below 0\.1%, 0\.7% in all, are left out \(-whole\)$'
run prof -only 'f3?' counted
is "but five rows are shown in any case" "$(rows)" 5

# Heads fit 79 columns; what was modelled is in a line of its own.
cat > model.text <<END
type dsc_hwc
fact host a-host-with-a-name-of-some-length.example.org
fact cpu Intel(R) Xeon(R) Platinum 8462Y+
fact kernel Linux 6.1.0-31-amd64
fact model Intel Sapphire Rapids (Xeon Platinum 8462Y+)
fact command ./long
image elf $work/long
metric dsc 1 model exact 26
sample 0 0 0 90 1:$(sed -n "s/^f10 //p" addresses)
END
"$build/tests/tools/experiment" model < model.text || exit 1
run prof model
like "the head names the whole model" "$out" '^Modelled +Intel Sapphire Rapids \(Xeon Platinum 8462Y\+\)$'
done_testing
