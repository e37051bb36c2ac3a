# SPDX-License-Identifier: GPL-2.0-or-later
# perfex leaves the command alone, and says clearly what went wrong.  With the os source: needs nothing.
# In real time: signals and processes that end meet perfex at work.
. "$TOP/tests/lib.sh"
perf="perfex -source os -e task-clock"

# The command's own affairs
run $perf sh -c 'echo out; echo err >&2; exit 7'
is "exit status is the command's" "$status" 7
is "stdout is the command's alone" "$out" out
like "stderr begins with the command's" "$err" '^err$'
like "the report follows on stderr" "$err" 'Task clock\.+ +[0-9]+  measured'
run $perf cat < /dev/null
is "stdin is passed on" "$status" 0
is "stdin arrives" "$(echo hello | $perf cat 2>/dev/null)" hello
run $perf sh -c 'kill -TERM $$'
is "killed by a signal: 128 + its number" "$status" 143
run $perf sh -c 'trap "" INT; trap' ; first=$out
is "signal dispositions are as without perfex" "$first" "$(sh -c 'trap "" INT; trap')"
run sh -c "trap '' CHLD; perfex -source os -e task-clock -q -r 2 grep SigIgn /proc/self/status"
is "also in the second run" "$(printf '%s\n' "$out" | sort -u | wc -l)" 1
is "the environment is untouched" "$($perf env 2>/dev/null | grep -v '^_=' | sort)" "$(env | grep -v '^_=' | sort)"
is "only the usual descriptors are open" "$($perf sh -c 'ls /proc/self/fd | wc -l' 2>/dev/null)" "$(sh -c 'ls /proc/self/fd | wc -l')"
run perfex -source os -e task-clock -q sh -c 'exit 0' -a -y
is "options behind the command are the command's" "$status" 0
run perfex -source os true
like "without events: what the kernel counts" "$err" 'Page faults\.+ +[0-9]+  measured'
# attached options...: of a process that ends once perfex, which holds a descriptor of it, has had time to attach
attached() {
	sleep 120 & _target=$!
	perfex "$@" -pid $_target > attached.out 2> attached.err & _perfex=$!
	wait_for sh -c "ls -l /proc/$_perfex/fd | grep pidfd"
	sleep 1
	kill $_target
	wait $_perfex
	status=$? err=$(cat attached.err)
}
attached -q
like "-pid without events: at least what the kernel counts" "$err" '(Context switches|Cycles)\.+ '
run $perf -plot picture.jpg touch ran
is "a picture of no known kind: 125" "$status" 125
not_ok "and nothing has run" test -e ran
touch target; ln -s target link; run $perf -o link true
ok "-o through a link leaves the link" test -L link
like "and writes its target" "$(cat target)" 'Task clock'

# What cannot be run
run $perf ./nowhere
is "not found: 127" "$status" 127
like "and says what" "$err" 'cannot find ./nowhere'
run perfex -e gi ./
is "a directory is no program" "$status" 126
like "and no file to make executable" "$err" '  it is a directory: name a program in it'
echo 'echo hi' > script; run $perf ./script
is "not executable: 126" "$status" 126
like "and what to do" "$err" 'chmod \+x'
mkdir dir; run $perf ./dir
is "a directory: 126" "$status" 126
printf '#!/bin/sh\necho ran\n' > script; chmod +x script; run $perf ./script
is "a script runs" "$status:$out" 0:ran
printf '#!/nowhere/sh\n' > broken; chmod +x broken; run $perf ./broken
is "a script without its interpreter: 127" "$status" 127
like "and names the interpreter as the cause" "$err" 'interpreter'

# Bad words
run perfex; is "no command: 125" "$status" 125
like "and shows usage" "$err" 'usage: perfex'
run perfex -e dscc true
is "unknown event: 125" "$status" 125
like "the nearest is offered" "$err" "did you mean 'dsc'"
run perfex -source os -e task-clock,page-faults -e pf -csv sh -c :; is "events with commas" "$(echo "$out" | grep -c measured)" 3
run perfex -e gi,,br true; is "nothing between commas" "$status:$err" "125:perfex: 'gi,,br': missing word at a comma"
run perfex -e '' true; is "no word at all" "$status:$err" "125:perfex: a list is empty: give a word, or several with commas between"
run $perf ''; is "an empty command: as one that is not found" "$status:$err" "127:perfex: the name of the command is empty
perfex:   give a program; perhaps a variable of the shell is not set"
run perfex -o '' true; is "an empty argument" "$status:$err" "125:perfex: -o: its argument is empty: give one, or leave -o out"
run ssrun -fpcsamp -versus '' true; is "also of ssrun" "$status:$err" "125:ssrun: -versus: its argument is empty: give one, or leave -versus out"
run ssrun -q -fpcsamp ''; like "and its command" "$status:$err" '^127:ssrun: the name of the command is empty'
run prof -only '' file; is "and of prof" "$status:$err" "125:prof: -only: its argument is empty: give one, or leave -only out"
run prof ''; is "and its file" "$status:$err" "125:prof: the name of a file is empty: perhaps a variable of the shell is not set"
run perfex -e 9999 true; is "number out of range: 125" "$status" 125
run perfex -frobnicate true
like "unknown option" "$err" 'no option -frobnicate'
run perfex -a -e cy true; like "-a with -e" "$err" 'leave out -e'
run perfex -json -csv true; like "-json with -csv" "$err" 'exclude each other'
run perfex -pid 1 true; like "-pid with a command" "$err" 'leave out the command'
run $perf -mp -r 2 true; like "-mp with -r" "$err" 'threads of one run'
run $perf -mp -passes true; like "-mp with -passes" "$err" 'threads of one run'
run perfex -r 0 true; like "-r 0" "$err" 'whole number of at least 1'
run perfex -source wrong true; like "unknown source" "$err" "no source 'wrong'"
run perfex -machine zen44 -source model true; like "unknown machine offers the nearest" "$err" "zen4"
run $perf -y -c nofile true; is "unreadable cost table: 125" "$status" 125
for how in "-list" "-explain dsc" "true"; do
	run perfex -c nofile $how
	is "also where it is not used: $how" "$status" 125
	like "with a hint: $how" "$err" 'perfex -t prints a cost table'
done
printf 'name x\n26 1 2 3 cycles\ndscc 1 2 3 cycles\n' > bad.costs
run $perf -y -c bad.costs true
like "a bad cost table: file, line and column" "$err" 'bad.costs:[0-9]+:[0-9]+: '
run $perf -o /nowhere/report true
is "unwritable output: 125" "$status" 125
like "found before the run" "$err" 'cannot write /nowhere/report'
like "and what to check" "$err" 'check that its directory exists'
run perfex -o . -a true
like "a directory is no file" "$err" 'cannot write [.]: Is a directory'
like "and what to give" "$err" 'give the name of a file in it'
unlike "so nothing was run" "$err" 'Task clock'
run $perf -o unmade ./nowhere
not_ok "a run that fails leaves no report behind" test -e unmade
if [ -w /dev/full ]; then
	run $perf -json -o /dev/full true
	is "a full disk is noticed" "$status" 125
	like "and said" "$err" 'No space left'
	for what in "perfex -help" "perfex -version" "perfex -list" "ssrun -help" "ssrun -version" "ssrun -list" "ssrun -list -csv" "prof -help" \
		"prof -version" "prof block -help" "prof calibrate -help"; do
		run sh -c "$what > /dev/full"
		is "also of $what: 125" "$status" 125
		is "and said once" "$(echo "$err" | grep -c 'No space left')" 1
	done
else
	skip "a full disk" "there is no /dev/full"
fi
run $perf -pid 99999999 ; is "-pid of nothing: 125" "$status" 125
run perfex -pid x; is "-pid of a word: 125" "$status" 125
run perfex -source model -pid $$; is "the model cannot attach" "$status" 125
like "and says so" "$err" 'attach'

# Output
run $perf -o report true
is "-o: stderr is silent" "$err" ""
like "-o: the report is in the file" "$(cat report)" 'Task clock'
run $perf -json true
is "JSON is valid" "$(printf %s "$out" | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["schema"], d["events"][0]["short"], d["events"][0]["count"]["label"])')" "perfex.counts/1 tclk measured"
run $perf -csv true
is "CSV: header and one line" "$(printf '%s\n' "$out" | wc -l)" 2
is "CSV: as many cells in each" "$(printf '%s\n' "$out" | awk -F, '{ print NF }' | sort -u | wc -l)" 1
run $perf -r 3 sh -c 'echo x >> ran'
is "-r 3 runs three times" "$(wc -l < ran)" 3
like "-r 3: mean with an interval" "$err" 'Task clock\.+ +[0-9]+  measured +\+-'
echo data > input; run $perf -q -r 2 cat < input
is "a file on stdin is rewound" "$out" "data
data"
run $perf -p 0.05 "$build/tests/programs/spin" 0.5
is "-p: read-outs before the report" "$(printf '%s\n' "$err" | grep -cE '^ +0\.[0-9]+ +69 Task clock' | awk '{ print ($1 >= 2) }')" 1

# -s: between the signals only. The command tells perfex, its parent, when, and goes on once perfex has taken the signal and sleeps
# again; it looks with what the shell has built in, which costs no page fault.
cat > phases <<'S'
#!/bin/sh
programs() { i=0; while [ $i -lt "$1" ]; do /bin/true; i=$((i + 1)); done; }
say() { # signal: if that is wanted
	[ "$signals" ] || return
	kill -"$1" $PPID
	state=
	until [ "$state$pending" = S0 ]; do
		pending=0
		while read -r name value _; do
			case $name in State:) state=$value ;; SigPnd: | ShdPnd:) [ "$value" = 0000000000000000 ] || pending=1 ;; esac
		done < /proc/$PPID/status
	done
}
signals=${1:-}
programs 40; say USR1; programs 20; say USR2; programs 40
S
chmod +x phases
faults() { printf %s "$out" | python3 -c 'import json,sys; print(next(e["count"]["value"] for e in json.load(sys.stdin)["events"]))'; }
run perfex -source os -e page-faults -json ./phases; whole=$(faults)
run perfex -source os -e page-faults -json -s ./phases signals; part=$(faults)
is "-s counts between SIGUSR1 and SIGUSR2 (20 programs of 100): $part page faults of $whole" \
	"$(python3 -c "print(0.15 < $part / $whole < 0.25)")" True

# Terminated (a background job of sh ignores ^C): what was counted is printed
perfex -source os -e task-clock sh -c ': > begun; exec sleep 120' 2> interrupted & perfex=$!
wait_for test -e begun; kill -TERM $perfex; wait $perfex; is "interrupted: the command's status" $? 143
like "interrupted: the counts are printed" "$(cat interrupted)" 'Task clock\.+ +[0-9]+  measured'

rm -f ran; perfex -source os -e task-clock -json -r 3 sh -c 'echo x >> ran; [ "$(wc -l < ran)" = 1 ] || exec sleep 120' > means.json 2> left-out & perfex=$!
wait_for sh -c '[ "$(wc -l < ran)" = 2 ]'; kill -TERM $perfex; wait $perfex
like "-r: it is said how many runs the report has" "$(cat left-out)" 'interrupted: the report is of 1 of [0-9]+ runs'
is "and the means are without it" "$(python3 -c 'import json; print(json.load(open("means.json"))["runs"])')" 1

# -pid
attached -source os -e task-clock
like "-pid counts until the process ends" "$err" 'Task clock\.+ +[0-9]+  measured'

# With descriptors closed: nothing of ours takes their place
is "closed stdin and stderr stay closed for the command" "$(perfex -q -source os -e task-clock -o closed.report sh -c 'for f in 0 2; do [ -e /proc/$$/fd/$f ] && echo open $f; done; echo done' <&- 2>&-)" "done"
like "and the report is where it belongs" "$(cat closed.report)" 'Task clock'

# Costs and pictures
run perfex -t -machine zen4
like "-t prints the table in force" "$out" '(26|dsc)'
printf '%s\n' "$out" > again.costs
is "-t can be read again, and is the same" "$(perfex -t -machine zen4 -c again.costs | grep -v '^#')" "$(grep -v '^#' again.costs)"
if command -v gnuplot > /dev/null; then
	run $perf -e page-faults -plot costs.png sh -c :
	is "-plot draws" "$status" 0
	is "a PNG" "$(head -c 4 costs.png | tail -c 3)" PNG
	ok "its script is kept" test -s costs.gp
else
	skip "-plot" "gnuplot is not installed"
fi
run $perf -plot picture.xyz true; like "-plot of an unknown kind says which there are" "$err" '\.png'
run perfex -list; like "-list" "$out" '^ 26  dsc '
is "-list: all events" "$(printf '%s\n' "$out" | grep -cE '^ *[0-9]+ ')" 71
run perfex -explain dsc; like "-explain" "$out" 'meaning'
run perfex -help; is "-help" "$status" 0
run perfex -version; like "-version" "$out" '^perfex [0-9]'
# Where costs come from
printf 'date 2026-01-02\nsource book A book, page 3\npf 600 250 3000 ns book\ncsw 1500 800 10000 ns measured\n' > my.costs
run $perf -y -c my.costs -e pf -e csw true
like "how many rows are measured, published, guessed" "$err" '^\(rows: .*measured on another processor.* published, [0-9]+ guessed\)$'
like "a published cost" "$err" 'Page faults.* published$'
like "one measured elsewhere" "$err" 'Context switches.* elsewhere$'
run $perf -y -c my.costs -e pf -json true
like "for scripts" "$out" '"cost":"published","cost_source":"book"'
like "and what it stands for" "$out" '"cost_sources":.*\{"tag":"book","text":"A book, page 3"\}'
like "and all rows" "$out" '"cost_rows":"[^"]*published'
like "perfex -t shows sources" "$(perfex -t -c my.costs)" '^pf .* ns book$'
mkdir -p data
cp -r "$build/share/perfex/machines" data
sed -i 's/^costs .*/costs generic/' data/machines/*.machine
first=$(PERFEX_DATA=$work/data perfex -source os -e task-clock -y true 2>&1)
again=$(PERFEX_DATA=$work/data perfex -source os -e task-clock -y true 2>&1)
case $(perfex -explain machine) in
*'(generic)'*) skip "calibration is offered once" "this processor's table is the generic one" ;;
*)
	like "where no table fits, calibration is offered" "$first" 'no table of costs fits this processor \(generic serves\): perfex -calibrate'
	unlike "once" "$again" 'no table of costs' ;;
esac

# ---- a program after -o, -profile and -plot ----
printf '#!/bin/sh\nexit 0\n' > script
cp "$build/tests/programs/known" program
chmod 755 script program
for words in "-o ./program" "-o script true" "-profile ./program" "-plot script true" "-list -o program"; do
	run perfex $words
	like "perfex $words: a program is not overwritten" "$status $err" '^125 perfex: -[a-z]*: .* is a program, which would be lost'
done
is "they are kept" "$(cmp program "$build/tests/programs/known" && cat script)" "$(printf '#!/bin/sh\nexit 0\n')"
if command -v script > /dev/null; then
	like "a table of costs fits 80 columns" "$(command script -qec 'stty cols 80; perfex -q -source model -a -y true' /dev/null < /dev/null | tr -d '\r' |
		awk 'length > n { n = length } END { print n }')" '^(7[0-9]|80)$'
else
	skip "a table of costs fits 80 columns" "script is not installed"
fi
done_testing
