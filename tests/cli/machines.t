# SPDX-License-Identifier: GPL-2.0-or-later
# Every description that comes with the toolkit runs a program, and executes the same instructions on it.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
first=
for file in "$build"/share/perfex/machines/*.machine host; do
	machine=$(basename "$file" .machine)
	run perfex -source model -machine "$machine" -csv -e 0 -e 17 -e 25 -o counts.csv true
	is "$machine: exit status" "$status" 0
	is "$machine: nothing else said" "$out$err" ""
	instructions=$(awk -F, '$3 == 17 {print $7}' counts.csv)
	first=${first:-$instructions}
	is "$machine: as many instructions as on the first" "$instructions" "$first"
	like "$machine: cycles and misses" "$(awk -F, '$3 == 0 || $3 == 25 {printf "%s ", $7}' counts.csv)" '^[1-9][0-9]* [1-9][0-9]* $'
done
done_testing
