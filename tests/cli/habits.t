# SPDX-License-Identifier: GPL-2.0-or-later
# What users of other tools type out of habit: each gets one error, which names the option here that does it.
. "$TOP/tests/lib.sh"
for program in perfex ssrun prof; do
	"$program" -completion | awk '$1 == "option" { sub(/^[*]/, "", $2); print $2 }'
done > raw
for command in 'ssrun monitor' 'prof block' 'prof verify' 'prof optimize'; do
	$command -help | grep -oE '^  -[a-z]+' | tr -d ' '
done | sort -u - raw > options

# hinted WANTED COMMAND...: two lines at most, nothing guessed, and the second names what is wanted
hinted() {
	_wanted=$1
	shift
	run "$@"
	is "$*: fails, in two lines" "$status $(wc -l < "$work/.err")" "125 2"
	like "$*: $_wanted" "$err" "$_wanted"
	unlike "$*: nothing is guessed" "$err" 'did you mean|could be any of'
}

hinted 'ssrun -fusertime .*-pid PID' ssrun record -g -F 99 -p 1 -- true
hinted '-fusertime .*-stack' ssrun -g true
hinted '-fpcsamp 1000' ssrun -F 99 true
hinted '-fpcsamp 1000' ssrun -F99 true
hinted '-stack dwarf' ssrun --call-graph dwarf true
hinted '-stack dwarf' ssrun --call-graph=dwarf true
hinted '-pid PID' ssrun -p 1
hinted 'perfex -a COMMAND' ssrun stat -e cycles true
hinted 'as in -e cycles:20011' ssrun -e cycles true
hinted 'as in -e cycles:20011; .*-x' ssrun -e cycles:u true
hinted '-totaltime' ssrun -collect threading true
hinted 'callgrind: -ideal' ssrun --tool=callgrind true
hinted 'perfex -a COMMAND' perfex stat -e cycles true
hinted 'perfex -a COMMAND' perfex stat -d true
hinted 'perfex -a COMMAND' perfex stat --repeat=3 true
hinted 'perfex -a COMMAND' perfex -d true
hinted '-p SECONDS' perfex -I 1000 true
hinted '-csv' perfex -x , true
hinted 'ssrun -fpcsamp COMMAND' perfex record -g true
hinted 'perfex -list' perfex list
hinted 'perfex -pid PID' perfex -p 1
hinted 'cachegrind: perfex -a' perfex --tool=cachegrind true
hinted '-by process' prof --sort=comm,dso
hinted '-by process' prof -s dso
hinted 'prof FILE' prof report --stdio
hinted 'leave it out' prof --stdio
hinted 'prof FILE' prof -i perf.data
hinted 'prof -diff BEFORE AFTER' prof diff
hinted '-from TIME' prof --time 10%,20%
hinted 'samples' prof -n
hinted '-q 10' prof -top10
hinted '-lines' prof -list=main

# subcommands have habits of their own, and say which are those of their program
hinted '-fusertime' ssrun -fpcsamp record -g true
hinted 'of prof without block: -butterfly' prof block -g
hinted '-core CORE' prof block -mcpu=zen4
hinted '-budget PERCENT' ssrun monitor -F 99
hinted '-pid PID' ssrun monitor -pid 1
hinted '-store DIR' ssrun monitor -o x
hinted 'of ssrun without monitor: -totaltime' ssrun monitor --off-cpu
hinted '-rounds' prof verify --runs 5 a b
hinted '-train' prof optimize -fprofile-generate
hinted 'of prof without store: -only' prof store -focus
hinted 'of prof without calibrate: -butterfly' prof calibrate -g
hinted '-help lists' prof calibrate -Z

# stat is a program, too
ok "perfex counts stat" perfex -q -source os -o /dev/null stat -c %n .
run perfex -source os stat -c %n .
like "and says so" "$status $err" '^0 .*the program stat is counted'

# files of other tools
printf 'gmon\001\000\000\000' > gmon.out
printf '# callgrind format\nversion: 1\n' > callgrind.out.1
printf 'desc: I1 cache: 32768 B\n' > cachegrind.out.1
printf '{"schema":"perfex.counts/1"}\n' > counts.json
echo | gzip > profile.gz
hinted 'ssrun -ideal COMMAND' prof /bin/true gmon.out
hinted 'ssrun -ideal COMMAND' prof callgrind.out.1
hinted 'ssrun -dsc_hwc COMMAND' prof cachegrind.out.1
hinted 'zcat FILE \| prof -' prof profile.gz
hinted 'prof -plot' prof counts.json

# the whole table: each word is known to its command, and what the hint names exists
words() { awk -v table="$1" '/^static const struct habit / { on = $5 == table "[]" }
	/^};/ { on = 0 }
	on && match($0, /^\t\{"[^"]*"/) { print substr($0, 4, RLENGTH - 4) }' "$top/lib/base/habits.c" | tr ' ' '\n'; }
for command in perfex ssrun prof 'ssrun monitor' 'prof block' 'prof verify' 'prof optimize'; do
	program=${command% *} table=of_${command#* } least=20 unknown='' imagined=''
	[ "$program" = "$command" ] || least=5
	for word in $(words "$table"); do
		err=$($command "$word" 2>&1) && unknown="$unknown $word"
		case $err in "$program: no option $word
$program:   "*) ;; *) unknown="$unknown $word" ;; esac
		for option in $(printf '%s\n' "$err" | sed 1d | grep -oE '(^| )-[a-zA-Z_-]+' | tr -d ' '); do
			grep -qx -e "$option" options || imagined="$imagined $option"
		done
	done
	is "all habits of $command are known" "$unknown" ""
	is "and all that is named exists" "$(printf '%s' "$imagined" | tr ' ' '\n' | grep -vx -e -dsc_hwc | sort -u | tr '\n' ' ')" ""
	ok "$command has some" test "$(words "$table" | wc -l)" -gt "$least"
done
done_testing
