# SPDX-License-Identifier: GPL-2.0-or-later
# ssrun monitor: samples of a running program in a store; what it costs; one for each store; how it ends.
# In real time: running programs are sampled.
. "$TOP/tests/lib.sh"
store=$work/store
PERFEX_STORE=$store
export PERFEX_STORE
# They work for longer than a tick, and sleep between: other tests have the rest.
cat > spinner.c <<'END'
#include <unistd.h>
volatile unsigned long turns;
__attribute__((noinline)) void spin_here(void) { for (int i = 0; i < 20000000; i++) turns += (unsigned long)i; }
int main(void) { for (;; usleep(20000)) spin_here(); }
END
gcc -O1 -g -o spinner spinner.c || exit 1
gcc -O1 -g -Wl,--build-id=none -o plain spinner.c || exit 1
spinners=
begin() { "$@" & spinners="$spinners $!"; }
# shellcheck disable=SC2086
trap 'kill -9 $spinners 2>/dev/null; chmod -R u+rwx "$work" 2>/dev/null; rm -rf "$work"' EXIT
has() { [ -n "$(prof store files "$1" 2>/dev/null)" ]; }
written() { kill -USR1 "$monitor" && has "$1"; }
running() { ssrun monitor -status -store "$at"; }
# monitor STORE [option ...]: in the background; before it runs it must not get signals
watch() {
	at=$1
	shift
	ssrun monitor -every 3600 -store "$at" "$@" 2>> log &
	monitor=$!
	spinners="$spinners $monitor"
	wait_for running
}

run ssrun monitor -status
like "no store yet" "$status$err" "125ssrun: there is no store at $store"
run ssrun monitor -for 0.2 -store first
if [ "$status" != 0 ]; then
	skip "all of it" "this machine cannot be sampled: $err"
	done_testing
fi
run prof store -store empty add
run ssrun monitor -status -store empty
like "no monitor yet" "$status$err" '125ssrun: no monitor has written to empty yet'

# ---- a run ----
begin "$work/spinner"
spinner=$!
begin "$work/plain"
plain=$!
watch "$store"
ok "it begins" running
ok "a program that ran before is seen" wait_for written spinner
ok "also one without build-id" wait_for written plain
run ssrun monitor
like "a second one is refused" "$status$err" "125ssrun: another monitor writes to $store"
run ssrun monitor -status
like "it says that it runs" "$status$out" "^0running *process $monitor\$"
like "what it costs" "$out" '^cost .*% of the machine.* the budget is 0\.1000%$'
like "what it lost" "$out" '^samples .* lost [0-9]+$'
like "where, and how it watches" "$out" '^watches +(system|user), clock (tick|cpu), one sample in [0-9.]+ ms$'
is "as JSON" "$(ssrun monitor -status -json | jq -r '.schema, .running, .pid, .budget')" "ssrun.monitor/1
true
$monitor
0.001"
kill -9 "$spinner" "$plain"
cp spinner.c other.c
gcc -O1 -g -o replaced other.c
begin "$work/replaced"
replaced=$!
ok "a program that began later" wait_for written replaced
kill -TERM "$monitor"
wait "$monitor"
is "SIGTERM ends it" "$?" 0
run ssrun monitor -status
like "it says so" "$status$out" "^1not running; the last one was process $monitor\$"
is "all that it saw is written" "$(ssrun monitor -status -json | jq '.addresses, .dropped')" "0
0"
if [ -n "${SAN:-}" ]; then
	skip "it is within 16 MB" "it has sanitizers"
else
	ok "it is within 16 MB" test "$(ssrun monitor -status -json | jq .resident)" -lt 16000000
fi
is "the store is for its owner alone" "$(find "$store" -perm /077)" ""
is "of a day" "$(prof store list -csv | grep -F "$work/spinner," | cut -d, -f1,5,6)" "$work/spinner,$(date -u +%Y%m%d),$(date -u +%Y%m%d)"
# shellcheck disable=SC2046
prof $(prof store files spinner) > report 2>&1
like "prof reads it" "$(cat report)" ' spin_here \(spinner: spinner\.c, '
# shellcheck disable=SC2046
like "and names its lines" "$(prof -heavy $(prof store files plain))" 'spin_here \(plain: spinner\.c, 3\)'

# ---- a file that is replaced while it runs ----
if [ "$(ssrun monitor -status -json | jq -r .scope)" = system ]; then
	id=$(readelf -n replaced | sed -n 's/.*Build ID: //p')
	sed 's/spin_here/other/' spinner.c > another.c && gcc -O1 -g -o another another.c && mv another replaced
	watch replacing
	is_there() { kill -USR1 "$monitor" && prof store list -csv -store replacing | grep -q "/replaced,$id,"; }
	ok "has the identity that it had" wait_for is_there
	kill -TERM "$monitor"
	wait "$monitor"
else
	skip "a file that is replaced" "only root may read it"
fi

# ---- programs that are removed at once, each a build of its own ----
cat > conftest.c <<'END'
int main(void) { volatile unsigned long turns; for (turns = 0; turns < 100000000; turns++); return 0; }
END
gcc -O1 -c conftest.c || exit 1
watch fleeting
is_kept() {
	gcc "-Wl,--build-id=0x$(date +%s%N)0" -o conftest conftest.o && (./conftest & pid=$!; sleep 0.05; rm conftest; wait $pid)
	kill -USR1 "$monitor" && prof store show removed -store fleeting
}
ok "are kept by their build-ids" wait_for is_kept
# shellcheck disable=SC2046
like "prof shows them" "$(prof $(prof store files removed -store fleeting) 2>&1)" '\(no symbol\) \(conftest\)'
kill -TERM "$monitor"
wait "$monitor"
is "all samples are mapped" "$(ssrun monitor -status -json -store fleeting | jq .samples_gone)" 0

# ---- one's own processes ----
watch own -user -clock cpu
own() { kill -USR1 "$monitor" && [ -n "$(prof store files "$1" -store own)" ]; }
ok "one's own processes" wait_for own replaced
is "are watched by rate" "$(ssrun monitor -status -store own -json | jq -r '.scope, .clock')" "user
cpu"
kill -9 "$replaced"
echo "int later;" >> other.c && gcc -O1 -g -o later other.c
begin "$work/later"
ok "also those that begin later" wait_for own later
kill -TERM "$monitor"
wait "$monitor"
is "that ends as well" "$?" 0
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir nobody && chmod 711 "$work" && chmod 777 nobody
	cp spinner "$build/bin/ssrun" nobody
	nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
	# shellcheck disable=SC2086
	begin $nobody "$work/nobody/spinner"
	# shellcheck disable=SC2086
	$nobody nobody/ssrun monitor -every 3600 -store nobody/store 2> nobody.log &
	monitor=$!
	spinners="$spinners $monitor"
	at=nobody/store
	begun() { running || ! kill -0 "$monitor"; }
	wait_for begun
	seen() { kill -USR1 "$monitor" && prof store list -store nobody/store | grep -q "$work/nobody/spinner"; }
	if kill -0 "$monitor" 2>/dev/null; then
		if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
			like "without rights: what is missing is named" "$(cat nobody.log)" "only your own processes are watched: .*perf_event_paranoid=0, or setcap"
		else
			skip "what is missing" "the kernel allows it all"
		fi
		ok "and one's own are watched" wait_for seen
		unlike "not those of others" "$(prof store list -store nobody/store)" "$work/plain"
		kill "$monitor"
	else
		skip "without rights" "$(cat nobody.log)"
	fi
else
	skip "without rights" "this needs root and setpriv"
fi

# ---- how it ends otherwise ----
watch "$store"
kill -9 "$monitor"
wait "$monitor" 2>/dev/null
run ssrun monitor -status
like "killed: nobody has the store" "$status$out" "^1not running"
watch "$store"
ok "the next one adds to what is there" wait_for written later
kill "$monitor"
wait "$monitor"
is "and ends" "$?" 0
: > "$store/monitor.status"
run ssrun monitor -status
like "a status that was cut" "$status$err" "125ssrun: $store/monitor.status is damaged: it names no monitor"
printf 'pid 5nonsense\n\377\001 5\nclock \033[2J\n' > "$store/monitor.status"
run ssrun monitor -status
unlike "a status from elsewhere does not reach the terminal" "$out" "$(printf '\033')"

# ---- a place that cannot be written ----
run ssrun monitor -store /dev/null/x -for 0.1
like "no directory" "$status$err" '125ssrun: .*/dev/null/x'
watch full
blocked=full/$(prof store list -csv | grep -F "$work/later," | cut -d, -f2)
ln -s /dev/null "$blocked"
failed() { [ "$(ssrun monitor -store full -status -json | jq .failures)" -gt 0 ]; }
tries=0
tried() { tries=$((tries + 1)); kill -USR1 "$monitor" && failed; }
ok "a failure to write is told" wait_for tried
ok "before the status is due anyway" test "$tries" -lt 40
rm "$blocked"
kill "$monitor"
wait "$monitor"
is "what could not be written before is written at the end" "$?" 0
is "nothing is lost by that" "$(ssrun monitor -store full -status -json | jq '.dropped, .addresses')" "0
0"

# ---- code without a file ----
if strace -f -qq -o /dev/null true 2> /dev/null; then
	strace -f -qq -e trace=newfstatat,open,openat -o trace ssrun monitor -store traced -for 600 2>> log &
	spinners="$spinners $!"
	at=traced
	wait_for running
	"$build/tests/programs/crowd" maps 5000 > /dev/null
	kill -TERM "$(ssrun monitor -status -store traced -json | jq .pid)"
	wait "$!"
	is "no file is sought for it" "$(grep -c '/root//anon' trace)" 0
else
	skip "no file is sought for it" "there is no strace, or it may not trace"
fi

# ---- bad arguments ----
run ssrun monitor ./spinner
like "a command" "$status$err" '125ssrun: ssrun monitor takes no command'
run ssrun monitor -budget 90
like "too large a budget" "$err" '-budget takes a percentage'
run ssrun monitor -clock sun
like "no such clock" "$err" '-clock is auto, tick or cpu'
run ssrun monitor -nonsense
like "no such option" "$status" 125
done_testing
