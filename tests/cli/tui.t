# SPDX-License-Identifier: GPL-2.0-or-later
# prof -tui on a terminal (tmux): what it says without one, keys, resizing, stopping, and that the terminal is restored however it
# ends.  Waits for texts, never for a time.
# In real time: a terminal, and signals.
. "$TOP/tests/lib.sh"

cat >app.c <<'END'
#include <stdio.h>
static volatile long sink;
__attribute__((noinline)) void inner(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}
int main(void)
{
	inner(10);
	return 0;
}
END
gcc -O1 -g -o app app.c
address() { nm app | awk -v name="$1" '$3 == name { sub(/^0+/, "", $1); print $1 }'; }
inner=$(address inner) main=$(address main)
"$build/tests/tools/experiment" app.exp <<END
type usertime
image elf $work/app
metric time 1000000 measured clock,stacks
sample 0 0 0 900 1:$main 1:$inner
sample 0 0 0 100 1:$main
END

"$build/tests/tools/experiment" two.exp <<END
type usertime
image elf $work/app
metric time 1000000 measured clock,stacks
process 100 -1 app
thread 1 100 app
process 200 100 app
thread 2 200 app
sample 0 1 0 900 1:$main 1:$inner
sample 0 2 0 100 1:$main
END

# ---- without a terminal ----
run prof -tui app.exp </dev/null
is "no terminal: our failure" "$status" 125
like "no terminal: says which" "$err" 'needs a terminal.*standard input'
run prof -tui -csv app.exp
like "-csv beside it" "$err" 'cannot be combined with -csv'
run prof -mouse app.exp
like "-mouse alone" "$err" 'need -tui'
run prof -tui -lines -dis app.exp
like "one report" "$err" 'begins with one report'

if ! command -v tmux >/dev/null; then
	skip "on a terminal" "tmux is not installed"
	done_testing
fi
tm() { tmux -S "$work/tmux" -f /dev/null "$@"; }
trap 'tm kill-server 2>/dev/null; chmod -R u+rwx "$work" 2>/dev/null; rm -rf "$work"' EXIT
screen() { tm capture-pane -p 2>/dev/null; }
until_text() { # name regex
	_i=0
	while [ $_i -lt 600 ]; do
		if screen | grep -Eq -- "$2"; then _result 0 "$1"; return; fi
		_pause
	done
	_result 1 "$1"
	_show "no '$2' in:"
	_show "$(screen)"
}
# One shell for all; a prompt that says how the last command ended.
tm new-session -d -x 80 -y 24 "env PS1='[\$?] ready> ' PATH='$PATH' LC_ALL=C.UTF-8 sh -i" || { skip "on a terminal" "tmux does not start here"; done_testing; }
keys() { tm send-keys "$@"; }
cd_done() { keys "cd '$work'; clear" Enter; }
cd_done
until_text "a shell" 'ready>'

keys 'TERM=dumb prof -tui app.exp' Enter
until_text "TERM=dumb" "'dumb' .*cannot move its cursor"
keys 'clear; TERM=nothing-of-this-name prof -tui app.exp' Enter
until_text "an unknown terminal" "is unknown"
keys 'clear; prof -tui app.exp | cat' Enter
until_text "a pipe behind it" "standard output is not one"
keys 'clear; prof -tui nothing.exp' Enter
until_text "no such file" "nothing.exp: No such file"

keys 'clear; prof -tui -only nosuch app.exp' Enter
until_text "a selection that has nothing: said below the rows" '-only nosuch: nothing of this report'
keys q
until_text "status 1, as in text" '\[1\] ready>'
# Also while the thread that has made the report has not yet gone on: it is held where it says that there is one.
strace=$(command -v strace)
if [ "$strace" ] && "$strace" -f -o /dev/null true 2>/dev/null; then
	keys "clear; $strace -f -o /dev/null -P 'anon_inode:[eventfd]' -e trace=write -e inject=write:delay_exit=1500000 prof -tui -only nosuch app.exp" Enter
	until_text "a selection that has nothing, slowly" '-only nosuch: nothing of this report'
	keys q
	until_text "status 1, too" '\[1\] ready>'
else
	skip "status 1, too" "strace cannot trace here"
fi
keys 'clear; prof -tui -usage two.exp' Enter
until_text "processes" '>.* 100 app'
keys Enter
until_text "the menu of one of two begins with it" '> +all reports: only process 100 app'
keys Enter
until_text "all reports are of it" '= prof -usage -only process:100 two.exp'
keys v Enter
until_text "the next, too" '= prof .*-only process:100 two.exp'
keys Z
until_text "and back" '= prof (-[a-z]+ )?two.exp'
keys Q
until_text "the end is as that of a command" '\[0\] ready>'
keys 'clear; prof -tui app.exp' Enter
until_text "procedures" 'inner \(app: app.c'
until_text "the command that prints it" '= prof -procedures app.exp'
keys Enter
until_text "a menu of the row" 'menu: inner'
until_text "over the list" 'inner \(app: app.c'
until_text "with what can be done" 'b +callers and callees of inner'
keys Enter
until_text "into the lines" 'lines of inner'
until_text "with the source" 'sink \+= i'
keys Right
until_text "into instructions" 'dis of inner'
keys Escape
until_text "back" 'lines of inner'
keys q
until_text "and back again" '= prof -procedures app.exp'
keys b
until_text "callers" '= prof -butterfly app.exp'
keys q '?'
until_text "keys" 'one line down'
keys q
keys / main Enter
until_text "search" '>.*main \(app'
keys w
until_text "asks where to write" 'write to'
keys C-u shown.csv Enter
until_text "has written" 'written to shown.csv'
is "what was written is what prof prints" "$(cat shown.csv)" "$(prof -procedures -csv app.exp)"
keys s
until_text "a second view" '^ lines of main'
until_text "below the list" '= prof -procedures app.exp'
keys k
until_text "follows the cursor" '^ lines of inner'
tm resize-window -x 132 -y 43
until_text "beside it, where there is room" '^ procedures .* lines of inner .*app.exp'
keys s s
until_text "one view again" 'one view'
until_text "wider" '^ procedures {100,}.*app.exp'
tm resize-window -x 20 -y 5
until_text "20 by 5" '^ procedures'
tm resize-window -x 80 -y 24
until_text "as before" '= prof -procedures app.exp'
keys C-z
until_text "^Z: the shell is back" 'ready>'
keys 'clear; fg' Enter
until_text "and forth" '= prof -procedures app.exp'
keys q
until_text "q ends it" '\[0\] ready>'
keys 'clear; stty -a | grep -o "[- ]icanon"' Enter
until_text "the terminal is as it was" '^ icanon'

# A click into the second row, as a terminal reports it; the time after which an Escape stands alone is long here.
keys 'clear; TERM=screen ESCDELAY=5000 prof -tui -mouse app.exp' Enter
until_text "with the mouse" '= prof -procedures app.exp'
until_text "and the row that is clicked" ' main \(app'
click=$(printf '\033[M ,%%\033[M#,%%')
keys -l "$click"
until_text "a click moves to main" '>.*main \(app'
keys m
until_text "off" 'the mouse is off'
keys q
until_text "and out" '\[0\] ready>'
keys 'clear; prof -tui app.exp' Enter
until_text "again" '= prof -procedures'
keys C-c
until_text "^C ends it" '\[130\] ready>'
keys 'clear; prof -tui -lines -only inner app.exp & sleep 0; fg' Enter
until_text "a first report by its option" 'lines.*app.exp'
keys Q
until_text "Q ends it" '\[0\] ready>'
for signal in TERM HUP; do
	keys "clear; sh -c 'echo \$\$ >pid; exec prof -tui app.exp'" Enter
	until_text "once more" '= prof -procedures'
	kill -$signal "$(cat pid)"
	until_text "$signal ends it, the terminal restored" '\[1(43|29)\] ready>'
done
keys 'clear; stty -a | grep -o "[- ]icanon"' Enter
until_text "the terminal is as it was, still" '^ icanon'
# Closed in the middle: no process is left.
keys "clear; sh -c 'echo \$\$ >pid; exec prof -tui app.exp'" Enter
until_text "a last time" '= prof -procedures'
pid=$(cat pid)
tm kill-server
_i=0
while kill -0 "$pid" 2>/dev/null && [ $_i -lt 600 ]; do sleep 0.1; _i=$((_i + 1)); done
not_ok "closed in the middle: it ends" kill -0 "$pid"
done_testing
