# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of Python in call paths: read from the interpreter of python3 3.11 at samples.
# In real time: samples of short runs.
. "$TOP/tests/lib.sh"

# ---- a program that only looks so, and has ever more functions ----
cp "$build/tests/programs/pythonic" python3.11
run ssrun -fusertime -o endless ./python3.11
is "it is sampled, too" "$status $err" "0 "
number=$(prof -dump endless | grep -c '^symbol ')
ok "functions that are kept are limited: $number" test "$number" -gt 0 -a "$number" -le 65600

# ---- what looks like a script is read, if it is a file ----
mkfifo -m 755 pipe
run timeout 60 ssrun -fusertime -o none ./pipe
is "a pipe is no command" "$status" 126

cat > work.py <<'END'
import time

def innermost(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

class Caller:
    def calls(self):
        return innermost(20000)

def outermost():
    end = time.process_time() + 2
    while time.process_time() < end:
        Caller().calls()

outermost()
END
for python in /usr/bin/python3.11 /usr/bin/python3 python3 ''; do
	[ "$($python -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" != 3.11 ] || break
done
if [ ! "$python" ]; then
	skip "functions of Python" "there is no python3 3.11"
	done_testing
	exit
fi

run ssrun -usertime -o paths "$python" work.py
is "it is sampled" "$status $err" "0 "
prof -calltree -json paths > paths.json
cat > path.py <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
for row in rows:
    if not row.get("procedure", "").startswith("innermost "):
        continue
    path = []
    while row is not None:
        if row.get("image") == "[python]":
            path.append(row["procedure"])
        row = rows[row["parent"]] if row["parent"] >= 0 else None
    print(" < ".join(path))
    break
END
run python3 path.py paths.json
like "functions of Python have names and callers" "$out" \
	'^innermost \(work.py:3\) < Caller.calls \(work.py:10\) < outermost \(work.py:13\) < <module> \(work.py:1\)$'
run prof -inclusive paths
like "and rows of their own" "$out" ' Caller.calls \(work.py:10\) \(\[python\]\)'
like "what leads to the first one has none" "$out" '^Functions of the interpreter before the first one of Python are left out \(-whole\)$'
run prof -calltree paths
is "and the call tree begins with it" "$(echo "$out" | sed -n '/^ *[0-9.~]* *[0-9.]*%/{s/.*%  \([^ ].*\)/\1/p;q}')" "<module> (work.py:1) ([python])"
run prof -calltree -whole paths
like "-whole: the program's start is there" "$out" '%  _start \('
is "nothing is said to have no effect" "$err" ""
unlike "the interpreter is understood: no remedy is needed" "$out" 'is in an interpreter'
run prof paths
like "a report without callers says which reports have them" "$out" \
	'^[0-9.]+% is in an interpreter. Functions of the program it runs are in: prof -inclusive, -butterfly, -calltree$'
# Of an interpreter that is the command, each sample of 1 ms wakes ssrun, too.
run ssrun -fusertime -o finely "$python" work.py
run prof -dump finely
likely=$(echo "$out" | sed -n 's/^fact "python" "\([0-9]*\) of \([0-9]*\)"$/\1 * 3 > \2/p')
is "-fusertime: functions of Python are known of more than a third ($likely)" "$(($likely))" 1
run ssrun -fpcsamp -o flat "$python" work.py
run prof flat
like "without call paths, it says what names them" "$out" 'is in an interpreter.*(ssrun -fusertime|python -X perf)'

# From 3.12 on, trampolines with names stand for the functions. They have no rules for callers.
home=$(getent passwd "$(id -un)" | cut -d: -f6)
later=$(for v in 3.12 3.13; do command -v python$v; ls "$home"/.pyenv/versions/$v.*/bin/python$v; done 2>/dev/null | grep -v shims | head -1)
if [ -n "$later" ]; then
	run ssrun -fusertime -o later "$later" -X perf work.py
	prof -calltree -json later > later.json
	sed 's/"innermost "/"py::innermost:"/; s/row.get("image") == "\[python\]"/row.get("procedure", "").startswith("py::")/; s/path.append(row\["procedure"\])/path.append(row["procedure"].split(":")[2])/' path.py > later.py
	run python3 later.py later.json
	unlike "and no remedy is needed" "$(prof later)" 'python -X perf$'
	like "trampolines have callers, too" "$out" '^innermost < [A-Za-z.]*calls < [A-Za-z.]*outermost < <module>$'
else
	skip "trampolines" "no python3 3.12 or later is installed"
fi
done_testing
