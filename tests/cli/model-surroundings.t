# SPDX-License-Identifier: GPL-2.0-or-later
# Processes, descriptors, limits, users and roots under the modelled processor: what a program says and how
# it ends is the same as natively.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
. "$TOP/tests/hostile.sh"
field() { python3 -c 'import json, sys; print(int(json.load(open(sys.argv[1]))["events"][0]["count"]["value"]))' "$1"; }

for way in spawns exec-in-thread exit-among-threads descriptors comm itself; do same $way; done
for how in 0 1 2; do same close-everything $how; done
same exhaust as
same limits
same other-root
[ "$(id -u)" != 0 ] || ok "the child that forked in another root is counted: $(field o.json)" test "$(field o.json)" -gt 3000000
same other-user

# What the model has no part of has a row of its own.
run perfex -q -passes -source auto -machine zen4 -e 17 -e stime -- true
like "the kernel's time beside modelled counts" "$err" ' 70 System time\.+ +[0-9]+  measured'
run perfex -q -source os -e stime -pid $$
is "of a process that runs already, the kernel does not tell" "$status" 125

# The line that says how far a run is: on a terminal only, and gone in the end.
cat > terminal <<'END'
import os, pty, sys
pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 4096))
END
on_terminal() { TERM=xterm python3 terminal perfex "$@" -source model -machine zen4 -e 17 -o counts -- sh -c "$program"; }
mkfifo enough
program='read -r _ < enough'
on_terminal -expect 100000000 < /dev/null > seen &
ok "on a terminal, there is a line" wait_for grep -q 'G instructions' seen
: > enough
wait
program='sleep 3'
like "on a terminal: how far" "$(tr '\r' '\n' < seen)" '^\[[.]+\] +0% 0\.00 G instructions, [0-9.]+ M/s'
is "and then nothing" "$(tr '\r' '\n' < seen | grep -v '^ *$' | tail -1 | grep -c 'G instructions')" 1
like "erased" "$(tail -c 81 seen | tr '\r' '|')" '^.?.?[|] {78}[|]'
on_terminal -q < /dev/null > seen &
run perfex -source model -machine zen4 -e 17 -o others -- sh -c 'sleep 3'
is "elsewhere: nothing" "$err" ""
wait
is "-q: nothing" "$(cat seen)" ""
done_testing
