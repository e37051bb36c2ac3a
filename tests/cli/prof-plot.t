# SPDX-License-Identifier: GPL-2.0-or-later
# prof -plot and perfex -plot: scripts to the letter, pictures that are pictures, and names that gnuplot must not obey.
. "$TOP/tests/lib.sh"
gnuplot=$(command -v gnuplot)
TMPDIR=$work
export TMPDIR

cat > app.c <<'END'
#include <stdio.h>

int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i % 7 * n; /* 100%d `id` 'quoted' "twice" \n */
	return sum;
}

int main(int argc, char **argv)
{
	printf("%d\n", work(argc));
	return !argv;
}
END
${CC:-gcc} -g -O0 -o app app.c || exit 1
address() { echo "0x$(nm app | awk -v n="$1" '$3 == n { print $1 }' | sed 's/^0*//')"; }
line() { # LINE: an address of it
	objdump -dl app | awk -v want="app.c:$1" 'index($0, want) { found = 1; next } found && /^ *[0-9a-f]+:\t/ { sub(":", "", $1); print "0x" $1; exit }'
}
sampled() { # FILE N SUM-SAMPLES LOOP-SAMPLES [command]
	make_experiment "$1" <<END || exit 1
type dsc_hwc
fact command ${5:-./app} $2
fact host here
fact model.clock 195000000
image elf $work/app
metric dsc 131 model - 26
metric cy 1009 model - 0
process 100 -1 app
thread 1 100 app
sample 0 1 0 $3 1:$(line 8)
sample 0 1 0 $4 1:$(line 7)
sample 1 1 0 $((10 * $3)) 1:$(line 8)
sample 1 1 0 $((10 * $4)) 1:$(line 7)
END
}
sampled one 100 900 100
sampled two 200 1900 150
sampled three 400 4100 200
shown() { sed "s|$work|WORK|g" "$1" > "$1.shown"; golden "plot/$2" "$1.shown"; }

# gnuplot's characters, to the letter of the version that they were looked at with.
terminal() { # NAME FILE
	case $(gnuplot --version) in
	'gnuplot 5.4 '*) golden "plot/$1" "$2" ;;
	*) skip "plot/$1" "this gnuplot is not 5.4" ;;
	esac
}

# ---- lines
run prof -plot lines -o lines.svg one
if [ -n "$gnuplot" ]; then
	is "-plot lines" "$status$out$err" "0"
	ok "an SVG picture, with the title, a line of source and the axis" python3 - lines.svg <<'END'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
text = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("text")]
assert root.tag.endswith("svg")
for want in ("Events by source line", "app 100, on here", "% of all", "dsc (model)", "sum += i % 7 * n; /* 100%d ''id'' 'quoted' \"twice\" \\n */".replace("''", "'")):
    assert any(want in t for t in text), (want, text)
END
	run prof -plot lines -o lines.png one
	is "a PNG picture" "$(head -c 8 lines.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a
	run prof -plot lines -o lines.pdf one
	is "a PDF picture" "$(head -c 5 lines.pdf)" "%PDF-"
	run env COLUMNS=90 prof -plot lines one
	printf '%s\n' "$out" | sed 's/ *$//' > terminal.shown
	terminal lines-terminal terminal.shown
	run env COLUMNS=20 prof -plot - one
	is "a narrow terminal" "$status" 0
	run sh -c 'prof -plot lines one > /dev/full'
	is "a terminal that takes nothing" "$status" 125
	like "which is said, and how" "$err" 'cannot write the report'
	is "nothing stays behind" "$(ls "$work"/plot.* 2>/dev/null)" ""
	run prof -plot lines -o - one
	like "-o - is the terminal" "$out" '% of all$|% of all '
else
	skip "pictures of lines" "gnuplot is not installed"
fi
shown lines.gp lines
run prof -plot lines -o x.jpg one; is "a kind that cannot be drawn" "$status" 125
like "says which can" "$err" '\.png, \.svg or \.pdf'

# ---- costs
cat > costs.json <<'END'
{"schema":"perfex.counts/1","command":["/bin/app","7"],"source":"model","machine":"r10000","clock_hz":195000000,
"events":[{"number":26,"short":"dsc","name":"Secondary data cache misses","unit":"misses","count":{"value":1000,"label":"model","low":1000,"high":1000},"seconds":{"typical":0.5,"minimum":0.25,"maximum":1}},
{"number":23,"short":"tlb","name":"TLB misses","unit":"misses","count":{"value":1000,"label":"model","low":1000,"high":1000},"seconds":{"typical":0.25,"minimum":0.2,"maximum":0.3}}],
"breakdown":[{"cause":"L2 data misses","seconds":{"value":0.4,"label":"estimated","low":0.25,"high":1},"share":0.8},{"cause":"overlap","seconds":{"value":-0.1,"label":"estimated","low":-0.2,"high":0},"share":-0.2}],"threads":[]}
END
sed 's/0\.5,/0.1,/' costs.json > better.json
run prof -plot costs -o costs.svg costs.json
shown costs.gp costs
run prof -plot costs -o both.svg costs.json better.json
shown both.gp costs-two
sed 's/"seconds":{"typical":0\.[0-9]*,"minimum":0\.[0-9]*,"maximum":[0-9.]*}/"seconds":{"typical":0.0005,"minimum":0.0002,"maximum":0.0007}/g' costs.json > short.json
run prof -plot costs -o short.svg short.json
like "an axis below a tenth of a second is in milliseconds" "$(cat short.gp)" 'milliseconds \(estimated\)'
like "and so are its values" "$(cat short.gp)" '(^|[ ,])0\.5([ ,]|$)'
run prof -plot costs -o sum.svg one two
like "of experiments" "$(cat sum.gp)" "set label 'dsc' at"
[ -z "$gnuplot" ] || { run env COLUMNS=100 prof -plot costs costs.json; printf '%s\n' "$out" | sed 's/ *$//' > costs.shown; terminal costs-terminal costs.shown; }
run prof -plot lines -o l.svg costs.json; like "counts have no lines" "$err" 'not samples'
echo '{"schema": "other/1"}' > other.json
run prof -plot costs other.json; like "other JSON" "$err" 'no counts of perfex'
echo '{"schema": "perfex.counts/1", "events": [' > cut.json
run prof -plot costs cut.json; like "JSON that breaks off" "$err" 'cut\.json:2: '
run prof costs.json; like "JSON where samples are wanted" "$err" 'not an experiment'

# ---- sweep
run prof -plot sweep -o sweep.svg one two three
shown sweep.gp sweep
run prof -plot sweep -x arg1 -y dsc/cy,dsc/x^2 -only work -o ratio.svg one two three
shown ratio.gp sweep-ratio
run prof -plot sweep -y costs -only work -o areas.svg one two three
shown areas.gp sweep-costs
run prof -plot sweep -x file -o f.svg one two; like "no number in the name" "$err" 'one has no number for -x file'
run prof -plot sweep -x nothing -o f.svg one two; like "no such fact" "$err" 'no number for -x nothing'
run prof -plot sweep -y dcs -o f.svg one two; like "no such event: what there is" "$err" 'there are cy, dsc'
run prof -plot sweep -o f.svg one one; like "runs that are the same" "$err" 'do not differ'
sampled again 200 1950 160
run prof -plot sweep -y dsc -only work -o mean.svg one two again
like "runs at one x are one point, with what they differ by" "$(cat mean.gp)" '^ 200 27[0-9]{4}'
for n in 1 2 4; do sed "s/\"7\"/\"-fixed\",\"-n\",\"$n\"/; s/\"value\":1000,/\"value\":${n}000,/" costs.json > n$n.json; done
for n in 1 2 4; do sed "s/\"7\"/\"-n\",\"$n\"/; s/\"value\":1000,/\"value\":${n}500,/" costs.json > m$n.json; done
run prof -plot sweep -x -n -y dsc,tlb -o n.svg n*.json m*.json
shown n.gp sweep-counts

# ---- names that gnuplot must not obey
bad="\`touch owned\`'.system('touch owned').'\"\$(touch owned)\\\\"
printf '%s' "$bad" > bad
python3 - "$bad" > bad.json <<'END'
import json, sys
bad = sys.argv[1]
print(json.dumps({"schema": "perfex.counts/1", "command": ["caf\u00e9 {Bold x}_y^z", "a\u0000b\u001b[31m\n EOD", bad], "source": bad, "machine": bad, "clock_hz": 1e9,
    "events": [{"number": 26, "short": bad, "name": bad + " %s%n @x", "unit": bad, "count": {"value": 1, "label": "model", "low": 1, "high": 1}, "seconds": {"typical": 1, "minimum": 0, "maximum": 2}}],
    "breakdown": [], "threads": []}))
END
cp bad.json "$(cat bad | tr -d '/')2.json"
run prof -plot costs -o bad.svg bad.json
is "a hostile name is drawn" "$status" "$([ -n "$gnuplot" ] && echo 0 || echo 125)"
run prof -plot costs -o bad2.svg bad.json ./*owned*2.json
run prof -plot costs bad.json
run prof -plot costs -o "bad'\`touch owned\`.svg" bad.json
like "nor is a picture's name" "$err" 'cannot take this file name'
run prof -plot costs -o "it's \$(touch owned).svg" bad.json
run perfex -q -source os -e page-faults -plot costs2.svg true "$bad" '`touch owned`'
not_ok "and not obeyed" test -e owned
not_ok "no backquote is left in a script" grep -q '`' bad.gp
if [ -n "$gnuplot" ]; then
	ok "a name with a quote" test -s "it's \$(touch owned).svg"
	ok "it stands in the picture as it is" python3 - bad.svg <<'END'
import sys, xml.etree.ElementTree as tree
text = ["".join(e.itertext()) for e in tree.parse(sys.argv[1]).getroot().iter() if e.tag.endswith("text")]
assert any("system('touch owned')" in t and "$(touch owned)" in t for t in text), text
assert any("caf\u00e9 {Bold x}_y^z" in t for t in text), text
assert any("%s%n @x" in t for t in text), text
END
fi

# ---- without gnuplot
mkdir none
for p in prof sh sed; do ln -s "$(command -v $p)" none/$p; done
run env PATH="$work/none" prof -plot lines -o kept.svg one
is "without gnuplot: no picture" "$status" 125
like "which is said" "$err" 'gnuplot is not installed: the script for the picture is in kept\.gp'
ok "and the script is there" grep -q 'set output .kept.svg' kept.gp
printf '#!/bin/sh\nexit 1\n' > none/gnuplot && chmod +x none/gnuplot
run env PATH="$work/none" prof -plot lines -o kept.svg one
is "gnuplot fails: no picture" "$status" 125
like "which is said, too" "$err" 'gnuplot failed on kept\.gp'

# ---- those of the documentation (make pictures)
for p in costs:'What events cost: staffing' fixed:after lines:'while (e->badge != badge)' sharing:'ei, weather -fixed' sweep:'Primary data cache misses'; do
	ok "docs/pictures/${p%%:*}.svg: small, and with '${p#*:}' in it" python3 - "$top/docs/pictures/${p%%:*}.svg" "${p#*:}" <<'END'
import sys, xml.etree.ElementTree as tree
data = open(sys.argv[1], "rb").read()
assert len(data) < 60000, len(data)
text = ["".join(e.itertext()) for e in tree.fromstring(data).iter() if e.tag.endswith("text")]
assert any(sys.argv[2] in t for t in text), text
END
done

# ---- options
for o in "-plot bars" "-plot lines -heavy" "-plot costs -x arg1" "-x arg1" "-plot sweep -json" "-plot lines -diff"; do
	run prof $o one two
	is "$o is refused" "$status" 125
done
done_testing
