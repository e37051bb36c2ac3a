# SPDX-License-Identifier: GPL-2.0-or-later
# Every report as JSON and as CSV, read by python; colours; what a terminal sees.
. "$TOP/tests/lib.sh"
formats() { python3 "$top/tests/readers/formats.py" "$@"; }

cat > app.c <<'END'
int total;
__attribute__((noinline)) static int inner(int a)
{
	for (int i = 0; i < a; i++)
		total += i % 7;
	return total;
}
int main(int argc, char **argv)
{
	return inner(argc * 10) + argv == 0;
}
END
sed -i 's/inner(argc \* 10) + argv == 0/inner(argc * 10) == 1 \&\& argv/' app.c
${CC:-gcc} -g -O1 -o app app.c || exit 1
main=0x$(nm app | awk '$3 == "main" { print $1 }') inner=0x$(nm app | awk '$3 == "inner" { print $1 }')
call=$(objdump -d app --start-address="$main" | awk '/call.*inner/ { sub(":", "", $1); print "0x" $1; exit }')
{
	printf 'type usertime\nfact command ./app\nfact clock_hz 3500000000\nimage elf %s/app\nmetric time 1000003 measured clock,stacks,skid\n' "$work"
	printf 'process 100 -1 app\nthread 1 100 app\nelapsed 2000000000\ntime 0 2000000000\n'
	# a name with what must be quoted
	printf 'image kernel [kernel]\nsymbol 2 ffff0000 64 odd"name,with;all\n'
	for i in 0 3 6 9 12 15 18 21; do printf 'sample 0 1 0 %d 1:%s 1:0x%x\n' $((100 + i)) "$call" $((inner + i)); done
	printf 'sample 0 1 0 5 1:%s\nsample 0 1 0 3 2:ffff0010\n' "$main"
} | "$build/tests/tools/experiment" app.usertime || exit 1
printf 'type ideal\nimage elf %s/app\nmetric gi 1 model exact 17\nsample 0 0 0 10 1:%s\nsample 0 0 0 1000 1:%s\n' "$work" "$main" "$inner" |
	"$build/tests/tools/experiment" app.ideal || exit 1

# ---- prof: every view of its table ----
views=$(prof -help | sed -n 's/^  -\([a-z-]*\).*/\1/p' | sed '/^q$/,$d')
like "there are views" "$views" '^butterfly$'
for view in $views; do
	set -- app.usertime
	argument=
	case $view in
	archinfo) set -- app.ideal ;;
	calc) argument='inner -core zen4' ;;
	stalls | why | topblocks | cfg) argument='-core zen4' ;;
	values | arguments | operations | access | conflicts | redundant | watch | latency | waits) continue ;; # prof-values.t, prof-latency.t, prof-waits.t
	data*)
		if [ ! -e app.dataspace ] && ! ssrun -q -machine zen4 -o app.dataspace -dataspace ./app 2>/dev/null; then
			skip "-$view" "there is no model here"
			continue
		fi
		set -- app.dataspace ;;
	esac
	# shellcheck disable=SC2086
	{ prof "-$view" $argument -json "$@" > view.json 2>json.err; prof "-$view" $argument -csv "$@" > view.csv 2>csv.err; }
	is "-$view" "$(cat json.err csv.err; formats rows "$view" view.json view.csv 2>&1 | tail -1)" ""
done
for more in "-heavy -inlines -inclusive" "-threads" "-compare" "-ci -raw -heavy"; do
	view=$(echo "$more" | grep -o 'heavy' || echo procedures)
	# shellcheck disable=SC2086
	{ prof $more -json app.usertime app.ideal > view.json 2>/dev/null; prof $more -csv app.usertime app.ideal > view.csv 2>/dev/null; }
	is "$more" "$(formats rows "$view" view.json view.csv 2>&1 | tail -1)" ""
done
printf 'type usertime\nimage elf %s/app\nmetric time 1000003 measured clock,stacks\nsample 0 0 0 4000 1:%s\nsample 0 0 0 9 1:%s\n' "$work" "$inner" "$main" |
	"$build/tests/tools/experiment" other.usertime
for how in "" -heavy -dso -share; do
	# shellcheck disable=SC2086
	{ prof -diff $how -json app.usertime other.usertime > view.json 2>/dev/null; prof -diff $how -csv app.usertime other.usertime > view.csv 2>/dev/null; }
	is "-diff $how" "$(formats rows "$(python3 -c "import json; print(json.load(open('view.json'))['report'])")" view.json view.csv 2>&1 | tail -1)" ""
done
like "names are quoted as CSV wants" "$(prof -csv app.usertime)" '"odd""name,with;all"'

# ---- lists and tables ----
records() { # name schema key command...
	_name=$1 _schema=$2 _key=$3; shift 3
	"$@" -json > list.json 2>err
	"$@" -csv > list.csv 2>>err
	is "$_name" "$(cat err; formats records "$_schema" "$_key" list.json list.csv 2>&1 | tail -1)" ""
}
records "perfex -list" perfex.list/1 events perfex -list
records "perfex -t" perfex.costs/1 costs perfex -machine zen4 -t
records "ssrun -list" ssrun.list/1 experiments ssrun -list
records "prof block -cores" prof.cores/1 cores prof block -cores
is "perfex -t: as many costs as in text" "$(perfex -machine zen4 -t -csv | sed 1d | grep -c .)" "$(perfex -machine zen4 -t | grep -c '^[a-z0-9]* .* \(cycles\|ns\) ')"
for event in dsc pf r1234; do
	is "perfex -explain $event -json" "$(perfex -explain $event -json | python3 -c "
import json, sys
e = json.load(sys.stdin)
assert e['schema'] == 'perfex.explain/1'
assert {s['source'] for s in e['sources']} == {'pmu', 'model', 'os'}
assert e['cost_label'] in ('estimated', None)
" 2>&1)" ""
	is "perfex -explain $event -csv" "$(perfex -explain $event -csv | python3 -c "
import csv, sys
rows = list(csv.reader(sys.stdin))
assert rows[0] == ['field', 'value'] and all(len(r) == 2 for r in rows)
assert dict(rows)['name'] and 'source.os' in dict(rows)
" 2>&1)" ""
done
perfex -source os -a -json true > counts.json 2>/dev/null
perfex -source os -a -csv true > counts.csv 2>/dev/null
is "perfex: counts" "$(python3 -c "
import csv, json
counts, lines = json.load(open('counts.json')), list(csv.DictReader(open('counts.csv'), strict=True))
assert counts['schema'] == 'perfex.counts/1'
assert {e['short'] for e in counts['events']} <= {l['short'] for l in lines}
" 2>&1)" ""
for core in zen4 skylake; do
	is "prof block: $core" "$(prof block -static -core $core -hex 480fafc3 -json | python3 -c "
import json, sys
for line in sys.stdin: assert json.loads(line)['schema'] == 'prof.block/1'" 2>&1)" ""
	is "prof block: $core, CSV" "$(prof block -static -core $core -hex 480fafc3 -csv | python3 -c "
import csv, sys
rows = list(csv.reader(sys.stdin, strict=True))
assert len(rows) == 2 and len(rows[0]) == len(rows[1])" 2>&1)" ""
done
for bad in "prof -json -csv app.usertime" "perfex -json -csv -list" "ssrun -json -csv -list" "ssrun -json true" "prof calibrate -json -csv" "perfex -calibrate -json -o -"; do
	run $bad
	is "$bad: refused" "$status" 125
done
run perfex -list -json -o list.file
is "-o takes it" "$status $out" "0 "
ok "and it is whole" python3 -m json.tool list.file
run perfex -explain dsc -json -o /dev/full
is "a full device" "$status" 125

# Where a file is replaced, the new one has another name for a moment.
if strace -o /dev/null true 2>/dev/null; then
	echo earlier > replaced
	strace -f -o /dev/null -e trace=linkat -e inject=linkat:delay_exit=500000 perfex -explain dsc -json -o replaced &
	named() { ls replaced.*; }
	ok "the new file has a second name" wait_for named
	kill "$(ls replaced.* | sed 's/.*[.]//; s/-.*//')"
	wait $!
	ok "a signal then leaves one file" sh -c 'test "$(ls -d replaced*)" = replaced && grep -q perfex.explain replaced'
else
	skip "a signal while a file is replaced" "strace cannot trace here"
fi

# ---- colours ----
seen() { script -qec "$1" /dev/null < /dev/null 2>&1; }
escape=$(printf '\033')
TERM=xterm
export TERM
like "prof dims on a terminal" "$(seen 'prof app.usertime')" "$escape\[2m"
unlike "NO_COLOR: nothing is coloured" "$(NO_COLOR=1 seen 'prof app.usertime')" "$escape\[[0-9;]*m"
like "and what is weak is marked" "$(NO_COLOR=1 seen 'prof app.usertime')" '~0.00[0-9]'
like "NO_COLOR without a value means nothing" "$(NO_COLOR='' seen 'prof app.usertime')" "$escape\[2m"
unlike "a file is not coloured" "$(prof app.usertime)" "$escape"
for c in 'perfex -list' 'perfex -explain dsc' 'perfex -source os -a true' 'ssrun -list' 'prof -dis app.usertime' 'prof -lines app.usertime' 'prof -help' 'prof block -cores'; do
	unlike "NO_COLOR: $c" "$(NO_COLOR=1 seen "$c")" "$escape\[[0-9;]*m"
done
done_testing
