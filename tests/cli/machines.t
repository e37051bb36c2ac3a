# SPDX-License-Identifier: GPL-2.0-or-later
# Every description that comes with the toolkit runs a program, and executes the same instructions on it. So does this host, if
# it is not AMD's: then the program sees AMD's processor, and the C library starts in other ways (model-identity.t).
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
first=
for file in "$build"/share/perfex/machines/*.machine host; do
	machine=$(basename "$file" .machine)
	run perfex -source model -machine "$machine" -csv -e 0 -e 17 -e 25 -o counts.csv true
	is "$machine: exit status" "$status" 0
	is "$machine: nothing else said" "$out$err" ""
	instructions=$(awk -F, '$3 == 17 {print $7}' counts.csv)
	if [ "$machine" = host ] && grep -q AuthenticAMD /proc/cpuinfo; then
		perfex -q -source model -machine host:walk=50-cycle -csv -e 17 -o other.csv true
		first=$(awk -F, '$3 == 17 {print $7}' other.csv)
	fi
	first=${first:-$instructions}
	is "$machine: as many instructions as on the first" "$instructions" "$first"
	like "$machine: cycles and misses" "$(awk -F, '$3 == 0 || $3 == 25 {printf "%s ", $7}' counts.csv)" '^[1-9][0-9]* [1-9][0-9]* $'
done

# Of the processors that -explain lists, one is marked as this machine if it is this one, or with whose codes it is counted.
run perfex -explain machine
here=$(printf '%s\n' "$out" | sed -n '1,3s/.*(\([a-z][a-z0-9-]*\)).*/\1/p' | head -n 1)
run perfex -explain dsc
marked=$(printf '%s\n' "$out" | sed -n 's/^    \([a-z0-9-]*\) .*; this machine.*/\1/p')
like "-explain: at most one processor is this machine" "$(printf '%s\n' "$marked" | wc -l)" '^ *1$'
like "the machine has a name" "$here" '^[a-z]'
case $marked in
"" | "$here") ok "it is this one" true ;;
*) like "codes of another are marked as that" "$out" "^    $marked .*; this machine, $here, is counted so" ;;
esac
is "and in JSON" "$(perfex -explain dsc -json | jq -r '.encodings[] | select(.here) | .processor')" "$marked"
# A hypervisor has shown Granite Rapids as Ice Lake, which has no AMX.
if grep -q amx_tile /proc/cpuinfo; then
	is "a processor with AMX has codes of Sapphire Rapids" "$marked" spr
else
	skip "a processor with AMX has codes of Sapphire Rapids" "this one has no AMX"
fi

# Figures of this host, from a file instead of measuring.
printf 'clock 2200000000 Hz, scatter 0.010\nwalk 61.20 cycles, spread 1.00\nmemory 99999.00 cycles, spread 1.00\n' > figures
export PERFEX_HOST="$work/figures"
run perfex -explain machine
like "a given clock" "$out" 'clock: 2.20 GHz, description'
like "a figure" "$out" '^walk +61  measured'
like "one that cannot be" "$out" "^memory +[0-9]+  refused \\(description's\\)"
like "one that is not given" "$out" '^mispredict +[0-9]+  description'
run perfex -explain machine -json
like "for scripts" "$out" '"schema":"perfex.machine/1".*"constant":"walk","cycles":61,"from":"measured"'
run perfex -explain machine -csv -machine host:walk=70-cycle
like "a change comes last" "$out" '^walk,70,description'
run perfex -source model -e cy -e tlb true
is "a run with them" "$status" 0
unlike "says nothing of measuring" "$err" 'measuring'
for file in absent . /dev/null; do
	for command in "perfex -explain machine" "perfex -source model -e cy true" "ssrun -source model -ideal -o x true"; do
		# shellcheck disable=SC2086
		PERFEX_HOST=$file run $command
		like "$command: the file '$file'" "$status $err" "^125 .*: (cannot read absent: No such|(.|/dev/null) is not a regular file)"
		like "and where it is named" "$err" '^[a-z]+:   PERFEX_HOST names it: give'
	done
done
done_testing
