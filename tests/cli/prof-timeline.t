# SPDX-License-Identifier: GPL-2.0-or-later
# Times of samples: prof -timeline, and -from and -to in all reports.
. "$TOP/tests/lib.sh"

# Ten seconds: early for 4, a wait, late for 2, and always a little of both.
make_experiment phased <<'END' || exit 1
type usertime
fact command ./phased
image kernel [kernel]
metric time 10000000 measured clock,stacks
process 100 -1 phased
process 101 -1 helper
thread 1 100 phased
thread 2 101 helper
symbol 1 1000 16 early
symbol 1 2000 16 late
symbol 1 3000 16 caller
elapsed 10000000000
time 0 4000000000
sample 0 1 0 400 1:3000 1:1000
time 8000000000 10000000000
sample 0 2 0 200 1:3000 1:2000
time 0 10000000000
sample 0 1 0 10 1:1004
sample 0 2 0 10 1:2004
END
run prof -timeline phased
is "it is a report" "$status $err" "0 "
like "the run is the first line: nearly nothing in between" "$out" '6\.200 +100\.0% +@+[ .:-]+@+[ .:-]* +TOTAL'
like "a function has its own line" "$out" '4\.100 +66\.1% +@+[ .]+ +early'
like "another, another" "$out" '2\.100 +33\.9% +[ .:]+@+[ .:-]* +late'
like "round times are above them" "$out" '\|0 s +\|2 +\|4 +\|6 +\|8 '
like "it says what a column is" "$out" 'A column is 0\.2[0-9]* s'
run prof -timeline -by process phased
like "with -by the title says of what" "$out" '^Processes over time'
like "a line for each process" "$out" ' @+[ .]+ +process 100 phased'
like "and the other" "$out" '% +[ .:]+@+[ .:-]* +process 101 helper'
run prof -timeline -inclusive phased
like "-inclusive: a caller has the lines of what it called" "$out" '0\.000 +0\.0% +6\.000 +96\.8% +@+[ .:-]+@+[ .:-]* +caller'
prof -timeline -inclusive -json phased > out.json
is "each sample once" "$(jq -c '[.columns as $c | .rows[] | select(.procedure == "caller") | . as $r | [range($c | length)] |
	map(select($c[.] | startswith("time@"))) | map($r.counts[.].value) | add * 1000 | round]' out.json)" "[6000]"
run prof -summary phased
like "a summary says how long slices are" "$out" 'Times of samples +in slices of 0\.06711 s'
run prof -timeline -only late phased
unlike "-only selects" "$out" 'early'
run prof -timeline -q 1 phased
like "-q leaves out" "$out" '1 more row is left out'

json() { jq -c "$1" out.json; }
prof -timeline -json phased > out.json
is "figures of columns add up to that of the row" "$(json '[.columns as $c | .rows[], .total | . as $r |
	[range($c | length)] | map(select($c[.] | startswith("time@"))) | map($r.counts[.].value) | add * 1000 | round]')" "[4100,2100,6200]"
like "columns are named by their times" "$(json '.columns')" '"time@0","time@0\.201327"'
prof -timeline -csv phased > out.csv
is "-csv has the same columns" "$(head -1 out.csv | tr , '\n' | grep -c '^time@[0-9.]*$')" "$(json '[.columns[] | select(startswith("time@"))] | length')"

total() { prof -json "$@" | jq -c '[.total.counts[0].value, (.rows | map(.procedure))]'; }
# The slices are 2^26 ns wide, and 150 of them; -from and -to take whole ones.
is "the first part" "$(total -to 4 phased | tr -d '[]')" "4.08,\"early\",\"late\""
is "the last" "$(total -from 80% phased)" "$(total -from 8s phased)"
like "a part of the run" "$(total -from 8.1 phased)" '"late","early"'
python3 - <<'END' > parts
import json, subprocess
def run(*words):
    return json.loads(subprocess.run(["prof", "-json", *words, "phased"], stdout=subprocess.PIPE, check=True).stdout)
def samples(r):
    return {row["procedure"]: round(100 * row["counts"][0]["value"]) for row in r["rows"]}
width = 2 ** 26 / 1e9
whole = samples(run())
for cuts in ([0, 60, 150], [0, 1, 2, 75, 119, 120, 150]):
    sums = {}
    for a, b in zip(cuts, cuts[1:]):
        for name, n in samples(run("-from", f"{a * width:.9f}", "-to", f"{min(b * width, 10):.9f}")).items():
            sums[name] = sums.get(name, 0) + n
    print(sums == whole)
END
is "parts add up to the whole" "$(cat parts | tr '\n' ' ')" "True True "
sum() { for part; do prof -json $part phased; done | jq -s 'map(.total.counts[0].value * 100 | round) | add'; }
is "also parts whose ends are within slices" "$(sum "-to 31%" "-from 31% -to 50.3%" "-from 50.3% -to 8.12" "-from 8.12")" "$(sum "")"
is "the shortest part is a slice" "$(prof -head -from 8.1 -to 8.101 phased | grep -c '8\.053[0-9]* to 8\.12[0-9]* s')" 1
run prof -from 8 phased
like "the head says which part: whole slices" "$out" 'phased \(usertime\), 7\.9[0-9]* to 10 s'
run prof -head -from 8 phased
like "so does the long one" "$out" 'Time +7\.9[0-9]* to 10 s of 10 s'
for report in -heavy -calltree -butterfly "-usage" "-dso" "-lines" "-by process" "-inclusive"; do
	# shellcheck disable=SC2086
	run prof $report -from 9 phased
	like "$report has the part" "$out" '1\.0[0-9]+ '
done
run prof -export folded -from 8.1 -o - phased
unlike "an export has the part, too" "$out" 'caller;early'

make_experiment brief <<'END' || exit 1
type fpcsamp
fact command ./brief
image kernel [kernel]
metric time 1000000 measured clock,stacks
process 100 -1 brief
thread 1 100 brief
symbol 1 1000 16 early
elapsed 40000000
time 0 40000000
sample 0 1 0 40 1:1000
END
run prof -timeline brief
like "times of a short run are in ms" "$out" '\|0 ms +\|1?[0-9](\.[0-9]+)? +\|[12][0-9]'
like "so are columns" "$out" 'A column is 1\.[0-9]+ ms'
if command -v gnuplot > /dev/null; then
	run prof -plot timeline -o brief.svg brief
	like "and the picture" "$(cat brief.svg)" 'time, ms'
fi
# Below a millisecond, nothing is rounded to nothing.
make_experiment briefer <<'END' || exit 1
type fpcsamp
fact command ./brief
image kernel [kernel]
metric time 10000 measured clock,stacks
process 100 -1 brief
thread 1 100 brief
symbol 1 1000 16 early
elapsed 400000
time 0 400000
sample 0 1 0 40 1:1000
END
run prof -timeline briefer
like "the sum of a very short run has digits" "$out" '^Samples +0\.000400 s of'
like "its columns are microseconds" "$out" 'A column is [0-9.]+ us'
if command -v gnuplot > /dev/null; then
	run prof -plot timeline -o briefer.svg briefer
	like "and the axis has parts of a millisecond" "$(tr -d '\n' < briefer.svg)" '0\.[1-4][0-9]*<.*time, ms'
fi
if command -v gnuplot > /dev/null; then
	ok "a picture" prof -plot timeline -o phased.svg phased
	like "has an area for each function" "$(cat phased.svg)" 'early'
	is "which begins where the one below ends" "$(awk '/^\$data0_/ { series++; next } series == 1 && NF == 4 { top[++n] = $4 }
		series == 2 && NF == 4 && $3 != top[++m] { bad = 1 } END { print (n > 100 && n == m && !bad) }' phased.gp)" 1
else
	skip "a picture" "gnuplot is not installed"
fi

for bad in "x|is not a time" "12|took 10 s" "-1|not a time" "101%|not a time" "1h|not a time"; do
	run prof -from "${bad%|*}" phased
	like "-from ${bad%|*} is an error" "$status $err" "^[1-9].*${bad#*|}"
done
run prof -from 5 -to 5 phased; like "so is a part without length" "$status $err" '^[1-9].*after -from'

make_experiment untimed <<'END'
type usertime
image kernel [kernel]
metric time 10000000 measured clock,stacks
symbol 1 1000 16 early
elapsed 10000000000
sample 0 0 0 40 1:1000
END
run prof -from 1 untimed; like "a file of an older ssrun has no times, and that is said" "$status $(echo "$err" | tr '\n' ' ')" '^[1-9].*samples of untimed have no times.*record it again'
run prof -timeline untimed; like "there is no line over time of it" "$status $err" '^[1-9].*have no times'
run prof untimed; like "else it is read as ever" "$out" '0\.400 +100\.0% +100\.0% +40 +early'
sed 's/^x//' > modelled.txt <<'END'
type dsc_hwc
image kernel [kernel]
metric dsc 131 model -
symbol 1 1000 16 early
sample 0 0 0 40 1:1000
END
make_experiment modelled < modelled.txt
run prof -from 1 modelled; like "the model's samples have none, and what to do instead is said" "$status $(echo "$err" | tr '\n' ' ')" '^[1-9].*-calipers'

ok "a sum of two" prof -merge -o sum phased untimed
ok "in the other order" prof -merge -o mus untimed phased
ok "is the same file" cmp sum mus
run prof -from 8.1 sum
is "what has no time is left out" "$(echo "$out" | awk '/TOTAL/ { print $1 }')" "$(prof -from 8.1 phased | awk '/TOTAL/ { print $1 }')"
like "and counted" "$out" '40 samples have no time'
ok "three files at once" prof -merge -o three phased untimed phased
ok "two, then one" prof -merge -o again sum phased
ok "are the same file" cmp three again

# A run of our own: the time of the program is in the slices.
cat > turn.c <<'END'
#include <time.h>

volatile unsigned long n;

static double used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((noinline)) void first(void)
{
	for (double end = used() + 0.3; used() < end;)
		for (int i = 0; i < 100000; i++)
			n++;
}

__attribute__((noinline)) void second(void)
{
	for (double end = used() + 0.3; used() < end;)
		for (int i = 0; i < 100000; i++)
			n++;
}

int main(void)
{
	first();
	second();
	return 0;
}
END
${CC:-gcc} -g -O1 -fno-inline -o turn turn.c || exit 1
ok "a program with two phases is sampled" ssrun -q -fpcsamp -o turn.exp ./turn
prof -timeline -only first -only second -json turn.exp > out.json
# Whenever the program ran, and however slowly: the first is over when the second begins.
is "the first comes first" "$(json '.columns as $c | [.rows[] | {(.procedure): [. as $r | range($c | length) |
	select(($c[.] | startswith("time@")) and $r.counts[.].value > 0)]}] | add | (.first | max) <= (.second | min)')" true
is "slices have each sample once" "$(prof -dump turn.exp | awk '$1 == "sample" { s += $NF } $1 == "slice" { t += $NF } END { print (s == t && s > 0) }')" 1
size() { wc -c < "$1"; }
"$top/tests/ssexp.py" turn.exp > turn.txt
is "and take at most as much room as the rest" "$(python3 - turn.exp <<'END'
import struct, sys
data, at, sizes = open(sys.argv[1], "rb").read(), 12, {}
while at < len(data):
    length = 12 + struct.unpack("<I", data[at + 4:at + 8])[0]
    sizes[data[at:at + 4]] = sizes.get(data[at:at + 4], 0) + length
    at += length
own = sizes.get(b"SLIC", 0)
print(0 < 2 * own <= len(data))
END
)" True
ok "with -cpus a run has its CPUs" ssrun -q -fpcsamp -cpus -o cpus.exp ./turn
prof -dso -by cpu -json cpus.exp > out.json
is "every sample is on one" "$(json '[.rows[].thread] | unique | map(select(startswith("CPU ") | not))')" "[]"
is "and none is lost" "$(json '(([.rows[].counts[0].value] | add) * 1000 | round) == (.total.counts[0].value * 1000 | round)')" true
prof -dso -by thread -json cpus.exp > out.json
is "its thread is one" "$(json '[.rows[].thread] | unique | length')" 1
for whole in merge dump; do
	run prof -$whole -o sum -from 50% phased
	is "-$whole takes whole files" "$status" 125
	like "... and says so" "$err" "-$whole takes whole files: leave out -from and -to"
done
done_testing
