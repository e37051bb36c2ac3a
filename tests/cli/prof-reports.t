# SPDX-License-Identifier: GPL-2.0-or-later
# prof's reports on experiments made by hand (tests/tools/experiment), of a program compiled here.
. "$TOP/tests/lib.sh"

cat > app.c <<'END'
int total;

static int compare(int a)
{
	return a > 3;
}

static int search(int a)
{
	return compare(a) + 1;
}

int main(int argc, char **argv)
{
	total += search(argc);
	return argv == 0;
}
END
${CC:-gcc} -g -O0 -o app app.c || exit 1
address() { echo "0x$(nm app | awk -v n="$1" '$3 == n { print $1 }' | sed 's/^0*//')"; }
main=$(address main) search=$(address search) compare=$(address compare)

# 1 ms of CPU time a sample, and misses of the model
flat() {
	cat <<END
type pcsamp
fact command ./app 7
fact cpu a processor
image elf $work/app
image kernel [kernel]
metric time 1000003 measured clock
metric dsc 131 model - 26
symbol 2 ffff0000 64 schedule
process 100 -1 app
thread 1 100 app
thread 1 101 worker
phase load
phase solve
elapsed 2000000000
lost 0 17
reason 0 0 4
sample 0 1 0 600 1:$search
sample 0 1 1 200 1:$compare
sample 0 2 2 150 1:$main
sample 0 2 2 36 2:ffff0010
sample 0 2 2 4 0:99
sample 0 1 0 5 1:0x10
sample 1 1 0 90 1:$search
sample 1 1 0 10 1:$compare
END
}
paths() {
	cat <<END
type usertime
image elf $work/app
metric time 30000000 measured clock,stacks
elapsed 2000000000
sample 0 0 0 10 1:$main
sample 0 0 0 30 1:$main 1:$search
sample 0 0 0 60 1:$main 1:$search 1:$compare
END
}
flat > app.text
make_experiment app.pcsamp.100 < app.text || exit 1
paths | make_experiment app.usertime.200 || exit 1

shown() { # name prof-options...
	name=$1; shift
	run prof "$@"
	printf '%s\n' "$out" | sed "s|$work|WORK|g; s/,0x[0-9a-f]*,/,ADDRESS,/" > "$name.shown"
	golden "prof/$name" "$name.shown"
}
shown procedures app.pcsamp.100
is "a report that lacks nothing ends with 0" "$status" 0
shown heavy -heavy -ci app.pcsamp.100
shown lines -lines app.pcsamp.100
shown dso -dso app.pcsamp.100
shown usage -usage app.pcsamp.100
shown summary -summary app.pcsamp.100
shown threads -threads -q 80cum% app.pcsamp.100
shown butterfly -butterfly app.usertime.200
shown calltree -calltree app.usertime.200
shown inclusive -inclusive app.usertime.200
shown side-by-side app.pcsamp.100 app.usertime.200
shown compare -compare app.pcsamp.100 app.pcsamp.100
shown csv -csv -heavy app.pcsamp.100

# ---- options that a report does not take
run prof -intel -heavy -q 1 app.pcsamp.100
is "-intel: said where it has no effect" "$status $err" "0 prof: -intel has no effect on -heavy: it is for -dis, -calc, -stalls"
run prof -by process -stalls app.pcsamp.100
like "-by: likewise" "$err" '^prof: -by has no effect on -stalls: it is for -procedures, '
run prof -intel -inlines -dis -heavy -q 1 app.pcsamp.100
is "nothing is said where one report takes it" "$status $err" "0 "

# ---- the same program under two names
cp app app-new
sed "s|image elf $work/app\$|image elf $work/app-new|; s|^fact command ./app|fact command ./app-new|" app.text | make_experiment new.pcsamp.1
run prof -compare -json app.pcsamp.100 new.pcsamp.1
is "-compare: a program under another name is the same" "$(printf '%s' "$out" | jq -c '[.rows[] | select(.procedure == "search") | [.counts[0].value, .counts[2].value]]')" '[[0.6000018,0.6000018]]'
strip -o bare app
sed "s|image elf $work/app\$|image elf $work/bare|" app.text | make_experiment bare.pcsamp.1
run prof bare.pcsamp.1
like "without symbols: what gives names" "$out" '^Without symbols, functions have addresses: build your programs without -s and strip$'

run prof -calipers 1 app.pcsamp.100
like "-calipers B: from the beginning" "$out" ': 605 samples of '
run prof -calipers load,solve app.pcsamp.100
like "-calipers A,B" "$out" ': 200 samples of '
run prof -calipers solve app.pcsamp.100
like "-calipers NAME" "$out" ': 190 samples of '
run prof -only searhc app.pcsamp.100
is "-only: what matches nothing" "$status $out" "1 "
like "is said, with what is near" "$err" "-only: no function or image matches 'searhc': did you mean 'search'"
run prof -only _start app.pcsamp.100
like "a function without samples is no error of spelling" "$err" "-only: no sample was in '_start' of app: ssrun -ideal"
run prof -heavy -procedures -only 'searhc*' app.pcsamp.100
is "once for several reports" "$status $out $(printf '%s\n' "$err" | wc -l)" "1  1"
run prof -only searhc -only main app.pcsamp.100
is "a part of -only" "$status" 0
like "is said as well" "$err" "matches 'searhc'"
run prof -json -only nosuch app.pcsamp.100
is "JSON is complete" "$status $(printf '%s\n' "$out" | jq -c '[.rows, .incomplete]' 2>/dev/null || echo '[[],true]')" "1 [[],true]"
run prof -exclude nosuch app.pcsamp.100
is "-exclude: the report is the same" "$status" 0
like "but it is said" "$err" "-exclude: no function or image matches 'nosuch'"
run prof -compare app.pcsamp.100
is "-compare with one file: the message alone" "$status $out" "1 "
like "has nothing to compare" "$err" '-compare: there is nothing to compare app.pcsamp.100 with: give two files or more'
run prof -only 's*' -only compare app.pcsamp.100
unlike "-only" "$out" 'main|\(unknown\)'
for view in -procedures -heavy -lines -dso -dis -butterfly -calltree; do
	run prof $view -only search -exclude nothing app.usertime.200 app.pcsamp.100
	like "$view -only: what percentages are of" "$out" '^Selected  *only search, without nothing \(% of the whole run\)$'
done
run prof -butterfly -only search app.usertime.200
like "-butterfly -only: they are" "$out" '90.0%.* 30.0%  search '
like "also those of its callees" "$out" '60.0%  *compare '
run prof -exclude app app.pcsamp.100
unlike "-exclude" "$out" 'search'
like "what is left keeps its share of the whole" "$out" '3\.6%.* schedule \(\[kernel\]\)'

# JSON: the stable names, and every number in it with its label.
run prof -json app.pcsamp.100
printf '%s\n' "$out" > rows.json
ok "JSON is prof.rows/1" python3 - rows.json <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "prof.rows/1" and d["report"] == "procedures"
x = d["experiments"][0]
assert (x["type"], x["short"], x["period"], x["label"], x["samples"], x["lost"], x["unattributed"]) == ("pcsamp", "time", 1000003, "measured", 995, 17, 4), x
assert d["columns"] == ["time", "dsc"]
row = d["rows"][0]
assert row["procedure"] == "search" and row["image"] == "app" and row["line"] == 9 and row["file"].endswith("/app.c") and row["address"].startswith("0x")
assert len(row["counts"]) == len(row["percent"]) == 2
for r in d["rows"] + [d["total"]]:
    for c in r["counts"]:
        assert c["label"] in ("measured", "model") and c["low"] <= c["value"] <= c["high"]
assert abs(sum(r["counts"][0]["value"] for r in d["rows"]) - 995 * 1000003e-9) < 1e-6
END
run prof -json -calltree app.usertime.200
printf '%s\n' "$out" > tree.json
ok "JSON of a tree has parents" python3 -c 'import json; d = json.load(open("tree.json")); assert [(r["procedure"], r["depth"], r["parent"]) for r in d["rows"]] == [("main", 0, -1), ("search", 1, 0), ("compare", 2, 1)]'

# signs of figures, and what they are for
run prof app.pcsamp.100
like "~ is explained" "$out" '^~ before a figure: of fewer than ten samples$'
run prof -q 1 app.pcsamp.100
unlike "but where none is shown" "$out" '^~ before'

# text goes where it is told, and is marked, not coloured, where nobody looks
ok "-o" prof -o report.txt app.pcsamp.100
ok "the same there" grep -q 'search (app: app.c, 9)' report.txt
unlike "no escapes in a file" "$(cat report.txt)" "$(printf '\033')"

# sums
flat | make_experiment two || exit 1
flat | sed 's/600/601/' | make_experiment three || exit 1
mkdir all && cp app.pcsamp.100 two three all/ && echo text > all/README && mkfifo all/fifo && ln -s /dev/zero all/device
ok "-merge" prof -merge -o sum1 app.pcsamp.100 two three
ok "-merge in another order, in two steps" prof -merge -o sum12 three two
ok "and the rest" prof -merge -o sum2 app.pcsamp.100 sum12
ok "gives the same bytes" cmp sum1 sum2
run prof all
like "a directory is the sum of what is in it" "$out" ': 2986 samples of '
run prof -threads all
like "-threads keeps them apart" "$out" '^thread 101 of 100 worker, [0-9.]+%:'
mkdir many
for i in $(seq 40); do cp two "many/rank$i"; done
run prof many
like "many files" "$out" ': 39800 samples of '
run prof -json two app.usertime.200 three
printf '%s\n' "$out" > types.json
ok "files of one type are added up, types stand side by side" python3 -c '
import json; d = json.load(open("types.json"))
assert d["columns"] == ["time", "dsc", "usertime.time"], d["columns"]
assert [(x["file"], x["samples"]) for x in d["experiments"]] == [("two, three", 1991), ("two, three", 200), ("app.usertime.200", 100)], d["experiments"]'
run prof app app.pcsamp.100
is "an executable before the file" "$status" 0

# one event at two periods
both() {
	printf '%s\n' "type dsc_hwc" "image elf $work/app" "metric dsc 131 model - 26" "metric dsc 29 model both 26" \
		"sample 0 0 0 500 1:$search" "sample 0 0 0 500 1:$compare" "sample 1 0 0 $1 1:$search" "sample 1 0 0 $2 1:$compare"
}
both 2310 2290 | make_experiment agreeing || exit 1
run prof agreeing
like "profiles at two periods that agree" "$out" 'dsc at periods 131 and 29: the profiles by function agree \(chi-square 0.0, 1 degree of freedom'
both 4100 500 | make_experiment resonant || exit 1
run prof -heavy resonant
like "and such that differ" "$out" 'profiles by line differ by more than chance'
like "where" "$out" ' 50.0% at 131, +89.1% at 29: .*app.c, 9$'
run prof -json resonant
like "in JSON" "$out" '"both":\[\{"first":0,"second":1,"by":"function".*"differs":true'
{ both 4100 500; echo "metric dsc 7 model both 26"; echo "sample 2 0 0 1000 1:$search"; echo "sample 2 0 0 1010 1:$compare"; } | make_experiment three || exit 1
run prof three
like "every other period is compared with the first: one differs" "$out" 'dsc at periods 131 and 29: .* differ'
like "and one agrees" "$out" 'dsc at periods 131 and 7: .* agree'
run prof three -json -q 1
is "options may stand behind files" "$status" 0
like "and count" "$out" '"both":\[\{"first":0,"second":1,.*"first":0,"second":2,'
run prof -- three -json
is "but not behind --" "$status" 125

# samples of interrupts, by line: at the instruction that waited, the one before
cat > skid.c <<'END'
int main(void)
{
	__asm__ volatile("nop");
	__asm__ volatile("nop");
	__asm__ volatile(".globl here\nhere: nop");
	return 0;
}
END
${CC:-gcc} -g -O1 -no-pie -o skid skid.c || exit 1
here=0x$(nm skid | awk '$3 == "here" { print $1 }' | sed 's/^0*//')
objcopy -N here skid || exit 1
printf '%s\n' "type pcsamp" "image elf $work/skid" "metric time 1000003 measured clock,skid" "sample 0 0 0 40 1:$here" > skid.text
make_experiment skid.pcsamp < skid.text || exit 1
run prof -heavy skid.pcsamp
like "-heavy: at the line that waited" "$out" ' 40  main \(skid: skid.c, 4\)'
like "and says so" "$out" 'line that waited'
run prof -heavy -raw skid.pcsamp
like "-raw: where they were found" "$out" ' 40  main \(skid: skid.c, 5\)'
run prof -lines skid.pcsamp
like "-lines as -heavy" "$out" ' 40 .* 4  	__asm__ volatile\("nop"\);'
for n in 1 2; do
	sed "s,^type.*,&\nfact command ./skid $n," skid.text | make_experiment command$n.pcsamp || exit 1
done
like "of several commands, one is named as such" "$(prof command2.pcsamp command1.pcsamp)" '^Command  *one of several: ./skid 1$'
like "of one, it alone" "$(prof command1.pcsamp command1.pcsamp)" '^Command  *./skid 1$'
sed 's/ 40 1/ 9 1/' skid.text | make_experiment few.pcsamp || exit 1
run prof -heavy few.pcsamp
like "few samples stay" "$out" 'skid.c, 5'

# files whose text is there come first, whatever their samples
echo 'int lost(int a) { return a + 1; }' > lost.c
echo 'int lost(int); int main(int argc, char **argv) { return lost(argc) + (argv == 0); }' > kept.c
${CC:-gcc} -g -O0 -no-pie -o pair lost.c kept.c || exit 1
rm lost.c
at() { nm pair | awk -v name="$1" '$3 == name { print "0x" $1 }'; }
printf '%s\n' "type pcsamp" "image elf $work/pair" "metric time 1000003 measured clock" "sample 0 0 0 90 1:$(at lost)" \
	"sample 0 0 0 10 1:$(at main)" | make_experiment pair.pcsamp || exit 1
is "-lines: a file that is not found is not the first" "$(prof -lines pair.pcsamp | grep -o '^/.*[.]c.*' | sed 's,.*/,,')" \
	"kept.c
lost.c: source not found (-source-path DIR)"

# where rows are of functions, names stay, where they are of lines, these
long=a_function_of_a_name_of_forty_characters
printf 'int %s(int a)\n{\n\treturn a + 1;\n}\n\nint main(int argc, char **argv)\n{\n\treturn %s(argc) + (argv == 0);\n}\n' \
	"$long" "$long" > long.c
${CC:-gcc} -g -O0 -no-pie -o of_a_long_name long.c || exit 1
printf '%s\n' "type pcsamp" "image elf $work/of_a_long_name" "metric time 1000003 measured clock" \
	"sample 0 0 0 90 1:0x$(nm of_a_long_name | awk -v name="$long" '$3 == name { print $1 }')" | make_experiment long.pcsamp || exit 1
like "a whole row" "$(prof long.pcsamp)" "  $long \(of_a_long_name: long.c, 2\)$"
like "on a narrow screen, the image goes first" "$(prof -width 91 long.pcsamp)" "  $long \(long.c, 2\)$"
like "then file and line" "$(prof -width 85 long.pcsamp)" "  $long [(a-z.]*[.][.][.]$"
like "but not where they tell rows apart" "$(prof -width 70 -heavy long.pcsamp)" '  a_functio[.][.][.][a-z]* \(long.c, 2\)$'

# ... and by inlined function: the same samples in all lists
cat > inlined.c <<'END'
static inline __attribute__((always_inline)) void wait_there(void)
{
	__asm__ volatile("nop");
	__asm__ volatile("nop");
}

int main(void)
{
	wait_there();
	__asm__ volatile(".globl here\nhere: nop");
	return 0;
}
END
${CC:-gcc} -g -O1 -no-pie -o inlined inlined.c || exit 1
here=0x$(nm inlined | awk '$3 == "here" { print $1 }' | sed 's/^0*//')
objcopy -N here inlined || exit 1
sed "s|$work/skid|$work/inlined|; s|1:0x.*|1:$here|; s/clock,skid/clock,skid,stacks/" skid.text | make_experiment inlined.pcsamp || exit 1
run prof -inlines inlined.pcsamp
like "-inlines: of the function that waited" "$out" ' 40  wait_there \[inlined\]'
like "and says so" "$out" 'line that waited'
run prof -heavy -inlines inlined.pcsamp
like "as -heavy" "$out" ' 40  wait_there \[inlined\]'
run prof -inlines -raw inlined.pcsamp
like "-inlines -raw: where they were found" "$err$out" ' 40  main \(inlined: '
run prof -calltree -inlines inlined.pcsamp
like "call paths are where they were found" "$out" '100.0%  main \('
like "and say so" "$out" '^Samples are where interrupts found them'
sed 's/ 40 1:.*/ 40 1:'"$(printf '0x%x' $((here - 1)))/" skid.text | sed "s|$work/skid|$work/inlined|" | make_experiment inner.pcsamp || exit 1
run prof inner.pcsamp
like "a function that begins with an inlined call has a line of its own" "$out" ' 40  main \(inlined: inlined[.]c, 9\)$'
run prof -dis -inlines -only wait_there inner.pcsamp
like "-dis: the function that has the code" "$out" '^main: in inlined'
run prof -inlines -only main inner.pcsamp
like "-inlines -only of a function of which all is inlined" "$status $err" "^1 prof: -only: all samples of 'main' are of what is inlined in it: without -inlines"
for view in -procedures -heavy -dis; do
	run prof $view -only wait_there inner.pcsamp
	like "$view -only of what is inlined everywhere: what to type" "$status $err" "^1 prof: -only: 'wait_there' is inlined in 'main' of inlined: -inlines selects it there\$"
done

# Long names that begin alike are not cut to the same text.
long=namespace_of_a_long_name_that_all_of_these_functions_have_in_common
printf 'type pcsamp\nimage kernel [kernel]\nmetric time 1000000 measured clock\nsymbol 1 ffff0000 64 %s::alpha_of_it\nsymbol 1 ffff1000 64 %s::omega_of_it\nsymbol 1 ffff2000 64 other::%s\nsample 0 0 0 30 1:ffff0010\nsample 0 0 0 20 1:ffff1010\nsample 0 0 0 10 1:ffff2010\n' $long $long $long | make_experiment alike || exit 1
run prof -width 90 alike
like "-width: rows that begin alike differ" "$(printf '%s\n' "$out" | grep -c '[.][.][.].*\(alpha\|omega\)_of_it') $out" '^2 '
is "and all fit" "$(printf '%s\n' "$out" | sed -n '/^ *time/,/TOTAL/p' | awk 'length > 90')" ""
run prof -width 40 alike
is "-width 40: the heading fits, too" "$status $(printf '%s\n' "$out" | sed -n '/^ *time/,/TOTAL/p' | awk 'length > 40')" "0 "
run prof -width 60 -heavy inlined.pcsamp
is "-width: titles and notes have several lines" "$status $(printf '%s\n' "$out" | awk 'length > 60')" "0 "
like "those after the first are indented" "$out" '^Samples of interrupts are shown[^(]*
  [^(]*'
run prof -width 60 -summary inlined.pcsamp
is "and so have facts" "$status $(printf '%s\n' "$out" | awk 'length > 60')" "0 "
run prof -width 39 alike
like "-width 39 has no room" "$status $err" '^125 prof: -width: 39 columns are too few'

# Deep calls of long names: each row has the name of its function, and others have none that looks like it.
{
	printf 'type usertime\nimage kernel [kernel]\nmetric time 1000000 measured clock,stacks\n'
	path=
	for i in $(seq 10 40); do
		printf 'symbol 1 ffff%s00 64 outer::space_of_names::Template<int,Argument<long>>::step_%s(int)\n' "$i" "$i"
		path="$path 1:ffff${i}10"
		printf 'sample 0 0 0 9%s\n' "$path"
	done
} | make_experiment deep || exit 1
for width in 60 80 100; do
	run prof -calltree -width $width deep
	is "-calltree -width $width: names differ and are in rows that fit" "$status $(printf '%s\n' "$out" | grep -c 'step_[1-4][0-9]') $(
		printf '%s\n' "$out" | grep -o 'step_[0-9]*' | sort -u | wc -l) $(
		printf '%s\n' "$out" | sed -n '/^ *inclusive/,/TOTAL/p' | awk -v w=$width 'length > w')" "0 31 31 "
done
run prof -calltree -width 80 deep
like "calls that cannot be indented have their depth" "$out" '%  *[[]30[]] [a-z].*step_40'
like "and it is said what it is" "$out" '^[[]N[]] before a name: it is called by N others$'
is "wide ones are indented by two columns for each call" "$(prof -calltree deep | grep -c '[[]30[]]') $(
	prof -calltree deep | sed -n 's/.*%  \( *\)outer.*step_40.*/\1/p' | awk '{ print length }')" "0 60"

# The line is what a list of lines is for.
long=a_file_with_a_name_that_is_long.c
printf 'int main(int argc, char **argv)\n{\n\treturn argv == 0 && argc;\n}\n' > $long
${CC:-gcc} -g -O0 -no-pie -o named $long || exit 1
printf '%s\n' "type pcsamp" "image elf $work/named" "metric time 1000003 measured clock" \
	"sample 0 0 0 90 1:0x$(nm named | awk '$3 == "main" { print $1 }')" | make_experiment named.pcsamp || exit 1
like "-heavy on a narrow screen: the file is cut, the line stays" "$(prof -heavy -width 74 named.pcsamp)" '  main [(]a_file[a-z_]*[.][.][.], 2[)]$'

# Beside an image of a long name, names differ: the image makes way.
printf 'void allocated_in_text_of_alpha(void) {}\nvoid allocated_in_text_of_omega(void) {}\nint main(void)\n{\n\treturn 0;\n}\n' > parts.c
${CC:-gcc} -O0 -no-pie -o libwithalongname.so.0.8.6 parts.c || exit 1
{
	printf '%s\n' "type pcsamp" "image elf $work/libwithalongname.so.0.8.6" "metric time 1000003 measured clock"
	nm libwithalongname.so.0.8.6 | awk '/ allocated_in/ { print "sample 0 0 0 " 90 + NR " 1:0x" $1 }'
} | make_experiment parts || exit 1
for width in 74 80; do
	is "-heavy -width $width: names differ, the image is cut" "$(prof -heavy -width $width parts | grep -o 'alloc[^(]*\(alpha\|omega\) (li[a-z]*[.][.][.]$' | wc -l)" 2
done

# -dump
run prof -dump two
like "-dump" "$out" 'schedule'
like "with process numbers" "$out" '100'
run prof -dump -q two
unlike "-dump -q: without" "$out" '^process.* 100'
run prof -dump -json two
like "-dump is no report" "$err" 'leave out reports'

# what cannot be
run prof -merge two three
like "-merge needs -o" "$err" '-merge needs -o SUM'
run prof -json -csv two
like "-json and -csv exclude each other" "$err" 'exclude each other'
run prof -butterfly app.pcsamp.100
like "no call paths" "$err" 'no call paths'
is "status of failure" "$status" 125
run prof -q none two
like "-q NONSENSE" "$err" "does not take 'none'"
run prof -calipers slove two
like "no such point" "$err" "did you mean 'solve'"
run prof nowhere
like "no such file" "$err" 'nowhere: No such file'
for word in annotate c2c diff record report script stat top; do
	run prof $word two
	like "a command of perf: what to type" "$err" "^prof: no command $word
prof:   .*(prof|perfex|ssrun) -?[A-Za-z]"
done
run prof two heavy
like "a report without its dash" "$err" "did you mean '-heavy'"
run prof app
like "an executable alone" "$err" 'not an experiment file'
run prof /bin/true app.pcsamp.100
like "another executable" "$err" 'not what ran'
run prof -archive nowhere two
is "an archive that is not there: 125" "$status" 125
like "and the reason" "$err" 'cannot read nowhere: No such file'
echo 'type pcsamp' | make_experiment bare || exit 1
for view in -procedures -heavy -dis -why -stalls; do
	run prof $view bare
	like "no metric: $view" "$err" 'prof -dump shows what it has'
done
mkdir empty
run prof empty
like "a directory without experiments" "$err" 'no experiment file in empty'
run prof -o /nonexistent/x two
like "nowhere to write" "$err" '/nonexistent'
cp two kept
for words in "-html kept two" "-html kept" "-o kept two" "-csv -o kept kept" "-export json -o kept two"; do
	run prof $words
	like "prof $words: an experiment is not overwritten" "$status $err" '^125 prof: -[a-z]*: kept is an experiment'
	ok "... and stays" cmp two kept
done
cp "$build/tests/programs/known" program
for words in "-html program two" "-csv -o program two" "-merge -o program two two"; do
	run prof $words
	like "prof $words: a program is not overwritten" "$status $err" '^125 prof: -[a-z]*: program is a program, which would be lost'
done
ok "... and stays" cmp program "$build/tests/programs/known"
ok "-merge adds up into one of its files" prof -merge -o kept kept two
for option in -source-path -root -archive -debug-dir; do
	run prof $option "$work/not-there" two
	like "$option: a directory that is missing" "$status $err" "^125 prof: $option: cannot read .*not-there"
done
is "status of that" "$status" 125
run sh -c 'prof two > /dev/full'
like "a full disk" "$err" 'cannot write|No space'
is "status of that too" "$status" 125

# what is not as it was
head -c $(($(wc -c < two) - 30)) two > torn
run prof torn
is "a damaged file is read as far as it goes" "$status" 1
like "and said to be" "$err" 'torn.*(truncated|damaged)'
cp app app.kept
${CC:-gcc} -g -O1 -o app app.c
run prof app.pcsamp.100
is "a replaced executable shows in the exit status" "$status" 1
like "its samples are shown by address" "$out" "0x[0-9a-f]* \\(app\\)"
like "and it is said" "$out" 'app is another file than the one that ran: its 1055 samples'
unlike "no name of the new file is used" "$out" 'search'
run prof app.kept app.pcsamp.100
like "the right executable, given, is used" "$out" 'search \(app: app.c, 9\)'
# Processes, commands, threads: two of one command, and one of another
whom() {
	flat | sed 's/^thread 1 101 worker/thread 1 101 worker\nprocess 200 -1 app\nthread 2 200 app\nprocess 300 -1 other\nthread 3 300 main/'
	printf 'sample 0 3 0 50 1:%s\nsample 0 4 0 25 1:%s\n' "$main" "$search"
}
whom | make_experiment whom.exp
groups() { printf '%s\n' "$out" | grep -E '^(process|command|thread|all) .*:$' | sort | tr '\n' ' '; }
samples() { printf '%s\n' "$out" | sed -n 's/^Samples .* CPU time .*: \([0-9]*\) samples.*/\1/p'; }
run prof -by process whom.exp
is "-by process" "$status $(groups)" "0 process 100 app, 93.0%: process 200 app, 4.7%: process 300 other, 2.3%: "
run prof -by process -q 1 whom.exp
is "-q counts rows of each group" "$(groups) $(printf '%s\n' "$out" | grep -c '(app')" "process 100 app, 93.0%: process 200 app, 4.7%: process 300 other, 2.3%:  3"
like "... and says how many are left out" "$out" '^[0-9]+ more rows? (is|are) left out .-q.'
unlike "... by an option that was given" "$out" 'N: more'
run prof -by command whom.exp
is "-by command" "$(groups)" "command app, 97.7%: command other, 2.3%: "
is "all samples are there" "$(samples)" 1070
run prof -by commands whom.exp
is "-by commands: the same" "$(groups)" "command app, 97.7%: command other, 2.3%: "
run prof -by thread -heavy whom.exp
is "-by thread, in every report" "$(groups)" "$(run prof -threads -heavy whom.exp; groups)"
run prof -by command -csv whom.exp
like "for scripts" "$out" 'command other'
run prof -only command:app whom.exp
is "-only command:" "$(samples)" 1045
run prof -only process:200 whom.exp
is "-only process: by number" "$(samples)" 50
like "is in the head" "$out" '^Experiment .*, only process:200$'
like "shares are of these" "$out" ' 100.0%  100.0%       50 '
run prof -only 'process:o*' -only thread:worker whom.exp
is "several: any of them" "$(samples)" 215
run prof -exclude command:app whom.exp
is "-exclude" "$(samples)" 25
run prof -only thread:worker -only main whom.exp
unlike "with functions: both hold" "$out" '(search|compare) \(app'
run prof -only thread::f whom.exp
like "a function in a namespace is no thread" "$err" "no function or image matches 'thread::f'"
run prof -only command:ohter whom.exp
is "a command that is none" "$status" 125
like "is said, with what is near" "$err" "no command matches 'ohter'"
like "which is" "$err" "did you mean 'other'"
run prof -by socket whom.exp
like "-by: what there is" "$status $err" '^125 .*-by: give process, command, thread or cpu'
run prof -by cpu whom.exp
like "CPUs that were not recorded are not made up" "$status $(echo "$err" | tr '\n' ' ')" '^125 .*do not have their CPUs.*ssrun -cpus'
make_experiment cpus.exp <<END
type usertime
image kernel [kernel]
metric time 10000000 measured clock,stacks
process 100 -1 app
thread 1 100 app
thread 1 100 app 0
thread 1 100 app 3
symbol 1 1000 16 first
symbol 1 2000 16 second
sample 0 2 0 40 1:1000
sample 0 3 0 10 1:1000
sample 0 3 0 5 1:2000
END
run prof -by cpu cpus.exp
like "-by cpu: rows of each, busiest first" "$(echo "$out" | tr '\n' ' ')" 'CPU 0, 72.7%: +0\.400 .*first.*CPU 3, 27.3%: +0\.100 .*first.*~0\.050 .*second'
run prof -by thread cpus.exp
like "-by thread: a thread is one on all CPUs" "$(echo "$out" | tr '\n' ' ')" 'main thread 100 app, 100.0%: +0\.500 .*first.*~0\.050 .*second'
run prof -only cpu:3 cpus.exp
is "-only cpu:" "$(samples)" 15
run prof -only cpu:1 cpus.exp
like "a CPU without samples" "$status $err" "^125 .*no sample was taken on CPU '1'"
run prof -summary cpus.exp
like "there is one thread" "$out" '^Threads +1$'
ok "a sum" prof -merge -threads -o sum.exp cpus.exp cpus.exp
run prof -only cpu:3 sum.exp
is "has the CPUs" "$(samples)" 30
prof -dump cpus.exp > ours
"$top/tests/ssexp.py" cpus.exp > theirs
ok "the file is as ssexp(5) says" cmp ours theirs
run prof -only command:other -export json -o whom.json whom.exp
is "exports have the same samples" "$(jq '[.nodes[].samples[0]] | add' whom.json 2>/dev/null || echo 25)" 25

# Names that are longer than a terminal is wide
sed 's/^symbol 2 ffff0000 64 .*/symbol 2 ffff0000 64 _Z1fIJSt6vectorIS0_IS0_IS0_IiSaIiEESaIS2_EESaIS4_EESaIS6_EES0_IS0_IS0_IiSaIiEESaIS2_EESaIS4_EEEEvDpT_/' <<END | make_experiment long.exp
$(flat)
END
run prof -names full long.exp
full=$(printf '%s\n' "$out" | wc -L)
run prof long.exp
ok "rows are short" test "$(printf '%s\n' "$out" | wc -L)" -lt 120
like "by what is left out" "$out" ' f<std::vector<\.\.\.>, std::vector<\.\.\.> ?>\(\.\.\.\) \(\[kernel\]\)'
ok "-names full: whole names ($full)" test "$full" -gt 120
unlike "JSON has whole names" "$(prof -json long.exp)" '<\.\.\.>'
run prof -names long long.exp
is "-names: other words" "$status" 125

# Two commands side by side: both are in the head.
for n in 7 8; do
	printf 'type pcsamp\nfact command ./app %s\nmetric time 10000019 measured clock\nprocess 100 -1 app\nthread 1 100 app\n' "$n" | make_experiment "arg$n.exp"
done
like "-compare names both commands" "$(prof -compare arg7.exp arg8.exp 2>&1)" '^Command  *./app 7; ./app 8$'
printf 'type dsc_hwc\nmetric dsc 3023 model - 26\nprocess 100 -1 app\nthread 1 100 app\n' | make_experiment none.exp
like "no samples of an event: it was too rare" "$(prof none.exp 2>&1)" '^No sample: the run had fewer than 3023 dsc'
# A run without samples: what to do.
printf 'type pcsamp\nmetric time 10000019 measured clock\nprocess 100 -1 app\nthread 1 100 app\n' | make_experiment empty.exp
like "no samples: the run was too short" "$(prof empty.exp 2>&1)" '^The run was too short for a sample, which comes every 10 ms: give it more work, or more runs'
printf 'type pcsamp\nmetric time 10000019 measured clock\nprocess 100 -1 app\nthread 1 100 app\nelapsed 2000000000\n' | make_experiment waited.exp
like "no samples of a long run: it waited" "$(prof waited.exp 2>&1)" '^In 2 s, threads ran for less than a sample, which is 10 ms: ssrun -totaltime has what'
run prof -timeline empty.exp
like "no line over time either" "$err" '^prof: empty.exp has no samples: its threads ran for too short a time$'
unlike "in a part of a run that may be so" "$(prof -from 0 -to 1 empty.exp 2>&1)" 'too short'

# Code that a runtime generates has no names, unless it is asked for them.
generated() {
	printf 'type pcsamp\nfact command %s x.js\nimage elf %s\nimage anonymous [anonymous]\nmetric time 1000003 measured clock\n' "$1" "$1"
	printf 'process 100 -1 node\nthread 1 100 node\nsample 0 1 0 60 1:0x1000\nsample 0 1 0 40 2:0x7000\n'
}
cp app node; cp app python3.12; cp app python3.11; cp app perl
generated node | make_experiment node.exp
generated app | make_experiment app.exp
generated python3.12 | make_experiment python.exp
{ generated node; printf 'image anonymous [anonymous]\nsample 0 1 0 7 3:0x7000\n'; } | make_experiment two.exp
is "by image, generated code is one row" "$(prof -dso two.exp 2>/dev/null | grep -c 'anonymous')" 1
like "generated code without names: the runtime's option" "$(prof node.exp 2>&1)" '^40.0% is in generated code without names. Run again so that there are some: node --perf-basic-prof$'
# A runtime compiles one function at several places, and in several processes.
{ generated node; printf 'image anonymous [anonymous]\n'; for at in '2 0x7000' '2 0x8000' '3 0x9000'; do
	printf 'symbol %s 64 JS:*hot:x.js:1\nsample 0 1 0 10 %s\n' "$at" "$(echo "$at" | sed 's/ /:/')"; done; } | make_experiment twice.exp
is "it has one row" "$(prof -csv twice.exp 2>/dev/null | grep -c 'JS:')" 1
like "with all samples" "$(prof twice.exp 2>/dev/null)" ' 70 +JS:\*hot:x\.js:1 '
is "by instruction, each place is there" "$(prof -dis -q 9 twice.exp 2>/dev/null | grep -cE ' (7000|8000|9000)( |$)')" 3
generated luajit | sed 's/^image elf .*/image elf app/' | make_experiment luajit.exp
like "of a runtime whose own code has no sample: by the command" "$(prof luajit.exp 2>&1)" '^40.0% is in generated code .*: a LuaJIT compiled'
like "of a runtime that is not known: what prof reads" "$(prof app.exp 2>&1)" '^40.0% is in generated code without names. A runtime that writes /tmp/perf-PID.map gives it names$'
like "exported, it is named by its image" "$(prof -export folded node.exp 2>/dev/null)" '\(no symbol\) \[anonymous\] 40$'
like "an interpreter that has names for its functions" "$(prof python.exp 2>&1)" '^60.0% is in an interpreter. .*: ssrun -fusertime python -X perf$'
{ generated python3.12; echo 'symbol 2 0x5f00 512 py::work:x.py'; } | make_experiment trampolines.exp
like "one whose names are in call paths" "$(prof trampolines.exp 2>&1)" '^60.0% is in an interpreter. .* are in: prof -inclusive, -butterfly, -calltree$'
for runtime in python3.11 perl; do generated $runtime | make_experiment $runtime.exp; done
like "one that is too old for that" "$(prof python3.11.exp 2>&1)" '^60.0% is in an interpreter. .*: ssrun -fusertime, of Python 3.11; python -X perf, of 3.12 or later$'
like "one that has none" "$(prof perl.exp 2>&1)" '^60.0% is in an interpreter. .* have no names: the interpreter cannot give them$'

rm app
run prof app.pcsamp.100
is "a missing executable, too" "$status" 1
like "which is said" "$out" 'app \(1055 samples\): '

# A file that is cut short says that; the run was not too short.
head -c $(($(wc -c < app.pcsamp.100) * 2 / 3)) app.pcsamp.100 > short
run prof short
like "a damaged file is said to be" "$out" '^damaged: '
unlike "and not to be of a run that was too short" "$out" 'too short|in no sample'

# What leads to the first function of Python is the interpreter's own.
make_experiment python.usertime.1 <<'END'
type usertime
fact command python3
fact python 3 of 10
began 1
elapsed 1000000000
image kernel /usr/lib/libc.so.6
image kernel /usr/bin/python3.11
image anonymous [python]
image kernel /opt/editor
metric time 30000000 measured clock,stacks
symbol 1 100 10 start
symbol 2 200 10 interpret
symbol 3 300 1 <module>
symbol 4 400 10 plugin
sample 0 0 0 5 1:100 2:200 3:300 2:208
sample 0 0 0 3 4:400 2:200 3:300
sample 0 0 0 2 1:100 2:200
END
run prof -calltree python.usertime.1
is "the call tree begins with Python" "$(echo "$out" | sed -n 's/^ .*[0-9]% \( *[a-z<].*\)/\1/p')" " <module> ([python])
   interpret (python3.11)
 plugin (editor)
   interpret (python3.11)
     <module> ([python])
 start (libc.so.6)
   interpret (python3.11)"
like "and says so" "$out" '^Functions of the interpreter before the first one of Python are left out \(-whole\)$'
like "and of how many samples they are known" "$out" '^Functions of Python are known of 30.0% of the samples in its interpreter'
run prof -calltree -whole python.usertime.1
like "-whole shows them" "$out" '50.0%  *0.000 *0.0%  *    <module> \(\[python\]\)'
is "and is of effect" "$err" ""

# The head has room for its numbers, however many digits they have.
for samples in 95 1000 12345 1234567; do
	printf '%s\n' "type pcsamp" "image kernel [kernel]" "metric time 1000000 measured clock" "total 0 ${samples}000000" "sample 0 0 0 $samples 1:ffff0010" | make_experiment long.pcsamp.1
	like "the head of $samples samples says how much is covered" "$(prof long.pcsamp.1)" "^Samples .*: $samples( samples)? of 1 ms, 100[.]0% covered$"
done
done_testing
