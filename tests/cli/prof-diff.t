# SPDX-License-Identifier: GPL-2.0-or-later
# prof -diff: experiments made by hand (tests/tools/experiment) of two builds of a program, then a real fix on the
# model.
. "$TOP/tests/lib.sh"

cat > old.c <<'END'
int total;

static int search(int a)
{
	a += 1;
	a *= 3;
	return a;
}

static int gone(int a)
{
	return a + 5;
}

int main(int argc, char **argv)
{
	total += search(argc) + gone(argc);
	return argv == 0;
}
END
# Everything moves down, one function goes, another comes.
{ echo '/* a */'; echo '/* new */'; echo '/* head */'; sed 's/gone/come/' old.c; } > new.c
mkdir old new
cp old.c old/app.c && cp new.c new/app.c
(cd old && ${CC:-gcc} -g -O0 -o app app.c) || exit 1
(cd new && ${CC:-gcc} -g -O0 -o app-2 app.c) || exit 1
address() { echo "0x$(nm "$1" | awk -v n="$2" '$3 == n { print $1 }' | sed 's/^0*//')"; }
# experiment FILE BUILD COMMAND SEARCH OTHER MAIN: counts of the three, at 1 ms.
sampled() {
	other=gone
	[ "$2" = new/app-2 ] && other=come
	make_experiment "$1" <<END || exit 1
type pcsamp
fact command ./$3 7
fact host here
fact cpu a processor
image elf $work/$2
metric time ${PERIOD:-1000000} measured clock
process 100 -1 app
thread 1 100 app
elapsed 2000000000
sample 0 1 0 $4 1:$(address "$2" search)
sample 0 1 0 $5 1:$(address "$2" $other)
sample 0 1 0 $6 1:$(address "$2" main)
END
}
shown() { # name prof-options...
	name=$1; shift
	run prof "$@"
	printf '%s\n' "$out" | sed "s|$work|WORK|g" > "$name.shown"
	golden "prof/$name" "$name.shown"
}
sampled before old/app app 800 150 200
sampled after new/app-2 app-2 500 80 204
shown diff -diff before after
is "-diff ends with 0" "$status" 0
shown diff-heavy -diff -heavy before after
shown diff-share -diff -share before after
shown diff-csv -diff -csv before after
run prof -diff -dso before after
like "-dso: the two names of the program are one image" "$out" '1\.150 +0\.784 +-0\.366 .* app-2$'
run prof -diff before before
like "a file does not differ from itself" "$out" '^No function changed by more than chance$'
like "what did not change is said in one line" "$out" '^3 functions, each change within chance: together 1\.150 before, 1\.150 after'
PERIOD=500000 sampled finer new/app-2 app-2 1600 300 400
run prof -diff -only search -only main before finer
like "seconds count, not samples" "$out" '^No function changed'
run prof -diff -q 1 before after
like "-q leaves out, and says so" "$out" '^2 more rows are changed and left out \(-q\)'
run prof -diff -only search before after
unlike "-only" "$out" 'gone|come'

run prof -diff -json before after
printf '%s\n' "$out" > diff.json
ok "JSON: columns, labels, intervals" python3 - diff.json <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "prof.rows/1" and d["report"] == "diff"
assert d["columns"] == ["time.before", "time.after", "time.change", "time.p"], d["columns"]
assert [r["procedure"] for r in d["rows"]] == ["search", "gone", "come"]
assert [r.get("note") for r in d["rows"]] == [None, "vanished", "appeared"]
for r in d["rows"] + [d["total"]]:
    before, after, change, p = r["counts"]
    assert abs(after["value"] - before["value"] - change["value"]) < 1e-9
    assert change["low"] < change["value"] < change["high"] and 0 <= p["value"] < 0.05
    assert before["label"] == "measured" and change["label"] == "estimated"
    assert change["high"] < 0 or change["low"] > 0
END

# Several runs: the same difference of means, without scatter and with.
mkdir calm-a calm-b wild-a wild-b
i=0
for n in 500 505 495; do
	i=$((i + 1))
	sampled calm-a/$i old/app app $n 100 200
	sampled calm-b/$i new/app-2 app-2 $((n + 100)) 100 200
done
i=0
for n in 300 500 700; do
	i=$((i + 1))
	sampled wild-a/$i old/app app $n 100 200
	sampled wild-b/$i new/app-2 app-2 $((n + 100)) 100 200
done
run prof -diff calm-a calm-b
like "a change beyond what runs differ by" "$out" ' 0\.500 +0\.600 +\+0\.100 .* search '
like "directories are runs" "$out" '^Before +calm-a, 3 runs$'
run prof -diff -only search -only main wild-a wild-b
like "the same among runs that differ more" "$out" '^No function changed'
like "which is said" "$out" ', scatter [1-9][0-9.]*% \(estimated\)$'

# Ranks of one launch are one run, whose time is the sum of theirs.
mkdir ranks-a ranks-b
for launch in 1 2 3; do
	for rank in 0 1 2 3; do
		for side in a b; do
			make_experiment ranks-$side/$launch.r$rank <<END
type pcsamp
image elf $work/old/app
metric time 1000000 measured clock
began $((1000000000 * launch + 1000 * rank))
elapsed 500000000
process $((100 + rank)) $rank app
thread 1 $((100 + rank)) app
sample 0 1 0 $((100 * (1 + rank) + launch)) 1:$(address old/app search)
END
		done
	done
done
run prof -diff ranks-a ranks-b
like "ranks are added up, launches are runs" "$out" '^Before +ranks-a, 3 runs$'
like "whose times are sums" "$out" '^ +1\.008 +1\.008 '

# What cannot be compared says why.
run prof -diff before; is "one file" "$status" 125
like "is too few" "$err" 'two files or directories, not 1'
run prof -diff before after before; like "three are too many" "$err" 'not 3'
run prof -diff -calltree before after; like "a tree has no changes to show" "$err" '-calltree'
run prof -share before; like "-share alone" "$err" '-share needs -diff'
run prof -diff -threads before after; is "threads do not match" "$status" 125
run prof -diff -merge -o x before after; is "-merge is another thing" "$status" 125
{ echo "type dsc_hwc"; echo "image elf $work/old/app"; echo "metric dsc 131 model - 26"; echo "sample 0 0 0 5 1:$(address old/app main)"; } | make_experiment misses
run prof -diff before misses; like "two metrics" "$err" 'no metric in common'
run prof -diff before nothing-there; is "a file that is not there" "$status" 125
mv old/app old/app.away
run prof -diff before after
is "names that cannot be found any more" "$status" 1
like "are missed" "$out" 'old/app .*-archive'
like "and what helps is said" "$out" 'record with ssrun -archive'
mv old/app.away old/app

# One build inlines what the other calls, and everything is elsewhere in the source.
cat > inside.c <<'END'
static int twice(int a)
{
	a ^= a >> 3;
	a *= 7;
	return a;
}

int main(int argc, char **argv)
{
	return twice(argc) + (argv == 0);
}
END
mkdir flat apart
sed 's/^static int/static inline __attribute__((always_inline)) int/' inside.c > flat/part.c
{ echo; echo '/* moved */'; echo; cat inside.c; } > apart/part.c
(cd flat && ${CC:-gcc} -g -O0 -o part part.c) || exit 1
(cd apart && ${CC:-gcc} -g -O0 -o part part.c) || exit 1
# line_at BUILD LINE: an address of code of that line
line_at() {
	for _a in $(objdump -d --no-show-raw-insn "$1/part" | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p'); do
		case $(addr2line -e "$1/part" "0x$_a") in */part.c:"$2" | */part.c:"$2 "*) echo "0x$_a"; return ;; esac
	done
}
inlined() { # FILE BUILD LINE COUNT
	make_experiment "$1" <<END || exit 1
type pcsamp
fact command ./part
image elf $work/$2/part
metric time 1000000 measured clock
sample 0 0 0 $4 1:$(line_at "$2" "$3")
END
}
inlined before.in flat 4 500
inlined after.in apart 7 200
run prof -diff before.in after.in
like "a function that one build inlines" "$out" ' twice \[appeared\]'
like "is said to be inlined in the other" "$out" '^twice is inlined in one build: -inlines compares '
run prof -diff -inlines before.in after.in
like "as it was written" "$out" '^ +0\.500 +0\.200 +-0\.300 .*%  twice \(part: part.c, [45]\)'
unlike "it is there in both" "$out" 'appeared|vanished|is inlined in one'
run prof -diff -heavy before.in after.in
like "and so are its lines" "$out" '^ +0\.500 +0\.200 +-0\.300 .*%  twice \(part: part.c, 7\)'
unlike "by their distance from its beginning" "$out" 'appeared|vanished'
cp after.in before.in.versus
run prof -diff before.in
is "one file whose other side is beside it" "$status" 125
like "is told to take both" "$err" 'prof -diff before.in before.in.versus'

# A real fix, before and after: the model counts the same every time.
if perfex -source model -e 17 true >/dev/null 2>&1; then
	for fix in '' -fixed; do
		ssrun -q -machine r10000 -source model -e br:61 -o "run$fix" "$build/examples/convolve" $fix 60 2 > /dev/null
	done
	run prof -diff run run-fixed
	like "the fix: the loops that mispredict are gone" "$out" ' [0-9]+ +0 +-[0-9]+ .* -100\.0%  convolve \[vanished\]'
	like "and so are most mispredictions" "$out" '^ +[0-9]+ +[0-9]+ +-[0-9]+ .* -[89][0-9]\.[0-9]%  TOTAL'
	printf '%s\n' "$out" > first
	run prof -diff run run-fixed
	is "and the answer is the same each time" "$out" "$(cat first)"
	for fix in '' -fixed; do
		ssrun -q -source model -ideal -o "ideal$fix" "$build/examples/convolve" $fix 60 2 > /dev/null
	done
	run prof -diff -json ideal ideal-fixed
	printf '%s\n' "$out" > ideal.json
	ok "exact counts compare exactly" python3 - ideal.json <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert {"convolve", "convolve_3x3"} <= {r["procedure"] for r in d["rows"]}
for r in d["rows"]:
    change = r["counts"][2]
    assert change["low"] == change["value"] == change["high"] != 0 and change["label"] == "model"
END
	run prof -diff ideal ideal
	like "and equal ones do not differ" "$out" '^No function changed'
else
	skip "a real fix" "there is no model here"
fi
done_testing
