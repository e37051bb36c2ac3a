# SPDX-License-Identifier: GPL-2.0-or-later
# prof -export: each format opened by a reader that is not ours, its sums those of prof's own reports.
. "$TOP/tests/lib.sh"
reader() { python3 "$top/tests/readers/export.py" "$@"; }

mkdir src
cat > src/app.c <<'END'
int total;

static inline __attribute__((always_inline)) int inner(int a)
{
	return a / (total + 3);
}

__attribute__((noinline)) static int compare(int a)
{
	total += inner(a);
	return a > 3;
}

__attribute__((noinline)) static int search(int a)
{
	return compare(a) + 1;
}

int main(int argc, char **argv)
{
	total += search(argc);
	return argv == 0;
}
END
${CC:-gcc} -g -O0 -o app src/app.c || exit 1
address() { echo "0x$(nm app | awk -v n="$1" '$3 == n { print $1 }' | sed 's/^0*//')"; }
main=$(address main) search=$(address search) compare=$(address compare)
# an instruction of inner within compare
inner=$(objdump -d app --start-address="$compare" | awk '/idiv/ { sub(":", "", $1); print "0x" $1; exit }')

# Samples of two metrics on call paths, one of them flat; odd names.
cat > paths.txt <<END
type usertime
fact command ./app 7
fact program ./app
image elf $work/app
image kernel [kernel]
metric time 30000000 measured clock,stacks
metric dsc 131 model - 26
symbol 2 ffff0000 64 odd;name
process 100 -1 app
thread 1 100 app
thread 1 101 worker
elapsed 2000000000
lost 0 17
sample 0 1 0 10 1:$main
sample 0 1 0 30 1:$main 1:$search
sample 0 1 0 60 1:$main 1:$search 1:$compare
sample 0 1 0 25 1:$main 1:$search 1:$inner
sample 0 2 0 7 1:$main 1:$search 2:ffff0010
sample 0 2 0 3 1:0x10
sample 0 2 0 2 0:99
sample 1 1 0 90 1:$search
sample 1 2 0 10 1:$inner
END
make_experiment app.usertime.1 < paths.txt || exit 1
# What recurs, by itself and through another.
cat > recursion.txt <<END
type usertime
image elf $work/app
metric time 10000000 measured clock,stacks
sample 0 0 0 5 1:$main 1:$search 1:$search 1:$search
sample 0 0 0 7 1:$main 1:$search 1:$compare 1:$search
sample 0 0 0 1 1:$main 1:$search 1:$compare 1:$search 1:$compare
END
make_experiment app.usertime.2 < recursion.txt || exit 1
# Flat, and counted exactly.
cat > exact.txt <<END
type ideal
image elf $work/app
metric gi 1 model exact 17
sample 0 0 0 1000000007 1:$main
sample 0 0 0 18000000000 1:$inner
END
make_experiment app.ideal.3 < exact.txt || exit 1

rows() { prof -inclusive -json "$@" > rows.json 2>/dev/null; reader rows rows.json; }
export_to() { # format file...
	format=$1; shift
	run prof -export "$format" -o "out.$format" "$@"
}
pprof_text() { gzip -dc "$1" > raw && protoc --decode=reader.Profile -I "$top/tests/readers" profile.proto < raw > text; }
read_back() { # format: what an independent reader finds
	case $1 in
	pprof) pprof_text out.pprof && reader pprof-text text ;;
	*) reader "$1" "out.$1" ;;
	esac
}
# caller -> callee and the line of the call, positions made absolute
callgrind_lines() {
	awk '/^c?fn=/ { k = $1; sub(/.*=/, "", k); if (NF > 1) name[k] = $2; if (/^cfn/) callee = name[k]; else caller = name[k] }
	/^[0-9+*-]/ { if ($2 ~ /^[+-]/) line += $2; else if ($2 != "*") line = $2; if (called) print caller, "->", callee, line; called = 0 }
	/^calls/ { called = 1 }' out.callgrind
}
same() { # name file...
	name=$1; shift
	rows "$@" > want
	for format in pprof callgrind speedscope json; do
		export_to $format "$@"
		read_back $format > got
		is "$name: $format has prof's sums" "$(cat got)" "$(cat want)"
	done
}
same "call paths" app.usertime.1
is "a file that lacks nothing ends with 0" "$status" 0
like "which are those of the samples" "$(cat want)" '^time own compare 2550000000$'
rows -only compare -exclude main app.usertime.1 > want
for format in pprof callgrind speedscope json; do
	export_to $format -only compare -exclude main app.usertime.1
	is "only some functions: $format" "$(read_back $format | grep -v inclusive)" "$(grep -v inclusive want)"
done
rows app.ideal.3 2>/dev/null > want || { prof -json app.ideal.3 > rows.json; reader rows rows.json > want; }
for format in pprof callgrind speedscope json folded; do
	export_to $format app.ideal.3
	is "exact counts, flat: $format" "$(read_back $format | sed 's/^samples/gi/' | grep -v inclusive)" "$(grep -v inclusive want)"
done
export_to folded app.ideal.3
is "a flat profile is stacks of one frame" "$(cut -d' ' -f1 out.folded | sort | tr '\n' ' ')" "compare main "

# folded stacks are samples of one metric
rows app.usertime.1 > want
export_to folded app.usertime.1
like "folded says what its numbers are" "$err" 'CPU time \(time\): 137 samples of 30000000 ns each \(measured, os'
like "folded: other metrics are named" "$err" 'folded writes one metric, time: choose another'
is "folded: sums" "$(reader folded out.folded | sed 's/^samples/time/' | awk '{ $NF = sprintf("%.0f", $NF * 30000000) } 1')" "$(grep '^time' want | tr ';' :)"
is "folded: a line" "$(grep 'odd' out.folded)" "main;search;odd:name 7"
export_to folded -metric dsc app.usertime.1
is "folded: another metric" "$(cat out.folded | tr '\n' ' ')" "compare 10 search 90 "
export_to folded -inlines app.usertime.1
is "folded: inlined functions are frames with -inlines" "$(grep inner out.folded)" "main;search;compare;inner 25"
export_to folded -threads app.usertime.1
like "folded: threads come first" "$(cat out.folded)" '^worker 100/101;main;search;odd:name 7$'
is "folded: threads, all of them" "$(awk '{ n += $NF } END { print n }' out.folded)" 137

# recursion
rows app.usertime.2 > want
for format in pprof speedscope json callgrind; do
	export_to $format app.usertime.2
	is "recursion: $format" "$(read_back $format | grep -v "$([ $format = callgrind ] && echo inclusive || echo nothing)")" \
		"$(grep -v "$([ $format = callgrind ] && echo inclusive || echo nothing)" want)"
done
like "callgrind: a call that recurs counts once a path" "$(grep -A1 'calls=' out.callgrind)" ' 50000000$'

# pprof
export_to pprof -threads app.usertime.1
pprof_text out.pprof
text=$(cat text)
like "pprof: gzip" "$(od -An -tx1 -N2 out.pprof)" '1f 8b'
like "pprof: comments say what numbers are" "$text" 'string_table: "dsc \(dsc\): 100 samples of 131 events each \(model, model'
like "pprof: and what is missing" "$text" 'time: 17 samples were lost by the kernel'
like "pprof: build id" "$text" "string_table: \"$(readelf -n app | awk '/Build ID/ { print $3 }')\""
like "pprof: sample types" "$(printf '%s\n' "$text" | grep -o 'string_table: ".*samples"' | tr '\n' ' ')" 'time_samples.*dsc_samples'
is "pprof: the program is the first mapping" "$(printf '%s\n' "$text" | awk '/^string_table/ { s[n++] = $0 } /^mapping/ && !m { m = 1 } m == 1 && /filename:/ { f = $2; m = 2 } END { print s[f] }')" \
	"string_table: \"$work/app\""
like "pprof: period" "$text" '^period: 30000000$'
is "pprof: labels of threads" "$(printf '%s\n' "$text" | grep -c 'num: 101')" 4
is "pprof: an inlined function has its own line" "$(printf '%s\n' "$text" | awk '/^location/ { n = 0 } /^  line/ { n++ } n == 2' | grep -c 'function_id')" 1
prof -export pprof app.usertime.1 > one 2>/dev/null; prof -export pprof app.usertime.1 > two 2>/dev/null
ok "pprof: equal bytes every time" cmp one two
script -qec "prof -export pprof app.usertime.1" /dev/null < /dev/null > shown 2>&1
like "pprof: not to a terminal" "$(cat shown)" 'cannot be written to a terminal'

# callgrind_annotate
export_to callgrind app.usertime.1 app.ideal.3
like "callgrind: of several files it says which metric is whose" "$(cat out.callgrind)" 'gi.*exact \(model, model\), of app.ideal.3$'
mkdir elsewhere
(cd elsewhere && callgrind_annotate --threshold=100 --auto=no --show-percs=no ../out.callgrind) > annotated 2>annotated.err
prof -json app.usertime.1 app.ideal.3 > rows.json 2>/dev/null
want=$(python3 -c "
import json
r = json.load(open('rows.json'))
cells = dict(zip(r['columns'], r['total']['counts']))
print(round(cells['time']['value'] * 1e9), round(cells['dsc']['value']), round(cells['gi']['value']))")
is "callgrind_annotate: totals" "$(awk '/PROGRAM TOTALS/ { gsub(",", ""); print $1, $2, $3 }' annotated)" "$want"
is "callgrind_annotate: functions add up to them" "$(awk '/file:function/ { on = 1 } on && /^ *[0-9.]/ && !/TOTALS/ { gsub(",", ""); a += $1; b += $2; c += $3 } END { printf "%.0f %.0f %.0f\n", a, b, c }' annotated)" "$want"
like "callgrind_annotate: labels" "$(cat annotated)" 'Metric: CPU time \(time\): 137 samples of 30000000 ns each \(measured'
unlike "callgrind_annotate: no line is malformed" "$(cat annotated.err)" malformed
(cd elsewhere && callgrind_annotate --inclusive=yes --threshold=100 --auto=no --show-percs=no ../out.callgrind) > annotated 2>/dev/null
like "callgrind_annotate: inclusive" "$(tr -d , < annotated)" '^ *3660000000 .*app.c:search'
export_to callgrind app.usertime.1
is "callgrind: calls have the caller's line" "$(callgrind_lines | grep 'search -> compare')" "search -> compare 15"
export_to callgrind -inlines app.usertime.1
like "callgrind: inlined functions are functions with -inlines" "$(cat out.callgrind)" '^c?fn=\([0-9]*\) inner$'
run prof -export callgrind -threads app.usertime.1
is "callgrind has no threads" "$status" 125

# speedscope
export_to speedscope -threads app.usertime.1 app.ideal.3
ok "speedscope: schema" /usr/bin/python3 -c "
import json, jsonschema, sys
schema = json.load(open('$top/tests/readers/speedscope.json'))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.validate(json.load(open('out.speedscope')), schema)"
is "speedscope: profiles" "$(python3 -c "
import json
for p in json.load(open('out.speedscope'))['profiles']: print(p['name'].split(': ')[0], p['endValue'], p['unit'])")" \
"app 100/100 3750000000 nanoseconds
app 100/100 11790 none
worker 100/101 360000000 nanoseconds
worker 100/101 1310 none
all threads 19000000007 none"

# what is refused, what is missing
run prof -export gprof app.usertime.1
is "an unknown format" "$status" 125
like "formats are named" "$err" 'pprof, callgrind, folded'
run prof -export folded -metric dcs app.usertime.1
like "an unknown metric" "$err" "no metric 'dcs'"
like "metrics are named" "$err" 'it has time, dsc'
for bad in "-export json -heavy" "-export json -q 5" "-export json -csv" "-metric time" "-export json -inclusive"; do
	# shellcheck disable=SC2086
	run prof $bad app.usertime.1
	is "$bad: refused" "$status" 125
done
run prof -export json -o /dev/full app.usertime.1
is "a full device" "$status" 125
# Deep paths: a sample in each call of 300
awk -v image="$work/app" -v main="$main" -v search="$search" 'BEGIN {
	print "type usertime\nimage elf " image "\nmetric time 10000000 measured clock,stacks"
	for (i = 1; i <= 300; i++) { path = path " 1:" (i % 2 ? main : search); print "sample 0 0 0 1" path }
}' | make_experiment deep || exit 1
frames() { awk '{ n = gsub(/;/, ";") + 1; if (n > most) most = n; sum += $NF; own[/main [0-9]+$/]+= $NF } END { print most, sum, own[1] }' "$1"; }
export_to folded deep
is "folded: 200 calls and the innermost function, and all samples of each" "$status $(frames out.folded)" "0 201 300 150"
like "and it is said" "$err" '99 samples are deeper than 200 calls: of their paths, the outermost 200 functions and the innermost are there \(-whole: all\)$'
export_to folded -whole deep
is "-whole: all" "$status $(frames out.folded)" "0 300 300 150"
unlike "of which nothing is said" "$err" 'deeper'
for format in speedscope pprof; do
	export_to $format deep
	like "$format: likewise" "$status $err" '^0 .*99 samples are deeper than 200 calls'
done
is "speedscope: as many frames" "$(jq '[.profiles[0].samples[] | length] | max' out.speedscope)" 201
export_to json deep
unlike "json has all" "$err" 'deeper'
deep_rows() { prof -calltree -q 1000 "$@" deep > tree 2>&1; grep -c '(app: app.c, [0-9]*)$' tree; }
is "-calltree: 200 rows" "$(deep_rows)" 200
like "and says what is left out" "$(cat tree)" '^What is deeper than 200 calls is left out, at 1 branch \(-whole\)$'
is "-calltree -whole" "$(deep_rows -whole)" 300
is "-calltree -json has all" "$(prof -calltree -json -q 1000 deep | jq '.rows | map(select(.procedure)) | length')" 300
head -c 200 app.usertime.1 > cut.usertime.1
run prof -export json cut.usertime.1
is "a damaged file ends with 1" "$status" 1
mv app gone
run prof -export callgrind -o out.callgrind app.usertime.1
is "a missing image ends with 1" "$status" 1
like "and is named" "$err" 'app'
is "its samples are there all the same" "$(reader callgrind out.callgrind | grep 'time total')" "time total 4110000000"
# ---- nothing to export ----
run prof -export folded -only nosuch app.usertime.1
like "-only that matches nothing: as reports say it" "$status $out $err" "^1  prof: -only: no function or image matches 'nosuch'"
done_testing
